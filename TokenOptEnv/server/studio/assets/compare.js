// Two episodes side by side: what came of them, where their money went, and what each did at every step.
import { episodes, sameCase } from "./episodes.js";
import { SIDES, count, kindColor, usd, verdict, waiting } from "./look.js";
import { ledgerTotals } from "./papers.js";
import { resultCard } from "./result.js";
import { stepList } from "./score.js";
import { memoryKinds, memoryStrip, memoryTop, moneyChart, promptStrip, promptTop } from "./strips.js";

export async function compareView(lobby, first, second) {
  const rows = episodes.rows;
  if (!rows.length) return { title: "Compare", root: el("div", { class: "card sorry" }, el("p", {}, "There is nothing to compare yet: play or watch an episode first."), el("a", { class: "act", href: "#/" }, "To the cases")) };
  const left = first || rows[0].id;
  const here = rows.find((row) => row.id === left);
  const other = second || (rows.find((row) => row.id !== left && here && sameCase(row.sitting, here.sitting)) || {}).id;
  const pair = [await episodes.find(left), ...(other ? [await episodes.find(other)] : [])];
  const root = el("div", { class: "compare" });
  const at = [0, 0];
  const redraw = () => root.replaceChildren(
    el("h1", {}, "Two episodes, side by side"),
    el("div", { class: "pickers" }, pickers(lobby, pair)),
    pair.length === 2 && !sameCase(pair[0].sitting, pair[1].sitting) ? el("p", { class: "note" }, "These are not the same case under the same rules: figures can be looked at, not compared.") : "",
    ...(pair.length === 2 ? body(lobby, pair, at, redraw) : [el("p", { class: "note" }, "Choose a second one, or let a policy play the same case.")]));
  redraw();
  return { title: "Compare", root };
}

const label = (row) => `${row.done ? (row.success ? "✓ " : "✗ ") : ""}${row.sitting.policy || "You"} · ${row.title} · seed ${row.sitting.seed}`;

function pickers(lobby, pair) {
  const go = (a, b) => { location.hash = `#/compare/${a}${b ? `/${b}` : ""}`; };
  const pick = (side) => {
    const select = el("select", { "aria-label": side ? "Second episode" : "First episode", on: { change: () => (side ? go(pair[0].id, select.value) : go(select.value, pair[1] && pair[1].id)) } },
      side && !pair[1] ? el("option", { value: "" }, "choose…") : "",
      episodes.rows.map((row) => el("option", { value: row.id, selected: Boolean(pair[side]) && pair[side].id === row.id }, label(row))));
    return el("label", { class: "picker" }, el("span", { class: "dot", style: { background: SIDES[side] } }), select);
  };
  const policy = el("select", { "aria-label": "Policy" }, lobby.policies.map((each) => el("option", { value: each.name }, each.name)));
  const button = el("button", { class: "ghost", type: "button", "data-compare": "play" }, "Let it play this case");
  button.addEventListener("click", () => {
    button.disabled = true;
    waiting(button, async () => go(pair[0].id, (await episodes.beside(pair[0].sitting, policy.value, true)).id)).finally(() => { button.disabled = false; });
  });
  return [pick(0), pick(1), el("div", { class: "picker" }, policy, button)];
}

function body(lobby, pair, at, redraw) {
  const steps = Math.max(1, ...pair.map((episode) => episode.steps.length));
  const names = pair.map((episode) => episode.player);
  const charts = (title, render, below) => el("section", { class: "card" }, el("h3", {}, title),
    el("div", { class: "grid2" }, pair.map((episode, side) => el("div", {}, el("p", { class: "side-name" }, el("span", { class: "dot", style: { background: SIDES[side] } }), names[side]), responsive((width) => render(episode, width))))), below);
  const memory = memoryTop(pair), prompt = promptTop(pair);
  return [
    el("div", { class: "grid2 top-pair" }, figures(pair, names), el("section", { class: "card" }, el("h3", {}, "Money spent"), responsive((width) => moneyChart(pair, width, steps)),
      legend([...pair.map((_, side) => ({ label: names[side], color: SIDES[side] })), { label: "the reference's price", color: "var(--star)" }]))),
    charts("Working memory after each step", (episode, width) => memoryStrip(episode, width, steps, memory), legend(memoryKinds(pair).map((kind) => ({ label: kind, color: kindColor(kind) })))),
    charts("Tokens read at each step", (episode, width) => promptStrip(episode, width, steps, prompt), legend([{ label: "read from the prompt cache", color: "var(--c2)" }, { label: "fresh", color: "var(--c10)" }])),
    el("div", { class: "grid2 lists" }, pair.map((episode, side) => el("section", { class: "card" },
      stepList(episode, names[side], SIDES[side], at[side], (i) => { at[side] = i; redraw(); })))),
    el("div", { class: "grid2 lists" }, pair.map((episode, side) => (episode.steps.length ? resultCard(episode.frames[at[side] + 1], episode.frames[at[side]].observation, lobby.words) : el("div")))),
  ];
}

function figures(pair, names) {
  const totals = pair.map((episode) => ledgerTotals(episode.frames));
  const score = (side) => pair[side].now.score;
  const scored = (value, show) => pair.map((_, side) => (score(side) ? show(value(score(side))) : "–"));
  const cached = (total) => `${Math.round((100 * total.cached) / (total.cached + total.fresh || 1))} %`;
  const peak = (episode) => Math.max(0, ...episode.frames.map((frame) => frame.observation.working_memory.token_budget_used));
  const rows = [
    ["return", scored((each) => each.total_return, (value) => value.toFixed(3))],
    ["SCE", scored((each) => each.sce, (value) => value.toFixed(3))],
    ["cost", totals.map((total) => usd(total.nano))],
    ["of it deciding", totals.map((total) => usd(total.deciding))],
    ["of it asking models", totals.map((total) => usd(total.asking))],
    ["by the reference's", scored((each) => (each.reference_nano_usd ? each.cost_nano_usd / each.reference_nano_usd : null), (value) => (value == null ? "–" : `${value.toFixed(2)}×`))],
    ["steps", pair.map((episode) => String(episode.steps.length))],
    ["tokens read", totals.map((total) => count(total.cached + total.fresh))],
    ["from the prompt cache", totals.map(cached)],
    ["fullest memory", pair.map((episode) => `${count(peak(episode))} tokens`)],
  ];
  return el("section", { class: "card" }, el("table", { class: "small figures" },
    el("thead", {}, el("tr", {}, el("th", {}, ""), pair.map((episode, side) => el("th", {}, el("a", { href: `#/play/${episode.id}` }, el("span", { class: "dot", style: { background: SIDES[side] } }), names[side]))))),
    el("tbody", {}, el("tr", {}, el("td", {}, "outcome"), pair.map((episode, side) => el("td", {}, score(side) ? verdict(score(side)) : "still played"))),
      rows.map(([name, values]) => el("tr", {}, el("td", {}, name), values.map((value) => el("td", { class: "num" }, value)))))));
}
