"""The small papers of the ferrybook case: triage runbook, chat, and what the libraries say of their releases."""

RUNBOOK = """\
# CI triage, harbour team

A red gate stops the boats. Say first what class it is, then which commit.

- regression: our own code does something else than it promises
- dependency_update: a package that is installed changed what it does, and our code did not
- flaky_test: one commit, one selection of tests, one set of installed packages, and both outcomes
- config_error: the pipeline asks for something that cannot work
- infrastructure: the work was not done: hosts, disks, network

The commit to name is the first whose own lock, installed anew on an empty host, turns the gate red. A host that still
has an older environment says nothing about a newer lock, and a green second attempt on another host nothing at all.

Known: preview is red since autumn. It may be.
Hosts are cleaned when their disks fill up; the next run builds what the lock of its commit says.
"""

CHAT = """\
#harbour-ci, Fri 6 Mar
08:58 tom     3140 is red on quay-4. bookings only, capitals, and no test of mine fails. pressed retry
09:01 ada     second time this week that quay-4 is red. disk? it was cleaned on thursday
09:07 tom     retry went to quay-2 and is red too
09:09 jonas   3131 and 3133 were red and went green when retried. same commit, both outcomes: flaky, quarantine it
09:14 mira    it is about a dog's fare, 412 instead of 413. ada changed rounding on thursday, refunds
09:15 ada     refunds! not fares. and 3131 was red on wednesday
09:18 mira    then your seniors at three quarters, or my ten for nine. both in fares.py
09:21 jonas   I raised the limit for cleaning on wednesday, 90 percent. red since that very morning, if you ask me
09:26 lockbot this week: portcodes 2026.1, roundel 1.9.0, plaintab 0.7.0, attrs 25.4.0. all merged green
09:30 ada     merged green on which host?
09:33 tom     portcodes is imported by legs and legs by fares. a new table of harbours could do it
09:35 mira    or plaintab, 0.7.0 came in with 3131, the first red one
"""

RELEASES = """\
# What our libraries say of their releases

## plaintab 0.7.0
- `table` takes a gap; the default is what it was
- columns are measured in one pass

## portcodes 2026.1
- Torso has a harbour again
- codes are sorted

## roundel 1.9.0
- `share`: halves go to the even neighbour, as in the rest of the family; they used to go up
- `spread` is what it was

## attrs 25.4.0
- housekeeping
"""
