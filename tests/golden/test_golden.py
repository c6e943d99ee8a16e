"""Frozen traces: a change of any byte of an episode is seen here first.

A difference is either a bug or a change of scores; the second bumps `SCORING_VERSION`, is told in the
changelog, and refreshes these files. A version counts as released once its heading in the changelog has a date
(`## 0.1.0, 2026-12-01 (SCORING_VERSION 1)`); from then on `released_scores.json` keeps a digest of its scores, and a
refresh under the same version is refused.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from difflib import unified_diff
from hashlib import sha256
from pathlib import Path

import pytest

from tests.cases import Play, find_everything, marathon, segment_with, simulated_world, toy
from TokenOptEnv.scenario import Scenario
from TokenOptEnv.version import SCORING_VERSION

FOLDER = Path(__file__).resolve().parent / "traces"
RELEASED = FOLDER.parent / "released_scores.json"
CHANGELOG = FOLDER.parents[2] / "CHANGELOG.md"
REFRESH = "if it is meant, bump SCORING_VERSION and refresh: pytest tests/golden --refresh-golden"


def solve(play: Play) -> None:
    find_everything(play)
    play.escalate("route-2", "claude-sonnet-4.5")
    play.submit(*play.finding_ids)


def keep_house(play: Play) -> None:
    """Every way of reading and keeping."""
    orders = segment_with(toy(), "pool exhausted")
    play.read("log-orders")
    play.search("pool exhausted request failed", 3)
    play.query_cache("Why did a checkout request fail?")
    play.hydrate(orders)
    play.compress(orders, method="log_templates", target_ratio=0.4)
    play.compress(play.item_ids[0], method="head_tail", target_ratio=0.5)
    play.checkpoint("the orders log waits for connections", *play.finding_ids[:1])
    play.purge(*play.item_ids[:2])
    play.restore("checkpoint-1")
    play.submit(answer={"cause": "deadlock"}, evidence_segment_ids=(orders,))


def err(play: Play) -> None:
    """Refusals until the steps run out."""
    play.read("nowhere")
    play.hydrate("log-orders-s1")
    play.route("q-cause", "gpt-5-mini")
    play.escalate("route-1")
    play.restore("checkpoint-1")
    play.compress("x", method="zip")
    while not play.observation.done:
        play.search("  ")


def run_far(play: Play) -> None:
    """Through the three phases of the marathon."""
    for subtask_id, query in (("q-request", "req-7f3a failed"), ("q-volume", "volume percent")):
        play.search(query, 2)
        play.route(subtask_id, "gpt-5.2", *(handle.segment_id for handle in play.observation.surfaced[:2]))
        play.checkpoint(subtask_id, *play.finding_ids)
    for number in (1, 2):
        play.restore(f"checkpoint-{number}")
    play.search("pool exhausted", 2)
    play.route("q-cause", "gpt-5.2", *(handle.segment_id for handle in play.observation.surfaced[:2]))
    play.submit(*play.finding_ids)


@pytest.mark.parametrize(
    ("name", "scenario", "script"),
    [
        ("toy-solve", toy, solve),
        ("toy-keep-house", toy, keep_house),
        ("toy-err", toy, err),
        ("marathon-run-far", marathon, run_far),
    ],
)
def test_the_trace_is_the_one_on_file(
    name: str, scenario: Callable[[], Scenario], script: Callable[[Play], None], request: pytest.FixtureRequest
) -> None:
    play = Play(simulated_world(scenario(), 0))
    script(play)
    assert play.observation.done
    compare(FOLDER / f"{name}.jsonl", play.trace.to_jsonl(), refresh=request.config.getoption("--refresh-golden"))


def compare(file: Path, text: str, *, refresh: bool) -> None:
    if refresh:
        file.parent.mkdir(exist_ok=True)
        file.write_text(text, encoding="utf-8")
        return
    if not file.is_file():
        pytest.fail(f"no golden trace {file.name}; write it: pytest tests/golden --refresh-golden", pytrace=False)
    stored = file.read_text(encoding="utf-8")
    if text != stored:
        changed = list(unified_diff(stored.splitlines(), text.splitlines(), "on file", "now", lineterm="", n=0))
        shown = "\n".join(line[:400] for line in changed[:12])
        pytest.fail(f"{file.name} differs; {REFRESH}\n{shown}", pytrace=False)


def test_a_difference_of_one_byte_is_told_with_the_way_to_refresh(tmp_path: Path) -> None:
    file = tmp_path / "case.jsonl"
    compare(file, "one\ntwo\n", refresh=True)
    compare(file, "one\ntwo\n", refresh=False)
    with pytest.raises(pytest.fail.Exception, match="--refresh-golden"):
        compare(file, "one\ntwO\n", refresh=False)
    with pytest.raises(pytest.fail.Exception, match="no golden trace"):
        compare(tmp_path / "none.jsonl", "one\n", refresh=False)


def scores_digest(folder: Path) -> str:
    """Of what was billed, paid and scored, step by step: what must not change under one `SCORING_VERSION`."""
    told = []
    for file in sorted(folder.glob("*.jsonl")):
        _, *steps = (json.loads(line) for line in file.read_text(encoding="utf-8").splitlines())
        for step in steps:
            bills = [(entry["nano_usd"], entry["cold_nano_usd"]) for entry in step["entries"]]
            told.append((file.name, step["step"], bills, step["reward"], step["score"]))
    return sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()


def released_versions(changelog: str) -> set[int]:
    dated = re.findall(r"^## \S+, \d{4}-\d{2}-\d{2} \(SCORING_VERSION (\d+)\)$", changelog, flags=re.MULTILINE)
    return {int(version) for version in dated}


def check_release(version: int, digest: str, changelog: str, record: Path, *, refresh: bool) -> None:
    """A released version keeps its scores; the first refresh after its release writes them down."""
    if version not in released_versions(changelog):
        return
    known: dict[str, str] = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    if str(version) not in known:
        if not refresh:
            pytest.fail(f"no scores of released version {version}; write them: pytest tests/golden --refresh-golden")
        record.write_text(json.dumps({**known, str(version): digest}, indent=1) + "\n", encoding="utf-8")
    elif known[str(version)] != digest:
        pytest.fail(f"scores changed, and SCORING_VERSION {version} is released; bump it in TokenOptEnv/version.py")


def test_scores_change_only_with_their_version(request: pytest.FixtureRequest) -> None:
    changelog = CHANGELOG.read_text(encoding="utf-8")
    refresh = bool(request.config.getoption("--refresh-golden"))
    check_release(SCORING_VERSION, scores_digest(FOLDER), changelog, RELEASED, refresh=refresh)


def test_a_released_version_cannot_be_refreshed_to_other_scores(tmp_path: Path) -> None:
    record = tmp_path / "released.json"
    undated, dated = "## 0.1.0 (SCORING_VERSION 1)\n", "## 0.1.0, 2026-12-01 (SCORING_VERSION 1)\n"
    check_release(1, "a", undated, record, refresh=True)
    assert not record.exists()
    with pytest.raises(pytest.fail.Exception, match="no scores of released version 1"):
        check_release(1, "a", dated, record, refresh=False)
    check_release(1, "a", dated, record, refresh=True)
    check_release(1, "a", dated, record, refresh=False)
    with pytest.raises(pytest.fail.Exception, match="bump it"):
        check_release(1, "b", dated, record, refresh=True)
    check_release(2, "b", dated, record, refresh=True)


def test_one_nano_dollar_changes_the_digest_of_scores(tmp_path: Path) -> None:
    file = tmp_path / "case.jsonl"
    text = (FOLDER / "toy-solve.jsonl").read_text(encoding="utf-8")
    file.write_text(text, encoding="utf-8")
    before = scores_digest(tmp_path)
    billed = re.search(r'"nano_usd":(\d+)', text)
    assert billed is not None
    file.write_text(text.replace(billed[0], f'"nano_usd":{int(billed[1]) + 1}', 1), encoding="utf-8")
    assert scores_digest(tmp_path) != before
