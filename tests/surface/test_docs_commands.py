"""Every command that the README and the documentation tell a reader to type, typed.

A page's commands run in their order, in an empty folder, with fewer episodes and shorter times than a reader would
take. Servers are started until they listen; what would install must be what this environment was made of; of a `make`
target the `camre` commands that it consists of are run. A block that needs what only another test has (a model behind
an endpoint, a copy of the checkout) names that test in a comment above it, and one that cannot run says why.
"""

from __future__ import annotations

import io
import os
import re
import shlex
import subprocess
import sys
import threading
import tomllib
from collections.abc import Iterator
from importlib.metadata import distribution
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path, PurePosixPath
from types import ModuleType

import pytest

from tests.core.live_server import said, serving
from tests.surface import documented
from tests.surface.documented import ROOT, Block
from TokenOptEnv.cli.main import run

Out = pytest.CaptureFixture[str]

TESTED_BY_THEMSELVES = {"docs/import.md": "tests/surface/test_import_cli.py"}
"""Pages whose every command another test types, in an order and with files of its own."""
NOT_RUN = 7
"""Blocks that carry a reason. One more is a command that nobody checks: think before you count it in."""
_OUR_COMMAND = ".venv/bin/camre "
_SERVED_MODEL = "http://127.0.0.1:8001/v1"
_ASSIGNED = re.compile(r"([A-Z_]+)=(\S+) ")
_LOOKED_UP = ("pip install", "python -m pip install")
_SMALL_CASE = "incident-easy-checkout-estimates"
_START_SECONDS = 90


def _all() -> list[Block]:
    return [
        block
        for page in documented.pages()
        if page not in TESTED_BY_THEMSELVES
        for block in documented.shell_blocks(page)
    ]


def _runnable() -> list[Block]:
    return [block for block in _all() if block.no_run is None and block.typed_by is None]


def _is_server(command: str) -> bool:
    return f"{command} ".startswith(("camre serve ", "uvicorn "))


PAGES = sorted({block.page for block in _runnable()})
SERVERS = sorted({command for block in _runnable() for command in block.commands if _is_server(command)})
TYPISTS = sorted({block.typed_by for block in _all() if block.typed_by is not None})
INSTALLS = sorted({command for block in _runnable() for command in block.commands if command.startswith(_LOOKED_UP)})
TARGETS = sorted({command for block in _all() for command in block.commands if command.startswith("make ")})


@pytest.fixture
def desk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty folder, and in it the files that pages tell a reader to save."""
    for page in documented.pages():
        for block in documented.blocks(page):
            if block.title is not None:
                (tmp_path / block.title).write_text(block.body, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("CAMRE_CACHE_DIR", str(tmp_path / "cache"))
    monkeypatch.delenv("CAMRE_SCENARIOS_DIR", raising=False)
    monkeypatch.setattr(sys, "stdin", io.StringIO("quit\n"))
    monkeypatch.syspath_prepend(str(tmp_path))
    return tmp_path


@pytest.fixture
def endpoint() -> Iterator[str]:
    """A model that hands in at once, where pages say that one is served."""
    with serving(lambda body: said("submit")) as server:
        yield server.url


def expanded(command: str) -> Iterator[str]:
    """What `make` would have `camre` do; the rest of its targets sets up the environment that this is, or is tests."""
    if not command.startswith("make "):
        yield command
        return
    told = subprocess.run(
        ["make", "-n", *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, text=True, check=True
    )
    yield from (line.removeprefix(".venv/bin/") for line in told.stdout.splitlines() if line.startswith(_OUR_COMMAND))


def small(command: str) -> list[str]:
    """The same command on less."""
    words = shlex.split(command)[1:]
    match words:
        case ["eval", *_]:
            words = _with(words, "--workers", "1")
            return words if "--scenario" in words else _with(words, "--episodes", "1")
        case ["scenarios", "validate"]:
            return [*words, _SMALL_CASE]
        case ["bench", "engine" | "peers" | "sandbox", *_]:
            return _with(words, "--seconds", "0.05")
        case _:
            return words


def _with(words: list[str], option: str, value: str) -> list[str]:
    if option not in words:
        return [*words, option, value]
    place = words.index(option)
    return [*words[: place + 1], value, *words[place + 2 :]]


@pytest.mark.parametrize("page", PAGES)
def test_every_command_of_a_page_works_in_its_order(
    page: str, desk: Path, endpoint: str, monkeypatch: pytest.MonkeyPatch, capsys: Out
) -> None:
    typed = [command for block in _runnable() if block.page == page for command in block.commands]
    if "runs/demo" in " ".join(typed):
        assert (
            run(shlex.split("eval --policy cheapest --policy rag --split validation --episodes 1 --out runs/demo")) == 0
        )
    for command in (part for whole in typed for part in expanded(whole)):
        if _is_server(command) or command.startswith(_LOOKED_UP):
            continue
        if command.startswith("python deploy/"):
            _run_script(command, desk)
            continue
        while assigned := _ASSIGNED.match(command):
            monkeypatch.setenv(assigned[1], assigned[2].replace(_SERVED_MODEL, endpoint))
            command = command[assigned.end() :]
        assert command.startswith("camre "), f"{page}: {command!r} is no command that this test knows how to run"
        capsys.readouterr()
        code = run(small(command))
        told = capsys.readouterr()
        assert code == 0, (page, command, told.err)
        assert told.out.strip(), (page, command)


def _run_script(command: str, desk: Path) -> None:
    """A script of the checkout, which writes where this test may."""
    _, script, *words = shlex.split(command)
    ended = subprocess.run(
        [sys.executable, str(ROOT / script), *words], cwd=desk, capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, (command, ended.stderr)
    assert ended.stdout.strip()


def test_every_server_that_a_page_starts_listens() -> None:
    """All at once, since most of their start is loading; each on a port that is free."""
    with _Started([_on_a_free_port(command) for command in SERVERS]) as started:
        assert [command for command, listens in started.listening() if not listens] == []


def _on_a_free_port(command: str) -> list[str]:
    words = _with(shlex.split(re.sub(r"--host \S+", "--host 127.0.0.1", command)), "--port", "0")
    words = _with(words, "--workers", "1") if "--workers" in words else words
    return [str(Path(sys.executable).with_name(words[0])), *words[1:]]


class _Started:
    def __init__(self, commands: list[list[str]]) -> None:
        self._commands = commands
        self._processes: list[subprocess.Popen[str]] = []

    def __enter__(self) -> _Started:
        for words in self._commands:
            self._processes.append(subprocess.Popen(words, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=_quiet()))
        return self

    def __exit__(self, *_: object) -> None:
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.communicate()

    def listening(self) -> list[tuple[str, bool]]:
        late = threading.Timer(_START_SECONDS, lambda: [process.kill() for process in self._processes])
        late.start()
        heard = []
        for words, process in zip(self._commands, self._processes, strict=True):
            assert process.stderr is not None
            heard.append((" ".join(words), any("running on http://" in line for line in process.stderr)))
        late.cancel()
        return heard


def _quiet() -> dict[str, str]:
    return {**os.environ, "PYTHONUNBUFFERED": "1"}


@pytest.mark.parametrize("command", INSTALLS)
def test_what_a_page_installs_is_what_this_environment_was_made_of(command: str) -> None:
    extras = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
    wanted = shlex.split(command)[-1]
    named = re.fullmatch(r"(?:openenv-TokenOptEnv|\.)(?:\[([\w,]+)\])?", wanted)
    assert named is not None, wanted
    for extra in (named[1] or "").split(",") if named[1] else ():
        for requirement in extras[extra]:
            assert distribution(re.split(r"[^\w-]", requirement)[0]).version


@pytest.mark.parametrize("command", TARGETS)
def test_make_knows_the_targets_that_pages_name(command: str) -> None:
    ended = subprocess.run(["make", "-n", *shlex.split(command)[1:]], cwd=ROOT, capture_output=True, check=False)
    assert ended.returncode == 0, ended.stderr


@pytest.mark.parametrize("test_file", TYPISTS)
def test_what_a_page_leaves_to_a_test_is_read_from_the_page_by_that_test(test_file: str) -> None:
    assert documented.typed_by(str(ROOT / test_file))
    assert "documented.typed_by(__file__)" in (ROOT / test_file).read_text(encoding="utf-8")


def test_a_block_of_commands_names_its_language() -> None:
    unnamed = [
        (page, block.body.splitlines()[0])
        for page in documented.pages()
        for block in documented.blocks(page)
        if not block.language and re.match(r"(camre|pip|make|python|uvicorn) ", block.body)
    ]
    assert unnamed == []


def test_what_is_not_run_is_counted_and_says_why() -> None:
    reasons = [block.no_run for block in _all() if block.no_run is not None]
    assert len(reasons) == NOT_RUN
    assert all(len(reason.split()) >= 4 for reason in reasons)


@pytest.mark.parametrize("page", TESTED_BY_THEMSELVES)
def test_a_page_that_is_left_out_here_has_a_test_of_its_own(page: str) -> None:
    assert Path(page).name in (ROOT / TESTED_BY_THEMSELVES[page]).read_text(encoding="utf-8")


def test_the_reference_is_what_the_code_says(capsys: Out) -> None:
    code = run(["reference", "--check", "--out", str(ROOT / "docs" / "reference")])
    assert code == 0, capsys.readouterr().err


def test_a_reference_page_that_is_out_of_date_is_named(tmp_path: Path, capsys: Out) -> None:
    assert run(["reference", "--out", str(tmp_path)]) == 0
    (tmp_path / "actions.md").write_text("old\n")
    assert run(["reference", "--check", "--out", str(tmp_path)]) == 1
    assert "actions.md; write them: camre reference" in capsys.readouterr().err


def test_every_page_has_its_place_in_the_site() -> None:
    settings = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
    placed = re.findall(r": (\S+\.md)$", settings, flags=re.MULTILINE)
    there = [str(page.relative_to(ROOT / "docs")) for page in (ROOT / "docs").rglob("*.md")]
    assert sorted(placed) == sorted(there)


def test_the_site_shows_the_leaderboard_and_no_link_that_leaves_it() -> None:
    hooks = _site_hooks()
    assert "| reference* |" in hooks.leaderboard()
    told = hooks.words_for_outside(
        "see [a](../examples), [b](server.md#speed), ![c](../x.png)", PurePosixPath("adapters.md")
    )
    assert told == "see a, [b](server.md#speed), ![c](../x.png)"
    nested = hooks.words_for_outside("[a](../server.md) [b](../../README.md)", PurePosixPath("tutorials/train.md"))
    assert nested == "[a](../server.md) b"


def _site_hooks() -> ModuleType:
    """Loaded from its file, as the site's builder does."""
    found = spec_from_file_location("site_hooks", ROOT / "docs" / "site_hooks.py")
    assert found is not None and found.loader is not None
    module = module_from_spec(found)
    found.loader.exec_module(module)
    return module


def test_the_quick_start_in_python_runs_as_written(desk: Path) -> None:
    (code,) = (block.body for block in documented.blocks("docs/quickstart.md") if block.language == "python")
    ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    assert "search-" in ended.stdout


def test_the_agent_of_the_tutorial_finds_something(desk: Path) -> None:
    """It is meant to be read, and must be worth reading: it asks every question and submits."""
    from TokenOptEnv import LocalEnv
    from TokenOptEnv.policies import make

    env, agent = LocalEnv(), make("my_agent:Agent", seed=0)
    seen = env.reset(scenario_id=_SMALL_CASE, seed=0)
    while not seen.done:
        seen = env.step(agent.act(seen))
    assert seen.terminated
    assert len(seen.routing.routes) == len(seen.task.subtasks)
