"""CAMRE as MCP tools, for coding agents: an episode over standard input and output.

The tools bear the verbs of the prompt and take its numbers. A transcript only grows here: each result tells what
is new, and what the agent drops or compresses leaves the environment's memory and its bill, yet stands in the
client's transcript still. `look` shows the whole prompt anew, as a memory-true agent would read it at every step.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from threading import Lock
from typing import Any, Final, Literal, Protocol

from TokenOptEnv import scenario_store
from TokenOptEnv.config import Profile
from TokenOptEnv.errors import BadInput, EpisodeNotRunning
from TokenOptEnv.local_env import LocalEnv
from TokenOptEnv.models import TokenOptEnvObservation
from TokenOptEnv.prompt import item_text, render_text, tail_text
from TokenOptEnv.text_actions import parse

_INSTRUCTIONS: Final = (
    "Solve a code or log task at the least cost. Begin with reset: it shows the task (Q: questions, A: artifacts, M: "
    "models, numbered from 1). What you hold is numbered #N, and segments you were shown have numbers too. Each "
    "tool is one step, and every step costs money: all that you hold is paid for again. End with submit."
)
_MOST_LISTED: Final = 50


class Desk:
    """One episode at a time, whoever calls. A client may call from several threads; steps are taken one by one."""

    def __init__(self, profile: str = Profile.V2, track: str = "controller", catalog: str = "measured") -> None:
        self._env = LocalEnv(profile=profile, track=track, catalog=catalog)
        self._seen: TokenOptEnvObservation | None = None
        self._turn = Lock()
        self._profile = Profile(profile)

    @property
    def tools(self) -> tuple[Callable[..., str], ...]:
        about = (self.scenarios, self.reset, self.look, self.state)
        core = (self.read, self.cache, self.squeeze, self.ask, self.submit)
        more = (self.find, self.load, self.drop, self.up, self.note, self.recall)
        return (*about, *core) if self._profile is Profile.V1 else (*about, *core, *more)

    def scenarios(self, split: str = "core", first: int = 0) -> str:
        """The names of scenarios of a split (core, train, validation or test), from place `first` on."""
        last = min(scenario_store.size(split), first + _MOST_LISTED)
        return "\n".join(scenario_store.at(split, place) for place in range(max(0, first), last))

    def reset(self, scenario_id: str | None = None, seed: int = 0, split: str = "core", index: int = 0) -> str:
        """Begin an episode: a scenario by its name, or by its place in a split. `seed` chooses its world."""
        with self._turn:
            named = {"scenario_id": scenario_id} if scenario_id is not None else {"split": split, "index": index}
            self._seen = self._env.reset(seed=seed, **named)
            return render_text(self._seen)

    def look(self) -> str:
        """The whole prompt: task, what you hold, what is left. It costs nothing."""
        return render_text(self._now)

    def state(self) -> str:
        """Where the episode stands, as JSON. It costs nothing."""
        return self._env.state.model_dump_json()

    def read(self, artifact: int, page: int = 1) -> str:
        """Load artifact A whole if it is small; of a large one, show a page of its outline, with segments' numbers."""
        return self._step("read", artifact, page)

    def cache(self, words: str) -> str:
        """Look up earlier results. Their version and age tell whether they still hold."""
        return self._step("cache words", query=words)

    def squeeze(self, items: list[int], method: str, ratio: float = 0.5, words: str = "") -> str:
        """Compress items into one by log_templates, code_outline, extract (about `words`), head_tail or dedupe."""
        return self._step("squeeze", *items, method, f"{ratio:g}", query=words or None)

    def ask(self, question: int, model: int, context: list[int], effort: str | None = None) -> str:
        """Ask model M question Q about items you hold and segments by number. Effort: low, medium or high."""
        return self._step("ask", question, model, *context, effort)

    def submit(
        self, findings: list[int], evidence: list[int] | None = None, answer: dict[str, str] | None = None
    ) -> str:
        """End with findings you hold, by number. In the solver track also with an answer by field, and its evidence."""
        if answer is None:
            return self._step("submit", *findings, *(["with", *evidence] if evidence else []))
        return self._step("submit", f"{_spelt(evidence or findings)}:", "field=value", answer=answer)

    def find(self, words: str, most: int | None = None) -> str:
        """Search all artifacts for words; shows up to 4 segments with their numbers, or `most`, which is at most 8."""
        return self._step("find words", query=words, top_k=most)

    def load(self, segments: list[int]) -> str:
        """Load segments that you were shown into memory, where they are paid for at every later step."""
        return self._step("load", *segments)

    def drop(self, items: list[int]) -> str:
        """Forget items you hold, for good."""
        return self._step("drop", *items)

    def up(self, finding: int, model: int | None = None, effort: str | None = None) -> str:
        """Ask a stronger model what a finding was asked about: the next stronger one, or model M."""
        return self._step("up", finding, model, effort)

    def note(self, text: str, findings: list[int] | None = None, items: list[int] | None = None) -> str:
        """Save a note with findings and items where the end of a phase cannot reach it."""
        return self._step("note", *(findings or []), *(items or []), ":", note=text)

    def recall(self, checkpoint: int) -> str:
        """Bring a saved note back into memory."""
        return self._step("recall", checkpoint)

    @property
    def _now(self) -> TokenOptEnvObservation:
        if self._seen is None:
            raise EpisodeNotRunning("no episode is running; call reset first")
        return self._seen

    def _step(self, *words: object, **free: Any) -> str:
        """Numbers are spelt as a text policy would: there is one place that knows what they mean.

        What is `free` goes in as it is, since no spelling could hold every sign.
        """
        with self._turn:
            before = self._now
            action = parse(_spelt(word for word in words if word is not None), before)
            self._seen = self._env.step(action.model_copy(update=free))
            return "".join(_news(before, self._seen))


def _spelt(words: Iterable[object]) -> str:
    return " ".join(map(str, words))


class ToolServer(Protocol):
    """What both versions of `mcp` offer."""

    def add_tool(self, fn: Callable[..., str], *, structured_output: bool) -> None: ...

    def run(self, transport: Literal["stdio"]) -> None: ...


def server(desk: Desk) -> ToolServer:
    made: ToolServer = _server_class()("camre", instructions=_INSTRUCTIONS, log_level="WARNING")
    for tool in desk.tools:
        made.add_tool(tool, structured_output=False)
    return made


def _server_class() -> Any:
    """OpenEnv holds `mcp` to version 1, and verifiers to version 2, which gave the class another name and place."""
    for module, name in (("mcp.server.mcpserver", "MCPServer"), ("mcp.server.fastmcp", "FastMCP")):
        try:
            return getattr(import_module(module), name)
        except ImportError:
            continue
    raise BadInput("the MCP server needs mcp; install it: pip install 'openenv-TokenOptEnv[mcp]'")


def _news(before: TokenOptEnvObservation, after: TokenOptEnvObservation) -> Iterable[str]:
    """What a transcript that has everything up to `before` lacks: new items, and what is left."""
    if after.task.phase != before.task.phase:
        yield render_text(after)
        return
    known = {item.item_id for item in before.working_memory.items}
    for item in after.working_memory.items:
        if item.item_id not in known:
            yield item_text(item)
    memory, last = after.working_memory, after.last_tool_result
    yield tail_text(memory, last, after.budgets, after.checkpoints, after.must_submit)
    if after.score is not None:
        found = after.score
        yield f"## Over\nsuccess {found.success}, return {found.total_return:g}, SCE {found.sce:g}"
        yield f", cost ${found.cost_nano_usd / 1e9:.4f}, reference ${found.reference_nano_usd / 1e9:.4f}\n"
