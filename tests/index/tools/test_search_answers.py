"""What a search answers: pages, budgets, previews, folding, roots, and what to do next."""

from __future__ import annotations

import hashlib
import itertools
import json
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import apsw
import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.home import Home
from holdfast.index.building.prepare import extract_facts
from holdfast.index.code_index import CodeIndex
from holdfast.index.errors import DamagedBackend
from holdfast.index.generations.sqlite import tables
from holdfast.index.search import operators, pages, trigrams
from holdfast.index.search.filters import PathPattern
from holdfast.index.search.limits import BUDGET_MIN, LIMIT_MAX
from holdfast.index.search.near_duplicates import folded
from holdfast.index.search.pages import Cursor
from holdfast.index.search.preview import FEW_MORE, GAP, LINE_CHARACTERS_MAX, Asked, preview
from holdfast.index.search.query_analysis import analyze
from holdfast.index.search.regex import LineMatch
from holdfast.index.search.results import tokens
from holdfast.index.search.segment_merge import merge
from holdfast.index.search.similar import runs, similarity
from holdfast.index.search.terms import terms
from holdfast.index.settings import index_of
from tests.index.wire import file_outline, manage_index, search_code
from tests.index.world import NoWrites, World, is_link_segment
from tests.scale import by_turns, size

ANIMALS = [
    *("adder", "bear", "crane", "dove", "eagle", "finch", "gecko", "heron", "ibis", "jackal"),
    *("koala", "lemur", "mole", "newt", "otter", "panda", "quail", "raven", "stoat", "tapir"),
    *("urial", "viper", "wolf", "yak", "zebra"),
]


def animal(name: str) -> str:
    """A file whose only function differs from the others' in more than its name."""
    letters = "\n".join(f"    feed({name!r}, {c!r}, {ord(c) * len(name)})" for c in name)
    return (
        f"def feed_{name}(zoo):\n    # feeding time at the zoo\n{letters}\n    return zoo.{name}\n"
    )


@pytest.fixture
def zoo(world: World) -> World:
    return filled(world, [*ANIMALS[::4], "wolf", "yak"])


@pytest.fixture(scope="module")
def still_zoo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[World]:
    """The zoo of all tests that change nothing in it."""
    world = World(tmp_path_factory.mktemp("zoo"))
    yield filled(world)
    world.close()


def filled(world: World, animals: Sequence[str] = ANIMALS) -> World:
    world.index.extract = extract_facts
    for name in animals:
        world.write(f"src/zoo/{name}.py", animal(name))
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    return world


def search(world: World, query: str, path: Any = None, **more: Any) -> Any:
    answer: Any = search_code(world.index, path or world.root, query, **more)
    json.dumps(answer)  # What a tool answers can always be sent.
    return answer


def places(answer: Any) -> list[tuple[str, int]]:
    return [(r["file"], r["span"]["startLine"]) for r in answer["results"]]


# Pages.


@pytest.mark.shows("ANSWER-PAGES")
@pytest.mark.parametrize(
    ("limit", "query"),
    by_turns([1, 3, 7, 50], ["feeding time at the zoo", "re:feed_\\w+", "must:zoo zoo"]),
)
def test_pages_put_together_are_the_list(still_zoo: World, query: str, limit: int) -> None:
    """The twin is a list: cut anywhere, it is the same list."""
    depth = max(60, 3 * limit)
    whole: list[tuple[str, int]] = []
    answer = search(still_zoo, query, limit=50)
    while True:
        whole += places(answer)
        if "continuation" not in answer:
            break
        answer = search(still_zoo, query, limit=50, cursor=answer["continuation"]["cursor"])
    assert len(whole) == len(set(whole)) >= 25
    paged: list[tuple[str, int]] = []
    answer = search(still_zoo, query, limit=limit)
    remaining = len(whole)
    while True:
        got = places(answer)
        assert answer["counts"]["from"] == len(paged) + 1
        paged += got
        remaining -= len(got)
        if "continuation" not in answer:
            break
        assert answer["continuation"]["remaining"] == remaining
        call = answer["continuation"]["call"]
        assert call["tool"] == "search_code"
        assert call["args"]["query"] == query
        answer = search(still_zoo, query, limit=limit, cursor=call["args"]["cursor"])
    assert paged == whole if depth == 150 else set(paged) <= set(whole)
    assert len(paged) == len(set(paged))


@pytest.mark.shows("ANSWER-PAGES")
def test_a_long_page_has_as_many_results_as_requested(world: World) -> None:
    """A page of 50 ended after about 28, because the first results took the whole budget."""
    world.index.extract = extract_facts
    for number in range(60):
        lines = "".join(f"    feed(zoo, {number * line}, 'hay {line}')\n" for line in range(40))
        world.write(f"src/zoo/pen_{number}.py", f"def feed_pen_{number}(zoo):\n{lines}")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    answer = search(world, "feed the zoo with hay", limit=50)
    assert len(answer["results"]) == 50
    assert answer["counts"]["tokens"] <= 8_000


@pytest.mark.shows("ANSWER-PAGES")
def test_the_same_cursor_gives_the_same_page(still_zoo: World) -> None:
    cursor = search(still_zoo, "feeding time", limit=4)["continuation"]["cursor"]
    once = search(still_zoo, "feeding time", limit=4, cursor=cursor)
    assert places(search(still_zoo, "feeding time", limit=4, cursor=cursor)) == places(once)


@pytest.mark.shows("ANSWER-PAGES-FROZEN")
@pytest.mark.parametrize("how", ["edit", "sync", "new", "gone"])
def test_a_page_of_a_ranking_that_is_no_more_is_refused(zoo: World, how: str) -> None:
    cursor = search(zoo, "feeding time", limit=4)["continuation"]["cursor"]
    zoo.later(60)
    if how == "new":
        zoo.write("src/zoo/new.py", animal("new"))
    elif how == "gone":
        (zoo.tree / "src/zoo/yak.py").unlink()
    else:
        zoo.write("src/zoo/yak.py", animal("yak") + "# feeding time is over\n")
    if how == "sync":
        assert manage_index(zoo.index, "sync", zoo.root)["status"] == "ok"
    answer = search(zoo, "feeding time", limit=4, cursor=cursor)
    assert (answer["status"], answer["reason"]) == ("blocked", "index_changed")
    assert answer["results"] == []
    assert "from the start" in answer["message"]
    again = answer["hints"]["restart"]["args"]
    assert "cursor" not in again
    assert search(zoo, again["query"], again["path"], limit=again["limit"])["status"] == "ok"


@pytest.mark.shows("ANSWER-PAGES-FROZEN")
def test_a_cursor_belongs_to_its_question(still_zoo: World) -> None:
    cursor = search(still_zoo, "feeding time", limit=4)["continuation"]["cursor"]
    for other in (
        {"query": "feeding"}, {"scope": "mixed"}, {"group_by": "file"}, {"snippet": "feeding time"}
    ):  # fmt: skip
        asked: Any = {"query": "feeding time", **other}
        with pytest.raises(UsageError, match="another question"):
            search(still_zoo, asked.pop("query"), cursor=cursor, **asked)


@pytest.mark.shows("ANSWER-PAGES")
@given(
    st.integers(0, 10_000),
    st.integers(1, 500),
    st.text("0123456789abcdef", min_size=20, max_size=20),
)
def test_a_cursor_is_read_as_it_was_written(offset: int, depth: int, name: str) -> None:
    cursor = Cursor(offset, depth, name, name[::-1])
    assert pages.decode(pages.encode(cursor)) == cursor


@pytest.mark.shows("ANSWER-PAGES")
@given(st.text(max_size=60))
def test_anything_else_is_no_cursor(text: str) -> None:
    with pytest.raises(UsageError):
        pages.decode(text)


@pytest.mark.shows("ANSWER-PAGES")
def test_a_cursor_with_one_letter_changed_is_no_cursor() -> None:
    good = pages.encode(Cursor(10, 60, "a" * 20, "b" * 20))
    for i in range(len(good)):
        bad = good[:i] + ("A" if good[i] != "A" else "B") + good[i + 1 :]
        with pytest.raises(UsageError):
            pages.decode(bad)


@pytest.mark.shows("ANSWER-PAGES")
@pytest.mark.parametrize(
    ("offset", "depth"),
    [("x", 40), (2, "y"), (-3, 40), (2, -5), (2, 0), (2, 10**7), ("9" * 5_000, 40), ("\u0663", 40)],
)
def test_a_cursor_that_somebody_made_up_is_no_cursor(
    still_zoo: World, offset: Any, depth: Any
) -> None:
    """With check digits made up too: one gave results -2 to -1 of 26, others a traceback."""
    given = pages.decode(search(still_zoo, "feeding time", limit=4)["continuation"]["cursor"])
    made_up = pages.encode(Cursor(offset, depth, given.question, given.state))
    with pytest.raises(UsageError, match="not a search cursor"):
        search(still_zoo, "feeding time", cursor=made_up)


@pytest.mark.shows("ANSWER-PAGES")
def test_a_cursor_behind_the_end_is_a_page_of_nothing_at_the_end(still_zoo: World) -> None:
    given = pages.decode(search(still_zoo, "feeding time", limit=4)["continuation"]["cursor"])
    behind = pages.encode(Cursor(1_000, given.depth, given.question, given.state))
    answer = search(still_zoo, "feeding time", cursor=behind)
    counts = answer["counts"]
    assert (answer["results"], counts["from"], counts["to"]) == (
        [],
        counts["total"],
        counts["total"],
    )


@pytest.mark.shows("ANSWER-PAGES-FROZEN")
def test_a_pattern_that_runs_out_of_time_elsewhere_has_no_next_page(
    still_zoo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A page was cut out of whatever was found this time, so results were left out or repeated."""
    from holdfast.index.search import exact
    from holdfast.index.search.exact import Bounds

    def found_in(ticks: int) -> None:
        clock = itertools.count()
        bounds = Bounds(float(ticks), 99.0, clock=lambda: float(next(clock)))
        monkeypatch.setattr(exact, "Bounds", lambda: bounds)

    found_in(90)
    first = search(still_zoo, "re:zoo", limit=4)
    assert not first["counts"]["complete"]
    cursor = first["continuation"]["cursor"]
    found_in(90)
    assert places(search(still_zoo, "re:zoo", limit=4, cursor=cursor))
    found_in(75)
    answer = search(still_zoo, "re:zoo", limit=4, cursor=cursor)
    assert (answer["status"], answer["reason"]) == ("blocked", "index_changed")
    assert "ran out of time" in answer["message"]
    assert "files" not in answer["message"]


@pytest.mark.shows("ANSWER-PAGES-FROZEN")
def test_a_lane_that_fails_between_two_pages_ends_the_ranking(
    still_zoo: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    cursor = search(still_zoo, "feeding time", limit=4)["continuation"]["cursor"]

    def away(texts: Any) -> Any:
        raise ValueError("away")

    monkeypatch.setattr(still_zoo.index.provider, "embed_query", away)
    answer = search(still_zoo, "feeding time", limit=4, cursor=cursor)
    assert (answer["status"], answer["reason"]) == ("blocked", "index_changed")


# Budget.


@pytest.mark.shows("ANSWER-BUDGET")
@pytest.mark.parametrize(
    ("mode", "budget"), by_turns(["grouped", "raw"], [BUDGET_MIN, 300, 700, 1500, 8000])
)
def test_results_fit_their_budget_and_the_next_page_goes_on(
    still_zoo: World, budget: int, mode: Any
) -> None:
    seen: list[tuple[str, int]] = []
    answer = search(still_zoo, "feeding time", budget=budget, result_mode=mode, limit=25)
    total = answer["counts"]["total"]
    while True:
        spent = sum(tokens(len(json.dumps(r, ensure_ascii=False, separators=(",", ":")).encode()))
                    for r in answer["results"])  # fmt: skip
        assert spent <= budget or len(answer["results"]) == 1
        assert answer["counts"]["tokens"] == spent
        seen += places(answer)
        if "continuation" not in answer:
            break
        answer = search(
            still_zoo, "feeding time", budget=budget, result_mode=mode, limit=25,
            cursor=answer["continuation"]["cursor"],
        )  # fmt: skip
    assert len(seen) == len(set(seen)) == total


@pytest.mark.shows("ANSWER-BUDGET")
def test_a_pointer_to_many_matches_is_no_longer_than_one_to_few(zoo: World) -> None:
    """Twenty places of matches were sent with it, three times the budget."""
    for n in range(7):
        zoo.write(f"src/copies/c{n}.py", "def f():\n" + f"    step({n})\n" * 40)
    zoo.later(60)
    (pointer,) = search(zoo, "re:step", budget=200, limit=1)["results"]
    assert pointer["matchCount"] == 40
    assert tokens(len(json.dumps(pointer))) <= 200
    assert pointer["next"]["tool"] == "read"


@pytest.mark.shows("ANSWER-BUDGET")
def test_a_result_that_is_cut_ends_with_the_call_that_shows_it(zoo: World) -> None:
    zoo.write("src/long.py", "def migrate_ledger():\n" + "    step()\n" * 240)
    zoo.later(60)
    (result,) = search(zoo, "migrate_ledger")["results"][:1]
    assert len(result["preview"].splitlines()) <= 28
    path = str(zoo.tree / "src/long.py")
    assert result["next"] == {"tool": "read", "args": {"path": path, "offset": 1, "limit": 241}}


# What the reader holds.


@pytest.mark.shows("ANSWER-CONTEXT")
def test_what_the_reader_holds_is_pointed_at(still_zoo: World) -> None:
    asked: list[tuple[str, int, int]] = []

    def holds(path: str, first: int, last: int) -> bool:
        asked.append((path, first, last))
        return path.endswith("yak.py")

    answer = search(still_zoo, "feed_yak", holds=holds)
    held = [r for r in answer["results"] if r.get("in_context")]
    assert [r["file"] for r in held] == ["src/zoo/yak.py"]
    assert held[0]["span"] == {"startLine": 1, "endLine": 6}
    assert "preview" not in held[0]
    least = answer["results"][0]["score"] / 2
    strong = [r for r in answer["results"][:5] if r["score"] >= least and r not in held]
    assert all("preview" in r for r in strong)
    assert (str(still_zoo.tree / "src/zoo/yak.py"), 1, 6) in asked
    raw = search(still_zoo, "feed_yak", holds=holds, result_mode="raw")["results"]
    assert all(("content" in r) != bool(r.get("in_context")) for r in raw)


@pytest.mark.shows("ANSWER-CONTEXT")
@pytest.mark.parametrize("by", ["symbol", "file"])
def test_a_result_is_held_only_if_all_of_its_lines_are(zoo: World, by: Any) -> None:
    """A function in three chunks was said to be in context when its best chunk was."""
    body = "\n".join(
        f"    step_{n} = ledger + {n}  # stage {n} of the migration" for n in range(150)
    )
    zoo.write("src/long.py", f"def migrate_ledger(ledger):\n{body}\n    return ledger\n")
    zoo.later(60)

    def first_half(path: str, first: int, last: int) -> bool:
        return last <= 70

    def everything(path: str, first: int, last: int) -> bool:
        return path.endswith("long.py")

    for query in ("migrate_ledger stage", r"re:step_\d+"):
        half = search(zoo, query, holds=first_half, group_by=by)["results"][0]
        assert half["collapsedChunkCount"] > 1
        assert half["span"]["endLine"] > 70
        assert "in_context" not in half
        whole = search(zoo, query, holds=everything, group_by=by)["results"][0]
        assert whole["in_context"] is True


# Operators in answers.


@pytest.mark.shows("ANSWER-TRIGRAMS-VERSION")
@pytest.mark.parametrize("how", ["none", "another version", "cut short"])
def test_an_index_without_our_signatures_is_searched_all_the_same(zoo: World, how: str) -> None:
    """Indexes made before there were any must not miss a line."""
    query = r"re:zoo\.(yak|wolf)\b"
    before = places(search(zoo, query))
    (file,) = (zoo.home / "index" / "roots").glob("*.sqlite")
    update = "UPDATE trigram SET signatures = "
    statement = {
        "none": "DROP TABLE trigram",
        "another version": f"{update} CAST(x'09' || substr(signatures, 2) AS BLOB)",
        "cut short": f"{update} substr(signatures, 1, 40)",
    }[how]
    connection = apsw.Connection(str(file))
    connection.set_busy_timeout(60_000)  # the log of the last run may still be folded in
    connection.execute(statement)
    tables.put_meta(connection, tables.meta(connection) | {"run": "another"})
    connection.close()
    zoo.later(60)
    assert places(search(zoo, query)) == before
    assert places(search(zoo, "sym:feed_yak")) == [("src/zoo/yak.py", 1)]
    zoo.write("src/zoo/wolf.py", animal("wolf") + "\n")
    assert manage_index(zoo.index, "sync", zoo.root)["status"] == "ok"
    assert places(search(zoo, query)) == before


@pytest.mark.parametrize("where", [0.0, 0.1, 0.5, 0.9])
def test_a_segment_that_is_not_what_was_written_is_not_ranked_by(zoo: World, where: float) -> None:
    segments = (zoo.home / "index" / "roots").glob("*.segments/*")
    (file,) = (file for file in segments if not is_link_segment(file))
    data = bytearray(file.read_bytes())
    data[int(where * len(data))] ^= 1
    file.write_bytes(data)
    fresh = index_of(Home(zoo.home), {})
    with pytest.raises(DamagedBackend, match=r"damaged|format|truncated"):
        read_all(fresh, zoo.root)


def read_all(index: CodeIndex, root: str) -> None:
    with index.backend.reader(root) as reader:
        for part in reader.corpus().parts:
            assert len(merge([(part.segment, [None] * len(part.files))], 256).slots) == 0
            assert len(part.segment.signs) == part.segment.rows


@pytest.mark.shows("ANSWER-TRIGRAMS-VERSION")
def test_the_form_of_signatures_has_a_version() -> None:
    made = hashlib.sha256(
        trigrams.head(True) + trigrams.signatures(["def total(cart):\n", "Straße \u212a"])
    ).hexdigest()
    assert {1: "7487527352012766"}[trigrams.TRIGRAMS_VERSION] == made[:16], (
        "signatures are made in another way: raise TRIGRAMS_VERSION and say what changed"
    )


@pytest.mark.shows("ANSWER-PAGES")
def test_the_form_of_a_cursor_has_a_version() -> None:
    made = pages.encode(Cursor(10, 60, "a" * 12, "b" * 12))
    assert {2: "2.10.60.aaaaaaaaaaaa.bbbbbbbbbbbb.6cce2d95"}[pages.CURSOR_VERSION] == made, (
        "cursors are written in another way: raise CURSOR_VERSION and say what changed"
    )
    first = "MS4xMC42MC5hYWFhYWFhYWFhYWFhYWFhYWFhYS5iYmJiYmJiYmJiYmJiYmJiYmJiYi45NzIzNzI0Ng"
    with pytest.raises(UsageError, match="has version 1; expected 2"):
        pages.decode(first)


@pytest.mark.shows("ANSWER-RE", "ANSWER-SPAN")
def test_a_pattern_answers_with_the_place_of_every_match(still_zoo: World) -> None:
    answer = search(still_zoo, r"re:zoo\.(yak|wolf)\b")
    assert places(answer) == [("src/zoo/wolf.py", 1), ("src/zoo/yak.py", 1)]
    for result in answer["results"]:
        (match,) = result["matches"]
        line = (still_zoo.tree / result["file"]).read_text().splitlines()[match["line"] - 1]
        word = line[match["startColumn"] - 1 : match["endColumn"] - 1]
        assert word == "zoo." + Path(result["file"]).stem
        assert match["line"] in result["matchedLines"]
        assert line in result["preview"].splitlines()
    assert answer["counts"]["matchedLines"] == answer["counts"]["matchedFiles"] == 2
    assert answer["counts"]["complete"] is True


@pytest.mark.shows("ANSWER-RE")
def test_files_that_changed_or_went_a_moment_ago_are_searched_as_they_are(zoo: World) -> None:
    zoo.write("src/zoo/yak.py", "def feed_yak(zoo):\n    return zoo.cow\n")
    zoo.write("src/zoo/cow.py", "def feed_cow(zoo):\n    return zoo.cow\n")
    (zoo.tree / "src/zoo/wolf.py").unlink()
    zoo.later(60)
    answer = search(zoo, r"re:zoo\.(yak|wolf|cow)$")
    assert {place[0] for place in places(answer)} == {"src/zoo/cow.py", "src/zoo/yak.py"}


@pytest.mark.shows("ANSWER-RE")
@pytest.mark.parametrize("synced", [False, True])
def test_files_without_text_in_the_index_are_named_as_not_searched(
    zoo: World, synced: bool
) -> None:
    """An answer counted the matching lines and files as if these had been looked at."""
    wide = "def feed_gnu(zoo):\n    return 1\n"
    (zoo.tree / "src/zoo/gnu.py").write_bytes(wide.encode("utf-16"))
    zoo.write("src/zoo/emu.py", f"emu = '{'x' * 6_000}'\n")
    zoo.write("src/zoo/elk.py", f"elk = 1\n{'# all of them are elks' * 60_000}\n")
    (zoo.tree / "docs/gnu.md").write_bytes(wide.encode("utf-16"))
    if synced:
        assert manage_index(zoo.index, "sync", zoo.root)["status"] == "ok"
    zoo.later(60)
    said = (
        "NOT_SEARCHED:not searched: 1 binary or UTF-16 (src/zoo/gnu.py); "
        "1 above 1 MiB (src/zoo/elk.py); 1 minified (src/zoo/emu.py)"
    )
    for query in ("re:feed_gnu", "re:feed_yak", "must:feed_yak", "sym:feed_gnu"):
        assert said in search(zoo, query)["warnings"]
    assert search(zoo, "re:feed_gnu path:gnu.py")["warnings"][0].endswith("(src/zoo/gnu.py)")
    for query in ("feed yak", "sym:feed_yak", "re:feed_yak path:yak.py"):
        assert not any("NOT_SEARCHED" in one for one in search(zoo, query).get("warnings", ()))


@pytest.mark.shows("ANSWER-RE")
def test_words_beside_a_pattern_set_the_order_and_leave_nothing_out(still_zoo: World) -> None:
    answer = search(still_zoo, r"re:def\s+feed_ feed yak", limit=50)
    assert places(answer)[0] == ("src/zoo/yak.py", 1)
    assert {place[0] for place in places(answer)} == {f"src/zoo/{name}.py" for name in ANIMALS}


@pytest.mark.shows("ANSWER-RE-BOUNDS")
def test_an_answer_that_was_cut_says_so(still_zoo: World, monkeypatch: pytest.MonkeyPatch) -> None:
    from holdfast.index.search import exact

    bounds = exact.Bounds(hits=2, clock=lambda: 0.0)
    monkeypatch.setattr(exact, "Bounds", lambda: bounds)
    answer = search(still_zoo, "re:zoo")
    assert answer["counts"]["complete"] is False
    assert any(w.startswith("EXACT_CUT:") and "narrow it" in w for w in answer["warnings"])


@pytest.mark.shows("ANSWER-FILTERS")
@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("zoo path:src/zoo/yak.py", {"src/zoo/yak.py"}),
        ("zoo path:yak.py", {"src/zoo/yak.py"}),
        ("zoo path:./src/zoo/yak.py", {"src/zoo/yak.py"}),
        ("zoo path:*ak.py path:wolf.*", {"src/zoo/yak.py", "src/zoo/wolf.py"}),
        ("cart path:src/ -path:zoo/", {"src/cart.py", "src/checkout.py"}),
        ("paid cart lang:markdown", {"docs/guide.md"}),
        ("price lookup exclude:lookup", {"src/cart.py", "src/checkout.py"}),
        ("must:price_of must:sum", {"src/cart.py"}),
        ("sym:total_price", {"src/cart.py"}),
        ("sym:feed_y*", {"src/zoo/yak.py"}),
    ],
)  # fmt: skip
def test_operators_keep_what_they_say(still_zoo: World, query: str, kept: set[str]) -> None:
    answer = search(still_zoo, query, scope="mixed")
    assert {result["file"] for result in answer["results"]} == kept


@pytest.mark.shows("ANSWER-FILTERS")
@pytest.mark.parametrize(
    ("pattern", "path", "taken"),
    [
        ("*.py", "src/a.py", True),
        ("src", "src/a.py", True),
        ("src/", "lib/src/a.py", True),
        ("/src", "lib/src/a.py", False),
        ("src/*.py", "src/a.py", True),
        ("src/*.py", "src/b/a.py", False),
        ("src/**/*.py", "src/b/c/a.py", True),
        ("a", "src/a.py", False),
        ("src/a.py", "src/a.py", True),
    ],
)
def test_paths_are_matched_as_in_a_gitignore_file(pattern: str, path: str, taken: bool) -> None:
    assert PathPattern(pattern).takes(path) is taken


@pytest.mark.shows("ANSWER-FILTERS")
@pytest.mark.parametrize("query", ["feed_goat", r"re:feed_\w+", "sym:feed_*", "must:feed_goat"])
def test_a_file_whose_name_tells_no_language_is_kept_by_the_one_it_is_in(
    zoo: World, query: str
) -> None:
    zoo.write("bin/goat", "#!/bin/sh\nfeed_goat() {\n  echo goat\n}\nfeed_goat\n")
    assert manage_index(zoo.index, "sync", zoo.root)["status"] == "ok"
    with zoo.backend.reader(zoo.root) as reader:
        (language,) = {chunk.language for chunk in reader.chunks_of("bin/goat")}
    if query.startswith("sym:") and language == "text":
        return  # Nothing is known of symbols in plain text.
    found = search(zoo, f"{query} lang:{language} -path:zoo/")
    assert {r["file"] for r in found["results"]} == {"bin/goat"}
    other = search(zoo, f"{query} lang:go")
    assert other["results"] == []


@pytest.mark.shows("ANSWER-WARNINGS")
def test_an_empty_answer_says_why_and_what_to_ask_instead(still_zoo: World) -> None:
    answer = search(still_zoo, "zoo path:nowhere must:unicorn")
    assert answer["status"] == "ok"
    assert answer["results"] == []
    assert any(w.startswith("FILTER_MUST_UNSATISFIED:") for w in answer["warnings"])
    assert any("path:*nowhere*" in w for w in answer["warnings"])
    calls = [step["args"] for step in answer["hints"]["nextSteps"]]
    assert {"path": still_zoo.root, "query": "zoo"} in calls
    wrong = search(still_zoo, "lang:pyhton zoo")
    assert any("did you mean lang:python?" in w for w in wrong["warnings"])
    assert wrong["results"]


@pytest.mark.shows("ANSWER-WARNINGS")
def test_what_an_empty_answer_says_is_so(still_zoo: World) -> None:
    """`no chunk holds 'zoo'` was said where every chunk does."""
    for query in ("must:zoo exclude:zoo", "must:zoo path:cart.py", "must:Paying"):
        (said,) = search(still_zoo, query)["warnings"]
        assert "of those that the scope and the rest of the query leave" in said
    # Plain text that looks like an operator stays plain text in the call that widens.
    answer = search(still_zoo, r"\lang:go zoo path:nowhere/")
    query = answer["hints"]["nextSteps"][0]["args"]["query"]
    assert operators.parse(query).query == operators.Query("lang:go zoo")
    (said,) = search(still_zoo, "zoo path:src/nowhere/")["warnings"]
    assert "path:*nowhere*" in said


@pytest.mark.shows("ANSWER-WARNINGS")
def test_a_directory_that_is_not_there_is_named(zoo: World) -> None:
    """Nothing was found below a misspelt directory, and that was all there was to say."""
    missing = search(zoo, "zoo", f"{zoo.root}/src/zooo")
    assert missing["warnings"] == [f"PATH_MISSING:{zoo.root}/src/zooo does not exist"]
    assert missing["hints"]["nextSteps"][0]["args"] == {"path": zoo.root, "query": "zoo"}
    both = search(zoo, "zoo", [f"{zoo.root}/src/zooo", f"{zoo.root}/src/zoo"])
    assert both["results"]
    assert both["warnings"] == missing["warnings"]
    (zoo.tree / "empty").mkdir()
    empty = search(zoo, "zoo", f"{zoo.root}/empty")
    assert empty["warnings"] == [f"PATH_NOT_INDEXED:no file of {zoo.root}/empty is in the index"]
    assert "warnings" not in search(zoo, "zoo", f"{zoo.root}/src/zoo/yak.py")


@pytest.mark.shows("ANSWER-WARNINGS")
@pytest.mark.parametrize("folder", ["my tests", "tests/[a]", "tests/wh*t?", 'tests/a"b', "#tests"])
def test_the_call_that_leaves_noise_out_leaves_it_out(zoo: World, folder: str) -> None:
    """A directory with a space in its name became two words."""
    for n in range(8):
        zoo.write(f"{folder}/test_{n}.py", f"def test_unicorn_{n}():\n    assert unicorn({n})\n")
    zoo.write("src/horn.py", "def horn():\n    return 'unicorn'\n")
    zoo.later(60)
    answer = search(zoo, "test_unicorn", scope="mixed")
    call = answer["hints"]["noiseMitigation"]["nextStep"]["args"]
    assert operators.parse(call["query"]).query.text == "test_unicorn"
    files = {r["file"] for r in search(zoo, call["query"], scope="mixed")["results"]}
    assert files
    assert not any(file.startswith(f"{folder}/") for file in files)


@pytest.mark.parametrize(
    "query", ["2147483647", "?.[", "→", "x" * 90, "test_" + "of_a_long_name_" * 6]
)
def test_what_has_no_word_to_rank_by_is_looked_for_as_it_is_written(zoo: World, query: str) -> None:
    """Such a word is in no list of words, so that it was nowhere, however often it stood there."""
    zoo.write("src/odd.py", f"def odd(a):\n    # {query}\n    return a\n")
    zoo.later(60)
    answer = search(zoo, query)
    assert places(answer) == [("src/odd.py", 1)]
    assert [match["line"] for match in answer["results"][0]["matches"]] == [2]
    assert any(w.startswith("TAKEN_AS_WRITTEN:") for w in answer["warnings"])
    assert answer["counts"]["complete"] is True


@pytest.mark.shows("ANSWER-DEBUG")
def test_debug_tells_the_lane_that_found_a_result(clones: World) -> None:
    """A symbol has no matched lines, and was said to be ranked."""
    lanes = {
        search(clones, query, debug=True)["results"][0]["debug"]["lane"]
        for query in ("sym:feed_yak", "must:yak", "must:yak.py")
    }
    assert lanes == {"exact"}
    like = search(clones, "", similar="src/one.py", debug=True)
    assert like["results"][0]["debug"]["lane"] == "similar"
    assert search(clones, "yak", debug=True)["results"][0]["debug"]["lane"] == "ranked"


@pytest.mark.shows("ANSWER-NEXT")
def test_an_answer_ends_with_what_to_do_next(still_zoo: World) -> None:
    answer = search(still_zoo, "feed_yak", limit=2)
    best = answer["results"][0]
    assert answer["recommendedNextAction"]["args"]["path"] == str(still_zoo.tree / best["file"])
    assert answer["hints"]["nextSteps"][-1] == answer["continuation"]["call"]


# Several roots, and parts of one.


@pytest.mark.shows("ANSWER-ROOTS")
def test_several_roots_answer_together_and_one_that_refuses_is_named(
    zoo: World, tmp_path: Path
) -> None:
    other, third = tmp_path.resolve() / "other", tmp_path.resolve() / "third"
    for root in (other, third):
        root.mkdir()
        (root / "farm.py").write_text("def feed_yak_on_farm(farm):\n    return farm.yak\n")
    assert manage_index(zoo.index, "create", str(other))["status"] == "ok"
    roots = [zoo.root, str(other), str(third)]
    answer = search(zoo, "yak on the farm", roots)
    found = {(r["codebasePath"], r["file"]) for r in answer["results"]}
    assert {(zoo.root, "src/zoo/yak.py"), (str(other), "farm.py")} <= found
    assert answer["status"] == "ok"
    assert answer["paths"] == roots
    states = {facts["path"]: facts["status"] for facts in answer["roots"]}
    assert states == {zoo.root: "ok", str(other): "ok", str(third): "not_indexed"}
    assert answer["results"][0]["file"] == "farm.py"
    cursor = search(zoo, "feed", roots, limit=2)["continuation"]["cursor"]
    assert len(search(zoo, "feed", roots, limit=2, cursor=cursor)["results"]) == 2
    none = search(zoo, "feed", [str(third)])
    assert none["status"] == "not_indexed"


@pytest.mark.shows("ANSWER-ROOTS")
def test_directories_of_one_root_are_asked_about_together(zoo: World) -> None:
    zoo.write("lib/yak.py", animal("yak"))
    zoo.later(60)
    only = search(zoo, "feed_yak", [f"{zoo.root}/lib"])
    assert [r["file"] for r in only["results"]] == ["lib/yak.py"]
    assert only["path"] == f"{zoo.root}/lib"
    both = search(zoo, r"re:zoo\.yak", [f"{zoo.root}/lib", f"{zoo.root}/src/zoo"])
    assert {r["file"] for r in both["results"]} == {"lib/yak.py", "src/zoo/yak.py"}
    assert "roots" not in both


@pytest.mark.shows("ANSWER-ROOTS")
@pytest.mark.parametrize("query", ["feed_yak", "re:feed_yak", "must:feed_yak", "sym:feed_yak"])
def test_a_file_of_two_roots_is_found_once(world: World, query: str) -> None:
    """A root within another was asked about with it, and its files were found and counted twice."""
    world.index.extract = extract_facts
    inner = f"{world.root}/src/zoo"
    for name in ANIMALS:
        world.write(f"src/zoo/{name}.py", animal(name))
    for root in (inner, world.root):
        assert manage_index(world.index, "create", root)["status"] == "ok"
    answer = search(world, query, [world.root, inner], limit=50)
    assert [root["path"] for root in answer["roots"]] == [world.root, inner]
    found = [f"{r['codebasePath']}/{r['file']}" for r in answer["results"]]
    assert len(found) == len(set(found))
    assert f"{inner}/yak.py" in found
    if "matchedFiles" in answer["counts"]:
        assert answer["counts"]["matchedFiles"] == 1


# Folding.


@pytest.mark.shows("ANSWER-FOLD", "SEARCH-SIGNAL-DUPLICATE")
def test_copies_leave_room_for_something_else(zoo: World) -> None:
    for n in range(30):
        zoo.write(f"src/copies/c{n}.py", animal("yak").replace("    ", "  "))
    zoo.write("src/other.py", "def feed_the_yak_later(clock):\n    return clock.later(feed_yak)\n")
    zoo.later(60)
    answer = search(zoo, "feed_yak", limit=3)
    assert "src/other.py" in [result["file"] for result in answer["results"]]


@pytest.mark.shows("ANSWER-FOLD")
def test_copies_are_shown_once_and_named(zoo: World) -> None:
    for n in range(7):
        zoo.write(f"src/copies/c{n}.py", animal("yak").replace("    ", "  "))
    zoo.later(60)
    answer = search(zoo, "feed_yak")
    shown = [r for r in answer["results"] if "yak" in r.get("preview", "")]
    assert len(shown) == 1
    assert shown[0]["alikeCount"] == 7
    assert len(shown[0]["alike"]) == 5
    assert shown[0]["alike"][0]["span"]["startLine"] == 1
    # Those that are not named are one call away.
    (call,) = [c for c in answer["hints"]["nextSteps"] if c["args"].get("resultMode") == "raw"]
    every = search(zoo, call["args"]["query"], result_mode="raw", limit=50)["results"]
    assert {r["file"] for r in every} >= {f"src/copies/c{n}.py" for n in range(7)}
    assert not any("alike" in r for r in every)


@pytest.mark.shows("ANSWER-FOLD", "ANSWER-RE")
@pytest.mark.parametrize(
    "query", ["re:feed_yak", "must:feed_yak", "sym:feed_yak", "re:yak feed yak"]
)
@pytest.mark.parametrize("by", ["symbol", "file"])
def test_what_is_asked_for_exactly_is_not_folded(zoo: World, query: str, by: Any) -> None:
    """Of eight copies with a match each, one was shown, five named, and two on no page at all."""
    copies = {f"src/copies/c{n}.py" for n in range(7)}
    for path in copies:
        zoo.write(path, animal("yak").replace("    ", "  "))
    zoo.later(60)
    answer = search(zoo, query, group_by=by)
    assert {r["file"] for r in answer["results"]} == {"src/zoo/yak.py", *copies}
    assert answer["counts"]["total"] == 8


@pytest.mark.shows("ANSWER-FOLD")
@given(st.lists(st.text("ab \n", max_size=12), max_size=8))
def test_texts_are_folded_into_the_first_that_differs_in_white_space_only(texts: list[str]) -> None:
    places = folded(texts)
    for i, place in enumerate(places):
        assert place <= i
        assert places[place] == place
        assert "".join(texts[i].split()) == "".join(texts[place].split())


def test_nearly_the_same_long_texts_are_alike_and_others_are_not() -> None:
    base = "\n".join(f"    value_{n} = load(source, {n * 37 % 101})" for n in range(20))
    other = "\n".join(f"    print('row', total[{n}], flush=True)" for n in range(20))
    assert folded([base, other, base.replace("value_7 ", "value_x ")]) == [0, 1, 0]


# Previews.


@pytest.mark.shows("ANSWER-PREVIEW")
def test_a_preview_is_the_lines_with_the_asked_words() -> None:
    lines = ["def charge(card):"] + [f"    step_{n}()" for n in range(40)]
    lines[25] = "    refund_the_customer(card)"
    made = preview("\n".join(lines) + "\n", 100, Asked.by(analyze("refund customer")), 4, "charge")
    assert made.lines[0] == (100, "def charge(card):")
    assert (125, lines[25]) in made.lines
    assert made.matched == (125,)
    assert GAP in made.text
    assert not made.whole


def test_a_preview_that_lacks_only_blank_lines_is_whole() -> None:
    """It named a read of all lines, which showed nothing more."""
    text = "def charge(card):\n\n    a = 1\n\n    b = 2\n\n    refund(card)\n\n    return a + b\n"
    made = preview(text, 100, Asked.by(analyze("refund")), 5, "charge")
    assert made.whole
    assert made.spans == [(100, 108)]
    assert not preview(text, 100, Asked.by(analyze("refund")), 4, "charge").whole


@pytest.mark.shows("ANSWER-PREVIEW")
@given(st.lists(st.sampled_from(["refund()", "", "    other", "x" * 300, "customer"]), min_size=1),
       st.integers(1, 12), st.integers(1, 500))  # fmt: skip
def test_previewed_lines_are_lines_of_the_text(lines: list[str], most: int, first: int) -> None:
    text = "".join(line + "\n" for line in lines)
    made = preview(text, first, Asked.by(analyze("refund customer")), most)
    assert len(made.lines) <= most or len(made.lines) == len(text.rstrip("\n").split("\n"))
    assert len(made.lines) <= max(most + FEW_MORE, 2 * most)
    assert sum(1 for _, line in made.lines if line) <= most + FEW_MORE
    for number, line in made.lines:
        own = lines[number - first]
        assert line == own or (line.endswith("…") and own.startswith(line[:-1]))
    while len(lines) > 1 and not lines[-1]:
        lines.pop()
    assert made.whole == ([line for _, line in made.lines] == lines)
    shown = {number for number, _ in made.lines}
    assert shown == {n for a, b in made.spans for n in range(a, b + 1)}
    missing = [n for n in made.matched if n not in shown]
    assert not missing or len(shown) == most


@pytest.mark.shows("ANSWER-PREVIEW")
def test_a_long_line_is_cut_around_its_match() -> None:
    line = "a" * 1000 + "needle" + "b" * 1000
    made = preview(line, 1, Asked({}, (LineMatch(1, 1000, 1006),)))
    assert "needle" in made.text
    assert len(made.text) <= 241


@pytest.mark.shows("ANSWER-PREVIEW")
@pytest.mark.parametrize("at", [0, 30, 100, 230, 236, 239, 240, 241, 300, 990])
def test_a_long_line_is_cut_around_the_first_word_that_was_asked_for(at: int) -> None:
    """It was cut at its beginning, which does not say why it is shown."""
    line = ("other " * 200)[:at] + " refund " + "more " * 200
    made = preview(line, 1, Asked.by(analyze("refund")))
    assert made.matched == (1,)
    assert "refund" in made.text
    assert len(made.text) <= LINE_CHARACTERS_MAX
    assert not made.whole


# The rest.


def test_an_answer_says_when_the_tree_was_looked_at(zoo: World) -> None:
    """An answer from the last look said that it had looked now."""
    zoo.later(60)
    first = search(zoo, "zoo")["freshnessDecision"]
    zoo.later(0.05)
    again = search(zoo, "zoo")["freshnessDecision"]
    assert again["mode"] == "skipped_recent"
    assert again["checkedAt"] == first["checkedAt"]
    zoo.later(60)
    later = search(zoo, "zoo")["freshnessDecision"]
    assert later["checkedAt"] > first["checkedAt"]


@pytest.mark.shows("ANSWER-DEBUG")
def test_debug_tells_every_signal(still_zoo: World) -> None:
    answer = search(still_zoo, "feed_yak path:src/ exclude:wolf", debug=True)
    signals = answer["results"][0]["debug"]["signals"]
    assert {"lexical", "dense", "definition", "role"} <= signals.keys()
    summary = answer["hints"]["debugSearch"]
    assert summary["operatorSummary"]["operators"] == [["path", "src/"], ["exclude", "wolf"]]
    assert summary["roots"][0]["generation"][0] == 1
    exact = search(still_zoo, "re:yak", debug=True)["hints"]["debugSearch"]["roots"][0]["exact"]
    assert exact["looked"] < exact["chunks"]
    assert "debug" not in search(still_zoo, "feed_yak")["results"][0]


@pytest.mark.shows("ANSWER-READS")
@pytest.mark.parametrize("query", ["feed", r"re:feed_\w+", "must:zoo", "sym:feed_yak"])
def test_no_answer_writes(zoo: World, query: str) -> None:
    NoWrites.guard(zoo.index, zoo.registry_path)
    assert search(zoo, query, debug=True)["status"] == "ok"


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"limit": 0}, "limit must be at least 1"),
        ({"budget": 1}, "budget must be at least 100"),
        ({"cursor": "x"}, "not a search cursor"),
        ({"path": []}, "no path"),
        ({"scope": "all"}, "scope must be one of"),
        ({"result_mode": "flat"}, "resultMode must be one of"),
        ({"group_by": "class"}, "groupBy must be one of"),
    ],
)
def test_what_has_no_meaning_is_refused(still_zoo: World, more: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        search_code(still_zoo.index, **{"path": still_zoo.root, "query": "zoo", **more})


def test_a_limit_beyond_the_most_is_the_most(still_zoo: World) -> None:
    assert search(still_zoo, "zoo", limit=1000)["limit"] == LIMIT_MAX


@pytest.mark.shows("ANSWER-FILTERS")
def test_an_answer_that_filters_left_too_much_of_is_not_complete(zoo: World) -> None:
    """More was ranked because something was left out, then cut, and called all there is."""
    for n in range(50):
        zoo.write(f"src/more/m{n}.py", f"def feed_m{n}(zoo):\n    # zoo zoo\n    return zoo.m{n}\n")
    zoo.later(60)
    answer = search(zoo, "zoo exclude:yak", limit=10, result_mode="raw")
    assert answer["counts"]["total"] == 40
    assert answer["counts"]["complete"] is False


@pytest.mark.shows("ANSWER-WARNINGS")
def test_a_question_of_ten_thousand_words_is_cut_and_said_so(still_zoo: World) -> None:
    """Each word was looked for by itself: seven seconds in a tree of a hundred chunks."""
    answer = search(
        still_zoo, "feed yak " + " ".join(f"word{n}" for n in range(size(10_000, 2_500)))
    )
    assert answer["results"][0]["file"] == "src/zoo/yak.py"
    assert any(w.startswith("QUERY_LONG:") for w in answer["warnings"])
    assert "warnings" not in search(still_zoo, "feed yak " * 80)


# Code like this.


@pytest.fixture
def clones(zoo: World) -> World:
    body = (
        "def load_settings(path):\n"
        "    with open(path) as handle:\n"
        "        raw = handle.read()\n"
        "    settings = parse(raw)\n"
        "    if not settings.get('version'):\n"
        "        raise ValueError('no version in ' + path)\n"
        "    return settings\n"
    )
    zoo.write("src/one.py", body)
    zoo.write("src/two.py", body.replace("settings", "options").replace("handle", "stream"))
    zoo.write("src/three.py", body.replace("parse(raw)", "parse(raw, strict=True)"))
    assert manage_index(zoo.index, "sync", zoo.root)["status"] == "ok"
    return zoo


@pytest.mark.shows("ANSWER-SIMILAR")
def test_code_like_these_lines_is_found_and_the_lines_themselves_are_not(clones: World) -> None:
    answer = search(clones, "", similar="src/one.py:1-7", debug=True)
    assert [r["file"] for r in answer["results"][:2]] == ["src/three.py", "src/two.py"]
    assert all(r["file"] != "src/one.py" for r in answer["results"])
    signals = answer["results"][0]["debug"]["signals"]
    assert signals["words"] > 0.7
    assert signals["trigrams"] > 0.7
    assert answer["results"][0]["score"] > answer["results"][1]["score"]


@pytest.mark.shows("ANSWER-SIMILAR")
def test_a_snippet_from_elsewhere_and_operators_that_narrow(clones: World) -> None:
    text = (clones.tree / "src/one.py").read_text()
    every = search(clones, "", snippet=text)
    assert every["results"][0]["file"] == "src/one.py"
    only = search(clones, "path:two.py", snippet=text)
    assert [r["file"] for r in only["results"]] == ["src/two.py"]
    strict = search(clones, r"re:strict=\w+", snippet=text)
    assert [r["file"] for r in strict["results"]] == ["src/three.py"]
    words = search(clones, "hello", snippet=text)
    assert any("SIMILAR_WORDS_IGNORED" in w for w in words["warnings"])


@pytest.mark.shows("ANSWER-SIMILAR")
def test_files_changed_a_moment_ago_are_compared_as_they_are(clones: World) -> None:
    clones.write("src/two.py", "def unrelated():\n    return 1\n")
    clones.write("src/four.py", (clones.tree / "src/one.py").read_text())
    clones.later(60)
    answer = search(clones, "", similar="src/one.py")
    files = [r["file"] for r in answer["results"]]
    assert files[0] == "src/four.py"
    assert "src/two.py" not in files


@pytest.mark.shows("ANSWER-SIMILAR", "ANSWER-PAGES-FROZEN")
def test_a_page_of_code_like_lines_that_have_changed_is_refused_as_such(clones: World) -> None:
    """It was said that the cursor belongs to another question, and to repeat the same one."""
    asked: Any = {"similar": "src/one.py", "limit": 1, "result_mode": "raw"}
    cursor = search(clones, "", **asked)["continuation"]["cursor"]
    assert search(clones, "", **asked, cursor=cursor)["status"] == "ok"
    one = clones.tree / "src/one.py"
    clones.write("src/one.py", one.read_text().replace("handle", "source") + "\n# more\n")
    clones.later(60)
    answer = search(clones, "", **asked, cursor=cursor)
    assert (answer["status"], answer["reason"]) == ("blocked", "index_changed")
    with pytest.raises(UsageError, match="another question"):
        search(clones, "", **{**asked, "similar": "src/one.py:1-3"}, cursor=cursor)


@pytest.mark.shows("ANSWER-SIMILAR")
def test_code_like_this_that_fits_a_pattern_says_where(clones: World) -> None:
    """Nothing of a pattern came with the results, and none of its lines was counted."""
    text = (clones.tree / "src/one.py").read_text()
    for query in (r"re:strict=\w+", "must:strict=True"):
        answer = search(clones, query, snippet=text)
        (result,) = answer["results"]
        assert result["file"] == "src/three.py"
        assert [match["line"] for match in result["matches"]] == [4]
        assert "strict=True" in result["preview"]
        counts = answer["counts"]
        assert (counts["matchedLines"], counts["matchedFiles"]) == (1, 1)


@pytest.mark.long
@pytest.mark.shows("ANSWER-SIMILAR")
def test_operators_narrow_what_is_compared_and_not_what_was_found(clones: World) -> None:
    """A copy was not found where many better ones stood in files that were not asked about."""
    body = (clones.tree / "src/one.py").read_text()
    for n in range(600):
        clones.write(f"gen/g{n}.py", body)
    clones.write("src/far.py", body.replace("settings", "preferences").replace("raw", "content"))
    assert manage_index(clones.index, "sync", clones.root)["status"] == "ok"
    only = search(clones, "path:far.py", similar="src/one.py")
    assert [r["file"] for r in only["results"]] == ["src/far.py"]
    assert only["counts"]["complete"] is True
    every = search(clones, "", similar="src/one.py", result_mode="raw", limit=50)
    assert len(every["results"]) == 50
    assert every["counts"]["complete"] is False


@pytest.mark.shows("ANSWER-SIMILAR")
@given(st.text("ab(\n "), st.text("ab(\n "))
def test_similarity_is_of_all_runs_of_three(one: str, other: str) -> None:
    def slow(text: str) -> set[tuple[str, ...]]:
        words = re.findall(r"\w+|[^\w\s]", text)
        return {tuple(words[i : i + 3]) for i in range(max(1, len(words) - 2))} - {()}

    a, b = slow(one), slow(other)
    share = len(a & b) / len(a | b) if a | b else 0.0
    assert similarity(runs(one), runs(other)) == share


@pytest.mark.parametrize(
    ("more", "says"),
    [
        ({"similar": "src/one.py:90-95"}, "has no lines"),
        ({"similar": "src/nothing.py"}, "there is no file"),
        ({"similar": "src/one.py:" + "9" * 5_000}, "there is no file"),
        ({"similar": "src/one.py:\u0663"}, "there is no file"),
        ({"similar": "../../etc/passwd"}, "there is no file"),
        ({"similar": "/etc/passwd"}, "there is no file"),
        ({"similar": "src/one.py", "snippet": "x"}, "not both"),
        ({"snippet": "  "}, "snippet is empty"),
    ],
)
def test_a_sample_that_is_none_is_refused(clones: World, more: Any, says: str) -> None:
    with pytest.raises(UsageError, match=says):
        search(clones, "", **more)


@pytest.mark.shows("ANSWER-PREVIEW")
@given(
    st.lists(
        st.sampled_from(
            ["parse_http(x)", "HTTPParser", "a_bc = 1", "queries.run()", "the Query", "parsed", "p"]
        ),
        min_size=1,
    ),
    st.sampled_from(["parse http", "a_bc", "query", "aBc queries", "parsing"]),
)
def test_a_line_matches_when_one_of_its_terms_is_asked_for(lines: list[str], query: str) -> None:
    asked = Asked.by(analyze(query))
    slow = [i for i, line in enumerate(lines, 1) if asked.worth.keys() & set(terms(line))]
    assert list(preview("\n".join(lines) + "\n", 1, asked).matched) == slow


def test_an_outline_of_a_file_that_was_not_understood_says_so(zoo: World) -> None:
    zoo.write("broken.cs", ")))\n" * 40)
    ways: list[dict[str, Any]] = [{}, {"resolve_mode": "exact", "symbol_label": "Cart"}]
    for asked in ways:
        answer: Any = file_outline(zoo.index, zoo.root, "broken.cs", **asked)
        assert any(w.startswith("OUTLINE_PROBLEM:syntax line 1") for w in answer["warnings"])
