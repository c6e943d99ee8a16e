"""docs/benchmarks.md, from the machine output of the benches: no figure on it is typed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final, TypeVar

from pydantic import ValidationError

from TokenOptEnv.config import SIZES
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation.bench_engine import BenchReport
from TokenOptEnv.evaluation.bench_growth import GrowthBench, GrowthPoint
from TokenOptEnv.evaluation.bench_growth_plot import growth_plot
from TokenOptEnv.evaluation.bench_machine import Machine
from TokenOptEnv.evaluation.bench_peers import OURS, PeersBench
from TokenOptEnv.evaluation.bench_server import ServerBench
from TokenOptEnv.models.base import Frozen

R = TypeVar("R", bound=Frozen)

PLOT: Final = "assets/benchmarks/growth.svg"
_HEAD: Final = """# Benchmarks

Written by `make bench-page`, which runs the benches with `--json` and then `camre bench page`. Read the ratios: both
sides of each were measured in the same run, in turn, so a slow or busy machine slows both. Figures per second are of
the machine named below and of no other."""
_SERVER: Final = """## Over the WebSocket

`camre bench server` plays whole episodes over loopback on three servers, in turn: this environment; an echo on this
same server, which returns the same observations without any work; that echo on OpenEnv's own server. *To echo* is
our steps per second by the echo's on this server: what the engine costs. *To OpenEnv's* is by the echo's on OpenEnv's
server: how this environment compares with an idle one as anybody would serve it. Above 1 ours is the faster. *Of CPU*
are the same two of the server's processor time.

Every answer of ours is compared, byte for byte, with the answer that the same episode got when it was played alone."""
_PEERS: Final = """## Beside other environments

`camre bench peers` steps published environments in the same process, in turn, and counts the processor time inside
`reset` and `step`. They are not the same work: a step here prices a prompt, keeps a ledger and builds a whole
observation; theirs moves a piece, compares a guess or checks a sum, and returns what is new. The ratio is our steps per
second by its own: below 1 the peer is the faster."""
_GROWTH: Final = f"""## Growth

`camre bench growth` lets one quantity grow at a time, on cases made for it, and times every step, its observation
included. An exponent of 0 is flat, 1 is proportional; times are of the processor. *Steepest* is the action that grows
most, because a mean hides what one action in ten does. *Slowest* is one single step, in parentheses how much of it was
Python's garbage collector. *First* is the slowest step of the first episode on a case, which makes what all later ones
share, the search index above all.

![How the time of a step grows]({PLOT})"""
_REASONS: Final = {
    "steps": "an observation lists the routes, guardrail events and checkpoints so far, so it grows with the episode."
    f" The longest that can be played has {max(sizes.steps for sizes in SIZES.values())} steps.",
    "artifacts": "every observation lists the handle of every artifact.",
    "tokens": "a search adds up the segments that hold the words asked for, and the questions here are made of words"
    " that stand in nearly all.",
    "episodes": "episodes of one case share all that is not their own. The slowest step is the one in which Python's"
    " garbage collector looks through all that is alive; the server lets it look less often (`server/app.py`).",
}
_REPEAT: Final = """## Measuring it yourself

```console
camre bench engine
camre bench peers
```

The peers are installed in an environment of their own, since some bring hundreds of megabytes:

<!-- no-run: it makes an environment and downloads the peers -->
```console
python -m venv .venv-bench
.venv-bench/bin/pip install -c constraints-bench.txt -e '.[bench]'
.venv-bench/bin/camre bench peers
```

Without them `camre bench peers` names each that is missing in a line. These take longer:

<!-- no-run: minutes of every core; tests/core/test_bench.py and tests/server/test_bench_server.py play less -->
```console
camre bench growth
camre bench server --sessions 1 --sessions 32 --sessions 256 --sessions 1000 --scenarios 20 --rounds 3
camre bench server --sessions 32 --sessions 256 --scenarios 20 --workers 2 --rounds 3
make bench-page
```"""


@dataclass(frozen=True, slots=True)
class Results:
    engine: BenchReport
    growth: GrowthBench
    peers: PeersBench
    servers: tuple[ServerBench, ...]


def gathered(folder: Path) -> Results:
    servers = sorted(folder.glob("server*.json"))
    if not servers:
        raise BadInput(f"{str(folder)!r} has no server*.json; write one: camre bench server --json > server.json")
    return Results(
        engine=_read(folder / "engine.json", BenchReport),
        growth=_read(folder / "growth.json", GrowthBench),
        peers=_read(folder / "peers.json", PeersBench),
        servers=tuple(_read(file, ServerBench) for file in servers),
    )


def _read(file: Path, kind: type[R]) -> R:
    command = file.stem.partition("-")[0]
    if not file.is_file():
        raise BadInput(f"no file {str(file)!r}; write it: camre bench {command} --json > {file.name}")
    try:
        return kind.model_validate_json(file.read_text(encoding="utf-8"))
    except ValidationError:
        raise BadInput(f"{str(file)!r} is no output of this version; write it anew: camre bench {command}") from None


def files(results: Results) -> dict[str, str]:
    """By path under `docs`."""
    return {"benchmarks.md": _page(results), PLOT: growth_plot(results.growth)}


def _page(results: Results) -> str:
    machines = [results.engine.machine, *(each.machine for each in results.servers), results.peers.machine]
    parts = [
        _HEAD,
        _measured_on([*machines, results.growth.machine], min(each.rounds for each in results.servers)),
        _server(results.servers),
        _peers(results.peers),
        _engine(results.engine),
        _growth(results.growth),
        _REPEAT,
    ]
    return "\n\n".join(parts) + "\n"


def _measured_on(machines: Sequence[Machine], fewest_rounds: int) -> str:
    bare = dict.fromkeys(machine.model_copy(update={"load": None}).line() for machine in machines)
    loads = [machine.load for machine in machines if machine.load is not None]
    told = [f"**Measured on** {'; '.join(bare)}."]
    if loads and max(loads) > machines[0].cores / 2:
        told.append(
            f"Other work ran beside it: {min(loads):.1f} to {max(loads):.1f} processes wanted its"
            f" {machines[0].cores} cores when the benches began."
        )
    told.append(f"A ratio is the median of {fewest_rounds} rounds or more; in parentheses are the least and the most.")
    return "\n".join(told)


def _server(reports: Sequence[ServerBench]) -> str:
    header = (
        "sessions",
        "workers",
        "scenarios",
        "to echo",
        "to OpenEnv's",
        "of CPU",
        "step/s",
        "p50 ms",
        "p99 ms",
        "MB",
    )
    rows = [
        (
            f"{row.sessions:,}",
            str(report.workers),
            str(report.scenarios),
            f"**{row.ratio_to_echo:.2f}** {_range(row.ratios_to_echo)}",
            f"**{row.ratio_to_openenv_echo:.2f}** {_range(row.ratios_to_openenv_echo)}",
            f"{_optional(row.cpu_ratio_to_echo)}, {_optional(row.cpu_ratio_to_openenv_echo)}",
            f"{row.env.steps_per_second:,.0f}",
            f"{row.env.p50_ms:.1f}",
            f"{row.env.p99_ms:.1f}",
            "-" if row.env.resident_mb is None else f"{row.env.resident_mb:,.0f}",
        )
        for report in reports
        for row in report.comparisons
    ]
    compared = sum(report.answers_compared for report in reports)
    notes = [f"{compared:,} answers were compared, and all were their own session's."]
    refusals = list(dict.fromkeys(report.refusal for report in reports if report.refusal is not None))
    notes += [f"One session too many is told `{refusals[-1]}` and closed."] if refusals else []
    notes.append("*MB* is the server's memory with all sessions connected; what workers share is counted in each.")
    notes += _gains(reports)
    return "\n\n".join([_SERVER, _table(header, rows), "\n".join(notes)])


def _gains(reports: Sequence[ServerBench]) -> list[str]:
    """What more workers brought, where both were measured: in two runs, between which the machine may have changed."""
    alone = {
        (report.scenarios, row.sessions): row.env.steps_per_second
        for report in reports
        for row in report.comparisons
        if report.workers == 1
    }
    return [
        f"{report.workers} workers took {row.env.steps_per_second / alone[report.scenarios, row.sessions]:.1f} x the"
        f" steps per second of one at {row.sessions:,} sessions, in another run; the client shares their cores."
        for report in reports
        for row in report.comparisons
        if report.workers > 1 and (report.scenarios, row.sessions) in alone
    ]


def _range(ratios: Sequence[float]) -> str:
    return f"({min(ratios):.2f}-{max(ratios):.2f})"


def _peers(report: PeersBench) -> str:
    rows = [
        (
            f"{each.name} {each.version}",
            each.played,
            "" if each.name == OURS.name else f"**{each.ratio:.2f}** {_range((each.least_ratio, each.most_ratio))}",
            f"{each.steps_per_s:,.0f}",
            f"{each.shown_bytes:,}",
        )
        for each in report.peers
    ]
    header = ("environment", "played", "ours / its", "step/s", "bytes a step")
    missing = [f"Not installed where this was measured: {', '.join(report.missing)}."] if report.missing else []
    return "\n\n".join([_PEERS, _table(header, rows, words=2), *missing])


def _engine(report: BenchReport) -> str:
    slowest = max(report.actions, key=lambda each: each.p50_us)
    return (
        "## The engine alone\n\n"
        f"`camre bench engine` plays a mix of all actions on the {len(report.scenarios)} medium cases of the core\n"
        f"suite: **late steps take {report.late_to_early:.2f} x the time of early ones**,"
        f" {report.cpu_steps_per_s:,.0f} steps\n"
        f"per second of processor time ({report.steps_per_s:,.0f} by the clock), every observation built. The median\n"
        f"of the slowest action, `{slowest.action_type.value}`, is {slowest.p50_us:,.0f} microseconds by the clock."
    )


def _growth(report: GrowthBench) -> str:
    rows = []
    for axis in report.axes:
        first, last, (steepest, second, *_) = axis.points[0], axis.points[-1], axis.actions
        rows.append(
            (
                axis.what,
                f"{first.amount:,} to {last.amount:,}",
                f"**{axis.time_exponent:+.2f}**",
                f"**{axis.bytes_exponent:+.2f}**",
                f"`{steepest.action_type.value}` {steepest.exponent:+.2f}, then {second.exponent:+.2f}",
                f"{first.p50_us:,.0f} to {last.p50_us:,.0f}",
                f"{first.observation_bytes:,} to {last.observation_bytes:,}",
                f"{_ms(last.slowest_us)} ({_ms(last.slowest_collecting_us)})",
                _first(first, last),
            )
        )
    header = ("what grows", "from, to", "time", "bytes", "steepest", "p50, us", "bytes", "slowest, ms", "first, ms")
    reasons = "\n".join(f"- {axis.what}: {_REASONS[axis.name]}" for axis in report.axes)
    return "\n\n".join([_GROWTH, _table(header, rows, words=2), reasons])


def _first(least: GrowthPoint, most: GrowthPoint) -> str:
    if least.first_us is None or most.first_us is None:
        return "-"
    return f"{_ms(least.first_us)} to {_ms(most.first_us)}"


def _ms(us: float) -> str:
    return f"{us / 1_000:,.1f}"


def _optional(number: float | None) -> str:
    return "-" if number is None else f"{number:.2f}"


def _table(header: Sequence[str], rows: Sequence[Sequence[str]], words: int = 0) -> str:
    """The first `words` columns hold words, the others numbers."""
    rule = ["---" if place < words else "---:" for place in range(len(header))]
    return "\n".join(f"| {' | '.join(cells)} |" for cells in (header, rule, *rows))
