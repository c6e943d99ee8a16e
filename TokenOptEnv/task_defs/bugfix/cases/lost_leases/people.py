"""The issue's thread: an honest report, and the explanations that come to mind first."""

THREAD = """# Nightly 1845: jobs are run twice, three are buried

Opened by: Priya Nair, Friday 23 May
Labels: nightly, relaywork

## Report
The nightly is red in three modules at once: worker, journal, soak. In the soak three jobs end up buried
although nobody killed their workers; staging shows the same, uploads of more than half a minute are done twice.
Green in the night to Wednesday (1839), no run in the next one (runner update), red since.
Pull request builds run tests/test_lease.py, tests/test_queue.py and tests/test_model.py only, so none of the five
commits since was seen by the rest of the suite.

## Comments
**jonas**: Two of the red tests are about compacting, and compacting is two days old. I think that commit broke
what recovery relies on: for equal epochs `compact` keeps the first event instead of the last.
**priya**: The worker test never compacts anything, though.
**amara**: Then run_out: it pops a heap entry and takes the lease away without asking whether that lease is over.
One `lease.over(now)` there and the soak is green on my machine. The journal tests are still red.
**jonas**: Or my forget(). It drops the last epoch, so a number could come up a second time. But only for done jobs.
**priya**: My beat(seconds) is in the same range. None means lease_s, checked twice.
**milo**: Clock of the runner was stepped that night, see the log. Flaky?
**priya**: The suite has its own clock. Same result three times.
**milo**: While we are there, that max() looks odd to me. A renewal should simply be now + seconds.
"""
