"""The line between a hook and the host: understood, bounded in time, and never harmful."""

from __future__ import annotations

import asyncio
import json
import os
import re
import shutil
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping
from contextlib import chdir, contextmanager, suppress
from pathlib import Path
from typing import Any

import pytest

from holdfast.agents import hook_client, hooks
from holdfast.agents.hook_event import HookEvent, Moment, Outcome, ReadCall
from holdfast.agents.hooks import adapter_of
from holdfast.home import Home
from holdfast.mcp import hook_protocol, rendezvous
from holdfast.mcp.hook_service import HookService

READ: dict[str, Any] = {
    "hook_event_name": "PostToolUse",
    "session_id": "s",
    "transcript_path": "/t/s.jsonl",
    "cwd": "/w",
    "tool_name": "Read",
    "tool_use_id": "toolu_1",
    "tool_input": {"file_path": "/w/a.py"},
    "tool_response": {
        "type": "text",
        "file": {
            "filePath": "/w/a.py",
            "content": "one\ntwo\n",
            "numLines": 3,
            "startLine": 1,
            "totalLines": 3,
        },
    },
}


def answer(
    payload: Mapping[str, Any], outcome: Outcome | Exception | None, **more: Any
) -> Mapping[str, Any]:
    """What a service says whose decision is this one; None never decides."""
    ended = threading.Event()

    def decide(event: HookEvent) -> Outcome:
        if isinstance(outcome, Exception):
            raise outcome
        if outcome is None:
            ended.wait(30)
        return outcome or Outcome()

    service = HookService(decide, **more)
    try:
        return asyncio.run(service.answer("claude-code", payload))
    finally:
        ended.set()
        service.close()


@pytest.mark.shows("HOOK-PROTOCOL")
def test_a_payload_becomes_an_event_and_the_outcome_an_answer() -> None:
    said = answer(READ, Outcome(replacements={0: "[unchanged]"}))
    file = said["hookSpecificOutput"]["updatedToolOutput"]["file"]
    assert (file["content"], file["startLine"]) == ("[unchanged]", 1)
    event = hooks.adapter_of("claude-code").event_of(READ)  # type: ignore[union-attr]
    assert event is not None
    assert event.moment is Moment.AFTER_TOOL
    assert event.uses[0].call == ReadCall("/w/a.py")
    assert event.uses[0].is_whole


@pytest.mark.shows("HOOK-HARMLESS")
@pytest.mark.parametrize(
    ("payload", "outcome"),
    [
        pytest.param(READ, ValueError("a bug"), id="an exception of ours"),
        pytest.param(READ, Outcome(), id="nothing to do"),
        pytest.param({}, Outcome(note="x"), id="not a hook's payload"),
        pytest.param({**READ, "tool_name": "WebFetch"}, Outcome(note="x"), id="not our tool"),
        pytest.param({**READ, "tool_response": {"type": "image"}}, Outcome(note="x"), id="image"),
    ],
)
def test_what_cannot_be_answered_is_answered_with_nothing(
    payload: dict[str, Any], outcome: Outcome | Exception
) -> None:
    assert answer(payload, outcome) == {}


@pytest.mark.shows("HOOK-HARMLESS")
def test_a_decision_that_takes_too_long_is_answered_with_nothing() -> None:
    assert answer(READ, None, answer_s=0.05) == {}


@pytest.mark.shows("HOOK-VERSION")
def test_the_request_has_its_form_and_its_version() -> None:
    """Another form needs another version: installed hooks of older ones go on asking."""
    line = hook_protocol.request_line("codex", {"a": 1})
    assert line == b'{"holdfast":"hook","v":1,"agent":"codex","payload":{"a":1}}\n'
    assert line.startswith(hook_protocol.PREFIX)
    assert hook_protocol.request_of(line) == ("codex", {"a": 1})
    assert hook_protocol.request_of(line.replace(b'"v":1', b'"v":2')) is None
    assert hook_client.VERSION == hook_protocol.HOOK_VERSION


@pytest.mark.shows("HOOK-CLIENT")
def test_the_client_finds_the_same_socket_as_the_shim(tmp_path: Path) -> None:
    assert hook_client.SETTINGS == rendezvous.SETTINGS
    for settings in (
        {},
        {"HOLDFAST_DATABASE_URL": "postgresql:///x"},
        {"OPENAI_API_KEY": "not used"},
        {"OPENAI_API_KEY": "used", "HOLDFAST_EMBEDDING": "openai"},
    ):
        environment = {"HOLDFAST_HOME": str(tmp_path), **settings}
        place = rendezvous.rendezvous_of(Home(tmp_path), environment)
        assert hook_client.socket_of(environment) == (place.run, place.socket)


PYTHON = (sys.executable, "-I", "-S", hook_client.__file__)
PERL = shutil.which("perl")
CLIENTS = [
    pytest.param(PYTHON, id="python"),
    pytest.param(
        (PERL, str(Path(hook_client.__file__).with_suffix(".pl")), sys.executable),
        id="perl",
        marks=pytest.mark.skipif(PERL is None, reason="there is no Perl"),
    ),
]
each_client = pytest.mark.parametrize("program", CLIENTS)


def client(
    program: tuple[str, ...], home: Path, payload: bytes, agent: str = "claude-code", **more: str
) -> bytes:
    """What the client prints, run as a hook runs it."""
    done = subprocess.run(
        [*program, agent],
        input=payload,
        capture_output=True,
        env={"HOLDFAST_HOME": str(home), **more},
        timeout=20,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


@contextmanager
def listener(home: Path, name: str) -> Iterator[socket.socket]:
    """A socket where a host's would be."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as server:
        with chdir(home / "run"):
            server.bind(name)
        server.listen()
        server.settimeout(20)
        yield server


@pytest.fixture
def listening(tmp_path: Path) -> Iterator[socket.socket]:
    (tmp_path / "run").mkdir()
    with listener(tmp_path, "host-default.sock") as server:
        yield server


def test_both_clients_know_the_settings_and_the_version() -> None:
    text = Path(hook_client.__file__).with_suffix(".pl").read_text()
    assert (
        tuple(re.findall(r"\bHOLDFAST_[A-Z_]+(?=[ )\n])", text.split("for my $name")[1]))[
            : len(rendezvous.SETTINGS) - rendezvous.KEYS
        ]
        == (rendezvous.SETTINGS[: -rendezvous.KEYS])
    )
    assert f"$VERSION = {hook_protocol.HOOK_VERSION};" in text


@each_client
@pytest.mark.parametrize("settings", [{}, {"HOLDFAST_DATABASE_URL": "postgresql:///x"}])
@pytest.mark.shows("HOOK-CLIENT")
def test_the_client_passes_a_payload_as_one_line_and_prints_the_answer(
    tmp_path: Path, program: tuple[str, ...], settings: dict[str, str]
) -> None:
    """Also a payload that no buffer holds, and an answer that comes in pieces."""
    lines = []
    place = rendezvous.rendezvous_of(Home(tmp_path), settings)

    def host(server: socket.socket) -> None:
        connection, _ = server.accept()
        with connection, connection.makefile("rb") as file:
            lines.append(file.readline())
            connection.sendall(b'{"a": ')
            connection.sendall(b'"' + b"b" * 200_000 + b'"}\n')

    (tmp_path / "run").mkdir()
    with listener(tmp_path, place.socket) as server:
        thread = threading.Thread(target=host, args=(server,))
        thread.start()
        payload = json.dumps({"x": "y\nz", "long": "ü" * 300_000}, indent=1).encode()
        said = client(program, tmp_path, payload, HOLDFAST_HOOK_S="20", **settings)
        thread.join(20)
    assert said == b'{"a": "' + b"b" * 200_000 + b'"}\n'
    assert hook_protocol.request_of(lines[0]) == ("claude-code", json.loads(payload))


@each_client
@pytest.mark.shows("HOOK-HARMLESS")
def test_the_client_prints_nothing_without_a_host(tmp_path: Path, program: tuple[str, ...]) -> None:
    assert client(program, tmp_path, json.dumps(READ).encode()) == b""
    (tmp_path / "run").mkdir()
    assert client(program, tmp_path, json.dumps(READ).encode()) == b""
    assert client(program, tmp_path, json.dumps(READ).encode(), HOLDFAST_HOOK_S="soon") == b""


@each_client
@pytest.mark.shows("HOOK-HARMLESS")
def test_the_client_ends_when_the_agent_never_ends_its_payload(
    tmp_path: Path, listening: socket.socket, program: tuple[str, ...]
) -> None:
    hook = subprocess.Popen(
        [*program, "codex"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={"HOLDFAST_HOME": str(tmp_path)},
    )
    assert hook.stdin is not None
    assert hook.stdout is not None
    with hook.stdin, hook.stdout:
        hook.stdin.write(b"{")
        hook.stdin.flush()
        assert hook.wait(20) == 0
        assert hook.stdout.read() == b""


@each_client
@pytest.mark.shows("HOOK-HARMLESS")
def test_an_answer_that_comes_too_late_is_not_waited_for(
    tmp_path: Path, listening: socket.socket, program: tuple[str, ...]
) -> None:
    """The host answers once the client has gone: it goes by itself, within what hooks may take."""
    said = []

    def host() -> None:
        connection, _ = listening.accept()
        with connection, connection.makefile("rb") as file:
            said.append(file.readline()[:12])
            said.append(file.read())  # all there is: the client hung up before the answer
            with suppress(OSError):
                connection.sendall(b'{"systemMessage": "late"}\n')

    thread = threading.Thread(target=host)
    thread.start()
    assert client(program, tmp_path, json.dumps(READ).encode()) == b""
    thread.join(20)
    assert said == [b'{"holdfast":', b""]
    assert hook_protocol.ANSWER_S < hook_client.WAIT_S <= 0.3
    assert (
        f"$left = {hook_client.WAIT_S} unless"
        in Path(hook_client.__file__).with_suffix(".pl").read_text()
    )


@each_client
@pytest.mark.shows("HOOK-HARMLESS")
@pytest.mark.parametrize("answers", [None, b"", b"{}\n", b"half a li"])
def test_the_client_prints_nothing_when_the_host_says_nothing(
    tmp_path: Path, listening: socket.socket, program: tuple[str, ...], answers: bytes | None
) -> None:
    """None: a frozen host, which takes the connection and never answers."""
    done = threading.Event()

    def host() -> None:
        connection, _ = listening.accept()
        with connection:
            if answers is None:
                done.wait(20)
                return
            connection.recv(1 << 16)
            connection.sendall(answers)

    thread = threading.Thread(target=host)
    thread.start()
    assert client(program, tmp_path, json.dumps(READ).encode()) == b""
    done.set()
    thread.join()


@pytest.mark.shows("HOOK-PROTOCOL")
def test_the_running_host_answers_hooks_and_shims_on_one_socket(tmp_path: Path) -> None:
    """Also several hooks in one connection, and after a request that it does not understand."""
    environment = {**os.environ, "HOLDFAST_HOME": str(tmp_path)}
    program = str(Path(sys.executable).parent / "holdfast")
    shim = subprocess.Popen(
        [program, "mcp"], env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    assert shim.stdin is not None
    assert shim.stdout is not None
    try:
        shim.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        shim.stdin.flush()
        assert b'"id":1' in shim.stdout.readline()
        asked = [
            hook_protocol.request_line("no-such-agent", {}),
            hook_protocol.request_line("claude-code", READ),
        ]
        before = os.getcwd()
        os.chdir(tmp_path / "run")
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as connection:
            connection.settimeout(20)
            connection.connect("host-default.sock")
            os.chdir(before)
            with connection.makefile("rb") as file:
                for line in asked:
                    connection.sendall(line)
                    assert file.readline() == b"{}\n"
        assert client(PYTHON, tmp_path, json.dumps(READ).encode()) == b""
    finally:
        shim.stdin.close()
        shim.wait(20)
        shim.stdout.close()
        subprocess.run([program, "mcp", "--stop"], env=environment, check=True)


@pytest.mark.shows("CODEX-SUBAGENT")
def test_an_event_of_codex_that_names_another_rollout_than_its_subagents_is_left_alone() -> None:
    payload = {
        "hook_event_name": "PostToolUse",
        "session_id": "above",
        "transcript_path": "/c/sessions/rollout-2026-11-17T14-34-17-below.jsonl",
        "cwd": "/w",
        "tool_name": "Bash",
        "tool_input": {"command": "cat a.py"},
        "tool_response": "x\n",
        "tool_use_id": "call-1",
    }
    adapter = adapter_of("codex")
    assert adapter is not None
    main, below = adapter.event_of(payload), adapter.event_of({**payload, "agent_id": "below"})
    assert main is not None
    assert below is not None
    assert (main.subagent, below.subagent) == (None, "below")
    for other in ("above", "", 7, "elow"):
        assert adapter.event_of({**payload, "agent_id": other}) is None
