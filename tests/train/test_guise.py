"""A case in other words is the same case: what is said of it means what it meant, and costs what it cost."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.train.conftest import Run
from TokenOptEnv import scenario_store
from TokenOptEnv.config import EpisodeConfig
from TokenOptEnv.episode_runtime import start
from TokenOptEnv.models import ActionType, ItemKind, SearchPayload, TokenOptEnvAction, TokenOptEnvObservation
from TokenOptEnv.policies.recorded_actions import SaidEpisode
from TokenOptEnv.prompt import render_text
from TokenOptEnv.simulators import terms
from TokenOptEnv.world import build_world
from training import evaluate
from training.agreement import compare
from training.cases import CaseBox
from training.collect import Job, collect_case, read_traces
from training.env_pool import InlinePool, Replay, Replayed, Room
from training.episode import Episode, said
from training.guise import Guise, stand_ins, worn
from training.rollouts import Task
from training.tutor import Tutor

_WORDS = tuple(a + b + c for a in "bdglmprt" for b in ("ano", "eli", "oru", "ush") for c in ("na", "vek", "mor", "tis"))
_WIDE = "incident-easy-g100022"
_QUESTION = re.compile(r"## Q\n(.*)\n## A", re.DOTALL)


def guises(scenario_id: str, seed: int = 0) -> list[Guise]:
    return [Guise(_WORDS, scenario_id, seed, number) for number in range(1, 13)]


@pytest.fixture(scope="module")
def box(data: Path) -> CaseBox:
    return CaseBox(data.with_suffix(".zip"))


@pytest.fixture(scope="module")
def case(box: CaseBox) -> str:
    return box.index.cases[0].scenario_id


def test_what_is_said_under_a_guise_means_what_it_would_mean_without(box: CaseBox, case: str) -> None:
    for guise in guises(case):
        episode = Episode(box, case, 0, EpisodeConfig())
        for subtask in episode.observation.task.subtasks:
            plain = TokenOptEnvAction(action_type=ActionType.SEARCH_ARTIFACTS, query=subtask.question)
            guise.show(episode.observation)
            worn = plain.model_copy(update={"query": guise.text(subtask.question)})
            assert guise.mean(worn) == plain


def test_no_word_stands_for_two(box: CaseBox, case: str) -> None:
    text = render_text(Episode(box, case, 0, EpisodeConfig()).observation)
    for guise in guises(case):
        own = re.findall(r"[a-z]{3,}", text)
        worn = [guise.text(word) for word in own]
        assert len(set(worn)) == len(set(own))


def test_guises_differ_and_each_is_the_same_again(box: CaseBox, case: str) -> None:
    shown = [Episode(box, case, 0, EpisodeConfig(), guise).prompt for guise in guises(case)]
    assert shown == [Episode(box, case, 0, EpisodeConfig(), guise).prompt for guise in guises(case)]
    assert len(set(shown)) > len(shown) // 2
    plain = Episode(box, case, 0, EpisodeConfig()).prompt
    numbers = re.findall(r"\d+", _QUESTION.sub("", re.sub(r"## M,.*## Memory", "", plain, flags=re.DOTALL)))
    for each in shown:
        bare = _QUESTION.sub("", re.sub(r"## M,.*## Memory", "", each, flags=re.DOTALL))
        assert re.findall(r"\d+", bare) == numbers, "what is a number stays what it is"


def test_strewn_words_are_function_words_alone(box: CaseBox, case: str) -> None:
    """So a search in the words of a question stays the same."""
    plain = Episode(box, case, 0, EpisodeConfig()).observation.task.subtasks
    strewn = 0
    for guise in guises(case):
        worn = guise.show(Episode(box, case, 0, EpisodeConfig()).observation).task.subtasks
        for own, other in zip(plain, worn, strict=True):
            meant = guise.mean(TokenOptEnvAction(action_type=ActionType.QUERY_CACHE, query=other.question)).query
            assert meant is not None
            assert terms.distinct(meant) == terms.distinct(own.question)
            strewn += len(meant.split()) > len(own.question.split())
    assert strewn


def test_some_guises_blur_what_hits_are_about_and_nothing_else_of_a_search(box: CaseBox, case: str) -> None:
    """Numbers and sizes stay; a blurred hit reads the same in the result and in memory."""
    numbers = re.compile(r"^\d+ A\d+ s\d+ \d+t ", re.MULTILINE)
    blurred = 0
    for guise in guises(case):
        episode = Episode(box, case, 0, EpisodeConfig())
        episode.say("find ?1 k6")
        plain, worn = episode.observation, guise.show(episode.observation)
        texts = [
            next(each.text for each in seen.working_memory.items if each.kind is ItemKind.SEARCH)
            for seen in (plain, worn)
        ]
        assert numbers.findall(texts[0]) == numbers.findall(texts[1]) != []
        payload = worn.last_tool_result.payload if worn.last_tool_result else None
        assert isinstance(payload, SearchPayload)
        assert all(hit.snippet in texts[1] for hit in payload.hits)
        blurred += {len(hit.snippet.split()) for hit in payload.hits} == {8}
    assert 0 < blurred < 12


def test_prices_are_quite_others_for_who_imitates_alone(box: CaseBox, case: str) -> None:
    """Who is rewarded must be billed about what it was shown. Whoever costs half, or double, is still of its tier."""
    plain = Episode(box, case, 0, EpisodeConfig()).observation
    furthest = {False: 1.0, True: 1.0}
    for number in range(1, 13):
        for is_imitated in furthest:
            shown = Guise(_WORDS, case, 0, number, is_imitated=is_imitated).show(plain)
            for own, other in zip(plain.models, shown.models, strict=True):
                assert (other.model_id, other.tier) == (own.model_id, own.tier)
                ratio = other.output_pico_usd / own.output_pico_usd
                furthest[is_imitated] = max(furthest[is_imitated], ratio, 1 / ratio)
                assert all(isinstance(tokens, int) for tokens in other.reasoning_tokens.values())  # as in any prompt
    assert 1.05 < furthest[False] < 1.3
    assert 1.8 < furthest[True] < 5


def test_a_tutor_solves_under_a_guise_what_it_solves_without(box: CaseBox, case: str) -> None:
    """It goes by what it sees, in whatever words, and is never refused."""
    plain = Episode(box, case, 0, EpisodeConfig()).played_by(Tutor())
    played = [Episode(box, case, 0, EpisodeConfig(), guise).played_by(Tutor()) for guise in guises(case)]
    assert not any(each.refused for each in played)
    assert plain.success
    assert sum(each.success for each in played) > len(played) // 2


def test_traces_under_a_guise_replay_to_their_returns(tiny: Path, data: Path) -> None:
    words = tiny / "tokenizer.json"
    case = CaseBox(data.with_suffix(".zip")).index.cases[0].scenario_id
    job = Job(case, EpisodeConfig(), ("tutor",), -1.0, 0.5, data.with_suffix(".zip"), guise=3, tokenizer=words)
    traces = collect_case(job).traces
    assert {trace.guise for trace in traces} == {3, 4}, "slips wear the next"
    assert {trace.actions for trace in traces} != {trace.actions for trace in read_traces(data.with_suffix(".jsonl"))}
    pool = InlinePool(Room(data.with_suffix(".zip"), words, EpisodeConfig(), 8_000))
    pool.send(Replay(n, each.scenario_id, each.seed, each.actions, each.guise) for n, each in enumerate(traces))
    for reply, trace in zip(pool.receive(), traces, strict=True):
        assert isinstance(reply, Replayed)
        assert reply.outcome is not None
        assert reply.outcome.total_return == trace.total_return


def test_a_tutor_agrees_with_itself_under_the_guise_it_wore(tiny: Path, data: Path) -> None:
    words, file = tiny / "tokenizer.json", data.with_suffix(".zip")
    name = CaseBox(file).index.cases[0].scenario_id
    episode, actions = Episode(CaseBox(file), name, 0, EpisodeConfig(), worn(3, name, 0, words)), []
    while not episode.done:
        actions.append(said(Tutor().act(episode.observation), episode.observation) or "")
        episode.say(actions[-1])
    played = SaidEpisode(scenario_id=name, seed=0, actions=tuple(actions))
    counts = compare(file, [played], processes=1, guise=3, tokenizer=words)
    assert counts["all", "same"] == counts["all", "steps"] == len(actions)


def test_a_heuristic_is_judged_under_a_guise_where_that_is_asked_for(
    tiny: Path, data: Path, case: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[str] = []

    class Listening(Tutor):
        def act(self, observation: TokenOptEnvObservation) -> TokenOptEnvAction:
            asked.append(observation.task.subtasks[0].question)
            return super().act(observation)

    monkeypatch.setattr(evaluate, "teacher", lambda name, seed: Listening())
    for guise in range(4):
        outcome = evaluate.play_heuristic(
            "tutor", data.with_suffix(".zip"), EpisodeConfig(), guise, tiny / "tokenizer.json", Task(case, 0)
        )
        assert outcome.success
    assert len(set(asked)) > 1


def test_what_tells_a_question_about_all_of_a_table_is_not_its_words() -> None:
    """Without them a tutor still goes through all of it."""
    world = build_world(scenario_store.load(_WIDE), 0, EpisodeConfig(), reference=lambda: None)
    observation = start(world, _WIDE).observation
    first, *others = observation.task.subtasks
    bare = first.model_copy(update={"question": "Which service is at fault, if any?"})
    task = observation.task.model_copy(update={"subtasks": (bare, *others)})
    asked = Tutor().act(observation), Tutor().act(observation.model_copy(update={"task": task}))
    assert asked[0].action_type is asked[1].action_type is not ActionType.SEARCH_ARTIFACTS


def test_a_vocabulary_lends_whole_words_alone(tiny: Path) -> None:
    words = stand_ins(tiny / "tokenizer.json")
    assert len(words) > 100
    assert all(re.fullmatch(r"[a-z]{4,9}", each) for each in words)


@pytest.mark.parametrize(
    ("options", "cause"),
    [((), "name one with --tokenizer"), (("--tokenizer", "none.json"), "there is no tokenizer 'none.json'")],
)
def test_without_a_vocabulary_one_line_says_so(
    run: Run, data: Path, tmp_path: Path, options: tuple[str, ...], cause: str
) -> None:
    for called in (
        ("collect", "--easy", 1, "--out", tmp_path / "train"),
        ("evaluate", "--box", data.with_suffix(".zip"), "--policy", "tutor"),
    ):
        done = run(*called, "--guise", 1, *options, code=1)
        assert cause in done.stderr
        assert done.stderr.count("\n") == 1
