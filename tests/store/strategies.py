"""Values for property tests: any JSON, and any value at all."""

from typing import Any

from hypothesis import strategies as st

from holdfast.store.values import (
    SAFE_INTEGER,
    BigInt,
    EpochDays,
    EpochNsec,
    Error,
    Hole,
    Map,
    RegExp,
    Set,
    Undefined,
    UnknownInstance,
)

names = st.one_of(
    st.text(max_size=6),
    st.sampled_from(["/", "/object", "/quote", "/hole", "/BigInt@1", "/Mystery@7", "a", "b", "~"]),
)
numbers = st.one_of(
    st.integers(-SAFE_INTEGER, SAFE_INTEGER),
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(-(10**25), 10**25).map(float),
    st.sampled_from([0.0, -0.0, 1e21, 1e-7, 1e-6, 1e15, 1e16, 0.001, 2.0**53, 5e-324, 123.0]),
)
json_scalars = st.one_of(st.none(), st.booleans(), numbers, st.text(max_size=12))
json_values: st.SearchStrategy[object] = st.recursive(
    json_scalars,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(names, inner, max_size=4)),
    max_leaves=12,
)

integers = st.one_of(st.integers(-300, 300), st.integers(-(2**200), 2**200))
rich_scalars = st.one_of(
    json_scalars,
    st.just(Undefined),
    integers,
    integers.map(BigInt),
    integers.map(EpochNsec),
    integers.map(EpochDays),
    st.binary(max_size=6),
    st.builds(RegExp, st.text(max_size=4), st.sampled_from(["", "gi"])),
)


def _containers(inner: st.SearchStrategy[Any]) -> st.SearchStrategy[object]:
    tags = st.sampled_from(["Mystery@7", "", "/", "Map@2"])
    return st.one_of(
        st.lists(st.one_of(inner, st.just(Hole)), max_size=5),
        st.dictionaries(names, inner, max_size=4),
        st.lists(st.lists(inner, min_size=2, max_size=2), max_size=3).map(
            lambda pairs: Map([*pairs])
        ),
        st.lists(inner, max_size=3).map(Set),
        st.dictionaries(st.sampled_from(["cause", "code", "/"]), inner, max_size=2).map(Error),
        st.builds(UnknownInstance, tags, inner),
    )


values: st.SearchStrategy[object] = st.recursive(rich_scalars, _containers, max_leaves=12)
