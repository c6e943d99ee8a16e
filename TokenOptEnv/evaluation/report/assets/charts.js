
// Small helpers for building nodes, the light and dark switch, and the charts: each draws itself at the width it is given.
const SVG = "http://www.w3.org/2000/svg";

function el(tag, props, ...children) {
  const node = document.createElement(tag);
  for (const [key, value] of Object.entries(props || {})) {
    if (key === "on") for (const [name, handler] of Object.entries(value)) node.addEventListener(name, handler);
    else if (key === "style") Object.assign(node.style, value);
    else if (value === true) node.setAttribute(key, "");
    else if (value !== false && value != null) node.setAttribute(key, value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

function draw(tag, props, ...children) {
  const node = document.createElementNS(SVG, tag);
  for (const [key, value] of Object.entries(props || {})) if (value != null) node.setAttribute(key, value);
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

const fmt = {
  share: (value) => (value == null ? "–" : value.toFixed(3)),
  percent: (value) => (value == null ? "–" : `${(100 * value).toFixed(value > 0 && value < 0.1 ? 1 : 0)} %`),
  usd(value) {
    if (value == null) return "–";
    const size = Math.abs(value);
    const decimals = size >= 1 ? 2 : size >= 0.1 ? 3 : size >= 0.001 || size === 0 ? 4 : 5;
    return `${value < 0 ? "−" : ""}$${size.toFixed(decimals)}`;
  },
  times: (value) => `${value >= 10 ? value.toFixed(0) : value.toFixed(1)}×`,
  signed: (value) => `${value < 0 ? "−" : "+"}${Math.abs(value).toFixed(3)}`,
};

const tip = {
  node: null,
  show(text, event) {
    this.node = this.node || document.getElementById("tip");
    this.node.textContent = text;
    this.node.hidden = false;
    const box = this.node.getBoundingClientRect();
    const at = event.touches ? event.touches[0] : event;
    let x = at.clientX, y = at.clientY;
    if (x == null) {
      const target = event.target.getBoundingClientRect();
      x = target.left + target.width / 2; y = target.top;
    }
    const left = Math.min(window.innerWidth - box.width - 8, Math.max(8, x + 12));
    const top = y - box.height - 12 < 8 ? y + 16 : y - box.height - 12;
    this.node.style.left = `${left}px`;
    this.node.style.top = `${top}px`;
  },
  hide() { if (this.node) this.node.hidden = true; },
};

function tipped(node, text) {
  node.addEventListener("pointermove", (event) => tip.show(text, event));
  node.addEventListener("pointerleave", () => tip.hide());
  node.addEventListener("focus", (event) => tip.show(text, event));
  node.addEventListener("blur", () => tip.hide());
  return node;
}

// Draws in the next frame and whenever the width changes.
function responsive(render) {
  const box = el("div");
  let drawn = 0;
  const redraw = () => {
    const width = Math.floor(box.clientWidth);
    if (width && width !== drawn) { drawn = width; box.replaceChildren(render(width)); }
  };
  new ResizeObserver(redraw).observe(box);
  return box;
}

// Resolves when what was put on the page has its charts: observers of size report after a frame's callbacks.
const chartsDrawn = () => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(done)));

const logScale = (low, high, from, to) => {
  const a = Math.log(low), b = Math.log(high);
  return (value) => from + ((Math.log(Math.max(value, low * 1e-6)) - a) / (b - a || 1)) * (to - from);
};
const scale = (low, high, from, to) => (value) => from + ((value - low) / (high - low || 1)) * (to - from);

function logTicks(low, high) {
  const ticks = [];
  for (let power = Math.floor(Math.log10(low)); power <= Math.ceil(Math.log10(high)); power++)
    for (const lead of [1, 2, 5]) {
      const value = lead * 10 ** power;
      if (value >= low * 0.999 && value <= high * 1.001) ticks.push(value);
    }
  return ticks;
}

const plainUsd = (value) => `$${value >= 1 ? value.toFixed(0) : value.toPrecision(1).replace(/0+$/, "").replace(/\.$/, "")}`;
const short = (name, most) => (name.length > most ? `${name.slice(0, most - 1)}…` : name);

function paretoChart(points, frontNames, width) {
  const height = Math.max(300, Math.min(420, width * 0.72));
  const pad = { left: 40, right: 16, top: 14, bottom: 40 };
  const costs = points.flatMap((p) => [p.usd.value, p.usd.low, p.usd.high]).filter((v) => v > 0);
  const low = Math.min(...costs) / 1.5, high = Math.max(...costs) * 1.9;
  const x = logScale(low, high, pad.left, width - pad.right), y = scale(0, 1, height - pad.bottom, pad.top);
  const root = draw("svg", { height, role: "img", "aria-label": "Success against dollars a task, with the Pareto front" });
  for (const tick of [0, 0.25, 0.5, 0.75, 1])
    root.append(
      draw("line", { class: "grid", x1: pad.left, x2: width - pad.right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: pad.left - 8, y: y(tick) + 4, "text-anchor": "end" }, `${tick * 100}%`),
    );
  let last = -99;
  for (const tick of logTicks(low, high)) {
    root.append(draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: pad.top, y2: height - pad.bottom }));
    if (x(tick) - last > 46) {
      root.append(draw("text", { x: x(tick), y: height - pad.bottom + 17, "text-anchor": "middle" }, plainUsd(tick)));
      last = x(tick);
    }
  }
  root.append(draw("text", { x: width - pad.right, y: height - 4, "text-anchor": "end" }, "dollars a task, logarithmic"));
  const front = frontNames.map((name) => points.find((p) => p.name === name)).filter(Boolean);
  if (front.length) {
    let path = `M${x(front[0].usd.value)},${y(0)}`;
    front.forEach((p, i) => {
      path += ` L${x(p.usd.value)},${y(p.success.value)}`;
      path += ` L${i + 1 < front.length ? x(front[i + 1].usd.value) : width - pad.right},${y(p.success.value)}`;
    });
    root.append(
      draw("path", { d: `${path} L${width - pad.right},${y(0)} Z`, fill: "var(--accent)", opacity: 0.07 }),
      draw("path", { d: path, fill: "none", stroke: "var(--accent)", "stroke-width": 1.5, "stroke-dasharray": "5 4" }),
    );
  }
  for (const p of points) {
    const cx = x(p.usd.value), cy = y(p.success.value);
    if (p.success.low != null)
      root.append(draw("line", { x1: cx, x2: cx, y1: y(p.success.low), y2: y(p.success.high), stroke: p.color, opacity: 0.35, "stroke-width": 1.5 }));
    if (p.usd.low > 0)
      root.append(draw("line", { x1: x(p.usd.low), x2: x(p.usd.high), y1: cy, y2: cy, stroke: p.color, opacity: 0.35, "stroke-width": 1.5 }));
  }
  const spots = points.map((p) => ({ p, cx: x(p.usd.value), cy: y(p.success.value) }));
  const taken = spots.map(({ cx, cy }) => ({ left: cx - 7, right: cx + 7, top: cy - 7, bottom: cy + 7 }));
  const important = ({ p }) => (p.truth ? 0 : frontNames.includes(p.name) ? 1 : 2);
  for (const { p, cx, cy } of [...spots].sort((a, b) => important(a) - important(b))) {
    const text = short(p.name, 20), wide = text.length * 6.7;
    const tries = [[cx + 11, cy + 4, "start"], [cx - 11, cy + 4, "end"], [cx, cy - 12, "middle"], [cx, cy + 20, "middle"], [cx + 9, cy - 11, "start"], [cx - 9, cy - 11, "end"]];
    for (const [tx, ty, anchor] of tries) {
      const left = anchor === "start" ? tx : anchor === "end" ? tx - wide : tx - wide / 2;
      const box = { left, right: left + wide, top: ty - 11, bottom: ty + 3 };
      const free = box.left > pad.left && box.right < width && box.top > 0 && box.bottom < height - pad.bottom + 4
        && !taken.some((t) => box.left < t.right && box.right > t.left && box.top < t.bottom && box.bottom > t.top);
      if (!free) continue;
      taken.push(box);
      root.append(draw("text", { class: "strong", x: tx, y: ty, "text-anchor": anchor }, text));
      break;
    }
  }
  for (const p of points) {
    const cx = x(p.usd.value), cy = y(p.success.value);
    const shape = p.truth
      ? draw("path", { d: star(cx, cy, 9), fill: "var(--star)", stroke: "var(--card)", "stroke-width": 1.5, tabindex: 0 })
      : draw("circle", { cx, cy, r: 5.5, fill: p.color, stroke: "var(--card)", "stroke-width": 1.5, tabindex: 0 });
    root.append(tipped(shape, `${p.name}${p.truth ? " (knows the truth)" : ""}\n${fmt.percent(p.success.value)} solved, ${fmt.usd(p.usd.value)} a task\nSCE ${fmt.share(p.sce)}`));
  }
  return root;
}

function star(cx, cy, r) {
  const corners = [];
  for (let i = 0; i < 10; i++) {
    const size = i % 2 ? r * 0.45 : r, angle = -Math.PI / 2 + (i * Math.PI) / 5;
    corners.push(`${cx + size * Math.cos(angle)},${cy + size * Math.sin(angle)}`);
  }
  return `M${corners.join("L")}Z`;
}

function budgetChart(series, width) {
  const height = Math.max(300, Math.min(420, width * 0.72));
  const pad = { left: 40, right: 16, top: 14, bottom: 40 };
  const budgets = series[0].points.map((p) => p.usd);
  const x = logScale(budgets[0], budgets[budgets.length - 1], pad.left + 6, width - pad.right);
  const most = Math.max(0.1, ...series.flatMap((s) => s.points.map((p) => p.success.value)));
  const top = Math.min(1, Math.ceil(most * 10) / 10), y = scale(0, top, height - pad.bottom, pad.top);
  const root = draw("svg", { height, role: "img", "aria-label": "Share of tasks solved within a budget" });
  for (let i = 0; i <= 4; i++) {
    const tick = (top * i) / 4;
    root.append(
      draw("line", { class: "grid", x1: pad.left, x2: width - pad.right, y1: y(tick), y2: y(tick) }),
      draw("text", { x: pad.left - 8, y: y(tick) + 4, "text-anchor": "end" }, `${Math.round(tick * 100)}%`),
    );
  }
  let last = -99;
  for (const budget of budgets)
    if (x(budget) - last > 40) {
      root.append(draw("text", { x: x(budget), y: height - pad.bottom + 17, "text-anchor": "middle" }, plainUsd(budget)));
      last = x(budget);
    }
  root.append(draw("text", { x: width - pad.right, y: height - 4, "text-anchor": "end" }, "budget for one task"));
  for (const s of series) {
    const path = s.points.map((p, i) => `${i ? "L" : "M"}${x(p.usd)},${y(p.success.value)}`).join("");
    const dash = s.truth ? "2 4" : null, color = s.truth ? "var(--star)" : s.color;
    root.append(draw("path", { d: path, fill: "none", stroke: color, "stroke-width": 2, "stroke-linejoin": "round", "stroke-dasharray": dash }));
    for (const p of s.points)
      root.append(tipped(draw("circle", { cx: x(p.usd), cy: y(p.success.value), r: 3.2, fill: color, tabindex: 0 }),
        `${s.name}\n${fmt.percent(p.success.value)} solved for ${plainUsd(p.usd)} or less` + (p.success.low == null ? "" : `\n95 %: ${fmt.percent(p.success.low)} to ${fmt.percent(p.success.high)}`)));
  }
  return root;
}

function regretChart(rows, width) {
  const line = 30, pad = { left: Math.min(136, width * 0.32), right: 14, top: 8, bottom: 38 };
  const height = pad.top + pad.bottom + rows.length * line;
  const all = rows.flatMap((row) => row.ratios);
  const high = Math.max(2, ...all) * 1.15, low = Math.min(1, ...all) / 1.08;
  const x = logScale(low, high, pad.left, width - pad.right);
  const root = draw("svg", { height, role: "img", "aria-label": "Cost of solved tasks as multiples of the reference" });
  let last = -99;
  for (const tick of logTicks(low, high)) {
    root.append(draw("line", { class: tick === 1 ? "axis" : "grid", x1: x(tick), x2: x(tick), y1: pad.top, y2: height - pad.bottom, "stroke-dasharray": tick === 1 ? "4 3" : null, style: tick === 1 ? "stroke:var(--star)" : null }));
    if (x(tick) - last > 34) {
      root.append(draw("text", { x: x(tick), y: height - pad.bottom + 16, "text-anchor": "middle" }, `${tick}×`));
      last = x(tick);
    }
  }
  root.append(draw("text", { x: width - pad.right, y: height - 4, "text-anchor": "end" }, "cost of a solved task by the reference's"));
  rows.forEach((row, index) => {
    const cy = pad.top + index * line + line / 2;
    root.append(draw("text", { class: "strong", x: pad.left - 12, y: cy + 4, "text-anchor": "end" }, short(row.name, Math.floor((pad.left - 14) / 6.4))));
    if (!row.ratios.length) {
      root.append(draw("text", { x: pad.left + 8, y: cy + 4 }, "solved nothing"));
      return;
    }
    const sorted = [...row.ratios].sort((a, b) => a - b);
    const at = (q) => sorted[Math.round(q * (sorted.length - 1))];
    const [q1, median, q3] = [at(0.25), at(0.5), at(0.75)];
    sorted.forEach((value, i) => {
      const jitter = (((i * 7919) % 97) / 97 - 0.5) * 13;
      root.append(draw("circle", { cx: x(value), cy: cy + jitter, r: 2.1, fill: row.color, opacity: sorted.length > 80 ? 0.25 : 0.45 }));
    });
    if (sorted.length > 2)
      root.append(draw("rect", { x: x(q1), y: cy - 9, width: Math.max(2, x(q3) - x(q1)), height: 18, rx: 4, fill: row.color, opacity: 0.16, stroke: row.color }));
    root.append(draw("line", { x1: x(median), x2: x(median), y1: cy - 10, y2: cy + 10, stroke: row.color, "stroke-width": 2.5 }));
    const text = `${row.name}\n${sorted.length} solved; half between ${fmt.times(q1)} and ${fmt.times(q3)}\nmedian ${fmt.times(median)}, mean regret ${fmt.usd(row.regret)}`;
    root.append(tipped(draw("rect", { class: "hit", x: pad.left, y: cy - line / 2, width: width - pad.left - pad.right, height: line }), text));
  });
  return root;
}

function termsChart(rows, terms, width) {
  const line = 30, pad = { left: Math.min(136, width * 0.32), right: 52, top: 6, bottom: 24 };
  const height = pad.top + pad.bottom + rows.length * line;
  const low = Math.min(0, ...rows.map((row) => Math.min(0, row.terms.guardrails || 0)));
  const high = Math.max(0.1, ...rows.map((row) => terms.reduce((sum, t) => sum + Math.max(0, row.terms[t.name] || 0), 0)));
  const x = scale(low * 1.05, high, pad.left, width - pad.right);
  const root = draw("svg", { height, role: "img", "aria-label": "The mean return, by term" });
  const step = high > 0.5 ? 0.25 : high > 0.2 ? 0.1 : 0.05;
  for (let tick = 0; tick <= high + 1e-9; tick += step)
    root.append(
      draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: pad.top, y2: height - pad.bottom }),
      draw("text", { x: x(tick), y: height - 6, "text-anchor": "middle" }, tick.toFixed(2)),
    );
  rows.forEach((row, index) => {
    const cy = pad.top + index * line + line / 2;
    root.append(draw("text", { class: "strong", x: pad.left - 12, y: cy + 4, "text-anchor": "end" }, short(row.name, Math.floor((pad.left - 14) / 6.4))));
    let from = 0;
    for (const term of terms) {
      const value = row.terms[term.name] || 0;
      if (!value) continue;
      const start = value < 0 ? value : from;
      const bar = draw("rect", { x: x(start), y: cy - 9, width: Math.max(0.5, x(start + Math.abs(value)) - x(start)), height: 18, rx: 2, fill: term.color, tabindex: 0 });
      root.append(tipped(bar, `${row.name}\n${term.label} ${fmt.signed(value)}`));
      if (value > 0) from += value;
    }
    root.append(draw("text", { class: "strong", x: width - pad.right + 8, y: cy + 4 }, fmt.share(row.total)));
  });
  root.append(draw("line", { class: "axis", x1: x(0), x2: x(0), y1: pad.top, y2: height - pad.bottom, style: "stroke:var(--faint)" }));
  return root;
}

function reliabilityChart(rows, width) {
  const size = Math.min(width, 360), pad = { left: 40, right: 12, top: 10, bottom: 38 };
  const x = scale(0, 1, pad.left, size - pad.right), y = scale(0, 1, size - pad.bottom, pad.top);
  const root = draw("svg", { height: size, viewBox: `0 0 ${width} ${size}`, role: "img", "aria-label": "How right answers were, by the confidence they were stopped on" });
  for (const tick of [0, 0.25, 0.5, 0.75, 1])
    root.append(
      draw("line", { class: "grid", x1: x(0), x2: x(1), y1: y(tick), y2: y(tick) }),
      draw("line", { class: "grid", x1: x(tick), x2: x(tick), y1: y(0), y2: y(1) }),
      draw("text", { x: x(0) - 8, y: y(tick) + 4, "text-anchor": "end" }, `${tick * 100}%`),
      draw("text", { x: x(tick), y: y(0) + 16, "text-anchor": "middle" }, tick),
    );
  root.append(
    draw("line", { x1: x(0), y1: y(0), x2: x(1), y2: y(1), stroke: "var(--faint)", "stroke-dasharray": "4 4" }),
    draw("text", { x: x(1), y: size - 4, "text-anchor": "end" }, "confidence stopped on"),
  );
  for (const row of rows)
    for (const bin of row.bins)
      root.append(tipped(
        draw("circle", { cx: x(bin.mean_confidence), cy: y(bin.right_share), r: Math.min(13, 2.5 + Math.sqrt(bin.answers)), fill: row.color, opacity: 0.6, tabindex: 0 }),
        `${row.name}\n${bin.answers} answers stopped on ${bin.mean_confidence.toFixed(2)}\n${fmt.percent(bin.right_share)} of them right`));
  return root;
}

function legend(items) {
  return el("div", { class: "legend" }, items.map((item) => el("span", {}, el("i", { style: { background: item.color } }), item.label)));
}

function theme() {
  const button = document.getElementById("theme"), root = document.documentElement;
  const system = window.matchMedia("(prefers-color-scheme: dark)");
  let chosen = null;
  const apply = () => {
    const dark = chosen ? chosen === "dark" : system.matches;
    root.dataset.theme = dark ? "dark" : "light";
    button.textContent = dark ? "☀" : "☾";
  };
  button.addEventListener("click", () => { chosen = root.dataset.theme === "dark" ? "light" : "dark"; apply(); });
  system.addEventListener("change", apply);
  apply();
}
