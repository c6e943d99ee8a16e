// Working memory as a bar that fills, and what is left of each budget.
import { KINDS, capital, count, kindColor, reader, seconds, usd } from "./look.js";

const TIGHT = 0.6, SPENT = 0.85;
let listed = false; // whether the items are listed under the bar; it stays so from step to step

export function memoryCard(observation, before) {
  const memory = observation.working_memory, bound = memory.token_budget;
  const held = new Set(before ? before.working_memory.items.map((item) => item.item_id) : []);
  const left = bound == null ? 0 : bound - memory.token_budget_used;
  const bar = el("div", { class: "membar", role: "group", "aria-label": "Working memory" },
    memory.items.map((item) => {
      const node = el("button", {
        type: "button", class: before && !held.has(item.item_id) ? "new" : "",
        "aria-label": `${item.kind} ${item.alias}, ${item.tokens} tokens: read it`,
        style: { flexGrow: String(item.tokens), background: kindColor(item.kind) }, on: { click: () => read(item) },
      }, el("span", {}, `#${item.alias}`));
      return tipped(node, `#${item.alias} ${item.kind}, ${count(item.tokens)} tokens\n${item.label}`);
    }),
    left > 0 ? el("span", { class: "free", style: { flexGrow: String(left) } }, left / bound > 0.2 ? `${count(left)} free` : "") : "");
  const kinds = KINDS.filter((kind) => memory.items.some((item) => item.kind === kind));
  return el("section", { class: "card memory-card", "aria-label": "Memory and budgets" },
    el("div", { class: "memory-head" },
      el("h3", {}, "Working memory"),
      el("b", { class: "used" }, `${count(memory.token_budget_used)}${bound == null ? "" : ` of ${count(bound)}`} tokens`)),
    bar,
    kinds.length ? items(memory.items, kinds) : el("p", { class: "legend" }, "Empty. Everything you are told lands here, and is paid for again at every step until you drop it."),
    gauges(observation));
}

export function read(item) {
  reader(`#${item.alias} ${item.label}, ${count(item.tokens)} tokens`, item.text, item.kind);
}

function items(held, kinds) {
  const box = el("details", { class: "items", open: listed },
    el("summary", {}, legend(kinds.map((kind) => ({ label: kind, color: kindColor(kind) }))), el("span", { class: "tokens" }, held.length === 1 ? "1 item" : `${held.length} items`)),
    el("div", { class: "chips-row" }, held.map((item) =>
      el("button", { class: "chip-button", type: "button", style: { borderLeftColor: kindColor(item.kind) }, on: { click: () => read(item) } },
        el("b", {}, `#${item.alias}`), ` ${item.label}`, el("span", {}, ` ${count(item.tokens)}`)))));
  box.addEventListener("toggle", () => { listed = box.open; });
  return box;
}

function gauges(observation) {
  const budgets = observation.budgets;
  const gauge = (name, budget, spent, limit) => {
    const share = Math.min(1, budget.spent / budget.limit);
    const color = share < TIGHT ? "var(--accent)" : share < SPENT ? "var(--star)" : "var(--bad)";
    return el("div", { class: "gauge" },
      el("span", { class: "what" }, name), el("b", {}, spent), el("span", { class: "of" }, ` of ${limit}`),
      el("div", { class: "meter", role: "meter", "aria-label": capital(name), "aria-valuemin": 0, "aria-valuemax": budget.limit, "aria-valuenow": budget.spent },
        el("i", { style: { width: `${100 * share}%`, background: color } })));
  };
  return el("div", { class: "gauges" },
    gauge("money", budgets.nano_usd, usd(budgets.nano_usd.spent), usd(budgets.nano_usd.limit)),
    gauge("steps", budgets.steps, String(budgets.steps.spent), String(budgets.steps.limit)),
    gauge("tokens", budgets.tokens, count(budgets.tokens.spent), count(budgets.tokens.limit)),
    gauge("time", budgets.latency_ms, seconds(budgets.latency_ms.spent), seconds(budgets.latency_ms.limit)));
}
