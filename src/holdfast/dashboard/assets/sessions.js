// Sessions: a tree with its compactions, and the context map: what the agent holds, line by line.

import { ask, h, resource } from "./ui.js";
import { all, arrived, changed, one, refine, sync, to } from "./state.js";
import { badge, brief, card, command, counted, empty, figure, head, loading, number, percent, shown, tabs, tail, time } from "./parts.js";
import { strip } from "./draw.js";

const tree = resource(changed), context = resource(changed), lines = resource(changed);
const state = { of: "", file: "", unfolded: new Set() };

/** Session logs by the program that keeps them. */
const AGENTS = { native: "Holdfast", "claude-code": "Claude Code", codex: "Codex", opencode: "OpenCode", gemini: "Gemini CLI", qwen: "Qwen Code" };

export function sessions({ rest, query }) {
  if (!arrived()) return [head("Sessions"), card(null, {}, loading(6))];
  if (rest[0]) return detail(rest[0], query);
  const found = all("session").sort((a, b) => (b.lastAt ?? "").localeCompare(a.lastAt ?? ""));
  return [
    head("Sessions", "What each agent has in its context, read from its own log; what a compaction took away no longer counts."),
    card(null, {}, found.length
      ? h("ul", { class: "list" }, found.map((session) =>
        h("li", { key: session.key },
          h("a", { class: "item", href: to("sessions", [session.key]), "data-session": session.name },
            h("div", { class: "row spread" }, h("h2", null, session.name),
              h("span", { class: "row" }, session.doubt && badge("warn", "Proves nothing now"), badge("plain", AGENTS[session.host] ?? session.host), h("span", { class: "small muted" }, time(session.lastAt)))),
            h("div", { class: "row small muted num" },
              h("span", null, counted(session.entries, "entry")), h("span", null, counted(session.reads, "read")),
              h("span", null, counted(session.compactions, "compaction")), h("span", null, `holds ${counted(session.files, "file")}`),
              h("span", null, `saved ${brief(session.savedTokens)} tokens (${percent(session.savedTokens, session.savedTokens + session.sentTokens)})`))))))
      : empty("sessions", "No sessions yet", "A session begins with its first read.", command("holdfast read FILE --session NAME"))),
  ];
}

function detail(name, query) {
  const session = one("session", name);
  if (!session) return [head("Sessions"), card(null, {}, empty("sessions", "No such session", null, h("a", { class: "button", href: to("sessions") }, "All sessions")))];
  // The document says when something was added; then the tree is asked for again.
  const of = JSON.stringify([name, session.entries, session.leaf, session.lastAt, sync.epoch]);
  if (state.of !== of) {
    if (!state.of.startsWith(`["${name}"`)) {
      tree.reset();
      context.reset();
      state.file = "";
    }
    state.of = of;
    tree.load(() => ask("session", { name }));
    context.load(() => ask("context", { name }));
  }
  const view = query.view || "context";
  return [
    h("header", { class: "head" },
      h("div", null, h("div", { class: "crumb" }, h("a", { href: to("sessions") }, "Sessions")), h("h1", { tabindex: "-1" }, session.name),
        h("p", null, `${counted(session.reads, "read")}, ${counted(session.compactions, "compaction")}; last active `, time(session.lastAt))),
      session.doubt && badge("warn", session.doubt)),
    h("div", { class: "tiles" },
      figure("Held now", number(session.files), `${session.files === 1 ? "file" : "files"}, in ${counted(session.scopes, "piece")}`),
      figure("In context", context.value ? `~${brief(context.value.tokens)}` : "…", "tokens of held text"),
      figure("Saved", brief(session.savedTokens), `tokens, ${percent(session.savedTokens, session.savedTokens + session.sentTokens)} of plain reads`),
      figure("Counted from", session.boundary === "root" ? "the start" : "a compaction", session.boundary === "root" ? "nothing was compacted" : "what came before it counts as not held")),
    tabs("View", view, [["context", "Context map"], ["tree", "Tree"]], (next) => refine({ view: next === "context" ? "" : next, file: "" })),
    view === "tree" ? card("Tree", { note: "The filled line is the active branch." }, shown(tree, drawTree, undefined, 8)) : shown(context, (value) => map(value, name, query), undefined, 8) ?? card(null, {}, loading(8)),
  ];
}

// the context map

const STATES = { current: ["ok", "As on disk"], changed: ["warn", "Changed since"], gone: ["bad", "No longer on disk"] };

function map(value, name, query) {
  if (value.doubt) return card(null, {}, empty("lock", "The session proves nothing now", `${value.doubt}. Every read is answered in full.`));
  return [
    card("What the agent holds", { acts: h("div", { class: "legend" }, h("span", null, h("i"), "Held"), h("span", null, h("i", { class: "stale" }), "Changed on disk"), h("span", null, h("i", { class: "bed" }), "Not held")) },
      value.held.length ? h("ul", { class: "list" }, value.held.map((file) => held(file, name, query)))
        : empty("file", "Nothing is held", "Nothing was read since the session began, or since its latest compaction.")),
    value.lost.length > 0 && card("Taken away by the latest compaction", { note: "the recovery list" },
      h("ul", { class: "list" }, value.lost.map((file) => held(file, name, query, true)))),
  ];
}

function held(file, name, query, lost = false) {
  const text = file.texts[0];
  const open = query.file === file.path;
  const total = text.linesTotal ?? Math.max(1, ...text.lines.map(([, last]) => last));
  const whole = text.whole ? `all ${counted(file.lines, "line")}` : `${counted(file.lines, "line")} of ${number(total)}`;
  return h("li", { key: file.path },
    h("button", { class: "item stack tight", "aria-expanded": String(open), "data-file": file.path, onclick: () => show(name, file.path, open) },
      h("div", { class: "row spread" }, h("strong", { class: "mono clip", title: file.path }, tail(file.path)),
        h("span", { class: "row" }, file.staleLines > 0 && file.state === "changed" && h("span", { class: "small muted num" }, `${number(file.staleLines)} stale`), lost ? badge("", "Lost") : badge(...STATES[file.state]))),
      strip(total, text.lines, text.stale, `${whole} held, ${file.staleLines} changed since`),
      h("div", { class: "row small muted num" }, h("span", null, whole), h("span", null, `~${brief(file.tokens)} tokens`), file.texts.length > 1 && h("span", null, "and older text"))),
    open && h("div", { class: "inner" }, shown(lines, listing, undefined, 6)));
}

function show(name, path, open) {
  refine({ file: open ? "" : path });
  state.unfolded.clear();
  lines.reset();
  if (!open) lines.load(() => ask("context/lines", { name, path }));
}

function listing(value) {
  if (!value.rows.length) return h("p", { class: "muted" }, value.missing ?? "No lines.");
  const rows = folded(value.rows);
  return h("div", { class: "stack tight" },
    !value.joined && h("p", { class: "small muted" }, "The file is too different now to show what changed; this is the text that was held."),
    h("div", { class: "lines", tabindex: "0", role: "region", "aria-label": `Lines of ${value.path}` },
      rows.map((row) => row.fold !== undefined
        ? h("button", { key: `f${row.fold}`, class: "fold", onclick: () => { state.unfolded.add(row.fold); changed(); } }, `${counted(row.count, "line")} as before`)
        : h("div", { key: row.at, class: `r ${row.held ? "held" : "not"} ${{ "-": "gone", "+": "new" }[row.kind] ?? ""}` },
          h("i", { title: row.held ? "held" : "not held" }), h("span", null, row.old ?? ""), h("span", null, row.new ?? ""), h("span", null, row.kind.trim()), h("code", null, row.text)))),
    value.rows.length < value.total && h("p", { class: "small muted" }, `The first ${number(value.rows.length)} of ${number(value.total)} rows.`));
}

/** Long runs of rows that are held and unchanged fold into one. */
function folded(rows) {
  const changedAt = rows.flatMap((row, at) => (row.kind === " " && row.held === rows[Math.max(0, at - 1)].held ? [] : [at]));
  const near = new Set(changedAt.flatMap((at) => [-3, -2, -1, 0, 1, 2, 3].map((step) => at + step)));
  const out = [];
  for (let at = 0; at < rows.length; at += 1) {
    let end = at;
    while (end < rows.length && rows[end].kind === " " && !near.has(end)) end += 1;
    if (end - at > 12 && !state.unfolded.has(at) && changedAt.length) {
      out.push({ fold: at, count: end - at });
      at = end - 1;
    } else out.push({ ...rows[at], at });
  }
  return out;
}

// the tree

function drawTree(value) {
  if (!value.entries.length) return empty("sessions", "No entries yet", value.doubt);
  const depths = Math.max(...value.entries.map((entry) => entry.depth)) + 1;
  const rows = value.entries;
  const skipped = value.total - rows.length;
  const lanes = lanesOf(rows);
  return h("div", { class: "tree", role: "list", style: { "--lanes": `${6 + depths * 16}px` } },
    value.doubt && h("div", { class: "inner" }, badge("warn", `Proves nothing now: ${value.doubt}`)),
    skipped > 0 && h("p", { class: "inner small muted" }, `${number(skipped)} older entries are not drawn.`),
    rows.map((entry, at) => h("div", {
      key: entry.id, role: "listitem", class: `e${entry.barrier ? " cut" : ""}${entry.active ? "" : " off"}`, "data-kind": entry.kind,
    },
    rail(entry, lanes[at]), h("div", { class: "body" }, what(entry)), h("div", { class: "end num" }, cost(entry)))));
}

/** For each row what is drawn beside it: its parent's depth, lines that pass by, a line that goes on below. */
function lanesOf(rows) {
  const lanes = rows.map(() => ({ above: null, passing: new Map(), below: null }));
  const at = new Map(rows.map((entry, row) => [entry.id, row]));
  rows.forEach((entry, row) => {
    const from = at.get(entry.parent);
    if (from === undefined) return;
    const depth = rows[from].depth;
    lanes[row].above = depth;
    lanes[from].below = lanes[from].below === true || entry.active;
    for (let between = from + 1; between < row; between += 1) {
      lanes[between].passing.set(depth, lanes[between].passing.get(depth) === true || entry.active);
    }
  });
  return lanes;
}

function rail(entry, { above, passing, below }) {
  const x = (depth) => 9 + depth * 16;
  const on = entry.active ? "on" : "";
  return h("i", null, h("svg", { "aria-hidden": "true" },
    above === entry.depth && h("line", { class: on, x1: x(above), x2: x(above), y1: 0, y2: 17 }),
    above !== null && above !== entry.depth && h("path", { class: on, d: `M${x(above)} 0V9Q${x(above)} 17 ${x(above) + 8} 17H${x(entry.depth)}` }),
    [...passing].map(([depth, lit]) => h("line", { key: depth, class: lit ? "on" : "", x1: x(depth), x2: x(depth), y1: 0, y2: "100%" })),
    below !== null && h("line", { class: below ? "on" : "", x1: x(entry.depth), x2: x(entry.depth), y1: 17, y2: "100%" }),
    h("circle", { class: `${on}${entry.leaf ? " leaf" : ""}`, cx: x(entry.depth), cy: 17, r: entry.barrier ? 6 : 4.5 })));
}

const MODES = { full: ["", "printed"], unchanged: ["ok", "unchanged"], unchanged_range: ["ok", "unchanged"], diff: ["accent", "diff"], refresh: ["warn", "refresh"] };

function what(entry) {
  if (entry.barrier) return [h("strong", null, "Compaction"), h("div", null, entry.said ?? "Nothing before it is trusted.")];
  if (entry.path) {
    const scope = entry.scope === "full" ? "" : ` ${entry.scope.replace("r:", "lines ").replace(":", "–")}`;
    return h("span", { class: "row" }, badge(...(MODES[entry.mode] ?? ["", entry.mode])), h("span", { class: "mono clip", title: entry.path }, tail(entry.path, 2) + scope));
  }
  if (entry.said) return h("span", { class: "soft" }, entry.said);
  return h("span", { class: "muted" }, entry.kind, entry.hides && `: hides ${entry.hides.join(", ")}`);
}

function cost(entry) {
  if (entry.leaf) return h("span", { class: "row" }, badge("accent", "Newest", "the entry that the session is at"), entry.sentTokens !== null && `${number(entry.sentTokens)} tok`);
  return entry.sentTokens === null || entry.sentTokens === undefined ? "" : `${number(entry.sentTokens)} tok`;
}
