"""The host and its shims as processes: who starts, who ends, who is served, who survives whom."""

import asyncio
import errno
import json
import os
import select
import shutil
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from mcp import Client
from mcp.shared.exceptions import MCPError

from holdfast import __version__
from holdfast.home import Home
from holdfast.mcp.shim import Shim
from holdfast.mcp.tools import TOOLS
from tests.mcp.agents import ERAS, WAIT_S, Machine, call, facts_of, machine_in, text_of
from tests.scale import size


@pytest.fixture
def cold(tmp_path: Path) -> Iterator[Machine]:
    """A machine whose first shim starts the host."""
    with machine_in(tmp_path) as machine:
        yield machine


class Raw:
    """An agent without an SDK: lines in, lines out."""

    def __init__(self, machine: Machine, *options: str) -> None:
        machine.prepare()
        self.process = subprocess.Popen(
            machine.command(*options),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=machine.environment,
            cwd=machine.tree,
        )
        self._last = 0

    def send(self, line: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()

    def receive(self) -> dict[str, Any]:
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, "the shim ended"
        message: dict[str, Any] = json.loads(line)
        return message

    def post(self, method: str, **params: Any) -> int:
        self._last += 1
        message = {"jsonrpc": "2.0", "id": self._last, "method": method, "params": params}
        self.send(json.dumps(message).encode())
        return self._last

    def ask(self, method: str, **params: Any) -> dict[str, Any]:
        id = self.post(method, **params)
        while (answer := self.receive()).get("id") != id:
            pass
        return answer

    def tool(self, name: str, **arguments: Any) -> dict[str, Any]:
        return self.ask("tools/call", name=name, arguments=arguments)

    def initialize(self) -> dict[str, Any]:
        answer = self.ask(
            "initialize",
            protocolVersion="2025-11-25",
            capabilities={},
            clientInfo={"name": "raw", "version": "1"},
        )
        self.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}')
        return answer

    def close(self) -> str:
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        assert self.process.stderr is not None
        self.process.stdin.close()
        try:
            self.process.wait(WAIT_S)
            return self.process.stderr.read().decode()
        finally:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process.stderr.close()


@pytest.mark.shows("MCP-ONE-HOST")
def test_shims_that_start_at_once_get_one_host(cold: Machine) -> None:
    agents = [Raw(cold) for _ in range(size(6, 3))]
    for agent in agents:
        assert agent.initialize()["result"]["serverInfo"]["name"] == "holdfast"
    began = (cold.home / "run" / "host-default.log").read_text().count("serving, version")
    assert began == 1
    for agent in agents:
        assert agent.close() == ""


@pytest.mark.long
@pytest.mark.shows("MCP-ONE-HOST")
def test_a_host_outlives_the_shim_that_started_it(cold: Machine) -> None:
    """A short `codex exec` ended its shim before the host listened, and the host died of it."""
    place = cold.place
    ready, shim_end = os.pipe()
    os.close(ready)
    host = subprocess.Popen(
        [sys.executable, "-m", "holdfast.mcp.host", "--ready", str(shim_end)],
        env=cold.environment,
        cwd=place.run,
        pass_fds=(shim_end,),
        stderr=subprocess.PIPE,
    )
    os.close(shim_end)
    errors = host.stderr
    assert errors is not None
    deadline = time.monotonic() + WAIT_S
    while cold.host is None and host.poll() is None and time.monotonic() < deadline:
        # Otherwise the shim could start another host before this one has begun.
        select.select([errors], [], [], 0.05)
    agent = Raw(cold)
    assert "result" in agent.initialize()
    assert host.poll() is None
    assert cold.host == host.pid
    agent.close()
    host.terminate()
    assert errors.read() == b""
    errors.close()
    assert host.wait(WAIT_S) == 0


@pytest.mark.shows("MCP-PRIVATE")
def test_the_socket_and_what_is_beside_it_are_the_users_own(cold: Machine) -> None:
    agent = Raw(cold)
    agent.initialize()
    run = cold.home / "run"
    assert stat.S_IMODE(cold.home.stat().st_mode) == 0o700
    assert stat.S_IMODE(run.stat().st_mode) == 0o700
    for name in ("host-default.sock", "host-default.lock", "host-default.log"):
        assert stat.S_IMODE((run / name).stat().st_mode) == 0o600, name
    agent.close()


@pytest.mark.shows("MCP-PRIVATE")
def test_a_process_of_another_user_is_turned_away(monkeypatch: pytest.MonkeyPatch) -> None:
    """The system says who is at the other end; both ends ask."""
    from holdfast.mcp import host, host_connection

    near, far = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
    from holdfast.mcp.rendezvous import peer_user

    assert peer_user(near) == os.getuid()
    stranger = os.getuid() + 1
    monkeypatch.setattr(host_connection, "peer_user", lambda connection: stranger)
    monkeypatch.setattr(host, "peer_user", lambda connection: stranger)

    async def served() -> bytes:
        reader, writer = await asyncio.open_unix_connection(sock=near)
        serving = host.BackgroundHost(None, None, None, __version__, 1.0)  # type: ignore[arg-type]
        await serving._serve_one(reader, writer)
        await writer.wait_closed()
        far.settimeout(WAIT_S)
        return far.recv(1)

    assert asyncio.run(served()) == b"", "closed without a word"
    far.close()


@pytest.mark.shows("MCP-PRIVATE")
def test_a_shim_does_not_trust_a_socket_of_another_user(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.mcp import host_connection
    from holdfast.mcp.rendezvous import rendezvous_of

    monkeypatch.chdir(tmp_path)
    place = rendezvous_of(Home(tmp_path), {})
    Home(tmp_path).make_run()
    monkeypatch.chdir(place.run)
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as listening:
        listening.bind(place.socket)
        listening.listen()
        monkeypatch.setattr(host_connection, "peer_user", lambda connection: os.getuid() + 1)
        with pytest.raises(host_connection.HostRefused, match="held by user"):
            host_connection.connect_to_host(place, {}, {})


@pytest.mark.shows("MCP-VERSIONS")
def test_two_versions_refuse_clearly_and_say_what_to_do(machine: Machine) -> None:
    from holdfast.mcp.host_connection import HostRefused, connect_to_host
    from holdfast.mcp.rendezvous import greeting

    agent = Raw(machine)
    agent.initialize()
    before, here = machine.host, os.getcwd()
    try:
        with pytest.raises(HostRefused) as refused:
            connect_to_host(machine.place, greeting("9.9.9", machine.environment, None, None), {})
    finally:
        os.chdir(here)
    assert "9.9.9" in str(refused.value)
    assert __version__ in str(refused.value)
    assert "1 other session" in str(refused.value)
    assert "holdfast mcp --stop" in refused.value.hint
    assert "result" in agent.tool("list_codebases"), "who was served is served on"
    assert machine.host == before
    agent.close()


@pytest.mark.shows("MCP-VERSIONS")
def test_an_agent_sees_why_it_is_refused(tmp_path: Path) -> None:
    """The other version's host is played by a socket that answers as that host would."""
    with machine_in(tmp_path) as machine:
        place, here = machine.place, os.getcwd()
        os.chdir(place.run)
        listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listening.bind(place.socket)
        listening.listen()
        os.chdir(here)
        agent = Raw(machine)
        agent.post("initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={})
        peer, _ = listening.accept()
        hello = json.loads(peer.makefile().readline())
        assert hello["version"] == __version__
        assert hello["cwd"] == str(machine.tree)
        assert hello["ancestors"][0]["pid"] == os.getpid()
        answer = {"ok": False, "leaves": False, "message": "the host is 9.9.9", "hint": "stop it"}
        peer.sendall(json.dumps(answer).encode() + b"\n")
        error = agent.receive()["error"]
        assert "the host is 9.9.9 (stop it)" in error["message"]
        peer.close()
        listening.close()
        assert "9.9.9" in agent.close()


@pytest.mark.shows("MCP-VERSIONS")
def test_an_idle_host_of_another_version_makes_way(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    from holdfast.mcp import host_connection
    from holdfast.mcp.host_connection import HostRefused, connect_to_host
    from holdfast.mcp.rendezvous import greeting

    agent = Raw(machine)
    agent.initialize()
    first = machine.host
    agent.close()
    here = os.getcwd()

    def start(place: object, hello: object) -> None:
        raise HostRefused("the way is free", "")

    monkeypatch.setattr(host_connection, "_start", start)
    try:
        with pytest.raises(HostRefused, match="the way is free"):
            connect_to_host(machine.place, greeting("9.9.9", machine.environment, None, None), {})
    finally:
        os.chdir(here)
    assert first is not None
    assert machine.host is None


@pytest.mark.long
@pytest.mark.shows("MCP-KILLED")
@pytest.mark.parametrize("era", ERAS)
def test_a_host_killed_in_the_middle_fails_the_call_and_not_the_agent(
    machine: Machine, era: str
) -> None:
    """The build holds the call; then the host dies as hard as a process can."""
    for number in range(400):
        (machine.tree / f"many_{number}.py").write_text(f"def f{number}():\n    return {number}\n")

    async def story() -> None:
        async with asyncio.timeout(WAIT_S * 2), machine.agent(era) as client:
            await call(client, "memory_commit", operations=[{"op": "set", "id": "a", "value": 1}])
            first = machine.host
            assert first is not None
            began = asyncio.Event()

            async def progress(progress: float, total: float | None, message: str | None) -> None:
                began.set()

            building = asyncio.create_task(
                client.call_tool(
                    "manage_index",
                    {"action": "create", "path": str(machine.tree), "wait": 60},
                    progress_callback=progress,
                )
            )
            await began.wait()
            os.kill(first, signal.SIGKILL)
            with pytest.raises(MCPError, match="host ended before it answered") as lost:
                await building
            assert lost.value.data["reason"] == "host_lost"
            # The same client goes on, with a new host; what was acknowledged is there.
            kept = facts_of(await call(client, "memory_get", id="a"))
            assert kept["document"] == {"value": 1}
            assert machine.host not in (None, first)
            status = await call(client, "manage_index", action="status", path=str(machine.tree))
            assert facts_of(status)["status"] != "ok", "never indexed without proof"
            # Nobody is told to wait for a writer that is gone.
            asked = await call(client, "search_code", query="f7", path=str(machine.tree))
            helps = facts_of(asked)["continue"]
            assert (helps["tool"], helps["args"]["action"]) == ("manage_index", "create")
            assert "its writer is gone" in text_of(asked)
            assert "Wait" not in text_of(asked)
            again = await call(client, helps["tool"], **helps["args"], wait=60)
            assert facts_of(again)["status"] == "ok"

    asyncio.run(story())


@pytest.mark.shows("MCP-KILLED")
def test_a_question_in_flight_is_put_again_to_the_next_host(machine: Machine) -> None:
    agent = Raw(machine)
    agent.initialize()
    pid = machine.host
    assert pid is not None
    os.kill(pid, signal.SIGSTOP)  # so that it cannot answer first
    id = agent.post("tools/list")
    os.kill(pid, signal.SIGKILL)
    answer = agent.receive()
    assert answer["id"] == id
    assert len(answer["result"]["tools"]) == len(TOOLS)
    assert agent.close() == ""


@pytest.mark.long
@pytest.mark.shows("MCP-KILLED")
def test_an_answered_request_is_not_answered_again_however_its_id_is_spelled(
    machine: Machine,
) -> None:
    from holdfast.mcp.shim import _answered

    assert _answered('{"jsonrpc":"2.0","id":"ü\\n","result":{}}'.encode()) == json.dumps("ü\n")
    assert _answered(b'{"jsonrpc":"2.0","id":-7,"error":{}}') == "-7"
    assert _answered(b'{"id":"x","jsonrpc":"2.0","result":{}}') == '"x"'
    assert _answered(b'{"jsonrpc":"2.0","method":"notifications/progress"}') is None
    assert _answered(b"nonsense") is None
    agent = Raw(machine)
    agent.initialize()
    agent.send('{"jsonrpc":"2.0","id":"grün","method":"ping"}'.encode())
    assert agent.receive()["id"] == "grün"
    pid = machine.host
    assert pid is not None
    os.kill(pid, signal.SIGKILL)
    _wait_for_end(pid)
    id = agent.post("tools/list")
    assert agent.receive()["id"] == id, "nothing was said again about the one before"
    agent.close()


@pytest.mark.shows("MCP-CLIENT-CRASH")
def test_a_client_that_crashes_takes_nobody_along(machine: Machine) -> None:
    quiet, loud = Raw(machine), Raw(machine)
    for agent in (quiet, loud):
        agent.initialize()
    loud.post("tools/call", name="clones", arguments={"path": str(machine.tree)})
    loud.process.kill()
    loud.process.wait()
    assert "result" in quiet.tool("list_codebases")
    quiet.close()
    loud.close()


@pytest.mark.long
@pytest.mark.shows("MCP-IDLE")
def test_a_host_that_serves_nobody_ends_and_the_next_agent_starts_one(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True, HOLDFAST_MCP_IDLE_S="0.2") as machine:
        agent = Raw(machine)
        agent.initialize()
        first = machine.host
        assert first is not None
        assert "result" in agent.tool("list_codebases"), "it stays while somebody is connected"
        agent.close()
        _wait_for_end(first)
        assert machine.host is None
        assert not (machine.home / "run" / "host-default.sock").exists()
        other = Raw(machine)
        assert "result" in other.initialize()
        assert "result" in other.tool("list_codebases")
        assert machine.host not in (None, first)
        other.close()


@pytest.mark.shows("MCP-IDLE")
def test_a_host_whose_home_is_gone_ends_with_its_last_agent(tmp_path: Path) -> None:
    """It could not open its lock any more and so stayed for ever, with nobody to find it."""
    with machine_in(tmp_path, forks_host=True, HOLDFAST_MCP_IDLE_S="0.2") as machine:
        agent = Raw(machine)
        agent.initialize()
        assert machine.host is not None
        host = machine.host
        shutil.rmtree(machine.home)
        agent.close()
        _wait_for_end(host)


def _wait_for_end(pid: int) -> None:
    try:
        ended = os.pidfd_open(pid)
    except ProcessLookupError:
        return
    try:
        assert select.select([ended], [], [], WAIT_S)[0], f"process {pid} did not end"
    finally:
        os.close(ended)


@pytest.mark.shows("MCP-MALFORMED")
def test_a_line_that_is_no_message_gets_an_error_and_the_connection_stays(
    machine: Machine,
) -> None:
    agent = Raw(machine)
    agent.initialize()
    agent.send(b"this is not JSON")
    assert agent.receive()["error"]["code"] == -32700
    agent.send(b'{"jsonrpc":"2.0","id":7,"colour":"blue"}')
    answer = agent.receive()
    assert (answer["id"], answer["error"]["code"]) == (7, -32600)
    agent.send(b"[" * 100_000)
    assert agent.receive()["error"]["code"] in (-32700, -32600)
    assert "error" in agent.ask("no/such/method")
    assert "error" in agent.ask("tools/call", name=3)
    assert "result" in agent.tool("list_codebases")
    agent.close()


@pytest.mark.shows("MCP-MALFORMED")
def test_a_peer_that_does_not_greet_is_shown_the_door(machine: Machine) -> None:
    agent = Raw(machine)
    agent.initialize()
    path = machine.home / "run" / "host-default.sock"
    short = machine.home.parent / "s"
    short.symlink_to(path)
    for line in (b"GET / HTTP/1.1\r\n\r\n", b"{}\n", b"[1]\n", b"\xff\xfe\n", b"[" * 9000 + b"\n",
                 b'{"holdfast":"mcp-shim","v":99}\n'):  # fmt: skip
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as peer:
            peer.settimeout(WAIT_S)
            peer.connect(str(short))
            peer.sendall(line)
            told = b""
            while piece := peer.recv(4096):
                told += piece
            assert b'"ok": true' not in told
    assert "result" in agent.tool("list_codebases")
    agent.close()


@pytest.mark.long
@pytest.mark.shows("MCP-CONCURRENT")
def test_fifty_agents_at_once_each_get_their_own_answers(machine: Machine) -> None:
    agents = 50

    async def one(number: int) -> None:
        space = f"s{number % 5}"
        async with machine.agent(ERAS[number % 2], name=f"agent-{number}") as client:
            for step in range(3):
                operation = {"op": "set", "id": f"n:{number}", "value": step}
                result = await client.call_tool(
                    "memory_commit", {"operations": [operation], "space": space}
                )
                assert not result.is_error, text_of(result)
                got = await client.call_tool("memory_get", {"id": f"n:{number}", "space": space})
                assert facts_of(got)["document"] == {"value": step}
                read = await client.call_tool("read", {"path": "shop/tax.py"})
                assert "1.19" in text_of(read)

    async def story() -> None:
        async with asyncio.timeout(WAIT_S * 4):
            await asyncio.gather(*(one(number) for number in range(agents)))
            async with machine.agent() as client:
                for number in range(5):
                    found = await call(client, "memory_history", space=f"s{number}", limit=500)
                    entries = facts_of(found)["entries"]
                    assert len(entries) == 3 * agents // 5
                    assert len({entry["sessionId"] for entry in entries}) == agents // 5

    asyncio.run(story())


@pytest.mark.long
@pytest.mark.shows("MCP-CANCEL", "MCP-PROGRESS")
@pytest.mark.parametrize("era", ERAS)
def test_a_cancelled_build_leaves_the_old_generation(machine: Machine, era: str) -> None:
    async def story() -> None:
        async with asyncio.timeout(WAIT_S * 2), machine.agent(era) as client:
            tree = str(machine.tree)
            for number in range(1_500):
                path = machine.tree / f"many_{number}.py"
                path.write_text(f"def many_{number}():\n    return {number}\n")
            made = await call(client, "manage_index", action="create", path=tree, wait=100)
            assert facts_of(made)["status"] == "ok"
            generation = facts_of(made)["humanText"].splitlines()[1]
            reports: list[float] = []
            began = asyncio.Event()

            async def progress(progress: float, total: float | None, message: str | None) -> None:
                reports.append(progress)
                assert total == 100.0
                assert message
                began.set()

            building = asyncio.create_task(
                client.call_tool(
                    "manage_index",
                    {"action": "reindex", "path": tree, "wait": 60},
                    progress_callback=progress,
                )
            )
            await began.wait()
            building.cancel()
            with pytest.raises(asyncio.CancelledError):
                await building
            while True:
                status = facts_of(await call(client, "manage_index", action="status", path=tree))
                if status["status"] != "not_ready":
                    break
            assert status["status"] == "ok", status
            assert generation in status["humanText"], "the generation of before is served"
            assert "the call was cancelled" in status["humanText"]
            assert reports == sorted(reports)
            found = await call(client, "search_code", query="checkout cart", path=tree)
            assert facts_of(found)["results"][0]["file"] == "shop/cart.py"

    asyncio.run(story())


@pytest.mark.shows("MCP-LOG")
def test_the_log_tells_no_secrets(machine: Machine) -> None:
    secret = "hunter2-do-not-tell"
    (machine.tree / "secret.txt").write_text(secret)

    async def story(client: Client) -> None:
        await call(client, "read", path="secret.txt")
        await call(client, "read", path=f"none-{secret}")
        await call(
            client, "memory_commit", operations=[{"op": "set", "id": secret, "value": secret}]
        )
        await call(client, "memory_get", id=secret, pointer=f"/{secret}")
        await call(client, "search_code", query=secret, path=".")

    machine.talk(story)
    log = (machine.home / "run" / "host-default.log").read_text()
    assert "serving" in log
    assert secret not in log


@pytest.mark.shows("MCP-SETTINGS")
def test_other_settings_get_another_host(machine: Machine) -> None:
    from holdfast.mcp.rendezvous import settings_key

    plain = settings_key({"PATH": "/bin"})
    other = settings_key({"HOLDFAST_DATABASE_URL": "postgresql://u:secret@h/d"})
    assert plain == "default"
    assert other != plain
    assert "secret" not in other
    assert settings_key({"HOLDFAST_EMBEDDING": ""}) == "default"


@pytest.mark.long
def test_stop_and_status_speak_of_the_host(machine: Machine) -> None:
    assert "no host is running" in machine.run("mcp", "--status").stdout
    agent = Raw(machine)
    agent.initialize()
    status = json.loads(machine.run("mcp", "--status", "--json").stdout)
    assert status["running"] is True
    assert status["pid"] == machine.host
    assert "stopped the host" in machine.run("mcp", "--stop").stdout
    assert machine.host is None
    assert "result" in agent.tool("list_codebases"), "the next call starts a new one"
    agent.close()


@pytest.mark.shows("MCP-SHIM-THIN")
def test_the_shim_imports_almost_nothing() -> None:
    program = "import sys, holdfast.mcp.shim; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    assert loaded & {"mcp", "mcp_types", "pydantic", "asyncio", "apsw", "msgspec", "numpy",
                     "subprocess", "logging", "argparse", "anyio"} == set()  # fmt: skip


@pytest.mark.long
@pytest.mark.shows("MCP-NO-SDK")
def test_without_the_sdk_the_agent_is_told_what_to_install(cold: Machine, tmp_path: Path) -> None:
    (tmp_path / "mcp_types.py").write_text("raise ImportError('No module named mcp_types')\n")
    cold.environment["PYTHONPATH"] = str(tmp_path)
    agent = Raw(cold)
    error = agent.initialize()["error"]
    assert "holdfast[agents]" in error["message"]
    agent.close()


def test_a_home_that_cannot_be_written_is_said_at_once_and_nothing_is_claimed() -> None:
    def connect() -> socket.socket:
        raise PermissionError(errno.EROFS, "Read-only file system", "/home/run/host.start")

    agent, shim_in = os.pipe()
    shim_out, answers = os.pipe()
    try:
        os.write(shim_in, b'{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}\n')
        os.write(shim_in, b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}\n')
        os.close(shim_in)
        assert Shim(connect, agent, answers).run() == 0
        os.close(answers)
        said = [json.loads(line) for line in os.read(shim_out, 1 << 16).splitlines()]
    finally:
        os.close(agent)
        os.close(shim_out)
    assert [one["id"] for one in said] == [1, 2]
    for one in said:
        assert one["error"]["data"]["reason"] == "no_host"
        assert "Read-only file system: /home/run/host.start" in one["error"]["message"]
        assert "set HOLDFAST_HOME" in one["error"]["data"]["hint"]
