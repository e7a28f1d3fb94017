"""A home that this user may look at and not change."""

import ctypes
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import apsw
import pytest

from holdfast.index.errors import BackendUnavailable
from holdfast.index.frozen import frozen, is_frozen
from holdfast.store.errors import StoreFailed
from holdfast.store.sqlite import copy_of
from tests.cli.test_memory import Terminal, run

__all__ = ["run"]

SHOP = "def total(cart):\n    return sum(price(item) for item in cart) + shipping(cart)\n\n\n"


def obey_permissions() -> None:
    """Root may write everywhere; without this capability it is a user like any other."""
    if os.geteuid() == 0:
        ctypes.CDLL(None).prctl(24, 1, 0, 0, 0)  # PR_CAPBSET_DROP, CAP_DAC_OVERRIDE


def command(*words: str) -> tuple[int, str, str]:
    ran = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *words],
        capture_output=True, text=True, check=False, preexec_fn=obey_permissions,
    )  # fmt: skip
    return ran.returncode, ran.stdout, ran.stderr


@pytest.fixture
def home(run: Terminal, tmp_path: Path) -> Iterator[Path]:
    """A home with a space, an index and segments, all of it read-only."""
    shop = tmp_path / "shop"
    shop.mkdir()
    for name in ("a", "b"):
        (shop / f"{name}.py").write_text(f"# {name}\n" + SHOP * 3)
    run("memory", "set", "note:a", '{"n": 1}')
    run("index", "create", str(shop))
    home = tmp_path / "home"
    for path in (home, *home.rglob("*")):
        if path.is_file():
            os.utime(path, (1_000_000_000, 1_000_000_000))
        path.chmod(0o500 if path.is_dir() else 0o400)
    yield home
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
@pytest.mark.parametrize("left", [True, False])
def test_an_index_that_cannot_be_written_answers(home: Path, tmp_path: Path, left: bool) -> None:
    roots = home / "index" / "roots"
    if not left:
        roots.chmod(0o700)
        for path in roots.glob("*.sqlite-*"):
            path.unlink()
        roots.chmod(0o500)
    before, shop = contents(home), str(tmp_path / "shop")
    code, out, err = command("search", "shipping", "--path", shop)
    assert code == 0, err
    assert "a.py" in out
    code, out, err = command("outline", f"{shop}/a.py")
    assert code == 0, err
    assert "total" in out
    code, out, err = command("index", "sync", shop)
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
    with pytest.raises(StoreFailed, match="somebody is writing"):
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
