// Charts over the steps of an episode, or of two: a step is as wide in one as in the other.
import { KINDS, SIDES, count, kindColor, sum } from "./look.js";

const PAD = { left: 52, right: 6, top: 8, bottom: 18 };

function frame(width, height, label, steps, top) {
  const slot = (width - PAD.left - PAD.right) / steps;
  const root = draw("svg", { height, role: "img", "aria-label": label });
  const y = scale(0, top || 1, height - PAD.bottom, PAD.top);
  root.append(draw("line", { class: "axis", x1: PAD.left, x2: width - PAD.right, y1: y(0), y2: y(0) }));
  const every = Math.ceil(26 / slot);
  for (let i = 0; i < steps; i++)
    if (i % every === 0) root.append(draw("text", { x: PAD.left + (i + 0.5) * slot, y: height - 4, "text-anchor": "middle" }, String(i + 1)));
  return { root, y, slot, x: (i) => PAD.left + i * slot };
}

const box = (chart, i) => ({ x: chart.x(i) + chart.slot * 0.12, width: chart.slot * 0.76, rx: 1.5 });
const used = (seen) => seen.working_memory.token_budget_used;

export function memoryStrip(episode, width, steps, top) {
  const height = 132, chart = frame(width, height, "Working memory after each step", steps, top);
  for (const tick of [top / 2, top]) chart.root.append(draw("text", { x: PAD.left - 6, y: chart.y(tick) + 4, "text-anchor": "end" }, count(Math.round(tick))));
  episode.steps.forEach(({ observation }, i) => {
    let from = 0;
    for (const item of observation.working_memory.items) {
      const low = chart.y(from), high = chart.y(from + item.tokens);
      chart.root.append(draw("rect", { ...box(chart, i), y: high, height: Math.max(0.5, low - high - 0.8), fill: kindColor(item.kind) }));
      from += item.tokens;
    }
    chart.root.append(tipped(draw("rect", { class: "hit", x: chart.x(i), y: 0, width: chart.slot, height }), `after step ${i + 1}: ${count(used(observation))} tokens in ${observation.working_memory.items.length} items`));
  });
  return chart.root;
}

export const memoryTop = (pair) => Math.max(...pair.map((episode) => Math.max(episode.now.working_memory.token_budget || 0, ...episode.steps.map((each) => used(each.observation)), 1)));
export const memoryKinds = (pair) => KINDS.filter((kind) => pair.some((episode) => episode.steps.some((each) => each.observation.working_memory.items.some((item) => item.kind === kind))));

export function promptStrip(episode, width, steps, top) {
  const height = 104, chart = frame(width, height, "Cached and fresh tokens read at each step", steps, top);
  chart.root.append(draw("text", { x: PAD.left - 6, y: chart.y(top) + 8, "text-anchor": "end" }, count(top)));
  episode.steps.forEach(({ observation }, i) => {
    const { cached, fresh } = tokens(observation);
    const joint = chart.y(cached), end = chart.y(cached + fresh);
    chart.root.append(
      draw("rect", { ...box(chart, i), y: joint, height: Math.max(0, chart.y(0) - joint), fill: "var(--c2)" }),
      draw("rect", { ...box(chart, i), y: end, height: Math.max(0, joint - end - 0.6), fill: "var(--c10)" }),
      tipped(draw("rect", { class: "hit", x: chart.x(i), y: 0, width: chart.slot, height }), `step ${i + 1}: ${count(cached)} cached, ${count(fresh)} fresh`));
  });
  return chart.root;
}

const tokens = (seen) => ({ cached: sum(seen.ledger, (entry) => entry.cached_tokens), fresh: sum(seen.ledger, (entry) => entry.fresh_tokens) });
export const promptTop = (pair) => Math.max(1, ...pair.flatMap((episode) => episode.steps.map((each) => tokens(each.observation).cached + tokens(each.observation).fresh)));

export function moneyChart(pair, width, steps) {
  const height = Math.max(180, Math.min(300, width * 0.5)), references = pair.map((episode) => (episode.now.score ? episode.now.score.reference_nano_usd / 1e9 : 0));
  const top = 1.06 * Math.max(...references, ...pair.map((episode) => episode.costUsd), 1e-6);
  const chart = frame(width, height, "Money spent after each step", steps, top);
  for (const tick of [top / 2.12, top / 1.06])
    chart.root.append(draw("line", { class: "grid", x1: PAD.left, x2: width - PAD.right, y1: chart.y(tick), y2: chart.y(tick) }), draw("text", { x: PAD.left - 6, y: chart.y(tick) + 4, "text-anchor": "end" }, fmt.usd(tick)));
  if (references[0] > 0)
    chart.root.append(draw("line", { x1: PAD.left, x2: width - PAD.right, y1: chart.y(references[0]), y2: chart.y(references[0]), stroke: "var(--star)", "stroke-width": 1.5, "stroke-dasharray": "5 3" }));
  pair.forEach((episode, side) => {
    const points = [[PAD.left, chart.y(0)], ...episode.steps.map(({ observation }, i) => [chart.x(i) + chart.slot / 2, chart.y(observation.budgets.nano_usd.spent / 1e9)])];
    chart.root.append(draw("path", { d: points.map(([x, y], i) => `${i ? "L" : "M"}${x},${y}`).join(""), fill: "none", stroke: SIDES[side], "stroke-width": 2, "stroke-linejoin": "round" }));
    points.slice(1).forEach(([cx, cy], i) => chart.root.append(tipped(draw("circle", { cx, cy, r: 3.2, fill: SIDES[side] }), `${episode.player}, after step ${i + 1}: ${fmt.usd(episode.steps[i].observation.budgets.nano_usd.spent / 1e9)}`)));
  });
  return chart.root;
}
