"""Figures follow from metrics alone: the same lines, the same bytes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from TokenOptEnv.errors import BadInput
from training import plots


def rows() -> list[dict[str, float]]:
    keys = [key for _, lines in plots._PANELS for key, _ in lines]
    told = [
        {"iteration": number, **dict.fromkeys(keys, 0.1 * number), "return": 0.2, "success": 0.1, "sce": 0.1}
        for number in range(6)
    ]
    mix = {"action_read_artifact": 0.4, "action_submit_answer": 0.6, "usd": 0.01}
    return [
        row | mix | ({"check_return": 0.3, "check_success": 0.2, "check_sce": 0.1} if place == 5 else {})
        for place, row in enumerate(told)
    ]


@pytest.fixture
def metrics(tmp_path: Path) -> Path:
    (tmp_path / "grpo.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows()), encoding="utf-8")
    baselines = {"expert": {"return": 0.35, "success": 0.3, "sce": 0.2}}
    (tmp_path / "baselines.json").write_text(json.dumps(baselines), encoding="utf-8")
    return tmp_path


def test_the_same_metrics_give_the_same_figures(metrics: Path) -> None:
    first, again = (plots.draw(metrics, metrics / name) for name in ("first", "again"))
    assert [file.name for file in first] == [plots.PROGRESS, plots.DIAGNOSTICS]
    assert [file.read_bytes() for file in first] == [file.read_bytes() for file in again]


def test_other_metrics_give_another_figure(metrics: Path) -> None:
    before = plots.draw(metrics, metrics / "before")[0].read_bytes()
    (metrics / "baselines.json").unlink()
    assert plots.draw(metrics, metrics / "after")[0].read_bytes() != before


def test_missing_metrics_are_one_line_with_a_remedy(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match=r"there are no metrics .*; copy them from a run's metrics.jsonl"):
        plots.draw(tmp_path, tmp_path)
