// What lies around the table, each on a page of its own: the case, its artifacts, the findings, the ledger, the reward.
import { TERM_COLORS, capital, count, modelName, place, seconds, spaced, sum, usd } from "./look.js";
import { read } from "./memory.js";

const MOST_CITES = 8;
export const PAPERS = [
  ["case", "Case"], ["artifacts", "Artifacts"], ["findings", "Findings"], ["ledger", "Ledger"], ["reward", "Reward"],
];

// `frames` ends with the moment that is shown; `offer(kind, values)` opens a form, where one may act.
export function paper(name, frames, words, offer) {
  const observation = frames[frames.length - 1].observation;
  switch (name) {
    case "case": return casePaper(observation);
    case "artifacts": return artifactPaper(observation, offer);
    case "findings": return findingPaper(observation, frames, offer);
    case "ledger": return ledgerPaper(frames);
    default: return rewardPaper(observation, words);
  }
}

function casePaper(observation) {
  const task = observation.task;
  const answered = (subtask) => observation.findings.filter((finding) => finding.subtask_id === subtask.subtask_id);
  const price = (pico) => `$${(pico / 1e6).toLocaleString("en-US", { maximumFractionDigits: 3 })}`;
  return [
    el("p", { class: "brief" }, task.brief),
    task.phases > 1 ? el("p", { class: "phase" }, `Phase ${task.phase + 1} of ${task.phases}${task.phase_ends_at_step == null ? ", the last one." : `: it ends at step ${task.phase_ends_at_step}, or with a note that answers every question.`}`) : "",
    el("h4", {}, "Questions"),
    el("ol", { class: "questions" }, task.subtasks.map((subtask) => el("li", { class: answered(subtask).length ? "done" : "" },
      subtask.question, el("span", { class: "fields" }, subtask.fields.map(spaced).join(", "))))),
    el("h4", {}, "Models, dollars per million tokens"),
    el("div", { class: "scroll" }, el("table", { class: "small" },
      el("thead", {}, el("tr", {}, ["model", "tier", "in", "cached", "out"].map((head) => el("th", {}, head)))),
      el("tbody", {}, observation.models.map((card) => el("tr", {},
        el("td", {}, card.name), el("td", {}, card.tier),
        [card.input_pico_usd, card.cache_read_pico_usd, card.output_pico_usd].map((pico) => el("td", { class: "num" }, price(pico)))))))),
    el("p", { class: "note small-note" }, `Your own decisions are billed as ${observation.stamp.controller_model}. Evidence is of version ${task.version}.`),
  ];
}

function artifactPaper(observation, offer) {
  const surfaced = new Map(observation.surfaced.map((handle) => [handle.segment_id, handle]));
  const held = new Map(), part = new Map();
  for (const item of observation.working_memory.items)
    for (const id of item.source_ids) (item.kind === "segment" ? held : item.kind === "compressed" ? part : new Map()).set(id, item);
  const cell = (artifact, number) => {
    const id = `${artifact.artifact_id}-s${number}`, handle = surfaced.get(id);
    const item = held.get(id) || part.get(id);
    const told = `s${number}${handle ? `, #${handle.alias}, ${handle.tokens} tokens` : ""}`;
    if (item) return tipped(el("button", { type: "button", class: held.has(id) ? "cell held" : "cell part", "aria-label": `${told}: read it`, on: { click: () => read(item) } }), `${told}\n${held.has(id) ? "in memory" : "in memory, compressed"}: click to read`);
    if (handle && offer) return tipped(el("button", { type: "button", class: "cell seen", "aria-label": `${told}: load it`, on: { click: () => offer("HYDRATE_SEGMENTS", { context_segment_ids: [id] }) } }), `${told}\nsurfaced: click to load`);
    return tipped(el("span", { class: handle ? "cell seen" : "cell" }), `${told}\n${handle ? "surfaced" : "not shown yet"}`);
  };
  const open = new Set(observation.legal_actions.choices.artifacts || []);
  return [
    legend([{ label: "not shown yet", color: "var(--line)" }, { label: "surfaced", color: "var(--k-preview)" }, { label: "in memory", color: "var(--k-segment)" }, { label: "compressed", color: "var(--k-compressed)" }]),
    el("ul", { class: "artifacts" }, observation.artifacts.map((artifact) => el("li", {},
      el("div", { class: "artifact-head" },
        el("b", {}, `A${artifact.alias}`), el("span", { class: "kind" }, spaced(artifact.kind)),
        el("span", { class: "artifact-title" }, artifact.title),
        el("span", { class: "tokens" }, count(artifact.tokens)),
        offer && open.has(artifact.artifact_id) ? el("button", { class: "ghost tiny", type: "button", on: { click: () => offer("READ_ARTIFACT", { artifact_id: artifact.artifact_id }) } }, "Open") : ""),
      el("div", { class: "cells" }, [...Array(artifact.segments).keys()].map((i) => cell(artifact, i + 1)))))),
  ];
}

function findingPaper(observation, frames, offer) {
  const seen = new Map();
  for (const frame of frames) for (const finding of frame.observation.findings) seen.set(finding.finding_id, finding);
  const held = new Set(observation.findings.map((finding) => finding.finding_id));
  const routes = observation.routing.routes, open = new Set(observation.legal_actions.choices.routes || []);
  const parts = [...seen.values()].reverse().map((finding) => {
    const route = routes.find((each) => each.finding_id === finding.finding_id);
    return findingCard(observation, finding, held.has(finding.finding_id), route,
      offer && route && open.has(route.route_id) ? () => offer("ESCALATE_ROUTE", { route_id: route.route_id }) : null);
  });
  const silent = routes.filter((route) => !route.finding_id);
  if (!parts.length && !silent.length) parts.push(el("p", { class: "empty" }, "None yet. A finding is a model's answer to a question, or an earlier one from the cache."));
  for (const route of silent)
    parts.push(el("article", { class: "finding lost" }, el("div", { class: "finding-head" }, el("b", {}, modelName(observation, route.model_id)), el("span", { class: "tag" }, "evidence did not suffice"), el("span", { class: "tokens" }, usd(route.nano_usd)))));
  if (observation.checkpoints.length)
    parts.push(el("h4", {}, "Notes"), ...observation.checkpoints.map((note) => el("p", { class: "checkpoint" }, el("b", {}, note.checkpoint_id), ` ${note.tokens} tokens${note.finding_ids.length ? `, ${note.finding_ids.length} findings` : ""}. ${note.note}`)));
  return parts;
}

export function findingCard(observation, finding, held, route, escalate) {
  const number = observation.task.subtasks.findIndex((each) => each.subtask_id === finding.subtask_id) + 1;
  const item = observation.working_memory.items.find((each) => each.finding_ids.includes(finding.finding_id));
  const stale = finding.source === "cache" && finding.version !== observation.task.version;
  return el("article", { class: `finding${held ? "" : " lost"}` },
    el("div", { class: "finding-head" },
      el("b", {}, `${item ? `#${item.alias} ` : ""}${number ? `Q${number}` : finding.subtask_id}`),
      el("span", {}, finding.source === "cache" ? `earlier result, ${finding.age_hours} h old` : modelName(observation, finding.model_id)),
      stale ? el("span", { class: "tag bad" }, `of ${finding.version}`) : "",
      held ? "" : el("span", { class: "tag" }, "no longer held"),
      route ? el("span", { class: "tokens" }, usd(route.nano_usd)) : ""),
    el("dl", { class: "answer" }, Object.entries(finding.values).flatMap(([name, value]) => [el("dt", {}, spaced(name)), el("dd", {}, value)])),
    confidence(finding.confidence),
    el("p", { class: "finding-text" }, finding.text),
    el("p", { class: "cites" }, cites(observation, finding.cites),
      escalate ? el("button", { class: "ghost tiny", type: "button", on: { click: escalate } }, "Ask a stronger model") : ""));
}

function cites(observation, ids) {
  if (!ids.length) return "cites nothing";
  const names = ids.map((id) => place(observation, id));
  if (names.length <= MOST_CITES) return `cites ${names.join(", ")}`;
  return tipped(el("span", { tabindex: 0 }, `cites ${names.slice(0, MOST_CITES).join(", ")} and ${names.length - MOST_CITES} more`), names.join(", "));
}

export function confidence(value) {
  return el("div", { class: "confidence" },
    el("div", { class: "meter", role: "meter", "aria-label": "Confidence", "aria-valuemin": 0, "aria-valuemax": 1, "aria-valuenow": value },
      el("i", { style: { width: `${100 * value}%`, background: "var(--k-finding)" } })),
    el("span", {}, `confidence ${value.toFixed(2)}`));
}

export function ledgerTotals(frames) {
  const entries = frames.flatMap((frame) => frame.observation.ledger);
  const total = (name, who) => sum(entries.filter((entry) => !who || entry.who === who), (entry) => entry[name]);
  return {
    entries, nano: total("nano_usd"), cold: total("cold_nano_usd"), deciding: total("nano_usd", "controller"), asking: total("nano_usd", "worker"),
    fresh: total("fresh_tokens"), cached: total("cached_tokens"), output: total("output_tokens"), ms: total("latency_ms"),
  };
}

export function shares(label, parts) {
  const whole = sum(parts, (part) => part.value) || 1;
  return el("div", { class: "shares" },
    el("div", { class: "shares-bar", role: "img", "aria-label": `${label}: ${parts.map((part) => `${part.label} ${part.text}`).join(", ")}` },
      parts.filter((part) => part.value).map((part) => el("i", { style: { flexGrow: String(part.value / whole), background: part.color } }))),
    el("div", { class: "legend" }, parts.map((part) => el("span", {}, el("i", { style: { background: part.color } }), `${part.label} `, el("b", {}, part.text)))));
}

function ledgerPaper(frames) {
  const all = ledgerTotals(frames);
  if (!all.entries.length) return [el("p", { class: "empty" }, "Nothing has been billed yet. Each step bills the prompt you decide on; asking a model bills it as well.")];
  const read = all.fresh + all.cached || 1;
  return [
    shares("Money", [
      { label: "deciding", value: all.deciding, text: usd(all.deciding), color: "var(--c0)" },
      { label: "asking models", value: all.asking, text: usd(all.asking), color: "var(--c1)" }]),
    shares("Tokens read", [
      { label: "cached", value: all.cached, text: `${count(all.cached)} (${Math.round((100 * all.cached) / read)} %)`, color: "var(--c2)" },
      { label: "fresh", value: all.fresh, text: count(all.fresh), color: "var(--c10)" }]),
    el("p", { class: "note small-note" }, `${usd(all.nano)} in all; without any prompt cache it would have been ${usd(all.cold)}.`),
    el("div", { class: "scroll" }, el("table", { class: "small ledger" },
      el("thead", {}, el("tr", {}, ["step", "who", "read: cached and fresh", "out", "time", "cost"].map((head) => el("th", {}, head)))),
      el("tbody", {}, [...all.entries].reverse().map((entry) => {
        const whole = entry.fresh_tokens + entry.cached_tokens || 1;
        const widest = Math.max(...all.entries.map((each) => each.fresh_tokens + each.cached_tokens)) || 1;
        return el("tr", {},
          el("td", { class: "num" }, String(entry.step)),
          el("td", {}, entry.who === "controller" ? "deciding" : entry.model_id),
          el("td", {}, el("span", { class: "twin", style: { width: `${Math.max(8, (90 * whole) / widest)}px` } },
            el("i", { style: { flexGrow: String(entry.cached_tokens / whole), background: "var(--c2)" } }),
            el("i", { style: { flexGrow: String(entry.fresh_tokens / whole), background: "var(--c10)" } })),
            ` ${count(entry.cached_tokens)} + ${count(entry.fresh_tokens)}`),
          el("td", { class: "num" }, count(entry.output_tokens)), el("td", { class: "num" }, seconds(entry.latency_ms)), el("td", { class: "num" }, usd(entry.nano_usd)));
      })))),
  ];
}

function rewardPaper(observation, words) {
  const reward = observation.reward_breakdown;
  const reached = new Set(observation.milestones.achieved_ids);
  return [
    el("p", { class: "sofar" }, "So far ", el("b", {}, fmt.signed(reward.total)), observation.step ? `, this step ${fmt.signed(reward.step)}` : ""),
    termBars(observation.score ? observation.score.terms : reward.so_far, words),
    observation.score ? "" : el("p", { class: "note small-note" }, "Success, efficiency, routing, precision and what only the truth can tell are settled at the end."),
    el("h4", {}, "Milestones"),
    el("ul", { class: "ticks" }, [...observation.milestones.listed_ids, ...(observation.done ? words.truth_milestones : [])].map((id) =>
      el("li", { class: reached.has(id) ? "yes" : "" }, capital(words.milestones[id] || id)))),
    el("h4", {}, "Guardrails"),
    observation.guardrail_events.length
      ? el("ul", { class: "ticks" }, observation.guardrail_events.map((event) => el("li", { class: "no" }, `Step ${event.step}: ${words.guardrails[event.guardrail_id] || event.guardrail_id} (${event.message}), −${(words.penalties[event.guardrail_id] || 0).toFixed(2)}`)))
      : el("p", { class: "empty" }, "None was touched."),
  ];
}

export function termBars(terms, words) {
  const values = Object.fromEntries(terms.map((term) => [term.term, term.value]));
  return el("div", { class: "terms" }, words.terms.map((term) => {
    const value = values[term.term] || 0, most = term.most || 0.15;
    return tipped(el("div", { class: "term" },
      el("span", {}, spaced(term.term)),
      el("div", { class: "meter" }, el("i", { style: { width: `${(100 * Math.min(most, Math.abs(value))) / most}%`, background: TERM_COLORS[term.term] } })),
      el("b", {}, value ? fmt.signed(value) : "0"), el("span", { class: "of" }, term.most ? `of ${term.most.toFixed(2)}` : "")), capital(term.means));
  }));
}

