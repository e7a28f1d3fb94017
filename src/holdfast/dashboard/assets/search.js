// Search, with the outline of a file and the calls of a symbol drawn beside it; and locate.

import { ask, h, resource } from "./ui.js";
import { all, arrived, changed, go, refine, to } from "./state.js";
import { badge, card, choose, counted, empty, failure, head, icon, loading, segments, shown, tabs } from "./parts.js";
import { code } from "./code.js";
import { callGraph } from "./draw.js";

const spanned = ({ startLine, endLine }) => (startLine === endLine ? `${startLine}` : `${startLine}–${endLine}`);

const results = resource(changed), outline = resource(changed), calls = resource(changed), mentions = resource(changed), source = resource(changed), located = resource(changed);
const state = { typed: "", q: undefined, asked: "", opened: "", depth: 1, snippet: "" };
const LINES = 60;
const SCOPES = [["runtime", "Code"], ["mixed", "Code and docs"], ["docs", "Docs"]];

const EVERY = "*";
const rootOf = (query) => query.root || (all("codebase").length > 1 ? EVERY : undefined) || all("codebase").find((codebase) => codebase.state === "ready")?.root || all("codebase")[0]?.root;

export function search({ query }) {
  if (!arrived()) return [head("Search"), card(null, {}, loading(6))];
  const found = all("codebase");
  if (!found.length) {
    return [head("Search"), card(null, {}, empty("search", "Nothing to search", "Track a tree first: holdfast index create."))];
  }
  const root = rootOf(query);
  const locating = query.mode === "locate";
  return [
    head("Search", locating ? "How much of a snippet exists, where, and what differs first." : "A name, a phrase or a behaviour; the best matches first."),
    tabs("Kind of search", locating ? "locate" : "search", [["search", "Search"], ["locate", "Locate a snippet"]], (mode) => refine({ mode: mode === "locate" ? mode : "" })),
    locating ? locate(found, root === EVERY ? (found.find((codebase) => codebase.state === "ready") ?? found[0]).root : root, query) : [form(found, root, query), body(root, query)],
  ];
}

function form(found, root, query) {
  const scope = query.scope || "runtime";
  if (state.q !== query.q) {
    // The address has another query now: it wins over what was typed for the one before.
    state.q = query.q;
    state.typed = query.q ?? state.typed;
  }
  const sessions = all("session");
  const run = (event) => {
    event.preventDefault();
    go("search", [], { root, q: state.typed.trim(), scope: scope === "runtime" ? "" : scope, as: query.as });
  };
  return h("form", { class: "row", role: "search", onsubmit: run },
    h("label", { class: "field grow" }, "Query",
      h("input", {
        class: "input", id: "query", type: "search", autocomplete: "off", spellcheck: "false", enterkeyhint: "search",
        placeholder: "where are prices rounded", value: state.typed, oninput: (event) => (state.typed = event.target.value),
      })),
    choose("Codebase", root, [...(found.length > 1 ? [[EVERY, "All codebases"]] : []), ...found.map((codebase) => [codebase.root, codebase.name])], (value) => refine({ root: value, file: "", symbol: "" })),
    choose("Scope", scope, SCOPES, (value) => refine({ scope: value === "runtime" ? "" : value })),
    sessions.length > 0 && choose("Mark what a session holds", query.as ?? "", [["", "no session"], ...sessions.map((session) => [session.key, session.name])], (value) => refine({ as: value })),
    h("div", { class: "field" }, h("span", { "aria-hidden": "true" }, "\u00a0"), h("button", { class: "button primary", type: "submit" }, icon("search"), "Search")));
}

function body(root, query) {
  const asked = JSON.stringify([root, query.q, query.scope, query.as]);
  if (query.q && state.asked !== asked) {
    state.asked = asked;
    results.reset();
    results.load(() => ask("search", { root, query: query.q, scope: query.scope || "runtime", limit: 12, name: query.as }));
  }
  if (!query.q) {
    return card(null, {}, empty("search", "Ask for anything", "Press / to type, and Enter to search. Results show their owner, its outline and who calls it."));
  }
  return h("div", { class: "wider" },
    h("div", { class: "stack" }, card("Results", { "aria-live": "polite", acts: fresh(results.value) }, shown(results, (value) => answers(value, root, query), () => (state.asked = "") || changed(), 6))),
    beside(query.tree || root, query));
}

function fresh(value) {
  const stats = value?.freshnessDecision?.stats;
  if (!value || value.status !== "ok") return null;
  return stats ? badge("busy", `${counted(stats.added + stats.modified + stats.removed, "changed file")} included`) : badge("ok", "Current");
}

function answers(value, root, query) {
  if (value.status !== "ok") return empty("search", value.status.replace("_", " "), value.message);
  if (!value.results.length) return empty("search", "Nothing found", "Try other words, or a wider scope.");
  return h("ul", { class: "list" }, value.results.map((result) => {
    const symbol = result.symbolId ?? "";
    const current = query.file === result.file && (query.symbol ?? "") === symbol;
    return h("li", { key: result.groupId },
      h("button", {
        class: "item stack tight", "aria-current": String(current), "data-result": result.symbolLabel ?? result.file,
        onclick: () => refine({ file: result.file, symbol, tree: result.codebasePath ?? "" }),
      },
      h("div", { class: "row spread" },
        h("strong", { class: "mono clip" }, result.symbolLabel ?? result.file.split("/").at(-1)),
        h("span", { class: "row" }, result.in_context && badge("accent", "In context", "the session holds these lines as they are now"), result.symbolKind && badge("plain", result.symbolKind))),
      h("div", { class: "small muted mono clip" }, `${result.codebasePath ? `${result.codebasePath.split("/").at(-1)}: ` : ""}${result.file}:${spanned(result.span)}`)),
      h("div", { class: "inner" }, current ? text(result.codebasePath ?? root, result) : glimpse(result),
        further(result)));
  }));
}

/** Other places of the same file that match. */
function further(result) {
  const places = result.further ?? [];
  return places.length > 0 && h("div", { class: "further" },
    h("span", { class: "small muted" }, "Also in this file:"),
    places.map((place) => h("button", {
      key: place.span.startLine, class: "button quiet small clip",
      onclick: () => refine({ file: result.file, symbol: place.symbolId ?? "", tree: result.codebasePath ?? "" }),
    }, `${place.symbolLabel ?? "lines"} ${spanned(place.span)}`)));
}

/** The first lines of a result, as the search found them. */
function glimpse(result) {
  const lines = (result.preview ?? result.content ?? "").split("\n").filter((line) => line.trim()).slice(0, 5);
  return lines.length > 0 && h("pre", { class: "glimpse", "aria-label": `First lines of ${result.symbolLabel ?? result.file}` }, lines.join("\n"));
}

/** The lines of a result as they are now; a preview may leave some out. */
function text(root, { file, span, symbolLabel }) {
  const wanted = JSON.stringify([root, file, span]);
  if (state.source !== wanted) {
    state.source = wanted;
    source.reset();
    source.load(() => ask("file", { root, file, start: span.startLine, end: Math.min(span.endLine, span.startLine + LINES - 1) }));
  }
  return shown(source, (value) => value.content === undefined ? h("p", { class: "muted small" }, value.message ?? value.status)
    : [code(value.content.trimEnd(), span.startLine, { label: `Source of ${symbolLabel ?? file}` }),
      span.endLine - span.startLine >= LINES && h("p", { class: "small muted" }, `The first ${LINES} of ${span.endLine - span.startLine + 1} lines.`)], undefined, 3);
}

function beside(root, query) {
  if (!query.file) {
    return card("Outline and calls", {}, empty("file", "Choose a result", "Its file's outline and the calls of its symbol are drawn here."));
  }
  const opened = JSON.stringify([root, query.file, query.symbol, state.depth]);
  if (state.opened !== opened) {
    const file = JSON.stringify([root, query.file]);
    if (state.file !== file) {
      state.file = file;
      outline.reset();
      outline.load(() => ask("outline", { root, file: query.file }));
    }
    state.opened = opened;
    calls.reset();
    if (query.symbol) calls.load(() => ask("calls", { root, file: query.file, symbol: query.symbol, depth: state.depth }));
    const mentioned = JSON.stringify([root, query.file, query.symbol]);
    if (state.mentioned !== mentioned) {
      state.mentioned = mentioned;
      mentions.reset();
      if (query.symbol) mentions.load(() => ask("references", { root, file: query.file, symbol: query.symbol }));
    }
  }
  return h("div", { class: "stack" },
    card("Calls", { acts: query.symbol && segments("Depth", state.depth, [[1, "1"], [2, "2"], [3, "3"]], (depth) => { state.depth = depth; changed(); }) },
      query.symbol ? shown(calls, (value) => graph(value, root, query), undefined, 3) : empty("branch", "No symbol chosen", "Choose one in the outline below.")),
    query.symbol && card("References", {}, shown(mentions, (value) => referenceList(value), undefined, 3)),
    card("Outline", { note: query.file }, shown(outline, (value) => symbols(value, query), undefined, 5)));
}

function graph(value, root, query) {
  if (value.status !== "ok") return empty("branch", value.status.replace("_", " "), value.message);
  const focus = value.nodes[0]?.symbolId;
  if (!value.edges.length) return empty("branch", "No calls known", value.totalNoteCount ? `${counted(value.totalNoteCount, "call")} ${value.totalNoteCount === 1 ? "leads" : "lead"} out of the tree.` : "Nothing here calls it, and it calls nothing here.");
  return h("div", { class: "inner stack tight" },
    h("div", { class: "scroller", "data-graph": focus, tabindex: "0", role: "group", "aria-label": "Calls drawn as a graph" }, innerWidth < 640 ? callList(value, focus) : callGraph(value.nodes, value.edges, focus, (node) => refine({ file: node.file, symbol: node.symbolId }))),
    h("p", { class: "small muted" },
      `${counted(value.edges.length, "call")}. Callers are left, callees right; a dashed line is a lead to verify.`,
      value.warnings?.includes("CALL_GRAPH_EDGES_TRUNCATED") && " There are more than are drawn.",
      value.totalNoteCount > 0 && ` ${counted(value.totalNoteCount, "call")} more ${value.totalNoteCount === 1 ? "leads out of the tree or is" : "lead out of the tree or are"} not known.`));
}

/** Callers and callees as a list: a drawing does not fit on a phone. */
function callList(value, focus) {
  const byId = new Map(value.nodes.map((node) => [node.symbolId, node]));
  const side = (title, from, into) => {
    const found = value.edges.filter((edge) => edge[into] === focus).map((edge) => byId.get(edge[from])).filter(Boolean);
    return found.length > 0 && h("div", { class: "inner stack tight" }, h("strong", { class: "small" }, title), h("ul", { class: "stack tight" }, found.map((node) =>
      h("li", { key: node.symbolId }, h("button", { class: "button quiet small clip", onclick: () => refine({ file: node.file, symbol: node.symbolId }) }, node.symbolLabel ?? node.file)))));
  };
  return [side("Called by", "srcSymbolId", "dstSymbolId"), side("Calls", "dstSymbolId", "srcSymbolId")];
}

const SURE = 0.9;

/** Every mention of a symbol, grouped by kind; what could not be decided is counted. */
function referenceList(value) {
  if (value.status !== "ok") return empty("branch", value.status.replace("_", " "), value.message);
  const places = value.references ?? [], undecided = value.undecided ?? 0;
  const unknown = undecided > 0 && `${counted(undecided, "mention")} of the name could not be decided.`;
  if (!places.length) return empty("branch", "No mentions known", unknown || "Nothing in the tree mentions it.");
  const kinds = [...new Set(places.map((place) => place.kind))];
  const count = (kind) => value.counts?.find((one) => one.kind === kind)?.count ?? places.filter((place) => place.kind === kind).length;
  return h("div", { class: "inner stack tight", "data-references": value.symbol },
    kinds.map((kind) => h("div", { class: "stack tight", key: kind },
      h("strong", { class: "small" }, `${kind} (${count(kind)})`),
      h("ul", { class: "stack tight" }, places.filter((place) => place.kind === kind).map((place, at) =>
        h("li", { key: `${kind}${at}` },
          h("button", { class: "button quiet small clip", title: place.text, onclick: () => refine({ file: place.file, symbol: place.symbolId }) }, `${place.file}:${place.line}`),
          place.confidence < SURE && badge("warn", `${place.confidence.toFixed(2)} ${place.reason}`)))))),
    value.total > places.length && h("p", { class: "small muted" }, `${places.length} of ${value.total} are listed.`),
    unknown && h("p", { class: "small muted" }, unknown),
    value.complete === false && h("p", { class: "small muted" }, "Not complete: some files were not read."));
}

function symbols(value, query) {
  if (!value.outline) return empty("file", value.status.replace("_", " "), value.message);
  // A warning is a code for programs, a colon, its kind, and the sentence.
  const warnings = (value.warnings ?? []).map((text) => h("p", { class: "small muted" }, text.replace(/^[A-Z_]+:\w+ /, "")));
  if (!value.outline.symbols.length) return [empty("file", "No symbols", "The file has none that are known."), ...warnings];
  return [...warnings, h("ul", { class: "inner outline" }, value.outline.symbols.map((symbol) =>
    h("li", { key: symbol.symbolId },
      h("button", {
        class: "clip", style: { "padding-left": `${0.5 + 0.9 * (symbol.symbolLabel.split(".").length - 1)}rem` },
        "aria-current": String(symbol.symbolId === query.symbol), title: symbol.signature,
        onclick: () => refine({ symbol: symbol.symbolId }),
      }, h("span", { class: "kind" }, symbol.kind), symbol.name),
      h("span", { class: "small muted num" }, spanned(symbol.span)))))];
}

function locate(found, root) {
  const run = (event) => {
    event?.preventDefault();
    if (!state.snippet.trim()) return;
    located.load(() => ask("locate", { root, snippet: state.snippet }));
  };
  return [
    h("form", { class: "stack", onsubmit: run },
      h("label", { class: "field" }, "Snippet",
        h("textarea", { class: "input", rows: "6", spellcheck: "false", value: state.snippet, placeholder: "Paste code that should exist", oninput: (event) => (state.snippet = event.target.value) })),
      h("div", { class: "row" },
        choose("Codebase", root, found.map((codebase) => [codebase.root, codebase.name]), (value) => refine({ root: value })),
        h("div", { class: "field" }, h("span", { "aria-hidden": "true" }, "\u00a0"), h("button", { class: "button primary", type: "submit" }, icon("search"), "Locate")))),
    located.status !== "idle" && card("Answer", { "aria-live": "polite", acts: located.value && badge(located.value.exhausted ? "ok" : "warn", located.value.exhausted ? "All of it" : `${located.value.matched} of ${located.value.tokens} tokens`) },
      located.status === "error" ? failure(located.error, run) : located.value === undefined || located.status === "loading" ? loading(3) : whereabouts(located.value, root)),
  ];
}

function whereabouts(value, root) {
  const difference = value.difference;
  return h("div", { class: "inner stack" },
    h("p", null, value.exhausted ? `All ${value.tokens} tokens stand ${value.count === 1 ? "once" : `${value.count} times`} in this tree.`
      : value.matched === 0 ? "Not even its first token stands in this tree."
        : `The first ${value.matched} of ${value.tokens} tokens stand ${value.count === 1 ? "once" : `${value.count} times`}; then it differs.`),
    difference && h("div", { class: "change" },
      h("span", { class: "at" }, `line ${difference.snippet.line} of the snippet has, and the tree has instead`),
      h("div", { class: "was" }, difference.snippet.token ?? "(the end)"),
      difference.tree.map((one) => h("div", { class: "is" }, `${one.token ?? "(the end of the file)"}   ${one.path}:${one.line}`))),
    value.copies.length > 0 && h("ul", { class: "stack tight" }, value.copies.map((copy) =>
      h("li", { class: "mono small" }, h("a", { href: to("search", [], { root, file: copy.path, q: copy.path }) }, `${copy.path}:${copy.line}`)))));
}
