"""Links from memory to code: never current without a digest that says so."""

import hashlib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.links import (
    LINK_FORMAT,
    CodeLink,
    judge,
    link_to,
    links_in,
    near_misses,
    reader_below,
    with_digests,
)

SOURCE = b"import os\n\n\ndef first():\n    return 1\n\n\ndef second():\n    return 2\n"


def judged(link: CodeLink, source: bytes | None = SOURCE) -> str:
    return judge(link, lambda path, root: source).state


@pytest.mark.shows("LINK-STATES")
def test_a_symbol_is_current_while_only_others_change() -> None:
    link = link_to("a.py", SOURCE, "first")
    assert judged(link) == "current"
    assert judged(link, SOURCE.replace(b"return 2", b"return 3")) == "current"
    assert judged(link, b"# moved down\n" + SOURCE) == "current"
    assert judged(link, SOURCE.replace(b"return 1", b"return 9")) == "drifted"
    assert judged(link, SOURCE.replace(b"first", b"other")) == "missing"
    assert judged(link, None) == "missing"


@pytest.mark.shows("LINK-STATES")
def test_without_a_digest_nothing_is_said() -> None:
    assert judged(CodeLink("a.py", "first")) == "unverified"
    assert judged(CodeLink("a.py")) == "unverified"


@pytest.mark.shows("LINK-FORMAT")
def test_a_link_of_a_later_format_is_found_kept_and_never_said_to_be_current() -> None:
    written = {"code": {"path": "a.py", "sha256": hashlib.sha256(SOURCE).hexdigest()}}
    ((_, link),) = links_in(written)
    assert (link.format, link.to_wire(), judged(link)) == (LINK_FORMAT, written, "current")
    later = {"code": {**written["code"], "format": LINK_FORMAT + 1}}
    ((_, link),) = links_in(later)
    assert link.to_wire() == later
    found = judge(link, lambda path, root: SOURCE)
    assert found.state == "unverified"
    assert found.why == "the link has format 2; this version reads up to 1"


@pytest.mark.shows("LINK-STATES")
def test_of_two_namesakes_neither_is_the_one_that_was_meant() -> None:
    twice = b"class A:\n    def run(self): ...\n\nclass B:\n    def run(self): ...\n"
    assert judged(CodeLink("a.py", "run", "0" * 64), twice) == "missing"
    assert judged(link_to("a.py", twice, "A.run"), twice) == "current"
    with pytest.raises(KeyError):
        link_to("a.py", twice, "run")


@pytest.mark.shows("LINK-STATES")
@given(st.binary(max_size=60), st.binary(max_size=60))
def test_a_file_is_current_exactly_when_its_bytes_are_the_same(one: bytes, other: bytes) -> None:
    link = CodeLink("notes.txt", None, hashlib.sha256(one).hexdigest())
    assert judged(link, other) == ("current" if one == other else "drifted")


scalars = st.one_of(st.none(), st.integers(), st.text(max_size=5))
trees = st.recursive(
    scalars,
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3)
    ),
    max_leaves=8,
)


@pytest.mark.shows("LINK-FIND")
@given(trees, trees)
def test_a_link_is_found_wherever_it_stands(before: Any, after: Any) -> None:
    link = CodeLink("a.py", "f", "0" * 64, "/r")
    document = {"value": [before, {"deep": [link.to_wire()]}, after]}
    assert ((("value", "1", "deep", "0"), link)) in list(links_in(document))


@pytest.mark.shows("LINK-FIND")
def test_a_link_stands_beside_other_members_and_other_links() -> None:
    """A note with a text and a link was data: it got no digest, and nothing said so."""
    note = {"text": "mind", "code": {"path": "a.py"}, "also": [{"code": {"path": "b.py"}}]}
    assert [(at, link.path) for at, link in links_in(note)] == [
        ((), "a.py"),
        (("also", "0"), "b.py"),
    ]
    done = with_digests({"value": note}, "/r", lambda path, root: SOURCE)["value"]
    assert done["text"] == "mind"
    assert judged(CodeLink(**done["code"])) == "current"
    assert judged(CodeLink(**done["also"][0]["code"])) == "current"


@pytest.mark.shows("LINK-FIND")
def test_a_patch_that_sets_a_link_gets_its_digest() -> None:
    patch = {"op": "add", "path": "/value/code", "value": {"path": "a.py", "symbol": "first"}}
    (done,) = with_digests([patch], "/r", lambda path, root: SOURCE)
    assert judged(CodeLink(**done["value"])) == "current"
    with pytest.raises(UsageError, match="exactly one symbol third") as refused:
        with_digests({"code": {"path": "a.py", "symbol": "third"}}, "/r", lambda p, r: SOURCE)
    assert "the outline of a.py lists its symbols" in refused.value.hint


@pytest.mark.shows("MEM-NEAR-MISS")
@pytest.mark.parametrize(
    ("value", "said"),
    [
        ({"code": "src/a.py"}, "/code is not a link"),
        ({"deep": [{"code": "src/a.py:f"}]}, "/deep/0/code is not a link"),
        ({"code": {"file": "a.py"}}, '{"path": "a.py"}'),
        ({"code": {"path": 3}}, "/code is not a link"),
        ({"code": "return 1"}, ""),
        ({"code": 404}, ""),
        ({"code": {"path": "a.py"}}, ""),
    ],
)
def test_what_looks_like_a_link_and_is_none_is_warned_about(value: Any, said: str) -> None:
    warned = list(near_misses(value))
    assert len(warned) == bool(said)
    assert said in "".join(warned)


@pytest.mark.shows("LINK-FIND")
@pytest.mark.parametrize(
    "value",
    [
        {"code": "a.py"},
        {"code": {"path": 1}},
        {"code": {"path": "a.py", "symbol": 3}},
        {"code": None},
        {"code": {"path": "a.py", "format": "1"}},
        {"code": {"path": "a.py", "format": True}},
        {"code": {"path": "a.py", "format": 0}},
    ],
)
def test_what_only_looks_like_a_link_is_data(value: Any) -> None:
    assert list(links_in({"value": value})) == []


def test_a_deep_document_ends_the_search_and_not_the_program() -> None:
    deep: Any = CodeLink("a.py").to_wire()
    for _ in range(5_000):
        deep = [deep]
    assert list(links_in(deep)) == []


@pytest.mark.shows("LINK-CONTAINED")
def test_a_link_cannot_read_outside_its_tree(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "in.py").write_bytes(b"x = 1\n")
    (tmp_path / "out.py").write_bytes(b"secret\n")
    (root / "way-out.py").symlink_to(tmp_path / "out.py")
    read = reader_below(str(root))
    assert read("in.py", None) == b"x = 1\n"
    assert read("in.py", str(root)) == b"x = 1\n"
    assert read("../out.py", None) is None
    assert read(str(tmp_path / "out.py"), None) is None
    assert read("way-out.py", None) is None
    assert read("in.py", "/elsewhere") is None
    assert read("no.py", None) is None
