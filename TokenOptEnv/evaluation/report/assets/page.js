
// Puts the page together from its data.
const TERMS = [
  { name: "success", label: "success", color: "var(--c2)" },
  { name: "efficiency", label: "efficiency", color: "var(--c0)" },
  { name: "routing", label: "routing", color: "var(--c6)" },
  { name: "evidence_precision", label: "evidence precision", color: "var(--c7)" },
  { name: "truth_milestones", label: "truth milestones", color: "var(--c3)" },
  { name: "process_milestones", label: "process milestones", color: "var(--c4)" },
  { name: "partial", label: "partial credit", color: "var(--c10)" },
  { name: "guardrails", label: "guardrails", color: "var(--c5)" },
];
const SPENDING = [
  { name: "reading", label: "reading: first sight", color: "var(--c0)" },
  { name: "re_reading", label: "re-reading: held and paid again", color: "var(--c10)" },
  { name: "acting", label: "acting", color: "var(--c6)" },
  { name: "routing", label: "routing: the answer rests on it", color: "var(--c2)" },
  { name: "waste", label: "waste: refused or unused", color: "var(--c5)" },
];
const ACTION_COLORS = {
  READ_ARTIFACT: "var(--c0)", SEARCH_ARTIFACTS: "var(--c6)", HYDRATE_SEGMENTS: "var(--c7)", PURGE_MEMORY: "var(--c10)",
  COMPRESS_CONTEXT: "var(--c8)", QUERY_CACHE: "var(--c4)", ROUTE_SUBTASK: "var(--c1)", ESCALATE_ROUTE: "var(--c5)",
  WRITE_CHECKPOINT: "var(--c9)", RESTORE_CHECKPOINT: "var(--c11)", SUBMIT_ANSWER: "var(--c2)", MALFORMED: "var(--faint)",
};
const MEASURES = [
  { name: "sce", label: "SCE", show: fmt.share, better: 1 },
  { name: "success", label: "Success", show: fmt.percent, better: 1 },
  { name: "return", label: "Return", show: fmt.share, better: 1 },
  { name: "usd_per_task", label: "$ a task", show: fmt.usd, better: -1 },
  { name: "usd_per_solved", label: "$ a solved task", show: fmt.usd, better: -1 },
  { name: "regret_usd", label: "Regret", show: fmt.usd, better: -1 },
];

async function unpacked() {
  const text = document.getElementById("data").textContent;
  const bytes = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

function named(policy, color, extra) {
  return el("span", { class: "name" }, policy.knows_truth ? el("span", { class: "star", title: "knows the truth" }, "★") : el("span", { class: "dot", style: { background: color } }), policy.name, extra || "");
}

function boardTable(report, policies, colors) {
  const gaps = Object.fromEntries(report.board.steps.map((step) => [step.worse, step]));
  const heads = ["policy", "SCE", "", "solved", "return", "$ a task", "$ a solved task", "regret", "p to the one above"];
  const most = Math.max(...report.board.ranking.map((row) => row.measures.sce.high ?? row.measures.sce.value), 1e-9);
  const rows = report.board.ranking.map((row) => {
    const policy = policies[row.policy], sce = row.measures.sce, gap = gaps[row.policy];
    const x = (value) => 2 + (116 * value) / most;
    const bar = draw("svg", { width: 120, height: 16, style: "width:120px", "aria-hidden": "true" },
      draw("rect", { x: 2, y: 4, width: Math.max(0.5, x(sce.value) - 2), height: 8, rx: 2, fill: policy.knows_truth ? "var(--star)" : colors[row.policy], opacity: 0.75 }),
      sce.low == null ? null : draw("path", { d: `M${x(sce.low)},8H${x(sce.high)}M${x(sce.low)},4v8M${x(sce.high)},4v8`, stroke: "var(--ink)", opacity: 0.7, fill: "none" }));
    const interval = sce.low == null ? "" : `95 %: ${fmt.share(sce.low)} to ${fmt.share(sce.high)}`;
    return el("tr", { class: policy.knows_truth ? "truth" : "" },
      el("td", {}, tipped(named(policy, colors[row.policy]), policy.describes)),
      el("td", { class: "num" }, fmt.share(sce.value)), el("td", {}, tipped(bar, interval)),
      el("td", { class: "num" }, `${row.solved}/${row.episodes}`), el("td", { class: "num" }, fmt.share(row.measures.return.value)),
      ["usd_per_task", "usd_per_solved", "regret_usd"].map((name) => el("td", { class: "num" }, fmt.usd(row.measures[name].value))),
      el("td", { class: "num" }, gap ? el("span", { class: gap.p >= 0.05 ? "tie" : "" }, gap.p < 0.001 ? "< .001" : gap.p.toFixed(3)) : ""));
  });
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", {}, head)))), el("tbody", {}, rows)));
}

function shareBars(rows, parts) {
  return el("div", {}, rows.map((row) => el("div", { class: "bar" }, el("span", { class: "label", title: row.name }, row.name),
    el("span", { class: "track" }, parts.filter((part) => row.shares[part.name]).map((part) =>
      tipped(el("i", { style: { width: `${100 * row.shares[part.name]}%`, background: part.color } }), `${row.name}\n${part.label}: ${fmt.percent(row.shares[part.name])}`))),
    el("span", { class: "end" }, row.end))), legend(parts));
}

function groupSection(report, policies, colors) {
  const names = { family: "Family", difficulty: "Difficulty", split: "Split", class: "Class" };
  let dimension = report.groups[0].dimension, measure = MEASURES[0];
  const box = el("div", { class: "card" });
  const segments = (options, current, pick) => el("div", { class: "segments", role: "group" }, options.map(([value, label]) =>
    el("button", { type: "button", "aria-pressed": String(value === current), on: { click: () => { pick(value); render(); } } }, label)));
  const render = () => {
    const { summaries } = report.groups.find((group) => group.dimension === dimension);
    const columns = [...new Set(summaries.map((s) => s.group))].sort();
    const order = ["easy", "medium", "hard", "marathon"];
    if (dimension === "difficulty") columns.sort((a, b) => order.indexOf(a) - order.indexOf(b));
    const known = summaries.map((s) => s.measures[measure.name].value).filter((value) => value != null);
    const low = Math.min(...known), high = Math.max(...known);
    const cell = (policy, group) => {
      const found = summaries.find((s) => s.policy === policy && s.group === group);
      const estimate = found && found.measures[measure.name];
      if (!estimate || estimate.value == null) return el("td", { class: "num" }, "–");
      const share = high > low ? (estimate.value - low) / (high - low) : 0.5;
      const depth = 0.06 + 0.44 * (measure.better > 0 ? share : 1 - share);
      const interval = estimate.low == null ? "" : `\n95 %: ${measure.show(estimate.low)} to ${measure.show(estimate.high)}`;
      return tipped(el("td", { class: "num heat", style: { background: `rgba(var(--heat), ${depth})` } }, measure.show(estimate.value)), `${policy}, ${group}\n${found.solved} of ${found.episodes} solved on ${found.scenarios} scenarios${interval}`);
    };
    const rows = columns.length > 6
      ? { heads: report.policies.map((p) => p.name), lines: columns.map((group) => [group, report.policies.map((p) => cell(p.name, group))]) }
      : { heads: columns, lines: report.policies.map((p) => [named(policies[p.name], colors[p.name]), columns.map((group) => cell(p.name, group))]) };
    box.replaceChildren(
      el("div", { class: "controls" },
        segments(report.groups.map((g) => [g.dimension, names[g.dimension]]), dimension, (value) => (dimension = value)),
        el("select", { "aria-label": "Measure", on: { change: (event) => { measure = MEASURES[event.target.selectedIndex]; render(); } } },
          MEASURES.map((m) => el("option", { selected: m === measure }, m.label)))),
      el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, el("th", {}, ""), rows.heads.map((head) => el("th", {}, head)))),
        el("tbody", {}, rows.lines.map(([label, cells]) => el("tr", {}, el("td", {}, label), cells))))));
  };
  render();
  return box;
}

function stoppingTable(report, policies, colors) {
  const heads = ["policy", "answered", "right", "sure", "calibration error", "AUROC", "asked on when right"];
  return el("div", { class: "scroll" }, el("table", {}, el("thead", {}, el("tr", {}, heads.map((head) => el("th", {}, head)))),
    el("tbody", {}, report.board.ranking.map((row) => {
      const s = row.stopping;
      return el("tr", {}, el("td", {}, named(policies[row.policy], colors[row.policy])),
        [fmt.percent(s.answered_share), fmt.percent(s.right_share), fmt.share(s.mean_confidence), fmt.share(s.calibration_error), fmt.share(s.auroc), fmt.percent(s.asked_on_share)]
          .map((text) => el("td", { class: "num" }, text)));
    }))));
}

function render(report) {
  const policies = Object.fromEntries(report.policies.map((p) => [p.name, p]));
  const colors = {};
  report.policies.filter((p) => !p.knows_truth).forEach((p, i) => (colors[p.name] = `var(--c${i % 12})`));
  report.policies.filter((p) => p.knows_truth).forEach((p) => (colors[p.name] = "var(--star)"));
  const ranking = report.board.ranking, contestants = ranking.filter((row) => !policies[row.policy].knows_truth);
  const points = ranking.map((row) => ({ name: row.policy, usd: row.measures.usd_per_task, success: row.measures.success, sce: row.measures.sce.value, color: colors[row.policy], truth: policies[row.policy].knows_truth }));
  const byName = Object.fromEntries(ranking.map((row) => [row.policy, row]));
  const best = contestants[0], priced = contestants.filter((row) => row.measures.usd_per_solved.value != null).sort((a, b) => a.measures.usd_per_solved.value - b.measures.usd_per_solved.value)[0];
  const episodes = ranking.reduce((sum, row) => sum + row.episodes, 0);
  const tile = (what, much, who) => el("div", { class: "tile" }, el("div", { class: "what" }, what), el("div", { class: "much" }, much), el("div", { class: "who" }, who));
  const chip = (label, value) => el("span", { class: "chip" }, `${label} `, el("b", {}, value));
  const main = document.getElementById("main");
  const parts = [
    el("h1", {}, "What it cost to be right"),
    el("p", { class: "lead" }, report.board.title, "."),
    el("div", { class: "chips" }, chip("version", report.version), chip("scoring", String(report.stamp.scoring_version)), chip("catalog", report.stamp.catalog_version), chip("controller", report.stamp.controller_model), chip("profile", report.profile), chip("track", report.track), chip("models", [...new Set(report.board.answered_by.map((by) => by.kind))].join(", "))),
    report.notes.map((note) => el("p", { class: "note" }, note)),
    el("div", { class: "tiles" },
      best ? tile("Best SCE", fmt.share(best.measures.sce.value), best.policy) : "",
      priced ? tile("Cheapest solution", fmt.usd(priced.measures.usd_per_solved.value), `${priced.policy}, failures included`) : tile("Cheapest solution", "–", "nothing solved"),
      tile("Under the front", fmt.percent(report.board.hypervolume), `of the plane, ${plainUsd(report.plane_usd[0])} to ${plainUsd(report.plane_usd[1])} a task`),
      tile("Episodes", episodes.toLocaleString(), `${ranking[0].scenarios} scenarios, ${ranking.length} policies`)),
    el("h2", { id: "board" }, "Leaderboard"),
    el("p", { class: "note" }, "SCE is success weighted by the reference's cost over the policy's own. Whiskers are 95 % intervals over scenarios; p is of a paired test against the contestant above. ★ knows the hidden truth and is a yardstick."),
    el("div", { class: "card" }, boardTable(report, policies, colors)),
    el("h2", { id: "front" }, "Cost and success"),
    el("p", { class: "note" }, "Nobody on the dashed front is beaten in both. The star is the reference plan: it knows where the facts are and what is true, but not the draws."),
    el("div", { class: "grid2" },
      el("div", { class: "card" }, el("h3", {}, "Pareto front"), responsive((width) => paretoChart(points, report.board.front, width))),
      el("div", { class: "card" }, el("h3", {}, "Solved within a budget"), responsive((width) => budgetChart(ranking.map((row) => ({ name: row.policy, color: colors[row.policy], truth: policies[row.policy].knows_truth, points: row.at_budgets })), width)))),
    legend(ranking.map((row) => ({ label: row.policy, color: colors[row.policy] }))),
    el("div", { class: "grid2", style: { marginTop: "14px" } },
      el("div", { class: "card" }, el("h3", {}, "Regret of solved tasks"), responsive((width) => regretChart(report.policies.map((p) => ({ name: p.name, color: colors[p.name], ratios: p.solved_usd.map((usd, i) => usd / (p.solved_reference_usd[i] || usd)), regret: byName[p.name].measures.regret_usd.value })), width))),
      el("div", { class: "card" }, el("h3", {}, "What the return is made of"), responsive((width) => termsChart(report.policies.map((p) => ({ name: p.name, terms: p.terms, total: byName[p.name].measures.return.value })), TERMS, width)), legend(TERMS))),
    el("h2", { id: "money" }, "Where the money went"),
    el("p", { class: "note" }, "Reading is what a prompt shows for the first time; re-reading is what it held before and was paid for again. At the right: dollars and steps a task."),
    el("div", { class: "grid2" },
      el("div", { class: "card" }, el("h3", {}, "Spending"), shareBars(ranking.map((row) => ({ name: row.policy, shares: row.spending_shares, end: fmt.usd(row.measures.usd_per_task.value) })), SPENDING)),
      el("div", { class: "card" }, el("h3", {}, "Actions"), shareBars(ranking.map((row) => ({ name: row.policy, shares: row.action_shares, end: row.measures.steps_per_task.value.toFixed(1) })), Object.keys(ACTION_COLORS).filter((name) => ranking.some((row) => row.action_shares[name])).map((name) => ({ name, label: name.toLowerCase().replace(/_/g, " "), color: ACTION_COLORS[name] }))))),
    el("h2", {}, "Knowing when to stop"),
    el("p", { class: "note" }, "An answer is stopped on the least of the confidences behind it. On the diagonal, answers are as often right as that confidence says; below it, too sure."),
    el("div", { class: "grid2 uneven" },
      el("div", { class: "card" }, responsive((width) => reliabilityChart(ranking.map((row) => ({ name: row.policy, color: colors[row.policy], bins: row.stopping.bins })), width))),
      el("div", { class: "card" }, stoppingTable(report, policies, colors))),
    el("h2", { id: "groups" }, "By kind of case"),
    el("div", { style: { height: "8px" } }),
    groupSection(report, policies, colors),
    el("h2", { id: "viewer" }, "Episodes"),
  ];
  main.replaceChildren(...parts);
  if (report.watched.length) {
    const asked = new URLSearchParams(location.hash.slice(1));
    let settled = false;
    const viewer = new Viewer(report.watched, colors, (name, policy, step) => {
      if (settled) history.replaceState(null, "", `#${new URLSearchParams({ case: name, policy, step: step + 1 })}`);
    });
    main.append(el("p", { class: "note" }, `${report.watched.length} of ${episodes.toLocaleString()} episodes are in this file. Click a step in any strip, or use the arrow keys.`), viewer.root);
    viewer.open(asked.get("case") || viewer.cases[0], asked.get("policy") || (best && best.policy), Number(asked.get("step") || 1) - 1);
    if (!viewer.episode) viewer.open(viewer.cases[0], best && best.policy, 0);
    settled = true;
    if (asked.has("case")) viewer.root.scrollIntoView();
  } else main.append(el("p", { class: "note" }, "No episode was put into this file."));
  main.append(el("footer", {}, report.proof));
  document.title = `CAMRE: ${report.board.title}`;
  chartsDrawn().then(() => { document.body.dataset.ready = "yes"; });
}

theme();
unpacked().then(render).catch((fault) => {
  document.getElementById("main").replaceChildren(el("p", { class: "loading" }, `This browser cannot open the report: ${fault.message}`));
});
