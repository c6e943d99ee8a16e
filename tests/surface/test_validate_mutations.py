"""`camre scenarios validate --mutations N`: a bound that a changed plan undercuts fails the command."""

from __future__ import annotations

import json

import pytest

from TokenOptEnv import scenario_store
from TokenOptEnv.cli.main import run
from TokenOptEnv.evaluation import mutated_plans

SMALLEST = min(scenario_store.index().scenarios, key=lambda row: row.artifact_tokens).scenario_id
LINE = ["scenarios", "validate", SMALLEST, "--workers", "1", "--mutations"]


def test_mutated_plans_are_played_only_when_asked_for_and_tell_of_a_wrong_bound(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run([*LINE, "20"]) == 0
    assert "1 scenarios, 0 errors" in capsys.readouterr().out
    monkeypatch.setattr(mutated_plans, "bound_nano_usd", lambda *arguments: 10**12)
    assert run([*LINE, "0"]) == 0
    capsys.readouterr()
    assert run([*LINE, "20", "--json"]) == 1
    faults = json.loads(capsys.readouterr().out)
    assert 0 < len(faults) < 20
    assert all("below the bound of 1000000000000" in fault["cause"] for fault in faults)


def test_fewer_than_no_mutations_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert run([*LINE, "-1"]) == 1
    told = capsys.readouterr()
    assert told.out == "" and told.err.count("\n") == 1 and "give 0 or more" in told.err
