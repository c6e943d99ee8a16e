"""The page: one file, everything inline. Data travel compressed, since traces repeat themselves."""

from __future__ import annotations

import gzip
from base64 import b64encode
from collections.abc import Iterator, Sequence
from functools import partial
from importlib.resources import files
from pathlib import Path

from TokenOptEnv.evaluation import leaderboard, metrics, pool
from TokenOptEnv.evaluation.episodes import EpisodeResult
from TokenOptEnv.evaluation.leaderboard import Board
from TokenOptEnv.evaluation.measures import CHEAPEST_NANO_USD, DEAREST_NANO_USD, NANO
from TokenOptEnv.evaluation.metrics import Dimension, Summary
from TokenOptEnv.evaluation.report.watched import WatchedEpisode, chosen, watch
from TokenOptEnv.evaluation.run_folder import Run
from TokenOptEnv.models import EpisodeStamp
from TokenOptEnv.models.base import Frozen
from TokenOptEnv.version import VERSION

MOST_WATCHED = 240
_TERMS_DECIMALS = 6


class PolicyPage(Frozen):
    """What the charts need of one policy beyond its summary."""

    name: str
    describes: str
    knows_truth: bool
    terms: dict[str, float]
    """The mean of each term of the return."""
    solved_usd: tuple[float, ...]
    """What each solved task cost, and beside it the reference's price."""
    solved_reference_usd: tuple[float, ...]


class Groups(Frozen):
    dimension: Dimension
    summaries: tuple[Summary, ...]


class Report(Frozen):
    version: str
    stamp: EpisodeStamp
    profile: str
    track: str
    board: Board
    policies: tuple[PolicyPage, ...]
    """In the order of the ranking."""
    groups: tuple[Groups, ...]
    plane_usd: tuple[float, float]
    """The corners of the plane that volumes are measured in."""
    notes: tuple[str, ...]
    """Who answered, where that was not the simulated models."""
    proof: str
    watched: tuple[WatchedEpisode, ...]


def build(runs: Sequence[Run], workers: int, most_watched: int = MOST_WATCHED) -> Iterator[WatchedEpisode | Report]:
    """Each episode of the viewer as it is replayed, and at last the report."""
    board, results = leaderboard.board_of(runs)
    watched: list[WatchedEpisode] = []
    for episode in _watched(runs, results, workers, most_watched):
        watched.append(episode)
        yield episode
    order = {summary.policy: place for place, summary in enumerate(board.ranking)}
    watched.sort(key=lambda each: (each.scenario_id, each.seed, order[each.policy]))
    dimensions = [each for each in Dimension if each is not Dimension.ALL]
    groups = (Groups(dimension=each, summaries=metrics.summaries(results, each)) for each in dimensions)
    yield Report(
        version=VERSION,
        stamp=results[0].stamp.model_copy(update={"public_hash": "", "memory_tokens": None}),
        profile=results[0].profile.value,
        track=results[0].track.value,
        board=board,
        policies=tuple(_policy_page(runs, name, results) for name in order),
        groups=tuple(groups),
        plane_usd=(CHEAPEST_NANO_USD / NANO, DEAREST_NANO_USD / NANO),
        notes=leaderboard.answered_notes(board),
        proof=leaderboard.PROOF,
        watched=tuple(watched),
    )


def write(report: Report, file: Path) -> None:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(html(report), encoding="utf-8", newline="\n")


def html(report: Report) -> str:
    data = gzip.compress(report.model_dump_json().encode(), compresslevel=9, mtime=0)
    page = _asset("page.html")
    for mark, content in (
        ("/* style */", _asset("style.css")),
        ("/* charts */", _asset("charts.js")),
        ("/* viewer */", _asset("viewer.js")),
        ("/* page */", _asset("page.js")),
        ("{{data}}", b64encode(data).decode()),
    ):
        page = page.replace(mark, content)
    return page


def _watched(
    runs: Sequence[Run], results: Sequence[EpisodeResult], workers: int, most: int
) -> Iterator[WatchedEpisode]:
    """Policies may have got another name on the board; a trace is found under the one they played by."""
    kept = {(result.scenario_id, result.seed) for result in chosen(results, most)}
    shown = {result.policy for result in results}
    names = leaderboard.names(runs)
    for number, run in enumerate(runs):
        there = [
            result
            for result in run.results
            if (result.scenario_id, result.seed) in kept and names[number, result.policy] in shown
        ]
        for episode in pool.results(partial(watch, run.folder, run.spec.options, run.recording), there, workers):
            yield episode.model_copy(update={"policy": names[number, episode.policy]})


def _policy_page(runs: Sequence[Run], name: str, results: Sequence[EpisodeResult]) -> PolicyPage:
    own = [result for result in results if result.policy == name]
    solved = [result for result in own if result.success]
    names = leaderboard.names(runs)
    about = next(
        policy for number, run in enumerate(runs) for policy in run.spec.policies if names[number, policy.name] == name
    )
    terms: dict[str, float] = {}
    for result in own:
        for term in result.score.terms:
            terms[term.term] = terms.get(term.term, 0.0) + term.value / len(own)
    return PolicyPage(
        name=name,
        describes=about.describes,
        knows_truth=about.knows_truth,
        terms={term: round(value, _TERMS_DECIMALS) for term, value in terms.items()},
        solved_usd=tuple(result.cost_nano_usd / NANO for result in solved),
        solved_reference_usd=tuple(result.reference_nano_usd / NANO for result in solved),
    )


def _asset(name: str) -> str:
    return (files(__package__) / "assets" / name).read_text(encoding="utf-8")
