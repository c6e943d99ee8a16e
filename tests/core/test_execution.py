"""Running this project's own packages: real results, one sequence of bytes, nothing judged by the child."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import pytest

from TokenOptEnv.errors import ScenarioInvalid
from TokenOptEnv.task_defs.execution import (
    FIXED_ADDRESS,
    Call,
    Earlier,
    HiddenTest,
    Method,
    Outcome,
    Reference,
    TestOutcome,
    run_calls,
    run_tests,
    verdict,
)

BOX = """
import logging
import warnings

log = logging.getLogger(__name__)


class Box:
    def __init__(self, room=2):
        self.room = room
        self.things = {}

    def put(self, name, thing):
        if len(self.things) >= self.room:
            log.warning("no room for %s", name)
            raise OverflowError(name)
        self.things[name] = thing
        return self

    def get(self, name):
        return self.things[name]


def old(value):
    warnings.warn("old is old", DeprecationWarning, stacklevel=2)
    return value


def doubled(function, value):
    return function(value) * 2
"""

TESTS = """
import unittest

import pytest

from box import Box, old


@pytest.fixture
def full():
    box = Box(1).put("a", [1, 2])
    yield box
    box.things.clear()


def test_what_is_put_is_got(full):
    assert full.get("a") == [1, 2]


def test_a_list_that_differs(full):
    assert full.get("a") == [1, 3]


def test_an_error_deep_down(full):
    full.put("b", 1)


@pytest.mark.parametrize("value, same", [(1, 1), (2, 3)])
def test_old(value, same):
    assert old(value) == same


def test_nothing_is_raised():
    with pytest.raises(KeyError):
        Box().put("a", 1)


def test_an_unknown_fixture(missing):
    pass


def test_an_object(full):
    print("seen by nobody")
    assert full is None, "the box"


class TestInAClass:
    def test_it_runs(self):
        assert not Box().things


class TestOfTheStandardLibrary(unittest.TestCase):
    def setUp(self):
        self.box = Box(5)

    def test_it_runs(self):
        self.assertEqual(self.box.room, 5)
"""

FILES = {"box.py": BOX, "tests/test_box.py": TESTS}


@pytest.fixture(scope="module")
def report() -> str:
    return run_tests(FILES).report


def test_each_test_has_its_own_outcome() -> None:
    outcomes = {result.test_id.partition("::")[2]: result.outcome for result in run_tests(FILES).results}
    assert outcomes == {
        "test_what_is_put_is_got": TestOutcome.PASSED,
        "test_a_list_that_differs": TestOutcome.FAILED,
        "test_an_error_deep_down": TestOutcome.FAILED,
        "test_old[1-1]": TestOutcome.PASSED,
        "test_old[2-3]": TestOutcome.FAILED,
        "test_nothing_is_raised": TestOutcome.FAILED,
        "test_an_unknown_fixture": TestOutcome.ERROR,
        "test_an_object": TestOutcome.FAILED,
        "TestInAClass::test_it_runs": TestOutcome.PASSED,
        "TestOfTheStandardLibrary::test_it_runs": TestOutcome.PASSED,
    }


def test_a_failed_comparison_shows_the_values_that_were_compared(report: str) -> None:
    assert "E       AssertionError: assert [1, 2] == [1, 3]\nE\nE         At index 1 diff: 2 != 3" in report
    assert "E        +  where [1, 2] = full.get('a')" in report


def test_an_error_shows_the_way_down_to_it(report: str) -> None:
    assert '>       full.put("b", 1)' in report
    assert ">           raise OverflowError(name)\nE       OverflowError: b\n\nbox.py:16: OverflowError" in report


def test_what_was_logged_and_printed_stands_under_the_failure(report: str) -> None:
    assert "Captured log call" in report
    assert "WARNING  box:box.py:15 no room for b" in report
    assert "Captured stdout call -----------------------------\nseen by nobody" in report


def test_warnings_are_gathered_with_the_tests_that_caused_them(report: str) -> None:
    assert "tests/test_box.py::test_old[1-1]\ntests/test_box.py::test_old[2-3]\n  /build/tests/test_box.py:" in report
    assert "DeprecationWarning: old is old" in report


def test_a_report_holds_no_address_and_no_path_of_this_machine(report: str) -> None:
    assert f"<box.Box object at {FIXED_ADDRESS}>" in report
    assert "/tmp" not in report
    assert report.rstrip().endswith("= 5 failed, 4 passed, 1 error, 2 warnings in 0.15s ===============")


def test_a_report_is_the_same_bytes_under_any_hash_seed(report: str) -> None:
    program = (
        "import sys, json; from TokenOptEnv.task_defs.execution import run_tests; "
        "sys.stdout.write(run_tests(json.load(sys.stdin)).report)"
    )
    done = subprocess.run(
        [sys.executable, "-c", program],
        input=json.dumps(FILES),
        env={**os.environ, "PYTHONHASHSEED": "4711"},
        capture_output=True,
        encoding="utf-8",
        check=True,
    )
    assert done.stdout == report


def test_sets_are_printed_in_one_order() -> None:
    tests = "def test_set():\n    assert set('abcdefgh') == {1}\n"
    reports = {run_tests({"test_set.py": tests}).report for _ in range(3)}
    assert len(reports) == 1


def test_a_module_that_cannot_be_imported_is_an_error_of_its_own() -> None:
    run = run_tests({**FILES, "tests/test_broken.py": "import no_such_module\n"})
    assert run.results[-1].test_id == "tests/test_broken.py"
    assert run.results[-1].outcome is TestOutcome.ERROR
    assert "ERROR collecting tests/test_broken.py" in run.report


def test_site_packages_are_out_of_reach() -> None:
    run = run_tests({"test_import.py": "def test_it():\n    import pydantic\n"})
    assert run.results[0].message.startswith("ModuleNotFoundError")


def test_an_endless_test_is_an_error_that_says_so() -> None:
    with pytest.raises(ScenarioInvalid, match=r"did not come to an end in 0\.5 s"):
        run_tests({"test_loop.py": "def test_loop():\n    while True:\n        pass\n"}, time_limit_s=0.5)


def test_a_path_that_leads_out_of_the_folder_is_refused() -> None:
    with pytest.raises(ScenarioInvalid, match="leads out"):
        run_tests({"../test_x.py": "def test_x(): pass\n"})


def test_a_missing_test_module_is_named() -> None:
    with pytest.raises(ScenarioInvalid, match="test_nothing"):
        run_tests(FILES, ["tests/test_nothing.py"])


def test_calls_give_what_the_package_gives() -> None:
    outcomes = run_calls(
        FILES,
        [
            Call("box", "doubled", (Reference("builtins", "len"), "abc")),
            Call(
                "box",
                "Box",
                (1,),
                then=(Method("put", ("a", {"b": [1]})), Method("get", ("a",)), Method("put", ("c", 1))),
            ),
            Call("box", "Box", kwargs={"room": 3}, then=(Method("room"), Method("things.get", ("x", "none")))),
            Call("box", "Box", then=(Method("put", ("a", Call("box", "Box"))), Method("get", ("a",), on=Earlier(0)))),
            Call("box", "no_such_name"),
        ],
    )
    box = f"<box.Box object at {FIXED_ADDRESS}>"
    assert outcomes == (
        Outcome(("6",)),
        Outcome((box, "{'b': [1]}", "raises OverflowError")),
        Outcome(("3", "'none'")),
        Outcome((box, box)),
        Outcome(("raises AttributeError",)),
    )


def test_a_verdict_asks_for_every_hidden_test() -> None:
    fits = HiddenTest("fits", Call("box", "old", (3,)), Outcome(("3",)))
    differs = HiddenTest("differs", Call("box", "old", (3,)), Outcome(("4",)))
    assert verdict(FILES, [fits])
    assert not verdict(FILES, [fits, differs])


def test_an_endless_or_broken_candidate_fails_its_verdict_and_stops_nothing() -> None:
    test = HiddenTest("any", Call("box", "old", (3,)), Outcome(("3",)))
    assert run_calls({"box.py": "while True:\n    pass\n"}, [test.call], time_limit_s=0.5) == (
        Outcome(("does not end",)),
    )
    assert not verdict({"box.py": "def old(:\n"}, [test])
    assert not verdict({"box.py": "import os\nos._exit(0)\n"}, [test])


def test_the_child_is_never_told_what_is_expected() -> None:
    peek = "import sys, gc\n\n\ndef old(value):\n    seen = [o for o in gc.get_objects() if isinstance(o, dict)]\n"
    peek += "    return any('expected' in o for o in seen if 'calls' in o)\n"
    assert run_calls({"box.py": peek}, [Call("box", "old", (3,))]) == (Outcome(("False",)),)
