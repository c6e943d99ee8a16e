// The visitor's episodes. The browser keeps what was played (case, options, actions); everything shown follows from it.
import { server } from "./server.js";

const DRAWER = "camre-studio-episodes";
const MOST = 24;

export class Episode {
  // Without an id it is not kept.
  constructor(id, sitting, frames) {
    this.id = id;
    this.sitting = sitting;
    this.frames = frames;
  }

  get now() { return this.frames[this.frames.length - 1].observation; }
  get done() { return this.now.done; }
  get player() { return this.sitting.policy || "You"; }
  get steps() { return this.frames.slice(1); }
  get costUsd() { return this.now.budgets.nano_usd.spent / 1e9; }

  async act(action) { this.add(await server.step(this.sitting, action)); }
  async next() { this.add(await server.next(this.sitting)); }

  async toTheEnd() {
    while (!this.done) await this.next();
    return this;
  }

  add(frame) {
    this.frames.push(frame);
    this.sitting = { ...this.sitting, actions: [...this.sitting.actions, frame.action] };
    if (this.id != null) episodes.keep(this);
  }
}

// A browser may forbid the drawer (a frame without storage): then episodes last as long as the page.
function drawn() {
  try {
    return JSON.parse(localStorage.getItem(DRAWER)) || [];
  } catch {
    return [];
  }
}

export const episodes = {
  open: new Map(),
  rows: drawn(),

  async begin(choice) {
    const sitting = { ...choice, actions: [] };
    const id = String(1 + Math.max(0, ...this.rows.map((row) => Number(row.id))));
    const episode = new Episode(id, sitting, await server.frames(sitting));
    this.open.set(id, episode);
    this.keep(episode);
    return episode;
  },

  // The same case under another player, played to its end.
  async beside(sitting, policy, kept) {
    const choice = { ...sitting, policy, actions: [] };
    const episode = kept ? await this.begin(choice) : new Episode(null, choice, await server.frames(choice));
    return episode.toTheEnd();
  },

  async find(id) {
    if (this.open.has(id)) return this.open.get(id);
    const row = this.rows.find((each) => each.id === id);
    if (!row) throw new Error(`there is no episode ${id} in this browser; begin one under Cases`);
    const episode = new Episode(id, row.sitting, await server.frames(row.sitting));
    this.open.set(id, episode);
    return episode;
  },

  keep(episode) {
    const seen = episode.now;
    const row = {
      id: episode.id, sitting: episode.sitting, title: seen.task.title, steps: seen.step, done: seen.done,
      success: seen.score ? seen.score.success : null, costUsd: episode.costUsd,
    };
    this.rows = [row, ...this.rows.filter((each) => each.id !== episode.id)].slice(0, MOST);
    this.save();
  },

  forget(id) {
    this.rows = this.rows.filter((each) => each.id !== id);
    this.open.delete(id);
    this.save();
  },

  save() {
    try {
      localStorage.setItem(DRAWER, JSON.stringify(this.rows));
    } catch {
      // nothing to do: see drawn()
    }
  },
};

export const sameCase = (one, other) =>
  ["scenario_id", "seed", "profile", "track", "catalog"].every((name) => one[name] === other[name]);
