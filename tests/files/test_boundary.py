"""The workspace boundary: a table of paths and boundaries, and random trees against a twin."""

from __future__ import annotations

import os
import stat
import tempfile
import threading
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from holdfast.errors import UsageError
from holdfast.files.boundary import Allowed, Boundary, Machine, OutsideWorkspace, Refused, Root
from holdfast.files.workspace import Workspace, allowed_directories, machine_of, roots_at
from tests.scale import examples

ADA = Machine(
    1000,
    ("/home/ada",),
    ("/home/bob", "/root"),
    private=("/home/ada/.holdfast/keys", "/home/ada/.holdfast/token"),
    settings="/home/ada/.holdfast/settings.toml",
)
WORK = Root("/home/ada/work", "working directory")
SYSTEM_WIDE = Root("/", "setting")
WHOLE_HOME = Root("/home/ada", "setting")
TEMPORARY = Root("/tmp", "working directory", shared=True)

TABLE: list[tuple[tuple[Root, ...], str, str, int | None, str]] = [
    # roots, path as named, real path, owner, outcome
    ((WORK,), "/home/ada/work", "/home/ada/work", 1000, "allowed"),
    ((WORK,), "/home/ada/work/a.py", "/home/ada/work/a.py", 1000, "allowed"),
    ((WORK,), "/home/ada/work/x/../a.py", "/home/ada/work/a.py", 1000, "allowed"),
    ((WORK,), "/home/ada/alias/a.py", "/home/ada/work/a.py", 1000, "allowed"),
    ((WORK,), "/home/ada/work/a.py", "/home/ada/work/a.py", 33, "allowed"),
    ((WORK,), "/home/ada/workshop/a.py", "/home/ada/workshop/a.py", 1000, "outside"),
    ((WORK,), "/home/ada/.ssh/id_rsa", "/home/ada/.ssh/id_rsa", 1000, "outside"),
    ((WORK,), "/etc/shadow", "/etc/shadow", 0, "outside"),
    ((WORK,), "/home/ada/work/../../../etc/shadow", "/etc/shadow", 0, "outside"),
    ((WORK,), "/home/ada/work/out", "/etc/shadow", 0, "link"),
    ((WORK,), "/home/ada/work/out", "/home/ada/.ssh/id_rsa", 1000, "link"),
    ((WORK,), "/home/ada", "/home/ada", 1000, "whole_home"),
    ((WORK,), "/home", "/home", 0, "whole_home"),
    ((WORK,), "/", "/", 0, "whole_home"),
    ((WORK,), "/proc/self/environ", "/proc/7/environ", 1000, "system"),
    ((WORK,), "/home/ada/work/env", "/proc/7/environ", 1000, "system"),
    ((WORK,), "/proc/7/cwd/a.py", "/home/ada/work/a.py", 1000, "system"),
    ((WORK,), "/home/ada/work/../../../proc/1/maps", "/proc/1/maps", 0, "system"),
    ((SYSTEM_WIDE,), "/proc/self/environ", "/proc/7/environ", 1000, "system"),
    ((SYSTEM_WIDE,), "/sys/kernel/x", "/sys/kernel/x", 0, "system"),
    ((SYSTEM_WIDE,), "/dev/sda", "/dev/sda", 0, "system"),
    ((Root("/proc/7", "setting"),), "/proc/7/environ", "/proc/7/environ", 1000, "system"),
    ((SYSTEM_WIDE,), "/development/a", "/development/a", 1000, "allowed"),
    ((SYSTEM_WIDE,), "/etc/hosts", "/etc/hosts", 0, "allowed"),
    ((SYSTEM_WIDE,), "/srv/a", "/srv/a", 1001, "other_user"),
    ((SYSTEM_WIDE,), "/home/bob/a", "/home/bob/a", 1001, "other_user"),
    ((SYSTEM_WIDE,), "/home/bob/a", "/home/bob/a", 1000, "other_user"),
    ((SYSTEM_WIDE,), "/HOME/Bob/a", "/HOME/Bob/a", 1000, "other_user"),
    ((SYSTEM_WIDE,), "/home/carol/a", "/home/carol/a", None, "other_user"),
    ((SYSTEM_WIDE,), "/root/.ssh/id_rsa", "/root/.ssh/id_rsa", 0, "other_user"),
    ((Root("/home/bob", "setting"),), "/home/bob/a", "/home/bob/a", 1001, "other_user"),
    ((Root("/home/bob/ours", "setting"),), "/home/bob/ours/a", "/home/bob/ours/a", 1, "allowed"),
    ((WHOLE_HOME,), "/home/ada/.bashrc", "/home/ada/.bashrc", 1000, "allowed"),
    ((WHOLE_HOME,), "/home/ada", "/home/ada", 1000, "allowed"),
    ((WHOLE_HOME,), "/home/ada/.holdfast/token", "/home/ada/.holdfast/token", 1000, "private"),
    ((WHOLE_HOME,), "/home/ada/k", "/home/ada/.holdfast/keys/x", 1000, "private"),
    ((TEMPORARY,), "/tmp/mine", "/tmp/mine", 1000, "allowed"),
    ((TEMPORARY,), "/tmp/theirs", "/tmp/theirs", 1001, "other_user"),
    ((TEMPORARY, Root("/tmp/p", "tracked tree")), "/tmp/p/a", "/tmp/p/a", 1001, "allowed"),
    ((), "/home/ada/work/a.py", "/home/ada/work/a.py", 1000, "outside"),
]


def outcome(found: Allowed | Refused) -> str:
    return "allowed" if isinstance(found, Allowed) else found.reason


@pytest.mark.shows("SEC-BOUNDARY")
@pytest.mark.parametrize(("roots", "named", "real", "owner", "expected"), TABLE)
def test_the_boundary_decides_by_real_paths(
    roots: tuple[Root, ...], named: str, real: str, owner: int | None, expected: str
) -> None:
    found = Boundary(roots, ADA).admit(named, real, owner)
    assert outcome(found) == expected
    if isinstance(found, Refused):
        assert found.message.startswith(f"{named} is ")
        assert found.hint
    if expected in ("outside", "link", "whole_home"):
        assert isinstance(found, Refused)
        assert all(str(root) in found.message for root in roots)
        assert "[workspace] allow = [" in found.hint
        assert ADA.settings in found.hint
    if expected == "link":
        assert isinstance(found, Refused)
        assert real in found.message


@pytest.mark.shows("SEC-BOUNDARY-HOME")
@pytest.mark.parametrize("path", ["/", "/home", "/home/ada", "/home/bob", "/root", "/home/carol"])
@pytest.mark.parametrize("source", ["working directory", "declared root", "tracked tree"])
def test_a_root_as_wide_as_a_home_counts_only_as_a_setting(path: str, source: str) -> None:
    below = Root("/home/ada/project", "tracked tree")
    boundary = Boundary((Root(path, source), below), ADA)  # type: ignore[arg-type]
    key = boundary.admit("/home/ada/.ssh/id_rsa", "/home/ada/.ssh/id_rsa", 1000)
    assert isinstance(key, Refused)
    assert f"the {source} {path} does not count" in key.message
    assert isinstance(boundary.admit(below.path, below.path, 1000), Allowed)


def test_a_directory_of_ones_own_in_home_need_not_be_a_home() -> None:
    root = Root("/home/project", "working directory")
    machine = Machine(0, ("/root",), not_homes=("/home/project",))
    assert isinstance(
        Boundary((root,), machine).admit("/home/project/a", "/home/project/a"), Allowed
    )
    other = Boundary((root,), Machine(0, ("/root",)))
    assert isinstance(other.admit("/home/project/a", "/home/project/a"), Refused)


NAMES = st.sampled_from(["a", "b", "c", "d"])
STEPS = st.lists(st.one_of(NAMES, st.just("..")), min_size=1, max_size=5).map("/".join)
ENTRIES = st.lists(
    st.tuples(
        st.lists(NAMES, min_size=1, max_size=3).map("/".join),
        st.one_of(st.none(), st.tuples(st.booleans(), STEPS)),
    ),
    max_size=12,
)


def twin(base: str, roots: list[str], path: str) -> bool:
    """Whether a path may be read, by the shortest rule there is."""
    real = Path(os.path.realpath(path))
    return any(real.is_relative_to(os.path.realpath(os.path.join(base, root))) for root in roots)


@pytest.mark.shows("SEC-BOUNDARY")
@settings(max_examples=examples(100), deadline=None)
@given(entries=ENTRIES, roots=st.lists(NAMES, max_size=2), asked=st.lists(STEPS, max_size=8))
@example(entries=[("b", None), ("a", (False, "b/.."))], roots=["a"], asked=[])
def test_in_random_trees_with_links_the_boundary_is_that_of_real_paths(
    entries: list[tuple[str, tuple[bool, str] | None]], roots: list[str], asked: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        base = os.path.join(os.path.realpath(folder), "1/2/3/4/5/6")
        os.makedirs(base)
        for name, link in entries:
            path = os.path.join(base, name)
            try:
                os.makedirs(os.path.dirname(path), exist_ok=True)
                if link is None:
                    Path(path).write_text(name)
                else:
                    os.symlink(os.path.join(base, link[1]) if link[0] else link[1], path)
            except OSError:
                continue  # the name is taken, or leads nowhere
        within = [os.path.join(base, root) for root in roots]
        machine = Machine(os.getuid(), ("/nonexistent/home",))
        workspace = Workspace(lambda: machine, (lambda: roots_at(within, "tracked tree"),))
        for name in [*asked, *(name for name, _ in entries)]:
            path = os.path.join(base, name)
            expected = twin(base, roots, path)
            assert workspace.admits(path) == expected, path
            try:
                descriptor = workspace.open(path)
            except OutsideWorkspace:
                assert not expected
            except OSError:
                assert expected
            else:
                found = os.fstat(descriptor)
                os.close(descriptor)
                assert expected
                assert os.path.samestat(found, os.stat(path))


def workspace_of(*directories: Path) -> Workspace:
    machine = Machine(os.getuid(), ("/nonexistent/home",))
    named = [str(one) for one in directories]
    return Workspace(lambda: machine, (lambda: roots_at(named, "working directory"),))


@pytest.mark.shows("SEC-BOUNDARY-RACE")
def test_a_link_that_is_exchanged_while_a_file_is_opened_gives_nothing_away(
    tmp_path: Path,
) -> None:
    """A folder on the way is a directory inside one moment and a link to the outside the next."""
    inside, outside = tmp_path / "inside", tmp_path / "outside"
    for place, text in ((inside / "real", "ours"), (outside, "secret")):
        place.mkdir(parents=True)
        (place / "file").write_text(text)
    spot, ending = inside / "spot", threading.Event()

    def exchange() -> None:
        while not ending.is_set():
            for target in (inside / "real", outside):
                new = inside / "new"
                new.symlink_to(target)
                new.replace(spot)

    spot.symlink_to(inside / "real")
    attack = threading.Thread(target=exchange)
    attack.start()
    workspace = workspace_of(inside)
    try:
        for _ in range(2000):
            try:
                data = workspace.read(str(spot / "file"), 100)
            except (OutsideWorkspace, OSError):
                continue
            assert data == b"ours"
    finally:
        ending.set()
        attack.join()
    assert workspace.read(str(inside / "real" / "file"), 100) == b"ours"


@pytest.mark.shows("SEC-BOUNDARY-RACE")
def test_a_file_that_became_a_link_after_the_decision_is_not_opened(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    inside, secret = tmp_path / "inside", tmp_path / "secret"
    inside.mkdir()
    secret.write_text("secret")
    for part in ("last", "folder"):
        folder = inside / part
        folder.mkdir()
        (folder / "file").write_text("ours")
        workspace = workspace_of(inside)
        resolve = workspace._resolved

        def late(path: str, resolve=resolve, folder=folder, part=part) -> str:  # type: ignore[no-untyped-def]
            real: str = resolve(path)
            if part == "last":
                (folder / "file").unlink()
                (folder / "file").symlink_to(secret)
            else:
                folder.rename(tmp_path / "moved")
                (tmp_path / "elsewhere").mkdir()
                (tmp_path / "elsewhere" / "file").write_text("secret")
                folder.symlink_to(tmp_path / "elsewhere")
            return real

        monkeypatch.setattr(workspace, "_resolved", late)
        with pytest.raises((OutsideWorkspace, OSError)):
            workspace.open(str(folder / "file"))


@pytest.mark.shows("SEC-BOUNDARY")
def test_the_process_file_system_is_not_read_at_another_mount_point(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "environ").write_text("SECRET=1")
    device = os.stat(tmp_path).st_dev
    monkeypatch.setattr("holdfast.files.workspace._system_devices", frozenset({device}))
    with pytest.raises(OutsideWorkspace, match="never read"):
        workspace_of(tmp_path).open(str(tmp_path / "environ"))


@pytest.mark.shows("SEC-BOUNDARY")
def test_a_pipe_is_never_waited_for(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    assert workspace_of(tmp_path).read(str(tmp_path / "pipe"), 10) is None
    descriptor = workspace_of(tmp_path).open(str(tmp_path / "pipe"))
    assert stat.S_ISFIFO(os.fstat(descriptor).st_mode)
    os.close(descriptor)


def test_this_machine_has_the_home_of_its_user(tmp_path: Path) -> None:
    machine = machine_of(str(tmp_path), (str(tmp_path / "token"),), "settings.toml")
    assert str(tmp_path.resolve()) in machine.homes
    assert machine.user == os.getuid()
    assert not set(machine.homes) & set(machine.other_homes)
    assert machine.is_wide(str(tmp_path.resolve()))
    assert machine.is_wide(str(tmp_path.resolve().parent))
    assert not machine.is_wide(str(tmp_path.resolve() / "below"))


@pytest.mark.shows("SEC-BOUNDARY-SETTING")
def test_the_setting_names_directories(tmp_path: Path) -> None:
    settings_file = tmp_path / "settings.toml"
    assert allowed_directories(settings_file, "/home/ada") == []
    settings_file.write_text('[workspace]\nallow = ["/srv/data", "~", "~/x"]\n[other]\nx = 1\n')
    assert allowed_directories(settings_file, "/home/ada") == [
        "/srv/data",
        "/home/ada",
        "/home/ada/x",
    ]


@pytest.mark.shows("SEC-BOUNDARY-SETTING")
@pytest.mark.parametrize(
    "text",
    ["[workspace", "[workspace]\nallow = 1", "[workspace]\nallowed = []", "workspace = 1",
     '[workspace]\nallow = ["srv"]', "[workspace]\nallow = [1]", "\xff"],
)  # fmt: skip
def test_a_wrong_setting_is_named(tmp_path: Path, text: str) -> None:
    settings_file = tmp_path / "settings.toml"
    settings_file.write_bytes(text.encode("latin-1"))
    with pytest.raises(UsageError, match=r"settings\.toml") as error:
        allowed_directories(settings_file, "/home/ada")
    assert error.value.hint


@pytest.mark.parametrize("member", ["root", "cwd"])
def test_a_link_that_does_not_tell_where_it_leads_is_refused_like_its_place(
    tmp_path: Path, member: str
) -> None:
    """Links of other users' processes. As root there are none, and the real path decides."""
    machine = Machine(os.getuid(), (os.fspath(tmp_path / "home"),))
    roots = roots_at([os.fspath(tmp_path)], "working directory")
    workspace = Workspace(lambda: machine, [lambda: roots])
    (tmp_path / "out").symlink_to(f"/proc/1/{member}")
    for path in (f"/proc/1/{member}/etc/passwd", os.fspath(tmp_path / "out" / "etc" / "passwd")):
        assert not workspace.admits(path)
        with pytest.raises(OutsideWorkspace):
            workspace.open(path)
