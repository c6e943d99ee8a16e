"""What people wrote: the customer's complaint, the notes that go with the code, and the talk about the history."""

TICKET = """# MET-231: norra paid for an hour twice

Opened by: support, Monday 27 October
Labels: billing, norra

## Report
norra disputes a correction. Their gateway was without a line for more than a day; when it came back, a number of
hours were billed late, as they should be. But one hour of calls, 13:00 of day 0, was on the bill already when a
correction for it came, over the very same number of units, at another tier. They want that one back, and to know
since when.
The recorder still has both days, replayed here with b-619. Days are counted from the start of the recording.

## Comments
**support**: The correction over 57 units of storage is the largest by far, is that it?
**elin**: A correction by itself is no fault. An hour that was never billed before its gateway came back is billed as
what it is, an hour; one that was billed in part is corrected by the rest.
**jon**: no-50636 looks odd too, 33 units on top of an hour in the evening.
**mira**: The nights check the books. b-616 was clean in both of its nights, so it must be something in b-617.
**elin**: Were there any late arrivals in those two? A night without an outage proves nothing about outages.
**mira**: b-618 had clean nights as well, then. I would start from the last build of the week before.
"""

NOTES = """# Notes on counting once

An event counts once, however often it arrives. Gateways repeat for up to a day after they first sent an event, and
they first send it when they have a line. How long it had been waiting by then is nobody's limit: a gateway that was
dark for a week is as good as any other.

So what is remembered about an event, and for how long, goes by when it came to us. When it was measured decides which
hour it belongs to, and nothing else.

Memory is bounded: an id that came more than 26 hours ago is let go. That number is not a matter of taste, a machine
with a week of ids does not fit where this runs.

Corrections are differences. They are as right as the sum they are a difference of.
"""

REVIEW = """# Draft: MET-231, keep ids longer

Opened by: Jon Aas, Tuesday 28 October, against main

## Change
HORIZON_S from 26 to 72 hours. The test that Elin added is green with it.

## Comments
**elin**: It is green because 72 hours are more than that one outage. The notes say that the number is not ours to pick.
**jon**: Then let _forget go by the event's own time as well. Both sides of the comparison would be the same clock.
**mira**: Or take the larger of the two times when an id is kept: max() of both can never be too short.
**jon**: I still find it strange that Windows.put opens a window again which was closed. Without that there would be
nothing to bill a second time.
**mira**: And Charges.bill takes `window.quantity - before` for the difference. If the same event is in there twice, the
difference is wrong, whoever let it in.
**elin**: Whoever let it in is what I'd like to know. The heap pops what is smallest, maybe the order is off.
"""

CHAT = """#meterline-dev, Wed 29 Oct
09:02 mira   whoever has the history open: support needs the commit, and whether the 5.3 customers have it too
09:05 jon    HORIZON, 48 to 26 hours. an outage is longer than 26 hours, so the id is gone. reads like the ticket
09:07 elin   gone since it came, not since it was measured. and that was before any of this, it is in b-612
09:11 jon    then my commit about ids and tenants. the key changed, old ids no longer match
09:13 mira   or the shorter grace. six hours would have swallowed most of these corrections
09:16 elin   the heap is mine and it is the youngest thing in seen.py. forgetting goes by the order of a heap now
09:20 jon    blame says heap for every line of _forget, so I would look there
09:24 mira   5.3 got three picks in October. somebody check which of them matter before we tell anybody
"""
