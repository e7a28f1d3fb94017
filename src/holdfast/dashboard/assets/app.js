// The frame around the pages: navigation, the connection, shortcuts, the command palette.

import { ask, h, render, resource } from "./ui.js";
import { all, changed, drawWith, go, here, live, notices, refine, setTheme, sync, theme, to } from "./state.js";
import { card, head, icon, number, segments, state as shownState } from "./parts.js";
import { overview } from "./overview.js";
import { codebases } from "./codebases.js";
import { search } from "./search.js";
import { sessions } from "./sessions.js";
import { savingsPage } from "./savings.js";
import { memory } from "./memory.js";
import { clones } from "./clones.js";
import { healthPage } from "./health.js";

const PAGES = [
  ["", "Overview", overview, "overview", "o"],
  ["codebases", "Codebases", codebases, "codebases", "c"],
  ["search", "Search", search, "search", "s"],
  ["sessions", "Sessions", sessions, "sessions", "e"],
  ["savings", "Savings", savingsPage, "savings", "v"],
  ["memory", "Memory", memory, "memory", "m"],
  ["clones", "Clones", clones, "clones", "l"],
  ["health", "Health", healthPage, "health", "h"],
];
const WIRE = {
  connected: "Live",
  connecting: "Connecting",
  waiting: "Connection lost",
  refused: "Refused",
};
const frame = { menu: false, dialog: null, typed: "", chosen: 0, page: null, focus: null };

const named = resource(changed);
let asking;

/** Files and symbols with the typed words, asked for when typing pauses. */
function lookUp(typed) {
  clearTimeout(asking);
  if (typed.trim().length < 2) {
    named.reset();
    return;
  }
  asking = setTimeout(() => named.load(() => ask("names", { query: typed.trim() })), 150);
}

const counts = () => ({ codebases: all("codebase").length, sessions: all("session").length });

function rail(place) {
  const found = counts();
  return h("aside", { class: frame.menu ? "rail shown" : "rail", id: "rail" },
    h("a", { class: "brand", href: to("") }, h("img", { src: "/assets/mark.svg", alt: "", width: 28, height: 28 }), "Holdfast"),
    h("nav", { "aria-label": "Pages" }, PAGES.map(([name, title, , picture]) =>
      h("a", { key: name, href: to(name), "aria-current": place.page === name ? "page" : undefined, onclick: () => { frame.menu = false; changed(); } },
        icon(picture), title, found[name] > 0 && h("span", { class: "count" }, number(found[name]))))),
    h("div", { class: "foot" },
      h("button", { class: "button quiet wide small", onclick: () => open("palette") }, icon("search"), "Go to…", h("span", { class: "kbd" }, "Ctrl K")),
      segments("Colours", theme(), [["light", icon("sun"), "Light"], ["system", icon("auto"), "Same as the system"], ["dark", icon("moon"), "Dark"]], setTheme),
      wire()));
}

function wire() {
  const name = live.state === "forbidden" ? "forbidden" : sync.state;
  return h("div", { class: `wire ${name}`, role: "status" }, h("span", { class: "dot" }), name === "forbidden" ? "No permission" : WIRE[name] ?? name);
}

function bar() {
  if (sync.state === "waiting" || (sync.state === "connecting" && sync.reason !== undefined)) {
    return h("div", { class: "bar", role: "alert" }, "The connection to the server was lost; this page shows the last known state. Reconnecting automatically.",
      h("button", { class: "button small", onclick: () => sync.retry() }, "Try now"));
  }
  return null;
}

function draw() {
  const place = here();
  if (place.page === "overview") place.page = "";
  const page = PAGES.find(([name]) => name === place.page);
  document.title = page && page[0] ? `${page[1]} · Holdfast` : "Holdfast";
  let content;
  if (live.state === "forbidden") {
    content = card(null, {}, shownState("bad", "lock", "No permission", "This server requires signed sessions, and a web page has no key. Use a terminal instead: holdfast memory watch --key NAME."));
  } else if (live.state === "failed") {
    content = card(null, {}, shownState("bad", "plug", "The live documents cannot be read", live.problem?.message));
  } else if (!page) {
    content = [head("Page not found"), card(null, {}, shownState("", "search", "There is no page at this address", null, h("a", { class: "button", href: to("") }, "Overview")))];
  } else {
    content = page[2](place);
  }
  render(document.body,
    h("a", { class: "skip", href: "#main", onclick: (event) => { event.preventDefault(); document.getElementById("main").focus(); } }, "Skip to content"),
    h("div", { class: "frame" },
      rail(place),
      frame.menu && h("button", { class: "shade", "aria-label": "Close the menu", onclick: () => { frame.menu = false; changed(); } }),
      h("div", { class: "main" },
        h("div", { class: "top" },
          h("button", { class: "button quiet small", "aria-label": "Menu", "aria-expanded": String(frame.menu), "aria-controls": "rail", onclick: () => { frame.menu = !frame.menu; changed(); } }, icon("menu")),
          h("a", { class: "brand", href: to("") }, "Holdfast"), wire(),
          h("button", { class: "button quiet small", "aria-label": "Go to a page", onclick: () => open("palette") }, icon("search"))),
        bar(),
        h("main", { class: "page", id: "main", tabindex: "-1", key: place.page }, content))),
    h("div", { class: "notices", role: "status", "aria-live": "polite" }, notices.map((notice) => h("div", { key: notice.id, class: `notice ${notice.kind}` }, notice.text))),
    frame.dialog && dialog());
  frame.page = place.page;
  const wanted = frame.focus && !frame.dialog && document.querySelector(frame.focus);
  if (wanted) {
    frame.focus = null;
    wanted.focus({ preventScroll: true });
  }
}

// dialogs

function open(name) {
  frame.dialog = name;
  frame.typed = "";
  frame.chosen = 0;
  frame.menu = false;
  changed();
}

function close() {
  frame.dialog = null;
  changed();
}

function places() {
  return [
    ...PAGES.map(([name, title, , picture]) => ({ key: `p${name}`, title, kind: "page", picture, act: () => go(name) })),
    ...all("codebase").map((codebase) => ({ key: `c${codebase.key}`, title: codebase.name, kind: "codebase", picture: "codebases", act: () => go("codebases", [codebase.key]) })),
    ...all("session").map((session) => ({ key: `s${session.key}`, title: session.name, kind: "session", picture: "sessions", act: () => go("sessions", [session.key]) })),
    ...all("space").flatMap((space) => space.branches.filter((b) => b.name && b.status === "active").map((branch) => ({
      key: `b${space.name}${branch.name}`, title: branch.name, kind: "branch", picture: "branch", act: () => go("memory", [space.name], { view: "branches", branch: branch.name }),
    }))),
    { key: "light", title: "Light colours", kind: "colours", picture: "sun", act: () => setTheme("light") },
    { key: "dark", title: "Dark colours", kind: "colours", picture: "moon", act: () => setTheme("dark") },
    { key: "system", title: "Colours of the system", kind: "colours", picture: "auto", act: () => setTheme("system") },
    { key: "keys", title: "Keyboard shortcuts", kind: "help", picture: "check", act: () => open("keys") },
  ];
}

function dialog() {
  const shown = (dom) => dom.showModal();
  const ended = () => close();
  if (frame.dialog === "keys") {
    return h("dialog", { key: "keys", "aria-label": "Keyboard shortcuts", mounted: shown, onclose: ended },
      h("div", { class: "dialog-head" }, h("h2", null, "Keyboard"), h("button", { class: "button quiet small", "aria-label": "Close", onclick: close }, icon("close"))),
      h("div", { class: "keys" }, [["Ctrl K", "Go to anything"], ["/", "Search"], ["t", "Light or dark"], ["?", "This list"], ["Esc", "Close"], ...PAGES.map(([, title, , , key]) => [`g ${key}`, title])]
        .map(([keys, what]) => [h("span", { class: "row" }, keys.split(" ").map((key) => h("span", { class: "kbd" }, key))), h("span", null, what)])));
  }
  const words = frame.typed.toLowerCase().split(/\s+/).filter(Boolean);
  const fixed = places().filter((place) => words.every((word) => `${place.title} ${place.kind}`.toLowerCase().includes(word))).slice(0, 8);
  const code = words.length ? (named.value?.places ?? []).filter((place) => words.every((word) => `${place.symbolLabel ?? ""} ${place.file}`.toLowerCase().includes(word))).map((place) => ({
    key: `n${place.root}${place.file}${place.symbolId ?? ""}`, title: place.symbolLabel ?? place.file, kind: place.symbolLabel ? `symbol in ${place.file}` : "file", picture: place.symbolLabel ? "codebases" : "file",
    act: () => go("search", [], { root: place.root, q: place.symbolLabel ?? place.file.split("/").at(-1), file: place.file, symbol: place.symbolId }),
  })) : [];
  const found = [...fixed, ...code].slice(0, 14);
  frame.chosen = Math.min(frame.chosen, Math.max(0, found.length - 1));
  const take = (place) => {
    close();
    place?.act();
  };
  const key = (event) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
    if (step) {
      event.preventDefault();
      frame.chosen = (frame.chosen + step + found.length) % Math.max(1, found.length);
      changed();
    } else if (event.key === "Enter") {
      event.preventDefault();
      take(found[frame.chosen] ?? { act: () => go("search", [], { q: frame.typed }) });
    }
  };
  return h("dialog", { key: "palette", "aria-label": "Go to", mounted: shown, onclose: ended, onclick: (event) => event.target.tagName === "DIALOG" && close() },
    h("div", { class: "palette" },
      h("input", {
        type: "text", role: "combobox", "aria-label": "Go to", "aria-expanded": "true", "aria-controls": "places", "aria-activedescendant": found[frame.chosen] ? `place-${frame.chosen}` : undefined,
        placeholder: "Page, file, symbol, codebase, session, branch…", autocomplete: "off", autofocus: true, value: frame.typed, onkeydown: key,
        oninput: (event) => { frame.typed = event.target.value; frame.chosen = 0; lookUp(frame.typed); changed(); },
      }),
      h("ul", { id: "places", role: "listbox", "aria-label": "Places" },
        found.length ? found.map((place, at) => h("li", { key: place.key, id: `place-${at}`, role: "option", "aria-selected": String(at === frame.chosen), onclick: () => take(place) }, icon(place.picture), h("span", { class: "clip" }, place.title), h("span", { class: "muted clip" }, place.kind)))
          : h("li", { key: "search", id: "place-0", role: "option", "aria-selected": "true", onclick: () => take({ act: () => go("search", [], { q: frame.typed }) }) }, icon("search"), `Search code for “${frame.typed}”`))));
}

// shortcuts

let waiting = false;
addEventListener("keydown", (event) => {
  if ((event.ctrlKey || event.metaKey) && event.key.toLowerCase() === "k") {
    event.preventDefault();
    open("palette");
    return;
  }
  if (event.key === "Escape" && frame.menu) {
    frame.menu = false;
    changed();
    return;
  }
  const typing = event.target.closest?.("input, textarea, select, dialog") || event.ctrlKey || event.metaKey || event.altKey;
  if (typing) return;
  if (waiting) {
    waiting = false;
    const page = PAGES.find(([, , , , key]) => key === event.key);
    if (page) {
      event.preventDefault();
      go(page[0]);
    }
  } else if (event.key === "g") {
    waiting = true;
    setTimeout(() => (waiting = false), 1200);
  } else if (event.key === "/") {
    event.preventDefault();
    if (here().page !== "search") go("search");
    else if (here().query.mode) refine({ mode: "" });
    frame.focus = "#query";
    changed();
  } else if (event.key === "?") {
    open("keys");
  } else if (event.key === "t") {
    const dark = theme() === "system" ? matchMedia("(prefers-color-scheme: dark)").matches : theme() === "dark";
    setTheme(dark ? "light" : "dark");
  }
});

addEventListener("hashchange", () => {
  const moved = here().page !== frame.page;
  frame.menu = false;
  changed();
  if (moved) {
    // A new page starts at its top, and says its name to those who listen.
    scrollTo(0, 0);
    frame.focus ??= "main h1";
  }
});
addEventListener("resize", changed);
setInterval(changed, 30_000); // times in words grow old

drawWith(draw);
changed();
