// Source as it is read: numbered lines, and just enough colour to find one's way.

import { h } from "./ui.js";

const WORDS = new Set(
  ("and as assert async await break case catch class const continue def default del do elif else enum export extends " +
    "finally fn for from func function global go if impl implements import in interface is lambda let match mod module " +
    "namespace new not or package pass private protected pub public raise return self static struct super switch " +
    "template this throw trait try type typeof use var while with yield None True False null true false undefined").split(" "),
);
const TOKEN =
  /("""[\s\S]*?"""|'''[\s\S]*?'''|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`)|(\/\/[^\n]*|#[^\n]*|\/\*[\s\S]*?\*\/)|\b(\d[\w.]*)\b|([A-Za-z_$][\w$]*)/g;

/** The text as runs of one kind each: [["k", "def"], ["", " "], …]. */
export function runs(text) {
  const found = [];
  let at = 0;
  let defines = false;
  for (const match of text.matchAll(TOKEN)) {
    if (match.index > at) found.push(["", text.slice(at, match.index)]);
    const [word, quoted, comment, digits, name] = match;
    let kind = quoted ? "s" : comment ? "c" : digits ? "n" : WORDS.has(name) ? "k" : "";
    if (name && !kind && defines) kind = "d";
    if (name) defines = /^(def|class|function|interface|struct|fn|func|enum|trait)$/.test(name);
    found.push([kind, word]);
    at = match.index + word.length;
  }
  if (at < text.length) found.push(["", text.slice(at)]);
  return found;
}

/** Runs cut at line ends: one list of runs per line. */
export function lines(text) {
  const out = [[]];
  for (const [kind, run] of runs(text)) {
    run.split("\n").forEach((part, at) => {
      if (at > 0) out.push([]);
      if (part) out[out.length - 1].push([kind, part]);
    });
  }
  return out;
}

export const code = (text, first = 1, { label = "Source" } = {}) =>
  h("div", { class: "code", tabindex: "0", role: "region", "aria-label": label },
    lines(text.replace(/\n$/, "")).map((row, at) =>
      h("div", { class: "line" },
        h("b", { "aria-hidden": "true" }, String(first + at)),
        h("span", null, row.map(([kind, part]) => (kind ? h("span", { class: `t-${kind}` }, part) : part))))));
