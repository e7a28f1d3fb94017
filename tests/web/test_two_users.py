"""Another user of the machine, without the token: gets nothing from any route or socket."""

import json
import os
import socket
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hostile.agent import Agent
from tests.hostile.tools import stop_host
from tests.sync.peers import set_
from tests.sync.processes import WAIT_S, Client, Served, bearer
from tests.web.test_credentials import METHODS, OPEN, routes, served

NOBODY = 65534

STRANGER = """
import encodings.idna, http.client, json, os, socket, stat, sys

given = json.load(sys.stdin)
os.setgroups([])
os.setgid(given["uid"])
os.setuid(given["uid"])
found = {"uid": os.getuid(), "http": [], "sockets": [], "files": []}
here = ("127.0.0.1", given["port"])
for path in given["paths"]:
    for method in given["methods"]:
        asking = http.client.HTTPConnection(*here, timeout=60)
        asking.request(method, path)
        answer = asking.getresponse()
        body = answer.read().decode("utf-8", "replace")
        found["http"].append([method, path, answer.status, body])
        asking.close()
    with socket.create_connection(here, 60) as dialled:
        head = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{given['port']}", "Upgrade: websocket",
                "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==", "", "")
        dialled.sendall("\\r\\n".join(head).encode())
        found["sockets"].append([path, dialled.recv(4096).split(b"\\r\\n")[0].decode()])
for folder, _, names in os.walk(given["home"]):
    found["files"] += [os.path.join(folder, name) for name in names]
for path in given["files"]:
    try:
        if stat.S_ISSOCK(os.stat(path).st_mode):
            socket.socket(socket.AF_UNIX).connect(path)
        else:
            open(path, "rb").close()
        found["files"].append(path)
    except OSError:
        pass
print(json.dumps(found))
"""


@pytest.fixture
def reachable() -> Iterator[Path]:
    """A directory that every user can reach."""
    with tempfile.TemporaryDirectory() as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.mark.shows("SEC-TWO-USERS")
@pytest.mark.skipif(os.getuid() != 0, reason="becoming another user needs root")
def test_another_user_gets_nothing_from_any_route_or_file(tmp_path: Path, reachable: Path) -> None:
    home = reachable / "home"
    whole, service = served(tmp_path / "beside")
    paths = routes(whole, tmp_path)
    service.server.close()
    server = Served(str(home / "spaces"), home=str(home))
    try:
        client = Client(server.url, "A", space="private-space")
        client.transact(1, set_("secret-document", "secret-value"))
        files = [str(path) for path in home.rglob("*")]
        assert str(home / "token") in files
        attack = {
            "uid": NOBODY,
            "port": int(server.url.rpartition(":")[2].partition("/")[0]),
            "paths": paths,
            "methods": ["GET", "POST", "PUT", "DELETE"],
            "home": str(home),
            "files": files,
        }
        done = subprocess.run(
            [sys.executable, "-c", STRANGER],
            input=json.dumps(attack),
            capture_output=True,
            text=True,
            timeout=20 * WAIT_S,
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        client.close()
    finally:
        server.stop()
    assert found["uid"] == NOBODY
    assert found["files"] == []
    assert set(METHODS) > set(attack["methods"])  # type: ignore[call-overload]
    for method, path, status, body in found["http"]:
        if path.partition("/x")[0] in OPEN:
            assert (status, body) in ((200, '{"ok": true}'), (404, body)), (method, path)
        else:
            assert status == 401, (method, path)
        for word in ("private-space", "secret-document", "secret-value", bearer(server.url)):
            assert str(word) not in body
    for path, line in found["sockets"]:
        assert " 101 " not in line, path
    assert len(found["http"]) == len(paths) * 4


@pytest.mark.shows("SEC-TWO-USERS")
@pytest.mark.skipif(os.getuid() != 0, reason="becoming another user needs root")
def test_another_user_does_not_reach_the_background_host(reachable: Path) -> None:
    """The sockets of the host and of its hooks are there, and only their owner can connect."""
    home, tree = reachable / "home", reachable / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("secret_value = 1\n")
    kept = {name: value for name, value in os.environ.items() if not name.startswith("HOLDFAST")}
    settings = {**kept, "HOLDFAST_HOME": str(home), "HOME": str(reachable / "user")}
    agent = Agent(tree, settings)
    try:
        assert "secret_value" in json.dumps(agent.call("read", {"path": "a.py"}))
        files = [str(path) for path in home.rglob("*")]
        sockets = [path for path in files if Path(path).is_socket()]
        assert sockets
        attack = {
            "uid": NOBODY,
            "port": 0,
            "paths": [],
            "methods": [],
            "home": str(home),
            "files": [*files, *(f"{home}/run/../run/{Path(path).name}" for path in sockets)],
        }
        done = subprocess.run(
            [sys.executable, "-c", STRANGER],
            input=json.dumps(attack),
            capture_output=True,
            text=True,
            timeout=20 * WAIT_S,
        )
        for path in sockets:  # whoever owns it can: the test would notice an open one
            with socket.socket(socket.AF_UNIX) as dialled:
                dialled.connect(path)
    finally:
        agent.close()
        stop_host(settings)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    assert (found["uid"], found["files"]) == (NOBODY, [])


@pytest.mark.shows("SEC-CREDENTIAL")
def test_refused_sockets_leave_no_errors_in_the_log(tmp_path: Path) -> None:
    """Each wrote an error that says the server had failed."""
    server = Served(str(tmp_path / "spaces"))
    try:
        port = int(server.url.rpartition(":")[2].partition("/")[0])
        for path in ("/sync", "/healthz", "/mcp"):
            with socket.create_connection(("127.0.0.1", port), WAIT_S) as dialled:
                head = (f"GET {path} HTTP/1.1", f"Host: 127.0.0.1:{port}", "Upgrade: websocket",
                        "Connection: Upgrade", "Sec-WebSocket-Version: 13",
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==")  # fmt: skip
                dialled.sendall("\r\n".join([*head, "", ""]).encode())
                assert b" 40" in dialled.makefile("rb").readline()
                while dialled.recv(4096):
                    pass
    finally:
        server.stop()
    assert "ERROR" not in server.errors()
