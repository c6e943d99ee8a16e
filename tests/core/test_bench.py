"""The benches that need no server, in their shortest forms; and the page that is written from what they say."""

from __future__ import annotations

import json
from pathlib import Path
from xml.etree import ElementTree

import pytest

from TokenOptEnv.cli.main import run
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import bench_case, bench_engine, bench_growth, bench_page, bench_peers
from TokenOptEnv.evaluation.bench_growth import GrowthBench
from TokenOptEnv.evaluation.bench_growth_plot import growth_plot
from TokenOptEnv.evaluation.bench_machine import Machine, this_machine
from TokenOptEnv.evaluation.bench_peers import PeersBench
from TokenOptEnv.evaluation.bench_server import Comparison, ServerBench, Speed
from TokenOptEnv.models import ActionType

Out = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def growth() -> GrowthBench:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(bench_growth, "STEPS", (15, 30))
        patch.setattr(bench_growth, "ARTIFACTS", (2, 16))
        patch.setattr(bench_growth, "TOKENS", (3_000, 48_000))
        patch.setattr(bench_growth, "EPISODES", (1, 4))
        return bench_growth.run(repeats=1)


@pytest.fixture(scope="module")
def peers() -> PeersBench:
    return bench_peers.run(rounds=2, seconds=0.02)


@pytest.mark.parametrize(("power", "expected"), [(0.0, 0.0), (0.5, 0.5), (1.0, 1.0)])
def test_an_exponent_is_the_power_of_the_growth(power: float, expected: float) -> None:
    assert bench_growth.exponent([(amount, 7 * amount**power) for amount in (1, 10, 100)]) == pytest.approx(expected)


def test_growth_is_measured_along_every_axis_and_for_every_action(growth: GrowthBench) -> None:
    assert [axis.name for axis in growth.axes] == ["steps", "artifacts", "tokens", "episodes"]
    for axis in growth.axes:
        assert len(axis.points) == 2
        assert {each.action_type for each in axis.actions} >= {ActionType.SEARCH_ARTIFACTS, ActionType.ROUTE_SUBTASK}
        assert [each.exponent for each in axis.actions] == sorted((e.exponent for e in axis.actions), reverse=True)
        for point in axis.points:
            assert 0 < point.p50_us <= point.p99_us <= point.slowest_us
            assert point.slowest_collecting_us <= point.slowest_us


def test_more_evidence_takes_longer_to_index_and_no_more_to_show(growth: GrowthBench) -> None:
    tokens = growth.axes[2]
    assert tokens.first_exponent is not None and tokens.first_exponent > 0.3
    assert abs(tokens.bytes_exponent) < 0.1
    assert growth.axes[0].first_exponent is None


def test_the_words_of_its_questions_stand_in_nearly_every_segment() -> None:
    """Rare words would make any search look flat."""
    case = bench_case.bench_case(4, 20_000)
    segments = [segment.text for artifact in case.public.artifacts for segment in artifact.segments]
    for word in ("request", "shard", "ms"):
        assert sum(word in text for text in segments) > 0.9 * len(segments)


@pytest.mark.parametrize("tokens", [6_000, 60_000])
def test_a_case_has_about_the_tokens_it_was_asked_for(tokens: int) -> None:
    case = bench_case.bench_case(8, tokens)
    assert len(case.public.artifacts) == 8
    assert sum(case.public.segment_tokens["qwen3"]) == pytest.approx(tokens, rel=0.15)


def test_the_plot_is_well_formed_and_has_a_panel_for_each_axis(growth: GrowthBench) -> None:
    root = ElementTree.fromstring(growth_plot(growth))
    titles = [text.text or "" for text in root.iter("{http://www.w3.org/2000/svg}text") if text.get("class") == "t"]
    assert [axis.what in title for axis, title in zip(growth.axes, titles, strict=True)] == [True] * 4


def test_ours_is_the_first_of_the_peers_and_its_own_measure(peers: PeersBench) -> None:
    ours, *others = peers.peers
    assert (ours.name, ours.ratio) == ("TokenOptEnv", 1.0)
    assert {each.name for each in others} | set(peers.missing) == {"gymnasium", "textarena", "reasoning-gym"}
    for each in peers.peers:
        assert each.steps_per_s > 0 and each.least_ratio <= each.ratio <= each.most_ratio


def test_a_peer_that_is_not_installed_is_named_in_one_line(monkeypatch: pytest.MonkeyPatch, capsys: Out) -> None:
    nowhere = bench_peers.Peer("no-such-peer", "no_such_peer", "nothing", bench_peers._ours)
    monkeypatch.setattr(bench_peers, "PEERS", (nowhere,))
    assert run(["bench", "peers", "--rounds", "1", "--seconds", "0.01"]) == 0
    told = [line for line in capsys.readouterr().out.splitlines() if "no-such-peer" in line]
    assert told == ["no-such-peer is not installed here; install the peers: pip install 'openenv-TokenOptEnv[bench]'"]


def test_the_machine_is_named_by_processor_cores_and_python() -> None:
    machine = this_machine()
    assert machine.cores >= 1
    assert f"{machine.cores} cores" in machine.line() and f"Python {machine.python}" in machine.line()


def _server(workers: int, rate: float, refusal: str | None) -> ServerBench:
    speed = Speed(steps_per_second=rate, p50_ms=1.0, p99_ms=2.0, cpu_us=300.0, resident_mb=290.0)
    row = Comparison(
        sessions=32,
        env=speed,
        echo=speed,
        openenv_echo=speed,
        ratio_to_echo=0.5,
        ratios_to_echo=(0.4, 0.5, 0.7),
        ratio_to_openenv_echo=1.25,
        ratios_to_openenv_echo=(1.0, 1.25, 1.5),
        cpu_ratio_to_echo=0.5,
        cpu_ratio_to_openenv_echo=None,
    )
    machine = Machine(processor="abacus", cores=2, python="3.11.7", system="Linux", load=5.0)
    return ServerBench(
        machine=machine,
        scenarios=1,
        workers=workers,
        rounds=3,
        steps=64,
        answers_compared=100,
        refusal=refusal,
        comparisons=(row,),
    )


@pytest.fixture
def results(tmp_path: Path, growth: GrowthBench, peers: PeersBench) -> Path:
    made = {
        "engine": bench_engine.run(seconds=0.01),
        "growth": growth,
        "peers": peers,
        "server-1": _server(1, 1_000.0, "CAPACITY_REACHED: full"),
        "server-2": _server(2, 1_500.0, None),
    }
    for name, report in made.items():
        (tmp_path / f"{name}.json").write_text(report.model_dump_json())
    return tmp_path


def test_the_page_tells_ratios_with_their_range_and_names_a_busy_machine(results: Path, tmp_path: Path) -> None:
    assert run(["bench", "page", str(results), "--out", str(tmp_path / "docs")]) == 0
    page = (tmp_path / "docs" / "benchmarks.md").read_text()
    assert "**0.50** (0.40-0.70) | **1.25** (1.00-1.50)" in page
    assert "abacus, 2 cores" in page
    assert "cores when the benches began" in page
    assert "2 workers took 1.5 x the steps per second of one at 32 sessions" in page
    assert "200 answers were compared" in page and "`CAPACITY_REACHED: full`" in page
    assert (tmp_path / "docs" / bench_page.PLOT).is_file()


@pytest.mark.parametrize("name", ["engine", "growth", "peers"])
def test_a_bench_that_was_not_run_is_asked_for_by_its_command(name: str, results: Path) -> None:
    (results / f"{name}.json").unlink()
    with pytest.raises(BadInput, match=f"camre bench {name} --json > {name}.json"):
        bench_page.gathered(results)


def test_output_of_another_version_is_refused_in_one_line(results: Path) -> None:
    (results / "growth.json").write_text(json.dumps({"axes": []}))
    with pytest.raises(BadInput, match="no output of this version"):
        bench_page.gathered(results)
