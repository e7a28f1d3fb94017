// The first page: is all well, and what is going on.

import { h } from "./ui.js";
import { all, arrived, health, savings, to } from "./state.js";
import { ago, badge, brief, card, counted, empty, head, icon, loading, number, percent, time } from "./parts.js";
import { bars } from "./draw.js";
import { codebaseState, freshness } from "./codebases.js";
import { byDay } from "./savings.js";

const SAID = { ok: ["ok", "All is well"], warn: ["warn", "Something needs a look"], bad: ["bad", "Something is wrong"] };

export function overview() {
  if (!arrived()) return [head("Overview"), card(null, {}, loading(8))];
  const codebases = all("codebase"), sessions = all("session"), spaces = all("space"), well = health();
  const hours = savings();
  const saved = hours.reduce((sum, hour) => sum + hour.savedTokens, 0);
  const sent = hours.reduce((sum, hour) => sum + hour.sentTokens, 0);
  const ready = codebases.filter((codebase) => codebase.state === "ready").length;
  const commits = spaces.reduce((sum, space) => sum + space.seq, 0);
  const branches = spaces.flatMap((space) => space.branches.filter((b) => b.name && b.status === "active"));
  const latest = [...sessions].sort((a, b) => (b.lastAt ?? "").localeCompare(a.lastAt ?? ""));
  const [kind, words] = SAID[well?.state] ?? ["", "Not known yet"];
  return [
    head("Overview", "What your agents read, hold and remember, as it is now.",
      h("a", { class: "button quiet small", href: to("health") }, badge(kind, words))),
    h("div", { class: "tiles" },
      tile("savings", "Tokens saved", brief(saved), `${percent(saved, saved + sent)} of what plain reads would send`),
      tile("codebases", "Codebases ready", `${ready} of ${codebases.length}`, codebases.length > ready ? `${counted(codebases.length - ready, "tree")} cannot be searched` : "every index is proven"),
      tile("sessions", "Sessions", number(sessions.length), latest[0] ? `last active ${ago(latest[0].lastAt)}` : "none yet"),
      tile("memory", "Memory commits", number(commits), branches.length ? `${counted(branches.length, "open branch")}`.replace("branchs", "branches") : "no open branches")),
    h("div", { class: "two" },
      card("Tokens saved by day", { acts: h("a", { class: "small", href: to("savings") }, "Details") },
        h("div", { class: "inner" }, hours.length
          ? bars(byDay(hours, 14), { height: 226, width: 560, label: "Tokens saved and sent by day" })
          : empty("savings", "Nothing read yet", "Savings appear with the first read in a session."))),
      card("Codebases", { acts: h("a", { class: "small", href: to("codebases") }, "All") },
        codebases.length ? h("ul", { class: "list" }, codebases.slice(0, 6).map((codebase) =>
          h("li", { key: codebase.key },
            h("a", { class: "item", href: to("codebases", [codebase.key]) },
              h("div", { class: "row spread" }, h("strong", { class: "clip" }, codebase.name), codebaseState(codebase)),
              h("div", { class: "row spread small muted" },
                h("span", null, codebase.state === "indexing" ? `${codebase.progress.pct} %, ${codebase.progress.phase}` : counted(codebase.files ?? 0, "file")),
                h("span", null, freshness(codebase)))))))
          : empty("codebases", "No trees yet", "holdfast index create tracks one."))),
    h("div", { class: "two" },
      card("Latest sessions", { acts: h("a", { class: "small", href: to("sessions") }, "All") },
        latest.length ? h("ul", { class: "list" }, latest.slice(0, 5).map((session) =>
          h("li", { key: session.key },
            h("a", { class: "item", href: to("sessions", [session.key]) },
              h("div", { class: "row spread" }, h("strong", { class: "clip" }, session.name), h("span", { class: "small muted" }, time(session.lastAt))),
              h("div", { class: "small muted num" }, `${counted(session.reads, "read")}, ${counted(session.compactions, "compaction")}, holds ${counted(session.files, "file")}, saved ${brief(session.savedTokens)} tokens`)))))
          : empty("sessions", "No sessions yet", "A session begins with its first read.")),
      card("Branches of memory", { acts: h("a", { class: "small", href: to("memory") }, "Memory") },
        branches.length ? h("ul", { class: "list" }, spaces.flatMap((space) =>
          space.branches.filter((b) => b.name && b.status === "active").map((branch) =>
            h("li", { key: `${space.name}/${branch.name}` },
              h("a", { class: "item", href: to("memory", [space.name], { view: "branches", branch: branch.name }) },
                h("div", { class: "row" }, icon("branch"), h("strong", { class: "clip" }, branch.name)),
                h("div", { class: "small muted num" }, `${space.name}, forked at ${branch.forkSeq}, now at ${branch.headSeq}`))))))
          : empty("branch", "No open branches", "Agents work on branches; people review and merge them."))),
  ];
}

const tile = (page, label, figure, under) =>
  h("a", { class: "card tile", href: to(page) },
    h("span", { class: "label" }, icon(page), label),
    h("span", { class: "figure" }, figure),
    h("span", { class: "under" }, under));
