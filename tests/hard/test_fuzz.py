"""A share of the fuzzing that fits into every run; `make fuzz` is the whole."""

from __future__ import annotations

import pytest

from tests.hard import fuzz_engine, fuzz_socket
from tests.server.live import thread
from TokenOptEnv import ActionType, LocalEnv, TokenOptEnvAction, scenario_store
from TokenOptEnv.episode_state import evolve
from TokenOptEnv.server.settings import Settings

_SMALL = tuple(name for name in scenario_store.ids("core") if "-easy-" in name)
_MOST_GROWTH_KIB = 64 * 1_024


@pytest.mark.parametrize("seed", [1, 2])
def test_no_action_breaks_hangs_or_leaks_and_a_refused_one_changes_only_the_bill(seed: int) -> None:
    tally = fuzz_engine.Attack(seed, _SMALL).run(1_500)
    assert tally.refused > 300 and tally.malformed > 100 and tally.bad_resets > 10, "the attack was too tame"
    assert len(tally.reasons) >= 10 and len(tally.ends) == 3
    assert tally.grown_kib < _MOST_GROWTH_KIB


def test_the_same_seed_is_the_same_attack() -> None:
    first, second = (fuzz_engine.Attack(5, _SMALL[:1]).run(150) for _ in range(2))
    assert (first.reasons, first.ends, first.malformed) == (second.reasons, second.ends, second.malformed)


def test_an_engine_whose_refusals_change_more_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    """The fuzzer can fail: here a refused action empties the memory."""
    honest = LocalEnv.step

    def leaky(env: LocalEnv, action: TokenOptEnvAction) -> object:
        seen = honest(env, action)
        assert env._outcome is not None
        if seen.last_tool_result is not None and seen.last_tool_result.refusal is not None:
            env._outcome = env._outcome._replace(state=evolve(env._outcome.state, cache_queries=99))
        return seen

    monkeypatch.setattr(LocalEnv, "step", leaky)
    with pytest.raises(fuzz_engine.Broken, match=r"a refused .* changed .*cache_queries"):
        fuzz_engine.Attack(1, _SMALL).run(200)


def test_an_engine_that_shows_a_hidden_name_is_found_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fuzz_engine, "secrets", lambda scenario: (scenario.public.title,))
    with pytest.raises(fuzz_engine.Broken, match="hidden words were shown"):
        fuzz_engine.Attack(1, _SMALL).run(200)


def test_the_names_that_are_looked_for_are_hidden_ones() -> None:
    for name in _SMALL:
        words = fuzz_engine.secrets(scenario_store.load(name))
        assert len(words) > 5
        assert any(fact.why in words for fact in scenario_store.load(name).hidden.facts)


def test_no_frame_breaks_the_server_and_a_witness_notices_nothing() -> None:
    with thread(Settings(capacity=fuzz_socket.CAPACITY)) as here:
        tally = fuzz_socket.attack(here, 900, seed=1)
    assert tally.frames >= 800 and tally.closed_by_server > 5, "the attack was too tame"
    assert set(tally.answers) == {
        *("observation", "state"),
        *("INVALID_JSON", "UNKNOWN_TYPE", "VALIDATION_ERROR", "EXECUTION_ERROR"),
    }


def test_every_type_of_action_is_attacked() -> None:
    from random import Random

    from tests.hard import hostile

    seen = LocalEnv().reset(scenario_id=_SMALL[0])
    draw = Random(0)
    kinds = {hostile.fields(draw, seen).get("action_type") for _ in range(600)}
    assert {kind.value for kind in ActionType} <= {kind for kind in kinds if isinstance(kind, str)}
