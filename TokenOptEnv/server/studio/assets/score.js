// The end: what was right, what it cost beside the plan, what the return is made of; and the plan, where it is revealed.
import { episodes } from "./episodes.js";
import { ACTIONS, SIDES, count, modelName, place, spaced, sum, usd, verdict, waiting } from "./look.js";
import { termBars } from "./papers.js";

export function scoreCard(lobby, episode) {
  const last = episode.now, score = last.score;
  const ratio = score.reference_nano_usd > 0 ? score.cost_nano_usd / score.reference_nano_usd : null;
  return el("section", { class: "card score", "aria-label": "Score" },
    el("div", { class: "score-head" }, verdict(score),
      el("span", { class: "return" }, "return ", el("b", {}, score.total_return.toFixed(3))),
      el("span", { class: "return" }, "SCE ", el("b", {}, score.sce.toFixed(3)))),
    el("p", { class: "note" }, `${lobby.words.ends[last.end_reason]}, at step ${last.step}. It cost ${usd(score.cost_nano_usd)}, of it ${usd(score.routed_nano_usd)} for asking models. `,
      score.reference_nano_usd > 0 ? `The reference plan, which knows where the facts are, takes ${usd(score.reference_nano_usd)}: this was ${ratio.toFixed(2)} times that.` : ""),
    fields(last, score),
    el("h4", {}, "Return, by part"), termBars(score.terms, lobby.words),
    el("div", { class: "form-foot" },
      el("a", { class: "act", href: `#/compare/${episode.id}` }, "Compare"),
      el("a", { class: "ghost link", href: `#/case/${last.task.scenario_id}` }, "Play again")));
}

export function fields(last, score) {
  const told = last.last_tool_result.payload;
  const given = told.kind === "submit" ? told.answer : {};
  return el("dl", { class: "answer" }, score.fields.flatMap((field) => {
    const good = field.right && field.backed && field.grounded;
    const why = !(field.name in given) ? "not answered"
      : [field.right ? "right" : "wrong", field.backed ? "backed" : "no finding behind it", field.grounded ? "grounded" : "evidence incomplete, or not read"].join(", ");
    return [el("dt", {}, spaced(field.name)), el("dd", {}, given[field.name] || "–", el("span", { class: `tag ${good ? "good" : "bad"}` }, why))];
  }));
}

export function revealedCard(lobby, episode) {
  const last = episode.now, revealed = last.revealed;
  const beside = el("div", { class: "beside" }, el("p", { class: "empty" }, "Playing the reference plan…"));
  waiting(beside, async () => {
    const plan = episode.sitting.policy === "reference" ? episode : await episodes.beside(episode.sitting, "reference", false);
    beside.replaceChildren(stepList(episode, episode.player, SIDES[0]), stepList(plan, "The reference plan", SIDES[1]));
  });
  return el("section", { class: "card revealed", "aria-label": "Truth and plan" },
    el("h3", {}, "The truth"),
    el("dl", { class: "answer" }, Object.entries(revealed.answer).flatMap(([name, value]) => [el("dt", {}, spaced(name)), el("dd", {}, value)])),
    el("details", { class: "cites" }, el("summary", {}, `Shown by ${count(revealed.evidence_segment_ids.length)} segments`), revealed.evidence_segment_ids.map((id) => place(last, id)).join(", ")),
    el("h3", { class: "gap" }, "Step by step, beside the reference plan"), beside);
}

// What was done, and what each step cost; `at` is the step that is looked at.
export function stepList(episode, name, color, at, choose) {
  const spent = (frame) => sum(frame.observation.ledger, (entry) => entry.nano_usd);
  return el("div", { class: "steps" },
    el("h4", {}, el("span", { class: "dot", style: { background: color } }), name, el("span", { class: "tokens" }, `${episode.steps.length} steps, ${fmt.usd(episode.costUsd)}`)),
    el("ol", {}, episode.steps.map((frame, i) => {
      const refused = frame.observation.last_tool_result.status === "refused";
      const inside = [
        el("span", { class: "number" }, String(i + 1)),
        el("span", { class: "what" }, el("b", {}, ACTIONS[frame.action.action_type].title, refused ? ", refused" : ""), el("span", { class: "gist" }, gist(frame))),
        el("span", { class: "tokens" }, usd(spent(frame)))];
      return el("li", { class: i === at ? "at" : "" }, choose ? el("button", { type: "button", "aria-current": i === at ? "step" : null, on: { click: () => choose(i) } }, inside) : inside);
    })));
}

function gist(frame) {
  const action = frame.action, seen = frame.observation;
  if (action.artifact_id) return action.artifact_id;
  if (action.action_type === "ROUTE_SUBTASK") return `${modelName(seen, action.model_id)} on ${action.subtask_id}, ${action.context_segment_ids.length === 1 ? "1 piece" : `${count(action.context_segment_ids.length)} pieces`}`;
  if (action.query && !action.context_segment_ids.length) return `“${action.query}”`;
  if (action.context_segment_ids.length) return action.context_segment_ids.join(", ");
  if (action.finding_ids.length) return action.finding_ids.join(", ");
  return action.note || action.route_id || action.checkpoint_id || "";
}
