"""Figures follow from metrics alone: the same lines, the same bytes. Every stage is shown, and labels can be read."""

from __future__ import annotations

import json
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest
from matplotlib import pyplot as plt
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.text import Text

from tests.train.conftest import ROOT
from TokenOptEnv.errors import BadInput
from TokenOptEnv.evaluation import marked_block
from training import plot_data, plot_panels, plots, run_page

Rows = list[dict[str, Any]]
FIRST, LAST = 12, 6
ACTIONS = {
    "search_artifacts": 0.4,
    "read_artifact": 0.1,
    "submit_answer": 0.47,
    "purge_memory": 0.01,
    "malformed": 0.02,
}


def rows(iterations: int, rise: float, reached: str = "easy") -> Rows:
    """Every key rises by its own step, so that no line can pass for another."""
    keys = sorted({key for _, lines in plots.PANELS for key, _ in lines} | {"compared_return"})
    return [
        {
            "iteration": number,
            **{key: rise * (number + 1) * (place + 1) / 100 for place, key in enumerate(keys)},
            **{f"action_{name}": share for name, share in ACTIONS.items()},
            "reached": reached,
            **(checks(rise * (number + 1) / 100) if number % 3 == 2 else {}),
        }
        for number in range(iterations)
    ]


def checks(height: float) -> dict[str, float]:
    return {"check_return": 0.3 + height, "check_success": 0.4 + height, "check_sce": 0.1 + height}


def write(file: Path, lines: Rows) -> None:
    file.write_text("".join(json.dumps(row) + "\n" for row in lines), encoding="utf-8")


@pytest.fixture
def one_stage(tmp_path: Path) -> Path:
    first = rows(FIRST, 1.0)
    for row in first[4:]:
        row["reached"] = "medium" if row["iteration"] < 8 else "hard"
    write(tmp_path / "grpo.jsonl", first)
    heuristics = {"expert": (0.5, 0.2), "cascade": (0.6, 0.19), "rag": (0.45, 0.1), "cheapest": (0.2, 0.15)}
    baselines = {name: {"return": 0.35, "success": won, "sce": sce} for name, (won, sce) in heuristics.items()}
    (tmp_path / "baselines.json").write_text(json.dumps(baselines), encoding="utf-8")
    return tmp_path


@pytest.fixture
def metrics(one_stage: Path) -> Path:
    write(one_stage / "sft.jsonl", [{"iteration": 0, "loss": 1.0}, {"iteration": 1, **checks(-0.05)}])
    for seed in range(3):
        write(one_stage / f"seed-{seed}.jsonl", rows(LAST, 2.0 + seed, "hard"))
    return one_stage


@pytest.fixture(autouse=True)
def close_figures() -> Any:
    with plt.rc_context(plot_panels.STYLE):
        yield
    plt.close("all")


def told(figure: Figure) -> set[str]:
    return {text.get_text().strip() for text in figure.findobj(Text)} - {""}


def panel(figure: Figure, title: str) -> Axes:
    return next(axis for axis in figure.axes if axis.get_title(loc="left") == title)


def lines(axis: Axes) -> list[dict[float, float]]:
    return [
        dict(zip(map(float, line.get_xdata()), map(float, line.get_ydata()), strict=True)) for line in axis.get_lines()
    ]


@pytest.mark.parametrize("stages", ["one_stage", "metrics"])
def test_the_same_metrics_give_the_same_figures(stages: str, request: pytest.FixtureRequest) -> None:
    folder: Path = request.getfixturevalue(stages)
    first, again = (plots.draw(folder, folder / name) for name in ("first", "again"))
    assert [file.name for file in first] == [plots.PROGRESS, plots.DIAGNOSTICS]
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in again]
    assert all(file.stat().st_size < 400_000 for file in first)


def test_a_seed_changes_both_figures(metrics: Path) -> None:
    before = [file.read_bytes() for file in plots.draw(metrics, metrics / "before")]
    write(metrics / "seed-1.jsonl", rows(LAST, 3.5, "hard"))
    after = [file.read_bytes() for file in plots.draw(metrics, metrics / "after")]
    assert all(old != new for old, new in zip(before, after, strict=True))


def test_the_last_stage_goes_on_where_the_first_ended(metrics: Path) -> None:
    run = plot_data.read(metrics)
    axis = panel(plots._progress(run), "Return on training cases")
    first, *seeds, first_smoothed, mean_smoothed = lines(axis)[:6]
    assert list(first) == list(first_smoothed) == list(range(1, FIRST + 1))
    assert all(list(each) == list(range(FIRST + 1, FIRST + LAST + 1)) for each in (*seeds, mean_smoothed))
    assert {each[FIRST + 3] for each in seeds} == {row["return"] * n for n in (2, 3, 4) for row in rows(3, 1.0)[2:]}
    assert mean_smoothed[FIRST + 3] == pytest.approx(seeds[1][FIRST + 3])  # the middle seed is the mean, and straight
    (band,) = axis.collections
    assert band.get_paths()[0].get_extents().ymax == pytest.approx(max(seeds[2].values()))


def test_a_last_stage_may_go_on_counting(metrics: Path) -> None:
    counted_anew = plot_data.read(metrics).seeds
    for seed in range(3):
        write(
            metrics / f"seed-{seed}.jsonl",
            [row | {"iteration": row["iteration"] + 100} for row in rows(LAST, 2.0 + seed, "hard")],
        )
    assert [list(stage) for stage in plot_data.read(metrics).seeds] == [list(stage) for stage in counted_anew]


def test_a_seed_that_ended_early_moves_no_mean(metrics: Path) -> None:
    write(metrics / "seed-2.jsonl", rows(LAST - 2, 4.0, "hard"))
    seeds = [plot_data.series(stage, "return") for stage in plot_data.read(metrics).seeds]
    places = list(range(FIRST + 1, FIRST + LAST - 1))
    assert list(plot_data.mean(seeds)) == list(plot_data.band(seeds)) == places
    assert plot_data.mean(seeds)[places[0]] == pytest.approx(seeds[1][places[0]])


def test_checks_begin_with_the_warm_start_and_end_with_the_mean(metrics: Path) -> None:
    run = plot_data.read(metrics)
    axis = panel(plots._progress(run), "Play of validation cases")
    sce = next(line for line in lines(axis) if line.get(0.0) == pytest.approx(0.05) and len(line) > 2)
    assert list(sce) == [0, 3, 6, 9, 12, 15, 18]
    assert sce[18] == pytest.approx(0.1 + 3.0 * LAST / 100)
    points = [line[18] for line in lines(axis) if list(line) == [15, 18]]
    assert sorted(points)[:3] == pytest.approx([0.1 + rise * LAST / 100 for rise in (2.0, 3.0, 4.0)])


def test_the_best_heuristics_stand_beside_the_checks(metrics: Path) -> None:
    names = told(plots._progress(plot_data.read(metrics)))
    assert {"expert: SCE 0.200", "cascade: SCE 0.190", "cascade: success 0.600", "SCE 0.280"} <= names
    assert not [name for name in names if name.startswith(("rag", "cheapest", "expert: success"))]


def test_marks_tell_what_joined_and_where_the_last_stage_begins(metrics: Path) -> None:
    run = plot_data.read(metrics)
    on_the_way = [(5.0, "medium cases join"), (9.0, "hard cases join")]
    assert plot_data.marks(run) == [*on_the_way, (FIRST + 0.5, "last stage, 3 seeds")]
    assert {text for _, text in plot_data.marks(run)} <= told(plots._progress(run))
    write(metrics / "seed-0.jsonl", [*rows(LAST, 2.0)[:2], *rows(LAST, 2.0, "medium")[2:]])
    again = [(FIRST + 0.5, "last stage, 3 seeds, easy or hard cases"), (FIRST + 3.0, "medium cases join")]
    assert plot_data.marks(plot_data.read(metrics)) == [*on_the_way, *again]


def test_one_stage_has_neither_seeds_nor_a_last_stage(one_stage: Path) -> None:
    run = plot_data.read(one_stage)
    names = told(plots._progress(run)) | told(plots._diagnostics(run))
    assert {"each iteration", "smoothed"} <= names
    assert not [name for name in names if "seed" in name or "last stage" in name]


def test_every_panel_shows_the_first_stage_the_seeds_and_their_mean(metrics: Path) -> None:
    run = plot_data.read(metrics)
    figure = plots._diagnostics(run)
    for title, keys in plots.PANELS:
        drawn = lines(panel(figure, title))
        for key, _ in keys:
            assert dict(plot_data.series(run.first, key)) in drawn, title
            seeds = [plot_data.series(stage, key) for stage in run.seeds]
            assert all(dict(seed) in drawn for seed in seeds), title
            assert dict(plot_panels.smoothed(plot_data.mean(seeds))) in drawn, title
        assert drawn[-1] == {FIRST + 0.5: 1.0}, title  # the start of the last stage


def test_the_action_mix_is_of_all_seeds(metrics: Path) -> None:
    changed = rows(LAST, 2.0, "hard")
    for row in changed:
        del row["action_malformed"]
        row["action_submit_answer"] += 0.02
    write(metrics / "seed-0.jsonl", changed)
    shares = plot_data.action_shares(plot_data.read(metrics))
    assert set(shares) == set(ACTIONS)
    assert shares["malformed"][FIRST] == pytest.approx(0.02)
    assert shares["malformed"][FIRST + 1] == pytest.approx(0.02 * 2 / 3)
    assert all(sum(share[place] for share in shares.values()) == pytest.approx(1.0) for place in (1, FIRST + LAST))


def test_labels_can_be_read(metrics: Path) -> None:
    """None is small, none covers another, none is cut off: not even where much happens at once."""
    write(metrics / "seed-0.jsonl", [*rows(LAST, 2.0)[:2], *rows(LAST, 2.0, "medium")[2:]])
    run = plot_data.read(metrics)
    for figure in (plots._progress(run), plots._diagnostics(run)):
        figure.canvas.draw()
        texts = [text for axis in figure.axes for text in (*axis.texts, axis._left_title)] + figure.legends[0].texts
        texts = [text for text in texts if text.get_text().strip()]
        assert len(texts) > 10
        assert min(text.get_fontsize() for text in figure.findobj(Text) if text.get_text()) >= 8
        boxes = [Text.get_window_extent(text).padded(-0.5) for text in texts]
        for (one, box), (other, its_box) in combinations(zip(texts, boxes, strict=True), 2):
            assert not box.overlaps(its_box), (one.get_text(), other.get_text())
        width, height = figure.canvas.get_width_height()
        assert all(box.x0 >= 0 and box.x1 <= width and box.y0 >= 0 and box.y1 <= height for box in boxes)


def test_labels_keep_apart() -> None:
    assert plot_panels.kept_apart([0.1, 0.5], 0.1) == [0.1, 0.5]
    assert plot_panels.kept_apart([0.5, 0.5, 0.52], 0.1) == pytest.approx([0.5, 0.6, 0.7])
    assert plot_panels.kept_apart([0.97, 0.98, 1.0], 0.1) == pytest.approx([0.8, 0.9, 1.0])


def test_smoothing_neither_lags_nor_clings_to_the_start() -> None:
    straight = {place: float(place) for place in range(10)}
    assert [plot_panels.smoothed(straight)[place] for place in range(2, 8)] == list(range(2, 8))
    assert plot_panels.smoothed({1: 5.0, 2: 0.0, 3: 0.0, 4: 0.0})[4] == 0.0


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("grpo.jsonl", "", r"grpo.jsonl' is empty; copy the metrics of a run"),
        (
            "grpo.jsonl",
            '{"iteration": 0}\n{"iter',
            r"grpo.jsonl', line 2 is not a JSON object: '{\"iter'; copy it again",
        ),
        ("seed-1.jsonl", "[1]\n", r"seed-1.jsonl', line 1 is not a JSON object: '\[1\]'; copy it again"),
        ("seed-1.jsonl", '{"loss": 1}\n', r"seed-1.jsonl', line 1 has no number of an iteration: .*; copy it again"),
        ("sft.jsonl", '{"iteration": 0, "check_sce": "x"}', r"'check_sce', .*sft.jsonl', line 1, is 'x', not a number"),
        ("seed-0.jsonl", '{"iteration": 1}\n{"iteration": 0}', r"has iteration 0 after 1: .*more than one run; copy"),
        ("baselines.json", "{", r"baselines.json' is not a JSON object: '{'; write it again"),
        ("baselines.json", '{"rag": {"sce": 1}}', r"'success' of 'rag' in .* is None, not a number; write it again"),
    ],
)
def test_broken_metrics_are_one_line_with_a_remedy(metrics: Path, name: str, text: str, said: str) -> None:
    (metrics / name).write_text(text, encoding="utf-8")
    with pytest.raises(BadInput, match=said) as fault:
        plots.draw(metrics, metrics / "out")
    assert "\n" not in str(fault.value)


def test_missing_metrics_are_one_line_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there are no metrics .*grpo.jsonl'; copy them from a run's metrics.jsonl"):
        plots.draw(tmp_path, tmp_path)
    with pytest.raises(SystemExit, match=r"^plots: there is no folder of metrics .*none'; name one with --metrics$"):
        plots.main(["--metrics", str(tmp_path / "none")])


@pytest.mark.parametrize("file", run_page.PAGES, ids=str)
def test_the_table_of_the_run_is_of_its_metrics(file: Path) -> None:
    """`make plots` writes it."""
    page = (ROOT / file).read_text(encoding="utf-8")
    told = run_page.table(plot_data.read(ROOT / "results" / "metrics"))
    assert marked_block.replaced(page, run_page.BLOCK, told, str(file)) == page


def test_the_gains_of_the_run_are_of_its_metrics() -> None:
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    told = run_page.gains_table(plot_data.read(ROOT / "results" / "metrics"))
    assert marked_block.replaced(page, run_page.GAINS_BLOCK, told, "results/README.md") == page


def test_the_pace_of_the_run_is_of_its_timings() -> None:
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    told = run_page.pace_table(ROOT / "results" / "timings")
    assert marked_block.replaced(page, run_page.PACE_BLOCK, told, "results/README.md") == page


def test_a_stages_pace_is_that_of_its_whole_time(tmp_path: Path) -> None:
    """Where a short iteration counts as little as it lasted; a warm start plays nothing."""
    short = {"play_s": 1.0, "learn_s": 0.0, "env_steps_per_minute": 4_000, "env_share": 0.5}
    long = {"play_s": 2.0, "learn_s": 1.0, "env_steps_per_minute": 8_000, "env_share": 0.1}
    write(tmp_path / "grpo.jsonl", [{"iteration": 0, **short}, {"iteration": 1, **long}])
    write(tmp_path / "sft.jsonl", [{"iteration": 0, "seconds": 1.0}])
    assert run_page.pace_table(tmp_path).splitlines()[2:] == ["| grpo | 2 | 7,000 | 20.0% |"]


def test_gains_are_told_by_quarter_and_by_seed_with_their_errors(one_stage: Path) -> None:
    measured = [
        {"iteration": number, "return": 0.5 + 0.1 * number, "compared_return": 0.5, "success": 0.5}
        for number in range(8)
    ]
    write(one_stage / "grpo.jsonl", measured)
    write(one_stage / "seed-1.jsonl", measured[:1])
    lines = run_page.gains_table(plot_data.read(one_stage)).splitlines()[2:]
    assert lines == [
        "| 1 to 2 | +0.050 ± 0.050 | - | - |",
        "| 3 to 4 | +0.250 ± 0.050 | - | - |",
        "| 5 to 6 | +0.450 ± 0.050 | - | - |",
        "| 7 to 8 | +0.650 ± 0.050 | - | - |",
        "| 9 to 9, seed 1 | +0.000 | - | - |",
    ]


@pytest.mark.parametrize(
    ("measured", "gained"),
    [
        ({"return": 0.5, "compared_return": 0.4}, 0.1),
        ({"return": 0.5, "compared_return": 0.4, "undrawn_return": 0.6}, 0.2),
        ({"return": 0.5, "compared_return": 0.4, "expected_return": 0.7, "compared_expected_return": 0.4}, 0.3),
        (
            {"return": 0.5, "compared_return": 0.4, "undrawn_return": 0.6, "expected_return": 0.7}
            | {"undrawn_expected_return": 0.8, "compared_expected_return": 0.3},
            0.5,
        ),
    ],
)
def test_a_gain_has_as_little_luck_in_it_as_was_measured(
    one_stage: Path, measured: dict[str, float], gained: float
) -> None:
    write(one_stage / "grpo.jsonl", [{"iteration": 0, **measured}])
    row = plot_data.read(one_stage).first[1]
    assert row["gained_return"] == pytest.approx(gained)
    assert row["played_return"] - row["beside_return"] == pytest.approx(gained)


def test_the_table_of_what_was_tried_is_of_its_metrics() -> None:
    page = (ROOT / "results" / "README.md").read_text(encoding="utf-8")
    told = run_page.tried_table(ROOT / "results" / "tried")
    assert marked_block.replaced(page, run_page.TRIED_BLOCK, told, "results/README.md") == page


def test_a_table_has_every_check_of_every_seed_and_the_best_heuristic_first(one_stage: Path) -> None:
    for seed in (1, 2):
        write(one_stage / f"seed-{seed}.jsonl", rows(LAST, float(seed)))
    lines = run_page.table(plot_data.read(one_stage)).splitlines()[2:]
    names = [line.split(" | ")[0].removeprefix("| ") for line in lines]
    first = [f"after {place} iterations" for place in (3, 6, 9, 12)]
    last = [f"after {place} iterations, seed {seed}" for seed in (1, 2) for place in (15, 18)]
    assert names == [*first, *last, "`expert`", "`cascade`", "`cheapest`", "`rag`"]
    assert lines[0] == "| after 3 iterations | 0.430 | 0.130 | 0.330 | - | - |"
    assert "| `expert` | 0.500 | 0.200 | 0.350 | - | - |" in lines


def test_a_page_that_is_not_there_is_one_line(one_stage: Path) -> None:
    with pytest.raises(SystemExit, match=r"run_page: there is no page '.*nowhere.md'; name one with --page"):
        run_page.main(["--metrics", str(one_stage), "--page", str(one_stage / "nowhere.md")])
