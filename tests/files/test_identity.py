"""One repository, many directories: which are the same, and what is said when it is not known."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from holdfast.errors import UsageError
from holdfast.files.identity import (
    Evidence,
    RepositoryIdentity,
    Unidentified,
    decide,
    identify,
    repository_names,
)
from holdfast.files.remotes import normalised, remotes_of
from tests.files.hostile_git import git


def made(root: Path, remote: str | None = None) -> Path:
    root.mkdir(parents=True)
    git(root, "init", "-q", "-b", "main")
    (root / "a.py").write_text(f"# {root.name}\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", f"begin {root.name}")
    if remote is not None:
        git(root, "remote", "add", "origin", remote)
    return root


def known(root: Path, **names: str) -> RepositoryIdentity:
    found = identify(root, names)
    assert isinstance(found, RepositoryIdentity), found
    return found


@pytest.mark.shows("TEAM-IDENTITY-REMOTE")
@pytest.mark.parametrize(
    "address",
    [
        "https://github.com/Org/Repo.git",
        "https://user:secret@github.com/org/repo",
        "git@github.com:org/repo.git",
        "ssh://git@github.com:22/org/repo.git/",
        "git+ssh://github.com/org/repo",
        "https://github.com:443/org/repo?x=1#y",
    ],
)
def test_every_spelling_of_a_remote_is_one_name(address: str) -> None:
    assert normalised(address) == "github.com/org/repo"


@pytest.mark.shows("TEAM-IDENTITY-REMOTE")
def test_hosts_ports_and_the_case_of_paths_tell_repositories_apart() -> None:
    assert normalised("ssh://git@h:2222/a/B") == "h:2222/a/B"
    assert normalised("git@h:a/b") != normalised("git@h:a/B")
    for local in ("/srv/repo", "../repo", "file:///srv/repo", "repo"):
        assert normalised(local) is None
    assert normalised("https:///x") is None
    assert normalised("https://h:notaport/x") is None
    assert normalised("https://h/\x1b[31m") is None


@pytest.mark.shows("TEAM-IDENTITY-REMOTE")
def test_a_configuration_is_read_as_git_writes_it() -> None:
    text = (
        '[core]\n\turl = no\n[remote "up\\"stream"]\n\turl = "a b" # comment\n'
        '\turl = second\n[REMOTE "origin"] URL=git@h:\\\nx/y ; comment\n'
        "# url = z\n[remote]\nurl=q\n"
    )
    assert remotes_of(text) == {'up"stream': "a b", "origin": "git@h:x/y"}


@pytest.mark.shows("TEAM-IDENTITY-REMOTE")
def test_any_configuration_is_read_without_an_error() -> None:
    seed = 7
    dice = random.Random(seed)
    for _ in range(300):
        text = "".join(dice.choice('[]"\\=#;\n remoturl\0é') for _ in range(dice.randrange(60)))
        remotes_of(text), normalised(text)


@pytest.mark.shows("TEAM-IDENTITY-CLONES")
def test_clones_worktrees_and_branches_are_one_repository(tmp_path: Path) -> None:
    first = made(tmp_path / "one", "git@github.com:org/repo.git")
    git(first, "worktree", "add", "-q", "-b", "topic", str(tmp_path / "tree"))
    git(tmp_path, "clone", "-q", str(first), str(tmp_path / "clone"))
    git(tmp_path, "clone", "-q", str(tmp_path / "clone"), str(tmp_path / "again"))
    git(tmp_path, "clone", "-q", "--bare", str(first), str(tmp_path / "bare.git"))
    git(tmp_path, "clone", "-q", str(tmp_path / "bare.git"), str(tmp_path / "of_bare"))
    places = [first, tmp_path / "tree", tmp_path / "clone", tmp_path / "again"]
    found = [known(place) for place in (*places, tmp_path / "of_bare")]
    assert {one.key for one in found} == {found[0].key}
    assert {one.first_commit for one in found} == {found[0].first_commit}
    (first / "sub").mkdir()
    assert known(first / "sub").prefix == "sub/"


@pytest.mark.shows("TEAM-IDENTITY-CLONES")
def test_a_repository_without_a_remote_is_known_by_its_first_commit(tmp_path: Path) -> None:
    first = made(tmp_path / "one")
    git(tmp_path, "clone", "-q", str(first), str(tmp_path / "clone"))
    (tmp_path / "clone" / "b.py").write_text("")
    git(tmp_path / "clone", "add", ".")
    git(tmp_path / "clone", "commit", "-qm", "more")
    one, two = known(first), known(tmp_path / "clone")
    assert one.source == "first commit"
    assert one.key == two.key
    assert one.head != two.head
    moved = tmp_path / "elsewhere"
    first.rename(moved)
    assert known(moved).key == one.key


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_what_is_not_known_is_said(tmp_path: Path) -> None:
    (tmp_path / "plain").mkdir()
    outside = identify(tmp_path / "plain")
    assert isinstance(outside, Unidentified)
    assert "not in a git repository" in outside.why
    (tmp_path / "new").mkdir()
    git(tmp_path / "new", "init", "-q")
    empty = identify(tmp_path / "new")
    assert isinstance(empty, Unidentified)
    assert "no commits" in empty.why


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_a_shallow_clone_is_known_by_its_remote_alone(tmp_path: Path) -> None:
    full = made(tmp_path / "full", "https://example.org/org/repo")
    (full / "b.py").write_text("")
    git(full, "add", ".")
    git(full, "commit", "-qm", "more")
    git(tmp_path, "clone", "-q", "--depth=1", f"file://{full}", str(tmp_path / "shallow"))
    one, two = known(full), known(tmp_path / "shallow")
    assert two.shallow
    assert two.first_commit is None
    assert (one.key, one.agrees(None)) == (two.key, True)
    assert "shallow" in two.sentence()
    git(full, "remote", "remove", "origin")
    nameless = identify(tmp_path / "shallow")
    assert isinstance(nameless, Unidentified)
    assert "--unshallow" in nameless.hint


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_two_repositories_with_one_name_and_a_rewritten_history_do_not_agree(
    tmp_path: Path,
) -> None:
    one = known(made(tmp_path / "one", "git@h:a/b"))
    two = known(made(tmp_path / "two", "git@h:a/b"))
    assert one.key == two.key
    assert not one.agrees(two.first_commit)
    named = known(tmp_path / "two", **{str(tmp_path / "two"): "a/other"})
    assert named.source == "setting"
    assert named.key != one.key


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_a_submodule_is_a_repository_of_its_own(tmp_path: Path) -> None:
    inner = made(tmp_path / "inner", "git@h:a/inner")
    outer = made(tmp_path / "outer", "git@h:a/outer")
    add = ("-c", "protocol.file.allow=always", "submodule", "add", "-q", str(inner), "lib")
    git(outer, *add)
    git(outer, "commit", "-qm", "lib")
    assert known(outer / "lib").name == "h/a/inner"
    assert known(outer).name == "h/a/outer"


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_a_remote_that_leads_in_a_circle_is_no_name(tmp_path: Path) -> None:
    root = made(tmp_path / "one")
    git(root, "remote", "add", "origin", str(root))
    assert known(root).source == "first commit"


def test_the_order_of_evidence() -> None:
    every = Evidence("setting", "h/r", "c1", "c2")
    assert decide(every) == RepositoryIdentity("setting", "setting", "c1", "c2")
    assert decide(Evidence(None, "h/r", None, "c2", shallow=True)) == RepositoryIdentity(
        "h/r", "remote", None, "c2", shallow=True
    )
    assert isinstance(decide(Evidence("setting", "h/r", "c1", None)), Unidentified)


@pytest.mark.shows("TEAM-IDENTITY-BAD")
def test_the_settings_name_repositories(tmp_path: Path) -> None:
    settings = tmp_path / "settings.toml"
    assert repository_names(settings, "/u") == {}
    settings.write_text('[repositories]\n"/srv/x" = " team/x "\n"~/y" = "y"\n')
    assert repository_names(settings, "/u") == {"/srv/x": "team/x", "/u/y": "y"}
    for bad in ("repositories = 3", '[repositories]\n"x" = "y"', '[repositories]\n"/x" = 3'):
        settings.write_text(bad)
        with pytest.raises(UsageError):
            repository_names(settings, "/u")
