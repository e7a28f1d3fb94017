"""Metadata: strict about fields, silent about what is wrong."""

from __future__ import annotations

import hashlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.reading import baseline, diff, explain
from holdfast.reading import meta as metas
from holdfast.reading import scope as scopes
from holdfast.reading.events import Anchored, Derived, Refreshed
from holdfast.reading.hosts import pi_entries
from holdfast.reading.hosts.pi_entries import Rules
from holdfast.reading.hosts.result_check import is_shown
from holdfast.reading.scope import WHOLE, Lines
from tests.reading.pi_session import encode

GOOD: dict[str, Any] = {
    "v": 1,
    "pathKey": "/a.py",
    "scopeKey": "full",
    "servedHash": "ab",
    "mode": "full",
    "totalLines": 3,
    "rangeStart": 1,
    "rangeEnd": 3,
    "bytes": 16,
}
WHY = {"reason": "hash_match", "scope": "full", "baseHashFound": True, "diffAttempted": False}


@pytest.mark.shows("READ-META-FIELDS", "READ-T-META")
@pytest.mark.parametrize(
    "change",
    [
        {},
        {"v": 1.0},
        {"totalLines": 3.0},
        {"mode": "baseline_fallback"},
        {"mode": "unchanged", "baseHash": "ab"},
        {"mode": "diff", "baseHash": "cd"},
        {"mode": "unchanged_range", "scopeKey": "r:1:2", "baseHash": "cd"},
        {"debug": WHY},
        {"debug": {**WHY, "diffBytes": 0, "largestBytes": 1, "outsideRangeChanged": True}},
        {"unknown": [1, 2]},
        {"bytes": 0},
    ],
)
def test_valid_metadata_is_read(change: dict[str, Any]) -> None:
    assert metas.parse(GOOD | change) is not None


BAD: list[dict[str, Any]] = [
    {"v": 2},
    {"v": "1"},
    {"v": True},
    {"v": None},
    {"pathKey": ""},
    {"pathKey": 7},
    {"scopeKey": "r:3:2"},
    {"scopeKey": "r:0:2"},
    {"scopeKey": "range"},
    {"servedHash": ""},
    {"servedHash": None},
    {"mode": "other"},
    {"mode": ["full"]},
    {"mode": "unchanged"},
    {"mode": "diff", "baseHash": ""},
    {"mode": "unchanged_range", "baseHash": 5},
    {"baseHash": 5},
    {"baseHash": ""},
    {"baseHash": None},
    {"totalLines": 0},
    {"totalLines": 1.5},
    {"totalLines": True},
    {"rangeStart": 0},
    {"rangeStart": 3, "rangeEnd": 2},
    {"rangeEnd": "3"},
    {"bytes": -1},
    {"bytes": False},
    {"debug": None},
    {"debug": {**WHY, "reason": "nope"}},
    {"debug": {**WHY, "scope": "both"}},
    {"debug": {**WHY, "baseHashFound": 1}},
    {"debug": {**WHY, "largestBytes": 0}},
    {"debug": {**WHY, "diffBytes": -1}},
    {"debug": {**WHY, "baseObjectFound": "yes"}},
]


@pytest.mark.shows("READ-META-FIELDS", "READ-META-BASE", "READ-EDGE-08", "READ-T-META")
@pytest.mark.parametrize("change", BAD)
def test_invalid_metadata_is_ignored_whole(change: dict[str, Any]) -> None:
    assert metas.parse(GOOD | change) is None


@pytest.mark.shows("READ-META-ALIAS", "READ-B20")
def test_the_old_name_of_the_fallback_is_understood() -> None:
    old = metas.parse(GOOD | {"mode": "full_fallback"})
    assert old is not None
    assert old.mode == "baseline_fallback"
    assert old.event() == Anchored("/a.py", WHOLE, "ab")
    assert metas.parse(GOOD | {"mode": "full_fallback"}, aliases=False) is None


@pytest.mark.shows("READ-META-FIELDS")
def test_metadata_reads_back_as_written() -> None:
    why = metas.Why("diff_emitted", True, True, diff_bytes=9, diff_changed=1)
    written = metas.Meta("/a", Lines(2, 3), "ab", "diff", 9, 2, 3, 80, "cd", why)
    found = metas.parse(written.as_json())
    assert found == written._replace(why=None)
    assert found.event() == Derived("diff", "/a", Lines(2, 3), "cd", "ab")
    assert set(written.as_json()["debug"]) == {
        "reason", "scope", "baseHashFound", "diffAttempted", "diffBytes", "diffChangedLines",
    }  # fmt: skip


@pytest.mark.shows("READ-META-INVALIDATION", "READ-T-META")
def test_an_invalidation_is_read_only_when_all_of_it_is_right() -> None:
    good = metas.refresh_json(Refreshed("/a", Lines(2, 3)), 1)
    assert metas.parse_refresh(good) == Refreshed("/a", Lines(2, 3))
    for change in (
        {"kind": "other"}, {"v": 2}, {"pathKey": ""}, {"scopeKey": "x"}, {"at": 0}, {"at": True},
        {"at": 1.5},
    ):  # fmt: skip
        assert metas.parse_refresh(good | change) is None
    assert metas.parse_refresh(None) is None


def entry(details: Any, tool: str = "read") -> bytes:
    message = {
        "role": "toolResult",
        "toolName": tool,
        "content": [{"type": "text", "text": "héllo"}],
        "details": details,
    }
    return encode({"type": "message", "id": "x", "parentId": None, "message": message})


@pytest.mark.shows("READ-META-EXTRACT", "READ-T-META")
def test_metadata_counts_only_in_results_of_read() -> None:
    good = pi_entries.parse_entry(entry({"readcache": GOOD}))
    assert good is not None
    assert good.event == Anchored("/a.py", WHOLE, "ab")
    assert good.served is not None
    assert good.served.served_bytes == 6
    for line in (
        entry({"readcache": GOOD}, "bash"),
        entry({"readcache": GOOD | {"v": 2}}),
        entry({"other": GOOD, "x": "readcache"}),
        entry("readcache"),
        entry(None),
    ):
        found = pi_entries.parse_entry(line)
        assert found is not None
        assert found.event is None


@pytest.mark.shows("READ-META-EXTRACT", "READ-T-META")
def test_an_invalidation_counts_only_in_a_custom_entry_of_ours() -> None:
    data = metas.refresh_json(Refreshed("/a", WHOLE), 5)
    raw = {"type": "custom", "id": "x", "parentId": None, "data": data}
    ours = pi_entries.parse_entry(encode(raw | {"customType": "pi-readcache"}))
    other = pi_entries.parse_entry(encode(raw | {"customType": "other"}))
    assert ours is not None
    assert other is not None
    assert (ours.event, other.event) == (Refreshed("/a", WHOLE), None)


values = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-2, 5),
    st.floats(-1, 3),
    st.sampled_from(["", "full", "ab"]),
)


@given(
    st.dictionaries(st.sampled_from([*GOOD, "baseHash"]), values, max_size=3),
    st.none()
    | st.dictionaries(st.sampled_from([*WHY, "diffBytes", "maxLines"]), values, max_size=2),
    st.sampled_from(["full", "unchanged", "diff", "full_fallback"]),
    st.booleans(),
)
def test_the_fast_reader_agrees_with_the_strict_one(
    change: dict[str, Any], why: dict[str, Any] | None, mode: str, aliases: bool
) -> None:
    raw = GOOD | {"mode": mode, "baseHash": "ab"} | change
    if why is not None:
        raw["debug"] = WHY | why
    slow = metas.parse(raw, aliases=aliases)
    found = pi_entries.parse_entry(entry({"readcache": raw}), rules=Rules(aliases))
    many = pi_entries.parse_entries([entry({"readcache": raw})] * 2, rules=Rules(aliases))
    assert found is not None
    assert found.event == (None if slow is None else slow.event())
    assert many == [found, found]


@pytest.mark.shows("READ-B01", "READ-PI-PRINTED")
@pytest.mark.parametrize(
    ("truncation", "event"),
    [
        ({"truncated": True, "outputLines": 2}, Anchored("/a.py", Lines(1, 2), "ab")),
        ({"truncated": True, "outputLines": 0}, None),
        ({"truncated": True, "outputLines": "2"}, None),
        ({"truncated": True, "outputLines": True}, None),
        ("cut", None),
    ],
)
def test_a_cut_result_of_another_program_anchors_only_what_it_printed(
    truncation: Any, event: Anchored | None
) -> None:
    found = pi_entries.parse_entry(entry({"readcache": GOOD, "truncation": truncation}))
    assert found is not None
    assert found.event == event


@pytest.mark.shows("READ-PI-VERIFY", "READ-B21")
def test_a_whole_file_counts_as_printed_only_when_its_text_is_there() -> None:
    """Someone made the digest up, or another program edited the result."""
    digest = hashlib.sha256("héllo".encode()).hexdigest()
    for served, truncation, known in (
        (digest, None, True),
        ("ab", None, False),
        ("ab", {"outputLines": 1}, True),
    ):
        raw = entry({"readcache": GOOD | {"servedHash": served}, "truncation": truncation})
        strict = pi_entries.parse_entry(raw, rules=pi_entries.STRICT)
        assert strict is not None
        assert (strict.event is not None) is known


MORE = "[7 more lines in file. Use offset=3 to continue.]"
PATCH = "[readcache: 1 lines changed of 3]\n--- a/a\t\n+++ b/a\t\n@@ -1,3 +1,3 @@\n a\n-b\n+B\n c"


@pytest.mark.shows("READ-PI-VERIFY")
@pytest.mark.parametrize(
    ("change", "text", "known"),
    [
        ({"scopeKey": "r:1:2"}, "a\nb", True),
        ({"scopeKey": "r:1:2"}, f"a\nb\n\n{MORE}", True),
        ({"scopeKey": "r:1:2"}, "a", False),
        ({"scopeKey": "r:1:2"}, "a\nb\nc", False),
        ({"scopeKey": "r:1:2"}, "a\nb\n\n[shortened by another]", False),
        ({"scopeKey": "r:1:4"}, f"a\nb\n\n{MORE}", True),
        ({"scopeKey": "r:1:1"}, f"a\nb\n\n{MORE}", False),
        ({"mode": "diff", "baseHash": "b"}, PATCH, True),
        ({"mode": "diff", "baseHash": "b"}, PATCH.removesuffix("\n c"), False),
        ({"mode": "diff", "baseHash": "b"}, PATCH.removesuffix("\n+B\n c"), False),
        ({"mode": "diff", "baseHash": "b"}, PATCH.removesuffix("\n-b\n+B\n c"), False),
        ({"mode": "diff", "baseHash": "b"}, PATCH.replace("\n-b", ""), False),
        ({"mode": "diff", "baseHash": "b"}, PATCH + "\n… omitted …", False),
        ({"mode": "diff", "baseHash": "b"}, "[shortened by another]", False),
        ({"mode": "diff", "baseHash": "b"}, "", False),
        ({"mode": "unchanged", "baseHash": "ab"}, "[shortened by another]", True),
    ],
)
def test_lines_and_diffs_count_only_when_all_of_them_is_there(
    change: dict[str, Any], text: str, known: bool
) -> None:
    """Metadata of lines and of diffs was believed whatever stood in the result: a diff that
    another program had cut made *unchanged* of text that nobody had seen."""
    event, _ = pi_entries.read_event(GOOD | change, None, text, rules=pi_entries.STRICT)
    assert (event is not None) is known
    lenient, _ = pi_entries.read_event(GOOD | change, None, text)
    assert lenient is not None


@pytest.mark.shows("READ-PI-VERIFY")
def test_a_cut_text_must_have_the_lines_it_is_said_to_have() -> None:
    text = "a\nb\n\n[Showing lines 1-2 of 3. Use offset=3 to continue.]"
    for printed, known in ((2, True), (1, False), (3, False)):
        event, _ = pi_entries.read_event(
            GOOD, {"outputLines": printed}, text, rules=pi_entries.STRICT
        )
        assert (event is not None) is known


pieces = ["a", "b\n", "\n", "\r\n", "é\n", "@@\n", "+++\n", "\\ x\n"]
texts = st.lists(st.sampled_from(pieces)).map("".join)


@pytest.mark.shows("READ-PI-VERIFY")
@given(texts, texts, st.sampled_from([None, 1, 2, 5]), st.sampled_from([None, 1, 2, 7]))
def test_whatever_we_print_is_known_again(
    text: str, other: str, offset: int | None, limit: int | None
) -> None:
    """What is held against our own answers must never be taken for cut."""
    total = baseline.count_lines(text)
    if offset is None or offset <= total:
        plain = baseline.render(text, "a", offset, limit)
        assert plain.printed is not None
        digest = hashlib.sha256(text.encode()).hexdigest()
        event = Anchored("/a", scopes.of(plain.printed, total), digest)
        assert is_shown(event, plain.text.encode())
    patch = diff.compute(text, other, "a")
    if isinstance(patch, diff.Patch):
        head = f"[readcache: {patch.changed} lines changed of {total}]"
        derived = Derived("diff", "/a", WHOLE, "old", "new")
        assert is_shown(derived, f"{head}\n{patch.text}".encode())


def test_every_reason_is_explained_in_words() -> None:
    assert set(explain.REASONS) == metas.REASONS
