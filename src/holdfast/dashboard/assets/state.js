// What every page sees: the connection, the live documents, where we are, and how to go elsewhere.

import { Sync } from "./sync.js";
import { scheduler } from "./ui.js";

const LIVE = document.documentElement.dataset.space;
const BOARD = "live:board";

let draw = () => {};
export const changed = scheduler(() => draw());
export const drawWith = (fn) => {
  draw = fn;
};

const scheme = location.protocol === "https:" ? "wss" : "ws";
export const sync = new Sync(`${scheme}://${location.host}/sync`, changed);
export const live = sync.space(LIVE);
live.listen(changed);
live.watch("board", [BOARD]).catch(() => {});
addEventListener("online", () => sync.retry());
document.addEventListener("visibilitychange", () => document.hidden || sync.retry());

/** The documents of one kind that the board leads to, by name. */
export function all(kind) {
  const board = live.get(BOARD)?.value;
  const found = [];
  for (const [name, link] of Object.entries(board?.[`${kind}s`] ?? {})) {
    const value = live.get(link["/"]["link@1"].id)?.value;
    if (value) found.push({ key: name, ...value });
  }
  return found.sort((a, b) => (a.name ?? a.key).localeCompare(b.name ?? b.key));
}

export const one = (kind, name) => all(kind).find((each) => each.key === name);
export const savings = () => live.get("live:savings")?.value?.hours ?? [];
export const health = () => live.get("live:health")?.value;

/** Whether the live documents have arrived. */
export const arrived = () => live.get(BOARD) !== undefined;

// where we are: #/page/argument?name=value

export function here() {
  const [path, query = ""] = location.hash.replace(/^#\/?/, "").split("?");
  const [page = "", ...rest] = path.split("/").map(decoded);
  return { page, rest, query: Object.fromEntries(new URLSearchParams(query)) };
}

/** A part of an address; one that is not well escaped is taken as it stands. */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

export function to(page, rest = [], query = {}) {
  const path = [page, ...rest].map(encodeURIComponent).join("/");
  const asked = new URLSearchParams(Object.entries(query).filter(([, value]) => value));
  return `#/${path}${asked.size ? `?${asked}` : ""}`;
}

export function go(page, rest, query) {
  location.hash = to(page, rest, query);
}

/** Change the query of this page without a new step back. */
export function refine(query) {
  const { page, rest, query: before } = here();
  history.replaceState(null, "", to(page, rest, { ...before, ...query }));
  changed();
}

// small notices

export const notices = [];
let serial = 0;
export function notify(text, kind = "ok") {
  const notice = { id: ++serial, text, kind };
  notices.push(notice);
  changed();
  setTimeout(() => {
    notices.splice(notices.indexOf(notice), 1);
    changed();
  }, 6000);
}

// colours

export function theme() {
  return document.documentElement.dataset.theme ?? "system";
}

export function setTheme(name) {
  if (name === "system") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  try {
    if (name === "system") localStorage.removeItem("holdfast.theme");
    else localStorage.setItem("holdfast.theme", name);
  } catch {
    // Without storage it holds until the page is left.
  }
  changed();
}
