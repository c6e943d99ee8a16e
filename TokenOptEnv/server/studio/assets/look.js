// What things are called and which colour they have, everywhere the same.
export const ACTIONS = {
  READ_ARTIFACT: { title: "Open an artifact", color: "var(--c0)" },
  SEARCH_ARTIFACTS: { title: "Search artifacts", color: "var(--c6)" },
  QUERY_CACHE: { title: "Earlier results", color: "var(--c4)" },
  HYDRATE_SEGMENTS: { title: "Load segments", color: "var(--c7)" },
  COMPRESS_CONTEXT: { title: "Shorten items", color: "var(--c8)" },
  PURGE_MEMORY: { title: "Drop items", color: "var(--c10)" },
  ROUTE_SUBTASK: { title: "Ask a model", color: "var(--c1)" },
  ESCALATE_ROUTE: { title: "Ask a stronger model", color: "var(--c5)" },
  WRITE_CHECKPOINT: { title: "Save a note", color: "var(--c9)" },
  RESTORE_CHECKPOINT: { title: "Bring a note back", color: "var(--c11)" },
  SUBMIT_ANSWER: { title: "Answer", color: "var(--c2)" },
  MALFORMED: { title: "Malformed", color: "var(--faint)" },
};
export const KINDS = ["segment", "preview", "search", "cache", "finding", "compressed", "checkpoint"];
export const TERM_COLORS = {
  success: "var(--c2)", efficiency: "var(--c0)", routing: "var(--c6)", evidence_precision: "var(--c7)",
  truth_milestones: "var(--c3)", process_milestones: "var(--c4)", partial: "var(--c10)", guardrails: "var(--c5)",
};
export const SIDES = ["var(--c0)", "var(--c1)"];

export const kindColor = (kind) => `var(--k-${kind})`;
export const inkOf = (color) => `color-mix(in srgb, ${color} 55%, var(--ink))`; // a colour as text: deep enough to be read
export const usd = (nano) => fmt.usd(nano / 1e9);
export const count = (number) => number.toLocaleString("en-US");
export const sum = (list, value) => list.reduce((total, each) => total + value(each), 0);
export const seconds = (ms) => `${(ms / 1000).toFixed(ms < 10_000 ? 1 : 0)} s`;
export const capital = (text) => text.charAt(0).toUpperCase() + text.slice(1);
export const spaced = (name) => name.replace(/[_-]/g, " ");

export function modelName(observation, modelId) {
  const card = observation.models.find((each) => each.model_id === modelId);
  return card ? card.name : modelId;
}

// "A2 s7": the seventh segment of the second artifact; of an earlier phase only the id is left.
export function place(observation, segmentId) {
  const cut = segmentId.lastIndexOf("-s");
  const artifact = observation.artifacts.find((each) => each.artifact_id === segmentId.slice(0, cut));
  return artifact ? `A${artifact.alias} s${segmentId.slice(cut + 2)}` : segmentId;
}

export function reader(title, text, kind) {
  const dialog = document.getElementById("reader");
  const close = el("button", { class: "ghost", type: "button", "aria-label": "Close", on: { click: () => dialog.close() } }, "✕");
  dialog.replaceChildren(
    el("div", { class: "reader-head" },
      kind ? el("span", { class: "dot", style: { background: kindColor(kind) } }) : "",
      el("h3", { id: "reader-title" }, title), close),
    el("pre", { tabindex: 0 }, text));
  dialog.onclick = (event) => { if (event.target === dialog) dialog.close(); };
  dialog.showModal();
}

let fading = null;
export function notice(text) {
  const node = document.getElementById("notice");
  node.textContent = text;
  node.hidden = false;
  clearTimeout(fading);
  fading = setTimeout(() => { node.hidden = true; }, 9000);
}

// Runs something that waits for the server; a fault is told, and what waited shows that it waits.
export async function waiting(node, work) {
  node.setAttribute("aria-busy", "true");
  try {
    return await work();
  } catch (fault) {
    notice(capital(fault.message));
    return undefined;
  } finally {
    node.removeAttribute("aria-busy");
  }
}

export function verdict(score) {
  return el("span", { class: `verdict ${score.success ? "yes" : "no"}` }, score.success ? "Solved" : "Not solved");
}
