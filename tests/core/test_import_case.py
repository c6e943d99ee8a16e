"""A case out of a spec: what is written down, what is derived, and every fault with its place."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from TokenOptEnv.config import YARDSTICK
from TokenOptEnv.errors import BadInput, CamreError
from TokenOptEnv.evaluation.spec_faults import check_file, faults_of
from TokenOptEnv.importing import Imported, ImportOptions, import_case, read_case_file, read_question_file
from TokenOptEnv.importing.scaffold import case_files
from TokenOptEnv.models import FieldKind
from TokenOptEnv.scenario import CacheValidity, Scenario, content_hash

Edit = Callable[[str], str]


@pytest.fixture
def case(tmp_path: Path) -> Path:
    """The case that `camre scenarios new case` writes."""
    for path, text in case_files("outage").items():
        file = tmp_path / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")
    return tmp_path / "import.toml"


def imported(spec: Path, **options: object) -> Imported:
    return import_case(read_case_file(spec), ImportOptions(**options))  # type: ignore[arg-type]


def edited(spec: Path, old: str, new: str) -> Path:
    text = spec.read_text()
    assert old in text
    spec.write_text(text.replace(old, new, 1))
    return spec


def fault(spec: Path, **options: object) -> str:
    with pytest.raises(CamreError) as caught:
        imported(spec, **options)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def right_values(scenario: Scenario) -> dict[str, str]:
    return {field.name: field.accepted[0] for field in scenario.hidden.fields}


def test_the_case_one_begins_with_has_no_fault(case: Path) -> None:
    made = imported(case)
    public, hidden = made.scenario.public, made.scenario.hidden
    assert faults_of(made) == ()
    assert public.scenario_id == "imported-medium-outage"
    assert [artifact.artifact_id for artifact in public.artifacts] == ["log-gateway", "log-orders", "config-orders"]
    assert right_values(made.scenario) == {
        "request": "req-7f3a",
        "cause": "connection_pool",
        "setting": "max_connections",
    }
    assert [field.kind for field in public.answer_fields] == [FieldKind.TEXT, FieldKind.CHOICE, FieldKind.TEXT]
    assert public.subtasks[1].slot is not None and hidden.subtasks[1].slot_value == "req-7f3a"
    assert sorted(hidden.cache.values()) == [CacheValidity.VALID, CacheValidity.WRONG_VERSION]
    assert made.report.artifact_tokens == sum(public.segment_tokens[YARDSTICK])


def test_lines_and_quotes_name_the_same_evidence(case: Path) -> None:
    by_lines = {fact.fact_id: fact.places for fact in imported(case).scenario.hidden.facts}
    edited(case, 'lines = "275"', 'quote = "request req-7f3a gave up after 30000 ms waiting for a connection"')
    by_quote = {fact.fact_id: fact.places for fact in imported(case).scenario.hidden.facts}
    assert [place.segment_id for place in by_lines["gave-up"]] == [place.segment_id for place in by_quote["gave-up"]]
    assert by_quote["gave-up"][0].text in by_lines["gave-up"][0].text


def test_an_import_is_the_same_bytes_in_any_process(case: Path) -> None:
    code = (
        "import sys; from pathlib import Path; from TokenOptEnv.importing import *\n"
        "print(import_case(read_case_file(Path(sys.argv[1])), ImportOptions()).scenario.content_hash)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code, str(case)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONHASHSEED": "7"},
    )
    assert done.stdout.strip() == content_hash(imported(case).scenario)


def test_addresses_are_masked_everywhere_and_counted(case: Path) -> None:
    edited(case, 'version = "orders 4.2.0"', 'version = "build of jo@shop.example"')
    made = imported(case)
    assert made.report.masked == {"ip": 320}
    assert "198.51.100." not in made.scenario.public.model_dump_json()
    assert made.scenario.public.version == "build of <email-1>"
    kept = imported(case, keep_secrets=("ip", "email"))
    assert kept.report.masked == {} and "198.51.100." in kept.scenario.public.model_dump_json()


def test_an_answer_that_is_a_secret_is_masked_as_it_is_in_the_log(case: Path) -> None:
    line = (case.parent / "logs" / "gateway.log").read_text().split("\n")[274]
    address = line.split()[0]
    edited(
        case,
        'answer = "req-7f3a"\nneeds = ["gave-up"]',
        f'answer = "{address}"\nfile = "gateway.log"\nquote = "{line.split(" [")[0]} [12/Mar/2026:09:14:08"',
    )
    edited(case, "{request}", "a request")
    made = imported(case)
    (fact,) = [fact for fact in made.scenario.hidden.facts if fact.fact_id == "shows-request"]
    assert right_values(made.scenario)["request"] == fact.places[0].text.split()[0]
    assert right_values(made.scenario)["request"].startswith("<ip-")
    assert all(value.startswith("<ip-") for value in _wrong(made.scenario, "request"))


def _wrong(scenario: Scenario, subtask_id: str) -> list[str]:
    truth = next(truth for truth in scenario.hidden.subtasks if truth.subtask_id == subtask_id)
    return [value for candidate in truth.candidates if not candidate.right for value in candidate.values.values()]


def test_wrong_answers_of_the_same_look_are_found_with_what_speaks_for_them(case: Path) -> None:
    made = imported(case)
    wrong = _wrong(made.scenario, "request")
    assert len(wrong) == 3 and all(value.startswith("req-") and value != "req-7f3a" for value in wrong)
    decoys = {decoy.decoy_id: decoy for decoy in made.scenario.hidden.decoys}
    for truth in made.scenario.hidden.subtasks:
        for candidate in truth.candidates:
            assert candidate.right or all(decoys[name].places for name in candidate.decoy_ids)
    (truth,) = [truth for truth in made.scenario.hidden.subtasks if truth.subtask_id == "request"]
    for candidate in truth.candidates[1:]:
        assert candidate.values["request"] in decoys[candidate.decoy_ids[0]].places[0].text


FAULTS: dict[str, tuple[str, str, str]] = {
    "a misspelt quote": (
        'quote = "pool exhausted: 20',
        'quote = "pool exausted: 20',
        "import.toml:9: fact 'pool-exhausted': quote 'pool exausted: 20 of 20 connections in use' is not in "
        "'orders.log'; the nearest is orders.log:269: '2026-03-12T09:13:56Z ERROR pool exhausted: 20 of 20",
    ),
    "a quote that stands everywhere": (
        'quote = "pool exhausted: 20 of 20 connections in use"',
        'quote = "connections busy"',
        "its quote stands in 296 places (orders.log:1, orders.log:2, orders.log:3, ...) of at most 12; quote a longer",
    ),
    "a file that is not there": ('file = "orders.toml"', 'file = "order.toml"', "did you mean 'orders.toml'?"),
    "lines past the end": ('lines = "275"', 'lines = "275-310"', "too many to quote"),
    "lines of no file": ('file = "orders.log"\nlines', "lines", "fact 'gave-up': lines are lines of a file; name it"),
    "a quote of nothing": ('quote = "max_connections = 20"', 'quote = "  "', "fact 'bound': its quote is blank"),
    "no quote at all": ('quote = "max_connections = 20"', "", "fact 'bound': quotes nothing"),
    "an unknown fact": ('needs = ["bound"]', 'needs = ["bond"]', "there is no fact 'bond'; there are: pool-exhausted"),
    "an unknown decoy": ('decoys = ["cold-volume"]', 'decoys = ["cold"]', "there is no decoy 'cold'"),
    "an id used twice": ('id = "bound"', 'id = "gave-up"', "import.toml:22: fact 'gave-up': the id is used twice"),
    "a field used twice": ('id = "setting"', 'id = "setting"\nfield = "cause"', "the field 'cause' is used twice"),
    "a question without evidence": ('needs = ["bound"]\n', "", "question 'setting' rests on nothing"),
    "a blank that nothing fills": ("{request}", "{requests}", "filled by one earlier answer, of {request}"),
    "a wrong answer that is right": ('wrong = ["wait_ms"', 'wrong = ["Max_Connections"', "is the right one too"),
    "too few wrong answers": (
        'wrong = ["wait_ms", "attempts"]',
        'wrong = ["wait_ms"]',
        "question 'setting': has 1 wrong answers",
    ),
    "a field that is none": ('why = "what bounds', 'because = "what bounds', "fact.2.because: is no field of a spec"),
    "a missing brief": ("brief =", "breif =", "brief: is missing"),
    "a kind that is none": ('kind = "causal"', 'kind = "casual"', "import.toml:45: question.1.kind: input should be"),
    "a question that is a story": ("Which request gave up", "word " * 150, "tokens of 120; say less"),
    "no TOML": ("[[fact]]", "[[fact]", "is no TOML"),
    "no sources": ('sources = ["logs"]', "", "names no sources"),
    "a folder that is not there": ('sources = ["logs"]', 'sources = ["lgos"]', "there is no file or folder"),
    "an encoding that is none": (
        'sources = ["logs"]',
        'sources = ["logs"]\nencoding = "x"',
        "there is no encoding 'x'",
    ),
}


@pytest.mark.parametrize("what", FAULTS)
def test_a_fault_of_a_spec_is_one_line_with_its_place(what: str, case: Path) -> None:
    old, new, expected = FAULTS[what]
    assert expected in fault(edited(case, old, new))


def test_a_quote_of_several_lines_that_a_segment_cuts_is_told(case: Path) -> None:
    edited(case, 'lines = "275"', 'lines = "270-289"')
    assert "is cut in two by a segment boundary; quote less" in fault(case)


def test_faults_that_checks_find_are_told_at_their_line(case: Path) -> None:
    edited(case, "Find out why", "It is the connection_pool. Find out why")
    edited(case, 'answer = ["max_connections"', f'says = "{"long " * 150}"\nanswer = ["max_connections"')
    lines = [each.line for each in faults_of(imported(case))]
    assert len(lines) == 2
    assert lines[0].startswith("import.toml:4: brief: says the answer to cause")
    assert lines[1].startswith("import.toml:54: candidate setting-c0: takes ")
    assert [each.line for each in check_file(case)] == lines


def test_little_evidence_is_a_warning_and_too_much_is_cut(case: Path) -> None:
    logs = case.parent / "logs"
    (logs / "gateway.log").unlink()
    text = (logs / "orders.log").read_text().split("\n")
    (logs / "orders.log").write_text("\n".join(text[150:152] + text[265:300]))
    edited(case, 'lines = "275"', 'lines = "12"')
    edited(case, 'answer = "req-7f3a"', 'answer = "req-7f3a"\nwrong = ["req-0001", "req-0002"]')
    small = imported(case)
    assert [each.level.value for each in faults_of(small)] == ["warning"]
    cut = imported(case, most_tokens=1_000)
    assert cut.report.artifact_tokens <= 1_000
    assert cut.report.dropped_tokens_estimate > 500
    assert len(cut.scenario.hidden.facts) == 3
    with pytest.raises(BadInput, match="keeps 1000 to 250000 tokens, not 5"):
        ImportOptions(most_tokens=5)


def test_more_files_than_a_prompt_can_name_are_left_out_and_told(case: Path) -> None:
    for number in range(40):
        (case.parent / "logs" / f"a{number:02d}.log").write_text(f"09:00 INFO file {number}\n")
    made = imported(case)
    assert len(made.scenario.public.artifacts) == 24
    left_out = [source for source in made.report.sources if source.artifact_id is None]
    assert len(left_out) == 19 and all("nothing in it is quoted" in source.note for source in left_out)
    assert {artifact.title for artifact in made.scenario.public.artifacts} >= {"orders.log", "orders.toml"}


def test_a_question_whose_words_miss_its_facts_is_told(case: Path) -> None:
    assert imported(case).report.hard_to_find == ()
    edited(case, "Which request gave up waiting for a connection?", "Who was the unlucky one?")
    made = imported(case)
    assert made.report.hard_to_find == ("request",)
    assert [truth.lexical for truth in made.scenario.hidden.subtasks] == [False, True, True]


def test_what_is_offered_as_a_choice_holds_every_answer(case: Path) -> None:
    edited(case, 'answer = "disk"\n', 'answer = "cosmic_rays"\n')
    (field,) = [field for field in imported(case).scenario.public.answer_fields if field.choices]
    assert field.choices == ("connection_pool", "disk", "payment_provider", "cosmic_rays")


def test_a_spec_may_be_json(case: Path) -> None:
    as_json = case.with_suffix(".json")
    as_json.write_text(json.dumps(tomllib.loads(case.read_text())))
    assert content_hash(imported(as_json).scenario) == content_hash(imported(case).scenario)
    as_json.write_text('{"slug": "x",\n "title": }')
    assert "import.json:2: is no JSON" in fault(as_json)


ROWS = [
    {"question": "Which request gave up?", "answer": "req-7f3a", "quote": "request req-7f3a gave up"},
    {
        "question": "Which setting bounds the pool?",
        "answer": "max_connections",
        "quote": "max_connections = 20",
        "wrong": ["wait_ms", "attempts"],
    },
]


def test_each_row_of_a_question_file_is_a_case_and_rows_of_one_case_go_together(case: Path) -> None:
    file = case.with_name("asked.jsonl")
    file.write_text("\n".join(json.dumps(row) for row in ROWS))
    apart = read_question_file(file)
    assert [each.spec.slug for each in apart] == ["asked-1", "asked-2"]
    file.write_text("\n".join(json.dumps({**row, "case": "Night shift"}) for row in ROWS))
    (together,) = read_question_file(file)
    made = import_case(together.with_sources("logs"), ImportOptions())
    assert faults_of(made) == ()
    assert made.scenario.scenario_id == "imported-medium-night-shift"
    assert right_values(made.scenario) == {"q1": "req-7f3a", "q2": "max_connections"}
    single = import_case(apart[1].with_sources("logs"), ImportOptions())
    assert faults_of(single) == ()
    assert list(single.scenario.hidden.cache.values()) == [CacheValidity.WRONG_VERSION]


def test_a_question_file_may_be_a_table(case: Path) -> None:
    file = case.with_name("asked.csv")
    file.write_text(
        "question,answer,quote,wrong\nWhich setting bounds the pool?,max_connections,max_connections = 20,a|b|c\n"
    )
    (asked,) = read_question_file(file)
    assert [wrong.answer for wrong in asked.spec.question[0].wrong] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", "holds no question"),
        ('{"question": "x"}\n', "asked.jsonl:1: answer: is missing"),
        ('{"question": "x", "answer": "y", "quote": "z"}\n[1]\n', "asked.jsonl:2: is no object"),
        ('{"question": "x", "answer": "y", "qoute": "z"}\n', "qoute: is no column of a question file"),
        ("{", "asked.jsonl:1: is no JSON"),
    ],
)
def test_a_fault_of_a_question_file_is_told_with_its_line(tmp_path: Path, text: str, expected: str) -> None:
    file = tmp_path / "asked.jsonl"
    file.write_text(text)
    with pytest.raises(BadInput) as caught:
        read_question_file(file)
    assert expected in str(caught.value)


def _git(repository: Path, *arguments: str) -> str:
    identity = {f"GIT_{who}_{what}": "x" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    dates = {f"GIT_{who}_DATE": "2026-03-12T09:00:00Z" for who in ("AUTHOR", "COMMITTER")}
    done = subprocess.run(
        ["git", "-C", str(repository), "-c", "init.defaultBranch=main", *arguments],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, **identity, **dates},
    )
    return done.stdout.strip()


@pytest.fixture
def repository(tmp_path: Path) -> tuple[Path, list[str]]:
    """Eight commits to four files; gives their names."""
    root = tmp_path / "shop"
    root.mkdir()
    _git(root, "init", "-q")
    names = []
    for number in range(8):
        file = root / f"part{number % 4}.py"
        body = "".join(f"def step_{number}_{line}(value):\n    return value + {line * 7}\n\n\n" for line in range(9))
        file.write_text(f'"""Part {number % 4}."""\n\nLIMIT = {number * 11}\n\n\n{body}')
        _git(root, "add", "-A")
        _git(root, "commit", "-q", "-m", f"Change number {number}")
        names.append(_git(root, "rev-parse", "HEAD"))
    return root, names


def test_a_repository_with_a_bad_commit_makes_a_case(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    _, names = repository
    spec = tmp_path / "import.json"
    data = {"slug": "shop", "title": "t", "brief": "Which commit?", "git": {"repository": "shop", "bad": names[5][:9]}}
    spec.write_text(json.dumps(data))
    made = imported(spec)
    assert [each for each in faults_of(made) if each.level.value == "error"] == []
    assert right_values(made.scenario) == {"commit": names[5][:12], "file": "part1.py"}
    accepted = {field.name: field.accepted for field in made.scenario.hidden.fields}
    assert names[5] in accepted["commit"] and names[5][:7] in accepted["commit"]
    assert set(_wrong(made.scenario, "commit")) <= {name[:12] for name in names} - {names[5][:12]}
    assert names[1][:12] in _wrong(made.scenario, "commit"), "it touches the same file"
    titles = [artifact.title for artifact in made.scenario.public.artifacts]
    assert titles[:3] == ["history.txt", "changes.diff", "part1.py"]
    assert content_hash(imported(spec).scenario) == content_hash(made.scenario)


def test_a_history_and_the_log_of_a_build_go_together(repository: tuple[Path, list[str]], tmp_path: Path) -> None:
    _, names = repository
    steps = [f"09:{n // 60:02d}:{n % 60:02d} step {n} passed in {n % 7} s" for n in range(300)]
    steps[200] = "09:03:20 FAILED test_limits: LIMIT is 55, expected 54"
    (tmp_path / "build.log").write_text("\n".join(steps))
    spec = tmp_path / "import.toml"
    spec.write_text(
        f"""
slug = "red-build"
title = "The build is red"
brief = "The nightly build fails. Which test fails, and since which commit?"
sources = ["build.log"]

[git]
repository = "shop"
bad = "{names[5]}"

[[question]]
id = "test"
ask = "Which test of the build FAILED?"
answer = "test_limits"
quote = "FAILED test_limits: LIMIT is 55, expected 54"
wrong = ["test_steps", "test_values"]

[[question]]
id = "commit"
ask = "Which commit sets the LIMIT that {{test}} complains of?"
kind = "causal"
needs = ["culprit-entry", "culprit-change", "shows-test"]
answer = "{names[5][:12]}"
wrong = ["{names[4][:12]}", "{names[6][:12]}"]
"""
    )
    made = imported(spec)
    assert [each for each in faults_of(made) if each.level.value == "error"] == []
    assert right_values(made.scenario) == {"test": "test_limits", "commit": names[5][:12]}
    assert "log-build" in [artifact.artifact_id for artifact in made.scenario.public.artifacts]
    edited(spec, "LIMIT is 55, expected 54", "LIMIT is 55, expected 53")
    assert "import.toml:11: fact 'shows-test': quote" in fault(spec)


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ({"bad": "nosuch"}, "git.bad: there is no commit 'nosuch' in 'shop'"),
        ({"bad": "HEAD~2", "good": "HEAD~1"}, "does not lie between"),
        ({"bad": "HEAD", "good": "HEAD~1"}, "the history has 1 commits to choose from"),
        ({"bad": "--output=x"}, "git.bad: there is no commit '--output=x'"),
        ({"bad": "HEAD", "repository": "nowhere"}, "there is no folder 'nowhere'"),
        ({"bad": "HEAD", "repository": "."}, "git cannot read"),
    ],
)
def test_a_history_that_cannot_be_read_is_one_line(
    repository: tuple[Path, list[str]], tmp_path: Path, table: dict[str, str], expected: str
) -> None:
    spec = tmp_path / "import.json"
    git = {"repository": "shop", **table}
    spec.write_text(json.dumps({"slug": "shop", "title": "t", "brief": "Which commit?", "git": git}))
    assert expected in fault(spec)
