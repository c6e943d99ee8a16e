"""The best honest hand: it rewrites queries, follows names, strips papers of what does not matter, paces its money.

What it knows of the trade, and nothing of any case:
- a question that repeats no word of the evidence is answered by looking for trouble, then for the names found there;
- tickets and chats say what people guess: they are handed over last;
- lists of changes and runbooks speak of everybody: only the lines about the suspect are handed over;
- a cached result is worth more than any model if it is of this version and younger than the trouble;
- a second opinion costs more than it tells, unless the first one says that it has nothing to go on.
"""

from __future__ import annotations

from collections.abc import Sequence

from TokenOptEnv.config import CACHE_MAX_HITS, FINDING_CAP_TOKENS, ROUTE_MAX_HANDLES, SEARCH_HIT_CAP_TOKENS
from TokenOptEnv.models import (
    ActionType,
    ArtifactHandle,
    ArtifactKind,
    ItemKind,
    MemoryItem,
    RoutePayload,
    SearchPayload,
    Subtask,
    TokenOptEnvAction,
    TokenOptEnvObservation,
)
from TokenOptEnv.policies import desk, errands, judgement, menu, papers, provenance, questions, survey
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.cache_first import outdated, settle, trusted
from TokenOptEnv.policies.script import Scripted, Steps
from TokenOptEnv.policies.submission import latest_findings
from TokenOptEnv.policies.symptoms import LOUD_WORDS, WIRING_WORDS
from TokenOptEnv.policies.trail import (
    Trail,
    complaints,
    is_access_line,
    lines_about,
    names_in,
    repeated,
    subject,
    telling,
    words_in,
)
from TokenOptEnv.simulators.log_lines import is_loud

_TOP_K = 8
_FOLLOWED_TOP_K = 6
"""A name stands in few places."""
_NAMES_FOLLOWED = 2
_LOUD_READ = 2
"""Segments loaded to read the names of what failed in them: a snippet is cut before it gets there."""
_SUSPECTS_SHOWN = 2
_WORDS_FOLLOWED = 10
_PARTS_READ = 2
"""Of each paper."""
_STEPS_FOR_PAPERS = 6
_STEPS_FOR_DETAIL = 7
"""To spare before it also looks up who is called by what name."""
_FEW_HITS = 4
_YOUNG_HOURS = 24
"""Where the brief says nothing of how long things have been as they are."""
_REST_NANO_USD = 3_000_000
"""What an episode costs besides its calls, roughly."""
_DOUBTED_CONFIDENCE = 0.35
"""Stated confidence tells little, and a second opinion is dear: only a plain admission counts as doubt."""
_STEPS_WITHOUT_CACHE = 8
"""What a phase's first question takes at most; steps beyond may go to the cache."""
_MOST_QUERIES = 2
_FEWEST_STEPS_WITH_CACHE = 5
_KEPT_TOKENS = {ArtifactKind.HISTORY: 110, ArtifactKind.RUNBOOK: 60}
"""Of papers: an entry, or a rule or two."""
_LEAST_RATIO, _MOST_RATIO = 0.12, 0.6
_QUERY_CHARACTERS = 400


class Expert(Scripted):
    def __init__(self, seed: int) -> None:
        super().__init__(seed)
        self._trail = Trail()
        self._knows_trouble = False
        self._hits: list[str] = []
        """Of the question at hand."""
        self._told: tuple[str, ...] = ()
        """What names the thing that a question is about, where little else does."""

    def prepare(self, observation: TokenOptEnvObservation) -> Steps:
        """The cache first, while there are steps to spare and it has said nothing that holds."""
        self._trail, self._knows_trouble = Trail(), False
        hours = provenance.hours_unchanged(observation.task.brief) or _YOUNG_HOURS
        spare = self.spare_steps(observation)
        queries = min(_MOST_QUERIES, max(1, spare - _STEPS_WITHOUT_CACHE)) if spare >= _FEWEST_STEPS_WITH_CACHE else 0
        for subtask in observation.task.subtasks[:queries]:
            if desk.room_tokens(observation) < CACHE_MAX_HITS * FINDING_CAP_TOKENS:
                break
            query = f"{observation.task.title} {questions.wording(observation, subtask)}"
            observation = yield from errands.query_cache(observation, query)
            if trusted(observation, hours):
                break
        kept = trusted(observation, hours)
        self.done.update(finding.subtask_id for finding in kept)
        self.distrusted.update(finding.finding_id for finding in outdated(observation, hours))
        return (yield from settle(observation, hours)) if kept else observation

    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        self._hits, self._told = [], ()
        called_for = papers.called_for(observation, subtask)
        if called_for and self._suspect_segments(observation):
            observation = yield from self._follow_suspect(observation)
        else:
            about = subject(observation, questions.wording(observation, subtask))
            if about:
                observation = yield from self._follow_subject(observation, about)
            else:
                observation = yield from self._look_for_trouble(observation)
            wide = survey.spread_out(observation, self._hits[:_TOP_K])
            if wide is not None:
                observation = yield from survey.gather(observation, wide, " ".join(about))
                return (yield from self._ask(observation, subtask, survey.gathered(observation, wide)))
            if about and not called_for and not self._is_late(observation, 3):
                observation = yield from self._load_more(observation)
        if called_for and not self._is_late(observation, 3):
            observation = yield from self._read_papers(observation, called_for)
            about = subject(observation, questions.wording(observation, subtask))
            observation = yield from self._squeeze_papers(observation, called_for, about)
        observation = yield from self._ask(observation, subtask, self._evidence(observation))
        reply = errands.reply(observation, subtask)
        if reply is not None and _is_doubted(reply) and not self._is_late(observation, 3):
            observation = yield from self._ask_again(observation, subtask, reply)
        return observation

    def _is_late(self, observation: TokenOptEnvObservation, steps: int) -> bool:
        """Can so many steps, the asking included, no longer be spent on the question at hand?"""
        return self.spare_steps(observation) < steps

    def _follow_subject(self, observation: TokenOptEnvObservation, about: tuple[str, ...]) -> Steps:
        """What the question names; where only people speak of that, what they name."""
        observation = yield from self._look(observation, about)
        if not self._hits:
            observation = yield from self._look_for_trouble(observation)
        hits = list(self._hits)
        asked = names_in(" ".join(about))
        self._told = tuple(name for name in hits if any(each in self._trail.snippet(name) for each in asked))
        if len(hits) < _FEW_HITS:
            self._told = tuple(hits)
            said = "\n".join(self._trail.snippet(name) for name in hits)
            names = [name for name in names_in(said) if name not in about][:_NAMES_FOLLOWED]
            observation = yield from self._look(observation, names)
        return observation

    def _follow_suspect(self, observation: TokenOptEnvObservation) -> Steps:
        """Papers speak of trouble in the words in which the suspect complains of it: its own log gives the query."""
        suspects = self._suspect_segments(observation)
        is_unheard = errands.held_ids(observation).isdisjoint(suspects)
        if is_unheard and not self._is_late(observation, _STEPS_FOR_PAPERS):
            observation = yield from errands.load(observation, suspects[:1], FINDING_CAP_TOKENS)
        return (yield from self._look(observation, self._sayings(observation)[:_WORDS_FOLLOWED], _FOLLOWED_TOP_K))

    def _sayings(self, observation: TokenOptEnvObservation) -> tuple[str, ...]:
        """What the suspect says of requests that failed or, where it names none, of anything."""
        suspects = self._suspect_segments(observation)
        held = errands.held_ids(observation)
        heard = self._complaints(observation, [each for each in suspects if each in held] or suspects[:_SUSPECTS_SHOWN])
        named = [line for line in heard if names_in(line)]
        return telling(observation, words_in(named or heard))

    def _look_for_trouble(self, observation: TokenOptEnvObservation) -> Steps:
        """The loudest places, and where else the requests are seen that failed there. Once: trouble stays the same."""
        if self._knows_trouble:
            return observation
        self._knows_trouble = True
        observation = yield from self._look(observation, LOUD_WORDS.split())
        loud = [name for name in self._hits if papers.is_log(observation, name) and self._complains(name)]
        if self._is_late(observation, 3):
            return observation
        observation = yield from errands.load(observation, loud[:_LOUD_READ], FINDING_CAP_TOKENS)
        heard = self._complaints(observation, loud[:_LOUD_READ])
        observation = yield from self._look(observation, names_in("\n".join(heard))[:_NAMES_FOLLOWED], _FOLLOWED_TOP_K)
        if not self._is_late(observation, _STEPS_FOR_DETAIL):
            called = repeated(observation, heard)
            observation = yield from self._look(observation, (*called, *WIRING_WORDS.split()), _FOLLOWED_TOP_K)
        return observation

    def _look(self, observation: TokenOptEnvObservation, words: Sequence[str], top_k: int = _TOP_K) -> Steps:
        must_make_room = desk.room_tokens(observation) < SEARCH_HIT_CAP_TOKENS * top_k
        if not words or self._is_late(observation, 3 if must_make_room else 2):
            return observation
        observation = yield from errands.look_up(observation, " ".join(words), top_k)
        last = observation.last_tool_result
        if last is not None and isinstance(last.payload, SearchPayload):
            self._trail.note(last.payload.hits)
        self._hits += errands.found(observation)
        return observation

    def _load_more(self, observation: TokenOptEnvObservation) -> Steps:
        """Hits beyond those that can be named by handle."""
        most = ROUTE_MAX_HANDLES[observation.task.profile]
        wanted = [name for name in self._evidence(observation) if name in self._hits]
        return (yield from errands.load(observation, wanted[most:], FINDING_CAP_TOKENS))

    def _read_papers(self, observation: TokenOptEnvObservation, wanted: Sequence[ArtifactHandle]) -> Steps:
        """Load the papers that a question calls for, and beside them where the suspect complains."""
        sizes = {handle.segment_id: handle.tokens + errands.HEADER_TOKENS for handle in observation.surfaced}
        known = {source for item in observation.working_memory.items for source in item.source_ids}
        unread = [artifact for artifact in wanted if known.isdisjoint(errands.segment_ids(artifact))]
        parts = [name for artifact in unread for name in self._telling_parts(observation, artifact)]
        hidden = [
            artifact for artifact in unread if not set(self._telling_parts(observation, artifact)).issubset(sizes)
        ]
        suspects = self._suspect_segments(observation)[:1]
        if not known.isdisjoint(self._suspect_segments(observation)):
            suspects = ()
        needed = sum(sizes.get(name, 0) for name in [*parts, *suspects])
        needed += sum(errands.read_tokens(artifact) for artifact in hidden) + FINDING_CAP_TOKENS
        observation = yield from errands.make_room(observation, needed)
        for artifact in hidden:
            if not self._is_late(observation, 3):
                observation = yield from errands.read(observation, artifact)
        return (yield from errands.load(observation, [*parts, *suspects], FINDING_CAP_TOKENS))

    def _squeeze_papers(
        self, observation: TokenOptEnvObservation, wanted: Sequence[ArtifactHandle], about: Sequence[str]
    ) -> Steps:
        """Keep of each kind of paper the few lines that bear on the suspect."""
        for kind in papers.ABOUT_ALL:
            names = {name for each in wanted if each.kind is kind for name in errands.segment_ids(each)}
            items = [item for item in observation.working_memory.items if item.item_id in names]
            focus = self._focus(observation, kind) or about
            key = self._suspects(observation) if kind is ArtifactKind.HISTORY else focus
            if _mention(items, key or focus) and not self._is_late(observation, 2):
                share = _KEPT_TOKENS[kind] / sum(item.tokens for item in items)
                observation = yield TokenOptEnvAction(
                    action_type=ActionType.COMPRESS_CONTEXT,
                    context_segment_ids=tuple(item.item_id for item in items),
                    method="extract",
                    target_ratio=round(min(_MOST_RATIO, max(_LEAST_RATIO, share)), 2),
                    query=" ".join(focus)[:_QUERY_CHARACTERS],
                )
        return observation

    def _telling_parts(self, observation: TokenOptEnvObservation, artifact: ArtifactHandle) -> tuple[str, ...]:
        """Of a paper what was hit, parts that name a suspect first; else its head, where the newest entries stand."""
        ids = errands.segment_ids(artifact)
        suspects = self._suspects(observation)
        hit = [name for name in dict.fromkeys([*self._hits, *self._trail.ranked()]) if name in ids]
        hit.sort(key=lambda name: not any(each in self._trail.snippet(name) for each in suspects))
        return tuple(hit[:_PARTS_READ]) or ids[:1]

    def _focus(self, observation: TokenOptEnvObservation, kind: ArtifactKind) -> tuple[str, ...]:
        """Of changes the suspect's, there and then; of advice what fits its complaints and what was changed."""
        suspects = self._suspects(observation)
        if not suspects:
            return ()
        if kind is ArtifactKind.HISTORY:
            return tuple(dict.fromkeys([*suspects, *papers.place_words(observation)]))
        said = list(self._sayings(observation))
        squeezed = [item.text for item in observation.working_memory.items if item.kind is ItemKind.COMPRESSED]
        noted = [line for text in squeezed for line in lines_about(text, suspects)]
        return tuple(dict.fromkeys([*suspects, *said, *telling(observation, words_in(noted))]))

    def _suspects(self, observation: TokenOptEnvObservation) -> tuple[str, ...]:
        """What has been found out so far, in one word each."""
        findings = latest_findings(observation, self.distrusted)
        values = [value for finding in findings for value in finding.values.values()]
        return tuple(dict.fromkeys(value for value in values if " " not in value))

    def _suspect_segments(self, observation: TokenOptEnvObservation) -> tuple[str, ...]:
        """Where logs that bear a suspect's name complain, the most hit first."""
        suspects = self._suspects(observation)
        return tuple(
            name
            for name in self._trail.ranked()
            if papers.is_log(observation, name) and self._complains(name) and any(each in name for each in suspects)
        )

    def _complains(self, segment_id: str) -> bool:
        snippet = self._trail.snippet(segment_id)
        return is_loud(snippet) and not is_access_line(snippet)

    def _complaints(self, observation: TokenOptEnvObservation, segment_ids: Sequence[str]) -> tuple[str, ...]:
        """Of these, in full where they are held, else as far as a search showed them."""
        held = {item.item_id: item.text for item in observation.working_memory.items}
        texts = [held.get(name, self._trail.snippet(name)) for name in segment_ids]
        return tuple(line for text in texts for line in complaints(text))

    def _evidence(self, observation: TokenOptEnvObservation) -> tuple[str, ...]:
        """What is held, then what this question hit, then the rest of the trail.

        Papers and hearsay only where nothing else was hit: they speak for every suspect.
        """
        items = observation.working_memory.items
        held = [item.item_id for item in items if item.kind in (ItemKind.SEGMENT, ItemKind.COMPRESSED)]
        squeezed = {name for item in items if item.kind is ItemKind.COMPRESSED for name in item.source_ids}
        suspects = self._suspect_segments(observation)[:_SUSPECTS_SHOWN]
        if squeezed and suspects:
            on_paper = [item.item_id for item in items if item.source_ids and papers.is_paper(observation, item)]
            return (*on_paper, *suspects)
        ranked = dict.fromkeys([*suspects, *self._ordered_hits(), *self._trail.ranked()])
        shown = [name for name in ranked if name not in squeezed]
        first_hand = [name for name in shown if papers.is_first_hand(observation, name)]
        return (*held, *self._told, *(first_hand if len(first_hand) > 1 else shown))

    def _ordered_hits(self) -> list[str]:
        """Twice hit before once hit; where trouble was looked for, complaints before the rest."""
        hits = list(dict.fromkeys(self._hits))
        if self._knows_trouble:
            votes = {name: place for place, name in enumerate(self._trail.ranked())}
            hits.sort(key=lambda name: (not self._complains(name), votes.get(name, 0)))
        return hits

    def _ask(
        self,
        observation: TokenOptEnvObservation,
        subtask: Subtask,
        wanted: Sequence[str],
        before: RoutePayload | None = None,
    ) -> Steps:
        tokens = errands.context_tokens(observation, errands.handed_over(observation, wanted))
        share = self.share_nano_usd(observation)
        open_questions = questions.still_open(observation, self.done)
        cards = observation.models if before is None else menu.stronger(observation, before.model_id)
        offer = judgement.best_offer(cards, tokens, open_questions, _REST_NANO_USD, share)
        if offer is None:
            return observation
        card = next(card for card in cards if card.model_id == offer.model_id)
        return (yield from errands.ask(observation, subtask, card, offer.effort, wanted, share))

    def _ask_again(self, observation: TokenOptEnvObservation, subtask: Subtask, before: RoutePayload) -> Steps:
        """Somebody stronger, on more evidence: trouble if that was not looked for, else the question as it reads."""
        if self._knows_trouble:
            observation = yield from self._look(observation, [questions.wording(observation, subtask)])
        else:
            observation = yield from self._look_for_trouble(observation)
        return (yield from self._ask(observation, subtask, self._evidence(observation), before))


def _mention(items: Sequence[MemoryItem], words: Sequence[str]) -> bool:
    """Does any of these texts hold any of these words? What holds none would be cut blindly."""
    return any(word in item.text for item in items for word in words)


def _is_doubted(reply: RoutePayload) -> bool:
    return reply.finding_id is None or reply.confidence < _DOUBTED_CONFIDENCE


POLICY = PolicyInfo("expert", "searches twice, follows names, strips papers, paces its money", Expert)
