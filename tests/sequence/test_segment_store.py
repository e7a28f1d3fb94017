"""A tree's segments on disk: after any history the answers are those of the tree as it is."""

import json
import os
import shutil
import tempfile
import zlib
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from holdfast.sequence import segment_store
from holdfast.sequence.errors import SegmentDamaged
from holdfast.sequence.segment_store import SegmentStore, document_facts
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.stream import Document, DocumentFacts
from holdfast.sequence.tokens.lexer import LexerOptions
from tests.scale import examples
from tests.sequence.test_segments import ask, check

paths = st.sampled_from(["a.txt", "b.txt", "c.txt", "d.txt"])
texts = st.lists(st.sampled_from("abc"), max_size=10)


def document(path: str, text: list[str], stamp: int = 0) -> Document:
    data = " ".join(text).encode()
    return Document(document_facts(path, len(data), stamp, data), data)


class StoreAgreesWithTheTree(RuleBasedStateMachine):
    """The twin is a dictionary of documents, searched by looking everywhere."""

    def __init__(self) -> None:
        super().__init__()
        self.directory = Path(tempfile.mkdtemp())
        self.limits = (segment_store.DELTA_TOKENS_MAX, segment_store.MID_TOKENS_MIN)
        segment_store.DELTA_TOKENS_MAX, segment_store.MID_TOKENS_MIN = 12, 25
        self.store = SegmentStore(self.directory, backend=SuffixBackend.PURE)
        self.tree: dict[str, list[str]] = {}
        self.stamp = 0

    def teardown(self) -> None:
        segment_store.DELTA_TOKENS_MAX, segment_store.MID_TOKENS_MIN = self.limits
        shutil.rmtree(self.directory)

    @rule(changed=st.dictionaries(paths, texts, max_size=3), removed=st.sets(paths, max_size=1))
    def change(self, changed: dict[str, list[str]], removed: set[str]) -> None:
        self.stamp += 1
        gone = removed - set(changed)
        self.tree.update(changed)
        for path in gone:
            self.tree.pop(path, None)
        documents = [document(path, text, self.stamp) for path, text in changed.items()]
        self.store.refresh(documents, gone)

    @rule()
    def reopen(self) -> None:
        self.store = SegmentStore(self.directory, backend=SuffixBackend.PURE)
        assert self.store.problem == ""

    @rule()
    def compact(self) -> None:
        made = self.store.compact()
        assert (made is None) == (not self.tree)

    @rule(query=st.lists(st.sampled_from("abc"), min_size=1, max_size=5))
    def search(self, query: list[str]) -> None:
        check(ask(self.store.corpus, query), query, list(self.tree.values()))

    @invariant()
    def the_same_documents_are_known(self) -> None:
        assert set(self.store.known()) == set(self.tree)
        assert self.store.corpus.tokens == sum(map(len, self.tree.values()))


TestStoreAgreesWithTheTree = pytest.mark.shows("SEQ-STORE")(StoreAgreesWithTheTree.TestCase)
TestStoreAgreesWithTheTree.settings = settings(max_examples=examples(40), stateful_step_count=20)


@pytest.mark.shows("SEQ-STORE", "SEQ-DELTA")
def test_the_segments_follow_any_history_of_its_tree() -> None:
    """The machine above, once by name."""
    run = StoreAgreesWithTheTree()
    try:
        run.change({"a.txt": list("abcab"), "b.txt": list("cab")}, set())
        run.change({"b.txt": list("bca")}, set())
        run.search(list("abc"))
        run.reopen()
        run.change({}, {"a.txt"})
        run.search(list("bca"))
        run.compact()
        run.the_same_documents_are_known()
    finally:
        run.teardown()


@pytest.mark.shows("SEQ-DELTA")
def test_a_changed_file_does_not_rewrite_the_base(tmp_path: Path) -> None:
    store = SegmentStore(tmp_path / "segments", backend=SuffixBackend.PURE)
    store.refresh([document(f"{n}.txt", list("abcabc") * 50) for n in range(20)], [])
    (base,) = (tmp_path / "segments").glob("*.segment")
    before = base.stat().st_mtime_ns
    store.refresh([document("3.txt", ["x", "y", "z"], 1)], [])
    assert base.exists()
    assert base.stat().st_mtime_ns == before
    assert ask(store.corpus, ["x", "y"]).count == 1
    assert len(list((tmp_path / "segments").glob("*.segment"))) == 3


@pytest.mark.shows("SEQ-STORE-TOUCHED")
def test_a_file_that_was_only_touched_is_not_read_into_the_delta(tmp_path: Path) -> None:
    store = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    store.refresh([document("a.txt", ["a", "b"], 1)], [])
    store.refresh([document("a.txt", ["a", "b"], 2)], [])
    assert len(list(tmp_path.glob("*.segment"))) == 1
    assert SegmentStore(tmp_path).known() == {"a.txt": (3, 2)}


@pytest.mark.shows("SEQ-STORE-TWO")
def test_two_writers_of_one_store_take_turns(tmp_path: Path) -> None:
    one, two = (
        SegmentStore(tmp_path, backend=SuffixBackend.PURE),
        SegmentStore(tmp_path, backend=SuffixBackend.PURE),
    )
    one.refresh([document("a.txt", ["a", "b"], 1)], [])
    two.refresh([document("b.txt", ["b", "c"], 1)], [])
    one.refresh([document("c.txt", ["c", "d"], 1)], ["a.txt"])
    for store in (one, SegmentStore(tmp_path)):
        assert set(store.known()) == {"b.txt", "c.txt"}
        assert ask(store.corpus, ["b", "c"]).count == 1
        assert ask(store.corpus, ["a", "b"]).count == 0


@pytest.mark.shows("SEQ-STORE-DAMAGE")
@pytest.mark.parametrize(
    "spoil",
    ["manifest", "not json", "segment cut", "segment gone", "other format", "bad number"],
)
def test_what_cannot_be_used_is_dropped_and_said(tmp_path: Path, spoil: str) -> None:
    store = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    store.refresh([document("a.txt", ["a", "b"], 1)], [])
    manifest, (made,) = tmp_path / "manifest.json", tmp_path.glob("*.segment")
    loaded = json.loads(manifest.read_text())
    if spoil == "manifest":
        manifest.write_text("[]")
    elif spoil == "not json":
        manifest.write_bytes(b"\xff\x00")
    elif spoil == "segment cut":
        made.write_bytes(made.read_bytes()[:-1])
    elif spoil == "segment gone":
        made.unlink()
    elif spoil == "other format":
        manifest.write_text(json.dumps(loaded | {"format": 99}))
    else:
        loaded["segments"][0]["deleted"] = [7]
        manifest.write_text(json.dumps(loaded))
    again = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    assert again.problem
    assert again.known() == {}
    again.refresh([document("a.txt", ["a", "b"], 1)], [])
    assert ask(again.corpus, ["a", "b"]).count == 1
    assert SegmentStore(tmp_path).problem == ""


@pytest.mark.shows("SEQ-STORE-DAMAGE")
def test_a_wrong_bit_anywhere_in_a_manifest_is_noticed(tmp_path: Path) -> None:
    """A deleted document whose number was damaged came to life again, beside its new text."""
    store = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    store.refresh([document(f"{name}.txt", [name, "x"], 1) for name in "abc"], [])
    store.refresh([document("b.txt", ["y", "x"], 2)], ["c.txt"])
    known, manifest = store.known(), tmp_path / "manifest.json"
    raw = manifest.read_bytes()
    for at in range(len(raw)):
        manifest.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << at % 8]) + raw[at + 1 :])
        again = SegmentStore(tmp_path)
        if not again.problem:
            assert again.known() == known
            assert ask(again.corpus, ["b", "x"]).count == 0
            assert ask(again.corpus, ["x"]).count == 2


@pytest.mark.shows("SEQ-FORMAT-VERSION")
def test_the_manifest_changes_only_with_its_version(tmp_path: Path) -> None:
    store = SegmentStore(tmp_path, LexerOptions(comments=True), SuffixBackend.PURE)
    store.refresh([document("a.txt", ["a"], 1)], [])
    manifest = json.loads((tmp_path / "manifest.json").read_text())
    assert set(manifest) == {
        "format", "lexer", "reading", "segments", "touched", "taken_ns", "check",
    }  # fmt: skip
    assert manifest["format"] == segment_store.MANIFEST_VERSION == 4
    assert SegmentStore(tmp_path).problem, "other readings make other segments"


@pytest.mark.long
@pytest.mark.shows("SEQ-HOSTILE-LARGE")
@pytest.mark.parametrize("backend", [SuffixBackend.COMPILED, SuffixBackend.VECTOR])
def test_one_token_a_million_times(tmp_path: Path, backend: SuffixBackend) -> None:
    data = b"a " * 1_000_000
    store = SegmentStore(tmp_path, backend=backend)
    store.refresh([Document(DocumentFacts("a.txt", len(data), 0, "d"), data)], [])
    answer = ask(store.corpus, ["a"] * 100)
    assert (answer.position, answer.count) == (100, 1_000_000 - 99)
    assert ask(store.corpus, ["a", "b"]).count == 1_000_000
    from holdfast.sequence import clones

    made = store.compact()
    assert made is not None
    (group,) = clones.find_groups(made, backend=backend)
    assert group.periodic
    assert group.length == 500_000


@pytest.mark.shows("SEQ-HOSTILE-LARGE")
def test_a_long_run_that_repeats_itself(tmp_path: Path) -> None:
    """A 65,000-token table of equal rows overlaps with its own shifted copy."""
    data = b"{ 0x00 , 17 , name } , " * 8_000
    store = SegmentStore(tmp_path, backend=SuffixBackend.VECTOR)
    store.refresh([Document(DocumentFacts("t.c", len(data), 0, "d"), data)], [])
    made = store.compact()
    assert made is not None
    from holdfast.sequence import clones

    groups = clones.find_groups(made, backend=SuffixBackend.VECTOR)
    assert groups
    assert groups[0].periodic
    assert sum(o.length for o in groups[0].occurrences) <= len(made)
    answer = ask(store.corpus, ["17", ",", "name", "}", ",", "{", "0x00"])
    assert answer.count == 7_999


@pytest.mark.long
@pytest.mark.shows("SEQ-HOSTILE-LARGE")
def test_a_million_distinct_tokens(tmp_path: Path) -> None:
    data = b" ".join(b"w%d" % n for n in range(1_000_000))
    store = SegmentStore(tmp_path, backend=SuffixBackend.COMPILED)
    store.refresh([Document(DocumentFacts("w.txt", len(data), 0, str(zlib.crc32(data))), data)], [])
    answer = ask(store.corpus, ["w777777", "w777778", "w9"])
    assert (answer.position, answer.count) == (2, 1)
    assert next(answer.occurrences()).first.column == data.index(b"w777777 ") + 1


@pytest.mark.shows("DAMAGE-TRUNCATED")
def test_a_segment_that_is_truncated_while_it_is_open_is_refused_and_then_rebuilt(
    tmp_path: Path,
) -> None:
    """Reading behind the end of a mapped file ended the process with SIGBUS."""
    store = SegmentStore(tmp_path / "segments")
    documents = [document(f"{n}.txt", ["a", "b", "c"] * 500) for n in range(20)]
    store.refresh(documents, [])
    assert store.corpus.tokens == 30_000
    (path,) = (tmp_path / "segments").glob("*.segment")
    os.truncate(path, path.stat().st_size // 4)
    with pytest.raises(SegmentDamaged, match="truncated while it was open"):
        _ = store.corpus
    with pytest.raises(SegmentDamaged, match="truncated while it was open"):
        store.refresh([document("new.txt", ["x", "y"])], [])
    again = SegmentStore(tmp_path / "segments")
    assert (again.problem != "", again.known()) == (True, {})
