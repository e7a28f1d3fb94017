"""Asking git about repositories that we did not make: it answers, and nothing of theirs is run."""

from __future__ import annotations

import json
import os
import resource
import select
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from holdfast.files import git_process
from holdfast.files.git import SHARED_INDEXES_MAX, open_repository
from tests.files.hostile_git import VECTORS, HostileRepository, git

Vector = Callable[[HostileRepository], None]


@pytest.fixture
def repository(tmp_path: Path) -> HostileRepository:
    return HostileRepository(tmp_path / "tree", tmp_path / "proof")


def status(root: Path) -> bytes | None:
    with open_repository(root) as repo:
        return None if repo is None else repo.status()


@pytest.mark.shows("SEC-GIT-NEVER-RUNS")
@pytest.mark.parametrize("vector", VECTORS, ids=lambda vector: vector.__name__)
def test_nothing_of_a_repository_is_run(repository: HostileRepository, vector: Vector) -> None:
    """`core.fsmonitor` and clean filters of a repository once ran with every search and reindex."""
    vector(repository)
    repository.edit()
    for place in (repository.root, repository.root / "sub", repository.root / "fixtures"):
        if not place.is_dir():
            continue
        with open_repository(place) as repo:
            assert repo is not None
            repo.status()
            commit = repo.commit("HEAD")
            if commit is not None:
                repo.changes_since(commit)
                repo.blob(commit, "a.py")
    assert repository.executed() == []


@pytest.mark.shows("SEC-GIT-NEVER-RUNS")
def test_the_vectors_do_run_when_git_is_asked_plainly(repository: HostileRepository) -> None:
    """Otherwise the test above would show nothing."""
    for vector in VECTORS:
        if vector.__name__ not in {"other_work_tree", "promised_objects"}:
            vector(repository)
    repository.edit()
    run = ["git", "-c", "safe.directory=*", "-C"]
    subprocess.run([*run, repository.root, "status"], capture_output=True, check=False)
    subprocess.run([*run, repository.root, "diff"], capture_output=True, check=False)
    subprocess.run([*run, repository.root / "fixtures", "status"], capture_output=True, check=False)
    assert {"fsmonitor", "included", "clean", "external"} & set(repository.executed())


@pytest.mark.long
@pytest.mark.shows("SEC-GIT-NEVER-RUNS")
def test_no_command_runs_anything_of_a_repository(
    repository: HostileRepository, tmp_path: Path
) -> None:
    for vector in VECTORS:
        vector(repository)
    repository.edit()
    environment = {
        "HOLDFAST_HOME": str(tmp_path / "home"),
        "PATH": os.environ["PATH"],
        "HOME": str(tmp_path),
        "GIT_EXTERNAL_DIFF": repository.payload("environment"),
    }
    for arguments in (
        ["index", "create"],
        ["index", "reindex"],
        ["index", "sync"],
        ["index", "status"],
        ["search", "def a"],
        ["outline", "a.py"],
        ["calls", "a"],
        ["locate", "return 1"],
        ["clones", "--since", "HEAD"],
        ["read", "a.py"],
        ["doctor"],
        ["status"],
    ):
        subprocess.run(
            [sys.executable, "-m", "holdfast", *arguments],
            cwd=repository.root, env=environment, capture_output=True, check=False, timeout=120,
        )  # fmt: skip
    assert repository.executed() == []


def test_a_git_of_the_working_directory_is_not_used(
    repository: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    fake = repository.root / "git"
    fake.write_text(f"#!/bin/sh\n{repository.payload('path')}\n")
    fake.chmod(0o755)
    monkeypatch.chdir(repository.root)
    monkeypatch.setenv("PATH", f".{os.pathsep}{os.environ['PATH']}")
    status(repository.root)
    assert repository.executed() == []


def test_status_is_what_git_says(repository: HostileRepository) -> None:
    repository.edit()
    (repository.root / "new é.py").write_text("new\n")
    plain = ["git", "-C", os.fspath(repository.root), "--no-optional-locks", "status"]
    flags = ["--porcelain", "-z", "--no-renames", "--untracked-files=all"]
    said = subprocess.run([*plain, *flags], capture_output=True, check=True).stdout
    assert status(repository.root) == said
    assert b"new" in said


def test_names_are_below_the_directory_that_was_asked(repository: HostileRepository) -> None:
    (repository.root / "sub" / "c.py").write_text("changed\n")
    with open_repository(repository.root / "sub") as repo:
        assert repo is not None
        commit = repo.commit("HEAD")
        assert commit is not None
        assert repo.prefix == "sub/"
        changes = repo.changes_since(commit)
        assert changes is not None
        assert changes.differing == {"c.py"}
        assert "c.py" in changes
        assert "new.py" in changes, "git does not know it, so it is new"
        git(repository.root, "checkout", "-q", "sub/c.py")
        again = repo.changes_since(commit)
        assert again is not None
        assert "c.py" not in again
        assert repo.blob(commit, "sub/c.py") == b"def c():\n    return 1\n"


def test_a_linked_work_tree_is_a_repository(repository: HostileRepository, tmp_path: Path) -> None:
    git(repository.root, "worktree", "add", "-q", str(tmp_path / "linked"), "-b", "other")
    (tmp_path / "linked" / "a.py").write_text("linked\n")
    assert status(tmp_path / "linked") == b" M a.py\0"
    with open_repository(tmp_path / "linked") as repo:
        assert repo is not None
        assert repo.commit("master") or repo.commit("main")


def test_a_repository_with_sha256_names_is_read(tmp_path: Path) -> None:
    root = tmp_path / "tree"
    root.mkdir()
    git(root, "init", "-q", "--object-format=sha256")
    (root / "a.py").write_text("a = 1\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "a")
    (root / "a.py").write_text("a = 2\n")
    assert status(root) == b" M a.py\0"


def test_a_repository_without_commits_has_a_status_and_no_commit(tmp_path: Path) -> None:
    git(tmp_path, "init", "-q")
    (tmp_path / "a.py").write_text("a = 1\n")
    with open_repository(tmp_path) as repo:
        assert repo is not None
        assert repo.status() == b"?? a.py\0"
        assert repo.commit("HEAD") is None


def test_a_split_index_is_read(repository: HostileRepository) -> None:
    git(repository.root, "update-index", "--split-index")
    repository.edit()
    assert status(repository.root) == b" M a.py\0"


@pytest.mark.parametrize("name", ["HEAD", "packed-refs", "config"])
def test_a_pipe_in_place_of_a_file_of_git_does_not_block(
    repository: HostileRepository, name: str
) -> None:
    path = repository.root / ".git" / name
    path.unlink(missing_ok=True)
    os.mkfifo(path)
    with open_repository(repository.root) as repo:
        if repo is not None:
            repo.status(timeout_s=2.0)


def test_a_pipe_in_place_of_the_index_is_no_repository(repository: HostileRepository) -> None:
    """git waited for it until its deadline, once for each question."""
    (repository.root / ".git" / "index").unlink()
    os.mkfifo(repository.root / ".git" / "index")
    with open_repository(repository.root) as repo:
        assert repo is None


def test_few_parts_of_an_index_are_shown_to_git(repository: HostileRepository) -> None:
    """A link was made to each, and removed again, for every question; pipes were among them."""
    own = repository.root / ".git"
    for number in range(3 * SHARED_INDEXES_MAX):
        (own / f"sharedindex.{number:040x}").touch()
    os.mkfifo(own / f"sharedindex.{'f' * 40}")
    with open_repository(repository.root) as repo:
        assert repo is not None
        linked = list(repo.git_directory.glob("sharedindex.*"))
        assert len(linked) == SHARED_INDEXES_MAX
        assert all(link.is_file() for link in linked)


def test_a_pipe_among_the_ignore_rules_does_not_hold_up_a_comparison(
    repository: HostileRepository,
) -> None:
    """git waited for a pipe named `.gitignore` until its deadline, and `clones --since` failed."""
    (repository.root / "sub" / ".gitignore").unlink(missing_ok=True)
    os.mkfifo(repository.root / "sub" / ".gitignore")
    repository.edit()
    with open_repository(repository.root) as repo:
        assert repo is not None
        commit = repo.commit("HEAD")
        assert commit is not None
        changes = repo.changes_since(commit)
        assert changes is not None
        assert changes.differing == {"a.py"}


def test_a_file_that_was_only_touched_does_not_differ(repository: HostileRepository) -> None:
    """It did, unless git had to look at it anyway because it was as new as the index."""
    os.utime(repository.root / "b.py", (1_700_000_000, 1_700_000_000))
    (repository.root / "sub" / "c.py").write_text("def c():\n    return 2\n")
    (repository.root / "a.py").write_text("def a():\n    return 2\n")
    git(repository.root, "add", "a.py")
    for place, differing in ((".", {"a.py", "sub/c.py"}), ("sub", {"c.py"})):
        with open_repository(repository.root / place) as repo:
            assert repo is not None
            changes = repo.changes_since(repo.commit("HEAD") or "")
            assert changes is not None
            assert changes.differing == differing


def test_an_answer_that_unfolds_to_gigabytes_is_not_used(
    repository: HostileRepository, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("holdfast.files.git_process.ANSWER_BYTES_MAX", 1 << 20)
    (repository.root / "zeros.py").write_bytes(bytes(8 << 20))
    git(repository.root, "add", "zeros.py")
    git(repository.root, "commit", "-qm", "zeros")
    with open_repository(repository.root) as repo:
        assert repo is not None
        assert repo.blob("HEAD", "zeros.py") is None
        assert repo.blob("HEAD", "b.py") == b"def b():\n    return 1\n"


def test_a_git_file_that_leads_nowhere_is_not_a_repository(tmp_path: Path) -> None:
    (tmp_path / ".git").write_text("gitdir: " + "x" * 10_000_000)
    assert status(tmp_path) is None
    (tmp_path / ".git").write_text("gitdir: missing")
    assert status(tmp_path) is None


def test_nothing_is_written_into_a_repository(repository: HostileRepository) -> None:
    repository.edit()
    before = _state(repository.root / ".git")
    status(repository.root)
    assert _state(repository.root / ".git") == before


def _state(root: Path) -> str:
    return json.dumps(
        sorted((str(p), p.stat().st_mtime_ns, p.stat().st_size) for p in root.rglob("*"))
    )


@pytest.mark.shows("SEC-FROZEN-GIT")
@pytest.mark.parametrize("how", ["KILL", "STOP"])
def test_a_git_that_is_killed_or_stopped_is_an_answer_that_is_missing(
    repository: HostileRepository, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    programs = tmp_path / "programs"
    programs.mkdir()
    (programs / "git").write_text(f"#!/bin/sh\nkill -{how} $$\n")
    (programs / "git").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:{os.environ['PATH']}")
    with open_repository(repository.root) as repo:
        assert repo is not None
        assert repo.status(timeout_s=0.2) is None


@pytest.mark.shows("SEC-FROZEN-GIT")
@pytest.mark.skipif(sys.platform != "linux", reason="only Linux can limit another process")
def test_a_git_whose_caller_was_killed_ends_by_itself(tmp_path: Path) -> None:
    """A killed host left behind a git that a hostile ignore rule kept busy for hours."""
    program, started = tmp_path / "git", tmp_path / "started"
    os.mkfifo(started)
    program.write_text(f"#!/bin/sh\necho $$ > {started}\nwhile :; do :; done\n")
    program.chmod(0o755)
    ask = (
        f"from holdfast.files import git_process; git_process.output([{str(program)!r}], {{}}, 1.0)"
    )
    with subprocess.Popen([sys.executable, "-c", ask]) as caller:
        pid = int(started.read_text())  # waits for the program to write
        ended = os.pidfd_open(pid)
        while caller.poll() is None and resource.prlimit(pid, resource.RLIMIT_CPU)[0] < 0:
            os.sched_yield()  # the caller has not gone on since it started the program
        caller.kill()
    assert select.select([ended], [], [], 120)[0] == [ended]
    os.close(ended)


def test_what_git_started_ends_with_its_time_even_if_git_ended_before() -> None:
    """A child that kept the output open was waited for."""
    program = ["/bin/sh", "-c", "(sleep 20; echo late) & echo early"]
    assert git_process.output(program, {"PATH": os.defpath}, 0.5) == b"early\n"


@pytest.mark.shows("SEC-GIT-EXIT-CODE")
@pytest.mark.parametrize("code", [0, 1])
def test_a_lost_exit_code_of_git_is_not_success(code: int) -> None:
    """Below a parent that ignores SIGCHLD, `impact --since nosuchrev` was answered: the exit codes
    of children are lost there, and a lost one was taken for 0."""
    program = ["/bin/sh", "-c", f"echo printed; exit {code}"]
    assert git_process.output(program, {}, 60) == (None if code else b"printed\n")
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        assert git_process.output(program, {}, 60) is None
    finally:
        signal.signal(signal.SIGCHLD, before)


@pytest.mark.shows("SEC-GIT-EXIT-CODE")
def test_a_command_reads_exit_codes_also_if_its_parent_ignores_them(tmp_path: Path) -> None:
    script = (
        "import signal, sys\n"
        "from holdfast.cli.start import run\n"
        "sys.argv = ['holdfast', '--version']\n"
        "assert signal.getsignal(signal.SIGCHLD) == signal.SIG_IGN\n"
        "run()\n"
        "sys.exit(signal.getsignal(signal.SIGCHLD) != signal.SIG_DFL)\n"
    )
    before = signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    try:
        caller = subprocess.Popen(
            [sys.executable, "-c", script], stdout=subprocess.PIPE, env={"HOME": str(tmp_path)}
        )
    finally:
        signal.signal(signal.SIGCHLD, before)
    with caller:
        caller.communicate(timeout=60)
    assert caller.returncode == 0
