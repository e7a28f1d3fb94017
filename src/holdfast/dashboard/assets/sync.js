// The sync protocol for a browser: one connection, a session per space.
//
// Which way it errs: it may show a document late, and may send a commit again that already landed
// (the server knows it by its localSeq). A commit resolves only when the server said it is durable.

const FLAGS = {
  richStorableValues: false,
  unifiedJsonEncoding: false,
  canonicalHashing: false,
  modernSchemaHash: false,
};
const CAPABILITIES = ["coverage", "conflicts", "removes", "branches", "history"];
const FIRST_MS = 25;
const LONGEST_MS = 30_000;

export class Refused extends Error {
  constructor(error) {
    super(error.message);
    this.name = error.name;
    this.hint = error.hint;
    this.conflicts = error.conflicts;
  }
}

export class ConnectionLost extends Error {
  constructor() {
    super("The connection was lost before the answer came.");
    this.name = "ConnectionLost";
  }
}

/** A connection that comes back by itself. `changed` is called when its state changes. */
export class Sync {
  constructor(url, changed = () => {}, dial = (to) => new WebSocket(to)) {
    this.url = url;
    this.state = "connecting";
    this.spaces = new Map();
    this.retryAt = 0;
    /** How often we were connected; what was asked before the last time may be out of date. */
    this.epoch = 0;
    this._changed = changed;
    this._dial = dial;
    this._asked = new Map();
    this._next = 1;
    this._failures = 0;
    this._connect();
  }

  /** The session of a space; opened on first use. */
  space(name) {
    let space = this.spaces.get(name);
    if (!space) {
      space = new Space(this, name);
      this.spaces.set(name, space);
      if (this.state === "connected") space._open();
    }
    return space;
  }

  /** Try again now: the machine woke up, or the user asked. */
  retry() {
    if (this.state !== "waiting") return;
    clearTimeout(this._timer);
    this._failures = 0;
    this._connect();
  }

  close() {
    this._closed = true;
    clearTimeout(this._timer);
    this._socket?.close();
  }

  _set(state) {
    this.state = state;
    this._changed();
  }

  _connect() {
    this._set("connecting");
    const socket = (this._socket = this._dial(this.url));
    let greeted = false;
    socket.onopen = () =>
      socket.send(
        JSON.stringify({ type: "hello", protocol: "memory/v2", flags: FLAGS, capabilities: CAPABILITIES }),
      );
    socket.onmessage = (event) => {
      const message = JSON.parse(event.data);
      if (message.type === "hello.ok") {
        greeted = true;
        this._failures = 0;
        this.epoch += 1;
        this.capabilities = message.capabilities ?? [];
        this._set("connected");
        for (const space of this.spaces.values()) space._open();
      } else this._take(message, greeted);
    };
    socket.onclose = (event) => this._lost(socket, event);
    socket.onerror = () => {};
  }

  _take(message, greeted) {
    if (message.type === "response") {
      const asked = this._asked.get(message.requestId);
      this._asked.delete(message.requestId);
      if (!asked) {
        if (!greeted) this._set("refused");
        return;
      }
      if (message.error) asked.reject(new Refused(message.error));
      else asked.resolve(message.ok);
    } else if (message.type === "session/effect") {
      this.spaces.get(message.space)?._effect(message.effect);
    } else if (message.type === "session/revoked") {
      this.spaces.get(message.space)?._revoked(message.reason);
    }
  }

  _lost(socket, event) {
    if (socket !== this._socket || this._closed) return;
    this.reason = event.reason;
    const asked = [...this._asked.values()];
    this._asked.clear();
    for (const space of this.spaces.values()) space._down();
    for (const one of asked) one.reject(new ConnectionLost());
    const wait = Math.min(LONGEST_MS, FIRST_MS * 2 ** this._failures) * (1 + Math.random() / 5);
    this._failures += 1;
    this.retryAt = Date.now() + wait;
    this._timer = setTimeout(() => this._connect(), wait);
    this._set("waiting");
  }

  _ask(message) {
    return new Promise((resolve, reject) => {
      if (this._socket?.readyState !== 1) {
        reject(new ConnectionLost());
        return;
      }
      const requestId = String(this._next++);
      this._asked.set(requestId, { resolve, reject });
      this._socket.send(JSON.stringify({ requestId, ...message }));
    });
  }
}

/** One space: what is watched, as it is now, and the commits that wait for a verdict. */
export class Space {
  constructor(sync, name) {
    this.name = name;
    this.state = "opening";
    this.problem = null;
    this.documents = new Map();
    this.seq = 0;
    this.ready = new Promise((resolve) => (this._isReady = resolve));
    this._sync = sync;
    this._id = `page-${crypto.randomUUID()}`;
    this._token = undefined;
    this._watches = new Map();
    this._localSeq = 1;
    this._pending = new Map();
    this._listeners = new Set();
  }

  /** Call `listener` with the changed ids whenever something that is watched changes. */
  listen(listener) {
    this._listeners.add(listener);
    return () => this._listeners.delete(listener);
  }

  /** The document as it is now, undefined if it is not watched or not there. */
  get(id, branch = "") {
    return this.documents.get(`${branch}\n${id}`)?.doc;
  }

  seqOf(id, branch = "") {
    return this.documents.get(`${branch}\n${id}`)?.seq ?? 0;
  }

  /** Watch documents and all that they lead to. The same name again replaces the watch. */
  async watch(name, ids, branch = "", schema = true) {
    const roots = ids.map((id) => ({ id, selector: { path: [], schema } }));
    const query = { roots, ...(branch ? { branch } : {}) };
    const before = JSON.stringify(this._watches.get(name));
    const spec = { id: name, kind: "graph", query };
    this._watches.set(name, spec);
    if (this.state !== "open") return;
    if (before === JSON.stringify(spec)) return;
    if (before === undefined) await this._told("session.watch.add", [spec]);
    else await this._told("session.watch.set", [...this._watches.values()]);
  }

  /** A question within the session. */
  async ask(type, members = {}) {
    await this.ready;
    return this._sync._ask({ type, space: this.name, sessionId: this._id, ...members });
  }

  /** Land a commit; resolves when it is durable, also over a lost connection. */
  transact(operations, { branch = "", confirmed = [], merge } = {}) {
    const commit = { branch, reads: { confirmed, pending: [] }, operations };
    return this.land(merge ? { ...commit, merge } : commit);
  }

  /** Land a commit that the server proposed. */
  land(commit) {
    const localSeq = this._localSeq++;
    return new Promise((resolve, reject) => {
      this._pending.set(localSeq, { commit: { ...commit, localSeq }, resolve, reject });
      if (this.state === "open") this._send(localSeq);
    });
  }

  createBranch(name, parentBranch = "") {
    return this.ask("branch.create", { localSeq: this._localSeq++, name, parentBranch });
  }

  deleteBranch(name) {
    return this.ask("branch.delete", { localSeq: this._localSeq++, name });
  }

  async _open() {
    this.state = "opening";
    const session = { sessionId: this._id };
    if (this._token) Object.assign(session, { sessionToken: this._token, seenSeq: this.seq });
    let opened;
    try {
      opened = await this._sync._ask({ type: "session.open", space: this.name, session });
    } catch (error) {
      if (error.name === "ConnectionLost") return;
      if (error.name === "SessionRevokedError") {
        this._startOver();
        return;
      }
      this.state = error.name === "AuthorizationError" ? "forbidden" : "failed";
      this.problem = error;
      this._tell([]);
      return;
    }
    this._id = opened.sessionId;
    this._token = opened.sessionToken;
    this.state = "open";
    this.problem = null;
    if (opened.resumed && opened.sync) this._effect(opened.sync);
    try {
      if (this._watches.size && !opened.resumed) {
        await this._told("session.watch.set", [...this._watches.values()]);
      }
    } catch (error) {
      if (error.name === "ConnectionLost") return;
      this.problem = error;
    }
    for (const localSeq of [...this._pending.keys()].sort((a, b) => a - b)) this._send(localSeq);
    this._isReady();
    this._tell([]);
  }

  _startOver() {
    // Another client has the session: the outcome of our commits there is unknown.
    for (const { reject } of this._pending.values()) reject(new ConnectionLost());
    this._pending.clear();
    this._id = `page-${crypto.randomUUID()}`;
    this._token = undefined;
    this._localSeq = 1;
    this.seq = 0;
    this._open();
  }

  _send(localSeq) {
    const entry = this._pending.get(localSeq);
    this._sync
      ._ask({ type: "transact", space: this.name, sessionId: this._id, commit: entry.commit })
      .then(
        (ok) => {
          this._pending.delete(localSeq);
          entry.resolve(ok);
        },
        (error) => {
          // Without an answer it is sent again when the connection is back.
          if (error.name === "ConnectionLost") return;
          this._pending.delete(localSeq);
          entry.reject(error);
        },
      );
  }

  async _told(type, watches) {
    const answer = await this._sync._ask({ type, space: this.name, sessionId: this._id, watches });
    if (type === "session.watch.set") this._replace(answer.sync);
    else this._effect(answer.sync);
  }

  _replace(sync) {
    this.documents.clear();
    this._effect(sync);
  }

  _effect(sync) {
    const changed = [];
    for (const { branch, id, seq, doc, deleted } of sync.upserts) {
      const key = `${branch}\n${id}`;
      if ((this.documents.get(key)?.seq ?? -1) > seq) continue;
      this.documents.set(key, { seq, doc: deleted ? undefined : doc });
      changed.push(id);
    }
    for (const { branch, id } of sync.removes) {
      this.documents.delete(`${branch}\n${id}`);
      changed.push(id);
    }
    this.seq = Math.max(this.seq, sync.toSeq);
    this._sync
      ._ask({ type: "session.ack", space: this.name, sessionId: this._id, seenSeq: this.seq })
      .catch(() => {});
    this._tell(changed);
  }

  _revoked(reason) {
    if (reason === "access-revoked") {
      this.state = "forbidden";
      this.problem = new Error("You may no longer read this space.");
      this._tell([]);
    } else this._startOver();
  }

  _down() {
    if (this.state === "open") this.state = "opening";
  }

  _tell(changed) {
    for (const listener of this._listeners) listener(changed);
  }
}
