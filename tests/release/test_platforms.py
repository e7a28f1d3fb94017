"""Systems other than Linux: what is guarded, tried with a faked platform."""

from __future__ import annotations

import _socket
import os
import socket as sockets
import struct
import subprocess
import sys
from pathlib import Path
from typing import cast

import pytest

from holdfast.cli import start
from holdfast.mcp.rendezvous import peer_process, peer_user
from release.pythons import find_python


class MacSocket:
    """A socket that answers like macOS: `struct xucred`, and the process id by itself."""

    def __init__(self, user: int, process: int) -> None:
        self.user, self.process = user, process

    def getsockopt(self, level: int, option: int, size: int) -> bytes:
        assert level == 0
        if option == 1:
            return struct.pack("=IIhxx16I", 0, self.user, 1, *range(16))[:size]
        assert option == 2
        return struct.pack("=i", self.process)


@pytest.mark.shows("PLATFORM-PEER")
def test_macos_tells_user_and_process_of_the_other_end() -> None:
    socket = cast("_socket.socket", MacSocket(501, 4321))
    assert peer_user(socket, "darwin") == 501
    assert peer_process(socket, "darwin") == 4321


@pytest.mark.shows("PLATFORM-PEER")
def test_a_system_that_does_not_tell_leaves_it_to_the_private_directory(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delattr(_socket, "SO_PEERCRED")
    one, other = sockets.socketpair()
    with one, other:
        assert peer_user(one, "freebsd14") is None


@pytest.mark.shows("PLATFORM-WINDOWS")
def test_windows_is_refused_with_one_sentence_before_anything_is_imported(
    capsys: pytest.CaptureFixture[str],
) -> None:
    def unreachable() -> None:
        raise AssertionError("nothing is done on Windows")

    assert start.run(dict, unreachable, unreachable, "win32") == 2
    printed = capsys.readouterr().err
    assert "Windows is not supported" in printed
    assert "WSL" in printed


@pytest.mark.shows("PKG-SMOKE")
def test_interpreters_are_found_by_name_on_the_path_and_below_pyenv(tmp_path: Path) -> None:
    def script(path: Path, version: str) -> Path:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"#!/bin/sh\necho Python {version}\n")
        path.chmod(0o755)
        return path

    named = script(tmp_path / "named", "3.12.9")
    refusing = script(tmp_path / "pyenv/shims/python3.12", "3.11.0")
    below = script(tmp_path / "pyenv/versions/3.12.1/bin/python3.12", "3.12.1")
    path = os.pathsep.join([str(refusing.parent)])
    assert find_python("3.12", {"PATH": path}) == below
    assert find_python("3.12", {"PATH": path, "HOLDFAST_PYTHON312": str(named)}) == named
    assert find_python("3.13", {"PATH": path}) is None


WITHOUT_PROC = """
import os
real = os.readlink
def readlink(path, *rest, **more):
    if str(path).startswith("/proc"):
        raise FileNotFoundError(2, "no such file", path)
    return real(path, *rest, **more)
os.readlink = readlink
from holdfast.cli.main import main
raise SystemExit(main(["read", "a.txt"]) or main(["index", "create"]))
"""


@pytest.mark.shows("PLATFORM-PROC")
def test_where_proc_is_not_mounted_files_are_read_and_indexed(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_text("hello\n")
    ran = subprocess.run(
        [sys.executable, "-c", WITHOUT_PROC],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "HOLDFAST_HOME": str(tmp_path / "home")},
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("hello\n")
    assert "completed" in ran.stdout
