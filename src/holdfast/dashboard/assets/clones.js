// The largest repeated blocks of a tree.

import { ask, h, resource } from "./ui.js";
import { all, arrived, changed, refine } from "./state.js";
import { badge, card, choose, counted, empty, figure, head, loading, number, percent, segments, shown } from "./parts.js";
import { code } from "./code.js";

const groups = resource(changed), source = resource(changed);
const state = { asked: "", open: null };

export function clones({ query }) {
  if (!arrived()) return [head("Clones"), card(null, {}, loading(6))];
  const found = all("codebase");
  if (!found.length) return [head("Clones"), card(null, {}, empty("clones", "No trees are tracked", "holdfast index create tracks one."))];
  const root = query.root || found.find((codebase) => codebase.state === "ready")?.root || found[0].root;
  const minimum = query.minimum || "50", renamed = query.renamed || "";
  const asked = JSON.stringify([root, minimum, renamed]);
  if (state.asked !== asked) {
    state.asked = asked;
    state.open = null;
    groups.reset();
    groups.load(() => ask("clones", { root, minimum, renamed }));
  }
  const summary = groups.value?.summary;
  return [
    head("Clones", "Blocks of code that occur more than once; first those whose removal saves the most.",
      choose("Codebase", root, found.map((codebase) => [codebase.root, codebase.name]), (value) => refine({ root: value })),
      choose("At least", minimum, ["25", "50", "100", "200"].map((n) => [n, `${n} tokens`]), (value) => refine({ minimum: value })),
      h("div", { class: "field" }, "Names", segments("Names", renamed, [["", "Exact"], ["1", "Renamed too"]], (value) => refine({ renamed: value })))),
    summary && h("div", { class: "tiles" },
      figure("Groups", number(summary.groups)), figure("Repeated", percent(summary.repeatedTokens ?? 0, summary.tokens)), figure("Files", number(summary.documents)), figure("Tokens", number(summary.tokens))),
    card("Repeated blocks", { "aria-live": "polite" }, shown(groups, (value) => list(value, root), () => (state.asked = "") || changed(), 6)),
  ];
}

function list(value, root) {
  if (!value.groups.length) return empty("clones", "No repeated block", "No block of this length occurs twice. Try a smaller size.");
  return h("ul", { class: "list" }, value.groups.map((group, at) => {
    const [first] = group.places;
    const height = first.endLine - first.line + 1;
    const open = state.open === at;
    return h("li", { key: at },
      h("button", { class: "item stack tight", "aria-expanded": String(open), onclick: () => toggle(at, open, group, root) },
        h("div", { class: "row spread" }, h("strong", null, `${counted(group.tokens, "token")}, ${counted(height, "line")}`),
          h("span", { class: "row" }, group.periodic && badge("plain", "repeats itself"), badge("warn", `${group.count} copies`))),
        group.firstLine && h("code", { class: "mono small clip" }, group.firstLine),
        group.places.slice(0, 6).map((place) => h("div", { class: "mono small muted clip" }, `${place.path}:${place.line}–${place.endLine}`)),
        group.places.length > 6 && h("div", { class: "small muted" }, `and ${group.places.length - 6} more`)),
      open && h("div", { class: "inner" }, shown(source, (text) => code(text, first.line, { label: `The block in ${first.path}` }), undefined, 4)));
  }));
}

function toggle(at, open, group, root) {
  state.open = open ? null : at;
  source.reset();
  const { path, line, endLine } = group.places[0];
  if (!open) {
    source.load(async () => {
      const answer = await ask("file", { root, file: path, start: line, end: endLine });
      return answer.content ?? answer.message;
    });
  }
  changed();
}
