// Choosing: a case at the left, who plays it and under which rules at the right.
import { episodes } from "./episodes.js";
import { capital, count, inkOf, notice, waiting } from "./look.js";
import { server } from "./server.js";

const DIFFICULTIES = ["easy", "medium", "hard", "marathon"];
const FAMILIES = { incident: "var(--c1)", bugfix: "var(--c3)", ci: "var(--c6)" };
const MOST_SHOWN = 60;

export async function lobbyView(lobby, wantedId) {
  const state = { split: "core", family: "", chosen: null };
  const first = lobby.splits.find((each) => each.split === "core").rows;
  state.chosen = first.find((row) => row.scenario_id === wantedId) || first.find((row) => row.difficulty === "easy") || first[0] || null;
  if (wantedId && (!state.chosen || state.chosen.scenario_id !== wantedId)) state.chosen = { scenario_id: wantedId };
  const list = el("div", { class: "cases" });
  const panel = el("aside", { class: "card begin", "aria-label": "Begin an episode" });

  const choose = (row) => {
    state.chosen = row;
    drawList();
    drawPanel();
    const box = panel.getBoundingClientRect();
    if (box.bottom < 80 || box.top > window.innerHeight - 80) panel.scrollIntoView({ block: "center" });
  };
  const drawList = () => list.replaceChildren(...caseList(lobby, state, choose, drawList));
  const drawPanel = () => panel.replaceChildren(...beginForm(lobby, state.chosen));
  drawList();
  drawPanel();
  return {
    root: el("div", {},
      el("h1", {}, "Play a case, or watch one be played"),
      el("p", { class: "lead" }, "Far more evidence than fits into memory, and everything has a price: what you read, what you keep, whom you ask. Find the answer for as little as you can."),
      el("div", { class: "lobby" }, list, el("div", { class: "side" }, panel, earlier()))),
  };
}

function segments(label, names, current, choose) {
  return el("div", { class: "segments", role: "group", "aria-label": label },
    names.map(([value, text]) => el("button", { type: "button", "aria-pressed": String(value === current), on: { click: () => choose(value) } }, text)));
}

function caseList(lobby, state, choose, redraw) {
  const page = lobby.splits.find((each) => each.split === state.split);
  const set = (name) => (value) => { Object.assign(state, name === "split" ? { family: "" } : {}, { [name]: value }); redraw(); };
  const families = [...new Set(page.rows.map((row) => row.family))];
  const parts = [
    el("div", { class: "controls" },
      segments("Split", lobby.splits.map((each) => [each.split, capital(each.split)]), state.split, set("split")),
      families.length > 1 ? segments("Family", [["", "All"], ...families.map((name) => [name, name])], state.family, set("family")) : ""),
    page.absent ? "" : el("p", { class: "note" }, `${count(page.size)} ${page.size === 1 ? "case" : "cases"}, ${page.about}.`),
  ];
  if (page.absent) parts.push(el("p", { class: "card empty" }, `${capital(page.absent)}.`));
  if (page.by_index) parts.push(byIndex(page, choose));
  const rows = page.rows.filter((row) => !state.family || row.family === state.family);
  rows.sort((a, b) => DIFFICULTIES.indexOf(a.difficulty) - DIFFICULTIES.indexOf(b.difficulty));
  parts.push(el("div", { class: "case-grid", role: "group", "aria-label": "Case" }, rows.slice(0, MOST_SHOWN).map((row) => {
    const current = state.chosen && row.scenario_id === state.chosen.scenario_id;
    return el("button", { class: "case", type: "button", "aria-pressed": String(Boolean(current)), "data-case": row.scenario_id, on: { click: () => choose(row) } },
      el("span", { class: "case-top" },
        el("span", { class: "family", style: { color: inkOf(FAMILIES[row.family] || "var(--soft)") } }, row.family),
        el("span", { class: "stairs", "aria-label": row.difficulty, title: row.difficulty }, DIFFICULTIES.map((_, i) => el("i", { class: i <= DIFFICULTIES.indexOf(row.difficulty) ? "on" : "" })))),
      el("span", { class: "case-title" }, row.title),
      el("span", { class: "case-foot" }, `${row.difficulty} · ${count(row.artifact_tokens)} tokens of evidence`));
  })));
  if (rows.length > MOST_SHOWN) parts.push(el("p", { class: "note" }, `The first ${MOST_SHOWN} of ${rows.length} are shown; any other opens by its id.`));
  return parts;
}

function byIndex(page, choose) {
  const input = el("input", { type: "number", id: "place", min: 0, max: page.size - 1, value: 0, required: true, inputmode: "numeric" });
  const form = el("form", { class: "card by-index" },
    el("label", { for: "place" }, `Its place, 0 to ${count(page.size - 1)}`), input,
    el("button", { class: "ghost", type: "submit" }, "Choose"));
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    waiting(form, async () => choose({ ...(await server.caseAt(page.split, input.value)), place: input.value }));
  });
  return form;
}

function beginForm(lobby, row) {
  if (!row) return [el("p", { class: "note" }, "Choose a case.")];
  const named = (name, node) => el("label", { class: "line" }, el("span", {}, name), node);
  const select = (name, pairs) => el("select", { name }, pairs.map(([value, text]) => el("option", { value }, text)));
  const id = el("input", { name: "scenario_id", value: row.scenario_id, spellcheck: "false", required: true, maxlength: 120 });
  const worlds = [...Array(lobby.worlds).keys()];
  const policy = select("policy", lobby.policies.map((each) => [each.name, each.knows_truth ? `${each.name} ★` : each.name]));
  const about = el("p", { class: "note small-note" });
  const tell = () => { about.textContent = `${capital(lobby.policies.find((each) => each.name === policy.value).describes)}.`; };
  policy.addEventListener("change", tell);
  tell();
  const watch = el("div", { class: "watching", hidden: true }, named("Policy", policy), about);
  const button = el("button", { class: "act big", type: "submit" }, "Play");
  let who = "you";
  const choice = segments("Who plays", [["you", "I play"], ["policy", "I watch"]], who, (value) => {
    who = value;
    for (const [i, each] of [...choice.children].entries()) each.setAttribute("aria-pressed", String((i === 0) === (who === "you")));
    watch.hidden = who === "you";
    button.textContent = who === "you" ? "Play" : "Watch";
  });
  const form = el("form", {},
    el("h3", { class: "begin-title" }, row.title || "A case by its id"),
    row.place == null ? "" : el("p", { class: "note small-note" }, `Place ${row.place}. A generated case is made when it is first opened, which can take some seconds.`),
    named("Case", id), choice, watch,
    named("World", select("seed", worlds.map((seed) => [seed, `seed ${seed}`]))),
    el("details", {}, el("summary", {}, "Rules"),
      named("Profile", select("profile", [["v2", "v2: bounded memory"], ["v1", "v1: five actions, unbounded"]])),
      named("Track", select("track", [["controller", "controller: answer with findings"], ["solver", "solver: also in own words"]])),
      named("Prices", select("catalog", lobby.catalogs.map((name) => [name, name])))),
    button,
    lobby.reveal ? el("p", { class: "note small-note" }, "At the end the truth and the reference plan are shown, except on test.") : "");
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const given = Object.fromEntries(new FormData(form));
    const sitting = { ...given, scenario_id: given.scenario_id.trim(), seed: Number(given.seed), policy: who === "you" ? null : given.policy };
    button.disabled = true;
    waiting(form, async () => { location.hash = `#/play/${(await episodes.begin(sitting)).id}`; }).finally(() => { button.disabled = false; });
  });
  return [form];
}

function earlier() {
  if (!episodes.rows.length) return "";
  const box = el("div", { class: "card earlier" });
  const drawn = () => box.replaceChildren(
    el("h3", {}, "Your episodes"),
    el("ul", {}, episodes.rows.slice(0, 8).map((row) => el("li", {},
      el("a", { href: `#/play/${row.id}` },
        el("b", {}, row.title),
        el("span", {}, `${row.sitting.policy || "You"}, seed ${row.sitting.seed} · ${row.done ? (row.success ? "solved" : "not solved") : `step ${row.steps}`} · ${fmt.usd(row.costUsd)}`)),
      el("button", { class: "bare", type: "button", "aria-label": `Forget ${row.title}`, on: { click: () => { episodes.forget(row.id); drawn(); notice("Forgotten."); } } }, "✕")))));
  drawn();
  return box;
}
