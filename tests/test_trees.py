"""The segments of a tree follow its index, and say what they do not speak of."""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest

from holdfast import trees
from holdfast.app import App
from holdfast.cli.main import main
from holdfast.files.snapshot import Stat, stamp_of
from holdfast.index.code_index import run_here
from holdfast.sequence.segment_store import SegmentStore
from holdfast.sequence.tokens.lexer import CODE_ONLY, LexerOptions
from holdfast.trees import no_progress, segment_store_of, update_segments
from tests.index.wire import manage_index
from tests.scale import seeds
from tests.sequence.trees import open_tree


@pytest.fixture
def app(tmp_path: Path) -> App:
    return App(home=tmp_path / "home")


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    root.mkdir()
    (root / "a.py").write_text("def first(): return 1\n")
    (root / "b.py").write_text("def second(): return 2\n")
    return root


def act(app: App, action: str, root: Path, **options: object) -> str:
    index = app.open_index()
    index.start = run_here
    try:
        return str(manage_index(index, action, str(root), **options)["status"])  # type: ignore[arg-type]
    finally:
        index.close()


def paths(app: App, root: Path, options: LexerOptions = CODE_ONLY) -> set[str]:
    """What the segments on disk hold, without a look at the tree."""
    return set(segment_store_of(app.home.sequence, root.resolve(), options).known())


def texts(store: SegmentStore) -> dict[str, str | None]:
    return {path: store.digest(path) for path in store.known()}


@pytest.mark.shows("SEQ-FILES", "SEQ-FRESH")
def test_an_index_makes_the_segments_and_a_sync_keeps_them_fresh(app: App, tree: Path) -> None:
    assert act(app, "create", tree) == "ok"
    assert paths(app, tree) == {"a.py", "b.py"}
    (tree / "a.py").unlink()
    (tree / "c.py").write_text("def third(): return 3\n")
    assert act(app, "sync", tree) == "ok"
    assert paths(app, tree) == {"b.py", "c.py"}
    count = app.open_tree(tree, CODE_ONLY, no_progress).segments.corpus.count([b"third", b"("])
    assert count == 1


@pytest.mark.shows("SEQ-LARGE-LATER")
def test_a_large_tree_gets_its_segments_from_the_first_query_and_a_sync_keeps_them_fresh(
    app: App, tree: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(trees, "CREATED_BYTES_MAX", 1)
    assert act(app, "create", tree) == "ok"
    assert paths(app, tree) == set()
    assert set(app.open_tree(tree, CODE_ONLY, no_progress).files) == {"a.py", "b.py"}
    assert paths(app, tree) == {"a.py", "b.py"}
    (tree / "a.py").unlink()
    assert act(app, "sync", tree) == "ok"
    assert paths(app, tree) == {"b.py"}


@pytest.mark.shows("SEQ-FRESH")
def test_the_watcher_of_an_index_keeps_the_segments_fresh(app: App, tree: Path) -> None:
    index = app.open_index()
    index.start, index.watches = run_here, True
    follow, followed = index.published, threading.Event()

    def published(root: str, snapshot: object) -> None:
        follow(root, snapshot)  # type: ignore[arg-type]
        if "new.py" in paths(app, tree):
            followed.set()

    index.published = published
    try:
        assert manage_index(index, "create", str(tree))["status"] == "ok"
        assert index.watchers[str(tree)].ready.wait(20)
        (tree / "new.py").write_text("def fresh(): ...\n")
        assert followed.wait(20), "the watcher did not bring the segments along"
    finally:
        index.close()


@pytest.mark.shows("SEQ-FILES")
def test_an_indexed_tree_is_looked_at_by_the_rules_of_its_index(app: App, tree: Path) -> None:
    (tree / "odd.zork").write_text("zork zork zork\n")
    act(app, "create", tree, custom_extensions=[".zork"], ignore_patterns=["b.py"])
    assert paths(app, tree) == {"a.py", "odd.zork"}
    assert set(app.open_tree(tree, CODE_ONLY, no_progress).files) == {"a.py", "odd.zork"}


@pytest.mark.shows("SEQ-FRESH")
def test_other_readings_follow_only_where_somebody_asked(app: App, tree: Path) -> None:
    act(app, "create", tree)
    with_comments = LexerOptions(comments=True)
    assert not segment_store_of(app.home.sequence, tree, with_comments).directory.exists()
    app.open_tree(tree, with_comments, no_progress)
    (tree / "c.py").write_text("# third\n")
    act(app, "sync", tree)
    assert "c.py" in paths(app, tree, with_comments)


def test_segments_that_cannot_be_written_do_not_fail_the_index(app: App, tree: Path) -> None:
    app.home.make()
    app.home.sequence.write_text("in the way")
    assert act(app, "create", tree) == "ok"
    assert act(app, "status", tree) == "ok"


def test_what_was_not_searched_is_said(
    app: App, tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    (tree / "huge.py").write_bytes(b"x = 1\n" * 200_000)
    monkeypatch.setenv("HOLDFAST_HOME", str(app.home))
    assert main(["locate", "second", "--path", str(tree)]) == 0
    assert "not searched: 1 too large" in capsys.readouterr().err
    assert main(["clones", str(tree), "--json"]) == 0
    assert '"notSearched"' in capsys.readouterr().out


def test_a_file_the_reader_cannot_open_counts_as_unreadable(tree: Path, tmp_path: Path) -> None:
    """Root may read everything, so the file becomes a directory between the look and the read."""
    store = segment_store_of(tmp_path / "sequence", tree)
    opened = open_tree(tree, tmp_path / "sequence", CODE_ONLY, no_progress, time.time_ns)
    (tree / "b.py").unlink()
    (tree / "b.py").mkdir()
    unreadable: set[str] = set()
    update_segments(store, tree, opened.files, unreadable, time.time_ns(), no_progress)
    assert unreadable == {"b.py"}
    assert set(store.known()) == {"a.py"}


@pytest.mark.shows("SEQ-FRESH")
def test_a_write_in_the_tick_of_the_look_is_seen_by_the_next(tree: Path, tmp_path: Path) -> None:
    """The size and the times stay as they were; only the nearness of the look tells."""
    stat = (tree / "a.py").stat()
    clock: Callable[[], int] = lambda: max(stat.st_mtime_ns, stat.st_ctime_ns)  # noqa: E731
    open_tree(tree, tmp_path / "s", CODE_ONLY, no_progress, clock)
    (tree / "a.py").write_text("def other(): return 1\n")
    store = segment_store_of(tmp_path / "s", tree)
    # As if the file system's clock had not moved on.
    store._touched["a.py"] = (stat.st_size, stamp_of_now(tree / "a.py"))
    found = {"a.py": stat_of(tree / "a.py"), "b.py": stat_of(tree / "b.py")}
    update_segments(store, tree, found, set(), clock(), no_progress)
    assert store.corpus.count([b"other"]) == 1


def stat_of(path: Path) -> Stat:
    seen = path.stat()
    return Stat(seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)


def stamp_of_now(path: Path) -> int:
    return stamp_of(stat_of(path))


@pytest.mark.parametrize("seed", seeds(3))
def test_after_any_edits_the_segments_are_those_of_a_fresh_look(
    app: App, tree: Path, tmp_path: Path, seed: int
) -> None:
    rng = random.Random(seed)
    act(app, "create", tree)
    for _ in range(6):
        for _ in range(rng.randint(1, 4)):
            file = tree / f"f{rng.randrange(5)}.py"
            if file.exists() and rng.random() < 0.3:
                file.unlink()
            else:
                file.write_text("".join(f"x{rng.randrange(9)} = {n}\n" for n in range(5)))
        act(app, "sync", tree)
        fresh = open_tree(
            tree, tmp_path / f"twin-{rng.random()}", CODE_ONLY, no_progress, time.time_ns
        )
        kept = segment_store_of(app.home.sequence, tree)
        assert texts(kept) == texts(fresh.segments), f"seed {seed}"


@pytest.mark.shows("SEQ-NEWER-KEPT")
def test_segments_of_a_newer_version_are_kept_and_the_answer_is_the_same(
    app: App, tree: Path
) -> None:
    """They were rebuilt, so the newer version lost them."""
    assert act(app, "create", tree) == "ok"
    store = segment_store_of(app.home.sequence, tree.resolve(), CODE_ONLY)
    manifest = json.loads((store.directory / "manifest.json").read_text())
    del manifest["check"]
    manifest["format"] += 1
    manifest["check"] = crc32(json.dumps(manifest, sort_keys=True).encode())
    (store.directory / "manifest.json").write_text(json.dumps(manifest))
    before = {path.name: path.read_bytes() for path in store.directory.glob("*[0-9nt]")}
    (tree / "a.py").write_text("def third(): return 3\n")
    opened = app.open_tree(tree, CODE_ONLY, no_progress)
    assert set(opened.segments.known()) == {"a.py", "b.py"}
    assert opened.segments.directory != store.directory
    assert act(app, "sync", tree) == "ok"
    assert {path.name: path.read_bytes() for path in store.directory.glob("*[0-9nt]")} == before
