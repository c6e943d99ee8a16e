"""What people wrote about it: an issue with the explanations that come to mind first, and the notes on the design."""

THREAD = """# Nightly 1311: deleted keys are back

Opened by: Lena Brandt, Tuesday 7 October
Labels: nightly, siltstore, data

## Report
The new test of the soak is red in its very first night: a key that was deleted can be read again. A customer
has seen the same, orders that were closed turned up in the list of open ones and went away after an hour.
The test has a fixed seed, the result is the same three times out of three.

## Comments
**ines**: My DROP commit of last Monday is the obvious one. The nights count resurrected keys from the night after
it on, and not one before. I'd take it back and be done.
**lena**: And be back at four fifths markers. What does it do wrong?
**ines**: Nothing that I can see. A marker goes when no deeper level can hold its key. The level it sinks to is part
of the merge. Unless any_below should ask that level as well: one number less in the call, and the test is green.
**ravi**: Snapshots, maybe. any_between says `< newer`; if a reader sits exactly there, a version is merged away
that it still sees, and what lies under it shines through. It changed on the 26th.
**lena**: Only how they are released. And the test has no snapshot.
**ravi**: Level 1 became smaller on the first of October. More compactions, more of everything.
**milo**: Ten bits a key? A filter that says no too often would make a marker invisible. Fits the description exactly.
**ines**: The filter has a test for that. So has the turn of the deeper levels, `table.low >` and not `>=`.
**milo**: lookup goes through the tables of a level by number. By key would be right below level 0.
**ravi**: There is only one to find below level 0. That is the point of levels.
"""

NOTES = """# Notes on levels

## What holds
1. A version of a key never lies above a newer one. Readers stop at the first version they meet.
2. From level 1 down, tables of a level share no key. Everything else rests on this one: that a reader looks into
   one table of a level, that a merge has all there is of a key in the level it goes to, and that its tables can
   be cut anywhere between two keys.
3. Nobody but a merge ever takes a record away.

## What a merge has to see
All tables of its own level that share keys, or rule 1 breaks. All tables of the next level that share a key with
any of those, or rule 2 does. It is not enough to look under the table that it began with.

## What the soak prints
`resurrected`: deleted keys that can be read. `outdated`: older values than the model's. `overlaps`: the most pairs
of tables below level 0 that shared keys at any time of the night. The right number of overlaps is 0, always; a
night on a weekend is too short to tell.

## What it does not print
How long a fault was there before it cost anything. Broken rules are cheap until somebody relies on them.
"""
