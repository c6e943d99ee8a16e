"""What a real model reads, and what is read out of its reply."""

from __future__ import annotations

import difflib
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.cases import RIGHT_PATCH, patches, toy
from tests.core.live_cases import (
    GATEWAY,
    asked_once,
    live,
    request,
    settings,
)
from tests.core.live_server import said, serving
from TokenOptEnv.backends.live.answer_form import AnswerForm, WrongForm
from TokenOptEnv.backends.live.evidence import EvidenceView
from TokenOptEnv.backends.live.patch_form import minimal_patch
from TokenOptEnv.simulators.backend import ContextPiece
from TokenOptEnv.simulators.compression import methods

# --- replies that are not in form


WRONG_FORM: dict[str, object] = {
    "prose": "It was the gateway.",
    "broken JSON": '{"values": {"request_id": "req-7f3a"}, "confidence": 0.9, "cites": [',
    "a list": [1, 2, 3],
    "nothing": "",
    "no confidence": {"text": "", "values": None, "cites": []},
    "too sure": {"text": "", "values": {"request_id": "a"}, "confidence": 95, "cites": []},
    "not a number": '{"text": "", "values": {"request_id": "a"}, "confidence": NaN, "cites": []}',
    "a truth value": {"text": "", "values": {"request_id": "a"}, "confidence": True, "cites": []},
    "another field": {"text": "", "values": {"request": "req-7f3a"}, "confidence": 0.9, "cites": []},
    "a field too many": {"text": "", "values": {"request_id": "a", "b": "c"}, "confidence": 0.9, "cites": []},
    "a value that is no text": {"text": "", "values": {"request_id": ["a"]}, "confidence": 0.9, "cites": []},
    "an empty value": {"text": "", "values": {"request_id": " "}, "confidence": 0.9, "cites": []},
    "a value without end": {"text": "", "values": {"request_id": "a" * 2_001}, "confidence": 0.9, "cites": []},
    "an unknown segment": {"text": "", "values": {"request_id": "a"}, "confidence": 0.9, "cites": ["log-x-s1"]},
    "cites that are no list": {"text": "", "values": {"request_id": "a"}, "confidence": 0.9, "cites": GATEWAY},
    "text that is no text": {"text": 7, "values": {"request_id": "a"}, "confidence": 0.9, "cites": []},
    "something else besides": {"text": "", "values": None, "confidence": 0.9, "cites": [], "more": 1},
}


@pytest.mark.parametrize("content", WRONG_FORM.values(), ids=WRONG_FORM.keys())
def test_a_reply_in_the_wrong_form_is_repaired_once(content: object, tmp_path: Path) -> None:
    reply, server = asked_once(tmp_path, said(content))
    assert reply.values == {"request_id": "req-7f3a"}
    first, second = server.asked
    assert second.body["messages"][:2] == first.body["messages"]
    assert [message["role"] for message in second.body["messages"]] == ["system", "user", "assistant", "user"]
    assert second.body["messages"][3]["content"].startswith("That cannot be used: ")


@pytest.mark.parametrize("content", WRONG_FORM.values(), ids=WRONG_FORM.keys())
def test_a_model_that_cannot_repair_its_reply_has_not_answered(content: object, tmp_path: Path) -> None:
    reply, server = asked_once(tmp_path, said(content), said(content))
    assert (reply.values, reply.cites, reply.confidence) == ({}, (), 0.0)
    assert len(server.asked) == 2


def test_a_reply_that_was_cut_off_is_told_to_be_shorter(tmp_path: Path) -> None:
    message = {"role": "assistant", "content": '{"text": "Let me begin'}
    _, server = asked_once(tmp_path, said("", choices=[{"message": message, "finish_reason": "length"}]))
    assert "it was cut off, so be much shorter" in server.asked[1].prompt


IN_FORM: dict[str, str] = {
    "fenced": '```json\n{"text": "", "values": {"request_id": "req-7f3a"}, "confidence": 1, "cites": []}\n```',
    "thought over": '<think>{"a": 1}</think>{"values": {"request_id": "req-7f3a"}, "confidence": 1, "cites": []}',
    "talkative": 'Here: {"text": "x", "values": {"request_id": " req-7f3a\\n"}, "confidence": 1.0, "cites": []} Done.',
}


@pytest.mark.parametrize("content", IN_FORM.values(), ids=IN_FORM.keys())
def test_what_stands_around_the_object_does_not_matter(content: str) -> None:
    assert AnswerForm(request()).read(content).values == {"request_id": "req-7f3a"}


def test_a_model_may_say_that_the_evidence_does_not_suffice(tmp_path: Path) -> None:
    nothing = {"text": "It is not there.", "values": None, "confidence": 0.07, "cites": [GATEWAY]}
    reply, server = asked_once(tmp_path, said(nothing))
    assert (reply.values, reply.text, reply.confidence, reply.cites) == ({}, "It is not there.", 0.07, ())
    assert len(server.asked) == 1


def test_a_choice_is_taken_as_the_task_spells_it_and_anything_else_is_out_of_form() -> None:
    form = AnswerForm(request(subtask_id="q-cause"))
    answer = {"text": "", "values": {"cause": " Pool_Exhaustion "}, "confidence": 0.5, "cites": []}
    assert form.read(json.dumps(answer)).values == {"cause": "pool_exhaustion"}
    with pytest.raises(WrongForm, match="cause must be one of its choices"):
        form.read(json.dumps({**answer, "values": {"cause": "a meteor"}}))


def test_a_line_number_may_be_a_number() -> None:
    answer = {"text": "", "values": {"request_id": 47}, "confidence": 0.5, "cites": []}
    assert AnswerForm(request()).read(json.dumps(answer)).values == {"request_id": "47"}


_json = st.recursive(
    st.none() | st.booleans() | st.floats() | st.integers() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["text", "values", "confidence", "cites", "request_id"]), inner, max_size=5)
    ),
    max_leaves=12,
)


@given(_json.map(json.dumps) | st.text())
def test_whatever_a_model_says_is_an_answer_or_a_wrong_form(content: str) -> None:
    try:
        answer = AnswerForm(request()).read(content)
    except WrongForm:
        return
    assert 0.0 <= answer.confidence <= 1.0
    assert set(answer.cites) <= {GATEWAY} and answer.values.keys() <= {"request_id"}


def test_the_schema_allows_what_is_read_and_nothing_besides() -> None:
    schema = AnswerForm(request(subtask_id="q-cause")).schema()
    assert schema["required"] == ["text", "values", "confidence", "cites"] and not schema["additionalProperties"]
    values = schema["properties"]["values"]["anyOf"][0]
    assert values["properties"]["cause"]["enum"] == ["pool_exhaustion", "disk_full", "deadlock"]
    assert schema["properties"]["cites"]["items"]["enum"] == [GATEWAY]


# --- what a model reads


def test_a_model_reads_task_evidence_question_and_fields(tmp_path: Path) -> None:
    _, server = asked_once(tmp_path)
    prompt = server.asked[0].prompt
    (piece,) = request().context
    for part in (toy().public.brief, f"[{GATEWAY}] Gateway log", piece.text, request().question, "- request_id"):
        assert part in prompt


def test_code_is_shown_with_the_line_numbers_of_its_file() -> None:
    code = next(artifact for artifact in toy().public.artifacts if artifact.artifact_id == "code-pool")
    lines = "".join(segment.text for segment in code.segments).split("\n")
    view = EvidenceView(toy().public)
    for segment in code.segments:
        piece = ContextPiece(segment.segment_id, segment.text, (segment.segment_id,))
        head, *shown = view.shown(piece).rstrip("\n").split("\n")
        assert head == f"[{segment.segment_id}] pool.py"
        for line in filter(str.strip, shown):
            number, text = int(line[:5]), line[6:]
            assert lines[number - 1].rstrip() == text


def test_a_compressed_piece_of_code_is_numbered_only_where_a_line_is_certain() -> None:
    code = next(artifact for artifact in toy().public.artifacts if artifact.artifact_id == "code-pool")
    segment = code.segments[0]
    outline = methods()["code_outline"].compress(segment.text, 0.5, "")
    shown = EvidenceView(toy().public).shown(ContextPiece("compressed-9", outline, (segment.segment_id,)))
    assert shown.startswith(f"[{segment.segment_id}] parts of pool.py\n")
    lines = segment.text.split("\n")
    numbered = [line for line in shown.split("\n")[1:] if line[:5].strip()]
    assert numbered
    for line in numbered:
        assert lines[int(line[:5]) - 1].rstrip() == line[6:] and lines.count(lines[int(line[:5]) - 1]) == 1


def test_logs_are_shown_as_they_are_and_notes_without_an_id() -> None:
    view = EvidenceView(toy().public)
    (piece,) = request().context
    assert view.shown(piece) == f"[{GATEWAY}] Gateway log\n{piece.text.rstrip(chr(10))}\n"
    assert view.shown(ContextPiece("finding-3", "Q1 cause=x", ())) == "[note]\nQ1 cause=x\n"


def test_a_patch_is_asked_for_in_the_form_that_verdicts_are_kept_under(tmp_path: Path) -> None:
    code = patches().public.artifacts[0].segments[0]
    fixed = f"{code.text}".replace("most = 5\n", "most = 50\n", 1)
    diff = "".join(
        difflib.unified_diff(code.text.splitlines(True), fixed.splitlines(True), "a/pool.py", "b/pool.py", n=3)
    )
    assert diff.count("\n ") > 1, "it has context lines"
    answer = {"text": "", "values": {"patch": f"```diff\n{diff}```"}, "confidence": 0.9, "cites": [code.segment_id]}
    asked = request(
        subtask_id="q-patch",
        question="Write the patch.",
        context=(ContextPiece(code.segment_id, code.text, (code.segment_id,)),),
        public=patches().public,
    )
    with serving(lambda body: said(answer)) as server, live(server, settings(tmp_path)) as backend:
        reply = backend.answer(asked)
    assert reply.values["patch"] == RIGHT_PATCH.rstrip("\n")
    assert "without context lines: --- a/FILE" in server.asked[0].prompt


_line = st.sampled_from(["a = 1", "b = 2", "", "    return c", "-- d", "++ e", "x"])


@given(st.lists(_line, min_size=1, max_size=14), st.lists(_line, min_size=1, max_size=14), st.integers(1, 4))
def test_a_patch_loses_its_context_and_nothing_else(old: list[str], new: list[str], context: int) -> None:
    def diff(lines: int) -> str:
        return "\n".join(difflib.unified_diff(old, new, "a/f.py", "b/f.py", n=lines, lineterm=""))

    assert minimal_patch(diff(context)) == diff(0)


@pytest.mark.parametrize("text", ["none", "change line 4", "", "--- a\n+++ b\nno hunk"])
def test_what_is_no_diff_stays_what_it_is(text: str) -> None:
    assert minimal_patch(text) == text
