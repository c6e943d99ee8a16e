// What an action brought: one rendering for each kind of result.
import { ACTIONS, capital, count, kindColor, modelName, place, spaced, sum, usd } from "./look.js";
import { read } from "./memory.js";
import { confidence, findingCard } from "./papers.js";

export function resultCard(frame, before, words) {
  const after = frame.observation, result = after.last_tool_result;
  const refused = result.status === "refused";
  const paid = sum(after.ledger, (entry) => entry.nano_usd);
  const reached = after.milestones.achieved_ids.filter((id) => !before.milestones.achieved_ids.includes(id) && after.milestones.listed_ids.includes(id));
  const events = after.done ? [] : after.guardrail_events.slice(before.guardrail_events.length);
  return el("section", { class: "card result", "aria-live": "polite", "aria-label": "What it brought" },
    el("div", { class: "result-head" },
      el("span", { class: "dot", style: { background: ACTIONS[frame.action.action_type].color } }),
      el("h3", {}, `${ACTIONS[frame.action.action_type].title}${refused ? ", refused" : ""}`),
      el("span", { class: "tokens" }, `step ${after.step} · ${usd(paid)}`)),
    el("p", { class: "said" }, frame.said),
    refused ? el("p", { class: "brought refused" }, capital(result.refusal.message)) : el("div", { class: "payload" }, payload(result.payload, after)),
    after.task.phase !== before.task.phase ? el("p", { class: "phase" }, "The context was reset: only notes are left of the phase before.") : "",
    reached.length || events.length ? el("div", { class: "tags" },
      reached.map((id) => el("span", { class: "tag good" }, capital(words.milestones[id] || id))),
      events.map((event) => el("span", { class: "tag bad" }, `${capital(words.guardrails[event.guardrail_id] || event.guardrail_id)}: ${event.message}`))) : "");
}

function payload(told, after) {
  switch (told.kind) {
    case "read": return told.access_mode === "full" ? itemTexts(told.item_ids, after) : [
      el("p", { class: "note small-note" }, `Page ${told.page} of ${told.pages}, of ${count(told.artifact_tokens)} tokens. These segments are surfaced now; load them, or hand them to a model.`),
      lines(told.outline.map((line) => [line.alias, line.segment_id, line.tokens, line.title]), after)];
    case "search": return told.hits.length ? lines(told.hits.map((hit) => [hit.alias, hit.segment_id, hit.tokens, hit.snippet]), after) : el("p", { class: "empty" }, "No segment has any of these words.");
    case "hydrate": return itemTexts(told.item_ids, after);
    case "restore": return itemTexts(told.item_ids, after);
    case "purge": return el("p", {}, `${told.purged_ids.length} dropped, ${count(told.tokens_freed)} tokens freed. What followed them in the prompt is read afresh.`);
    case "compress": return [el("p", {}, `From ${count(told.tokens_before)} to ${count(told.tokens_after)} tokens by ${spaced(told.method)}.`), itemTexts(told.item_ids, after)];
    case "cache": return told.hits.length ? told.hits.map((hit) => cacheHit(hit, after)) : el("p", { class: "empty" }, "No earlier result is near.");
    case "route": return reply(told, after);
    case "checkpoint": return el("p", {}, `Saved as ${told.checkpoint_id}, ${told.tokens} tokens: it outlives a reset.`);
    case "submit": return el("dl", { class: "answer" }, Object.entries(told.answer).flatMap(([name, value]) => [el("dt", {}, spaced(name)), el("dd", {}, value)]));
    default: return "";
  }
}

function lines(rows, after) {
  return el("ul", { class: "lines" }, rows.map(([alias, id, tokens, text]) => el("li", {},
    el("b", {}, `#${alias}`), el("span", { class: "where" }, place(after, id)), el("span", { class: "text" }, text), el("span", { class: "tokens" }, count(tokens)))));
}

function itemTexts(ids, after) {
  const held = after.working_memory.items.filter((item) => ids.includes(item.item_id));
  return held.map((item) => el("div", { class: "item-text", style: { borderLeftColor: kindColor(item.kind) } },
    el("div", { class: "item-head" }, el("b", {}, `#${item.alias}`), ` ${item.label}`, el("span", { class: "tokens" }, count(item.tokens)),
      el("button", { class: "ghost tiny", type: "button", on: { click: () => read(item) } }, "Read")),
    el("pre", {}, item.text)));
}

function cacheHit(hit, after) {
  const finding = after.findings.find((each) => each.finding_id === hit.finding_id);
  return el("div", { class: "hit" },
    el("p", { class: "note small-note" }, `${Math.round(100 * hit.similarity)} % alike, of ${hit.version}${hit.version === after.task.version ? " (this version)" : ` (now it is ${after.task.version})`}, ${hit.age_hours} h old: ${hit.question}`),
    finding ? findingCard(after, finding, true, null, null) : "");
}

function reply(told, after) {
  const finding = after.findings.find((each) => each.finding_id === told.finding_id);
  if (finding) return findingCard(after, finding, true, told, null);
  return el("article", { class: "finding lost" },
    el("div", { class: "finding-head" }, el("b", {}, modelName(after, told.model_id)), el("span", { class: "tag bad" }, "evidence does not suffice"), el("span", { class: "tokens" }, usd(told.nano_usd))),
    confidence(told.confidence), el("p", { class: "finding-text" }, told.text));
}
