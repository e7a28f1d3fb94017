"""The shim by itself: long messages, hosts that are lost, and agents that say nothing."""

from __future__ import annotations

import fcntl
import json
import os
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.mcp import shim
from holdfast.mcp.agent_lines import LineBuffer
from holdfast.mcp.shim import Shim
from tests.mcp.agents import WAIT_S, Machine, machine_in
from tests.mcp.test_host import Raw
from tests.scale import first_in_quick


@given(st.lists(st.binary(max_size=6).map(lambda data: data.replace(b"\r", b"\n")), max_size=20))
def test_lines_are_those_of_the_whole_however_it_arrives(pieces: list[bytes]) -> None:
    """Each piece was joined with all before it: a message of 60 MB took two minutes."""
    lines = LineBuffer()
    seen = [line for piece in pieces for line in lines.feed(piece)]
    *whole, rest = b"".join(pieces).split(b"\n")
    assert seen == whole
    assert lines.rest() == rest


@contextmanager
def talking(connect: Callable[[], socket.socket]) -> Iterator[tuple[int, Callable[[], Any]]]:
    """A shim between two pipes: where to write to, and what reads its next answer."""
    agent, speak = os.pipe()
    hear, answers = os.pipe()
    running = threading.Thread(target=Shim(connect, agent, answers).run, daemon=True)
    running.start()
    with os.fdopen(hear, "rb") as heard:
        try:
            yield speak, lambda: json.loads(heard.readline())
        finally:
            os.close(speak)
            running.join(WAIT_S)
            os.close(answers)
            os.close(agent)
    assert not running.is_alive()


def echo(peer: socket.socket) -> None:
    with peer, peer.makefile("rb") as lines:
        for line in lines:
            answer = {"jsonrpc": "2.0", "id": json.loads(line)["id"], "result": {"size": len(line)}}
            peer.sendall(json.dumps(answer).encode() + b"\n")


def test_a_message_that_is_too_long_is_said_to_be_and_nothing_is_lost_for_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The host hung up on it, and the agent was told that the host had ended in the call."""
    monkeypatch.setattr(shim, "LINE_BYTES_MAX", 200)

    def connect() -> socket.socket:
        ours, theirs = socket.socketpair()
        threading.Thread(target=echo, args=(theirs,), daemon=True).start()
        return ours

    with talking(connect) as (speak, next_answer):
        long = {"method": "tools/call", "params": {"x": "y" * 300}, "jsonrpc": "2.0", "id": 1}
        os.write(speak, json.dumps(long).encode() + b"\n")
        refused = next_answer()
        assert (refused["id"], refused["error"]["code"]) == (1, -32600)
        assert "200 bytes" in refused["error"]["message"]
        os.write(speak, b'{"jsonrpc":"2.0","id":2,"method":"ping"}\n')
        assert next_answer()["id"] == 2


def test_a_question_is_answered_also_when_no_other_host_can_be_asked() -> None:
    """It was asked again, the next host was gone as well, and nobody said so."""
    tries = []

    def connect() -> socket.socket:
        tries.append(1)
        if len(tries) > 1:
            raise ConnectionResetError
        ours, theirs = socket.socketpair()
        theirs.close()
        return ours

    with talking(connect) as (speak, next_answer):
        os.write(speak, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        assert next_answer()["error"]["data"]["reason"] == "host_lost"


@pytest.mark.shows("HOOK-HARMLESS")
def test_a_hook_is_answered_also_when_a_frozen_host_takes_no_more_lines() -> None:
    """A large result filled the socket. The shim waited for the host to read, and read no further
    hooks: each made the agent wait until its own limit."""
    ours, theirs = socket.socketpair()
    with talking(lambda: ours) as (speak, next_answer), theirs:
        for id, size in ((1, 4 << 20), (2, 10), (3, 10)):
            arguments = {"tool_response": "x" * size}
            hook = {"method": "tools/call", "params": {"name": "hook", "arguments": arguments}}
            with os.fdopen(os.dup(speak), "wb") as agent:
                agent.write(json.dumps({"jsonrpc": "2.0", "id": id, **hook}).encode() + b"\n")
            answer = next_answer()
            assert (answer["id"], answer["result"]["content"][0]["text"]) == (id, "{}")


@pytest.mark.shows("ISS-INDEX-STABILITY-RETRY")
def test_a_call_that_was_answered_or_may_have_been_carried_out_is_not_repeated() -> None:
    refusal = {"content": [], "structuredContent": {"status": "not_indexed"}, "isError": False}
    sent_again: list[int] = []

    def first(peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            assert json.loads(lines.readline())["id"] == 1
            answer = {"jsonrpc": "2.0", "id": 1, "result": refusal}
            peer.sendall(json.dumps(answer).encode() + b"\n")
            assert [json.loads(lines.readline())["id"] for _ in range(2)] == [2, 3]

    def second(peer: socket.socket) -> None:
        with peer, peer.makefile("rb") as lines:
            for line in lines:
                sent_again.append(json.loads(line)["id"])
                answer = {"jsonrpc": "2.0", "id": sent_again[-1], "result": {}}
                peer.sendall(json.dumps(answer).encode() + b"\n")

    hosts = iter([first, second])

    def connect() -> socket.socket:
        ours, theirs = socket.socketpair()
        threading.Thread(target=next(hosts), args=(theirs,), daemon=True).start()
        return ours

    with talking(connect) as (speak, next_answer):
        os.write(speak, b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{}}\n')
        assert next_answer()["result"] == refusal
        os.write(speak, b'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{}}\n')
        os.write(speak, b'{"jsonrpc":"2.0","id":3,"method":"ping"}\n')
        answers = {answer["id"]: answer for answer in (next_answer(), next_answer())}
    assert answers[2]["error"]["data"]["reason"] == "host_lost"
    assert answers[3]["result"] == {}
    assert sent_again == [3]


@pytest.mark.shows("MCP-MALFORMED")
@pytest.mark.parametrize("id", ["null", "{}", "1.5", "true", "[1]"])
def test_an_id_that_is_none_is_an_error_and_no_silence(shared: Machine, id: str) -> None:
    """Such a request was taken for a notification, and its sender waited for ever."""
    agent = Raw(shared)
    agent.initialize()
    agent.send(f'{{"jsonrpc":"2.0","id":{id},"method":"ping"}}'.encode())
    answer = agent.receive()
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    agent.send(b'{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":99}}')
    assert "result" in agent.tool("list_codebases")
    agent.close()


@pytest.mark.long
@pytest.mark.shows("MCP-KILLED")
def test_a_home_that_was_removed_is_made_again(tmp_path: Path) -> None:
    """`rm -rf ~/.holdfast` left every agent that ran without tools until it was started anew."""
    with machine_in(tmp_path) as machine:
        agent = Raw(machine)
        agent.initialize()
        subprocess.run(machine.command("--stop"), env=machine.environment, check=True)
        shutil.rmtree(machine.home)
        assert "result" in agent.tool("list_codebases")
        agent.close()


@pytest.mark.shows("MCP-IDLE")
@pytest.mark.parametrize("seconds", first_in_quick(["soon", "-1", "nan"]))
def test_a_time_to_idle_that_is_none_is_named(tmp_path: Path, seconds: str) -> None:
    with machine_in(tmp_path, HOLDFAST_MCP_IDLE_S=seconds) as machine:
        agent = Raw(machine)
        message = agent.initialize()["error"]["message"]
        assert f"HOLDFAST_MCP_IDLE_S must be a number of seconds (got {seconds!r})" in message
        assert "Error:" not in message
        agent.close()


@pytest.mark.long
@pytest.mark.shows("MCP-IDLE")
def test_a_host_that_shall_not_idle_at_all_serves_whoever_started_it(tmp_path: Path) -> None:
    """With 0 seconds it ended before its first agent could greet it."""
    with machine_in(tmp_path, HOLDFAST_MCP_IDLE_S="0") as machine:
        agent = Raw(machine)
        assert "result" in agent.initialize()
        agent.close()


@pytest.mark.shows("CLI-ERRORS")
def test_without_an_agent_the_shim_ends_in_a_sentence(tmp_path: Path) -> None:
    ended = subprocess.run(
        ["sh", "-c", f"exec '{sys.executable}' -m holdfast mcp <&-"],
        env={"HOME": str(tmp_path), "PATH": "/usr/bin:/bin"},
        capture_output=True, timeout=WAIT_S, check=False,
    )  # fmt: skip
    assert b"Traceback" not in ended.stderr
    assert ended.stderr.startswith(b"holdfast: ")
    assert ended.returncode == 2


@contextmanager
def agent_of(machine: Machine) -> Iterator[Raw]:
    agent = Raw(machine)
    try:
        yield agent
    finally:
        agent.close()


@contextmanager
def no_host_starts(machine: Machine) -> Iterator[Callable[[], None]]:
    """A machine on which a host ran before, and none can start until the function is called."""
    with agent_of(machine) as agent:
        agent.initialize()
        agent.ask("tools/list")
    subprocess.run(machine.command("--stop"), env=machine.environment, check=True)
    with open(os.path.join(machine.home, "run", "host-default.start"), "a") as starting:
        fcntl.flock(starting, fcntl.LOCK_EX)
        yield lambda: fcntl.flock(starting, fcntl.LOCK_UN)


@pytest.mark.shows("MCP-KEPT-ANSWERS")
def test_the_handshake_and_the_tools_are_answered_while_a_host_starts(tmp_path: Path) -> None:
    """Codex does not wait: with a cold host its first request had none of our tools."""
    with (
        machine_in(tmp_path) as machine,
        no_host_starts(machine) as let_it_start,
        agent_of(machine) as agent,
    ):
        assert agent.initialize()["result"]["serverInfo"]["name"] == "holdfast"
        names = {tool["name"] for tool in agent.ask("tools/list")["result"]["tools"]}
        assert {"read", "recover"} <= names
        let_it_start()
        assert "result" in agent.tool("list_codebases")


@pytest.mark.long
@pytest.mark.shows("HOOK-HARMLESS")
def test_a_hook_is_answered_with_nothing_while_no_host_answers(tmp_path: Path) -> None:
    with (
        machine_in(tmp_path) as machine,
        no_host_starts(machine) as let_it_start,
        agent_of(machine) as agent,
    ):
        agent.initialize()
        answer = agent.tool("hook", agent="claude-code", hook_event_name="PostToolUse")
        assert answer["result"] == {"content": [{"type": "text", "text": "{}"}]}
        let_it_start()
        late = agent.tool("list_codebases")
        assert late["id"] == answer["id"] + 1, "its late answer is dropped"
        assert "result" in late
