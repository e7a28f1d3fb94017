// The first page: is all well, and what is going on.

import { h } from "./ui.js";
import { all, arrived, health, savings, to } from "./state.js";
import { ago, badge, brief, card, counted, empty, head, icon, loading, number, percent, time } from "./parts.js";
import { bars } from "./draw.js";
import { codebaseState, freshness } from "./codebases.js";
import { byDay, legend } from "./savings.js";

const SAID = { ok: ["ok", "All is well"], warn: ["warn", "Something needs a look"], bad: ["bad", "Something is wrong"] };

export function overview() {
  if (!arrived()) return [head("Overview"), card(null, {}, loading(8))];
  const codebases = all("codebase");
  const sessions = all("session").sort((a, b) => (b.lastAt ?? "").localeCompare(a.lastAt ?? ""));
  const spaces = all("space");
  const branches = spaces.flatMap((space) =>
    space.branches.filter((branch) => branch.name && branch.status === "active").map((branch) => ({ ...branch, space: space.name })));
  return [
    head("Overview", "What your agents read, hold and remember, as it is now.",
      h("a", { class: "button quiet small", href: to("health") }, badge(...(SAID[health()?.state] ?? ["", "Not known yet"])))),
    tiles(codebases, sessions, spaces, branches),
    h("div", { class: "two" },
      h("div", { class: "stack" }, chart(), latest(sessions)),
      h("div", { class: "stack" }, trees(codebases), open(branches))),
  ];
}

function tiles(codebases, sessions, spaces, branches) {
  const sum = (rows, name) => rows.reduce((total, row) => total + row[name], 0);
  const saved = sum(savings(), "savedTokens"), sent = sum(savings(), "sentTokens");
  const ready = codebases.filter((codebase) => codebase.state === "ready").length;
  const rest = codebases.length - ready;
  return h("div", { class: "tiles" },
    tile("savings", "Tokens saved", brief(saved), saved + sent ? `${percent(saved, saved + sent)} of what plain reads would send` : "nothing read yet"),
    tile("codebases", "Codebases ready", `${ready} of ${codebases.length}`, provenLine(codebases.length, rest)),
    tile("sessions", "Sessions", number(sessions.length), sessions[0] ? `last active ${ago(sessions[0].lastAt)}` : "none yet"),
    tile("memory", "Memory commits", number(sum(spaces, "seq")), branches.length ? counted(branches.length, "open branch") : "no open branches"));
}

const tile = (page, label, figure, under) =>
  h("a", { class: "card tile", href: to(page) },
    h("span", { class: "label" }, icon(page), label),
    h("span", { class: "figure" }, figure),
    h("span", { class: "under" }, under));

const more = (page, words) => h("a", { class: "small", href: to(page) }, words);

const chart = () =>
  card("Tokens saved by day", { acts: more("savings", "Details") },
    h("div", { class: "inner stack tight" }, savings().length > 0 && legend(), savings().length
      ? bars(byDay(savings(), 14), { height: 226, width: 560, label: "Tokens saved and sent by day" })
      : empty("savings", "Nothing read yet", "Savings appear with the first read in a session.")));

const latest = (sessions) =>
  card("Latest sessions", { acts: more("sessions", "All") },
    sessions.length ? h("ul", { class: "list" }, sessions.slice(0, 5).map((session) =>
      h("li", { key: session.key },
        h("a", { class: "item", href: to("sessions", [session.key]) },
          h("div", { class: "row spread" }, h("strong", { class: "clip" }, session.name), h("span", { class: "small muted" }, time(session.lastAt))),
          h("div", { class: "small muted num" },
            `${counted(session.reads, "read")}, ${counted(session.compactions, "compaction")}, holds ${counted(session.files, "file")}, saved ${brief(session.savedTokens)} tokens`)))))
      : empty("sessions", "No sessions yet", "A session begins with its first read."));

const trees = (codebases) =>
  card("Codebases", { acts: more("codebases", "All") },
    codebases.length ? h("ul", { class: "list" }, codebases.slice(0, 6).map((codebase) =>
      h("li", { key: codebase.key },
        h("a", { class: "item", href: to("codebases", [codebase.key]) },
          h("div", { class: "row spread" }, h("strong", { class: "clip" }, codebase.name), codebaseState(codebase)),
          h("div", { class: "row spread small muted" },
            h("span", null, codebase.progress ? `${codebase.progress.pct} %, ${codebase.progress.phase}` : counted(codebase.files ?? 0, "file")),
            h("span", null, freshness(codebase)))))))
      : empty("codebases", "No trees yet", "holdfast index create tracks one."));

const open = (branches) =>
  card("Branches of memory", { acts: more("memory", "Memory") },
    branches.length ? h("ul", { class: "list" }, branches.map((branch) =>
      h("li", { key: `${branch.space}/${branch.name}` },
        h("a", { class: "item", href: to("memory", [branch.space], { view: "branches", branch: branch.name }) },
          h("div", { class: "row" }, icon("branch"), h("strong", { class: "clip" }, branch.name)),
          h("div", { class: "small muted num" }, `${branch.space}, forked at ${branch.forkSeq}, now at ${branch.headSeq}`)))))
      : empty("branch", "No open branches", "Agents work on branches; people review and merge them."));

function provenLine(trees, rest) {
  if (!trees) return "none tracked yet";
  return rest ? `${counted(rest, "tree")} cannot be searched` : "every index is proven";
}
