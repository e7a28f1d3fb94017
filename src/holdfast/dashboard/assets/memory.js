// Memory: documents as they are and as they were, branches, what a merge would do, links that drifted.

import { act, ask, h, resource } from "./ui.js";
import { all, arrived, changed, go, notify, one, refine, sync, to } from "./state.js";
import { badge, card, choose, command, counted, empty, failure, head, icon, json, loading, moment, number, shown, tabs, time } from "./parts.js";

const MAIN = "";
const AUTHOR = { agent: "dashboard" };

/** Who wrote a commit: its author, else the session that sent it. */
const writer = ({ author = {}, sessionId }) => [author.user, author.agent].filter(Boolean).join(" via ") || sessionId;
const NEW = { text: "", code: "", tags: "", root: "" };
const HISTORY_MAX = 2000;
const TICKS_MAX = 300;
const documents = resource(changed), commits = resource(changed), then = resource(changed), before = resource(changed);
const diff = resource(changed), merge = resource(changed), drift = resource(changed), about = resource(changed);
const state = { note: null, edit: null, linksOf: "", of: "", docs: "", at: "", filter: "", diffOf: "", driftOf: "", resolutions: {}, own: {}, merging: null, busy: false, listening: new Set() };
const named = (branch) => branch || "default branch";

export function memory({ rest, query }) {
  if (!arrived()) return [head("Memory"), card(null, {}, loading(6))];
  const spaces = all("space");
  const name = rest[0] || (spaces.find((space) => space.name === "local") ?? spaces[0])?.name;
  const facts = name && one("space", name);
  if (!facts) return [head("Memory"), card(null, {}, empty("memory", "No such space", "holdfast memory set makes the first document."))];
  const space = sync.space(name);
  if (!state.listening.has(name)) {
    state.listening.add(name);
    space.listen(changed);
  }
  const view = query.view || "documents";
  const top = [
    head("Memory", `${counted(facts.seq, "commit")} in the space ${name}; each of them can be read as it was.`,
      spaces.length > 1 && choose("Space", name, spaces.map((each) => [each.name, each.name]), (next) => go("memory", [next])),
      view === "documents" && h("button", { class: "button primary", onclick: () => { state.note = { ...NEW }; changed(); } }, "New note"),
      view !== "branches" && choose("Branch", query.branch ?? MAIN, branchesOf(facts).map((b) => [b.name, named(b.name)]), (branch) => refine({ branch, at: "" }))),
    tabs("View", view, [["documents", "Documents"], ["branches", `Branches (${branchesOf(facts).length - 1})`], ["drift", "Links to code"]],
      (next) => refine({ view: next === "documents" ? "" : next, id: "", at: "" })),
  ];
  if (space.state === "forbidden") return [...top, card(null, {}, empty("lock", "You may not read this space", "It requires a key; open it with: holdfast memory watch --key NAME."))];
  if (space.state === "failed") return [...top, card(null, {}, failure(space.problem))];
  if (view === "branches") return [...top, branches(space, facts, query)];
  if (view === "drift") return [...top, links(name, facts, query)];
  return [...top, browser(space, facts, query)];
}

const branchesOf = (facts) => facts.branches.filter((branch) => branch.status === "active");

// documents

/** The commits that a branch sees: its own, and its parents' up to the fork. */
function visible(facts, branch, changes) {
  const limits = new Map();
  let at = facts.branches.find((each) => each.name === branch), limit = Infinity;
  while (at) {
    limits.set(at.name, limit);
    limit = Math.min(limit, at.forkSeq ?? Infinity);
    at = at.parentBranch === null || at.parentBranch === undefined ? null : facts.branches.find((each) => each.name === at.parentBranch);
  }
  return changes.filter((change) => limits.has(change.branch) && change.seq <= limits.get(change.branch) && change.operations.length > 0);
}

/** The newest commits; only those that are not known yet are asked for. */
async function history(space, newest, known) {
  const found = [...known];
  let fromSeq = found.at(-1)?.seq ?? Math.max(0, newest - HISTORY_MAX), more = true;
  while (more) {
    const page = await space.ask("history.read", { fromSeq, limit: 256 });
    found.push(...page.changes);
    ({ atSeq: fromSeq, more } = page);
  }
  return found.slice(-HISTORY_MAX);
}

function browser(space, facts, query) {
  const branch = query.branch ?? MAIN;
  const of = JSON.stringify([space.name, facts.seq, sync.epoch]);
  if (state.of !== of) {
    if (!state.of.startsWith(`["${space.name}"`)) commits.reset();
    state.of = of;
    commits.load(() => history(space, facts.seq, commits.value ?? []));
  }
  const steps = visible(facts, branch, commits.value ?? []);
  const at = Number(query.at) || null; // without a seq in the address: now
  const docs = JSON.stringify([space.name, branch, at, at ? 0 : facts.seq, sync.epoch]);
  if (state.docs !== docs) {
    if (!state.docs.startsWith(`["${space.name}","${branch}"`)) documents.reset();
    state.docs = docs;
    documents.load(() => ask("memory/documents", { space: space.name, branch, at }));
  }
  return h("div", { class: "stack" },
    state.note && noteForm(space, branch),
    slider(steps, at, query.id),
    h("div", { class: "side" },
      card("Documents", { note: documents.value && number(documents.value.total) },
        h("div", { class: "inner" }, h("label", { class: "field" }, h("span", { class: "hidden-text" }, "Filter documents"),
          h("input", { class: "input", type: "search", placeholder: "Filter", value: state.filter, oninput: (event) => { state.filter = event.target.value; changed(); } }))),
        // A list of another moment than the one that was asked for must not stand in its place.
        documents.status === "error" ? failure(documents.error, () => { state.docs = ""; changed(); }) : shown(documents, (value) => list(value, query), undefined, 5)),
      query.id ? opened(space, branch, steps, query.id, at)
        : card(null, {}, empty("memory", "Choose a document", "It is shown as it is now; the slider shows it as it was."))));
}

function list(value, query) {
  const wanted = value.documents.filter((doc) => `${doc.id} ${doc.title}`.toLowerCase().includes(state.filter.toLowerCase()));
  if (!wanted.length) return empty("memory", "No documents", state.filter ? "None matches the filter." : "There were none at this point.");
  return h("ul", { class: "list long" }, wanted.map((doc) =>
    h("li", { key: doc.id },
      h("button", { class: "item", "aria-current": String(query.id === doc.id), "data-document": doc.id, onclick: () => refine({ id: doc.id }) },
        h("div", { class: "clip" }, h("strong", null, doc.title || doc.id)),
        h("div", { class: "row spread small muted" }, h("span", { class: "mono clip" }, doc.id), h("span", { class: "num" }, `seq ${doc.seq}`))))));
}

function slider(steps, at, id) {
  const newest = steps.length - 1;
  const index = at === null ? newest : Math.max(0, steps.findLastIndex((step) => step.seq <= at));
  const step = steps[index];
  const set = (next) => refine({ at: next >= newest ? "" : String(steps[Math.max(0, next)].seq) });
  const touches = (one) => one.operations.some((operation) => operation.id === id);
  const jump = (by) => {
    let next = index + by;
    while (id && steps[next] && !touches(steps[next])) next += by;
    if (steps[next]) set(next);
  };
  return card(null, {},
    h("div", { class: "inner stack tight" },
      h("div", { class: "row spread" },
        h("div", { class: "row small" }, icon("clock"),
          at === null ? badge("ok", "Now") : badge("warn", `As of seq ${at}`),
          step && h("span", { class: "muted" }, `${moment(step.createdAt)} · ${writer(step)} · ${step.operations.map((operation) => `${operation.op} ${operation.id}`).join(", ")}`)),
        h("div", { class: "row" },
          h("button", { class: "button small", disabled: index <= 0, onclick: () => jump(-1) }, "Earlier"),
          h("button", { class: "button small", disabled: index >= newest, onclick: () => jump(1) }, "Later"),
          h("button", { class: "button small", disabled: at === null, onclick: () => refine({ at: "" }) }, "Now"))),
      h("input", {
        type: "range", id: "time", min: 0, max: Math.max(0, newest), step: 1, value: String(Math.max(0, index)), disabled: newest < 1,
        "aria-label": "Time", "aria-valuetext": step ? `seq ${step.seq}, ${moment(step.createdAt)}` : "no commits",
        oninput: (event) => set(Number(event.target.value)),
      }),
      newest > 0 && h("svg", { class: "ticks", viewBox: "0 0 1000 8", preserveAspectRatio: "none", "aria-hidden": "true" },
        steps.map((one, i) => (newest < TICKS_MAX || (id && touches(one))) && h("rect", { key: one.seq, class: id && touches(one) ? "mine" : "", x: 7 + (986 * i) / newest - 1, y: id && touches(one) ? 0 : 3, width: 2.4, height: id && touches(one) ? 8 : 5 })))));
}

function opened(space, branch, steps, id, at) {
  space.watch("open", [id], branch, false).catch(() => {});
  const revisions = steps.filter((step) => step.operations.some((operation) => operation.id === id));
  const shownSeq = at ?? Infinity;
  const past = revisions.filter((step) => step.seq <= shownSeq);
  const current = past.at(-1), previous = past.at(-2);
  const asked = JSON.stringify([space.name, branch, id, at, current?.seq, previous?.seq, sync.epoch]);
  if (state.at !== asked && commits.value) {
    state.at = asked;
    then.reset();
    before.reset();
    if (at) then.load(pointOn(space, branch, id, at));
    if (previous) before.load(pointOn(space, branch, id, previous.seq));
  }
  const now = space.documents.get(`${branch}\n${id}`);
  const value = at ? then.value : now?.doc;
  const known = at ? then.status === "ok" : now !== undefined;
  const failed = at && then.status === "error" && then.error;
  return h("div", { class: "stack" },
    card(id, { "data-open": id, acts: [!at && (sync.state === "connected" ? badge("ok", "Live") : badge("warn", "As it was")), now && !at && h("span", { class: "small muted num" }, `seq ${now.seq}`), now?.doc && !at && state.edit?.id !== id && h("button", { class: "button small", onclick: () => startEdit(id, now.doc) }, "Edit")] },
      h("div", { class: "inner" }, state.edit?.id === id && !at ? editForm(space, branch, now) : failed ? failure(failed) : !known ? loading(4) : value ? tree(value.value) : empty("memory", "Not there", at ? "It did not exist at this point." : "It was deleted; its history stays."))),
    !at && now?.doc && linked(space, branch, id, now.seq),
    known && value && previous && before.status === "ok" && card("What this revision changed", { note: current && `seq ${current.seq} by ${writer(current)}` },
      h("div", { class: "inner stack tight" }, differences(before.value?.value, value.value).map(change))),
    card("History", { note: counted(revisions.length, "revision") },
      h("ul", { class: "list" }, [...revisions].reverse().slice(0, 40).map((step) =>
        h("li", { key: step.seq },
          h("button", { class: "item row spread small", "aria-current": String(current?.seq === step.seq), onclick: () => refine({ at: step === steps.at(-1) ? "" : String(step.seq) }) },
            h("span", null, badge("plain", `seq ${step.seq}`), " ", step.operations.filter((operation) => operation.id === id).map((operation) => operation.op).join(", "), " by ", writer(step), step.branch ? ` on ${step.branch}` : ""),
            h("span", { class: "muted" }, time(step.createdAt))))))));
}

// writing

async function attempt(work, done) {
  try {
    await work();
    done();
  } catch (error) {
    notify(error.name === "ConflictError" ? "Another client changed it meanwhile; nothing was written. Look again, then save again." : error.hint ? `${error.message} (${error.hint})` : error.message, error.name === "ConflictError" ? "warn" : "bad");
  }
  changed();
}

function noteForm(space, branch) {
  const note = state.note;
  const trees = all("codebase");
  const type = (name) => (event) => (note[name] = event.target.value);
  const save = (event) => {
    event.preventDefault();
    attempt(async () => {
      const done = await act("memory/note", { ...note, space: space.name, branch });
      notify(done.message);
      refine({ id: done.id, at: "" });
    }, () => (state.note = null));
  };
  return card("New note", { "data-note": "new", acts: h("button", { class: "button quiet small", onclick: () => { state.note = null; changed(); } }, "Cancel") },
    h("form", { class: "inner stack", onsubmit: save },
      h("label", { class: "field" }, "Note", h("textarea", { class: "input", rows: "3", required: true, value: note.text, placeholder: "What the next reader should know", oninput: type("text") })),
      h("div", { class: "row" },
        h("label", { class: "field grow" }, "About code (path or path:symbol)", h("input", { class: "input mono", value: note.code, placeholder: "src/cart.py:Cart.total", oninput: type("code") })),
        trees.length > 1 && choose("Codebase", note.root, [["", "the one that has it"], ...trees.map((each) => [each.root, each.name])], (root) => (note.root = root)),
        h("label", { class: "field" }, "Tags", h("input", { class: "input", value: note.tags, oninput: type("tags") })),
        h("div", { class: "field" }, h("span", { "aria-hidden": "true" }, "\u00a0"), h("button", { class: "button primary", type: "submit" }, "Save")))));
}

const isNote = (doc) => typeof doc?.value?.text === "string";

function startEdit(id, doc) {
  state.edit = { id, plain: isNote(doc), text: isNote(doc) ? doc.value.text : json(doc.value) };
  changed();
}

/** A note is edited as text, another document as the JSON of its value. */
function editForm(space, branch, now) {
  const edit = state.edit;
  const save = (event) => {
    event.preventDefault();
    attempt(async () => {
      const value = edit.plain ? { ...now.doc.value, text: edit.text } : JSON.parse(edit.text);
      const operations = [{ op: "set", id: edit.id, value: { ...now.doc, value } }];
      const landed = await space.land({ branch, reads: { confirmed: [{ id: edit.id, path: [], seq: now.seq }], pending: [] }, operations, author: AUTHOR });
      notify(`Saved at seq ${landed.seq}.`);
    }, () => (state.edit = null));
  };
  return h("form", { class: "stack", onsubmit: save },
    h("label", { class: "field" }, edit.plain ? "Text" : "Value, as JSON", h("textarea", { class: `input${edit.plain ? "" : " mono"}`, rows: "8", spellcheck: String(edit.plain), value: edit.text, oninput: (event) => (edit.text = event.target.value) })),
    h("div", { class: "row" }, h("button", { class: "button primary", type: "submit" }, "Save"), h("button", { class: "button", type: "button", onclick: () => { state.edit = null; changed(); } }, "Cancel")));
}

/** The code that a document is about, and whether it has changed since. */
function linked(space, branch, id, seq) {
  const of = JSON.stringify([space.name, branch, id, seq, all("codebase").map((each) => each.freshness)]);
  if (state.linksOf !== of) {
    state.linksOf = of;
    about.load(() => ask("memory/drift", { space: space.name, branch, id }));
  }
  const found = about.value?.links ?? [];
  return found.length > 0 && card("About this code", {}, h("ul", { class: "list" }, found.map((link) =>
    h("li", { key: link.at },
      h("a", { class: "item row spread", href: to("search", [], { root: link.root, q: link.symbol ?? link.path, file: link.path }) },
        h("span", { class: "grow" }, h("span", { class: "mono" }, link.symbol ?? link.path), h("span", { class: "small muted mono clip block" }, link.path, link.lines && `:${link.lines[0]}–${link.lines[1]}`)),
        badge(...DRIFT[link.state]))))));
}

const pointOn = (space, branch, id, seq) => async () => {
  const answer = await space.ask("graph.query", { query: { branch, atSeq: seq, roots: [{ id, selector: { path: [], schema: false } }] } });
  return answer.entities.find((entity) => entity.id === id)?.document ?? null;
};

/** Where two values differ: [{path, before, after}]. */
export function differences(one, other, path = "") {
  if (JSON.stringify(one) === JSON.stringify(other)) return [];
  const lists = [one, other].every(Array.isArray);
  if (lists) return listChanges(one, other, path);
  const objects = [one, other].every((value) => value && typeof value === "object" && !Array.isArray(value));
  if (!objects) return [{ path, before: one, after: other }];
  const names = [...new Set([...Object.keys(one), ...Object.keys(other)])];
  return names.flatMap((name) => differences(one[name], other[name], `${path}/${name}`));
}

/** Of two lists only the stretch in which they differ. */
function listChanges(one, other, path) {
  const same = (a, b) => JSON.stringify(a) === JSON.stringify(b);
  let first = 0, last = 0;
  while (first < Math.min(one.length, other.length) && same(one[first], other[first])) first += 1;
  while (last < Math.min(one.length, other.length) - first && same(one.at(-1 - last), other.at(-1 - last))) last += 1;
  const gone = one.slice(first, one.length - last), fresh = other.slice(first, other.length - last);
  return [
    ...gone.map((value, at) => ({ path: `${path}/${first + at}`, before: value, after: undefined })),
    ...fresh.map((value, at) => ({ path: `${path}/${first + at}`, before: undefined, after: value })),
  ];
}

const change = ({ path, before: was, after: is }) =>
  h("div", { class: "change", key: `${path} ${was === undefined}` },
    h("span", { class: "at" }, path || "(all)"),
    was !== undefined && h("div", { class: "was" }, withoutDigests(json(was))),
    is !== undefined && h("div", { class: "is" }, withoutDigests(json(is))));

/** A text for people: of a digest, which says which state of the code is meant, only the start. */
export const withoutDigests = (text) => text.replace(/\b([0-9a-f]{8})[0-9a-f]{56}\b/g, "$1…");

/** A value as a tree of names and values. */
function tree(value) {
  return h("div", { class: "value" }, branchOf(value));
}

function branchOf(value) {
  if (value === null || typeof value !== "object") return leaf(value);
  const entries = Object.entries(value);
  if (!entries.length) return h("span", { class: "muted" }, Array.isArray(value) ? "[]" : "{}");
  return entries.map(([name, member]) => {
    const deep = member !== null && typeof member === "object" && Object.keys(member).length > 0;
    return h("div", { class: "m", key: name }, h("span", { class: "name" }, name), deep ? h("span", { class: "muted" }, Array.isArray(member) ? counted(member.length, "item") : "") : leaf(member), deep && h("div", { class: "inside" }, branchOf(member)));
  });
}

const leaf = (value) => typeof value === "string" ? h("span", { class: "text" }, withoutDigests(value)) : h("span", { class: "lit" }, JSON.stringify(value) ?? "–");

// branches

function branches(space, facts, query) {
  const found = branchesOf(facts).filter((branch) => branch.name);
  if (!found.length) return card(null, {}, empty("branch", "No open branches", "Agents work on branches; people review the difference and merge.", command("holdfast memory branch create draft")));
  const name = found.some((branch) => branch.name === query.branch) ? query.branch : found[0].name;
  const branch = found.find((each) => each.name === name);
  const asked = JSON.stringify([space.name, name, facts.seq, sync.epoch]);
  if (state.diffOf !== asked) {
    if (!state.diffOf.startsWith(`["${space.name}","${name}"`)) {
      diff.reset();
      stopMerging();
    }
    state.diffOf = asked;
    diff.load(() => space.ask("branch.diff", { branch: name }));
    // Another client may have changed either branch: ask again what a merge would do.
    if (state.merging === name && !state.busy) propose(space, name);
  }
  return h("div", { class: "side" },
    card("Branches", {}, h("ul", { class: "list" }, found.map((each) =>
      h("li", { key: each.name },
        h("button", { class: "item", "aria-current": String(each.name === name), "data-branch": each.name, onclick: () => refine({ branch: each.name }) },
          h("div", { class: "row" }, icon("branch"), h("strong", { class: "clip" }, each.name)),
          h("div", { class: "small muted num" }, `from ${named(each.parentBranch)} at ${each.forkSeq}, now at ${each.headSeq}`)))))),
    h("div", { class: "stack" },
      state.merging === name ? mergeCard(space, branch) : card(name, { acts: h("button", { class: "button primary", onclick: () => startMerge(space, name) }, `Merge into ${named(branch.parentBranch)}`) },
        h("div", { class: "inner small muted" }, `What ${name} changed since it was forked. Nothing is written until a merge is confirmed.`)),
      shown(diff, differs, undefined, 5) ?? card(null, {}, loading(4))));
}

function differs(value) {
  if (!value.documents.length) return card(null, {}, empty("check", "No differences", "The branch has what its fork point had."));
  const SIGNS = { added: ["ok", "Added"], removed: ["bad", "Removed"], modified: ["busy", "Changed"] };
  return value.documents.map((doc) =>
    card(doc.id, { key: doc.id, acts: badge(...(SIGNS[doc.kind] ?? ["", doc.kind])) },
      h("div", { class: "inner stack tight" }, doc.changes.flatMap((each) =>
        doc.kind === "modified" ? differences(each.before, each.after, each.path).map(change)
          : h("div", { class: doc.kind === "added" ? "fresh" : "was-all", key: each.path }, tree((each.after ?? each.before)?.value ?? each.after ?? each.before))))));
}

function stopMerging() {
  state.merging = null;
  state.resolutions = {};
  state.own = {};
  merge.reset();
}

function startMerge(space, name) {
  stopMerging();
  state.merging = name;
  propose(space, name);
}

const targetOf = (space, name) => one("space", space.name)?.branches.find((branch) => branch.name === name)?.parentBranch ?? MAIN;

const propose = (space, name) => merge.load(() => space.ask("branch.merge", { source: name, target: targetOf(space, name) }));

const clashKey = (clash) => `${clash.id} ${clash.path}`;

function mergeCard(space, branch) {
  const target = named(branch.parentBranch);
  const close = h("button", { class: "button", onclick: () => { stopMerging(); changed(); } }, "Cancel");
  if (merge.status === "error") return card(`Merge ${branch.name}`, { acts: close }, failure(merge.error, () => propose(space, branch.name)));
  if (!merge.value) return card(`Merge ${branch.name}`, { acts: close }, loading(4));
  const { clashes, commit } = merge.value;
  const settled = clashes.filter((clash) => state.resolutions[clashKey(clash)] !== undefined).length;
  const ready = settled === clashes.length && !state.busy;
  if (!clashes.length && !commit.operations.length) {
    return card(`Merge ${branch.name}`, { acts: close }, empty("check", "Nothing to merge", `${target} already has everything that ${branch.name} changed.`));
  }
  return card(`Merge ${branch.name} into ${target}`, { "data-merge": branch.name, acts: close },
    h("div", { class: "inner stack" },
      clashes.length > 0 ? h("p", { class: "soft" }, `Both sides changed the same ${clashes.length === 1 ? "place" : `${clashes.length} places`}. Choose what to keep; everything else is merged automatically.`)
        : h("p", { class: "soft" }, `No conflicts: ${counted(commit.operations.length, "document")} will change.`),
      clashes.map((clash) => conflict(clash, branch.name, target)),
      h("div", { class: "row spread" },
        h("span", { class: "small muted num", role: "status" }, clashes.length ? `${settled} of ${clashes.length} resolved` : ""),
        h("button", { class: "button primary", disabled: !ready, onclick: () => finish(space, branch) }, state.busy ? "Merging…" : "Merge"))));
}

function conflict(clash, source, target) {
  const key = clashKey(clash);
  const chosen = state.resolutions[key];
  const kind = typeof chosen === "object" ? "own" : chosen;
  const pick = (value) => {
    state.resolutions[key] = value;
    changed();
  };
  const option = (side, who, value) =>
    h("button", { type: "button", class: "choice", role: "radio", "aria-checked": String(kind === side), "data-side": side, onclick: () => pick(side) },
      h("span", { class: "who" }, h("span", { class: "dot-choice", "aria-hidden": "true" }), who, h("span", { class: "pick" }, kind === side ? "Kept" : "Keep this")), h("pre", null, json(value)));
  return h("section", { class: "clash", key, "data-clash": key },
    h("header", null, h("strong", { class: "mono" }, clash.id), h("code", { class: "muted" }, clash.path || "(all)"), kind ? badge("ok", "Resolved") : badge("warn", "Conflict")),
    h("div", { class: "choices", role: "radiogroup", "aria-label": `What to keep at ${clash.path} of ${clash.id}` },
      option("source", source, clash.sourceValue), option("target", target, clash.targetValue), option("ancestor", "before both", clash.ancestorValue)),
    h("details", { class: "inner", open: kind === "own" ? true : undefined },
      h("summary", { class: "small" }, kind === "own" ? `Kept: ${json(state.resolutions[key].value)}` : "Enter another value"),
      h("div", { class: "row" },
        h("label", { class: "field grow" }, "Value, as JSON",
          h("input", { class: "input mono", value: state.own[key] ?? "", placeholder: json(clash.sourceValue)?.slice(0, 80), oninput: (event) => (state.own[key] = event.target.value) })),
        h("button", { type: "button", class: "button", onclick: () => {
          try {
            pick({ value: JSON.parse(state.own[key] ?? "") });
          } catch {
            notify("That is not JSON. Strings need quotes.", "warn");
          }
        } }, "Use this"))));
}

async function finish(space, branch) {
  state.busy = true;
  changed();
  const resolutions = {};
  for (const clash of merge.value.clashes) (resolutions[clash.id] ??= {})[clash.path] = state.resolutions[clashKey(clash)];
  const target = branch.parentBranch ?? MAIN;
  try {
    const proposal = await space.ask("branch.merge", { source: branch.name, target, resolutions });
    if (proposal.clashes.length) {
      merge.value = proposal;
      notify("The branches changed in the meantime; there are new conflicts to resolve.", "warn");
    } else {
      const landed = await space.land({ ...proposal.commit, author: AUTHOR });
      // A merged branch is closed; if it was written meanwhile it stays open.
      const left = await space.ask("branch.merge", { source: branch.name, target });
      if (!left.clashes.length && !left.commit.operations.length) await space.deleteBranch(branch.name);
      notify(`Merged ${branch.name} into ${named(target)} at seq ${landed.seq}.`);
      stopMerging();
    }
  } catch (error) {
    notify(error.name === "ConflictError" ? "Another client committed at the same time; nothing was merged. Try again." : error.message, error.name === "ConflictError" ? "warn" : "bad");
    propose(space, branch.name);
  } finally {
    state.busy = false;
    changed();
  }
}

// links to code

const DRIFT = { drifted: ["warn", "Drifted"], missing: ["bad", "Missing"], unverified: ["", "Unverified"], current: ["ok", "Current"] };

function links(name, facts, query) {
  const branch = query.branch ?? MAIN;
  const trees = all("codebase").map((codebase) => [codebase.root, codebase.freshness, codebase.updatedAt]);
  const asked = JSON.stringify([name, branch, facts.seq, trees, sync.epoch]);
  if (state.driftOf !== asked) {
    state.driftOf = asked;
    drift.load(() => ask("memory/drift", { space: name, branch }));
  }
  return card("Links to code", { note: "A link has drifted when its code has changed since it was written." }, shown(drift, (value) => {
    if (!value.links.length) return empty("link", "No links to code", "A document links to code with its path, its symbol and a digest.");
    const order = Object.keys(DRIFT);
    const sorted = [...value.links].sort((a, b) => order.indexOf(a.state) - order.indexOf(b.state));
    return h("ul", { class: "list" }, sorted.map((link) =>
      h("li", { key: `${link.id}${link.at}`, "data-link": link.state },
        h("div", { class: "item row spread" },
          h("div", { class: "grow" },
            h("div", { class: "mono" }, link.symbol ?? link.path),
            h("div", { class: "small muted mono clip" }, link.path, link.lines && `:${link.lines[0]}–${link.lines[1]}`),
            h("div", { class: "small" }, "in ", h("a", { href: to("memory", [name], { id: link.id, branch }) }, link.id), h("span", { class: "muted" }, ` ${link.at}`))),
          h("div", { class: "row" }, h("span", { class: "small muted" }, link.why), badge(...DRIFT[link.state])))) ));
  }, undefined, 5));
}
