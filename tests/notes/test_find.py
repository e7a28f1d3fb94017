"""Documents are found by words, by meaning, and by what is known about them."""

from collections import Counter
from math import log
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.ids import LocalSeq, SessionId
from holdfast.index.embedding.static import StaticEmbedding
from holdfast.index.search.terms import terms
from holdfast.links import CodeLink, Judged
from holdfast.notes import find as finding
from holdfast.notes.note import commit_note, note_value, slug
from holdfast.store.author import Author, author_in
from holdfast.store.model import CommitKey
from holdfast.store.store import Store, open_store

TEXTS = [
    "never call retry inside a transaction, it deadlocks",
    "the parser drops comments before tokens",
    "login tokens expire after one hour",
    "delete removes rows lazily; run vacuum",
]


@pytest.fixture
def store() -> Store:
    return open_store("memory:", "notes")


def unverified(link: CodeLink) -> Judged:
    return Judged(link, "unverified", "")


def note(
    store: Store,
    text: str,
    author: Author | None = None,
    tags: tuple[str, ...] = (),
    code: tuple[tuple[str, str | None], ...] = (),
) -> str:
    links = [CodeLink(path, symbol).to_wire() for path, symbol in code]
    key = CommitKey(SessionId("s"), LocalSeq(store.newest_seq() + 1))
    ids = iter(f"{n:06}" for n in range(100))
    value = note_value(text, links, tags)
    return commit_note(store, key, value, author=author, new_id=lambda: next(ids)).id


def found(store: Store, query: str = "", limit: int = 10, **filters: str) -> list[str]:
    wanted = finding.Filters(**filters)
    answer = finding.find(store, query, unverified, StaticEmbedding, wanted, limit=limit)
    return [one.state.id for one in answer.notes]


@pytest.mark.shows("NOTES-FIND")
def test_a_note_is_found_by_its_words_and_by_its_meaning(store: Store) -> None:
    ids = [note(store, text) for text in TEXTS]
    assert found(store, "deadlock")[0] == ids[0]
    assert found(store, "are comments dropped?")[0] == ids[1]
    assert found(store, "authentication timeout")[0] == ids[2]  # no word in common
    assert found(store, "quantum chromodynamics") == []
    answer = finding.find(store, "quantum chromodynamics", unverified, StaticEmbedding)
    assert answer.lines() == ["nothing found in 4 documents"]


def test_filters_are_named_when_nothing_passes_them(store: Store) -> None:
    """A space with documents was said to have none."""
    note(store, TEXTS[0])

    def lines(query: str = "", **filters: str) -> list[str]:
        wanted = finding.Filters(**filters)
        return finding.find(store, query, unverified, StaticEmbedding, wanted).lines()

    assert lines(tag="#billing") == ["no document with tag billing"]
    assert lines(path="a.py", symbol="pay") == ["no document with code a.py:pay"]
    assert lines("quantum chromodynamics", prefix="note:") == [
        "nothing found in 1 document with prefix note:"
    ]


@pytest.mark.shows("NOTES-FIND")
def test_filters_keep_what_was_asked_for(store: Store) -> None:
    ada, bot = Author("ada", "cli"), Author("ada", "claude-code", "4f2a91c0-77")
    one = note(store, "one", ada, ("billing",), (("src/cart.py", "Cart.total"),))
    two = note(store, "two", bot, code=(("src/pay.py", None),))
    three = note(store, "three")
    assert found(store) == [three, two, one]  # the newest first
    assert found(store, author="ADA") == [two, one]
    assert found(store, author="claude-code") == found(store, author="4f2a") == [two]
    assert found(store, tag="Billing") == [one]
    assert found(store, path="cart.py") == found(store, path="src/cart.py") == [one]
    assert found(store, path="src/cart.py", symbol="total") == [one]
    assert found(store, path="src/cart.py", symbol="refund") == []
    assert found(store, path="art.py") == []
    assert found(store, limit=1) == [three]


def naive(query: str, texts: list[str]) -> list[float]:
    """BM25 as its formula is printed, one text and one word at a time."""
    bags = [terms(text) for text in texts]
    usual = sum(max(1, len(bag)) for bag in bags) / len(bags)
    scores = []
    for bag in bags:
        score = 0.0
        for word in set(terms(query)):
            holding = sum(word in other for other in bags)
            often = Counter(bag)[word]
            norm = 1 - finding.LENGTH_SHARE + finding.LENGTH_SHARE * max(1, len(bag)) / usual
            weight = log(1 + (len(texts) - holding + 0.5) / (holding + 0.5))
            score += weight * often / (often + finding.SATURATION * norm)
        scores.append(score)
    return scores


WORDS = st.lists(st.sampled_from(["cart", "pays", "total", "a", "é", "fooBar"]), max_size=6)


@pytest.mark.shows("NOTES-FIND")
@given(WORDS, st.lists(WORDS, min_size=1, max_size=5))
def test_words_count_as_in_the_formula(query: list[str], texts: list[list[str]]) -> None:
    joined = [" ".join(words) for words in texts]
    real = finding.word_scores(" ".join(query), joined)
    assert real == pytest.approx(naive(" ".join(query), joined))


@pytest.mark.shows("NOTES-NOTE")
def test_two_notes_with_the_same_words_get_two_names(store: Store) -> None:
    first, second = note(store, "Mind the gap!"), note(store, "Mind the gap!")
    assert first == "note:mind-the-gap"
    assert second == "note:mind-the-gap-000000"
    assert slug("…") == "note:untitled"
    assert len(slug("word" * 500)) <= 60


@pytest.mark.shows("STORE-AUTHOR")
def test_the_author_of_a_merged_note_is_who_wrote_it(store: Store, tmp_path: Path) -> None:
    note(store, "base")
    store.create_branch("draft")
    writer = Author("bo", "codex")
    key = CommitKey(SessionId("b"), LocalSeq(1))
    made = commit_note(store, key, note_value("from bo"), branch="draft", author=writer)
    merger = Author("ada", "cli")
    merged = store.merge(CommitKey(SessionId("m"), LocalSeq(1)), "draft", author=merger)
    assert merged is not None
    state = store.state(made.id)
    assert state is not None
    assert store.author_of(state) == writer
    (entry,) = store.log(limit=1)
    assert (entry.author, entry.kind) == (merger, "merge draft")
    assert str(merger) == "ada via cli"


@pytest.mark.shows("STORE-AUTHOR")
@given(
    st.recursive(
        st.none() | st.integers() | st.text(max_size=5),
        lambda inner: st.dictionaries(st.sampled_from(["author", "user", "agent"]), inner),
    )
)
def test_any_author_member_can_be_read(message: object) -> None:
    author = author_in(message)
    assert author is None or (author and author_in({"author": author.to_wire()}) == author)
