
// The episode viewer: one case, one policy, one step at a time; the four strips share their steps.
const KINDS = ["segment", "preview", "search", "cache", "finding", "compressed", "checkpoint"];
const VERBS = {
  READ_ARTIFACT: "Read an artifact", QUERY_CACHE: "Ask the cache", COMPRESS_CONTEXT: "Compress", ROUTE_SUBTASK: "Ask a model",
  SUBMIT_ANSWER: "Answer", SEARCH_ARTIFACTS: "Search", HYDRATE_SEGMENTS: "Load segments", PURGE_MEMORY: "Drop",
  WRITE_CHECKPOINT: "Write a note", RESTORE_CHECKPOINT: "Recall a note", ESCALATE_ROUTE: "Escalate", MALFORMED: "Malformed",
};

class Viewer {
  constructor(episodes, colors, onChange) {
    this.episodes = episodes;
    this.colors = colors;
    this.onChange = onChange;
    this.cases = [...new Set(episodes.map((e) => `${e.scenario_id}@${e.seed}`))];
    this.select = el("select", { "aria-label": "Case", on: { change: () => this.open(this.select.value, this.episode.policy, 0) } },
      this.cases.map((name) => el("option", { value: name }, name)));
    this.players = el("div", { class: "players", role: "group", "aria-label": "Policy" });
    this.body = el("div", { class: "stack" });
    this.root = el("div", {}, el("div", { class: "controls" }, this.select), this.players, this.body);
    this.root.addEventListener("keydown", (event) => {
      if (event.target.tagName === "SELECT" || event.target.tagName === "INPUT") return;
      if (event.key === "ArrowRight") this.go(this.step + 1);
      if (event.key === "ArrowLeft") this.go(this.step - 1);
    });
  }

  open(name, policy, step) {
    const here = this.episodes.filter((e) => `${e.scenario_id}@${e.seed}` === name);
    if (!here.length) return;
    this.episode = here.find((e) => e.policy === policy) || here[0];
    this.select.value = name;
    this.players.replaceChildren(...here.map((e) =>
      el("button", { class: "player", type: "button", "aria-pressed": String(e === this.episode), on: { click: () => this.open(name, e.policy, 0) } },
        el("span", { class: "dot", style: { background: this.colors[e.policy] } }), e.policy,
        el("span", { class: "sum" }, `${e.success ? "✓" : "✗"} ${fmt.usd(e.cost_nano_usd / 1e9)}`))));
    this.build();
    this.go(step);
  }

  build() {
    const e = this.episode, cost = e.cost_nano_usd / 1e9, reference = e.reference_nano_usd / 1e9;
    const facts = el("div", { class: "facts" },
      el("span", { class: `verdict ${e.success ? "yes" : "no"}` }, e.success ? "Solved" : "Not solved"),
      el("span", {}, "return ", el("b", {}, e.total_return.toFixed(3))),
      el("span", {}, "SCE ", el("b", {}, e.sce.toFixed(3))),
      el("span", {}, "cost ", el("b", {}, fmt.usd(cost)), reference > 0 ? `, ${fmt.times(cost / reference)} the reference's ${fmt.usd(reference)}` : ""),
      el("span", {}, el("b", {}, String(e.steps.length)), ` steps, ended: ${e.end_reason}`));
    this.strips = el("div", { class: "card" });
    this.slider = el("input", { type: "range", min: 1, max: e.steps.length, "aria-label": "Step", on: { input: () => this.go(Number(this.slider.value) - 1) } });
    this.at = el("span", { class: "at" });
    this.back = el("button", { class: "ghost", type: "button", "aria-label": "Previous step", on: { click: () => this.go(this.step - 1) } }, "‹");
    this.next = el("button", { class: "ghost", type: "button", "aria-label": "Next step", on: { click: () => this.go(this.step + 1) } }, "›");
    this.detail = el("div");
    const panel = el("div", { class: "card" }, el("div", { class: "stepper" }, this.back, this.slider, this.next, this.at), this.detail);
    const right = el("dl", { class: "answer" }, e.fields.flatMap((field) => {
      const good = field.right && field.backed && field.grounded;
      const why = [field.right ? "right" : "wrong", field.backed ? "backed" : "no finding behind it", field.grounded ? "grounded" : "evidence incomplete"].join(", ");
      return [el("dt", {}, field.name), el("dd", {}, e.answer[field.name] || "–", el("span", { class: `tag ${good ? "good" : "bad"}` }, why))];
    }));
    this.body.replaceChildren(
      el("div", { class: "card" }, el("h3", {}, e.title), el("p", { class: "brief" }, e.brief), facts, right),
      el("div", { class: "theatre" }, this.strips, panel));
    this.marks = [];
    this.strips.replaceChildren(
      this.strip("Working memory after each step", e.memory_budget ? `of ${e.memory_budget.toLocaleString()} tokens` : "unbounded",
        (width) => this.memoryStrip(width), legend(KINDS.filter((kind) => e.steps.some((s) => s.memory.some((m) => m.kind === kind))).map((kind) => ({ label: kind, color: `var(--k-${kind})` })))),
      this.strip("Tokens the policy's prompt was billed for", this.cachedShare(), (width) => this.promptStrip(width),
        legend([{ label: "fresh", color: "var(--c0)" }, { label: "read from the prompt cache", color: "var(--c2)" }])),
      this.strip("Money spent", `reference ${fmt.usd(reference)}`, (width) => this.moneyStrip(width),
        legend([{ label: "deciding", color: "var(--c0)" }, { label: "asking models", color: "var(--c1)" }])),
      this.strip("Reward", `${e.total_return.toFixed(3)} in all`, (width) => this.rewardStrip(width)));
  }

  strip(title, figure, render, below) {
    return el("div", { class: "strip" }, el("h3", {}, title, el("b", {}, figure)), responsive(render), below || "");
  }

  cachedShare() {
    const own = this.episode.steps.flatMap((s) => s.entries.filter((entry) => entry.who === "controller"));
    const cached = own.reduce((sum, entry) => sum + entry.cached_tokens, 0), all = own.reduce((sum, entry) => sum + entry.fresh_tokens + entry.cached_tokens, 0);
    return all ? `${Math.round((100 * cached) / all)} % cache hits` : "";
  }

  frame(width, height, label, top) {
    const steps = this.episode.steps.length, pad = { left: 44, right: 4, top: 8, bottom: 16 };
    const slot = (width - pad.left - pad.right) / steps;
    const root = draw("svg", { height, role: "img", "aria-label": label });
    const y = scale(0, top || 1, height - pad.bottom, pad.top);
    const mark = draw("rect", { x: 0, y: pad.top - 4, width: slot, height: height - pad.bottom - pad.top + 8, rx: 4, fill: "var(--accent)", opacity: 0.1 });
    const place = () => mark.setAttribute("x", pad.left + this.step * slot);
    root.append(mark, draw("line", { class: "axis", x1: pad.left, x2: width - pad.right, y1: y(0), y2: y(0) }));
    place();
    this.marks.push(place);
    const every = Math.ceil(26 / slot);
    for (let i = 0; i < steps; i++)
      if (i % every === 0) root.append(draw("text", { x: pad.left + (i + 0.5) * slot, y: height - 3, "text-anchor": "middle" }, String(i + 1)));
    return { root, y, slot, pad, x: (i) => pad.left + i * slot };
  }

  hits(chart, height, text) {
    this.episode.steps.forEach((step, i) => {
      const hit = draw("rect", { class: "hit", x: chart.x(i), y: 0, width: chart.slot, height });
      hit.addEventListener("click", () => this.go(i));
      chart.root.append(tipped(hit, text(step, i)));
    });
    return chart.root;
  }

  memoryStrip(width) {
    const e = this.episode, height = 150;
    const used = e.steps.map((s) => s.memory.reduce((sum, item) => sum + item.tokens, 0));
    const top = Math.max(e.memory_budget || 0, ...used, 1);
    const chart = this.frame(width, height, "Working memory over time", top);
    for (const tick of [top / 2, top]) chart.root.append(draw("text", { x: chart.pad.left - 6, y: chart.y(tick) + 4, "text-anchor": "end" }, Math.round(tick).toLocaleString()));
    if (e.memory_budget) chart.root.append(draw("line", { x1: chart.pad.left, x2: width, y1: chart.y(e.memory_budget), y2: chart.y(e.memory_budget), stroke: "var(--bad)", "stroke-dasharray": "4 3", opacity: 0.7 }));
    e.steps.forEach((step, i) => {
      let from = 0;
      for (const item of step.memory) {
        const y1 = chart.y(from), y2 = chart.y(from + item.tokens);
        chart.root.append(draw("rect", { x: chart.x(i) + chart.slot * 0.12, width: chart.slot * 0.76, y: y2, height: Math.max(0.5, y1 - y2 - 0.8), rx: 1.5, fill: `var(--k-${item.kind})` }));
        from += item.tokens;
      }
    });
    return this.hits(chart, height, (step, i) => `after step ${i + 1}: ${used[i].toLocaleString()} tokens in ${step.memory.length} items`);
  }

  promptStrip(width) {
    const height = 104, own = this.episode.steps.map((s) => s.entries.find((entry) => entry.who === "controller"));
    const top = Math.max(1, ...own.map((entry) => (entry ? entry.fresh_tokens + entry.cached_tokens : 0)));
    const chart = this.frame(width, height, "Fresh and cached prompt tokens", top);
    chart.root.append(draw("text", { x: chart.pad.left - 6, y: chart.y(top) + 8, "text-anchor": "end" }, top.toLocaleString()));
    own.forEach((entry, i) => {
      if (!entry) return;
      const box = { x: chart.x(i) + chart.slot * 0.12, width: chart.slot * 0.76, rx: 1.5 };
      const joint = chart.y(entry.cached_tokens), end = chart.y(entry.cached_tokens + entry.fresh_tokens);
      chart.root.append(
        draw("rect", { ...box, y: joint, height: chart.y(0) - joint, fill: "var(--c2)" }),
        draw("rect", { ...box, y: end, height: Math.max(0, joint - end - 0.6), fill: "var(--c0)" }));
    });
    return this.hits(chart, height, (step, i) => own[i] ? `step ${i + 1}: ${own[i].fresh_tokens.toLocaleString()} fresh, ${own[i].cached_tokens.toLocaleString()} cached` : `step ${i + 1}`);
  }

  moneyStrip(width) {
    const e = this.episode, height = 120;
    let deciding = 0, asking = 0;
    const sums = e.steps.map((step) => {
      for (const entry of step.entries) entry.who === "controller" ? (deciding += entry.nano_usd / 1e9) : (asking += entry.nano_usd / 1e9);
      return [deciding, asking];
    });
    const reference = e.reference_nano_usd / 1e9, top = Math.max(reference, deciding + asking) * 1.06 || 1;
    const chart = this.frame(width, height, "Money spent so far", top);
    sums.forEach(([own, others], i) => {
      const box = { x: chart.x(i) + chart.slot * 0.12, width: chart.slot * 0.76, rx: 1.5 };
      const joint = chart.y(own), end = chart.y(own + others);
      chart.root.append(
        draw("rect", { ...box, y: joint, height: chart.y(0) - joint, fill: "var(--c0)" }),
        draw("rect", { ...box, y: end, height: Math.max(0, joint - end - 0.6), fill: "var(--c1)" }));
    });
    if (reference > 0) chart.root.append(draw("line", { x1: chart.pad.left, x2: width, y1: chart.y(reference), y2: chart.y(reference), stroke: "var(--star)", "stroke-width": 1.5, "stroke-dasharray": "5 3" }));
    chart.root.append(draw("text", { x: chart.pad.left - 6, y: chart.y(top / 1.06) + 6, "text-anchor": "end" }, fmt.usd(top / 1.06).replace("$0", "$")));
    return this.hits(chart, height, (step, i) => `after step ${i + 1}: ${fmt.usd(sums[i][0] + sums[i][1])}\n${fmt.usd(sums[i][0])} deciding, ${fmt.usd(sums[i][1])} asking`);
  }

  rewardStrip(width) {
    const e = this.episode, height = 96, most = Math.max(0.05, ...e.steps.map((s) => Math.abs(s.reward)));
    const low = Math.min(0, ...e.steps.map((s) => s.reward));
    const chart = this.frame(width, height, "Reward of each step", 1);
    const y = scale(low < 0 ? -most : 0, most, height - 18, 10);
    chart.root.append(draw("text", { x: chart.pad.left - 6, y: y(most) + 6, "text-anchor": "end" }, most.toFixed(2)), draw("line", { class: "axis", x1: chart.pad.left, x2: width, y1: y(0), y2: y(0) }));
    e.steps.forEach((step, i) => {
      if (!step.reward) return;
      const top = Math.min(y(0), y(step.reward));
      chart.root.append(draw("rect", { x: chart.x(i) + chart.slot * 0.12, width: chart.slot * 0.76, y: top, height: Math.max(1, Math.abs(y(step.reward) - y(0))), rx: 1.5, fill: step.reward > 0 ? "var(--good)" : "var(--bad)" }));
    });
    return this.hits(chart, height, (step, i) => `step ${i + 1}: ${fmt.signed(step.reward)}`);
  }

  go(step) {
    const e = this.episode;
    this.step = Math.max(0, Math.min(e.steps.length - 1, step));
    this.marks.forEach((place) => place());
    this.slider.value = this.step + 1;
    this.at.textContent = `step ${this.step + 1} of ${e.steps.length}`;
    this.back.disabled = this.step === 0;
    this.next.disabled = this.step === e.steps.length - 1;
    this.detail.replaceChildren(...this.details(e.steps[this.step]));
    this.onChange(`${e.scenario_id}@${e.seed}`, e.policy, this.step);
  }

  details(step) {
    const parts = [
      el("div", { class: "verb" }, VERBS[step.action] || step.action, step.refused ? " – refused" : ""),
      el("div", { class: "said" }, step.said),
      el("ul", { class: `brought${step.refused ? " refused" : ""}` }, (step.lines.length ? step.lines : ["nothing found"]).map((line) => el("li", {}, line))),
    ];
    const tags = [
      step.reward ? el("span", { class: `tag ${step.reward > 0 ? "good" : "bad"}` }, `reward ${fmt.signed(step.reward)}`) : null,
      ...step.milestones.map((name) => el("span", { class: "tag good" }, name)),
      ...step.guardrails.map((text) => el("span", { class: "tag bad" }, text)),
    ].filter(Boolean);
    if (tags.length) parts.push(el("div", { class: "tags" }, tags));
    parts.push(
      el("h3", {}, "Ledger"),
      el("div", { class: "scroll" }, el("table", { class: "small" },
        el("thead", {}, el("tr", {}, ["who", "model", "fresh", "cached", "out", "latency", "cost"].map((head) => el("th", {}, head)))),
        el("tbody", {}, step.entries.map((entry) => el("tr", {},
          el("td", {}, entry.who === "controller" ? "deciding" : "asking"), el("td", {}, entry.model_id),
          [entry.fresh_tokens, entry.cached_tokens, entry.output_tokens].map((count) => el("td", { class: "num" }, count.toLocaleString())),
          el("td", { class: "num" }, `${(entry.latency_ms / 1000).toFixed(1)} s`), el("td", { class: "num" }, fmt.usd(entry.nano_usd / 1e9))))))),
      el("h3", { style: { marginTop: "12px" } }, "Working memory"),
      el("div", { class: "memory" }, step.memory.length
        ? step.memory.map((item) => el("span", { style: { borderLeftColor: `var(--k-${item.kind})` } }, `${item.name} · ${item.tokens}`))
        : el("span", {}, "empty")));
    return parts;
  }
}
