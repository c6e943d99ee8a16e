"""How much an episode can do besides what it must, by the steps it spends on it.

Every relaxation costs steps, and a step costs a prompt. So the bound asks, for each small number of extra steps and
for what they may be, what they could buy at the most, and takes the least of all. Steps beyond the last entry buy
nothing more.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final


@dataclass(frozen=True, slots=True)
class Freedom:
    extra_steps: int
    loads: bool = False
    """The policy may load segments, and so read evidence itself."""
    asks: bool = False
    """Somebody else is asked, too: the cheapest model may read evidence, and a stronger one take over."""
    squeezes_small: bool = False
    """What was read whole when it was surfaced may be squeezed to the bare spans."""
    squeezes: bool = False
    """So may what was loaded."""
    notes: bool = False
    """Facts may be handed over in the agent's own words."""
    lines_stay: bool = False
    """What surfaced a segment stays in memory to the end."""
    findings_stay: bool = True
    """A finding stays in memory from its step to the end."""


FREEDOMS: Final = (
    # None: what is surfaced is asked about and submitted.
    Freedom(0, lines_stay=True),
    # One: a load; a question; or what shortens memory (a purge, a squeeze, surfacing in two steps).
    Freedom(1, loads=True, lines_stay=True),
    Freedom(1, asks=True, lines_stay=True),
    Freedom(1, squeezes_small=True),
    # Two: a load and its squeeze; a note and its recall; or two of the above.
    Freedom(2, loads=True, squeezes_small=True, squeezes=True),
    Freedom(2, notes=True, lines_stay=True),
    Freedom(2, loads=True, squeezes_small=True),
    Freedom(2, loads=True, asks=True, squeezes_small=True),
    # Three: a load, its squeeze and another; a note, its recall and another: with a purge, findings are spared, too.
    Freedom(3, loads=True, squeezes_small=True, squeezes=True),
    Freedom(3, loads=True, asks=True, squeezes_small=True, squeezes=True),
    Freedom(3, loads=True, notes=True, lines_stay=True),
    Freedom(3, asks=True, notes=True, lines_stay=True),
    Freedom(3, squeezes_small=True, notes=True, findings_stay=False),
    # Four: anything.
    Freedom(4, loads=True, asks=True, squeezes_small=True, squeezes=True, notes=True, findings_stay=False),
)
