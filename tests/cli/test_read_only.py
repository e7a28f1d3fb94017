"""A home that this user may look at and not change."""

import ctypes
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast.index.errors import BackendUnavailable
from holdfast.index.generations.sqlite import tables
from holdfast.index.generations.sqlite.readonly import frozen, is_frozen
from holdfast.store.copies import copy_of
from holdfast.store.errors import StoreFailed
from tests import fork_server
from tests.cli.test_memory import Terminal, run
from tests.hindered import obey_permissions
from tests.scale import first_in_quick

__all__ = ["run"]

SHOP = "def total(cart):\n    return sum(price(item) for item in cart) + shipping(cart)\n\n\n"


NEW_NAMESPACE, PRIVATE, BIND, READ_ONLY = 0x20000, 0x44000, 0x1000, 0x1021


class Hindered:
    """How processes are kept from writing to a home."""

    def __init__(self, home: Path, how: str) -> None:
        self.home, self.how = home, how

    def __call__(self) -> None:
        system = ctypes.CDLL(None, use_errno=True)
        if self.how == "permissions":
            obey_permissions()
            return
        home = os.fsencode(self.home)
        done = [
            system.unshare(NEW_NAMESPACE),
            system.mount(None, b"/", None, PRIVATE, None),
            system.mount(home, home, None, BIND, None),
            system.mount(None, home, None, READ_ONLY, None),  # and remount, and bind
        ]
        if any(done):
            raise OSError(ctypes.get_errno(), "nothing may be mounted here")


HINDERED: list[Hindered] = []


def command(*words: str) -> tuple[int, str, str]:
    if HINDERED[-1].how == "permissions":
        done = fork_server.run(*words, hindered=True)
        return done.returncode, done.stdout, done.stderr
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *words],
        capture_output=True, text=True, check=False, preexec_fn=HINDERED[-1],
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture(params=first_in_quick(["permissions", "mount"]))
def home(run: Terminal, tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A home with a space, an index and segments, all of it read-only."""
    shop = tmp_path / "shop"
    shop.mkdir()
    for name in ("a", "b"):
        (shop / f"{name}.py").write_text(f"# {name}\n" + SHOP * 3)
    run("memory", "set", "note:a", '{"n": 1}')
    run("index", "create", str(shop))
    home = tmp_path / "home"
    hindered = Hindered(home, request.param)
    try:
        subprocess.run(["true"], check=True, preexec_fn=hindered)
    except subprocess.SubprocessError:
        pytest.skip("nothing may be mounted here")
    HINDERED.append(hindered)
    for path in (home, *home.rglob("*")):
        if path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        if request.param == "permissions":
            path.chmod(0o500 if path.is_dir() else 0o400)
    yield home
    HINDERED.pop()
    for path in (home, *home.rglob("*")):
        path.chmod(0o700)


def contents(home: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in sorted(home.rglob("*")) if p.is_file()}


@pytest.mark.shows("CLI-READ-ONLY")
def test_a_home_that_cannot_be_written_can_be_read(home: Path) -> None:
    """SQLite's log needs files beside the database, so nothing could be read there."""
    before = contents(home)
    code, out, err = command("memory", "get", "note:a", "/value/n")
    assert (code, out, err) == (0, "1\n", "")
    assert command("memory", "log")[0] == 0
    code, out, err = command("memory", "verify")
    assert code == 0, err
    for words in (
        ("memory", "set", "note:a", "2"),
        ("memory", "delete", "note:a"),
        ("memory", "gc"),
    ):
        code, out, err = command(*words)
        assert code == 1, (words, out, err)
        assert "HOLDFAST_HOME" in err
    assert command("memory", "get", "note:a", "/value/n")[1] == "1\n"
    assert contents(home) == before


@pytest.mark.shows("CLI-READ-ONLY")
@pytest.mark.parametrize("left", first_in_quick([True, False]))
def test_an_index_that_cannot_be_written_answers(home: Path, tmp_path: Path, left: bool) -> None:
    roots = home / "index" / "roots"
    before_mode = roots.stat().st_mode
    if not left:
        roots.chmod(0o700)
        for path in roots.glob("*.sqlite-*"):
            path.unlink()
        roots.chmod(before_mode)
    before, shop = contents(home), str(tmp_path / "shop")
    code, out, err = command("search", "shipping", "--path", shop)
    assert code == 0, err
    assert "a.py" in out
    code, out, err = command("outline", f"{shop}/a.py")
    assert code == 0, err
    assert "total" in out
    for action in ("sync", "reindex", "clear", "repair"):
        code, out, err = command("index", action, shop)
        assert code == 1
        assert "HOLDFAST_HOME" in out + err, (out, err)
    assert contents(home) == before


@pytest.mark.shows("CLI-READ-ONLY")
def test_an_answer_from_an_index_that_changed_meanwhile_is_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sqlite"
    apsw.Connection(str(path)).execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr(os, "access", lambda *_: False)
    with frozen(path) as connection:
        assert connection.execute("SELECT x FROM t").fetchall() == [(1,)]
    with pytest.raises(BackendUnavailable, match="changed"), frozen(path) as connection:
        apsw.Connection(str(path)).execute("INSERT INTO t VALUES (2)")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    (tmp_path / "a.sqlite-wal").write_bytes(b"a log")
    assert not is_frozen(path)
    os.utime(path)
    with pytest.raises(StoreFailed, match="another process is writing"):
        copy_of(path)


@pytest.mark.shows("CLI-READ-ONLY")
@pytest.mark.parametrize("how", ["rewritten", "gone", "cut short"])
def test_a_read_that_a_change_tore_is_not_said_to_be_damaged(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, how: str
) -> None:
    path = tmp_path / "a.sqlite"
    apsw.Connection(str(path)).execute("CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    monkeypatch.setattr(os, "access", lambda *_: False)

    def read() -> None:
        with tables.translated(), frozen(path) as connection:
            if how == "gone":
                path.unlink()
            else:
                path.write_bytes(b"x" * (10_000 if how == "rewritten" else 10))
            connection.execute("SELECT x FROM t").fetchall()

    with pytest.raises(BackendUnavailable, match="changed"):
        read()


@pytest.mark.long
@pytest.mark.shows("CLI-READ-ONLY")
def test_roots_are_seen_where_nothing_may_be_written(home: Path, tmp_path: Path) -> None:
    """A repair there saw none."""
    code = (
        "import sys; from pathlib import Path; from holdfast.index.code_index import open_index; "
        "print(*open_index(Path(sys.argv[1])).backend.roots())"
    )
    for left in (True, False):
        if not left:
            roots = home / "index" / "roots"
            mode = roots.stat().st_mode
            roots.chmod(0o700)
            for path in roots.glob("*.sqlite-*"):
                path.unlink()
            roots.chmod(mode)
        ran = subprocess.run(
            [sys.executable, "-c", code, str(home)],
            capture_output=True, text=True, check=True, preexec_fn=HINDERED[-1],
        )  # fmt: skip
        assert ran.stdout == f"{tmp_path / 'shop'}\n"


@pytest.mark.shows("CLI-READ-ONLY")
def test_a_copy_that_a_killed_reader_left_goes_with_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"a database")
    os.utime(path, (1_000_000_000, 1_000_000_000))
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    held = copy_of(path)
    if not (child := os.fork()):
        try:
            copy_of(path)
            os.kill(os.getpid(), signal.SIGKILL)
        finally:
            os._exit(1)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == -signal.SIGKILL
    assert len(list(temporary.iterdir())) == 2
    (temporary / "holdfast-copy-of-somebody").mkdir()
    again = copy_of(path)
    assert {held.path.parent, again.path.parent, temporary / "holdfast-copy-of-somebody"} == set(
        temporary.iterdir()
    )
    assert held.path.read_bytes() == b"a database"
    for copy in (held, again):
        copy.discard()
    assert len(list(temporary.iterdir())) == 1


@pytest.mark.shows("CLI-READ-ONLY")
def test_without_room_for_a_copy_the_answer_says_so(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "a.sqlite"
    path.write_bytes(b"a database")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "missing"))
    with pytest.raises(StoreFailed, match="cannot copy"):
        copy_of(path)


@pytest.mark.shows("CLI-READ-ONLY")
def test_repeats_and_places_are_found_without_keeping_segments(home: Path, tmp_path: Path) -> None:
    """Both refused, for their segments could not be kept."""
    before = contents(home)
    shop = str(tmp_path / "shop")
    code, out, err = command("clones", shop, "--min-tokens", "10")
    assert code == 0, err
    assert "a.py" in out
    (tmp_path / "shop" / "c.py").write_text("# c\n" + SHOP)
    code, out, err = command("clones", shop, "--min-tokens", "10")
    assert code == 0, err
    assert "c.py" in out
    code, out, err = command("locate", "return sum(price(item) for item", "--path", shop)
    assert code == 0, err
    assert "c.py" in out
    assert contents(home) == before
