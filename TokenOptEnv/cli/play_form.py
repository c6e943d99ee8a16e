"""An action, asked for field by field. Nothing is billed before it is whole."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import assert_never

from rich.text import Text

from TokenOptEnv.by_hand.choices import Choice, Choices
from TokenOptEnv.by_hand.plain_text import plain
from TokenOptEnv.cli.play_board import grid
from TokenOptEnv.cli.play_fields import Back, Fields
from TokenOptEnv.config import (
    FULL_READ_CAP_TOKENS,
    PREVIEW_PAGE_SEGMENTS,
    SEARCH_MAX_TOP_K,
    Track,
)
from TokenOptEnv.models import ActionType, AnswerField, FieldKind, TokenOptEnvAction


@dataclass(frozen=True, slots=True)
class Form:
    fields: Fields
    choices: Choices

    def fill(self, kind: ActionType) -> TokenOptEnvAction:
        offers = self.choices
        match kind:
            case ActionType.READ_ARTIFACT:
                artifact_id = self.fields.one("Which artifact?", offers.artifacts())
                return TokenOptEnvAction(action_type=kind, artifact_id=artifact_id, page=self._page(artifact_id))
            case ActionType.SEARCH_ARTIFACTS:
                query = self.fields.text("Which words?")
                most = self.fields.whole(f"How many hits, 1 to {SEARCH_MAX_TOP_K}?", SEARCH_MAX_TOP_K, "4")
                return TokenOptEnvAction(action_type=kind, query=query, top_k=most)
            case ActionType.QUERY_CACHE:
                return TokenOptEnvAction(action_type=kind, query=self.fields.text("Which words?"))
            case ActionType.HYDRATE_SEGMENTS:
                chosen = self.fields.many(f"Load which segments?{self._room()}", offers.surfaced())
                return TokenOptEnvAction(action_type=kind, context_segment_ids=chosen)
            case ActionType.PURGE_MEMORY:
                chosen = self.fields.many("Drop which items?", offers.items())
                return TokenOptEnvAction(action_type=kind, context_segment_ids=chosen)
            case ActionType.COMPRESS_CONTEXT:
                return TokenOptEnvAction(
                    action_type=kind,
                    context_segment_ids=self.fields.many("Shorten which items, into one?", offers.compressible()),
                    method=self.fields.one("How?", offers.methods()),
                    target_ratio=self.fields.share("To which share of their size?", "0.5"),
                    query=self.fields.optional_text("Looking for which words?", "the open questions"),
                )
            case ActionType.ROUTE_SUBTASK:
                return TokenOptEnvAction(
                    action_type=kind,
                    subtask_id=self.fields.one("Which question?", offers.subtasks()),
                    model_id=self.fields.one("Which model? (usd per million tokens in/out)", offers.models()),
                    context_segment_ids=self._context(),
                    effort=self.fields.optional_one("How much effort?", offers.efforts(), "medium"),
                )
            case ActionType.ESCALATE_ROUTE:
                route_id = self.fields.one("Which reply is not good enough?", offers.routes())
                stronger = offers.stronger_models(route_id)
                return TokenOptEnvAction(
                    action_type=kind,
                    route_id=route_id,
                    model_id=self.fields.optional_one("Which stronger model?", stronger, "the next stronger"),
                    effort=self.fields.optional_one("How much effort?", offers.efforts(), "medium"),
                )
            case ActionType.WRITE_CHECKPOINT:
                return self._note()
            case ActionType.RESTORE_CHECKPOINT:
                checkpoint_id = self.fields.one("Which note?", offers.checkpoints())
                return TokenOptEnvAction(action_type=kind, checkpoint_id=checkpoint_id)
            case ActionType.SUBMIT_ANSWER:
                return self._answer()
            case ActionType.MALFORMED:
                raise Back
            case _ as never:
                assert_never(never)

    def _page(self, artifact_id: str) -> int | None:
        """Asked only where there is more than one."""
        artifact = next(each for each in self.choices.observation.artifacts if each.artifact_id == artifact_id)
        pages = -(-artifact.segments // PREVIEW_PAGE_SEGMENTS)
        if artifact.tokens <= FULL_READ_CAP_TOKENS or pages == 1:
            return None
        return self.fields.whole(f"Which page, 1 to {pages}?", pages, "the first")

    def _room(self) -> str:
        memory = self.choices.observation.working_memory
        if memory.token_budget is None:
            return ""
        return f" There is room for {memory.token_budget - memory.token_budget_used:,} tokens."

    def _context(self) -> tuple[str, ...]:
        """Held items as they are, and others by handle, which the model reads at its own price."""
        form = next(
            each
            for each in self.choices.observation.legal_actions.actions
            if each.action_type is ActionType.ROUTE_SUBTASK
        )
        most = next((field.max_items for field in form.fields if field.max_items is not None), None)
        unheld = self.choices.surfaced()
        handles = {choice.value for choice in unheld}

        def too_many(chosen: Sequence[str]) -> str | None:
            count = sum(value in handles for value in chosen)
            if most is None or count <= most:
                return None
            return f"{count} of these are not held, and at most {most} may be; leave some out, or load them first."

        title = "Which evidence shall it read?" + (f" At most {most} that you do not hold." if most else "")
        readable = [*self.choices.items(), *unheld]
        return self.fields.many(title, readable, "none", too_many) if readable else ()

    def _note(self) -> TokenOptEnvAction:
        note = self.fields.optional_text("The note?", "no words of your own")
        findings, items = self.choices.findings(), self.choices.items()
        kept = self.fields.many("Keep which findings?", findings, "none") if findings else ()
        texts = self.fields.many("Keep the text of which items?", items, "none") if items else ()
        if not (note or kept or texts):
            self.fields.desk.complain("A note needs words, a finding or an item; nothing was saved.")
            raise Back
        return TokenOptEnvAction(
            action_type=ActionType.WRITE_CHECKPOINT, note=note, finding_ids=kept, context_segment_ids=texts
        )

    def _answer(self) -> TokenOptEnvAction:
        """With findings; in one's own words where the track allows it, or where there is no finding."""
        observation = self.choices.observation
        findings = self.choices.findings()
        chosen = self.fields.many("Answer with which findings?", findings, "none") if findings else ()
        names = [field.name for field in observation.task.answer_fields]
        held = {finding.finding_id: finding for finding in observation.findings}
        answer = {name: value for each in chosen for name, value in held[each].values.items() if name in names}
        own: dict[str, str] = {}
        if not chosen or observation.task.track is Track.SOLVER:
            own = self._own_words([field for field in observation.task.answer_fields if field.name not in answer])
        if not answer and not own:
            self.fields.desk.complain("There is nothing to answer with; nothing was sent.")
            raise Back
        citable = [*self.choices.held_segments(), *self.choices.surfaced(), *self.choices.read_earlier()]
        default = "what the findings cite" if chosen else "none"
        evidence = self.fields.many("Which segments show it?", citable, default) if citable else ()
        self._confirm({**answer, **own}, names)
        return TokenOptEnvAction(
            action_type=ActionType.SUBMIT_ANSWER,
            finding_ids=chosen,
            answer=own or None,
            evidence_segment_ids=evidence,
        )

    def _own_words(self, fields: Sequence[AnswerField]) -> dict[str, str]:
        """A patch is never typed: only one that a finding brings has been run."""
        said: dict[str, str] = {}
        for field in fields:
            if field.kind is FieldKind.PATCH:
                continue
            title = f"{field.name}: {plain(field.question)}"
            options = [Choice(str(number), each, each) for number, each in enumerate(field.choices, start=1)]
            value = (
                self.fields.optional_one(title, options, "no answer")
                if options
                else self.fields.optional_text(title, "no answer")
            )
            if value:
                said[field.name] = value
        return said

    def _confirm(self, answer: dict[str, str], names: Sequence[str]) -> None:
        listed = grid("left")
        for name in names:
            listed.add_row(name, plain(answer[name]) if name in answer else Text("no answer", style="red"))
        self.fields.desk.terminal.show(listed)
        if not self.fields.yes("Submit this, and end?"):
            raise Back
