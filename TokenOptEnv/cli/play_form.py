"""An action, asked for field by field. Nothing is billed before it is whole."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, assert_never

from rich.text import Text

from TokenOptEnv.cli.play_board import clipped, grid
from TokenOptEnv.cli.play_choices import Choice, Choices
from TokenOptEnv.cli.play_desk import Desk
from TokenOptEnv.cli.play_terminal import plain
from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_MAX_TOP_K,
    TEXT_CAP_CHARACTERS,
    Track,
)
from TokenOptEnv.models import ActionType, AnswerField, TokenOptEnvAction

_BACK: Final = ("b", "back")
_SEPARATORS: Final = re.compile(r"[\s,]+")
_ASIDE: Final = "b goes back to the menu, q leaves, show N prints an item; nothing is billed before you finish."


class Back(Exception):
    """The person thought better of this action."""


@dataclass(frozen=True, slots=True)
class Form:
    desk: Desk
    choices: Choices

    def fill(self, kind: ActionType) -> TokenOptEnvAction:
        offers = self.choices
        match kind:
            case ActionType.READ_ARTIFACT:
                artifact_id = self._one("Which artifact?", offers.artifacts())
                return TokenOptEnvAction(action_type=kind, artifact_id=artifact_id, page=self._page(artifact_id))
            case ActionType.SEARCH_ARTIFACTS:
                query = self._text("Which words?")
                most = self._whole(f"How many hits, 1 to {SEARCH_MAX_TOP_K}?", SEARCH_MAX_TOP_K, "4")
                return TokenOptEnvAction(action_type=kind, query=query, top_k=most)
            case ActionType.QUERY_CACHE:
                return TokenOptEnvAction(action_type=kind, query=self._text("Which words?"))
            case ActionType.HYDRATE_SEGMENTS:
                chosen = self._many(f"Load which segments?{self._room()}", offers.surfaced())
                return TokenOptEnvAction(action_type=kind, context_segment_ids=chosen)
            case ActionType.PURGE_MEMORY:
                chosen = self._many("Drop which items?", offers.items())
                return TokenOptEnvAction(action_type=kind, context_segment_ids=chosen)
            case ActionType.COMPRESS_CONTEXT:
                return TokenOptEnvAction(
                    action_type=kind,
                    context_segment_ids=self._many("Shorten which items, into one?", offers.compressible()),
                    method=self._one("How?", offers.methods()),
                    target_ratio=self._ratio(),
                    query=self._optional_text("Looking for which words?", "the open questions"),
                )
            case ActionType.ROUTE_SUBTASK:
                return TokenOptEnvAction(
                    action_type=kind,
                    subtask_id=self._one("Which question?", offers.subtasks()),
                    model_id=self._one("Which model? (usd per million tokens in/out)", offers.models()),
                    context_segment_ids=self._context(),
                    effort=self._optional_one("How much effort?", offers.efforts(), "medium"),
                )
            case ActionType.ESCALATE_ROUTE:
                route_id = self._one("Which reply is not good enough?", offers.routes())
                stronger = offers.stronger_models(route_id)
                return TokenOptEnvAction(
                    action_type=kind,
                    route_id=route_id,
                    model_id=self._optional_one("Which stronger model?", stronger, "the next stronger"),
                    effort=self._optional_one("How much effort?", offers.efforts(), "medium"),
                )
            case ActionType.WRITE_CHECKPOINT:
                return self._note()
            case ActionType.RESTORE_CHECKPOINT:
                checkpoint_id = self._one("Which note?", offers.checkpoints())
                return TokenOptEnvAction(action_type=kind, checkpoint_id=checkpoint_id)
            case ActionType.SUBMIT_ANSWER:
                return self._answer()
            case ActionType.MALFORMED:
                raise Back
            case _ as never:
                assert_never(never)

    def _page(self, artifact_id: str) -> int | None:
        """Asked only where there is more than one."""
        artifact = next(each for each in self.desk.observation.artifacts if each.artifact_id == artifact_id)
        pages = -(-artifact.segments // PREVIEW_PAGE_SEGMENTS)
        if artifact.tokens <= FULL_READ_CAP_TOKENS or pages == 1:
            return None
        return self._whole(f"Which page, 1 to {pages}?", pages, "the first")

    def _room(self) -> str:
        memory = self.desk.observation.working_memory
        if memory.token_budget is None:
            return ""
        return f" There is room for {memory.token_budget - memory.token_budget_used:,} tokens."

    def _context(self) -> tuple[str, ...]:
        """Held items as they are, and others by handle, which the model reads at its own price."""
        form = next(
            each for each in self.desk.observation.legal_actions.actions if each.action_type is ActionType.ROUTE_SUBTASK
        )
        most = next((field.max_items for field in form.fields if field.max_items is not None), None)
        unheld = self.choices.surfaced()
        handles = {choice.value for choice in unheld}
        title = "Which evidence shall it read?" + (f" At most {most} that you do not hold." if most else "")
        while True:
            chosen = self._many(title, [*self.choices.items(), *unheld], "none")
            by_handle = sum(value in handles for value in chosen)
            if most is None or by_handle <= most:
                return chosen
            self.desk.complain(
                f"{by_handle} of these are not held, and at most {most} may be; load some, or leave out."
            )

    def _note(self) -> TokenOptEnvAction:
        note = self._optional_text("The note?", "no words of your own")
        findings, items = self.choices.findings(), self.choices.items()
        kept = self._many("Keep which findings?", findings, "none") if findings else ()
        texts = self._many("Keep the text of which items?", items, "none") if items else ()
        if not (note or kept or texts):
            self.desk.complain("A note needs words, a finding or an item; nothing was saved.")
            raise Back
        return TokenOptEnvAction(
            action_type=ActionType.WRITE_CHECKPOINT, note=note, finding_ids=kept, context_segment_ids=texts
        )

    def _answer(self) -> TokenOptEnvAction:
        """With findings; in one's own words where the track allows it, or where there is no finding."""
        observation = self.desk.observation
        findings = self.choices.findings()
        chosen = self._many("Answer with which findings?", findings, "none") if findings else ()
        names = [field.name for field in observation.task.answer_fields]
        held = {finding.finding_id: finding for finding in observation.findings}
        answer = {name: value for each in chosen for name, value in held[each].values.items() if name in names}
        own: dict[str, str] = {}
        evidence: tuple[str, ...] = ()
        if not chosen or observation.task.track is Track.SOLVER:
            own = self._own_words([field for field in observation.task.answer_fields if field.name not in answer])
            citable = [*self.choices.held_segments(), *self.choices.surfaced()]
            if own and citable:
                evidence = self._many("Which segments show it?", citable, "what the findings cite")
        if not answer and not own:
            self.desk.complain("There is nothing to answer with; nothing was sent.")
            raise Back
        self._confirm({**answer, **own}, names)
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            finding_ids=chosen,
            answer=own or None,
            evidence_segment_ids=evidence,
        )

    def _own_words(self, fields: Sequence[AnswerField]) -> dict[str, str]:
        said: dict[str, str] = {}
        for field in fields:
            title = f"{field.name}: {plain(field.question)}"
            options = [Choice(str(number), each, each) for number, each in enumerate(field.choices, start=1)]
            value = (
                self._optional_one(title, options, "no answer") if options else self._optional_text(title, "no answer")
            )
            if value:
                said[field.name] = value
        return said

    def _confirm(self, answer: dict[str, str], names: Sequence[str]) -> None:
        listed = grid("left")
        for name in names:
            listed.add_row(name, plain(answer[name]) if name in answer else Text("no answer", style="red"))
        self.desk.terminal.show(listed)
        if self._line("Submit this, and end? y or n", "An answer ends the episode.").lower() not in ("y", "yes"):
            raise Back

    def _line(self, prompt: str, help_text: str) -> str:
        line = self.desk.line(f"{prompt}> ", Text(f"{help_text} {_ASIDE}"))
        if line in _BACK:
            raise Back
        return line

    def _offer(self, title: str, choices: Sequence[Choice]) -> None:
        listed = grid("right")
        for choice in choices:
            listed.add_row(choice.key, choice.label)
        self.desk.terminal.show(Text(title, style="bold"), listed)

    def _one(self, title: str, choices: Sequence[Choice]) -> str:
        return self._pick(title, choices, None) or ""

    def _optional_one(self, title: str, choices: Sequence[Choice], default: str) -> str | None:
        return self._pick(title, choices, default)

    def _pick(self, title: str, choices: Sequence[Choice], default: str | None) -> str | None:
        self._offer(title, choices)
        while True:
            line = self._line(_prompt("number", default), "Type the number of one line.")
            if not line and default is not None:
                return None
            picked = _named(line, choices)
            if picked is not None:
                return picked
            self.desk.complain(f"{clipped(plain(line), 40)!r} is none of these; type one of their numbers.")

    def _many(self, title: str, choices: Sequence[Choice], default: str | None = None) -> tuple[str, ...]:
        self._offer(title, choices)
        while True:
            line = self._line(_prompt("numbers", default), "Type one or more numbers, like: 1 3 4.")
            words = [word for word in _SEPARATORS.split(line) if word]
            if not words and default is not None:
                return ()
            picked = [_named(word, choices) for word in words]
            if picked and None not in picked:
                return tuple(dict.fromkeys(value for value in picked if value is not None))
            wrong = next((word for word, value in zip(words, picked, strict=True) if value is None), "")
            self.desk.complain(f"{clipped(plain(wrong), 40)!r} is none of these; type numbers, like: 1 3 4")

    def _text(self, title: str) -> str:
        while True:
            line = self._optional_text(title, None)
            if line:
                return line
            self.desk.complain("Type at least one word.")

    def _optional_text(self, title: str, default: str | None) -> str | None:
        while True:
            line = self._line(_prompt(title, default), "Type it in one line.")
            if len(line) <= TEXT_CAP_CHARACTERS:
                return line or None
            self.desk.complain(f"That is {len(line):,} characters; at most {TEXT_CAP_CHARACTERS:,} are taken.")

    def _whole(self, title: str, most: int, default: str) -> int | None:
        while True:
            line = self._line(_prompt(title, default), f"Type a number from 1 to {most}.")
            if not line:
                return None
            if re.fullmatch(r"[0-9]{1,6}", line) and 1 <= int(line) <= most:
                return int(line)
            self.desk.complain(f"{clipped(plain(line), 40)!r} is not a number from 1 to {most}.")

    def _ratio(self) -> float | None:
        while True:
            line = self._line(_prompt("To which share of its size?", "0.5"), "Type a share like 0.3.")
            if not line:
                return None
            if re.fullmatch(r"0?\.[0-9]{1,4}|1(\.0{1,4})?", line) and float(line) > 0:
                return float(line)
            self.desk.complain(f"{clipped(plain(line), 40)!r} is not a share above 0 and at most 1, like 0.3.")


def _prompt(title: str, default: str | None) -> str:
    return title if default is None else f"{title} (Enter: {default})"


def _named(word: str, choices: Sequence[Choice]) -> str | None:
    """By number, with or without its `#`, or by the name itself."""
    key = word.removeprefix("#").lower()
    return next((choice.value for choice in choices if key == choice.key or word == choice.value), None)
