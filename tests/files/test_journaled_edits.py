"""An edit of several files is whole or not there, wherever its process ends.

A twin of two dictionaries judges: the tree before the edit and the tree after it.
"""

from __future__ import annotations

import errno
import os
import random
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

from holdfast.errors import HoldfastError, UsageError
from holdfast.files.edit_journal import DamagedJournal
from holdfast.files.edit_recovery import Ask, Interrupted
from holdfast.files.journaled_edits import JournaledEdits, UnsettledEdit

BEFORE = {"a.py": b"old a\n", "in/b.py": b"old b\n", "in/deep/c.py": b"old c\n"}
AFTER = {path: text.replace(b"old", b"new") for path, text in BEFORE.items()}
OTHER = b"mine\n"


class Killed(BaseException):
    """The process ended: no later step is made either."""


class Kill:
    """Ends the process before its n-th step."""

    def __init__(self, at: int) -> None:
        self.at, self.steps = at, list[tuple[str, str]]()

    def __call__(self, name: str, path: str) -> None:
        if len(self.steps) >= self.at:
            raise Killed
        self.steps.append((name, path))


class Fail:
    """Fails at a step with an error of the system, as often as it is made."""

    def __init__(self, name: str, path: str, code: int = errno.ENOSPC) -> None:
        self.name, self.path, self.code = name, path, code

    def __call__(self, name: str, path: str) -> None:
        if name == self.name and path.endswith(self.path):
            raise OSError(self.code, os.strerror(self.code), path)


class Tree:
    """A tree and a home."""

    def __init__(self, tmp_path: Path) -> None:
        self.root, self.home = tmp_path / "tree", tmp_path / "home" / "edits"
        self.fill(BEFORE)

    def fill(self, texts: dict[str, bytes]) -> None:
        for path, text in texts.items():
            (self.root / path).parent.mkdir(parents=True, exist_ok=True)
            (self.root / path).write_bytes(text)

    def texts(self) -> dict[str, bytes]:
        """Every file that is there, also those that should not be."""
        files = (path for path in self.root.rglob("*") if path.is_file())
        return {path.relative_to(self.root).as_posix(): path.read_bytes() for path in files}

    def edits(self, step: Callable[[str, str], None] = lambda name, path: None) -> JournaledEdits:
        return JournaledEdits(self.home, step)

    def write(self, step: Callable[[str, str], None] = lambda name, path: None) -> None:
        self.edits(step).write(str(self.root), BEFORE, AFTER)

    def kill(self, at: int) -> bool:
        """Whether the process came to that step."""
        try:
            self.write(Kill(at))
        except Killed:
            return True
        return False

    def kill_between(self) -> None:
        """End the process after the first of three files."""
        kill = Kill(1_000)
        kill_at = 0

        def step(name: str, path: str) -> None:
            nonlocal kill_at
            if (name, path) == ("replace", "in/b.py"):
                kill.at = 0
            kill(name, path)

        with pytest.raises(Killed):
            self.write(step)

    def journals(self) -> list[Path]:
        return sorted(self.home.glob("*.journal"))

    @property
    def pending(self) -> list[Interrupted | DamagedJournal]:
        return self.edits().interrupted()


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path)


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_an_edit_that_ends_at_any_step_is_whole_or_not_there_after_the_next(tree: Tree) -> None:
    """It stopped between two files: a part of the tree was renamed, and nothing said so."""
    said = set()
    for at in range(1_000):
        tree.fill(BEFORE)
        if not tree.kill(at):
            break
        between = tree.texts()
        message = tree.edits().recover(str(tree.root))
        said.add(message.partition(" interrupted")[2].split(":")[0])
        texts = tree.texts()
        assert texts in (BEFORE, AFTER), (at, message)
        if any(between.get(path) == text for path, text in AFTER.items()):
            assert texts == AFTER, (at, "a file was written, so all are")
        assert tree.journals() == []
        assert tree.pending == []
    else:
        pytest.fail("the edit never came to its end")
    assert said == {
        "",
        " before it had written any of them; it was dropped",
        "; it is finished now",
        " after it had written all of them",
    }


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_recovery_that_ends_too_is_completed_by_the_next(tree: Tree) -> None:
    rng = random.Random(11)
    for turn in range(50):
        tree.fill(BEFORE)
        if not tree.kill(rng.randrange(24)):
            assert tree.texts() == AFTER
            continue
        for _ in range(rng.randrange(4)):
            try:
                tree.edits(Kill(rng.randrange(12))).recover(str(tree.root))
            except Killed:
                continue
        tree.edits().recover(str(tree.root))
        assert tree.texts() in (BEFORE, AFTER), f"seed 11, turn {turn}"
        assert tree.journals() == []


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_texts_of_others_are_never_written_over(tree: Tree) -> None:
    """Random ends, with changes by others in between, against the twin."""
    rng = random.Random(7)
    asked = 0
    for turn in range(60):
        tree.fill(BEFORE)
        if not tree.kill(rng.randrange(24)):
            continue
        changed = {path: OTHER for path in BEFORE if rng.random() < 0.3}
        tree.fill(changed)
        found = tree.texts()
        journal = tree.journals()
        tree.edits().recover(str(tree.root))
        if journal and changed:
            asked += 1
            assert tree.texts() == found, f"seed 7, turn {turn}: nothing is touched"
            assert tree.journals() == journal
            choice = rng.choice(["finish", "undo"])
            tree.edits().settle(str(tree.root), "finish" if choice == "finish" else "undo")
            texts = AFTER if choice == "finish" else BEFORE
            assert tree.texts() == {**texts, **changed}, f"seed 7, turn {turn}"
        else:
            ours = {path: text for path, text in tree.texts().items() if path not in changed}
            for path, text in changed.items():
                assert (tree.root / path).read_bytes() == text
            if not changed:
                assert ours in (BEFORE, AFTER), f"seed 7, turn {turn}"
        assert tree.journals() == []
        for left in tree.root.rglob("*.holdfast-*"):  # the journal had not been written yet
            left.unlink()
    assert asked > 10


SCRIPT = """
import os, signal, sys
from pathlib import Path
from holdfast.files.journaled_edits import JournaledEdits
from tests.files.test_journaled_edits import AFTER, BEFORE
left = int(sys.argv[1])
def step(name, path):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)
JournaledEdits(Path(sys.argv[3]), step).write(sys.argv[2], BEFORE, AFTER)
"""


@pytest.mark.shows("EDIT-INTERRUPTED")
@pytest.mark.parametrize("at", [2, 9, 12, 13, 14, 17])
def test_a_killed_process_leaves_an_edit_that_the_next_one_completes(at: int, tree: Tree) -> None:
    root = Path(__file__).resolve().parents[2]
    killed = subprocess.run(
        [sys.executable, "-c", SCRIPT, str(at), str(tree.root), str(tree.home)],
        cwd=root,
        check=False,
        timeout=60,
    )
    assert killed.returncode == -9
    tree.edits().recover(str(tree.root))
    assert tree.texts() in (BEFORE, AFTER)
    assert tree.journals() == []
    if tree.texts() == BEFORE:
        tree.write()
    assert tree.texts() == AFTER


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_the_next_edit_completes_an_interrupted_one_and_then_writes(tree: Tree) -> None:
    tree.kill_between()
    assert [path for path, text in tree.texts().items() if text == AFTER.get(path)] == ["a.py"]
    newer = {path: text + b"more\n" for path, text in AFTER.items()}
    tree.edits().write(str(tree.root), AFTER, newer)
    assert tree.texts() == newer
    assert tree.journals() == []


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_file_that_others_changed_keeps_every_edit_of_several_files_waiting(tree: Tree) -> None:
    tree.kill_between()
    tree.fill({"in/b.py": OTHER, "free.py": b"1\n"})
    found, root = tree.texts(), str(tree.root)
    said = tree.edits().recover(root)
    assert "not written: in/deep/c.py; written: a.py; changed since: in/b.py" in said
    assert f"holdfast edit recover --path {root} --finish (or --undo)" in said
    one = {"free.py": b"2\n"}
    for before, after in ((BEFORE, AFTER), ({"a.py": AFTER["a.py"]}, {"a.py": b"x"})):
        with pytest.raises(UnsettledEdit, match="interrupted"):
            tree.edits().write(root, before, after)
    assert tree.texts() == found
    assert tree.journals() != []
    tree.edits().write(root, {"free.py": b"1\n"}, one)  # it is not part of that edit
    assert tree.texts() == {**found, **one}
    [pending] = tree.pending
    assert isinstance(pending, Interrupted)
    assert pending.plan == Ask(("in/b.py",))
    assert "finished: wrote in/deep/c.py; left as it is: in/b.py changed since" in (
        tree.edits().settle(root, "finish")
    )
    assert tree.texts() == {**AFTER, "in/b.py": OTHER, **one}
    assert tree.edits().settle(root, "undo") == ""


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_the_journal_of_a_tree_that_was_moved_is_kept_until_it_is_back(tree: Tree) -> None:
    tree.kill_between()
    root, moved = str(tree.root), tree.root.parent / "moved"
    tree.root.rename(moved)
    for choice in ("finish", "undo"):
        with pytest.raises(UsageError, match="is not there; nothing was written"):
            tree.edits().settle(root, choice)
    assert tree.journals()
    moved.rename(tree.root)
    assert tree.edits().settle(root, "undo") == "undone: wrote a.py"
    assert tree.texts() == BEFORE
    assert tree.journals() == []


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_file_that_is_gone_or_unreadable_is_not_guessed(tree: Tree) -> None:
    tree.kill_between()
    (tree.root / "a.py").unlink()
    outside = tree.root.parent / "outside"
    (tree.root / "in").rename(outside)
    (tree.root / "in").symlink_to(outside)  # the folder is now a link out of the tree
    found = {path.name: path.read_bytes() for path in outside.rglob("*.py")}
    root = str(tree.root)
    said = tree.edits().recover(root)
    assert "is gone: a.py" in said
    assert "cannot be read: in/b.py, in/deep/c.py" in said
    with pytest.raises(UsageError, match="not every file can be read"):
        tree.edits().settle(root, "finish")
    with pytest.raises(HoldfastError):
        tree.write()
    assert {path.name: path.read_bytes() for path in outside.rglob("*.py")} == found
    assert tree.edits().forget(root) == "forgotten: every file stays as it is"
    assert tree.pending == []


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_no_file_is_written_through_a_link_out_of_the_tree(tree: Tree) -> None:
    outside = tree.root.parent / "outside"
    (tree.root / "in").rename(outside)
    (tree.root / "in").symlink_to(outside)
    found = sorted(outside.rglob("*"))
    with pytest.raises(UsageError, match=r"in/b\.py changed; nothing was written"):
        tree.write()
    assert (tree.root / "a.py").read_bytes() == BEFORE["a.py"]
    assert sorted(outside.rglob("*")) == found
    assert tree.journals() == []


@pytest.mark.shows("EDIT-ALL-OR-NONE")
@pytest.mark.parametrize(
    ("name", "path"),
    [
        ("write journal", ".part"),
        ("sync journal", ".part"),
        ("name journal", ".journal"),
        ("stage", "a.py"),
        ("stage", "c.py"),
        ("sync staged", "b.py"),
        ("replace", "a.py"),
        ("replace", "c.py"),
        ("sync folder", "deep"),
    ],
)
def test_a_full_disk_at_any_step_leaves_every_file_as_it_was(
    name: str, path: str, tree: Tree
) -> None:
    with pytest.raises((OSError, HoldfastError), match="No space left"):
        tree.write(Fail(name, path))
    if name != "sync folder":  # then the old texts are synced as well, which fails too
        assert tree.texts() == BEFORE
        assert tree.journals() == []
    tree.edits().recover(str(tree.root))
    assert tree.texts() == BEFORE
    assert list(tree.home.glob("*.part")) == []
    tree.write()
    assert tree.texts() == AFTER


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_an_edit_that_can_be_neither_written_nor_taken_back_is_named(tree: Tree) -> None:
    full = False

    def step(name: str, path: str) -> None:
        nonlocal full
        full = full or (name, path) == ("replace", "in/b.py")
        if full and name in ("stage", "replace"):
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), path)

    with pytest.raises(UnsettledEdit, match=r"written: a\.py; taking it back failed: No space"):
        tree.write(step)
    with pytest.raises(UnsettledEdit, match="finishing it failed: No space"):
        tree.write(step)
    assert "finished now: wrote in/b.py, in/deep/c.py" in tree.edits().recover(str(tree.root))
    assert tree.texts() == AFTER


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_written_file_that_others_change_before_it_is_taken_back_is_named(tree: Tree) -> None:
    def step(name: str, path: str) -> None:
        if (name, path) == ("replace", "in/b.py"):
            tree.fill({"a.py": OTHER})
            raise OSError(errno.EIO, os.strerror(errno.EIO), path)

    with pytest.raises(UnsettledEdit, match=r"changed since: a\.py"):
        tree.write(step)
    assert tree.texts() == {**BEFORE, "a.py": OTHER}
    assert tree.journals() != []


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_home_that_cannot_be_written_keeps_an_interrupted_edit_waiting(tree: Tree) -> None:
    tree.kill_between()
    root, failing = str(tree.root), Fail("remove journal", tree.root.name, errno.EROFS)
    assert "finishing it failed: Read-only file system" in tree.edits(failing).recover(root)
    assert "after it had written all" in tree.edits().recover(root)
    assert tree.texts() == AFTER


@pytest.mark.shows("EDIT-INTERRUPTED")
@pytest.mark.skipif(not os.path.isdir("/proc/self/fd"), reason="needs /proc")
def test_a_process_that_was_forked_meanwhile_does_not_keep_the_lock(tree: Tree) -> None:
    copies = list[int]()

    def step(name: str, path: str) -> None:
        [lock] = tree.home.glob("*.lock")
        for entry in os.listdir("/proc/self/fd"):
            with suppress(OSError):
                if not copies and os.readlink(f"/proc/self/fd/{entry}") == str(lock):
                    copies.append(os.dup(int(entry)))  # as a child process inherits it

    tree.write(step)
    try:
        assert len(copies) == 1
        newer = dict.fromkeys(BEFORE, OTHER)
        JournaledEdits(tree.home, wait_s=0.0).write(str(tree.root), AFTER, newer)
    finally:
        for one in copies:
            os.close(one)
    assert tree.texts() == newer


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_a_damaged_journal_is_refused_until_it_is_removed(tree: Tree) -> None:
    tree.kill_between()
    [journal] = tree.journals()
    journal.write_bytes(journal.read_bytes()[:-1])
    found, root = tree.texts(), str(tree.root)
    with pytest.raises(DamagedJournal, match="checksum"):
        tree.write()
    with pytest.raises(DamagedJournal, match="checksum"):
        tree.edits().settle(root, "finish")
    assert "holdfast edit recover --forget" in tree.edits().recover(root)
    assert isinstance(tree.pending[0], DamagedJournal)
    assert tree.texts() == found
    tree.edits().write(root, {"a.py": AFTER["a.py"]}, {"a.py": OTHER})  # one file is whole anyway
    tree.edits().forget(root)
    assert tree.pending == []


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_without_a_home_to_write_to_several_files_are_refused_and_one_is_written(
    tree: Tree,
) -> None:
    tree.home.parent.mkdir()
    tree.home.write_text("not a directory")
    with pytest.raises(UsageError, match="nothing was written") as refused:
        tree.write()
    assert "HOLDFAST_HOME" in refused.value.hint
    assert tree.texts() == BEFORE
    one = {"a.py": BEFORE["a.py"]}
    tree.edits().write(str(tree.root), one, {"a.py": AFTER["a.py"]})
    assert (tree.root / "a.py").read_bytes() == AFTER["a.py"]


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_of_edits_at_the_same_time_exactly_one_is_written(tree: Tree) -> None:
    ready, results = threading.Barrier(6), list[int | str]()

    def apply(number: int) -> None:
        ready.wait()
        try:
            after = dict.fromkeys(BEFORE, b"%d\n" % number)
            tree.edits().write(str(tree.root), BEFORE, after)
            results.append(number)
        except HoldfastError as error:
            results.append(str(error))

    threads = [threading.Thread(target=apply, args=(number,)) for number in range(6)]
    for one in threads:
        one.start()
    for one in threads:
        one.join(60)
    [winner] = [one for one in results if isinstance(one, int)]
    assert len(results) == 6
    assert tree.texts() == dict.fromkeys(BEFORE, b"%d\n" % winner)
    assert tree.journals() == []


@pytest.mark.shows("EDIT-INTERRUPTED")
def test_an_edit_that_is_being_written_is_not_called_interrupted(tree: Tree) -> None:
    seen = list[list[Interrupted | DamagedJournal]]()

    def step(name: str, path: str) -> None:
        if name == "replace":
            seen.append(tree.pending)

    tree.write(step)
    assert seen == [[], [], []]


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_files_keep_their_modes_and_journals_are_private(tree: Tree) -> None:
    (tree.root / "a.py").chmod(0o750)
    modes = list[int]()

    def step(name: str, path: str) -> None:
        if name == "stage":
            modes.extend(one.stat().st_mode & 0o777 for one in tree.journals())
            modes.append(tree.home.stat().st_mode & 0o777)

    tree.write(step)
    assert set(modes) == {0o600, 0o700}
    assert (tree.root / "a.py").stat().st_mode & 0o777 == 0o750


@pytest.mark.shows("EDIT-ALL-OR-NONE")
def test_a_file_that_changes_while_others_are_written_takes_all_back(tree: Tree) -> None:
    def step(name: str, path: str) -> None:
        if (name, path) == ("replace", "in/b.py"):
            (tree.root / "in/deep/c.py").write_bytes(OTHER)

    with pytest.raises(UsageError, match=r"in/deep/c\.py changed; nothing was written"):
        tree.write(step)
    assert tree.texts() == {**BEFORE, "in/deep/c.py": OTHER}
    assert tree.journals() == []
