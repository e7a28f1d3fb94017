"""Repositories without a checkout: brought in from git objects, whole or not at all."""

from __future__ import annotations

import asyncio
import itertools
import os
import shutil
import socket
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import httpx2
import pytest
from mcp import MCPError

from holdfast import repositories
from holdfast.app import App
from holdfast.cli.main import main
from holdfast.errors import UsageError
from holdfast.files.git import Repository, protocol_of
from holdfast.files.identity import Unidentified
from holdfast.files.remotes import shown
from holdfast.home import Home
from holdfast.index.code_index import run_here
from holdfast.index.search.retrieval import retrieve
from holdfast.index.tools import search
from holdfast.index.tools.manage import manage_index
from holdfast.index.tools.search import search_code
from holdfast.mcp.sdk_server import READERS_TOOLS
from holdfast.repositories import GitTree, Repositories, RepositoryError
from holdfast.repository_names import path_of, readable
from holdfast.store.passes import make_pass, principal_of
from holdfast.web.compose import keeping_repositories
from tests.files.hostile_git import VECTORS, HostileRepository, git
from tests.index.shared.team import made_repository
from tests.mcp.agents import Machine, Web, call, text_of


@pytest.fixture
def origin(tmp_path: Path) -> Path:
    return made_repository(tmp_path / "origin")


@pytest.fixture
def bare(origin: Path, tmp_path: Path) -> Path:
    git(tmp_path, "clone", "-q", "--bare", str(origin), str(tmp_path / "shop.git"))
    return tmp_path / "shop.git"


def files(tree: GitTree) -> dict[str, str]:
    root = Path(tree.root)
    return {str(p.relative_to(root)): p.read_text() for p in sorted(root.rglob("*")) if p.is_file()}


def of_commit(root: Path) -> dict[str, str]:
    """What git itself says is in the commit that is checked out."""
    listed = subprocess.run(
        ["git", "-C", root, "ls-tree", "-r", "-z", "--name-only", "HEAD"],
        capture_output=True, text=True, check=True,
    ).stdout  # fmt: skip
    shown = ("git", "-C", str(root), "show")
    return {
        name: subprocess.run([*shown, f"HEAD:{name}"], capture_output=True, text=True).stdout
        for name in filter(None, listed.split("\0"))
    }


def commit(root: Path, name: str, text: str) -> None:
    (root / name).write_text(text)
    git(root, "add", ".")
    git(root, "commit", "-qm", name)


@pytest.mark.shows("TEAM-GIT-OBJECTS")
def test_a_commit_is_brought_in_and_followed(tmp_path: Path, origin: Path, bare: Path) -> None:
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(str(bare))
    assert files(tree) == of_commit(origin)
    assert tree.name == "example.org/team/shop"
    commit(origin, "new.py", "def brand_new(): ...\n")
    (origin / "src" / "prices.py").unlink()
    (origin / "src" / "cart.py").unlink()
    (origin / "src" / "cart.py").mkdir()
    commit(origin, "src/cart.py/inner.py", "def inner(): ...\n")
    git(origin, "push", "-q", str(bare), "main")
    again = repositories.add(str(bare))
    assert files(again) == of_commit(origin)
    assert again.root == tree.root
    assert again.commit != tree.commit
    assert repositories.update(again) == again
    assert [one.commit for one in repositories.known()] == [again.commit]
    repositories.forget(again)
    assert repositories.known() == []
    assert not os.path.exists(again.root)


@pytest.mark.shows("TEAM-GIT-BAD")
def test_what_cannot_be_brought_in_is_named_and_changes_nothing(
    tmp_path: Path, origin: Path, bare: Path
) -> None:
    repositories = Repositories(Home(tmp_path / "home"))
    for source, said in (
        (str(tmp_path / "nothing"), "is not a git repository"),
        ("ext::sh -c id", "cannot be fetched"),
        ("https+x://h/r", "cannot be fetched"),
        ("ftp://h/r", "cannot be fetched"),
    ):
        with pytest.raises((RepositoryError, UsageError), match=said):
            repositories.add(source)
    with pytest.raises(RepositoryError, match="has no ref gone"):
        repositories.add(str(bare), "gone")
    with pytest.raises(UsageError, match="not a ref"):
        repositories.add(str(bare), "--upload-pack=id")
    (tmp_path / "empty").mkdir()
    git(tmp_path / "empty", "init", "-q", "--bare")
    with pytest.raises(RepositoryError, match="no commits"):
        repositories.add(str(tmp_path / "empty"))
    git(origin, "push", "-q", str(bare), "main:topic")
    tree = repositories.add(str(bare), "topic")
    before = files(tree)
    git(bare, "update-ref", "-d", "refs/heads/topic")
    with pytest.raises(RepositoryError, match=f"the index of commit {tree.commit[:12]} stays"):  # type: ignore[index]
        repositories.update(tree)
    # Another history under the same ref.
    other = made_repository(tmp_path / "other", {"a.py": "def other(): ...\n"})
    git(other, "push", "-q", "--force", str(bare), "main:topic")
    with pytest.raises(RepositoryError, match="rewritten history"):
        repositories.update(tree)
    # Objects that vanish while they are read.
    git(bare, "update-ref", "-d", "refs/heads/topic")
    commit(origin, "late.py", "def late(): ...\n")
    git(origin, "push", "-q", str(bare), "main:topic")
    name = subprocess.run(
        ["git", "-C", bare, "rev-parse", "topic:late.py"], capture_output=True, text=True
    ).stdout.strip()
    loose = bare / "objects" / name[:2] / name[2:]
    loose.unlink()
    with pytest.raises(RepositoryError, match="1 object of the commit cannot be read"):
        repositories.update(tree)
    assert files(tree) == before
    assert repositories.known()[0].commit == tree.commit


@pytest.mark.shows("TEAM-GIT-BAD")
def test_a_branch_and_a_tag_of_one_name_are_not_guessed(tmp_path: Path, origin: Path) -> None:
    """With a new tag of its name, a branch was not followed any more."""
    repositories = Repositories(Home(tmp_path / "home"))
    git(origin, "branch", "v1")
    tree = repositories.add(str(origin), "v1")
    git(origin, "tag", "-a", "-m", "first", "v1", "v1")
    git(origin, "tag", "v2")
    git(origin, "branch", "v2/next")
    assert repositories.update(tree) == tree, "the tag is of the same commit"
    git(origin, "checkout", "-q", "refs/heads/v1", "-B", "v1")
    commit(origin, "new.py", "def brand_new(): ...\n")
    with pytest.raises(RepositoryError, match="a branch and a tag v1") as refused:
        repositories.update(tree)
    assert f"the index of commit {str(tree.commit)[:12]} stays" in str(refused.value)
    assert "refs/heads/v1" in refused.value.hint
    assert files(repositories.add(str(origin), "refs/heads/v1")) == of_commit(origin)
    assert "new.py" not in files(repositories.add(str(origin), "refs/tags/v1"))
    assert repositories.add(str(origin), "v2").commit == tree.commit


@pytest.mark.shows("TEAM-GIT-BAD")
def test_a_ref_that_vanishes_or_moves_during_a_build_leaves_the_commit_that_was_asked_for(
    tmp_path: Path, origin: Path, bare: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The commit is decided once, and all of it is read."""
    repositories = Repositories(Home(tmp_path / "home"))
    git(origin, "push", "-q", str(bare), "main:topic")
    wanted = of_commit(origin)
    commit(origin, "late.py", "def late(): ...\n")
    real, pending = Repository.commit, list[Callable[[], object]]()

    def changing(self: Repository, name: str) -> str | None:
        found = real(self, name)
        if "topic" in name and pending:
            pending.pop()()
        return found

    monkeypatch.setattr(Repository, "commit", changing)
    pending.append(lambda: git(bare, "update-ref", "-d", "refs/heads/topic"))
    tree = repositories.add(str(bare), "topic")
    assert (files(tree), pending) == (wanted, []), "the ref was removed meanwhile"
    git(origin, "push", "-q", "--force", str(bare), "main~1:refs/heads/topic")
    pending.append(lambda: git(origin, "push", "-q", str(bare), "main:topic"))
    again = repositories.update(tree)
    assert (again.commit, files(again), pending) == (tree.commit, wanted, []), "it moved meanwhile"
    assert "late.py" in files(repositories.update(tree))


@pytest.mark.shows("TEAM-GIT-BAD")
def test_a_shallow_clone_is_brought_in_and_its_end_is_no_rewritten_history(
    tmp_path: Path, origin: Path
) -> None:
    commit(origin, "new.py", "def brand_new(): ...\n")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{origin}", str(tmp_path / "shallow"))
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(str(tmp_path / "shallow"))
    assert files(tree) == of_commit(origin)
    git(tmp_path / "shallow", "fetch", "-q", "--unshallow")
    assert repositories.update(tree).commit == tree.commit
    assert files(tree) == of_commit(origin)


@pytest.mark.shows("TEAM-GIT-BAD")
def test_links_submodules_pointers_and_bad_names_are_left_out_and_counted(tmp_path: Path) -> None:
    root = made_repository(tmp_path / "odd", {"a.py": "def a(): ...\n"})
    (root / "link.py").symlink_to("/etc/passwd")
    (root / "big.bin").write_bytes(b"x" * (1024 * 1024 + 1))
    (root / "model.bin").write_text("version https://git-lfs.github.com/spec/v1\noid sha256:0\n")
    git(root, "add", ".")
    git(root, "update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    git(root, "commit", "-qm", "odd")
    tree = Repositories(Home(tmp_path / "home")).add(str(root))
    assert sorted(files(tree)) == ["a.py", "model.bin"]
    assert {"links": 1, "submodules": 1, "large files": 1}.items() <= tree.skipped.items()
    assert "LFS" in tree.sentence()

    # A tree that leaves its directory, as only a crafted one can.
    def made(*arguments: str, given: str = "") -> str:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, text=True, check=True)
        return done.stdout.strip()

    blob = made("hash-object", "-w", "--stdin", given="evil")
    inner = made("mktree", given=f"100644 blob {blob}\tconfig\n")
    bad = made("mktree", given=f"040000 tree {inner}\t.git\n100644 blob {blob}\tok.py\n")
    crafted = made("-c", "user.name=t", "-c", "user.email=t@t", "commit-tree", "-m", "x", bad)
    git(root, "update-ref", "refs/heads/crafted", crafted)
    tree = Repositories(Home(tmp_path / "home")).add(str(root), "crafted")
    assert sorted(files(tree)) == ["ok.py"]
    assert tree.skipped == {"unusable names": 1}


@pytest.mark.shows("TEAM-GIT-BAD")
@pytest.mark.parametrize("how", ["long", "deep", "file and folder", "folder and file", "twice"])
def test_a_commit_that_no_disk_can_hold_does_not_take_the_repository_away(
    tmp_path: Path, how: str
) -> None:
    """Writing it failed halfway, and from then on the repository was "being updated"."""
    root = made_repository(tmp_path / "odd", {"a.py": "def a(): ...\n", "z.py": "def z(): ...\n"})
    repositories = Repositories(Home(tmp_path / "home"))
    before = repositories.add(str(root))

    def asked(*arguments: str, given: bytes = b"") -> str:
        command = ["git", "-C", str(root), *arguments]
        done = subprocess.run(command, input=given, capture_output=True, check=True)
        return done.stdout.decode().strip()

    def made(*entries: tuple[str, str, str]) -> str:
        raw = (f"{mode} {name}\0".encode() + bytes.fromhex(of) for mode, name, of in entries)
        tree = b"".join(raw)
        return asked("hash-object", "-t", "tree", "--literally", "-w", "--stdin", given=tree)

    blob, folder = asked("rev-parse", "HEAD:a.py"), asked("rev-parse", "HEAD^{tree}")
    deep = folder
    for _ in range(50):
        deep = made(("40000", "d" * 99, deep))
    odd = {
        "long": [("100644", "l" * 300, blob)],
        "deep": [("40000", "l", deep)],
        "file and folder": [("100644", "l.py", blob), ("40000", "l.py", folder)],
        "folder and file": [("40000", "l.py", folder), ("100644", "l.py", blob)],
        "twice": [("100644", "l.py", blob), ("100644", "l.py", blob)],
    }[how]
    tree = made(*odd, ("100644", "new.py", blob), ("100644", "z.py", blob))
    user = ("-c", "user.name=t", "-c", "user.email=t@t")
    commit_name = asked(*user, "commit-tree", "-m", "x", "-p", "HEAD", tree)
    git(root, "update-ref", "HEAD", commit_name)
    after = repositories.update(before)
    assert after.commit == commit_name
    assert "a.py" not in files(after)
    assert {"new.py", "z.py"} <= files(after).keys()
    assert after.objects.keys() == files(after).keys()
    assert after.skipped["unusable names"] == (2 if how in ("deep", "file and folder") else 1)


@pytest.mark.shows("TEAM-GIT-BAD")
def test_a_pointer_that_stays_as_it_is_is_still_counted(tmp_path: Path) -> None:
    """After the next commit the answers no longer said that contents are missing."""
    pointer = "version https://git-lfs.github.com/spec/v1\noid sha256:0\n"
    root = made_repository(tmp_path / "odd", {"a.py": "def a(): ...\n", "model.py": pointer})
    repositories = Repositories(Home(tmp_path / "home"))
    first = repositories.add(str(root))
    commit(root, "a.py", "def other(): ...\n")
    second = repositories.update(first)
    assert first.skipped == second.skipped != {}
    commit(root, "model.py", "def a_model(): ...\n")
    assert repositories.update(second).skipped == {}


@pytest.mark.shows("TEAM-GIT-OBJECTS")
def test_an_interrupted_update_is_completed_also_by_a_ref_that_moved_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The files that were replaced already counted as those of the commit before."""
    root = made_repository(tmp_path / "odd", {"a.py": "def a(): ...\n"})
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(str(root))
    (root / "b.py").write_text("def b(): ...\n")
    commit(root, "a.py", "def changed(): ...\n")
    save = Repositories._save

    def interrupted(self: Repositories, tree: GitTree) -> None:
        if tree.commit is not None:
            raise KeyboardInterrupt
        save(self, tree)

    with monkeypatch.context() as patched:
        patched.setattr(Repositories, "_save", interrupted)
        with pytest.raises(KeyboardInterrupt):
            repositories.update(tree)
    assert files(tree) == of_commit(root)
    git(root, "reset", "-q", "--hard", "HEAD~1")
    half = repositories.find(str(root), "HEAD")
    assert half is not None
    assert half.commit is None
    repositories.update(half)
    assert files(tree) == of_commit(root)


TREES = {
    "folder": {"a/b.py": "b = 1\n", "k.py": "k = 1\n"},
    "file": {"a": "a = 1\n", "k.py": "k = 1\n"},
    "neither": {"k.py": "k = 1\n"},
}


@pytest.mark.shows("TEAM-GIT-OBJECTS")
@pytest.mark.parametrize("third", TREES)
@pytest.mark.parametrize(("first", "second"), list(itertools.permutations(TREES, 2)))
def test_after_an_interrupted_update_the_next_leaves_the_files_of_its_commit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, first: str, second: str, third: str
) -> None:
    """A removed file counted as present; a folder in place of a file stopped every update."""
    root = made_repository(tmp_path / "odd", TREES[first])

    def change_to(tree: dict[str, str]) -> None:
        git(root, "rm", "-rqf", ".")
        for name, text in tree.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        git(root, "add", "-A")
        git(root, "commit", "-qm", "change", "--allow-empty")

    home = Home(tmp_path / "home")
    tree = Repositories(home).add(str(root))
    change_to(TREES[second])

    def interrupted(*arguments: Any) -> None:
        replace(*arguments)
        raise KeyboardInterrupt

    replace = repositories._replace
    with monkeypatch.context() as patched:
        patched.setattr(repositories, "_replace", interrupted)
        with pytest.raises(KeyboardInterrupt):
            Repositories(home).update(tree)
    change_to(TREES[third])
    assert files(Repositories(home).update(tree)) == TREES[third]


@pytest.mark.shows("TEAM-GIT-OBJECTS")
def test_two_processes_that_update_a_repository_leave_the_files_of_one_commit(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`holdfast serve` and a command may follow a ref at once; the ref moves between them."""
    home = Home(tmp_path / "home")
    before = Repositories(home).add(str(origin))
    commit(origin, "src/a.py", "def first(): ...\n")
    real, later = repositories._replace, list[threading.Thread]()

    def meanwhile(*arguments: Any) -> None:
        if not later:
            commit(origin, "AAA.py", "def second(): ...\n")
            commit(origin, "src/cart.py", "def third(): ...\n")
            later.append(threading.Thread(target=Repositories(home).update, args=(before,)))
            later[0].start()
            later[0].join(0.5)
        real(*arguments)

    monkeypatch.setattr(repositories, "_replace", meanwhile)
    Repositories(home).update(before)
    later[0].join(30)
    now = Repositories(home).known()[0]
    assert files(now) == of_commit(origin)
    # What the caller had read about the tree is old by now.
    commit(origin, "AAA.py", "def fourth(): ...\n")
    assert files(Repositories(home).update(before)) == of_commit(origin)
    git(origin, "reset", "-q", "--hard", str(before.commit))
    assert files(Repositories(home).update(before)) == of_commit(origin)


def test_a_repository_that_was_cleared_meanwhile_stays_cleared(
    tmp_path: Path, origin: Path
) -> None:
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(str(origin))
    repositories.forget(tree)
    commit(origin, "src/a.py", "def first(): ...\n")
    with pytest.raises(RepositoryError, match="was removed meanwhile"):
        repositories.update(tree)
    assert not Path(tree.root).exists()


@pytest.mark.shows("TEAM-GIT-BAD")
def test_a_partial_clone_is_named_as_such(tmp_path: Path, origin: Path) -> None:
    git(origin, "config", "uploadpack.allowFilter", "true")
    partial = tmp_path / "partial"
    git(tmp_path, "clone", "-q", "--bare", "--filter=blob:none", f"file://{origin}", str(partial))
    with pytest.raises(RepositoryError, match="it is a partial clone") as refused:
        Repositories(Home(tmp_path / "home")).add(str(partial))
    assert "the address that it was cloned from" in refused.value.hint


def test_one_thing_that_was_left_out_is_counted_as_one() -> None:
    tree = tree_of("org/shop")
    tree.skipped = {"submodules": 1, "links": 2}
    assert tree.sentence().endswith("left out: 2 links, 1 submodule")


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_commands_name_the_repository_and_the_commit(
    tmp_path: Path,
    origin: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """Of a directory with a hash in its name nobody knows which ref it is of."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_CLI_HOST", "0")
    monkeypatch.delenv("HOLDFAST_INDEX_URL", raising=False)
    named = "example.org/team/shop (main): commit "
    assert main(["index", "create", "--git", str(origin), "--ref", "main"]) == 0
    assert main(["index", "status", "--git", str(origin), "--ref", "main"]) == 0
    assert named in capsys.readouterr().err.splitlines()[-1]
    assert main(["index", "list"]) == 0
    assert named in capsys.readouterr().out
    assert main(["index", "create", "--ref", "main", str(origin)]) == 2
    assert "--ref needs --git" in capsys.readouterr().err


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_a_file_about_a_tree_is_read_again_only_when_it_has_changed(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A server reads the list for every name; with many trees that took seconds."""
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(str(origin))
    reads: list[Path] = []
    real = Path.read_bytes

    def reading(self: Path) -> bytes:
        reads.append(self)
        return real(self)

    monkeypatch.setattr(Path, "read_bytes", reading)
    assert [one.commit for one in repositories.known()] == [tree.commit]
    assert len(reads) == 1
    assert repositories.known() == repositories.known() == [repositories.at(tree.root)]
    assert len(reads) == 1
    commit(origin, "late.py", "def late(): ...\n")
    later = Repositories(Home(tmp_path / "home")).update(tree)
    assert [one.commit for one in repositories.known()] == [later.commit] != [tree.commit]
    Path(f"{tree.root}.tree").write_text("damaged")
    assert repositories.known() == []


def tree_of(name: str, ref: str = "HEAD", source: str = "", first: str | None = None) -> GitTree:
    source = source or f"/srv/{name}"
    return GitTree(
        source=source, ref=ref, name=name, root=f"/home/{source}{ref}", first_commit=first
    )


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_a_name_is_that_of_one_tree_or_refused() -> None:
    """The first of several was taken, by a hash: an old tag could answer for the default branch."""
    head, tag = tree_of("org/shop"), tree_of("org/shop", "v1")
    other = tree_of("org/shop/lib")
    for trees in ([head, tag, other], [tag, other, head]):
        assert path_of(trees, "org/shop") == head.root
        assert path_of(trees, "org/shop/a.py") == f"{head.root}/a.py"
        assert path_of(trees, "org/shop@v1/a.py") == f"{tag.root}/a.py"
        assert path_of(trees, "org/shop/lib/b.py") == f"{other.root}/b.py"
        assert path_of(trees, "org/shopping") is None
    assert path_of([tag], "org/shop") == tag.root
    for pair in (
        [tag, tree_of("org/shop", "feature/x")],
        [head, tree_of("org/shop", source="/srv/elsewhere")],
    ):
        with pytest.raises(UsageError, match="is the name of 2 indexed trees") as refused:
            path_of(pair, "org/shop/a.py")
        assert all(f"{tree.name}@{tree.ref} at {tree.root}" in refused.value.hint for tree in pair)


@pytest.mark.shows("TEAM-GIT-RIGHTS")
def test_a_name_that_two_repositories_have_opens_neither(tmp_path: Path) -> None:
    """A repository that was never pushed is named by its directory alone."""
    one = made_repository(tmp_path / "one" / "config", {"a.py": "def a(): ...\n"})
    two = made_repository(tmp_path / "two" / "config", {"b.py": "def b(): ...\n"})
    for root in (one, two):
        git(root, "remote", "remove", "origin")
    git(one, "branch", "side")
    app = App(tmp_path / "home")
    first = app.repositories().add(str(one))
    app.repositories().add(str(one), "side")
    settings = tmp_path / "home" / "settings.toml"
    settings.write_text('[access.config]\n"did:key:zA" = "READ"\n')
    assert {tree.ref for tree in app.readable_repositories("did:key:zA")} == {"HEAD", "side"}
    app.repositories().add(str(two))
    assert app.readable_repositories("did:key:zA") == []
    settings.write_text(f'[access."{first.source}"]\n"did:key:zA" = "READ"\n')
    assert {tree.source for tree in app.readable_repositories("did:key:zA")} == {first.source}


def test_repositories_of_two_users_over_ssh_are_not_one() -> None:
    """A path over ssh may be in the home of the user: one list opened the files of both."""

    def opened(*sources: str) -> list[GitTree]:
        trees = [tree_of("h.example.org/shop", source=source) for source in sources]
        return readable(trees, {"h.example.org/shop": "anyone"}, lambda acl, _: acl == "anyone")

    alice, bob = "alice@h.example.org:shop.git", "ssh://bob@h.example.org/~/shop"
    assert len(opened(alice)) == 1
    assert opened(alice, bob) == []
    assert opened("https://h.example.org/shop", alice, "bob@h.example.org:shop") == []
    assert len(opened("https://h.example.org/shop", "git@h.example.org:shop.git")) == 2


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_files_that_were_brought_in_but_not_indexed_are_indexed_later(
    tmp_path: Path, origin: Path
) -> None:
    """As after a server that was killed between the two, or an index that was busy."""
    app = App(tmp_path / "home")
    tree = app.repositories().add(str(origin))
    assert app.sync_repositories() == []
    commit(origin, "late.py", "def late(): ...\n")
    app.repositories().update(tree)
    again = App(tmp_path / "home")
    assert again.sync_repositories() == []
    with again.borrow_index() as index:
        record = index.registry.find(tree.root)
        assert record is not None
        with index.backend.reader(tree.root) as reader:
            assert "late.py" in reader.snapshot().entries


@pytest.mark.shows("SEC-GIT-NEVER-RUNS", "TEAM-GIT-OBJECTS")
def test_nothing_of_a_repository_is_run(tmp_path: Path) -> None:
    hostile = HostileRepository(tmp_path / "tree", tmp_path / "proof")
    for vector in VECTORS:
        vector(hostile)
    with suppress(RepositoryError):  # some vectors promise objects that are not there
        Repositories(Home(tmp_path / "home")).add(str(hostile.root))
    assert hostile.executed() == []


@pytest.fixture
def daemon(tmp_path: Path, bare: Path) -> Iterator[str]:
    """The address of a real git server."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    program = shutil.which("git")
    assert program is not None
    started = subprocess.Popen(
        [program, "daemon", "--reuseaddr", "--listen=127.0.0.1", f"--port={port}", "--export-all",
         f"--base-path={tmp_path}", "--informative-errors", "--verbose", str(tmp_path)],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert started.stderr is not None
        assert "Ready" in started.stderr.readline()
        yield f"git://127.0.0.1:{port}/shop.git"
    finally:
        started.terminate()
        started.wait(20)
        assert started.stderr is not None
        started.stderr.close()


@pytest.mark.shows("TEAM-GIT-OBJECTS")
def test_a_server_is_fetched_from(tmp_path: Path, origin: Path, bare: Path, daemon: str) -> None:
    repositories = Repositories(Home(tmp_path / "home"))
    tree = repositories.add(daemon)
    assert files(tree) == of_commit(origin)
    commit(origin, "new.py", "def brand_new(): ...\n")
    git(origin, "push", "-q", str(bare), "main")
    assert files(repositories.update(tree)) == of_commit(origin)
    with pytest.raises(RepositoryError, match=r"gone of git://.* cannot be fetched"):
        repositories.add(daemon, "gone")


@pytest.mark.shows("TEAM-GIT-BAD")
@pytest.mark.parametrize("user", ["me:hunter2", "hunter2"])
def test_a_password_in_an_address_is_not_shown(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch, user: str
) -> None:
    """`holdfast serve` logs these messages."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    address = f"http://{user}@127.0.0.1:1/shop"
    for action in ("create", "status"):
        assert main(["index", action, "--git", address]) != 0
        said = "".join(capsys.readouterr())
        assert "http://…@127.0.0.1:1/shop" in said
        assert "hunter2" not in said
    assert shown("ssh://git:hunter2@h/x") == "ssh://git:…@h/x"
    for as_it_is in ("ssh://git@h/x", "git@h:x", "https://h/a@b", "/srv/x@y"):
        assert shown(as_it_is) == as_it_is


def test_only_known_protocols_are_fetched() -> None:
    fetched = {"https://h/r": "https", "git@h:r": "ssh", "ssh://h/r": "ssh", "h:r": "ssh"}
    assert {one: protocol_of(one) for one in fetched} == fetched
    for other in ("/srv/r", "./r", "r", "ext::sh", "file:///r", "-x:y", "ftp://h/r", "../a:b"):
        assert protocol_of(other) is None


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_the_index_of_a_repository_names_its_commit(tmp_path: Path, bare: Path) -> None:
    app = App(tmp_path / "home")
    tree = app.repositories().add(str(bare))
    assert app.sync_repositories() == []
    with app.borrow_index() as index:
        index.start = run_here
        answer = search_code(index, tree.root, "add item to the cart")
        assert answer.results[0].file == "src/cart.py"
        assert tree.commit is not None
        said = f"REPOSITORY:example.org/team/shop (HEAD): commit {tree.commit[:12]}"
        assert said in answer.warnings
        assert manage_index(index, "status", tree.root).status == "ok"


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_an_answer_names_the_commit_that_it_is_from(
    tmp_path: Path, origin: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The ref moved while a search ranked: its answer was called one of the commit after."""
    app = App(Home(tmp_path / "home"))
    tree = app.repositories().add(str(origin))
    assert app.sync_repositories() == []
    moved: list[GitTree] = []

    def ranked(*arguments: Any) -> Any:
        found = retrieve(*arguments)
        if not moved:
            commit(origin, "src/cart.py", "def brand_new_thing(): ...\n")
            moved.append(app.repositories().update(tree))
        return found

    monkeypatch.setattr(search, "retrieve", ranked)
    with app.borrow_index() as index:
        answer = search_code(index, tree.root, "re:brand_new_thing")
    assert f"REPOSITORY:{moved[0].sentence()}" in answer.warnings
    assert [one.file for one in answer.results] == ["src/cart.py"]


@pytest.mark.shows("TEAM-GIT-OBJECTS")
def test_a_repository_around_the_home_does_not_count(tmp_path: Path, bare: Path) -> None:
    """Its ignore rules left every file out, and the index was called complete."""
    dotfiles = tmp_path / "user"
    dotfiles.mkdir()
    (dotfiles / ".gitignore").write_text("*\n")
    git(dotfiles, "init", "-q")
    git(dotfiles, "add", "-f", ".gitignore")
    git(dotfiles, "commit", "-qm", "begin")
    app = App(Home(dotfiles / ".holdfast"))
    tree = app.repositories().add(str(bare))
    assert app.sync_repositories() == []
    with app.borrow_index() as index:
        found = search_code(index, tree.root, "add_item").results
        assert "src/cart.py" in {one.file for one in found}
        assert isinstance(index.identify(tree.root), Unidentified)


@pytest.mark.shows("TEAM-GIT-SERVED")
def test_holdfast_serve_keeps_repositories_in_sync_and_answers_for_them(
    tmp_path: Path, origin: Path, bare: Path
) -> None:
    other = made_repository(
        tmp_path / "taxes", {"tax.py": "def with_tax(amount):\n    return amount * 1.19\n"}
    )
    git(other, "remote", "set-url", "origin", "git@example.org:team/taxes.git")
    machine = Machine(tmp_path / "machine")
    app = App(machine.home)
    app.repositories().add(str(bare))
    app.repositories().add(str(other))

    async def kept() -> None:
        async with keeping_repositories(app):
            await asyncio.sleep(0)  # It has begun, and ends only when all are up to date.

    asyncio.run(kept())
    with app.borrow_index() as index:
        assert len(index.registry.records()) == 2
    web = Web(machine)

    async def ask() -> None:
        async with web.agent() as agent:
            both = ["example.org/team/shop", "example.org/team/taxes"]
            found = text_of(await call(agent, "search_code", path=both, query="with_tax"))
            assert "tax.py" in found
            assert "example.org/team/taxes (HEAD): commit" in found
            shop = "example.org/team/shop"
            outline = await call(agent, "file_outline", path=shop, file="src/cart.py")
            assert "add_item" in text_of(outline)
            graph = await call(agent, "call_graph", path=shop, symbol="total_price")
            assert "pay" in text_of(graph)
            text = text_of(await call(agent, "read", path=f"{shop}/src/prices.py"))
            assert "def price_of" in text

    try:
        asyncio.run(ask())
    finally:
        web.stop()


@pytest.mark.shows("TEAM-GIT-RIGHTS")
def test_a_pass_opens_the_repositories_that_its_key_may_read_and_nothing_else(
    tmp_path: Path, bare: Path
) -> None:
    other = made_repository(
        tmp_path / "taxes", {"tax.py": "def with_tax(amount):\n    return amount * 1.19\n"}
    )
    git(other, "remote", "set-url", "origin", "git@example.org:team/taxes.git")
    machine = Machine(tmp_path / "machine")
    app = App(machine.home)
    shop = app.repositories().add(str(bare))
    taxes = app.repositories().add(str(other))
    assert app.sync_repositories() == []
    seed = b"k" * 32
    until_ms = app.clock.now_ms() + 3_600_000
    did = make_pass(seed, "x", until_ms).split(".")[1]
    (machine.home / "settings.toml").write_text(
        f'[access."{shop.name}"]\n"{did}" = "READ"\n'
        f'[access."{taxes.name}"]\n"did:key:zX" = "READ"\n'
    )
    assert [tree.name for tree in app.readable_repositories(did)] == [shop.name]
    assert app.readable_repositories("did:key:zOther") == []
    assert len(app.readable_repositories(None)) == 2
    web = Web(machine)
    audience = "holdfast://" + web.url.removeprefix("http://").removesuffix("/mcp")

    async def ask() -> None:
        async with web.agent(credential=f"Pass {make_pass(seed, audience, until_ms)}") as agent:
            listed = {tool.name for tool in (await agent.list_tools()).tools}
            assert listed == READERS_TOOLS
            found = text_of(
                await agent.call_tool("search_code", {"path": shop.name, "query": "add_item"})
            )
            assert "cart.py" in found
            trees = text_of(await agent.call_tool("list_codebases", {}))
            assert shop.root in trees
            assert taxes.root not in trees
            for path in (taxes.root, str(machine.tree), "/etc"):
                refused = await agent.call_tool("search_code", {"path": path, "query": "with_tax"})
                assert refused.is_error
                assert "with_tax(amount)" not in text_of(refused)
            for path in (f"{taxes.root}/tax.py", f"{taxes.name}/tax.py", "/etc/hostname"):
                refused = await agent.call_tool("read", {"path": path})
                assert refused.is_error, path
            for tool in ("memory_get", "manage_index", "locate"):
                with pytest.raises(MCPError, match="a pass does not open"):
                    await agent.call_tool(tool, {})
            assert (await agent.list_resources()).resources == []

    try:
        asyncio.run(ask())
        made = make_pass(seed, audience, until_ms)
        for wrong in (
            make_pass(seed, "holdfast://elsewhere", until_ms),
            make_pass(seed, audience, 1),
            made[:-9] + ("B" if made[-9] == "A" else "A") + made[-8:],
            "hfp1.did.1.x",
        ):
            assert principal_of(wrong, audience, app.clock.now_ms()) is None
            status = httpx2.post(web.url, headers={"authorization": f"Pass {wrong}"}).status_code
            assert status == 401, wrong
        valid = {"authorization": f"Pass {make_pass(seed, audience, until_ms)}"}
        for route in ("/metrics", "/index/get", "/blobs/x", "/api/state"):
            url = web.url.removesuffix("/mcp") + route
            assert httpx2.post(url, headers=valid).status_code == 401, route
    finally:
        web.stop()


def test_a_repository_that_cannot_be_read_opens_no_other_of_its_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One that could not be read once was hidden for good, and its name then led to the other."""
    home = Home(tmp_path / "home")
    for name in ("one", "two"):
        root = tmp_path / name / "shop"
        root.mkdir(parents=True)
        (root / "a.py").write_text(f"{name} = 1\n")
        git(root, "init", "-q")
        git(root, "add", "-A")
        git(root, "commit", "-qm", name)
        Repositories(home).add(str(root))
    repositories = Repositories(home)
    lists = {"shop": "anyone"}

    def opened() -> list[GitTree]:
        return repositories.readable(lists, lambda acl, _: acl == "anyone")

    real, broken = Path.read_bytes, min(home.repositories.glob("*.tree"))

    def failing(self: Path) -> bytes:
        if self == broken:
            raise OSError(24, "Too many open files")
        return real(self)

    with monkeypatch.context() as failed:
        failed.setattr(Path, "read_bytes", failing)
        assert len(repositories.known()) == 1
        assert opened() == []
    assert len(repositories.known()) == 2
    assert opened() == []
    broken.write_bytes(b"damaged")
    assert opened() == []
