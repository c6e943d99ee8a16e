"""The best honest hand: searches in the words of the question, trusts what was seen over what was said, paces money.

What it knows of the trade, and nothing of any case:
- a question mostly says in which words its evidence is written, so one search finds it;
- tickets and chats tell what people guess: they are handed over last, unless they name what the question names;
- a question about all of something needs all of it: what the handles leave over is loaded, squeezed if need be. That is
  so dear that the cache is asked first whether somebody has been through it already;
- which model is worth its price follows from what the rest of the episode costs;
- a second opinion costs more than it tells, unless the first one says that it has nothing to go on: then what is
  loud in the logs is read instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from TokenOptEnv import questions
from TokenOptEnv.config import CACHE_MAX_HITS, FINDING_CAP_TOKENS, ROUTE_MAX_HANDLES, SEARCH_MAX_TOP_K
from TokenOptEnv.models import ArtifactKind, Effort, ModelCard, SearchPayload, Subtask, TokenOptEnvObservation
from TokenOptEnv.policies import cache_first, desk, errands, judgement, survey
from TokenOptEnv.policies.base import PolicyInfo
from TokenOptEnv.policies.script import Scripted, Steps
from TokenOptEnv.policies.symptoms import LOUD_WORDS
from TokenOptEnv.simulators import terms

_TOP_K = 6
_STEPS_TO_ASK_BEFORE_GATHERING = 10
"""With fewer, a cache that holds nothing would cost the answer itself."""
_STEPS_TO_GATHER = 4
_STEPS_TO_LOAD = 4
_STEPS_TO_TRY_AGAIN = 3
_CAUTION = 2
"""The rest counts so much: one wrong answer, and all of it was spent for nothing."""
_HEARSAY = (ArtifactKind.TICKET, ArtifactKind.CHAT)
_ABOUT_ALL = re.compile(
    r"\b(?:all|each|every|over|one by one|side by side|host by host|going through|nights|results)\b", re.I
)
_ABOUT_HISTORY = re.compile(r"\b(?:commit|checkout|checked out|runs?|nights?|nightly)\b", re.I)
SINCE_WHEN = "since which commit or run lasting failure"
"""In what words others will have asked about a history; an earlier result goes by its own question."""
_HINTS = re.compile(r"\b(?:Traces of it|Look for|Keywords)\b.*", re.DOTALL)
"""Words of the evidence, which an earlier question will not have had."""
_YOUNG_HOURS = 24
_NAME = re.compile(r"\b(?=[\w-]*\d)[a-z]+-[0-9a-f]+\b|\b(?=[0-9a-f]*\d)[0-9a-f]{7,12}\b")
"""An id of a request, a commit, a customer, a change."""


class Expert(Scripted):
    def answer(self, observation: TokenOptEnvObservation, subtask: Subtask) -> Steps:
        wording = questions.wording(observation, subtask)
        about_all = is_about_all(wording)
        if about_all and self.spare_steps(observation) >= _STEPS_TO_ASK_BEFORE_GATHERING:
            observation = yield from self._ask_cache(observation, wording)
            if subtask.subtask_id in self.done:
                return observation
        query = " ".join(terms.distinct(wording))
        observation = yield from errands.look_up(observation, query, SEARCH_MAX_TOP_K if about_all else _TOP_K)
        hits = errands.found(observation)
        wanted = trusted_first(observation, hits, wording)[: ROUTE_MAX_HANDLES[observation.task.profile]]
        spread_out = survey.spread_out(observation, hits, about_all)
        if spread_out is not None and self.spare_steps(observation) >= _STEPS_TO_GATHER:
            observation = yield from survey.gather(observation, spread_out, wording)
            wanted = survey.gathered(observation, spread_out)
        elif about_all and self.spare_steps(observation) >= _STEPS_TO_LOAD:
            beyond = hits[ROUTE_MAX_HANDLES[observation.task.profile] :]
            needed = errands.loaded_tokens(observation, beyond) + FINDING_CAP_TOKENS
            observation = yield from errands.make_room(observation, needed)
            observation = yield from errands.load(observation, beyond, FINDING_CAP_TOKENS)
            wanted = hits
        if subtask not in questions.askable(observation, self.done):
            return observation
        observation = yield from self.ask(observation, subtask, wanted)
        reply = errands.reply(observation, subtask)
        has_nothing_to_go_on = reply is not None and reply.finding_id is None
        if has_nothing_to_go_on and self.spare_steps(observation) >= _STEPS_TO_TRY_AGAIN:
            observation = yield from errands.look_up(observation, LOUD_WORDS, _TOP_K)
            loud = trusted_first(observation, errands.found(observation), wording)
            observation = yield from self.ask(observation, subtask, (*wanted[:1], *loud))
        return observation

    def _ask_cache(self, observation: TokenOptEnvObservation, wording: str) -> Steps:
        """A young result of this version settles its question, once what it cites is read."""
        observation = yield from errands.make_room(observation, CACHE_MAX_HITS * FINDING_CAP_TOKENS)
        if desk.room_tokens(observation) < CACHE_MAX_HITS * FINDING_CAP_TOKENS:
            return observation
        observation = yield from errands.query_cache(observation, as_asked_before(wording))
        self.distrusted.update(each.finding_id for each in cache_first.outdated(observation, _YOUNG_HOURS))
        settled = {finding.subtask_id for finding in cache_first.trusted(observation, _YOUNG_HOURS)}
        if settled:
            observation = yield from cache_first.settle(observation, _YOUNG_HOURS)
        self.done.update(settled)
        return observation

    def ask(self, observation: TokenOptEnvObservation, subtask: Subtask, wanted: Sequence[str]) -> Steps:
        tokens = errands.context_tokens(observation, errands.handed_over(observation, wanted))
        share = self.share_nano_usd(observation)
        chosen = self.offer(observation, tokens, share)
        if chosen is None:
            return observation
        card, effort = chosen
        return (yield from errands.ask(observation, subtask, card, effort, wanted, share))

    def offer(
        self, observation: TokenOptEnvObservation, context_tokens: int, share_nano_usd: int
    ) -> tuple[ModelCard, Effort] | None:
        """Whom to ask and how hard to think; nobody where the money reaches for none."""
        calls, rest = len(observation.task.subtasks), _rest_nano_usd(observation)
        offer = judgement.best_offer(observation.models, context_tokens, calls, rest, share_nano_usd)
        if offer is None:
            return None
        return next(card for card in observation.models if card.model_id == offer.model_id), offer.effort


def is_about_all(wording: str) -> bool:
    """A question about all of something, for which a few segments are not enough."""
    return _ABOUT_ALL.search(wording) is not None


def as_asked_before(wording: str) -> str:
    """A question in the words in which somebody else will have asked it."""
    return SINCE_WHEN if is_about_history(wording) else _HINTS.sub("", wording)


def is_about_history(wording: str) -> bool:
    return _ABOUT_HISTORY.search(wording) is not None


def _rest_nano_usd(observation: TokenOptEnvObservation) -> int:
    """What the episode costs besides its calls, roughly: two steps a question and one to end, like those so far."""
    called = sum(each.nano_usd for each in observation.routing.routes)
    own = observation.budgets.nano_usd.spent - called
    steps = max(observation.step + 1, 2 * len(observation.task.subtasks) + 1)
    return _CAUTION * own * steps // max(1, observation.step)


def trusted_first(observation: TokenOptEnvObservation, hits: Sequence[str], wording: str) -> tuple[str, ...]:
    """Hits as ranked, but talk goes last unless it names something that the question names."""
    names = _NAME.findall(wording)
    last = observation.last_tool_result
    payload = last.payload if last is not None else None
    snippets = {hit.segment_id: hit.snippet for hit in payload.hits} if isinstance(payload, SearchPayload) else {}

    def is_talk(segment_id: str) -> bool:
        artifact = errands.artifact_of(observation, segment_id)
        said = snippets.get(segment_id, "")
        return artifact is not None and artifact.kind in _HEARSAY and not any(name in said for name in names)

    return tuple(sorted(hits, key=is_talk))


POLICY = PolicyInfo("expert", "searches in the question's words, trusts logs over talk, paces its money", Expert)
