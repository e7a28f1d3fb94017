"""A tree on disk: what is taken, what is left out, and what cannot be read."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.files import disk, mounts, names
from holdfast.files.ignore import Rules, RuleStack
from holdfast.files.moved import moved
from holdfast.files.policy import Policy, language_of, unfit
from holdfast.files.snapshot import Entry, Snapshot, compare, compressed, covered

NOW = 2_000_000_000_000_000_000


def make(root: Path, **files: str) -> None:
    for name, text in files.items():
        write(root, name, text)


def write(root: Path, name: str, text: str = "x = 1\n") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return path


def taken(root: Path, policy: Policy | None = None) -> list[str]:
    return sorted(disk.walk(str(root), policy).stats)


def look(root: str, now_ns: int, before: Snapshot | None = None) -> tuple[Snapshot, disk.Walk]:
    """A snapshot made as a sync makes it: walk, then read the files that may have changed."""
    before = before or Snapshot({}, 0)
    found = disk.walk(root)
    todo, _ = moved(before, found.stats)
    entries = {k: e for k, e in before.entries.items() if k in found.stats and k not in todo}
    entries |= {k: e for k, e in before.entries.items() if covered(k, found.unreadable)}
    for key in todo:
        try:
            source, stat = disk.read_file(root, key)
        except FileNotFoundError:
            continue
        entries[key] = Entry(stat, disk.digest(source))
    return Snapshot(entries, now_ns, compressed(found.unreadable)), found


@pytest.mark.shows("FILES-KINDS")
def test_kinds_are_told_by_name(tmp_path: Path) -> None:
    for name in ("a.py", "b.PNG", "Dockerfile.dev", "Makefile", "readme", "x.weird", "c.tar.gz"):
        write(tmp_path, name)
    assert taken(tmp_path) == ["Dockerfile.dev", "Makefile", "a.py", "readme"]
    assert taken(tmp_path, Policy(custom_extensions=("weird",))) == [
        "Dockerfile.dev", "Makefile", "a.py", "readme", "x.weird",
    ]  # fmt: skip
    assert [language_of(n) for n in ("a.py", "A.TSX", "Dockerfile.dev", "z")] == [
        "python", "tsx", "dockerfile", "text",
    ]  # fmt: skip


@pytest.mark.shows("FILES-DEFAULTS")
def test_default_exclusions_can_be_brought_back_except_version_control(tmp_path: Path) -> None:
    for name in ("node_modules/a.js", "build/b.py", ".git/c.py", "src/.env", "ok.py"):
        write(tmp_path, name)
    assert taken(tmp_path) == ["ok.py"]
    write(tmp_path, ".holdfastignore", "!build/\n!.git/\n")
    assert taken(tmp_path) == [".holdfastignore", "build/b.py", "ok.py"]


@pytest.mark.shows("FILES-IGNORE-LAYERS")
def test_deeper_rules_win_and_ours_win_over_gits(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    write(tmp_path, ".git/info/exclude", "secret.py\n")
    write(tmp_path, ".gitignore", "*.gen.py\ndata/\n")
    write(tmp_path, "pkg/.gitignore", "!keep.gen.py\nlocal.py\n")
    write(tmp_path, "pkg/.holdfastignore", "!local.py\n")
    for name in ("secret.py", "a.gen.py", "pkg/keep.gen.py", "pkg/b.gen.py", "pkg/local.py",
                 "data/x.py", "main.py"):  # fmt: skip
        write(tmp_path, name)
    python = [name for name in taken(tmp_path) if name.endswith(".py")]
    assert python == ["main.py", "pkg/keep.gen.py", "pkg/local.py"]


@pytest.mark.shows("FILES-IGNORE-LAYERS")
def test_rules_above_the_root_hold_in_it(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    write(tmp_path, ".gitignore", "/sub/out.py\n*.tmp.py\n")
    for name in ("sub/out.py", "sub/a.tmp.py", "sub/in.py"):
        write(tmp_path, name)
    assert taken(tmp_path / "sub") == ["in.py"]


@pytest.mark.shows("FILES-IGNORE-LAYERS")
def test_a_linked_worktree_keeps_the_repositorys_excludes(tmp_path: Path) -> None:
    main = tmp_path / "main"
    write(main, "a.py")
    git = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-C", str(main)]
    subprocess.run(["git", "init", "-q", main], check=True)
    subprocess.run([*git, "add", "-A"], check=True)
    subprocess.run([*git, "commit", "-qm", "x"], check=True)
    subprocess.run([*git, "worktree", "add", "-q", tmp_path / "tree"], check=True)
    write(main, ".git/info/exclude", "private.py\n")
    write(tmp_path / "tree", "private.py")
    assert taken(tmp_path / "tree") == ["a.py"]


@pytest.mark.shows("FILES-SIZE-BINARY")
def test_large_files_are_not_opened_and_binary_or_minified_ones_are_unfit(tmp_path: Path) -> None:
    large = write(tmp_path, "huge.py")
    with large.open("r+b") as file:
        file.truncate(500 * 1024 * 1024)  # A sparse file; reading it would take half a gigabyte.
    found = disk.walk(str(tmp_path))
    assert found.stats == {}
    assert found.skipped["large"] == 1
    assert unfit(b"a\0b") == "binary"
    assert unfit(b"var a=1;" * 2000) == "minified"
    assert unfit(b"x = 1\n" * 2000) is None


@pytest.mark.shows("FILES-LINKS")
def test_links_are_not_followed_not_even_in_circles(tmp_path: Path) -> None:
    write(tmp_path, "src/a.py")
    (tmp_path / "src" / "loop").symlink_to(tmp_path)
    (tmp_path / "b.py").symlink_to(tmp_path / "src" / "a.py")
    (tmp_path / "etc").symlink_to("/etc")
    found = disk.walk(str(tmp_path))
    assert sorted(found.stats) == ["src/a.py"]
    assert found.skipped["symlink"] == 3
    with pytest.raises(OSError, match=r".*"):
        disk.read_file(str(tmp_path), "b.py")


@pytest.mark.shows("FILES-LINKS")
@pytest.mark.parametrize("told", [True, False])
def test_a_folder_that_became_a_link_is_not_read_through(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, told: bool
) -> None:
    """Only the last step was guarded: a folder swapped for a link between listing and reading let
    files from outside the tree into its index."""
    if not told:  # As on a system that does not say which file was opened.
        monkeypatch.setattr(os, "readlink", lambda path: "")
    root = tmp_path / "tree"
    write(root, "src/deep/a.py", "inside\n")
    write(tmp_path, "outside/deep/a.py", "outside\n")
    assert disk.read_file(str(root), "src/deep/a.py")[0] == b"inside\n"
    (root / "src").rename(tmp_path / "away")
    (root / "src").symlink_to(tmp_path / "outside")
    with pytest.raises(OSError, match=r".*"):
        disk.read_file(str(root), "src/deep/a.py")


@pytest.mark.shows("FILES-LINKS")
def test_a_root_that_is_a_link_or_the_top_can_be_read_from(tmp_path: Path) -> None:
    write(tmp_path, "tree/a.py", "here\n")
    (tmp_path / "link").symlink_to(tmp_path / "tree")
    assert disk.read_file(str(tmp_path / "link"), "a.py")[0] == b"here\n"
    key = str(tmp_path.resolve() / "tree" / "a.py")[1:]
    assert disk.read_file("/", key)[0] == b"here\n"


@pytest.mark.shows("FILES-LINKS")
@pytest.mark.parametrize("key", ["a\0.py", "\ud800.py"])
def test_a_key_that_no_file_has_is_an_ordinary_failure(tmp_path: Path, key: str) -> None:
    with pytest.raises(OSError, match="no file has such a name"):
        disk.read_file(str(tmp_path), key)


@pytest.mark.shows("FILES-LINKS")
def test_pipes_are_not_opened(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe.py")
    assert disk.walk(str(tmp_path)).skipped["special"] == 1
    with pytest.raises(OSError, match="not a regular file"):
        disk.read_file(str(tmp_path), "pipe.py")


@pytest.mark.shows("FILES-HOSTILE-NAMES")
def test_odd_names_are_taken_or_counted(tmp_path: Path) -> None:
    write(tmp_path, "line\nbreak.py")
    write(tmp_path, "späce é.py")
    write(tmp_path, "back\\slash.py")
    Path(os.fsdecode(os.fsencode(tmp_path) + b"/bad\xff.py")).write_text("x")
    found = disk.walk(str(tmp_path))
    assert sorted(found.stats) == ["line\nbreak.py", "späce é.py"]
    assert found.skipped["unnameable"] == 2


@pytest.mark.long
@pytest.mark.shows("FILES-HOSTILE-DEEP")
def test_a_tree_deeper_than_any_path_can_say(tmp_path: Path) -> None:
    """Ten thousand levels: the names beyond the system's limit are unreadable, nothing breaks."""
    here = os.open(tmp_path, os.O_RDONLY)
    try:
        for _ in range(10_000):
            os.mkdir("d", dir_fd=here)
            below = os.open("d", os.O_RDONLY, dir_fd=here)
            os.close(here)
            here = below
        os.close(os.open("x.py", os.O_CREAT | os.O_WRONLY, dir_fd=here))
    finally:
        os.close(here)
    write(tmp_path, "a.py")
    found = disk.walk(str(tmp_path))
    assert list(found.stats) == ["a.py"]
    assert len(found.unreadable) == 1
    subprocess.run(["rm", "-rf", tmp_path / "d"], check=True)


@pytest.mark.shows("FILES-VANISHING")
def test_a_file_that_vanishes_during_the_look_is_simply_gone(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, **{"a.py": "1", "b.py": "2"})
    walked = disk.walk

    def walk_then_delete(root: str, policy: Policy | None = None) -> disk.Walk:
        found = walked(root, policy)
        (tmp_path / "b.py").unlink()
        return found

    monkeypatch.setattr(disk, "walk", walk_then_delete)
    snapshot, _ = look(str(tmp_path), NOW)
    assert list(snapshot.entries) == ["a.py"]


@pytest.mark.shows("FILES-MISSING-ROOT")
def test_a_root_that_is_not_there_is_said_to_be_missing(tmp_path: Path) -> None:
    write(tmp_path, "file.py")
    for path in (tmp_path / "gone", tmp_path / "file.py"):
        with pytest.raises(disk.TreeMissing):
            disk.walk(str(path))


@pytest.mark.shows("FILES-UNREADABLE")
def test_what_cannot_be_read_is_kept_not_deleted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    make(tmp_path, **{"a.py": "1", "sub/b.py": "2", "sub/deep/c.py": "3", "subject.py": "4"})
    before, _ = look(str(tmp_path), NOW)
    scandir = os.scandir

    def refuse(path: str) -> object:
        if str(path).endswith("/sub"):
            raise PermissionError(13, "no")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)
    (tmp_path / "subject.py").unlink()
    after, _ = look(str(tmp_path), NOW + 10, before=before)
    changes = compare(before, after)
    assert changes.removed == ("subject.py",)
    assert set(after.entries) == {"a.py", "sub/b.py", "sub/deep/c.py"}
    assert after.unreadable == {"sub"}


@pytest.mark.shows("FILES-STAT-FIRST")
def test_a_look_reads_only_what_moved(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make(tmp_path, **{"a.py": "1", "b.py": "2"})
    before, _ = look(str(tmp_path), NOW)
    read: list[str] = []
    real = disk.read_file

    def note(root: str, key: str) -> object:
        read.append(key)
        return real(root, key)

    monkeypatch.setattr(disk, "read_file", note)
    again, _ = look(str(tmp_path), NOW, before=before)
    assert read == []
    assert again.entries == before.entries
    os.utime(tmp_path / "a.py", ns=(5, 5))
    touched, _ = look(str(tmp_path), NOW, before=again)
    assert read == ["a.py"]
    assert compare(again, touched).touched == ("a.py",)
    assert not compare(again, touched)
    look(str(tmp_path), NOW, before=touched)
    assert read == ["a.py"], "a touch is settled by one look"


@pytest.mark.shows("FILES-RACY")
def test_a_write_in_the_same_tick_as_the_look_is_found(tmp_path: Path) -> None:
    """Same size, same times: only the age of the look tells that it may be too young to trust."""
    path = write(tmp_path, "a.py", "one")
    stat = path.stat()
    before, _ = look(str(tmp_path), stat.st_mtime_ns + 1)
    path.write_text("two")
    os.utime(path, ns=(stat.st_atime_ns, stat.st_mtime_ns))
    after, _ = look(str(tmp_path), stat.st_mtime_ns + 2, before=before)
    assert compare(before, after).modified == ("a.py",)


@pytest.mark.shows("FILES-RENAMES")
def test_renames_are_recognised_by_content(tmp_path: Path) -> None:
    make(tmp_path, **{"a.py": "one", "old/b.py": "two", "c.py": "two"})
    before, _ = look(str(tmp_path), NOW)
    (tmp_path / "new").mkdir()
    (tmp_path / "old/b.py").rename(tmp_path / "new/b.py")
    (tmp_path / "c.py").unlink()
    after, _ = look(str(tmp_path), NOW, before=before)
    changes = compare(before, after)
    assert changes.renamed == (("old/b.py", "new/b.py"),)
    assert changes.removed == ("c.py", "old/b.py")


def test_an_empty_snapshot_has_everything_to_add(tmp_path: Path) -> None:
    make(tmp_path, **{"a.py": "1"})
    after, _ = look(str(tmp_path), NOW)
    assert compare(Snapshot({}, 0), after).added == ("a.py",)


@pytest.mark.shows("FILES-MOUNTS")
def test_another_file_system_is_not_entered_and_not_taken_for_deleted(tmp_path: Path) -> None:
    write(tmp_path, "a.py")
    write(tmp_path, "disk of mine/b.py")
    link = tmp_path.with_name("linked-" + tmp_path.name)
    link.symlink_to(tmp_path)
    before, _ = look(str(tmp_path), NOW)
    mount = ["mount", "-t", "tmpfs", "none", str(tmp_path / "disk of mine")]
    if subprocess.run(mount, capture_output=True, check=False).returncode:
        pytest.skip("this system does not let us mount")
    try:
        write(tmp_path, "disk of mine/c.py")
        for root in (tmp_path, link):
            found = disk.walk(f"{root}/")
            assert sorted(found.stats) == ["a.py"]
            assert found.unreadable == {"disk of mine"}
            assert found.skipped["mount"] == 1
        after, _ = look(str(tmp_path), NOW, before=before)
        assert compare(before, after).removed == ()
    finally:
        subprocess.run(["umount", str(tmp_path / "disk of mine")], check=True)
    assert taken(tmp_path) == ["a.py", "disk of mine/b.py"]


@pytest.mark.shows("FILES-MOUNTS")
def test_mount_points_are_read_as_the_system_writes_them() -> None:
    table = (
        "22 27 0:21 / /proc rw,relatime - proc proc rw\n"
        "30 27 8:1 /x /mnt/my\\040disk\\134one rw shared:7 - ext4 /dev/sda1 rw\n"
        "a line of another kind\n"
    )
    assert mounts.mount_points(table) == {"/proc", "/mnt/my disk\\one"}


def test_output_folders_are_left_out_unless_they_stand_among_sources(tmp_path: Path) -> None:
    """A package called build, target or out was never indexed, wherever it stood."""
    for name in ("build/a.py", "packages/x/dist/b.js", "src/build/c.py", "internal/target/d.go"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    assert set(disk.walk(str(tmp_path)).stats) == {"src/build/c.py", "internal/target/d.go"}
    (tmp_path / ".gitignore").write_text("*.log\n")
    found = set(disk.walk(str(tmp_path)).stats)
    assert "build/a.py" in found, "rules for git name what tools write"
    assert "packages/x/dist/b.js" not in found
    (tmp_path / ".gitignore").write_text("build/\n!src/build/\n!dist/\n")
    found = set(disk.walk(str(tmp_path)).stats)
    assert "build/a.py" not in found
    assert {"packages/x/dist/b.js", "src/build/c.py"} <= found


def test_scripts_without_an_extension_are_taken(tmp_path: Path) -> None:
    """bin/deploy with a shebang was never indexed."""
    files = {
        "bin/deploy": b"#!/usr/bin/env bash\necho hi\n",
        "common": b"# shell functions\nsay_hello() {\n  echo hi\n}\n",
        "bin/tool": b"\x7fELF\0\0",
        "data/numbers": b"1 2 3\n",
        "notes": b"just words\n",
        "deep/run": b"#!/bin/sh\n",
        "share/completions/rsync": b"# completion for rsync   -*- shell-script -*-\n\nshopt -s x\n",
        "contrib/words": b"a list -*- shell-script -*-\n",
    }
    for name, data in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(data)
    (tmp_path / "deep/run").chmod(0o755)
    assert set(disk.walk(str(tmp_path)).stats) == {
        "bin/deploy", "common", "deep/run", "share/completions/rsync"
    }  # fmt: skip


@pytest.mark.shows("FILES-KINDS")
@pytest.mark.parametrize(
    ("name", "kind", "why"),
    [
        ("a.py", names.FILE, None),
        ("a.png", names.FILE, "kind"),
        ("out.py", names.FILE, "ignored"),
        ("known.xyz", names.FILE, None),
        ("other.py", names.FILE, "kind"),
        ("back\\slash.py", names.FILE, "unnameable"),
        ("\udcff.py", names.FILE, "unnameable"),
        ("a.py", names.LINK, "symlink"),
        ("src", names.DIRECTORY, None),
        (".git", names.DIRECTORY, "ignored"),
        ("out.py", names.DIRECTORY, "ignored"),
        ("back\\slash", names.DIRECTORY, "unnameable"),
    ],
)
def test_a_name_is_kept_or_left_out_for_one_reason(name: str, kind: str, why: str | None) -> None:
    rules = RuleStack().with_rules(Rules(["out.py"]), drop=0)
    known = names.Decided({"known.xyz"}, set(), {"other.py": "kind"})
    assert names.reason_left_out(name, name, kind, known, frozenset({".py"}), rules) == why


@pytest.mark.parametrize(
    "change",
    [
        lambda path: path.write_text("longer than before"),
        lambda path: os.utime(path, ns=(0, 1)),
        lambda path: path.unlink(),
        lambda path: (path.unlink(), path.mkdir()),
    ],
    ids=["longer", "other time", "removed", "a directory"],
)
@pytest.mark.parametrize("changed", ["top.py", "src/a.py", "src/deep/b.py"])
def test_the_times_of_a_walk_hold_until_any_file_changes(
    tmp_path: Path, changed: str, change: Callable[[Path], object]
) -> None:
    for path in ("top.py", "src/a.py", "src/z.py", "src/deep/b.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    found = disk.walk(str(tmp_path)).stats
    assert disk.tree_holds(str(tmp_path), found)
    assert disk.stats_hold(str(tmp_path), found.items())
    change(tmp_path / changed)
    assert not disk.tree_holds(str(tmp_path), found)
    assert not disk.stats_hold(str(tmp_path), found.items())
