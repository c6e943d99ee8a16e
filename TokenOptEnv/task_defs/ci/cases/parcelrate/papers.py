"""The small papers of the parcelrate case: triage runbook and chat."""

RUNBOOK = """\
# CI triage, pricing team

A red gate stops the merge train. Find the class first, then the commit.

- regression: the product no longer keeps a promise it makes, whatever brought that to light
- flaky_test: one commit, one selection of tests, both outcomes
- dependency_update: a pinned package changed and the product did not
- config_error: the pipeline asks for something that cannot work
- infrastructure: the work was not done: hosts, network, mirrors

The commit to name is the first at which the failing selection fails, not the one that happened to
be pushed that day. Selections change; a selection that nobody ran is not a green one.

Known: labels-strict is red since spring (PAR-311, long company names).
The nightly pages nobody. Its mirror is the old one and is due for replacement.
"""

CHAT = """\
#pricing-ci, Thu 9 Jul
16:24 tom     2291 is red in shard-2, after my shard change. reverting that makes it green, I bet
16:26 ada     the page for July has a charge too many. is it the island one? mira shipped ISLAND on monday
16:29 jonas   or TOLL-30 from the July file, the carrier announced that for Z4
16:31 tom     shard-3 lost its host as well, pressed retry on both
16:35 lockbot pins changed in 2291: hypothesis, pytest. 2284 was green with the old ones
16:41 ada     my Counter commit is the only one of the four that touches statements. it adds up the same on my laptop
16:44 jonas   on its own the statement file passes for me too, every time. smells flaky, quarantine it?
16:47 mira    the nightly has been red as well, but that is the mirror
16:52 tom     whoever looks: train leaves at 18:00
"""
