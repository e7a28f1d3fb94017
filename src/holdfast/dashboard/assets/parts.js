// Pieces that every page uses: badges, states, figures, commands to copy, times in words.

import { h } from "./ui.js";
import { notify } from "./state.js";

const PATHS = {
  overview: "M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-4H4zM14 8h6V4h-6z",
  codebases: "M8 7 3 12l5 5M16 7l5 5-5 5M14 4l-4 16",
  search: "M11 18a7 7 0 1 0 0-14 7 7 0 0 0 0 14zM16 16l4.5 4.5",
  sessions: "M6 4v12a4 4 0 0 0 4 4h8M6 9h8a4 4 0 0 0 4-4V4M18 17v6M15 20h6",
  savings: "M4 20V10M10 20V4M16 20v-8M22 20H2",
  memory: "M5 6c0-1.7 3.1-3 7-3s7 1.3 7 3-3.1 3-7 3-7-1.3-7-3zM5 6v12c0 1.7 3.1 3 7 3s7-1.3 7-3V6M5 12c0 1.7 3.1 3 7 3s7-1.3 7-3",
  clones: "M8 8h12v12H8zM4 16V4h12",
  health: "M3 12h4l3-8 4 16 3-8h4",
  moon: "M20 14.5A8.5 8.5 0 1 1 9.5 4a7 7 0 0 0 10.5 10.5z",
  sun: "M12 16a4 4 0 1 0 0-8 4 4 0 0 0 0 8zM12 2v2M12 20v2M2 12h2M20 12h2M5 5l1.4 1.4M17.6 17.6 19 19M5 19l1.4-1.4M17.6 6.4 19 5",
  auto: "M12 3a9 9 0 1 0 0 18zM12 3a9 9 0 0 1 0 18",
  menu: "M4 7h16M4 12h16M4 17h16",
  copy: "M9 9h11v11H9zM5 15H4V4h11v1",
  close: "M6 6l12 12M18 6 6 18",
  branch: "M6 4v16M6 15c8 0 12-2 12-8M18 7a2 2 0 1 0 0-4 2 2 0 0 0 0 4z",
  link: "M10 14a4 4 0 0 0 6 .5l3-3a4.2 4.2 0 0 0-6-6l-1.5 1.5M14 10a4 4 0 0 0-6-.5l-3 3a4.2 4.2 0 0 0 6 6l1.5-1.5",
  file: "M6 3h8l4 4v14H6zM14 3v5h5",
  lock: "M6 11h12v9H6zM8.5 11V8a3.5 3.5 0 0 1 7 0v3",
  plug: "M9 3v5M15 3v5M6 8h12v3a6 6 0 0 1-12 0zM12 17v4",
  check: "M5 12.5 10 17.5 19.5 7",
  clock: "M12 21a9 9 0 1 0 0-18 9 9 0 0 0 0 18zM12 7v5l3.5 2",
};

export const icon = (name) =>
  h("svg", { class: "icon", viewBox: "0 0 24 24", "aria-hidden": "true" }, h("path", { d: PATHS[name] }));

export const badge = (kind, text, title) => h("span", { class: `badge ${kind}`, title }, text);

export const head = (title, text, ...acts) =>
  h("header", { class: "head" },
    h("div", null, h("h1", { tabindex: "-1" }, title), text && h("p", null, text)),
    acts.length > 0 && h("div", { class: "acts" }, acts));

export const card = (title, props, ...children) =>
  h("section", { class: "card", ...props, note: undefined, acts: undefined },
    title && h("header", null, h("h2", null, title), props?.note && h("p", null, props.note), props?.acts),
    children);

export const figure = (label, value, under) =>
  h("div", { class: "card tile" },
    h("span", { class: "label" }, label), h("span", { class: "figure" }, value), under && h("span", { class: "under" }, under));

export const state = (kind, picture, title, text, ...acts) =>
  h("div", { class: `state ${kind}`, role: kind === "bad" ? "alert" : undefined },
    icon(picture), h("h3", null, title), text && h("p", null, text), acts);

export const empty = (picture, title, text, ...acts) => state("", picture, title, text, ...acts);

/** Errors are lower-case clauses; on a page they stand alone. */
const sentence = (text) => (text ? `${text[0].toUpperCase()}${text.slice(1)}${/[.!?…)]$/.test(text) ? "" : "."}` : text);

export const failure = (error, again) =>
  state("bad", error.status === 401 || error.name === "AuthorizationError" ? "lock" : "plug",
    error.status === 401 ? "Not allowed" : "Something went wrong",
    sentence(error.message),
    error.hint && h("p", { class: "small" }, sentence(error.hint)),
    again && h("button", { class: "button", onclick: again }, "Try again"));

/** Room for what is on its way, as high as what will come, so that nothing jumps. */
export const loading = (rows = 4, height = "1.25rem") =>
  h("div", { class: "inner stack", "aria-busy": "true", "aria-label": "Loading" },
    Array.from({ length: rows }, (_, at) =>
      h("div", { class: "skeleton", style: { width: `${[92, 74, 86, 61, 80][at % 5]}%`, height } })));

/** What a resource shows: loading, an error, or its value. */
export function shown(resource, draw, again, rows) {
  if (resource.value !== undefined) return draw(resource.value);
  if (resource.status === "error") return failure(resource.error, again);
  return resource.status === "loading" ? loading(rows) : null;
}

/** A word as a shell must be given it, whatever is in it. */
export const quoted = (word) => (/^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`);

export const command = (text) =>
  h("div", { class: "command" },
    h("code", { tabindex: "0", "aria-label": `Command: ${text}` }, text),
    h("button", {
      class: "button quiet small", title: "Copy", "aria-label": `Copy the command ${text}`,
      onclick: async () => {
        try {
          await navigator.clipboard.writeText(text);
          notify("Copied.");
        } catch {
          notify("This browser does not allow copying; select the text instead.", "warn");
        }
      },
    }, icon("copy")));

export const facts = (pairs) =>
  h("dl", { class: "facts" },
    pairs.filter(([, value]) => value !== null && value !== undefined && value !== "")
      .map(([name, value]) => [h("dt", null, name), h("dd", null, value)]));

export const segments = (label, chosen, options, choose) =>
  h("div", { class: "segments", role: "group", "aria-label": label },
    options.map(([value, text, title]) =>
      h("button", {
        type: "button", "aria-pressed": String(value === chosen), title, "aria-label": title,
        onclick: () => choose(value),
      }, text)));

export function tabs(label, chosen, options, choose) {
  const move = (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const at = options.findIndex(([value]) => value === chosen);
    const next = options[(at + step + options.length) % options.length][0];
    choose(next);
    event.currentTarget.querySelector(`[data-tab="${next}"]`)?.focus();
  };
  return h("div", { class: "tabs", role: "tablist", "aria-label": label, onkeydown: move },
    options.map(([value, text]) =>
      h("button", {
        type: "button", role: "tab", "data-tab": value, "aria-selected": String(value === chosen),
        tabindex: value === chosen ? "0" : "-1", onclick: () => choose(value),
      }, text)));
}

export const choose = (label, value, options, onchange, props) =>
  h("label", { class: "field", ...props }, label,
    h("select", { class: "input", value, onchange: (event) => onchange(event.target.value) },
      options.map(([name, text]) => h("option", { value: name, selected: name === value }, text))));

// numbers and times in words

const whole = new Intl.NumberFormat("en-GB");
export const number = (value) => (value === null || value === undefined ? "–" : whole.format(value));

const plural = (noun) =>
  /[^aeiou]y$/.test(noun) ? `${noun.slice(0, -1)}ies` : /(s|x|ch|sh)$/.test(noun) ? `${noun}es` : `${noun}s`;
export const counted = (count, noun) => `${number(count)} ${count === 1 ? noun : plural(noun)}`;

/** 1234567 -> 1.23 M */
export function brief(value) {
  if (value < 10_000) return number(value);
  if (value < 1_000_000) return `${(value / 1000).toFixed(value < 100_000 ? 1 : 0)} k`;
  return `${(value / 1_000_000).toFixed(2)} M`;
}

export function size(bytes) {
  if (bytes < 1024) return `${bytes} B`;
  const [value, unit] = bytes < 1024 ** 2 ? [bytes / 1024, "KB"] : bytes < 1024 ** 3 ? [bytes / 1024 ** 2, "MB"] : [bytes / 1024 ** 3, "GB"];
  return `${value.toFixed(value < 10 ? 1 : 0)} ${unit}`;
}

export const percent = (part, total) => (total > 0 ? `${Math.round((100 * part) / total)} %` : "–");

export function ago(when, now = Date.now()) {
  if (!when) return "–";
  const seconds = Math.max(0, (now - new Date(when).getTime()) / 1000);
  if (seconds < 45) return "just now";
  if (seconds < 3600) return `${Math.round(seconds / 60)} min ago`;
  if (seconds < 86_400) return `${Math.round(seconds / 3600)} h ago`;
  const days = Math.round(seconds / 86_400);
  return days === 1 ? "yesterday" : `${days} days ago`;
}

export const moment = (when) =>
  when ? new Date(when).toLocaleString("en-GB", { dateStyle: "medium", timeStyle: "short" }) : "–";

export const time = (when) => h("time", { datetime: when ?? "", title: moment(when), class: "nowrap" }, ago(when));

export const short = (path, root) => (root && path.startsWith(`${root}/`) ? path.slice(root.length + 1) : path);

export function tail(path, parts = 3) {
  const all = path.split("/");
  return all.length > parts + 1 ? `…/${all.slice(-parts).join("/")}` : path;
}

export const json = (value) => (value === undefined ? "(nothing)" : JSON.stringify(value, null, 2));
