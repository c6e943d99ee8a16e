"""docs/adapters.md shows what the examples do: no snippet that is not part of a program that tests run."""

from __future__ import annotations

import re
from textwrap import dedent

import pytest

from tests.adapters.played import ROOT

_PAGE = (ROOT / "docs" / "adapters.md").read_text(encoding="utf-8")
_SNIPPETS = re.findall(r"```python\n(.*?)```", _PAGE, flags=re.DOTALL)
_EXAMPLES = {file.name: file.read_text(encoding="utf-8") for file in sorted((ROOT / "examples").glob("*.py"))}
_TESTS = "".join(file.read_text(encoding="utf-8") for file in sorted((ROOT / "tests").rglob("test_*.py")))


def test_there_is_a_snippet_for_each_library() -> None:
    assert len(_SNIPPETS) == 7


@pytest.mark.parametrize("snippet", _SNIPPETS)
def test_a_snippet_is_part_of_an_example(snippet: str) -> None:
    assert any(dedent(snippet) in text or snippet in text for text in _EXAMPLES.values()), snippet


@pytest.mark.parametrize("name", _EXAMPLES)
def test_an_example_is_run_by_a_test_and_named_in_its_readme(name: str) -> None:
    assert f'"{name}"' in _TESTS
    assert f"`{name}`" in (ROOT / "examples" / "README.md").read_text(encoding="utf-8")
