// Trees: their state, what proves it, how far a run is, how fresh they are, and why.

import { act, ask, h, resource } from "./ui.js";
import { all, arrived, changed, notify, one, to } from "./state.js";
import { badge, card, command, counted, empty, facts, head, loading, moment, number, quoted, shown, size, time } from "./parts.js";

const STATES = {
  ready: ["ok", "Ready"],
  indexing: ["busy", "Indexing"],
  requires_reindex: ["warn", "Requires reindex"],
  unproven: ["warn", "Not proven"],
  failed: ["bad", "Failed"],
};
const PROOFS = {
  valid: ["ok", "Proven"],
  probe_failed: ["warn", "Proof not reached"],
  fingerprint_mismatch: ["warn", "Other settings"],
  stale_local: ["warn", "No proof"],
  none: ["", "No proof yet"],
};

const contents = resource(changed);
const SETTINGS = { embeddingProvider: "Embedding", embeddingModel: "Model", embeddingDimension: "Dimensions", vectorStoreProvider: "Kept in", schemaVersion: "Format" };
const state = { of: "", syncing: "" };

async function syncNow({ root }) {
  state.syncing = root;
  changed();
  try {
    notify((await act("sync", { root })).message);
  } catch (error) {
    notify(error.message, "bad");
  } finally {
    state.syncing = "";
    changed();
  }
}

/** The languages of a tree, the most files first, and what it takes on disk. */
function languages(value) {
  const total = value.languages.reduce((sum, each) => sum + each.files, 0);
  return h("div", { class: "inner stack" },
    facts([["Source", size(value.sourceBytes)], ["Index on disk", value.indexBytes === undefined ? null : size(value.indexBytes)], ["Segments for locate and clones", size(value.segmentsBytes)]]),
    h("div", { class: "stack tight" }, value.languages.slice(0, 8).map((each) =>
      h("div", { key: each.language },
        h("div", { class: "row spread small" }, h("span", null, each.language), h("span", { class: "num muted" }, counted(each.files, "file"))),
        h("div", { class: "progress", "aria-hidden": "true" }, h("i", { style: { width: `${(100 * each.files) / Math.max(1, total)}%` } }))))));
}

export function codebaseState(codebase) {
  if (codebase.abandoned) return badge("bad", "Abandoned");
  return badge(...(STATES[codebase.state] ?? ["", codebase.state]));
}

const REASONS = {
  missing_marker_doc: "No marker",
  invalid_payload: "Damaged marker",
  invalid_marker_kind: "Unknown marker",
  path_mismatch: "Marker of another tree",
};

export function proof({ proof: found }) {
  const [kind, words] = PROOFS[found?.outcome] ?? ["", "Unknown"];
  return badge(kind, REASONS[found?.reason] ?? words, found?.reason);
}

export function freshness({ state, freshness: seen }) {
  if (state !== "ready" || !seen) return "";
  if (seen.mode === "missing") return "tree is away";
  if (seen.mode === "unknown") return "not known";
  return seen.changed ? `${counted(seen.changed, "file")} changed since` : "up to date";
}

export function codebases({ rest }) {
  if (!arrived()) return [head("Codebases"), card(null, {}, loading(6))];
  if (rest[0]) return detail(rest[0]);
  const found = all("codebase");
  return [
    head("Codebases", "The trees that agents can search. One is ready only when its index is proven to be complete."),
    found.length
      ? h("div", { class: "stack" }, found.map(row))
      : card(null, {}, empty("codebases", "No trees are tracked", "Make the first index; progress appears here by itself.", command("holdfast index create ."))),
  ];
}

const row = (codebase) =>
  h("article", { class: "card", key: codebase.key, "data-codebase": codebase.name },
    h("div", { class: "inner stack tight" },
      h("div", { class: "row spread" },
        h("div", { class: "grow" },
          h("h2", null, h("a", { href: to("codebases", [codebase.key]) }, codebase.name)),
          h("div", { class: "mono small muted clip", title: codebase.root }, codebase.root)),
        h("div", { class: "row" }, codebaseState(codebase))),
      codebase.progress && progress(codebase),
      h("p", { class: "soft small" }, codebase.why),
      codebase.lastError && !codebase.why?.includes(codebase.lastError) && h("p", { class: "small" }, badge("warn", "Last run"), " ", codebase.lastError),
      h("div", { class: "row small muted num" },
        codebase.files !== null && h("span", null, counted(codebase.files, "file")),
        codebase.chunks !== null && h("span", null, counted(codebase.chunks, "chunk")),
        codebase.partial && badge("warn", "Partial: limit reached"),
        fresh(codebase),
        h("span", null, "updated ", time(codebase.updatedAt)))
      ,
      codebase.command && command(codebase.command)));

function fresh(codebase) {
  const words = freshness(codebase);
  if (!words) return null;
  const { freshness: seen } = codebase;
  const title = seen.changed ? `${seen.added} new, ${seen.modified} changed, ${seen.removed} removed` : undefined;
  return badge(words === "up to date" ? "ok" : "busy", words[0].toUpperCase() + words.slice(1), title);
}

const progress = ({ name, progress: { pct, phase } }) =>
  h("div", { class: "stack tight" },
    h("div", { class: "progress", role: "progressbar", "aria-valuenow": pct, "aria-valuemin": 0, "aria-valuemax": 100, "aria-label": `Indexing ${name}` },
      h("i", { style: { width: `${pct}%` } })),
    h("span", { class: "small muted num" }, `${pct} % · ${phase}`));

function detail(key) {
  const codebase = one("codebase", key);
  if (!codebase) {
    return [head("Codebases"), card(null, {}, empty("codebases", "No such tree", "It may have been cleared.", h("a", { class: "button", href: to("codebases") }, "All codebases")))];
  }
  const { freshness: seen, settings } = codebase;
  const of = JSON.stringify([codebase.root, codebase.updatedAt]);
  if (state.of !== of) {
    state.of = of;
    contents.load(() => ask("codebase", { root: codebase.root }));
  }
  return [
    h("header", { class: "head" },
      h("div", null,
        h("div", { class: "crumb" }, h("a", { href: to("codebases") }, "Codebases")),
        h("h1", { tabindex: "-1" }, codebase.name),
        h("p", { class: "mono small" }, codebase.root)),
      h("div", { class: "acts" },
        h("button", { class: "button", disabled: state.syncing !== "" || codebase.state !== "ready", onclick: () => syncNow(codebase) }, state.syncing === codebase.root ? "Syncing…" : "Sync now"),
        h("a", { class: "button", href: to("clones", [], { root: codebase.root }) }, "Clones"),
        h("a", { class: "button primary", href: to("search", [], { root: codebase.root }) }, "Search"))),
    card("State", { acts: codebaseState(codebase) },
      h("div", { class: "inner stack" },
        codebase.progress && progress(codebase),
        h("p", null, codebase.why),
        codebase.command && command(codebase.command),
        facts([
          ["Files", number(codebase.files)],
          ["Chunks", number(codebase.chunks)],
          ["Proof", [proof(codebase), codebase.proof?.at ? ` completed ${moment(codebase.proof.at)}` : null]],
          // Only a state that the proof contradicts is news.
          ["Recorded as", codebase.state === "ready" ? null : h("code", null, codebase.recorded)],
          ["Updated", moment(codebase.updatedAt)],
          ["Last error", codebase.lastError],
        ]))),
    seen && card("Freshness", { acts: fresh(codebase) },
      h("div", { class: "inner stack" },
        h("p", { class: "soft" }, seen.changed
          ? "Changed files are read for each search, so answers are current; a sync indexes them."
          : "The files are as they were when the index was made."),
        seen.changed > 0 && command(`holdfast index sync ${quoted(codebase.root)}`),
        seen.mode === "looked" && facts([["New", number(seen.added)], ["Changed", number(seen.modified)], ["Removed", number(seen.removed)], ["Beyond the limit", seen.unread || null]]))),
    card("Contents", {}, shown(contents, languages, () => { state.of = ""; changed(); }, 3)),
    settings && card("Made with", {},
      h("div", { class: "inner" }, facts(Object.entries(settings).map(([name, value]) => [SETTINGS[name] ?? name, h("code", null, String(value))])))),
  ];
}
