"""Notes are shown where the code is: one short line, with what became of the code."""

import os
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from mcp import Client

from holdfast.app import DEFAULT_SPACE, App
from holdfast.ids import LocalSeq, SessionId
from holdfast.links import CodeLink, Judged
from holdfast.mcp.host_context import HostContext
from holdfast.notes.near_code import BYTES_MAX, LinkedNote, NearNote, NotesByFile, note_line
from holdfast.notes.note import commit_note
from holdfast.store.model import CommitKey
from holdfast.store.store import Store, open_store
from tests.files.hostile_git import git
from tests.index.shared.team import clone, made_repository
from tests.mcp.agents import SHOP, call, machine_in, text_of

CART = SHOP["shop/cart.py"]


def near(id: str, words: str, state: str = "current") -> NearNote:
    return NearNote(LinkedNote(id, 1, words, CodeLink("a.py")), state)


@pytest.mark.shows("NOTES-NEAR")
@given(
    st.lists(st.tuples(st.text(min_size=1, max_size=400), st.text(max_size=80)), max_size=40),
    st.text(max_size=60),
)
def test_the_line_never_costs_more_than_60_tokens(notes: list[tuple[str, str]], call: str) -> None:
    line = note_line([near(id, words) for id, words in notes], lambda first: call)
    assert len(line.encode()) <= BYTES_MAX
    assert bool(line) == bool(notes)


@pytest.mark.shows("NOTES-NEAR")
def test_the_line_names_notes_says_what_drifted_and_counts_the_rest() -> None:
    one = near("note:a", "leaves out shipping", "drifted")
    assert note_line([one], lambda first: "get(a)") == (
        '[note: note:a "leaves out shipping" (drifted): get(a)]'
    )
    many = [near(f"note:{n}", "w" * 60) for n in range(9)]
    line = note_line(many, lambda first: "query(a.py)")
    assert line.startswith('[notes: note:0 "www')
    assert line.endswith("; 7 more: query(a.py)]")


@pytest.mark.shows("NOTES-NEAR")
def test_a_store_that_fails_means_no_line_and_no_failure(tmp_path: Path) -> None:
    @contextmanager
    def broken() -> Iterator[Store]:
        raise OSError("the disk is gone")
        yield  # pragma: no cover

    def judge(link: CodeLink) -> Judged:
        raise AssertionError

    assert NotesByFile(broken).near({str(tmp_path): None}, judge) == []


@pytest.mark.long
@pytest.mark.shows("NOTES-NEAR")
def test_reads_searches_and_outlines_name_the_notes_about_what_they_show(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        assert machine.run("index", "create").returncode == 0
        note = machine.run(
            *("memory", "note", "leaves out shipping", "--code", "shop/cart.py:Cart.total")
        )
        assert note.returncode == 0, note.stderr
        named = '[note: note:leaves-out-shipping "leaves out shipping"'

        async def story(agent: Client) -> None:
            async def ask(tool: str, **arguments: Any) -> str:
                return text_of(await call(agent, tool, **arguments))

            whole = await ask("read", path="shop/cart.py")
            assert whole.endswith(f'{named}: memory_get(id="note:leaves-out-shipping")]')
            assert named not in await ask("read", path="shop/cart.py", offset=10, limit=2)
            assert named in await ask("read", path="shop/cart.py:5-6")
            assert named in await ask("search_code", query="sum up the prices")
            assert named in await ask("file_outline", file="shop/cart.py")
            assert named not in await ask("file_outline", file="shop/tax.py")
            assert named in await ask("explore", symbol="Cart.total")
            assert named not in await ask("explore", symbol="with_tax")
            assert named not in await ask("search_code", query="with_tax", limit=1)
            file = machine.tree / "shop" / "cart.py"
            before = os.stat(file)
            file.write_text(CART.replace("sum(", "max("))
            os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns + 1_000_000_000))
            assert f"{named} (drifted)" in await ask("read", path="shop/cart.py")

        machine.talk(story)

        async def silent(agent: Client) -> None:
            assert named not in text_of(await call(agent, "read", path="shop/cart.py"))

        async def told() -> None:
            async with machine.agent(HOLDFAST_NOTES="off") as agent:
                await silent(agent)

        import asyncio

        asyncio.run(told())


@pytest.mark.shows("NOTES-NEAR")
def test_a_read_with_a_note_still_counts_and_the_note_is_not_repeated(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        machine.run("memory", "note", "leaves out shipping", "--code", "shop/cart.py")

        async def story(agent: Client) -> None:
            first = text_of(await call(agent, "read", path="shop/cart.py"))
            assert "[note: note:leaves-out-shipping" in first
            again = text_of(await call(agent, "read", path="shop/cart.py"))
            assert again.startswith("[readcache: unchanged")
            assert "note:" not in again

        machine.talk(story, "legacy", "--session", "work")


@pytest.mark.shows("TEAM-IDENTITY-NOTES")
def test_a_note_about_a_file_is_shown_in_every_clone(tmp_path: Path) -> None:
    files = {"shop/cart.py": CART, "other/cart.py": "x = 1\n"}
    first = made_repository(tmp_path / "first", files)
    there = clone(first, tmp_path / "there")
    strange = made_repository(tmp_path / "strange", files)
    git(strange, "remote", "set-url", "origin", "git@example.org:else/where.git")
    store = open_store("memory:", "local")
    code = {"path": "shop/cart.py", "root": str(first)}
    value = {"text": "leaves out shipping", "code": code}
    commit_note(store, CommitKey(SessionId("test"), LocalSeq(1)), value, id="note:a")
    notes = NotesByFile(lambda: nullcontext(store))
    judged: list[CodeLink] = []

    def judge(link: CodeLink) -> Judged:
        judged.append(link)
        return Judged(link, "current", "")

    for root in (first, there):
        found = notes.near({str(root / "shop/cart.py"): None}, judge)
        assert [one.note.id for one in found] == ["note:a"], root
    assert judged[-1] == CodeLink("shop/cart.py", root=str(there))
    for other in (strange / "shop/cart.py", there / "other/cart.py"):
        assert notes.near({str(other): None}, judge) == []
    store.close()


def test_without_memory_no_store_is_made_to_find_no_notes(tmp_path: Path) -> None:
    """Each read and each search made the tables of an empty space, half the work of a read."""

    class Watched(App):
        def inspect_space(self, space: str = DEFAULT_SPACE) -> Store:
            raise AssertionError("an empty space was made to look at")

    def judge(link: CodeLink) -> Judged:
        return Judged(link, "current", "")

    (tmp_path / "a.py").write_text("x = 1\n")
    shown = {str(tmp_path / "a.py"): None}
    context = HostContext(Watched(tmp_path / "home"))
    assert context.notes(DEFAULT_SPACE).near(shown, judge) == []
    document = {"value": {"code": {"path": "a.py", "root": str(tmp_path)}}}
    with context.app.open_space(DEFAULT_SPACE) as store:
        written = {"op": "set", "id": "note:a", "value": document}
        store.transact("s", {"localSeq": 1, "operations": [written]})
    assert len(context.notes(DEFAULT_SPACE).near(shown, judge)) == 1
