"""Backends: answers that replay to the byte, recordings that survive a kill, names that are checked."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import TOY, Play, toy, world_of
from tests.core.live_cases import (
    ROOT,
    SECRET,
    asked_once,
    episode,
    live,
    recorded,
    request,
    right,
    settings,
)
from tests.core.live_server import Body, Step, said, serving
from TokenOptEnv import LocalEnv, backends
from TokenOptEnv.backends import LiveSettings, live_settings
from TokenOptEnv.backends.live_settings import KEY
from TokenOptEnv.backends.recorded import RecordedBackend
from TokenOptEnv.backends.recording import Answered, Call, Recorder, Tally, Unanswered, read
from TokenOptEnv.backends.request_key import request_key
from TokenOptEnv.catalog import CATALOGS, load_catalog
from TokenOptEnv.errors import BadInput, CamreError, UnknownName
from TokenOptEnv.evaluation.episodes import play as play_episode
from TokenOptEnv.models import Effort
from TokenOptEnv.simulators.backend import ContextPiece

# --- a whole episode


def test_a_recording_replays_to_the_trace_of_the_live_episode_byte_for_byte(tmp_path: Path) -> None:
    def usual(body: Body) -> Step:
        return right(body, cached_tokens=128, reasoning_tokens=17)

    with (
        serving(usual, Step(status=503), said("no JSON at all")) as server,
        live(server, settings(tmp_path)) as backend,
    ):
        played = episode(backend)
    replayed = episode(RecordedBackend(tmp_path / "answers.jsonl"))
    assert played.outcome.score is not None and played.outcome.score.success
    assert replayed.trace.to_jsonl() == played.trace.to_jsonl()
    assert [seen.model_dump_json() for seen in replayed.observations] == [
        seen.model_dump_json() for seen in played.observations
    ]


def test_a_killed_run_goes_on_from_its_recording_without_asking_again(tmp_path: Path) -> None:
    with serving(right) as server:
        with live(server, settings(tmp_path)) as backend:
            first = episode(backend)
        asked = len(server.asked)
        with live(server, settings(tmp_path)) as backend:
            again = episode(backend)
        assert len(server.asked) == asked == 3
    assert again.trace.to_jsonl() == first.trace.to_jsonl()


def test_the_same_graders_judge_a_live_answer(tmp_path: Path) -> None:
    def wrong(body: Body) -> Step:
        return said({"text": "", "values": {"setting": "pool.wait_ms"}, "confidence": 1, "cites": []})

    with serving(wrong) as server, live(server, settings(tmp_path)) as backend:
        play = Play(world_of(toy(), backend=backend))
        play.read("config-orders")
        play.route("q-setting", "gpt-5-mini", "config-orders-s1")
        play.submit(*play.finding_ids)
    assert play.outcome.score is not None and not play.outcome.score.success


def test_an_environment_plays_on_a_live_backend_and_its_fork_does_too(store: tuple[str, ...], tmp_path: Path) -> None:
    with serving(right) as server, live(server, settings(tmp_path)) as backend:
        env = LocalEnv(backend)
        assert env.waits and env.fork().waits and not LocalEnv().waits
        result = play_episode("cheapest", TOY, 0, env).result
    assert result.routed_nano_usd > 0 and server.asked


# --- recordings


def test_a_missing_answer_says_which_and_what_to_do(tmp_path: Path) -> None:
    asked_once(tmp_path)
    other = request(model_id="gpt-5.2")
    with pytest.raises(BadInput) as missing:
        RecordedBackend(tmp_path / "answers.jsonl").answer(other)
    text = str(missing.value)
    assert "\n" not in text
    for part in ("gpt-5.2", "'q-request'", request_key(other), "live:URL with the same file", "medium"):
        assert part in text


def test_a_key_follows_the_content_and_not_the_way_there() -> None:
    (piece,) = request().context
    different = [
        request(),
        request(model_id="gpt-5-nano"),
        request(effort=Effort.LOW),
        request(question="Which request failed?"),
        request(context=()),
        request(context=(ContextPiece(piece.item_id, piece.text + "x", piece.source_ids),)),
        request(context=(ContextPiece(piece.item_id, piece.text, ("log-gateway-s1", "log-gateway-s2")),)),
        request(context=(piece, piece)),
        request(public=toy().public.model_copy(update={"brief": "Another task."})),
        request(subtask_id="q-setting"),
    ]
    assert len({request_key(each) for each in different}) == len(different)
    renamed = ContextPiece("compressed-7", piece.text, piece.source_ids)
    assert request_key(request(context=(renamed,))) == request_key(request())
    assert request_key(request(context_tokens=7)) == request_key(request())


def test_a_key_is_the_same_in_any_process() -> None:
    code = (
        "import sys; from tests.core.live_cases import request\n"
        "from TokenOptEnv.backends.request_key import request_key\n"
        "sys.stdout.write(request_key(request()))"
    )
    other = subprocess.run(
        [sys.executable, "-c", code],
        cwd=ROOT,
        env={**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "4711"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert other.stdout == request_key(request())


def test_a_request_that_does_not_say_of_which_task_is_refused() -> None:
    with pytest.raises(BadInput, match="does not say of which task"):
        request_key(request(public=None))
    with pytest.raises(BadInput, match="has no subtask 'q-none'"):
        request_key(request(subtask_id="q-none"))


def test_a_line_that_was_being_written_is_cut_off_and_its_answer_asked_for_again(tmp_path: Path) -> None:
    asked_once(tmp_path)
    file = tmp_path / "answers.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-20])
    assert not read(file).answers
    reply, server = asked_once(tmp_path)
    assert reply.values and len(server.asked) == 1
    assert [line.get("kind") for line in recorded(tmp_path)] == [None, "call", "call", "answered"]


def test_a_recording_cut_in_its_header_begins_anew(tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(b'{"format":"camre-rec')
    asked_once(tmp_path)
    assert len(read(file).answers) == 1


NO_RECORDING: dict[str, tuple[bytes, str]] = {
    "nothing": (b"", "is empty"),
    "prose": (b"Dear diary,\n", "its first line is no header"),
    "a trace": (b'{"trace_version":1}\n', "its first line is no header"),
    "another version": (
        b'{"format":"camre-recording","version":2,"made_with":"9"}\n',
        "is a recording of version 2, and this reads 1",
    ),
    "a damaged line": (
        b'{"format":"camre-recording","version":1,"made_with":"9"}\n{"kind":"answered"}\n',
        "line 2 of recording",
    ),
    "half a header": (b'{"format":"camre', "its first line is no header"),
}


@pytest.mark.parametrize(("data", "cause"), NO_RECORDING.values(), ids=NO_RECORDING.keys())
def test_what_is_no_recording_is_refused_in_one_line(data: bytes, cause: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(data)
    with pytest.raises(BadInput, match=cause) as refused, backends.opened(f"recorded:{file}", LiveSettings()):
        pass
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("name", ["prose", "a trace", "another version", "a damaged line"])
def test_a_live_backend_does_not_write_into_what_is_not_its_own(name: str, tmp_path: Path) -> None:
    file = tmp_path / "answers.jsonl"
    file.write_bytes(NO_RECORDING[name][0])
    with pytest.raises(BadInput, match=NO_RECORDING[name][1]):
        Recorder(file)
    assert file.read_bytes() == NO_RECORDING[name][0]


def test_two_runs_do_not_record_into_one_file(tmp_path: Path) -> None:
    held = Recorder(tmp_path / "answers.jsonl")
    with pytest.raises(BadInput, match="another run is recording to"):
        Recorder(tmp_path / "answers.jsonl")
    held.close()
    Recorder(tmp_path / "answers.jsonl").close()


_worth = st.integers(0, 10**9)
_keys = st.sampled_from("abc")


@given(st.lists(st.tuples(st.sampled_from(["call", "settled"]), _keys, _worth), max_size=12))
def test_money_is_spent_unless_a_line_says_what_became_of_it(events: list[tuple[str, str, int]]) -> None:
    tally, still_open, settled = Tally(), dict.fromkeys("abc", 0), 0
    for kind, key, worth in events:
        if kind == "call":
            tally.add(Call(key=key, worst_nano_usd=worth))
            still_open[key] += worth
        else:
            tally.add(Unanswered(key=key, subtask_id="q", model_id="m", nano_usd=worth))
            still_open[key], settled = 0, settled + worth
    assert tally.spent_nano_usd == settled + sum(still_open.values())


def test_the_header_tells_the_format_and_nothing_of_the_run(tmp_path: Path) -> None:
    asked_once(tmp_path)
    assert set(recorded(tmp_path)[0]) == {"format", "version", "made_with"}


def test_an_answer_survives_its_line_unchanged(tmp_path: Path) -> None:
    reply, _ = asked_once(tmp_path)
    line = (tmp_path / "answers.jsonl").read_text().splitlines()[-1]
    assert Answered.model_validate_json(line).reply() == reply


# --- how a backend is named


SPECS: list[tuple[str, type[CamreError], str]] = [
    ("simulted", UnknownName, "did you mean 'simulated'?"),
    ("", UnknownName, "no backend ''"),
    ("simulated:now", BadInput, "is not written like simulated"),
    ("recorded", BadInput, "is not written like recorded:FILE"),
    ("recorded:", BadInput, "is not written like recorded:FILE"),
    ("recorded:nowhere.jsonl", BadInput, "there is no recording 'nowhere.jsonl'"),
    ("live:", BadInput, "is not written like live:URL"),
    ("live:127.0.0.1:8000/v1", BadInput, "begins with http:// or https://"),
    ("live:ftp://a.b/v1", BadInput, "begins with http:// or https://"),
    ("live:https://me:secret@a.b/v1", BadInput, "holds no password, query or fragment"),
    ("live:https://a.b/v1?key=secret", BadInput, "holds no password, query or fragment"),
]


@pytest.mark.parametrize(("spec", "kind", "cause"), SPECS, ids=[spec for spec, _, _ in SPECS])
def test_a_wrong_name_is_one_clear_line(spec: str, kind: type[CamreError], cause: str, tmp_path: Path) -> None:
    with pytest.raises(kind, match=re.escape(cause)) as refused, backends.opened(spec, settings(tmp_path)):
        pass
    assert "\n" not in str(refused.value) and "secret" not in str(refused.value)


def test_a_live_backend_without_a_file_to_record_to_is_refused() -> None:
    with (
        pytest.raises(BadInput, match="name a file with --record"),
        backends.opened("live:http://127.0.0.1:9/v1", LiveSettings()),
    ):
        pass


def test_simulated_needs_nothing_opened() -> None:
    with backends.opened("simulated", LiveSettings()) as backend:
        assert backend is None


def test_no_model_stands_in_two_catalogs_so_its_price_is_certain() -> None:
    ids = [model_id for name in CATALOGS for model_id in load_catalog(name).cards]
    assert len(ids) == len(set(ids))


# --- settings


def test_the_environment_settles_what_the_command_line_leaves_open() -> None:
    told = LiveSettings.from_environment(
        {
            "CAMRE_LIVE_RECORD": "answers.jsonl",
            "CAMRE_LIVE_CAP_USD": "0.25",
            "CAMRE_LIVE_MODELS": "gpt-5-mini=mini, small",
            "CAMRE_LIVE_AT_ONCE": "2",
            "CAMRE_LIVE_TIMEOUT_S": "30",
            "CAMRE_LIVE_REPLY_TOKENS": "300",
            "CAMRE_LIVE_REASONING_ROOM": "0",
            "CAMRE_LIVE_TEXTS": "yes",
            KEY: SECRET,
        }
    )
    assert (told.record, told.cap_nano_usd, told.at_once) == (Path("answers.jsonl"), 250_000_000, 2)
    assert (told.timeout_s, told.reply_tokens, told.reasoning_room, told.keep_texts) == (30.0, 300, 0, True)
    assert (told.name_of("gpt-5-mini"), told.name_of("gpt-5.2")) == ("mini", "small")
    assert SECRET not in repr(told)
    assert LiveSettings.from_environment({}) == LiveSettings()
    assert LiveSettings().name_of("gpt-5.2") == "gpt-5.2"


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("CAMRE_LIVE_CAP_USD", "a lot"),
        ("CAMRE_LIVE_CAP_USD", "0"),
        ("CAMRE_LIVE_CAP_USD", "-1"),
        ("CAMRE_LIVE_CAP_USD", "nan"),
        ("CAMRE_LIVE_CAP_USD", "inf"),
        ("CAMRE_LIVE_AT_ONCE", "0"),
        ("CAMRE_LIVE_AT_ONCE", "٣"),
        ("CAMRE_LIVE_TIMEOUT_S", "1.5"),
        ("CAMRE_LIVE_REPLY_TOKENS", "9" * 40),
        ("CAMRE_LIVE_TEXTS", "perhaps"),
        ("CAMRE_LIVE_MODELS", "=x"),
        ("CAMRE_LIVE_MODELS", "gpt-5-mini=a,gpt-5-mini=b"),
    ],
)
def test_a_wrong_setting_is_named(name: str, value: str) -> None:
    with pytest.raises(BadInput):
        LiveSettings.from_environment({name: value})


def test_the_docs_list_every_variable_that_is_read() -> None:
    page = (ROOT / "docs" / "backends.md").read_text()
    assert set(re.findall(r"^\| `(CAMRE_LIVE_\w+)`", page, flags=re.MULTILINE)) == set(live_settings.VARIABLES)
