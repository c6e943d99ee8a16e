// The shell: which view an address names, and one way to say that something went wrong.
import { compareView } from "./compare.js";
import { episodeView } from "./episode.js";
import { episodes } from "./episodes.js";
import { lobbyView } from "./lobby.js";
import { capital } from "./look.js";
import { server } from "./server.js";

const main = document.getElementById("main");
let left = null;

async function viewed(lobby, [name, first, second]) {
  if (name === "play") return episodeView(lobby, await episodes.find(first));
  if (name === "compare") return compareView(lobby, first, second);
  return lobbyView(lobby, first);
}

async function route(lobby) {
  const parts = location.hash.replace(/^#\/?/, "").split("/").map(decodeURIComponent);
  if (location.hash && !location.hash.startsWith("#/")) return;
  delete document.body.dataset.ready;
  if (left) left();
  left = null;
  const here = location.hash;
  let view;
  try {
    view = await viewed(lobby, parts);
  } catch (fault) {
    view = { root: el("div", { class: "card sorry" }, el("p", {}, `${capital(fault.message)}.`), el("a", { class: "act", href: "#/" }, "To the cases")) };
  }
  if (location.hash !== here) return;
  left = view.leave || null;
  main.replaceChildren(view.root);
  document.title = view.title ? `${view.title} · CAMRE Studio` : "CAMRE Studio";
  for (const link of document.querySelectorAll(".top nav a")) {
    const current = link.dataset.view === (parts[0] === "compare" ? "compare" : parts[0] === "play" ? "" : "cases");
    current ? link.setAttribute("aria-current", "page") : link.removeAttribute("aria-current");
  }
  window.scrollTo(0, 0);
  await chartsDrawn();
  if (location.hash === here) document.body.dataset.ready = "yes";
}

theme();
server.lobby().then((lobby) => {
  window.addEventListener("hashchange", () => route(lobby));
  return route(lobby);
}).catch((fault) => main.replaceChildren(el("p", { class: "loading" }, `${capital(fault.message)}.`)));
