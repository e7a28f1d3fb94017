"""Random sound histories: what any client may do, in any order."""

from typing import Any

import hypothesis.strategies as st

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.model import CommitKey
from holdfast.store.store import Store
from tests.store.harness import Writer, delete_, patch_, set_

IDS = ["doc:a", "doc:b", "doc:c"]

_ids = st.sampled_from(IDS)
_values = st.one_of(st.integers(0, 3), st.text(max_size=2), st.lists(st.integers(0, 3), max_size=2))
_names = st.sampled_from(["x", "y", "z"])
_edits = st.one_of(
    st.builds(lambda n, v: {"op": "add", "path": f"/value/{n}", "value": v}, _names, _values),
    st.builds(lambda n: {"op": "remove", "path": f"/value/{n}"}, _names),
    st.builds(lambda n: {"op": "increment", "path": f"/value/{n}", "by": 1}, _names),
    st.builds(lambda n: {"op": "append", "path": f"/value/{n}", "values": [1]}, _names),
    st.builds(
        lambda n, m: {"op": "move", "from": f"/value/{n}", "path": f"/value/{m}"}, _names, _names
    ),
)
_operations = st.one_of(
    st.builds(lambda id, v: set_(id, {"x": v}), _ids, _values),
    st.builds(lambda id, edits: patch_(id, *edits), _ids, st.lists(_edits, max_size=3)),
    st.builds(delete_, _ids),
)
_steps = st.one_of(
    st.tuples(
        st.just("commit"),
        st.lists(_operations, min_size=1, max_size=3),
        st.integers(0, 3),
        st.tuples(_ids, st.integers(0, 3), st.booleans()),
    ),
    st.tuples(st.just("fork"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("delete"), st.integers(0, 3), st.booleans()),
    st.tuples(st.just("merge"), st.integers(0, 3), st.integers(0, 3)),
    st.tuples(st.just("blob"), st.binary(max_size=4)),
    st.tuples(st.just("collect")),
)
histories = st.lists(_steps, min_size=1, max_size=14)


def play(store: Store, history: list[tuple[Any, ...]]) -> None:
    """Do all of it; what the store refuses is not done."""
    writer = Writer(store, "player")
    for step in history:
        try:
            _do(store, writer, step)
        except StoreError:
            continue


def _do(store: Store, writer: Writer, step: tuple[Any, ...]) -> None:
    names = [branch.name for branch in store.branches()]

    def pick(number: int) -> str:
        return names[number % len(names)]

    def key() -> CommitKey:
        writer.local_seq += 1
        return CommitKey(SessionId(writer.session), LocalSeq(writer.local_seq))

    match step:
        case ("commit", operations, branch, (id, back, pending)):
            seq = max(store.newest_seq() - back, 0)
            layers = [max(writer.local_seq - back, 1)]
            reads: dict[str, Any] = (
                {"pending": [{"id": id, "path": ["value"], "localSeq": layers, "basisSeq": seq}]}
                if pending
                else {"reads": [{"id": id, "path": ["value", "x"], "seq": seq}]}
            )
            writer(*operations, branch=pick(branch), **reads)
        case ("fork", parent, recorded):
            name = f"b{len(names)}"
            store.create_branch(name, pick(parent), by=key() if recorded else None)
        case ("delete", branch, recorded):
            store.delete_branch(pick(branch), by=key() if recorded else None)
        case ("merge", source, target):
            store.merge(key(), pick(source), pick(target), dict.fromkeys(IDS, "source"))
        case ("blob", data):
            store.put_blob(data)
        case ("collect",):
            store.collect_garbage()
        case _:
            raise AssertionError(step)
