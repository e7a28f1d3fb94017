// A page is a function of the state: `h` describes it, `render` makes the document agree.
//
// Only what differs is touched, so focus, selection and scroll positions stay where they are while
// changes arrive. No text ever becomes markup: there is no way to write HTML through this file.

const SVG = "http://www.w3.org/2000/svg";
const PROPERTIES = new Set(["value", "checked", "selected", "disabled", "open", "indeterminate"]);

/** Describe an element, or call a component: h("p", {class: "x"}, "text"). */
export function h(tag, props, ...children) {
  const flat = [];
  gather(children, flat);
  if (typeof tag === "function") return tag(props ?? {}, flat);
  return { tag, props: props ?? {}, children: flat, key: props?.key, dom: null };
}

function gather(children, into) {
  for (const child of children) {
    if (child === null || child === undefined || child === false || child === true) continue;
    if (Array.isArray(child)) gather(child, into);
    else into.push(typeof child === "object" ? child : { text: String(child), dom: null });
  }
}

const trees = new WeakMap();

/** Make what is below `parent` look like `nodes`. */
export function render(parent, ...nodes) {
  const next = [];
  gather(nodes, next);
  reconcile(parent, trees.get(parent) ?? [], next, false);
  trees.set(parent, next);
}

function reconcile(parent, before, after, svg) {
  const keyed = new Map();
  const plain = [];
  for (const node of before) {
    if (node.key !== undefined) keyed.set(node.key, node);
    else plain.push(node);
  }
  let at = 0;
  const kept = new Set();
  const doms = after.map((node) => {
    let old;
    if (node.key !== undefined) old = keyed.get(node.key);
    else {
      // The next unkeyed one of the same kind; what is skipped goes.
      while (at < plain.length && plain[at].tag !== node.tag) at += 1;
      old = plain[at++];
    }
    if (old && old.tag === node.tag && !kept.has(old)) {
      kept.add(old);
      update(old, node, svg);
    } else {
      create(node, svg);
    }
    return node.dom;
  });
  for (const node of before) if (!kept.has(node)) node.dom.remove();
  let place = parent.firstChild;
  for (const dom of doms) {
    if (dom === place) place = place.nextSibling;
    else parent.insertBefore(dom, place);
  }
}

function create(node, svg) {
  if (node.tag === undefined) {
    node.dom = document.createTextNode(node.text);
    return;
  }
  const inside = svg || node.tag === "svg";
  node.dom = inside ? document.createElementNS(SVG, node.tag) : document.createElement(node.tag);
  reconcile(node.dom, [], node.children, inside);
  for (const [name, value] of Object.entries(node.props)) assign(node.dom, name, undefined, value);
  if (node.props.mounted) {
    const { mounted } = node.props;
    queueMicrotask(() => mounted(node.dom));
  }
}

function update(old, node, svg) {
  const dom = (node.dom = old.dom);
  if (node.tag === undefined) {
    if (old.text !== node.text) dom.data = node.text;
    return;
  }
  reconcile(dom, old.children, node.children, svg || node.tag === "svg");
  for (const name of Object.keys(old.props)) {
    if (!(name in node.props)) assign(dom, name, old.props[name], undefined);
  }
  for (const [name, value] of Object.entries(node.props)) assign(dom, name, old.props[name], value);
}

function assign(dom, name, before, value) {
  if (name === "key" || name === "mounted") return;
  if (name.startsWith("on")) {
    dom[name] = value ?? null;
  } else if (PROPERTIES.has(name)) {
    // What a person has typed is newer than what we drew last.
    if (dom[name] !== (value ?? "")) dom[name] = value ?? (name === "value" ? "" : false);
  } else if (name === "style") {
    for (const part of Object.keys(before ?? {})) if (!(part in (value ?? {}))) dom.style.removeProperty(part);
    for (const [part, text] of Object.entries(value ?? {})) dom.style.setProperty(part, text);
  } else if (before !== value) {
    if (value === undefined || value === null || value === false) dom.removeAttribute(name);
    else dom.setAttribute(name, value === true ? "" : String(value));
  }
}

/** Call `draw` soon, once for any number of calls. */
export function scheduler(draw) {
  let waiting = false;
  return () => {
    if (waiting) return;
    waiting = true;
    queueMicrotask(() => {
      waiting = false;
      draw();
    });
  };
}

/** A question's answer as state: {status: "idle" | "loading" | "ok" | "error", value, error}. */
export function resource(changed) {
  let turn = 0;
  return {
    status: "idle",
    value: undefined,
    error: undefined,
    async load(ask) {
      const mine = ++turn;
      this.status = "loading";
      changed();
      try {
        const value = await ask();
        if (mine !== turn) return;
        this.status = "ok";
        this.value = value;
        this.error = undefined;
      } catch (error) {
        if (mine !== turn) return;
        this.status = "error";
        this.error = error;
      }
      changed();
    },
    reset() {
      turn += 1;
      this.status = "idle";
      this.value = this.error = undefined;
    },
  };
}

export class AskError extends Error {
  constructor(message, hint, status) {
    super(message);
    this.hint = hint;
    this.status = status;
  }
}

/** Do something on the server: the same as a question, but never from an address. */
export const act = (name, members = {}) => ask(name, members, true);

/** Ask a question of the server. */
export async function ask(name, members = {}, posted = false) {
  const asked = new URLSearchParams();
  for (const [key, value] of Object.entries(members)) {
    if (value !== undefined && value !== null && value !== "") asked.set(key, String(value));
  }
  const long = posted || asked.toString().length > 1500;
  let answer;
  try {
    answer = await fetch(long ? `/api/${name}` : `/api/${name}?${asked}`, {
      method: long ? "POST" : "GET",
      headers: long ? { "content-type": "application/json" } : {},
      body: long ? JSON.stringify(Object.fromEntries(asked)) : undefined,
    });
  } catch {
    throw new AskError("The server did not answer.", "Is holdfast serve still running?", 0);
  }
  const body = await answer.json().catch(() => ({ error: `The server answered ${answer.status}.` }));
  if (!answer.ok) throw new AskError(body.error ?? `The server answered ${answer.status}.`, body.hint, answer.status);
  return body;
}
