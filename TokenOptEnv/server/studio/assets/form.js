// One action as a form. Nothing is billed before it is sent, and only what is possible can be chosen.
import { ACTIONS, capital, count, inkOf, kindColor, spaced } from "./look.js";

const PILL_CHARACTERS = 12;

export function actionForm(form, observation, values, send, cancel) {
  const chosen = { ...values };
  const button = el("button", { class: "act", type: "submit" }, form.action_type === "SUBMIT_ANSWER" ? "Answer, and end" : capital(form.does));
  const told = el("p", { class: "form-note", "aria-live": "polite" });
  const fields = el("div", { class: "fields" });
  const nodes = new Map();

  const changed = (name) => {
    for (const field of form.fields) if (field.depends_on === name) place(field);
    const fault = missing(form, chosen, observation);
    button.disabled = Boolean(fault);
    told.textContent = fault || remark(form, chosen, observation);
    told.classList.toggle("warn", Boolean(fault));
    if (preview) preview.replaceChildren(...answerPreview(observation, chosen));
  };
  const place = (field) => {
    const node = fieldNode(field, observation, chosen, () => changed(field.name));
    nodes.has(field) ? nodes.get(field).replaceWith(node) : fields.append(node);
    nodes.set(field, node);
  };
  const preview = form.action_type === "SUBMIT_ANSWER" ? el("dl", { class: "answer preview" }) : null;
  form.fields.forEach(place);
  const node = el("form", { class: "action-form", "aria-label": ACTIONS[form.action_type].title, "data-action": form.action_type },
    el("div", { class: "form-head" },
      el("span", { class: "dot", style: { background: ACTIONS[form.action_type].color } }),
      el("h3", {}, ACTIONS[form.action_type].title),
      el("button", { class: "ghost tiny", type: "button", "aria-label": "Back to all actions", on: { click: cancel } }, "Back")),
    fields, preview || "",
    el("div", { class: "form-foot" }, button, told));
  node.addEventListener("submit", (event) => {
    event.preventDefault();
    if (button.disabled) return;
    button.disabled = true;
    if (form.action_type === "SUBMIT_ANSWER") told.textContent = "Grading; a plan to compare with may have to be made first.";
    send(actionOf(form, chosen), node).finally(() => { button.disabled = false; });
  });
  changed(null);
  return node;
}

function asked(field, chosen) {
  if (field.depends_on == null || field.shape === "one") return true;
  return Object.hasOwn(field.most_with, chosen[field.depends_on]);
}

function actionOf(form, chosen) {
  const action = { action_type: form.action_type };
  for (const field of form.fields) {
    const value = chosen[field.name];
    const empty = value == null || value === "" || (Array.isArray(value) && !value.length) || (field.shape === "answer" && !Object.keys(value).length);
    if (asked(field, chosen) && !empty) action[field.name] = value;
  }
  return action;
}

function missing(form, chosen, observation) {
  for (const field of form.fields) {
    const value = chosen[field.name];
    if (field.required && (value == null || value.length === 0)) return field.shape === "words" ? "Type at least one word." : field.shape === "many" ? "Choose at least one." : `${field.title.replace(/\?.*/, "?")}`;
    if (field.shape === "many" && field.most != null) {
      const counted = field.options.filter((option) => option.counted && (value || []).includes(option.value)).length;
      if (counted > field.most) return `${counted} of these are not held, and at most ${field.most} may be.`;
    }
  }
  if (form.action_type === "HYDRATE_SEGMENTS" && overfull(chosen, observation)) return overfull(chosen, observation);
  if (form.action_type === "WRITE_CHECKPOINT" && !["note", "finding_ids", "context_segment_ids"].some((name) => chosen[name] && chosen[name].length)) return "A note needs words, a finding or an item.";
  if (form.action_type === "SUBMIT_ANSWER" && !(chosen.finding_ids || []).length && !Object.keys(chosen.answer || {}).length) return "There is nothing to answer with yet.";
  return "";
}

const size = (ids, observation) => observation.surfaced.filter((handle) => (ids || []).includes(handle.segment_id)).reduce((total, handle) => total + handle.tokens, 0);

function overfull(chosen, observation) {
  const memory = observation.working_memory, needed = size(chosen.context_segment_ids, observation);
  if (memory.token_budget == null || needed <= memory.token_budget - memory.token_budget_used) return "";
  return `${count(needed)} tokens do not fit: ${count(memory.token_budget - memory.token_budget_used)} are free. Drop or shorten something first.`;
}

function remark(form, chosen, observation) {
  if (form.action_type !== "HYDRATE_SEGMENTS") return "";
  const left = observation.working_memory.token_budget - observation.working_memory.token_budget_used;
  return `${count(size(chosen.context_segment_ids, observation))} tokens of ${count(left)} that are free`;
}

function fieldNode(field, observation, chosen, changed) {
  if (!asked(field, chosen)) return el("span", { hidden: true });
  const set = (value) => { chosen[field.name] = value; changed(); };
  const made = {
    one: () => oneOf(field, observation, chosen, set), many: () => manyOf(field, observation, chosen, set), words: () => words(field, chosen, set),
    whole: () => whole(field, chosen, set), share: () => share(field, chosen, set), answer: () => ownWords(field, chosen, set),
  }[field.shape]();
  const title = el("legend", {}, field.title, field.required ? "" : el("span", { class: "optional" }, field.otherwise ? `otherwise ${field.otherwise}` : "optional"));
  return el("fieldset", { "data-field": field.name }, title, made);
}

function optionRow(type, field, option, observation, ticked, change) {
  const item = observation.working_memory.items.find((each) => each.item_id === option.value);
  return el("label", { class: "option" },
    el("input", { type, name: field.name, value: option.value, checked: ticked, on: { change } }),
    el("b", { style: item ? { color: inkOf(kindColor(item.kind)) } : {} }, option.key), el("span", {}, option.label));
}

function oneOf(field, observation, chosen, set) {
  const offered = field.options.filter((option) => option.only_with == null || option.only_with === chosen[field.depends_on]);
  if (!offered.length) return el("p", { class: "empty" }, field.depends_on ? "Choose the reply first." : "Nothing to choose.");
  const small = offered.every((option) => option.label.length <= PILL_CHARACTERS);
  return el("div", { class: small ? "pills" : "options" }, offered.map((option) => optionRow("radio", field, option, observation, chosen[field.name] === option.value, () => set(option.value))));
}

function manyOf(field, observation, chosen, set) {
  if (!field.options.length) return el("p", { class: "empty" }, "Nothing to choose.");
  const rows = [];
  let group = "";
  for (const option of field.options) {
    if (option.group && option.group !== group) rows.push(el("p", { class: "group" }, option.group));
    group = option.group;
    rows.push(optionRow("checkbox", field, option, observation, (chosen[field.name] || []).includes(option.value), (event) => {
      const others = (chosen[field.name] || []).filter((value) => value !== option.value);
      set(event.target.checked ? [...others, option.value] : others);
    }));
  }
  return el("div", { class: "options" }, rows);
}

function words(field, chosen, set) {
  const input = el(field.name === "note" ? "textarea" : "input", { name: field.name, value: chosen[field.name] || "", maxlength: field.most, "aria-label": field.title, placeholder: field.otherwise, autocomplete: "off", rows: 2 });
  if (chosen[field.name]) input.value = chosen[field.name];
  input.addEventListener("input", () => set(input.value.trim()));
  return input;
}

function whole(field, chosen, set) {
  const most = field.depends_on ? field.most_with[chosen[field.depends_on]] : field.most;
  return el("input", { type: "number", name: field.name, min: 1, max: most, placeholder: field.otherwise, "aria-label": `${field.title} 1 to ${most}`, value: chosen[field.name], on: { input: (event) => set(event.target.value === "" ? null : Number(event.target.value)) } });
}

function share(field, chosen, set) {
  const shown = el("output", {}, String(chosen[field.name] || field.otherwise));
  return el("div", { class: "slide" },
    el("input", { type: "range", name: field.name, min: 0.1, max: 0.9, step: 0.05, value: chosen[field.name] || field.otherwise, "aria-label": field.title, on: { input: (event) => { shown.textContent = event.target.value; set(Number(event.target.value)); } } }), shown);
}

function ownWords(field, chosen, set) {
  const said = { ...(chosen[field.name] || {}) };
  const put = (name, value) => { value ? (said[name] = value) : delete said[name]; set({ ...said }); };
  return el("div", { class: "own-words" }, field.own_words.map((own) => el("label", {},
    el("span", {}, spaced(own.name), el("em", {}, own.question)),
    own.choices.length
      ? el("select", { "aria-label": spaced(own.name), on: { change: (event) => put(own.name, event.target.value) } }, el("option", { value: "" }, "no answer"), own.choices.map((each) => el("option", { value: each }, each)))
      : el(own.long ? "textarea" : "input", { "aria-label": spaced(own.name), maxlength: field.most, rows: 4, spellcheck: "false", placeholder: own.long ? "a unified diff" : "no answer", on: { input: (event) => put(own.name, event.target.value.trim()) } }))));
}

function answerPreview(observation, chosen) {
  const values = {};
  for (const id of chosen.finding_ids || []) Object.assign(values, (observation.findings.find((each) => each.finding_id === id) || { values: {} }).values);
  Object.assign(values, chosen.answer || {});
  return observation.task.answer_fields.flatMap((field) => [
    el("dt", {}, spaced(field.name)), el("dd", { class: values[field.name] ? "" : "none" }, values[field.name] || "no answer yet")]);
}
