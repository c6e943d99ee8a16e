// An episode on the table: played by the visitor, or by a policy that the visitor watches. Earlier steps can be looked at.
import { actionForm } from "./form.js";
import { ACTIONS, capital, verdict, waiting } from "./look.js";
import { memoryCard } from "./memory.js";
import { PAPERS, paper } from "./papers.js";
import { resultCard } from "./result.js";
import { revealedCard, scoreCard } from "./score.js";

const KEYS = ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0", "-"];
const NARROW = window.matchMedia("(max-width: 980px)");
const PACES = [["1600", "slow"], ["800", "steady"], ["250", "fast"]];

export function episodeView(lobby, episode) {
  const view = new EpisodeView(lobby, episode);
  return { root: view.root, title: episode.now.task.title, leave: () => view.leave() };
}

function primer() {
  const line = (color, name, text) => el("li", { style: { borderLeftColor: color } }, el("b", {}, name), text);
  return el("section", { class: "card primer", "aria-label": "How it goes" },
    el("h3", {}, "How it goes"),
    el("ul", {},
      line("var(--c0)", "Look.", " Open an artifact or search: what you are shown are segments, by number."),
      line("var(--c7)", "Hold.", " Load what you want to keep; drop or shorten what you no longer need."),
      line("var(--c1)", "Ask.", " Put a question to a model, with the segments it shall read. Its reply is a finding."),
      line("var(--c2)", "Answer.", " Submit your findings. All must be right, and what they cite must show it.")));
}

class EpisodeView {
  constructor(lobby, episode) {
    this.lobby = lobby;
    this.episode = episode;
    this.at = episode.frames.length - 1;
    this.paper = "case";
    this.wish = null; // the form that is open: which action, and what is chosen in it already
    this.timer = null;
    this.pace = PACES[1][0];
    this.busy = false;
    this.root = el("div", { class: "episode" });
    this.keys = (event) => this.pressed(event);
    document.addEventListener("keydown", this.keys);
    this.draw();
  }

  leave() {
    document.removeEventListener("keydown", this.keys);
    clearTimeout(this.timer);
    this.timer = null;
  }

  get isNow() { return this.at === this.episode.frames.length - 1; }
  get byHand() { return !this.episode.sitting.policy; }
  get mayAct() { return this.byHand && this.isNow && !this.episode.done; }
  get frame() { return this.episode.frames[this.at]; }
  get before() { return this.at ? this.episode.frames[this.at - 1].observation : null; }

  draw() {
    const seen = this.frame.observation;
    const offer = this.mayAct ? (kind, values) => this.open(kind, values) : null;
    const tabs = el("div", { class: "segments papers", role: "group", "aria-label": "Papers" }, PAPERS.map(([name, label]) =>
      el("button", { type: "button", "aria-pressed": String(name === this.paper), "data-paper": name, on: { click: () => { this.paper = name; this.draw(); } } }, label)));
    this.root.replaceChildren(
      this.head(seen), this.film(), memoryCard(seen, this.before),
      el("div", { class: "table" },
        el("div", { class: "stack turn" }, this.turn(seen)),
        el("section", { class: "card paper", "aria-label": "Papers" }, tabs,
          el("div", { class: "paper-body" }, paper(this.paper, this.episode.frames.slice(0, this.at + 1), this.lobby.words, offer)))),
      this.isNow && seen.revealed ? this.revealed() : "");
    const current = this.root.querySelector(".film [aria-current]");
    if (current) current.parentElement.parentElement.scrollLeft = current.offsetLeft - 120;
  }

  // Made once: it plays the reference plan.
  revealed() {
    this.truth = this.truth || revealedCard(this.lobby, this.episode);
    return this.truth;
  }

  head(seen) {
    const chip = (text) => el("span", { class: "chip" }, text);
    return el("div", { class: "episode-head" },
      el("div", {}, el("h1", {}, seen.task.title),
        el("div", { class: "chips" }, chip(seen.task.scenario_id), chip(`seed ${seen.seed}`), chip(`${seen.task.profile}, ${seen.task.track}`),
          this.byHand ? "" : chip(`${this.episode.player} plays`), seen.task.phases > 1 ? chip(`phase ${seen.task.phase + 1} of ${seen.task.phases}`) : "",
          this.episode.done ? verdict(this.episode.now.score) : "")));
  }

  film() {
    const pill = (i, text, color, refused) => el("li", {}, el("button", {
      type: "button", class: refused ? "refused" : "", "aria-current": i === this.at ? "step" : null, "aria-label": i ? `Step ${i}, ${text}` : "The beginning",
      style: { borderTopColor: color }, on: { click: () => this.look(i) },
    }, el("span", {}, i ? String(i) : "·"), text));
    return el("ol", { class: "film", "aria-label": "Steps" }, pill(0, "start", "var(--line)", false),
      this.episode.steps.map((frame, i) => pill(i + 1, frame.said.split(" ", 1)[0], ACTIONS[frame.action.action_type].color, frame.observation.last_tool_result.status === "refused")));
  }

  turn(seen) {
    const parts = [];
    if (!this.isNow) parts.push(el("div", { class: "card back" }, el("span", {}, this.at ? `You are looking at step ${this.at}.` : "You are looking at the beginning."), el("button", { class: "act", type: "button", on: { click: () => this.look(this.episode.frames.length - 1) } }, "Back to now")));
    else if (this.episode.done) parts.push(scoreCard(this.lobby, this.episode));
    else parts.push(this.byHand ? this.moves(seen) : this.player());
    const graded = this.episode.done && this.isNow && seen.end_reason === "submitted"; // the score tells the answer again
    if (this.at && !graded) parts.push(resultCard(this.frame, this.before, this.lobby.words));
    if (this.mayAct && !this.at && !this.wish) parts.push(primer());
    if (!this.byHand && !this.episode.done && !this.isNow) parts.push(this.player());
    return parts;
  }

  moves(seen) {
    const card = el("section", { class: "card moves", "aria-label": "Your move" });
    const form = this.wish && this.frame.forms.find((each) => each.action_type === this.wish.kind);
    if (form) {
      card.append(actionForm(form, seen, this.wish.values, (action, node) => this.act(action, node), () => this.close()));
      return card;
    }
    const last = seen.budgets.steps.left === 1;
    card.append(
      el("div", { class: "form-head" }, el("h3", {}, "Your move"), el("span", { class: "tokens" }, `step ${seen.step + 1} of ${seen.budgets.steps.limit}`)),
      seen.must_submit || last ? el("p", { class: "brought refused" }, seen.must_submit ? "Only an answer can still be paid for: anything else ends the episode without one." : "This is the last step: anything but an answer ends the episode without one.") : "",
      el("div", { class: "move-grid" }, this.frame.forms.map((each) => {
        const key = KEYS[Object.keys(ACTIONS).indexOf(each.action_type)];
        return el("button", { class: "move", type: "button", "data-action": each.action_type, "aria-keyshortcuts": key, style: { borderLeftColor: ACTIONS[each.action_type].color }, on: { click: () => this.open(each.action_type, {}) } },
          el("b", {}, ACTIONS[each.action_type].title), el("kbd", {}, key));
      })));
    return card;
  }

  player() {
    const next = el("button", { class: "act", type: "button", "data-player": "next", on: { click: () => this.next() } }, "Next step");
    const play = el("button", { class: "ghost", type: "button", "data-player": "play", on: { click: () => this.toggle() } }, this.timer ? "Pause" : "Play on");
    const pace = el("select", { "aria-label": "Pace", on: { change: () => { this.pace = pace.value; } } }, PACES.map(([value, text]) => el("option", { value, selected: value === this.pace }, text)));
    const end = el("button", { class: "ghost", type: "button", "data-player": "end", on: { click: () => this.finish() } }, "To the end");
    const about = this.lobby.policies.find((each) => each.name === this.episode.player);
    return el("section", { class: "card player-card", "aria-label": "Watching" },
      el("div", { class: "form-head" }, el("h3", {}, `${this.episode.player} plays`), el("span", { class: "tokens" }, `step ${this.episode.now.step} of ${this.episode.now.budgets.steps.limit}`)),
      about ? el("p", { class: "note" }, `${capital(about.describes)}.`) : "",
      el("div", { class: "form-foot" }, next, play, pace, end));
  }

  look(i) {
    this.at = Math.max(0, Math.min(this.episode.frames.length - 1, i));
    this.draw();
  }

  open(kind, values) {
    if (!this.frame.forms.some((each) => each.action_type === kind)) return;
    this.wish = { kind, values };
    this.draw();
    const card = this.root.querySelector(".moves"), field = card.querySelector("input:not([type=range]), textarea, select");
    if (field) field.focus({ preventScroll: true });
    if (card.getBoundingClientRect().top < 60 || card.getBoundingClientRect().top > window.innerHeight - 200) card.scrollIntoView({ block: "start" });
  }

  close() {
    this.wish = null;
    this.draw();
  }

  act(action, node) {
    return waiting(node, async () => {
      await this.episode.act(action);
      this.wish = null;
      this.look(this.episode.frames.length - 1);
      if (NARROW.matches) this.root.querySelector(".film").scrollIntoView();
    });
  }

  async next() {
    if (this.busy || this.episode.done) return;
    this.busy = true;
    await waiting(this.root, () => this.episode.next());
    this.busy = false;
    this.look(this.episode.frames.length - 1);
  }

  toggle() {
    if (this.timer) {
      clearTimeout(this.timer);
      this.timer = null;
      this.draw();
      return;
    }
    const on = async () => {
      this.timer = setTimeout(on, Number(this.pace));
      const steps = this.episode.steps.length;
      await this.next();
      if (this.episode.done || this.episode.steps.length === steps) {
        clearTimeout(this.timer);
        this.timer = null;
        this.draw();
      }
    };
    this.timer = setTimeout(on, 0);
  }

  async finish() {
    if (this.busy) return;
    this.busy = true;
    await waiting(this.root, () => this.episode.toTheEnd());
    this.busy = false;
    this.look(this.episode.frames.length - 1);
  }

  pressed(event) {
    if (event.ctrlKey || event.metaKey || event.altKey || document.querySelector("dialog[open]")) return;
    if (event.key === "Escape" && this.wish) this.close();
    if (["INPUT", "TEXTAREA", "SELECT"].includes(event.target.tagName)) return;
    if (event.key === "ArrowLeft") this.look(this.at - 1);
    else if (event.key === "ArrowRight" && !this.isNow) this.look(this.at + 1);
    else if (event.key === "ArrowRight" && !this.byHand) this.next();
    else if (event.key === " " && !this.byHand && event.target.tagName !== "BUTTON" && !this.episode.done) { event.preventDefault(); this.toggle(); }
    else if (this.mayAct && KEYS.includes(event.key)) { event.preventDefault(); this.open(Object.keys(ACTIONS)[KEYS.indexOf(event.key)], {}); }
  }
}
