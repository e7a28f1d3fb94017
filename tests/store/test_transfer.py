"""A space leaves as lines and comes back the same, or not at all."""

import hashlib
import json
import threading
from collections.abc import Callable
from typing import Any

import hypothesis.strategies as st
import pytest
from hypothesis import given, settings

from holdfast.errors import StoreError
from holdfast.ids import LocalSeq, SessionId
from holdfast.store.errors import InvalidExport
from holdfast.store.model import CommitKey
from holdfast.store.settings import StoreSettings
from holdfast.store.store import Store, open_store
from holdfast.store.values import BigInt, Undefined
from tests.postgres import PostgresServer
from tests.scale import examples
from tests.store.harness import Clock, Engines, Writer, dump, patch_, replace_, set_
from tests.store.histories import histories, play

SPACE = "did:key:moved"


def filled(store: Store, rich: bool = False) -> Store:
    """A space with some of everything."""
    write = Writer(store)
    write(set_("doc:a", {"n": 0, "é\u2028": "\0"}), set_("doc:b", 1), codeCID="bafy")
    for n in range(12):
        write(patch_("doc:a", replace_("/value/n", n)))
    if rich:
        write(set_("doc:rich", {"big": BigInt(2**70), "none": Undefined, "bytes": b"\0\1"}))
    store.create_branch("draft", by=CommitKey(SessionId("keeper"), LocalSeq(1)))
    store.create_branch("above", "draft")
    write(set_("doc:b", 2), branch="draft")
    write(patch_("doc:a", replace_("/value/n", -1)), branch="above")
    seq = store.newest_seq()
    write({"op": "delete", "id": "doc:b"}, reads=[{"id": "doc:a", "path": [], "seq": seq}])
    write(set_("doc:c", 1), pending=[{"id": "doc:a", "localSeq": [2], "basisSeq": seq}])
    store.merge(CommitKey(SessionId("merger"), LocalSeq(1)), "above", "draft")
    store.delete_branch("above", by=CommitKey(SessionId("keeper"), LocalSeq(2)))
    store.put_blob(b"some bytes", "text/plain")
    store.put_blob(b"")
    return store


@pytest.mark.shows("STORE-EXPORT")
@pytest.mark.parametrize("rich", [False, True])
def test_a_space_comes_back_as_it_left(engines: Engines, rich: bool) -> None:
    chosen = StoreSettings(rich_values=rich)
    store = filled(engines.open(settings=chosen, clock=Clock()), rich)
    lines = list(store.export(SPACE))
    other = engines.open(settings=chosen, clock=Clock())
    assert other.import_lines(line + "\n" for line in lines) == store.newest_seq()
    assert list(other.export(SPACE)) == lines
    ground = ("commit", "revision", "branch", "blob_store", "head")
    before, after = dump(store), dump(other)
    assert {t: after[t] for t in ground} == {t: before[t] for t in ground}
    assert other.verify().findings == []
    assert Writer(other, "next")(set_("doc:next", 1)).seq == store.newest_seq() + 1


@pytest.mark.shows("STORE-EXPORT")
def test_a_space_moves_from_one_engine_to_the_other_and_back(
    postgres: PostgresServer, tmp_path: Any
) -> None:
    with (
        filled(open_store(tmp_path, SPACE)) as here,
        open_store(postgres.url, "did:key:there") as there,
        open_store("memory:", SPACE) as back,
    ):
        lines = list(here.export(SPACE))
        there.import_lines(lines)
        assert list(there.export(SPACE)) == lines
        back.import_lines(there.export(SPACE))
        assert list(back.export(SPACE)) == lines
        assert there.verify().findings == []


@pytest.mark.shows("STORE-EXPORT", "INV-9")
@given(history=histories)
@settings(max_examples=examples(60))
def test_any_history_comes_back_as_it_was(history: Any) -> None:
    with open_store("memory:", SPACE) as store, open_store("memory:", SPACE) as other:
        play(store, history)
        lines = list(store.export(SPACE))
        other.import_lines(lines)
        assert list(other.export(SPACE)) == lines
        for branch in store.branches():
            rows = store.engine.tables.all_revisions()
            for id in {str(row[1]) for row in rows if row[0] == branch.name}:
                for seq in range(branch.created_seq, branch.head_seq + 1):
                    ours = store.read(id, branch.name, seq)
                    assert other.read(id, branch.name, seq) == ours


@pytest.mark.shows("STORE-EXPORT")
def test_an_import_needs_an_empty_space(store: Store) -> None:
    filled(store)
    lines, before = list(store.export(SPACE)), dump(store)
    with pytest.raises(InvalidExport, match="not empty"):
        store.import_lines(lines)
    assert dump(store) == before


# damage


def signed(lines: list[str]) -> list[str]:
    """The lines with an end that fits them: whoever did this knows how."""
    body = [line for line in lines if not line.startswith('{"end"')]
    digest = hashlib.sha256("".join(line + "\n" for line in body).encode()).hexdigest()
    return [*body, json.dumps({"end": {"lines": len(body), "sha256": digest}})]


def as_format_1(lines: list[str]) -> list[str]:
    """The lines as the first format had them: no hashes, no oldest seq."""
    older = []
    for text in lines:
        line = json.loads(text)
        if "holdfast" in line:
            line["format"] = 1
        line.get("commit", {}).pop("chain", None)
        line.get("branch", {}).pop("oldestSeq", None)
        older.append(json.dumps(line, ensure_ascii=False, separators=(",", ":")))
    return older


@pytest.mark.shows("STORE-FORMATS")
def test_an_export_of_the_first_format_can_be_imported(engines: Engines) -> None:
    source = filled(open_store("memory:", SPACE))
    lines = list(source.export(SPACE))
    target = engines.open()
    target.import_lines(signed(as_format_1(lines)))
    assert list(target.export(SPACE)) == lines


@pytest.mark.shows("STORE-CHAIN", "STORE-IMPORT-DAMAGE")
def test_a_commit_that_does_not_match_its_hash_is_not_imported() -> None:
    source = filled(open_store("memory:", SPACE))
    lines = edited(list(source.export(SPACE)), "commit", 2, createdAt="2000-01-01T00:00:00.000Z")
    with open_store("memory:", SPACE) as target, pytest.raises(InvalidExport) as refused:
        target.import_lines(signed(lines))
    assert "commit 3 does not match its hash" in str(refused.value)


def edited(lines: list[str], kind: str, nth: int = 0, /, **members: Any) -> list[str]:
    """The lines with members of the nth line of a kind changed."""
    places = [at for at, line in enumerate(lines) if line.startswith(f'{{"{kind}"')]
    at = places[nth]
    line = json.loads(lines[at])
    (line if kind == "holdfast" else line[kind]).update(members)
    return [*lines[:at], json.dumps(line, ensure_ascii=False), *lines[at + 1 :]]


def first(lines: list[str], kind: str) -> int:
    return next(at for at, line in enumerate(lines) if line.startswith(f'{{"{kind}"'))


def swapped(lines: list[str], one: int, other: int) -> list[str]:
    changed = list(lines)
    changed[one], changed[other] = changed[other], changed[one]
    return changed


def original(lines: list[str], nth: int) -> dict[str, Any]:
    commits = [json.loads(line)["commit"] for line in lines if line.startswith('{"commit"')]
    found: dict[str, Any] = commits[nth]["original"]
    return found


Damage = Callable[[list[str]], list[str]]

PLAIN: dict[str, Damage] = {
    "nothing": lambda lines: [],
    "only the header": lambda lines: lines[:1],
    "cut before the end": lambda lines: lines[:-1],
    "cut in the middle": lambda lines: lines[: len(lines) // 2],
    "cut within a line": lambda lines: [*lines[:-2], lines[-2][:40]],
    "a line is missing": lambda lines: lines[:5] + lines[6:],
    "an empty line": lambda lines: [*lines[:5], "", *lines[5:]],
    "a line twice": lambda lines: [*lines[:6], lines[5], *lines[6:]],
    "a blob twice": lambda lines: [*lines[:-1], lines[-2], lines[-1]],
    "the end twice": lambda lines: [*lines, lines[-1]],
    "something after the end": lambda lines: [*lines, lines[-2]],
    "two lines swapped": lambda lines: swapped(lines, 6, 7),
    "the header last": lambda lines: [*lines[1:], lines[0]],
    "a character changed": lambda lines: [*lines[:8], lines[8].replace("0", "1", 1), *lines[9:]],
    "a space added": lambda lines: [*lines[:8], lines[8] + " ", *lines[9:]],
    "wrong digest": lambda lines: edited(lines, "end", sha256="0" * 64),
    "wrong count": lambda lines: edited(lines, "end", lines=3),
    "not JSON": lambda lines: [*lines[:5], "nonsense", *lines[5:]],
    "half a character": lambda lines: [*lines[:5], '"\ud800"', *lines[5:]],
    "a list": lambda lines: [*lines[:5], "[]", *lines[5:]],
}

SIGNED: dict[str, Damage] = {
    "another format": lambda lines: edited(lines, "holdfast", format=99),
    "another kind": lambda lines: edited(lines, "holdfast", holdfast="index"),
    "a newest seq that is not there": lambda lines: edited(lines, "holdfast", newestSeq=99),
    "rich values": lambda lines: edited(lines, "holdfast", richValues=True),
    "an unknown member in the header": lambda lines: edited(lines, "holdfast", more=1),
    "an unknown member in a commit": lambda lines: edited(lines, "commit", more=1),
    "an unknown member in a branch": lambda lines: edited(lines, "branch", more=1),
    "an unknown kind of line": lambda lines: [*lines[:-1], '{"more":{}}', lines[-1]],
    "a line of nothing": lambda lines: [*lines[:-1], "{}", lines[-1]],
    "a line of two": lambda lines: [
        *lines[:-1],
        lines[first(lines, "blob")][:-1] + "," + lines[first(lines, "branch")][1:],
        lines[-1],
    ],
    "a text for a number": lambda lines: edited(lines, "commit", seq="1"),
    "a commit missing": lambda lines: [x for x in lines if '"seq":4,' not in x[:20]],
    "a commit twice": lambda lines: [*lines[:6], lines[5], *lines[6:]],
    "commits swapped": lambda lines: swapped(lines, 6, 7),
    "a branch twice": lambda lines: [*lines[:3], lines[2], *lines[3:]],
    "a branch before its parent": lambda lines: swapped(lines, 2, 3),
    "a branch without its parent": lambda lines: lines[:2] + lines[3:],
    "no branches": lambda lines: [x for x in lines if not x.startswith('{"branch"')],
    "a branch that is its own parent": lambda lines: edited(
        lines, "branch", 1, parentBranch="draft"
    ),
    "a second root": lambda lines: edited(lines, "branch", 1, parentBranch=None, forkSeq=None),
    "a parent without a fork": lambda lines: edited(lines, "branch", 1, forkSeq=None),
    "a fork beyond the parent": lambda lines: edited(lines, "branch", 1, forkSeq=99),
    "a fork before the beginning": lambda lines: edited(lines, "branch", 1, forkSeq=-1),
    "a wrong head": lambda lines: edited(lines, "branch", 0, headSeq=3),
    "a status nobody knows": lambda lines: edited(lines, "branch", 1, status="asleep"),
    "a NUL in a branch": lambda lines: edited(lines, "branch", 1, name="a\0b"),
    "a huge seq": lambda lines: edited(lines, "branch", 1, headSeq=2**70),
    "a commit on no branch": lambda lines: edited(lines, "commit", 3, branch="nowhere"),
    "a commit on another branch": lambda lines: edited(lines, "commit", 3, branch="draft"),
    "a session twice": lambda lines: edited(lines, "commit", 3, localSeq=1),
    "another localSeq": lambda lines: edited(lines, "commit", 3, localSeq=77),
    "a localSeq of nothing": lambda lines: edited(lines, "commit", 3, localSeq=0),
    "a NUL in a session": lambda lines: edited(lines, "commit", 3, sessionId="a\0b"),
    "no session": lambda lines: edited(lines, "commit", 3, sessionId=""),
    "a resolution of another seq": lambda lines: edited(lines, "commit", 3, resolution={"seq": 9}),
    "a resolution that is none": lambda lines: edited(lines, "commit", 3, resolution=[]),
    "an original that is none": lambda lines: edited(lines, "commit", 3, original=7),
    "an original without operations": lambda lines: edited(
        lines, "commit", 3, original={"localSeq": 4}
    ),
    "a patch that does not apply": lambda lines: edited(
        lines,
        "commit",
        3,
        original=original(lines, 3) | {"operations": [patch_("doc:a", {"op": "what"})]},
    ),
    "a read that did not hold": lambda lines: edited(
        lines,
        "commit",
        3,
        original=original(lines, 3)
        | {"reads": {"confirmed": [{"id": "doc:a", "path": [], "seq": 1}], "pending": []}},
    ),
    "a read of the future": lambda lines: edited(
        lines,
        "commit",
        3,
        original=original(lines, 3)
        | {"reads": {"confirmed": [{"id": "doc:a", "path": [], "seq": 4}], "pending": []}},
    ),
    "a default branch that ended": lambda lines: edited(lines, "branch", 0, status="deleted"),
    "a branch older than its fork": lambda lines: edited(lines, "branch", 2, createdSeq=-5),
    "a document nested beyond the parser": lambda lines: [
        line.replace('"value":1}', '"value":' + "[" * 10**5 + "]" * 10**5 + "}") for line in lines
    ],
    "other bytes in a blob": lambda lines: edited(lines, "blob", 0, data="AAAA"),
    "no base64 in a blob": lambda lines: edited(lines, "blob", 0, data="?"),
    "another hash of a blob": lambda lines: edited(lines, "blob", 0, hash="ba4nothing"),
    "a blob without a type": lambda lines: edited(lines, "blob", 0, contentType=None),
    "a NUL in a type": lambda lines: edited(lines, "blob", 0, contentType="a\0b"),
}


@pytest.mark.shows("STORE-IMPORT-DAMAGE")
def test_a_damaged_export_is_refused_and_leaves_nothing(engines: Engines) -> None:
    source = filled(open_store("memory:", SPACE))
    lines = list(source.export(SPACE))
    assert signed(lines) != lines or len(lines) > 20
    target = engines.open()
    empty, problems = dump(target), []
    damaged = {**PLAIN, **{f"{name}, signed": harm for name, harm in SIGNED.items()}}
    for name, harm in damaged.items():
        harmed = harm(lines)
        if name.endswith(", signed"):
            harmed = signed(harmed)
        try:
            target.import_lines(harmed)
        except InvalidExport as error:
            if not str(error) or "\n" in str(error):
                problems.append(f"{name}: no sentence")
        except BaseException as error:
            problems.append(f"{name}: {type(error).__name__}: {str(error)[:150]}")
        else:
            problems.append(f"{name}: taken")
        if dump(target) != empty:
            problems.append(f"{name}: left something behind")
            target = engines.open()
            empty = dump(target)
    assert not problems, "\n".join(problems)
    assert target.import_lines(lines) == source.newest_seq(), "and the sound one is taken"
    source.close()


@pytest.mark.shows("STORE-IMPORT-DAMAGE")
@given(data=st.data())
@settings(max_examples=examples(150))
def test_no_byte_of_an_export_can_change_unnoticed(data: st.DataObject) -> None:
    with open_store("memory:", SPACE) as source, open_store("memory:", SPACE) as target:
        text = "\n".join(filled(source).export(SPACE))
        at = data.draw(st.integers(0, len(text) - 1), label="at")
        new = data.draw(
            st.sampled_from(["", "0", "9", "x", '"', "}", " ", "\n", "\\"]), label="new"
        )
        harmed = text[:at] + new + text[at + 1 :]
        if harmed != text:
            with pytest.raises(StoreError):
                target.import_lines(harmed.split("\n"))
            assert target.newest_seq() == 0
            assert len(target.branches()) == 1


@pytest.mark.shows("STORE-EXPORT")
def test_an_export_that_is_taken_slowly_keeps_nobody_waiting(store: Store) -> None:
    """It used to hold the lock of all readers between two lines."""
    filled(store)
    whole = list(store.export(SPACE))
    slow = store.export(SPACE)
    taken = [next(slow)]
    seen: list[Any] = []

    def meanwhile() -> None:
        seen.append(store.read("doc:b", "draft"))
        late = {"localSeq": 99, "operations": [set_("doc:late", 1)]}
        seen.append(store.transact("late", late).seq)

    other = threading.Thread(target=meanwhile, daemon=True)
    other.start()
    other.join(30)
    assert seen == [{"value": 2}, store.newest_seq()]
    assert [*taken, *slow] == whole, "as of the moment it began"


@pytest.mark.shows("STORE-EXPORT")
def test_a_closed_store_exports_nothing(engines: Engines) -> None:
    store = engines.open()
    store.close()
    with pytest.raises(StoreError):
        next(store.export())
