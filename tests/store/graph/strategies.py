"""Random documents that link to each other, and random schemas over their keys."""

from typing import Any

from hypothesis import strategies as st

from tests.store.graph.world import link

IDS = [f"of:{n}" for n in range(6)]
KEYS = ["a", "b", "c"]
NAMES = ["x", "y", "z"]

ids = st.sampled_from(IDS)
keys = st.sampled_from(KEYS)
paths = st.lists(st.sampled_from([*KEYS, "0", "1"]), max_size=2)
types = st.sampled_from(["object", "array", "string", "unknown", "made-up"])


def _extend(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    lists = st.lists(inner, max_size=2)
    members = {
        "type": types | st.lists(types, min_size=1, max_size=2, unique=True),
        "properties": st.dictionaries(keys, inner, max_size=3),
        "additionalProperties": inner,
        "items": inner,
        "prefixItems": lists,
        "required": st.lists(keys, max_size=1),
        "anyOf": lists,
        "oneOf": lists,
        "allOf": lists,
        "$ref": st.sampled_from(NAMES).map(lambda name: f"#/$defs/{name}"),
        "not": st.just(True),
        "title": st.just("t"),
        "default": st.integers(0, 1),
    }
    common = ["type", "properties", "properties", "items", "$ref", "anyOf", "allOf"]
    some = st.lists(st.sampled_from([*members, *common]), max_size=3, unique=True)
    return some.flatmap(lambda chosen: st.fixed_dictionaries({k: members[k] for k in chosen}))


open_schemas: st.SearchStrategy[Any] = st.recursive(
    st.booleans() | st.just({}), _extend, max_leaves=6
)
"""Schemas that may refer to $defs they do not hold."""


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    raw = draw(open_schemas)
    if isinstance(raw, dict):
        defs = draw(st.dictionaries(st.sampled_from(NAMES), open_schemas, max_size=3))
        if defs:
            raw = {**raw, "$defs": defs}
    return raw


@st.composite
def links(draw: st.DrawFn) -> Any:
    if draw(st.integers(0, 7)) == 0:
        body: dict[str, Any] = {"path": draw(paths)}
        if draw(st.booleans()):
            body["cell"] = {"/": draw(ids).removeprefix("of:")}
        return {"$alias": body}
    more: dict[str, Any] = {}
    if draw(st.integers(0, 3)) == 0:
        more["schema"] = draw(schemas())
    if draw(st.integers(0, 9)) == 0:
        more["space"] = draw(st.sampled_from(["here", "elsewhere"]))
    target = None if draw(st.integers(0, 7)) == 0 else draw(ids)
    return link(target, *draw(st.just([]) | paths), **more)


values = st.recursive(
    links() | links() | links() | st.sampled_from([1, "s", None, {"/": "x"}]),
    lambda inner: st.dictionaries(keys, inner, max_size=3) | st.lists(inner, max_size=2),
    max_leaves=6,
)


@st.composite
def documents(draw: st.DrawFn) -> Any:
    document: dict[str, Any] = {"value": draw(values)}
    if draw(st.integers(0, 5)) == 0:
        document["source"] = {"/": draw(ids).removeprefix("of:")}
    return document


worlds = st.dictionaries(ids, st.none() | documents() | documents() | documents(), max_size=6)
"""Documents by id; None is a deleted one."""

roots = st.fixed_dictionaries(
    {
        "id": ids,
        "selector": st.fixed_dictionaries(
            {"path": st.just([]) | paths, "schema": st.just(True) | schemas()}
        ),
    }
)
queries = st.fixed_dictionaries({"roots": st.lists(roots, min_size=1, max_size=4)})
