"""Who and when in the refused-labels case: one place for what all its papers must agree on.

While hypervisor hv-12 is drained, the guest mint-3 stands still for 94 s and wakes with its old time. Its clock
may only be slewed, at 500 ppm, so it will be right again in two days. Until then a token it signs is born older
than its lifetime and the checkers' leeway together.
"""

from __future__ import annotations

from typing import Final

from TokenOptEnv.task_defs.incident.writers.clock import Clock, Window

SCENARIO_ID: Final = "incident-hard-refused-labels"
VERSION: Final = "parcels-2025.38"

DAY: Final = Clock(2025, 9, 16)
WINDOW: Final[Window] = DAY.window("09:24", "10:21")

LABELS: Final = "labels"
CUSTOMS: Final = "customs"
PICKUP: Final = "pickup"
AUDIENCES: Final = (LABELS, CUSTOMS, PICKUP)
DESKS: Final = ("desk-1", "desk-2")
CALLERS: Final = (*DESKS, "batch-1", "returns-1", "returns-2")

HEALTHY_MINTS: Final = ("mint-1", "mint-2")
LATE_MINT: Final = "mint-3"
MINTS: Final = (*HEALTHY_MINTS, LATE_MINT)

OLD_KEY: Final = "k-30"
NEW_KEY: Final = "k-31"
SWITCHED_MS: Final = {"mint-1": DAY.at("09:34:10"), "mint-2": DAY.at("09:43:05"), "mint-3": DAY.at("09:47:20")}

ROTATION: Final = "rot-0916"
DEPLOY: Final = "dep-6120"
MOVE: Final = "mig-40178"
CUSTOMS_MOVE: Final = "mig-40171"

DOWNTIME_MS: Final = 94_212
PAUSED_MS: Final = DAY.at("09:39:44.100")
RESUMED_MS: Final = PAUSED_MS + DOWNTIME_MS
OUT_OF_ROTATION: Final = DAY.window("09:39:59", "09:41:29.500")
"""The balancer's probes fail while the guest stands still, and it is taken back soon after it wakes."""
SLEW_PPM: Final = 500
MEASURED_AFTER_MS: Final = 116_000
"""After waking, before the time daemon has seen enough of its sources to begin."""

LIFETIME_MS: Final = 60_000
LEEWAY_MS: Final = 30_000
KEPT_MS: Final = 45_000
"""How long a caller uses one token, by its own watch."""


def behind_ms(host: str, at_ms: int) -> int:
    """How far a mint host's clock is behind."""
    if host != LATE_MINT or at_ms < RESUMED_MS:
        return 0
    slewed_ms = max(0, at_ms - RESUMED_MS - MEASURED_AFTER_MS) * SLEW_PPM // 1_000_000
    return max(0, DOWNTIME_MS - slewed_ms)


def key_of(host: str, at_ms: int) -> str:
    return NEW_KEY if at_ms >= SWITCHED_MS[host] else OLD_KEY
