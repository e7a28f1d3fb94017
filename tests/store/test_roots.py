"""Where the database of a space lies."""

import errno
import os
import stat
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.ids import SpaceId
from holdfast.store.errors import ProtocolError, StoreFailed, UnsafeSubject
from holdfast.store.roots import guard, resolve, resolve_root
from holdfast.store.store import open_store
from holdfast.sync.io.endpoint import ServeOptions, SyncService

DID = "did:key:z6MkehRgf7yJbgaGfYsdoAsKdBPE3dj2CYhowQdcjqSJgvVd"
UNSAFE = ["", ".", "..", "/abs", "nested/space", "../up", "a\\b", "\\", "a\x00b", "\x00"]


@pytest.mark.shows("ROOT-GUARD", "T20", "INV-33")
@pytest.mark.parametrize("subject", UNSAFE, ids=repr)
@pytest.mark.parametrize("store", ["file:///srv/spaces/", "file:///srv/m.db", "memory://"])
def test_an_unsafe_subject_is_refused_before_any_path_is_built(store: str, subject: str) -> None:
    with pytest.raises(UnsafeSubject) as caught:
        resolve(store, subject)
    assert str(caught.value) == f"Invalid memory space identifier for store path: {subject}"
    assert isinstance(caught.value, ProtocolError)
    assert caught.value.name == "ProtocolError"


@pytest.mark.shows("ROOT-GUARD", "T20", "INV-33")
@given(st.text())
def test_a_guarded_subject_stays_in_its_directory(subject: str) -> None:
    try:
        guard(subject)
    except UnsafeSubject:
        assert subject in ("", ".", "..") or set(subject) & set("/\\\x00")
        return
    path = resolve("file:///srv/spaces", subject)
    assert path is not None
    assert path.parent == Path("/srv/spaces/engine-v3")
    assert path.name == f"{subject}.sqlite"


@pytest.mark.shows("ROOT-DIRECTORY", "ROOT-FILE", "T18", "T19", "W1", "W2")
@pytest.mark.parametrize(
    ("store", "root"),
    [
        ("file:///srv/spaces", "/srv/spaces/engine-v3"),
        ("file:///srv/spaces/", "/srv/spaces/engine-v3"),
        ("file://localhost/srv/spaces", "/srv/spaces/engine-v3"),
        ("FILE:///srv/spaces", "/srv/spaces/engine-v3"),
        ("file:///srv/my%20spaces", "/srv/my spaces/engine-v3"),
        ("file:///srv/.holdfast", "/srv/.holdfast/engine-v3"),
        ("file:///srv.d/spaces", "/srv.d/spaces/engine-v3"),
        ("file:///", "/engine-v3"),
        ("/srv/spaces", "/srv/spaces/engine-v3"),
        ("spaces", "spaces/engine-v3"),
        ("file:///srv/memory.db", "/srv/memory.engine-v3"),
        ("file:///srv/memory.v1.sqlite", "/srv/memory.v1.engine-v3"),
        ("/srv/memory.db", "/srv/memory.engine-v3"),
    ],
)
def test_the_root_of_a_store(store: str, root: str) -> None:
    assert resolve_root(store) == Path(root)
    assert resolve(store, DID) == Path(root) / f"{DID}.sqlite"


@pytest.mark.shows("ROOT-DIRECTORY")
def test_a_store_may_be_given_as_a_path(tmp_path: Path) -> None:
    assert resolve(tmp_path / "spaces", "s") == tmp_path / "spaces" / "engine-v3" / "s.sqlite"
    assert not (tmp_path / "spaces").exists(), "naming a path creates nothing"


@pytest.mark.shows("ROOT-FLAG", "W3")
@pytest.mark.parametrize(
    ("store", "single_file", "root"),
    [
        ("file:///srv/memory", True, "/srv/memory.engine-v3"),
        ("file:///srv/memory.db", True, "/srv/memory.engine-v3"),
        ("file:///srv/spaces.d", False, "/srv/spaces.d/engine-v3"),
        ("file:///srv/spaces", False, "/srv/spaces/engine-v3"),
    ],
)
def test_an_explicit_flag_wins_over_the_extension(store: str, single_file: bool, root: str) -> None:
    assert resolve_root(store, single_file) == Path(root)
    assert resolve(store, "s", single_file) == Path(root) / "s.sqlite"


@pytest.mark.shows("ROOT-MEMORY")
@pytest.mark.parametrize("store", ["memory:", "memory://spaces", "https://example.com/x.db"])
def test_a_url_that_is_no_file_is_in_memory(store: str) -> None:
    assert resolve_root(store) is None
    assert resolve(store, DID) is None


@pytest.mark.shows("ROOT-AS-IS")
@pytest.mark.parametrize("subject", [DID, "%2e%2e", "%2F", "a b", "é", "...", "..a", "a:b?c#d"])
def test_a_subject_is_used_as_it_stands(subject: str) -> None:
    path = resolve("file:///srv/spaces", subject)
    assert path == Path("/srv/spaces/engine-v3") / f"{subject}.sqlite"


@pytest.mark.parametrize("store", ["file://elsewhere/srv", "file:", "file:///a%00b"])
def test_a_url_that_names_no_path_here_is_refused(store: str) -> None:
    with pytest.raises(UsageError):
        resolve(store, "s")


def test_the_top_directory_is_no_single_file() -> None:
    with pytest.raises(UsageError):
        resolve_root("file:///", single_file=True)


@pytest.mark.shows("W1", "W2", "SYNC-SERVE")
@pytest.mark.parametrize(
    ("store", "root"), [("memory.db", "memory.engine-v3"), ("spaces", "spaces/engine-v3")]
)
def test_a_served_store_lies_where_its_path_says(tmp_path: Path, store: str, root: str) -> None:
    service = SyncService(ServeOptions(store=str(tmp_path / store)))
    service.server.space(SpaceId(DID)).store.transact(
        "S", {"localSeq": 1, "operations": [{"op": "delete", "id": "of:a"}]}
    )
    service.server.close()
    assert (tmp_path / root / f"{DID}.sqlite").is_file()
    assert not (tmp_path / "memory.db").exists(), "the databases lie beside it"


@pytest.mark.shows("STORE-PRIVATE")
def test_every_directory_that_is_made_is_the_owners_alone(tmp_path: Path) -> None:
    home = tmp_path / "one" / "two"
    open_store(home, DID).close()
    made = [path for path in tmp_path.rglob("*") if path.is_dir()]
    assert {path.name for path in made} == {"one", "two", "engine-v3"}
    assert {stat.S_IMODE(path.stat().st_mode) for path in made} == {0o700}
    (file,) = home.rglob("*.sqlite")
    assert stat.S_IMODE(file.stat().st_mode) == 0o600


@pytest.mark.shows("STORE-PRIVATE")
def test_being_out_of_file_handles_is_named_and_hinted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def no_more(*_: object) -> int:
        raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

    with monkeypatch.context() as patched:
        patched.setattr(os, "open", no_more)
        with pytest.raises(StoreFailed, match="too many open files") as caught:
            open_store(tmp_path / "full", DID)
    assert "ulimit -n" in caught.value.hint
    open_store(tmp_path / "full", DID).close()


@pytest.mark.shows("STORE-PRIVATE")
def test_a_store_where_nothing_can_be_made_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("no directory")
    with pytest.raises(StoreFailed, match="cannot open") as caught:
        open_store(tmp_path / "file" / "below", DID)
    assert caught.value.hint
