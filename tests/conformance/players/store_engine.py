"""Plays the engine's steps on a store in memory."""

import base64
from collections.abc import Callable
from dataclasses import replace
from typing import Any, cast

from holdfast.ids import MAIN, EntityId, LocalSeq, SessionId
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from tests.conformance.players.store_pure import from_case, to_case

Step = dict[str, Any]


def _bytes_of(step: Step) -> tuple[bytes, Callable[[bytes], Any]]:
    """The bytes a step gives, and how to write bytes in the same form."""
    match step:
        case {"hex": text}:
            return bytes.fromhex(text), bytes.hex
        case {"bytes": numbers}:
            return bytes(numbers), list
        case {"base64": text}:
            padding = "=" * (-len(text) % 4)
            altchars = b"-_" if set(text) & {"-", "_"} else b"+/"

            def encode(data: bytes) -> str:
                encoded = base64.b64encode(data, altchars).decode("ascii")
                return encoded.rstrip("=") if padding else encoded

            return base64.b64decode(text + padding, altchars), encode
        case _:
            raise AssertionError(f"blob.put gives its bytes as hex, bytes or base64: {step}")


class EnginePlayer:
    """One store; each step is one call, answered in the wire's form."""

    def __init__(self, status: str, url: str = "memory:", space: str = "did:key:case") -> None:
        self.space = space
        self.settings = StoreSettings.original() if status == "seed" else StoreSettings()
        self.url = url
        self.store: Store | None = None

    def close(self) -> None:
        if self.store is not None:
            self.store.close()

    def step(self, step: Step) -> Any:
        acts = {
            "open": self._open,
            "transact": self._transact,
            "read": self._read,
            "state": self._state,
            "query": self._query,
            "branch.create": self._branch_create,
            "branch.delete": self._branch_delete,
            "branch.list": self._branch_list,
            "blob.put": self._blob_put,
            "tables": self._tables,
            "snapshots": self._snapshots,
            "revisions": self._revisions,
            "head": self._head,
            "commit.row": self._commit_row,
            "sql.delete_revision": self._delete_revision,
            "server_seq": self._server_seq,
        }
        if step["op"] not in acts:
            raise AssertionError(f"no such step: {step['op']!r}")
        return to_case(acts[step["op"]](cast("Step", from_case(step))))

    @property
    def _opened(self) -> Store:
        assert self.store is not None, "the case opens its store first"
        return self.store

    def _open(self, step: Step) -> Any:
        settings = self.settings
        if "snapshotInterval" in step:
            settings = replace(settings, snapshot_interval=step["snapshotInterval"])
        if "snapshotRetention" in step:
            settings = replace(settings, snapshot_retention=step["snapshotRetention"])
        unified = bool(step.get("unified", step.get("unifiedJsonEncoding", False)))
        self.store = open_store(self.url, self.space, replace(settings, rich_values=unified))
        return None

    def _transact(self, step: Step) -> Any:
        return self._opened.transact(step["session"], step["commit"]).to_wire()

    def _read(self, step: Step) -> Any:
        return self._opened.read(step["id"], step.get("branch", MAIN), step.get("seq"))

    def _state(self, step: Step) -> Any:
        state = self._opened.state(step["id"], step.get("branch", MAIN), step.get("seq"))
        return None if state is None else state.to_wire()

    def _query(self, step: Step) -> Any:
        return self._opened.query(step["query"]).to_wire()

    def _branch_create(self, step: Step) -> Any:
        made = self._opened.create_branch(
            step["name"], step.get("parentBranch", MAIN), step.get("forkSeq")
        )
        return made.to_wire()

    def _branch_delete(self, step: Step) -> Any:
        return self._opened.delete_branch(step["name"]).to_wire()

    def _branch_list(self, step: Step) -> Any:
        return [branch.to_wire() for branch in self._opened.branches()]

    def _blob_put(self, step: Step) -> Any:
        data, written = _bytes_of(step)
        hash = self._opened.put_blob(data, step.get("contentType", "application/octet-stream"))
        stored, content_type = self._opened.blob(hash)
        return {
            "hash": hash,
            "size": len(stored),
            "contentType": content_type,
            "readback": written(stored),
        }

    def _tables(self, step: Step) -> Any:
        return self._opened.engine.reading.tables()

    def _snapshots(self, step: Step) -> Any:
        branch = step.get("branch", MAIN)
        return self._opened.engine.tables.snapshot_seqs(branch, EntityId(step["id"]))

    def _revisions(self, step: Step) -> Any:
        branch = step.get("branch", MAIN)
        rows = self._opened.engine.tables.all_revisions()
        return [
            {"seq": seq, "op_index": op_index, "op": op}
            for of_branch, id, seq, op_index, op, *_ in rows
            if (of_branch, id) == (branch, step["id"])
        ]

    def _head(self, step: Step) -> Any:
        head = self._opened.engine.tables.head(step.get("branch", MAIN), EntityId(step["id"]))
        return None if head is None else {"seq": head[0], "op_index": head[1]}

    def _commit_row(self, step: Step) -> Any:
        engine = self._opened.engine
        key = CommitKey(SessionId(step["session"]), LocalSeq(step["localSeq"]))
        row = engine.tables.commit_by_key(key)
        assert row is not None, f"no commit {key}"
        return {
            "seq": row.seq,
            "branch": row.branch,
            "session_id": row.session,
            "local_seq": row.local_seq,
            "invocation_ref": row.invocation_ref,
            "authorization_ref": row.authorization_ref,
            "original": engine.decode(row.original),
            "resolution": engine.decode(row.resolution),
        }

    def _delete_revision(self, step: Step) -> Any:
        self._opened.engine.writing.run(
            "DELETE FROM revision WHERE branch = $1 AND id = $2 AND seq = $3",
            (step.get("branch", MAIN), step["id"], step["seq"]),
        )

    def _server_seq(self, step: Step) -> Any:
        return self._opened.newest_seq()
