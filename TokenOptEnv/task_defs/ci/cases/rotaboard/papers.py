"""The small papers of the rotaboard case: what people say, what the team's runbook says."""

TICKET = """\
# ROTA-77: the gate is red in the evening

Opened by: release desk, Saturday 18 April

Runs that are started by an upstream image in the evening turn red, and whoever retries them in the morning finds
nothing. 5218 was the second, 5221 is the third. We ship from green runs, so nothing ships at night.

## Comments
**piet**: 5211 was red as well, at a quarter past eight. So it is from eight on.
**ines**: 5203 and 5207 were as late as any of them and green. It cannot be the hour.
**sam**: flake-watch names the rota test, it changed its outcome twice. Quarantine that one.
**noor**: mobile is red in every single run. Is that what the mails are about?
**piet**: First mail I have is about 5211.
"""

RUNBOOK = """\
# Triage, wards team

- regression: the product does something else than its documents promise
- flaky_test: the product keeps its promise and a test is right at some times and wrong at others, at one commit
- dependency_update: an installed package changed
- config_error: the pipeline asks for something that cannot work
- infrastructure: the work was not done: runners, network

The file to name is the one that has to change. The commit to name is the one since which it can fail; where a failure
went away for a while and came back, the one that brought it back.
"""

REVIEW = """\
# Review notes, Saturday

**noor**: an entry made at 23:37 stands under the next day. For a board that is a bug, if you ask the people in the
harbour. Take the server's date in Board.post and the test is green at any hour.
**piet**: or the two hours in sites.py are one too many, with one it would be red only from eleven on.
**ines**: hand_over turns UTC into local time as well. Twice two hours is four.
**sam**: it failed and passed at the same commit, 5221. By the book that is a runner problem until shown otherwise.
**noor**: a regression, then. It worked in March.
"""

CHAT = """\
#rotaboard, Sun 19 Apr
10:02 noor   whoever writes it up: which commit. I put the north on summer time on monday, and dates are what is off
10:04 ines   nights begin at 22, and my table of shifts went in on thursday
10:05 piet   the first red one was wednesday
10:09 noor   then strike, on wednesday afternoon. it is the only change of board.py this spring
10:15 piet   I remember evenings like these. january, when boards began to go by the site's date. that commit, really
10:18 ines   and what did you do about it then?
10:19 piet   something. it was green afterwards. something with a fixed day in the tests
10:23 sam    I took dates of the past out of a test this week, wednesday before lunch. no idea whether that was it
"""
