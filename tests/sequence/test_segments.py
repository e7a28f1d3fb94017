"""Segments against brute force and against the core graph; backends against each other."""

import struct
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.sequence import canonical, clones, view
from holdfast.sequence import corpus as corpus_module
from holdfast.sequence.corpus import CorpusMatch, TokenCorpus
from holdfast.sequence.errors import EmptyQuery, SegmentDamaged, SegmentTooNew
from holdfast.sequence.occurrence import Occurrence
from holdfast.sequence.response import EndReason, Kind
from holdfast.sequence.search import find_sequence
from holdfast.sequence.segment_store import SegmentStore, document_facts
from holdfast.sequence.suffix import backends, segment
from holdfast.sequence.suffix.backends import SuffixBackend
from holdfast.sequence.suffix.query import LiveSegment
from holdfast.sequence.suffix.segment import ARRAYS, FORMAT_VERSION, TokenSegment, build
from holdfast.sequence.suffix.stream import Document, DocumentFacts, joined, stream_of
from holdfast.sequence.tokens.lexer import CODE_ONLY
from tests.sequence import brute
from tests.sequence.reference.dedup import references
from tests.sequence.reference.statistics import matching_statistics
from tests.sequence.reference.trace import trace_of

words = st.sampled_from("abc")
documents_of_words = st.lists(st.lists(words, max_size=14), min_size=1, max_size=4)
queries = st.lists(st.sampled_from("abcd"), min_size=1, max_size=7)
EVERY = list(SuffixBackend)


def document(text: str, path: str = "a.txt") -> Document:
    data = text.encode()
    return Document(DocumentFacts(path, len(data), 0, str(zlib.crc32(data))), data)


def segment_of(texts: list[list[str]], backend: SuffixBackend = SuffixBackend.PURE) -> TokenSegment:
    made = [document(" ".join(text), f"{n}.txt") for n, text in enumerate(texts)]
    return build(stream_of(made, CODE_ONLY, backend), backend)


def ask(corpus: TokenCorpus, query: list[str]) -> CorpusMatch:
    return corpus.find([word.encode() for word in query])


def check(answer: CorpusMatch, query: list[str], alive: list[list[str]]) -> None:
    longest = brute.longest_prefix(query, alive)
    assert answer.position == longest
    assert answer.count == (len(brute.occurrences(query[:longest], alive)) if longest else 0)
    assert len(list(answer.occurrences())) == answer.count
    assert answer.query_exhausted == (longest == len(query))
    if longest == 0 or (longest == 1 and len(query) > 1):
        assert answer.kind is Kind.NOT_FOUND
        return
    assert answer.root is not None
    root = tuple(text.decode() for text in answer.root.texts())
    matched = tuple(query[:longest])
    assert root == brute.smallest_root(matched, alive)
    assert root[answer.start : answer.end] == matched
    assert answer.kind in brute.kinds(matched, root)


@pytest.mark.shows("SEQ-SEGMENT-BRUTE")
@given(documents_of_words, queries, st.data())
def test_segments_with_deletions_answer_as_looking_everywhere_does(
    texts: list[list[str]], query: list[str], data: st.DataObject
) -> None:
    cut = data.draw(st.integers(0, len(texts)))
    lives, alive = [], []
    for group in (texts[:cut], texts[cut:]):
        live = LiveSegment(segment_of(group))
        for number, text in enumerate(group):
            if data.draw(st.booleans()):
                live.delete(number)
            else:
                alive.append(text)
        lives.append(live)
    check(ask(TokenCorpus(lives), query), query, alive)


@pytest.mark.shows("SEQ-SAME-ANSWERS")
@given(documents_of_words, queries)
def test_core_graph_and_segments_agree(texts: list[list[str]], query: list[str]) -> None:
    """On position and count always; on root and kind after lifting helper vertices to repeats."""
    texts = [*texts, ["a", "b", "c", "d"]]
    answer = ask(TokenCorpus([LiveSegment(segment_of(texts))]), query)
    if len(query) < 2:
        return
    graph = canonical.canonical_graph(texts)
    core = find_sequence(graph, query)
    assert core.position == answer.position
    assert core.query_exhausted == answer.query_exhausted
    if core.kind is Kind.NOT_FOUND:
        assert answer.kind is Kind.NOT_FOUND
        return
    matched = tuple(query[: core.position])
    lifted = brute.smallest_root(matched, texts)
    assert answer.root is not None
    assert list(answer.root.texts()) == [str(word).encode() for word in lifted]
    core_root = find_sequence(graph, query).root
    if graph.spelled(core_root) == lifted:
        assert {core.kind, answer.kind} <= brute.kinds(matched, lifted)
    else:
        assert brute.occurrences(graph.spelled(core_root), [lifted])


def arrays(made: TokenSegment) -> dict[str, Any]:
    return {name: bytes(memoryview(made.arrays[name]).cast("B")) for name in ARRAYS}


@pytest.mark.shows("SEQ-BACKENDS")
@given(documents_of_words, st.integers(2, 4))
def test_every_backend_makes_the_same_segment_and_finds_the_same(
    texts: list[list[str]], minimum: int
) -> None:
    made = [segment_of(texts, backend) for backend in EVERY]
    for other in made[1:]:
        assert arrays(other) == arrays(made[0])
    groups = [
        [
            (group.length, group.periodic, [o.position for o in group.occurrences])
            for group in clones.find_groups(one, minimum=minimum, backend=backend)
        ]
        for one, backend in zip(made, EVERY, strict=True)
    ]
    assert groups[0] == groups[1] == groups[2]
    again = [arrays(clones.renamed(one, backend)) for one, backend in zip(made, EVERY, strict=True)]
    assert again[0] == again[1] == again[2]


@pytest.mark.shows("SEQ-REPEATS")
@given(documents_of_words, st.integers(1, 3))
def test_the_maximal_repeats_of_a_segment_are_all_there(
    texts: list[list[str]], minimum: int
) -> None:
    made = segment_of(texts)
    for backend in EVERY:
        shared, changes = (
            np.asarray(made.shared_prefixes(), np.int32),
            np.frombuffer(made.changes, np.uint8),
        )
        found = {
            tuple(
                text.decode() for text in Occurrence(made, made.suffixes[first], length).texts()
            ): end - first
            for length, first, end in backends.kernels(backend).maximal_repeats(
                shared, changes, minimum
            )
        }
        assert found == {
            run: len(brute.occurrences(run, texts)) for run in brute.maximal_repeats(texts, minimum)
        }


@pytest.mark.shows("SEQ-STATISTICS")
@given(documents_of_words, queries)
def test_matching_statistics_are_the_longest_match_from_every_token(
    texts: list[list[str]], query: list[str]
) -> None:
    corpus = TokenCorpus([LiveSegment(segment_of(texts))])
    assert matching_statistics(corpus, [w.encode() for w in query]) == [
        brute.longest_prefix(query[at:], texts) for at in range(len(query))
    ]


@pytest.mark.shows("SEQ-PARTS")
@given(documents_of_words, queries)
def test_parts_respell_the_query(texts: list[list[str]], query: list[str]) -> None:
    corpus = TokenCorpus([LiveSegment(segment_of(texts))])
    spelled: list[str] = []
    for part in corpus.parts([w.encode() for w in query]):
        spelled += [t.decode() for t in part.query[: max(1, part.position)]]
    assert spelled == query


@pytest.mark.shows("SEQ-PARTS")
@given(documents_of_words, queries, st.integers(1, 4))
def test_parts_are_the_same_however_much_is_looked_at_once(
    texts: list[list[str]], query: list[str], window: int
) -> None:
    corpus = TokenCorpus([LiveSegment(segment_of(texts))])
    words = [w.encode() for w in query]

    def plain() -> Iterator[tuple[int, int, object, object, bytes | None]]:
        at = 0
        while at < len(words):
            part = corpus.find(words[at:])
            yield part.position, part.count, part.kind, part.reason, part.expected
            at += max(1, part.position)

    with mock.patch.object(corpus_module, "WINDOW", window + 1):
        found = [
            (part.position, part.count, part.kind, part.reason, part.expected)
            for part in corpus.parts(words)
        ]
    assert found == list(plain())


@pytest.mark.shows("SEQ-DEDUP")
@given(documents_of_words, st.integers(1, 3))
def test_what_a_reference_points_at_stood_there_before(
    texts: list[list[str]], minimum: int
) -> None:
    made = segment_of(texts)
    longest = brute_previous(list(made.tokens))
    for reference in references(made, minimum=minimum):
        first, last = reference.position, reference.position + reference.length
        run = list(made.tokens[first:last])
        source = reference.source
        assert source < first
        assert list(made.tokens[source : source + reference.length]) == run
        assert 0 not in run
        assert reference.length == longest[first] >= minimum


def brute_previous(tokens: list[int]) -> list[int]:
    def common(one: int, two: int) -> int:
        length = 0
        while two + length < len(tokens) and tokens[one + length] == tokens[two + length] != 0:
            length += 1
        return length

    return [max((common(one, two) for one in range(two)), default=0) for two in range(len(tokens))]


@pytest.mark.shows("SEQ-CLONES")
@given(documents_of_words, st.integers(2, 4))
def test_every_repeat_that_is_long_enough_lies_in_a_group(
    texts: list[list[str]], minimum: int
) -> None:
    made = segment_of(texts)
    groups = clones.find_groups(made, minimum=minimum)
    for group in groups:
        blocks = {tuple(o.texts()) for o in group.occurrences}
        assert len(blocks) == 1, "the places of a group hold the same tokens"
        assert len(group.occurrences) > 1
        assert group.length >= minimum
        ends = 0
        for o in group.occurrences:
            assert o.position >= ends, "places do not overlap"
            ends = o.position + o.length
    apart = {
        run
        for run in brute.maximal_repeats(texts, minimum)
        if len(run) >= minimum and _twice_apart(run, texts)
    }
    listed = [tuple(t.decode() for t in group.occurrences[0].texts()) for group in groups]
    for run in apart:
        assert any(brute.occurrences(run, [block]) for block in listed)


@pytest.mark.shows("SEQ-CLONES-CODE")
def test_groups_are_ordered_by_what_they_save_and_tables_are_left_out() -> None:
    long = [f"w{n}" for n in range(60)]
    short = [f"s{n}" for n in range(10)]
    table = [str(n) for n in range(80)]
    texts = [[*long, f"end{n}"] for n in range(2)] + [[*short, f"stop{n}"] for n in range(7)]
    made = segment_of([*texts, [*table, "x"], [*table, "y"]])
    groups = clones.find_groups(made, minimum=5)
    assert [(g.length, len(g.occurrences)) for g in groups] == [(80, 2), (60, 2), (10, 7)]
    assert [g.saved for g in groups] == [64, 44, 4]
    assert [g.length for g in clones.code_like(groups, made)] == [60, 10]
    assert clones.covered(groups, len(made.tokens)) == 2 * 80 + 2 * 60 + 7 * 10


@pytest.mark.shows("SEQ-CLONES")
@given(documents_of_words, st.integers(2, 4))
def test_a_group_has_every_place_of_its_tokens(texts: list[list[str]], minimum: int) -> None:
    """Halves of a run that repeats itself were a group of two, wherever else they stood."""
    made = segment_of(texts)
    for group in clones.find_groups(made, minimum=minimum):
        block = [token.decode() for token in group.occurrences[0].texts()]
        apart: list[tuple[int, int]] = []
        for number, at in brute.occurrences(block, texts):
            if not apart or apart[-1][0] != number or at >= apart[-1][1] + len(block):
                apart.append((number, at))
        found = [(made.document_at(o.position), o.token) for o in group.occurrences]
        assert found == apart


def _twice_apart(run: tuple[object, ...], texts: list[list[str]]) -> bool:
    places = brute.occurrences(run, texts)
    return any(
        one[0] != two[0] or abs(one[1] - two[1]) >= len(run) for one in places for two in places
    )


@pytest.mark.shows("SEQ-POSITIONS")
@given(st.lists(st.sampled_from(["ab", "c", "\n", " ", "é", '"x y"']), max_size=20))
def test_positions_map_back_to_line_and_column(pieces: list[str]) -> None:
    text = "".join(pieces)
    data = text.encode()
    made = build(stream_of([document("x\ny"), document(text, "b.py")], CODE_ONLY))
    lines = data.split(b"\n")
    for position in range(made.firsts[1], made.firsts[2] - 1):
        place = made.place(position)
        token = made.word(made.tokens[position])
        assert place.path == "b.py"
        assert lines[place.line - 1][place.column - 1 :].startswith(token)
        end = made.place(position, end=True)
        assert lines[end.line - 1][: end.column].endswith(token)


@pytest.mark.shows("SEQ-FORMAT")
def test_a_segment_survives_its_file(tmp_path: Path) -> None:
    made = segment_of([["a", "b", "c"], [], ["b", "c", "a"]])
    mapped = made.write(tmp_path / "1.segment")
    assert arrays(mapped) == arrays(made)
    assert mapped.documents == made.documents
    check(
        ask(TokenCorpus([LiveSegment(mapped)]), ["b", "c"]),
        ["b", "c"],
        [["a", "b", "c"], ["b", "c", "a"]],
    )
    empty = build(stream_of([], CODE_ONLY)).write(tmp_path / "2.segment")
    assert ask(TokenCorpus([LiveSegment(empty)]), ["a"]).position == 0


@pytest.mark.shows("SEQ-FORMAT-VERSION")
def test_the_arrays_of_a_segment_change_only_with_its_version() -> None:
    """Fails when the format changes: then raise FORMAT_VERSION and add a line of history."""
    shape = zlib.crc32(repr(sorted(ARRAYS.items())).encode())
    assert (FORMAT_VERSION, shape) == (2, 2690135556)


@pytest.mark.shows("SEQ-HOSTILE-FILES")
@given(st.data())
def test_a_damaged_segment_is_refused_and_never_misread(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("segments") / "1.segment"
    segment_of([["a", "b"], ["b"]]).write(path)
    raw = path.read_bytes()
    header = struct.unpack("<8sIII", raw[:20])[2]
    cut = data.draw(st.integers(0, len(raw) - 1))
    path.write_bytes(raw[:cut])
    with pytest.raises(SegmentDamaged):
        TokenSegment.open(path)
    at = data.draw(st.integers(20, 20 + header - 1))
    path.write_bytes(raw[:at] + bytes([raw[at] ^ 1]) + raw[at + 1 :])
    with pytest.raises(SegmentDamaged):
        TokenSegment.open(path)
    path.write_bytes(raw[:8] + struct.pack("<I", FORMAT_VERSION + 1) + raw[12:])
    with pytest.raises(SegmentTooNew):
        TokenSegment.open(path)
    path.write_bytes(raw[:8] + struct.pack("<I", FORMAT_VERSION - 1) + raw[12:])
    with pytest.raises(SegmentDamaged):
        TokenSegment.open(path)


@pytest.mark.shows("SEQ-HOSTILE-FILES")
def test_a_wrong_bit_anywhere_in_a_segment_is_noticed(tmp_path: Path) -> None:
    """Only the header was checked: a wrong bit among the tokens was a wrong answer."""
    path = tmp_path / "1.segment"
    made = segment_of([["a", "b", "a"], ["b", "c"]]).write(path)
    raw = path.read_bytes()
    for at in range(len(raw)):
        path.write_bytes(raw[:at] + bytes([raw[at] ^ 1 << at % 8]) + raw[at + 1 :])
        try:
            found = TokenSegment.open(path)
        except (SegmentDamaged, SegmentTooNew):
            continue
        assert (arrays(found), found.documents) == (arrays(made), made.documents), at


@pytest.mark.long
@pytest.mark.shows("SEQ-HOSTILE-LARGE")
def test_a_long_run_some_of_whose_copies_were_deleted_is_not_compared_with_itself() -> None:
    """Where one of its places had been deleted every place was compared with the first, all that
    stands before it: a hundred thousand tokens took minutes."""
    for before in ([], ["b", "c"]):
        live = LiveSegment(
            segment_of([before + ["a"] * 100_000, ["a", "a", "a"]], SuffixBackend.VECTOR)
        )
        live.delete(1)
        answer = ask(TokenCorpus([live]), ["a", "a"])
        assert (answer.count, answer.start, answer.root_width) == (99_999, 0, 2)


@pytest.mark.shows("SEQ-ERRORS")
def test_an_empty_query_is_refused_over_segments_too() -> None:
    with pytest.raises(EmptyQuery):
        TokenCorpus([]).find([])
    assert ask(TokenCorpus([]), ["a"]).reason is EndReason.NO_MATCH


@pytest.mark.shows("SEQ-MERGE")
@given(documents_of_words, documents_of_words, st.data())
def test_joined_streams_are_the_stream_of_the_chosen_documents(
    one: list[list[str]], two: list[list[str]], data: st.DataObject
) -> None:
    chosen = [[n for n in range(len(texts)) if data.draw(st.booleans())] for texts in (one, two)]
    made = [segment_of(texts).stream() for texts in (one, two)]
    merged = build(joined(zip(made, chosen, strict=True)))
    alive = [texts[n] for texts, picks in ((one, chosen[0]), (two, chosen[1])) for n in picks]
    assert [f.path for f in merged.documents] == [f"{n}.txt" for picks in chosen for n in picks]
    spelled = [
        [
            merged.word(t).decode()
            for t in merged.tokens[merged.firsts[n] : merged.firsts[n + 1] - 1]
        ]
        for n in range(len(alive))
    ]
    assert spelled == alive


@pytest.mark.shows("SEQ-MATERIALISE")
@given(documents_of_words, queries)
def test_an_answer_is_explained_on_a_core_graph_of_its_surroundings(
    texts: list[list[str]], query: list[str]
) -> None:
    corpus = TokenCorpus([LiveSegment(segment_of(texts))])
    answer = ask(corpus, query)
    explained = view.explain(answer, corpus, tokens=6)
    if answer.position < 2:
        assert explained is None
        return
    assert explained is not None
    core = explained.response
    assert core.position == answer.position
    assert core.query_exhausted
    assert core.graph.spelled(core.root)[core.start : core.end] == answer.matched
    assert trace_of(core)
    widths = [container.tokens for container in explained.containers]
    assert widths == sorted(widths)
    matched = tuple(query[: answer.position])
    around = {
        start: tuple(str(atom, "ascii") for atom in core.graph.spelled(vertex))  # type: ignore[call-overload]
        for vertex, start in view.containing(core)
    }
    for container in explained.containers:
        spelled = around[container.start]
        assert len(spelled) == container.tokens
        assert spelled[container.start : container.end] == matched
        assert container.count == len(brute.occurrences(spelled, texts))
        assert container.kind in brute.kinds(matched, spelled)
    assert answer.root_width in widths or answer.root_width > widths[-1]


@pytest.mark.shows("SEQ-SAME-ANSWERS")
@given(documents_of_words, queries, st.booleans())
def test_the_container_of_a_match_is_the_same_vertex_in_the_core_graph_and_over_segments(
    texts: list[list[str]], query: list[str], unions: bool
) -> None:
    """Of the vertices that contain the match, some only help to decompose others. The smallest
    repeat or document among them is the container that segments report."""
    texts = [*texts, ["a", "b", "c", "d"]]
    answer = ask(TokenCorpus([LiveSegment(segment_of(texts))]), query)
    if answer.position < 2:
        return
    graph = canonical.canonical_graph([text for text in texts if text], unions=unions)
    core = find_sequence(graph, query)
    assert (core.position, core.query_exhausted) == (answer.position, answer.query_exhausted)
    listed = brute.maximal_repeats(texts, 2) | {tuple(text) for text in texts}
    around = [
        (graph.spelled(vertex), start)
        for vertex, start in view.containing(core)
        if graph.spelled(vertex) in listed
    ]
    root, start = around[0]
    assert answer.root is not None
    assert [str(word).encode() for word in root] == list(answer.root.texts())
    assert Kind.of(at_start=start == 0, at_end=start + core.position == len(root)) in brute.kinds(
        tuple(query[: core.position]), root
    )
    assert answer.root_width == len(root)
    if not answer.query_exhausted and core.kind is not Kind.NOT_FOUND:
        ends = start + core.position == len(root)
        assert answer.reason in ({EndReason.CHILD_EXHAUSTED} if ends else set(EndReason))


@pytest.mark.shows("SEQ-LAZY-IMPORTS")
def test_a_query_needs_no_library() -> None:
    import subprocess
    import sys

    code = (
        "import sys; import holdfast.cli.locate, holdfast.cli.clones, holdfast.cli.sequence;"
        "print([m for m in ('numpy', 'numba', 'asyncio') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_the_choice_of_a_backend_is_never_one_that_is_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(backends, "find_spec", lambda _name: None)
    assert backends.available() == [SuffixBackend.PURE]
    assert backends.choose(10**8) is SuffixBackend.PURE
    assert segment.SATURATED == 0xFFFF


@pytest.mark.shows("SEQ-HOSTILE-FILES")
@pytest.mark.parametrize("harm", ["version", "nested"])
def test_segments_with_a_wrong_bit_in_their_version_are_rebuilt(tmp_path: Path, harm: str) -> None:
    """They were refused as those of a newer version, until the user removed them."""
    store = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    data = b"def total(cart): return cart"
    document = Document(document_facts("a.py", len(data), 1, data), data)
    store.refresh([document], [], taken_ns=1)
    if harm == "version":
        for path in tmp_path.glob("*.segment"):
            raw = path.read_bytes()
            path.write_bytes(raw[:8] + struct.pack("<I", 1 << 28 | FORMAT_VERSION) + raw[12:])
    else:
        (tmp_path / "manifest.json").write_text('{"format":' + "[" * 100_000)
    again = SegmentStore(tmp_path, backend=SuffixBackend.PURE)
    assert again.problem
    assert again.known() == {}
    again.refresh([document], [], taken_ns=1)
    assert set(again.known()) == {"a.py"}


def test_every_backend_sorts_long_and_periodic_repeats_alike() -> None:
    """Prefixes longer than what is compared at once, across separators, and of one period."""
    run = list(range(1, 400))
    streams = [
        [*run, 0, *run, 0, *run[5:], 7, 0],
        [1] * 300 + [0],
        [1, 2] * 200 + [0, 2] + [1, 2] * 150 + [0],
        [2**31 - 9, 5, 2**31 - 9, 5, 0],
        [0, 0, 0],
        [3],
    ]
    for tokens in streams:
        pure = backends.kernels(SuffixBackend.PURE)
        order = pure.suffix_array(tokens)
        ends = [tokens.index(0, at) if 0 in tokens[at:] else len(tokens) for at in order]
        keys = [(tokens[at:end], end) for at, end in zip(order, ends, strict=True)]
        assert keys == sorted(keys)
        shared = pure.common_prefixes(tokens, order, pure.inverse(order))
        numbers = np.array(tokens, np.int32)
        for backend in backends.available()[:-1]:
            kernel = backends.kernels(backend)
            suffixes = kernel.suffix_array(numbers)
            assert suffixes.tolist() == list(order)
            ranks = kernel.inverse(suffixes)
            assert kernel.common_prefixes(numbers, suffixes, ranks).tolist() == list(shared)
