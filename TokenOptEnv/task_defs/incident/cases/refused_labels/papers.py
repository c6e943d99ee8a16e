"""The small papers of the refused-labels case: what people wrote, what is configured, what was counted."""

from __future__ import annotations

from typing import Final

from TokenOptEnv.streams import Stream
from TokenOptEnv.task_defs.incident.cases.refused_labels import cast
from TokenOptEnv.task_defs.incident.cases.refused_labels.traffic import traffic
from TokenOptEnv.task_defs.incident.writers import chat, metrics_csv, runbook, ticket
from TokenOptEnv.task_defs.incident.writers.deploy_history import Deploy, history
from TokenOptEnv.task_defs.incident.writers.metrics_csv import Series

_STEP_MINUTES = 2
_STEP_MS = _STEP_MINUTES * 60_000
_ROWS_MS: Final = range(cast.WINDOW.start_ms, cast.WINDOW.end_ms, _STEP_MS)


def ticket_page() -> str:
    return ticket.page(
        ticket.Ticket(
            "INC-2207",
            "Label orders fail in eu-2",
            "2",
            "2025-09-16 09:47",
            "pager",
            (
                "OrderFailRatio above 0.05 for 5 min (0.11). Merchants see 'try again'; a second try mostly works.",
                "Impact: labels, declarations and pickups alike. eu-1 and us-1 are not touched.",
                "Also firing: MintCpuHigh mint-1 (on and off since Sunday), VanSilent van-38.",
                "Also open: certificate of key-vault runs out in 9 days.",
            ),
            (
                (
                    "09:58",
                    "o.brandt",
                    "customs was rolled to dep-6120 at 09:36 with the new token checks and was the first to page. "
                    "Whatever the caller or key, all fresh refusals share one thing: an order that customs touched.",
                ),
                ("10:20", "r.tamm", "eu-1 runs the same customs build since Friday. Nothing there."),
            ),
        )
    )


def channel() -> str:
    return chat.transcript(
        "#inc-2207, 2025-09-16",
        (
            ("09:50", "pager", "INC-2207 OrderFailRatio 0.11, owner desk"),
            ("09:55", "r.tamm", "401s from labels, customs AND pickup. who rotated keys at nine thirty?"),
            ("09:57", "j.pohl", "vault-bot. rot-0916, mint-1 signs with k-31 since 09:34, that is the event, no?"),
            ("10:03", "j.pohl", "looked at ten fresh refusals. share of k-31: all ten. same key, whatever the caller"),
            ("10:06", "r.tamm", "you looked at the last ten minutes. all three mints sign with k-31 by now"),
            ("10:12", "o.brandt", "rolled one customs back to 38.1. same tenth of orders gone there. sigh"),
            ("10:24", "m.ahlers", "mint-1 cpu is red again, maybe it signs too slowly and tokens age in its queue"),
            ("10:33", "j.pohl", "restarted the mint process on mint-1, -2 and -3 at 10:31. first refusal 8 s later"),
            ("10:50", "m.ahlers", "platform swears the board swap on hv-12 was invisible. guests moved live, ms each"),
            ("11:20", "r.tamm", "lunch shift takes over. rotation not undone, customs not rolled back. good luck"),
        ),
    )


def runbook_page() -> str:
    return runbook.page(
        "Service tokens",
        "2025-02-18",
        (
            runbook.Section(
                "Callers are refused",
                (
                    "To end refusals at once, restart the token-mint process on the host that signs.",
                    "If a token ends too soon for slow callers, a longer lifetime_s helps; callers need no change.",
                ),
            ),
            runbook.Section(
                "Keys",
                (
                    "A key goes bad seldom; `vault rotate --undo <id>` brings the old one back within a minute.",
                    "Checkers fetch published keys every 30 s. An unknown key is refused as unknown, never as ended.",
                ),
            ),
            runbook.Section(
                "Time on guests",
                (
                    "`chronyc makestep` steps the time of a guest at once. The mint bears a step of any size.",
                    "Offset alerts on guests are muted since June: too noisy after snapshots.",
                    "A slew of 500 ppm makes good 1.8 s an hour.",
                ),
            ),
        ),
    )


TIME_SETTINGS: Final = """\
# /etc/chrony/chrony.conf on all guests of eu-2, rendered 2025-08-29
server ntp-a.eu-2 iburst
server ntp-b.eu-2 iburst
driftfile /var/lib/chrony/drift
# step only in the first three updates after the daemon starts, slew ever after
makestep 1.0 3
# taken over from the ledger databases, which must never see time jump
maxslewrate 500
logchange 1.0
rtcsync
"""

GATE_SETTINGS: Final = """\
# token settings of eu-2 as rendered 2025-09-12
mint:
  hosts: [mint-1, mint-2, mint-3]
  balancer: {turn: round-robin, probe_s: 5, out_after: 3}
  lifetime_s: 60
  clients_reuse_s: 45
gates:
  labels: {leeway_s: 30, keys: "https://keys.eu-2/jwks", refresh_s: 30}
  customs: {leeway_s: 30, keys: "https://keys.eu-2/jwks", refresh_s: 30}
  pickup: {leeway_s: 30, keys: "https://keys.eu-2/jwks", refresh_s: 30}
repeat_on_401:
  desk-api: never
  batcher: once
  returns-api: once
"""


def rotations() -> str:
    return history(
        "key-vault, rotations of signing keys, newest first (times UTC)",
        (
            Deploy(
                cast.ROTATION,
                "token-mint",
                "2025-09-16 09:34",
                "done",
                "vault-bot",
                (
                    "k-31 published 09:30, mint-1 signs with it from 09:34:10, mint-2 09:43:05, mint-3 09:47:20",
                    "canary 09:34 to 09:39: 200 of 200 tokens of mint-1 under k-31 admitted at every gate",
                    "k-30 stays published until 2025-09-17 09:30",
                ),
            ),
            Deploy("rot-0817", "token-mint", "2025-08-17 09:30", "done", "vault-bot", ("k-30 for k-29",)),
            Deploy("rot-0811", "edge-gateway", "2025-08-11 07:00", "done", "vault-bot", ("tls leaf",)),
        ),
    )


def deploys() -> str:
    return history(
        "eu-2, newest first (times UTC)",
        (
            Deploy(
                cast.DEPLOY,
                "customs",
                "2025-09-16 09:36",
                "live",
                "o.brandt",
                ("token checks rewritten on tokenlib 4.2", "last instance in at 09:40"),
            ),
            Deploy("dep-6117", "pickup", "2025-09-15 14:20", "live", "m.ahlers", ("tours: eight-hour rule",)),
            Deploy("dep-6111", "desk-api", "2025-09-11 10:05", "live", "r.tamm", ("zone table cache",)),
            Deploy("dep-6108", "token-mint", "2025-09-04 08:55", "live", "j.pohl", ("hsm session pool",)),
            Deploy("cfg-1180", "edge-gateway", "2025-09-03 16:40", "live", "l.weiss", ("idle timeout 75 s",)),
        ),
    )


def counts() -> str:
    """The mint hosts' load and time, and what the gates refused."""
    stream = Stream(cast.SCENARIO_ID, "counts")
    busy = tuple(stream.integer(76, 94) if stream.chance(0.4) else stream.integer(38, 55) for _ in _ROWS_MS)
    columns = [Series("m1_cpu", busy)]
    columns += [Series(f"m{n}_cpu", tuple(stream.integer(31, 52) for _ in _ROWS_MS)) for n in (2, 3)]
    columns += [Series(f"m{n}_off_ms", tuple(stream.integer(-2, 2) for _ in _ROWS_MS)) for n in (1, 2)]
    columns.append(Series("m3_off_ms", tuple(_late_offset_ms(at_ms) for at_ms in _ROWS_MS)))
    for audience in cast.AUDIENCES:
        refused = [use.at_ms for use in traffic().uses_at(audience) if use.refused]
        by_row = tuple(sum(at_ms <= one < at_ms + _STEP_MS for one in refused) for at_ms in _ROWS_MS)
        columns.append(Series(f"{audience}_401", by_row))
    return metrics_csv.table(cast.DAY, "09:24", _STEP_MINUTES, columns)


def late_offset_cells() -> tuple[str, ...]:
    """The cells that show how far the late host's time is off, one for each row after it woke."""
    return tuple(f",{_late_offset_ms(at_ms)}," for at_ms in _ROWS_MS if at_ms >= cast.RESUMED_MS)


def _late_offset_ms(at_ms: int) -> int:
    return -cast.behind_ms(cast.LATE_MINT, at_ms)
