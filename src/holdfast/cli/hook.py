"""`holdfast hook`: sends the payload of an agent's hook to the host, and prints its answer.

Reads one JSON object from standard input. Always exits with 0: our failure must not fail the agent.
The hooks that `holdfast install` writes call the host directly, which is faster; this command is
for hooks that were written by hand or by an earlier version.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from collections.abc import Mapping
from typing import Any, NoReturn

from holdfast.app import App


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Called by an agent's hooks with a JSON object on standard input; not for people."
    )
    parser.add_argument("--agent", default="claude-code", help="which agent calls")
    # argparse's exit code 2 for a wrong option would stop the agent.
    parser.error = _ignored  # type: ignore[method-assign]


def _ignored(message: str) -> NoReturn:
    raise SystemExit(0)


def run(args: argparse.Namespace, app: App) -> int:
    with contextlib.suppress(Exception):
        _run(args.agent, sys.stdin.read() if sys.stdin is not None else "", app)
    return 0


def _run(agent: str, raw: str, app: App) -> None:
    from holdfast.agents import hook_client

    payload = json.loads(raw)
    if not isinstance(payload, dict):
        return
    with contextlib.suppress(OSError):
        _leave_binding(agent, payload, app)
    place = hook_client.socket_of({**app.environment, "HOLDFAST_HOME": app.home.root})
    answer = hook_client.ask(agent, raw.encode("utf-8", "surrogatepass"), place)
    if answer.strip() not in (b"", b"{}"):
        sys.stdout.write(answer.decode("utf-8", "replace"))


def _leave_binding(agent: str, payload: Mapping[str, Any], app: App) -> None:
    """Store which conversation the agent that started us is in."""
    from holdfast.mcp.rendezvous import ancestors
    from holdfast.reading.hosts import bindings

    event, session, transcript = (
        payload.get(name) for name in ("hook_event_name", "session_id", "transcript_path")
    )
    if not (isinstance(event, str) and isinstance(session, str) and isinstance(transcript, str)):
        return
    process = next(
        ((int(f"{p['pid']}"), int(f"{p['start']}")) for p in ancestors() if _is_agent(p)), None
    )
    app.home.make()
    cwd, at_ms = str(payload.get("cwd") or ""), app.clock.now_ms()
    path = os.path.abspath(transcript)
    bindings.write(app.home, bindings.Binding(agent, session, path, cwd, process, event, at_ms))


def _is_agent(process: dict[str, object]) -> bool:
    """Whether a process is not a shell: hooks are often run through one."""
    return process.get("name") not in ("sh", "bash", "dash", "zsh", "fish", "env")
