"""`holdfast hook`: called by agents at the start of a session, at compactions and after tools.

Reads one JSON object from standard input. Always exits with 0: a failure of ours must not fail the
agent.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import sys
from typing import NoReturn

from holdfast.app import App


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Called by an agent's hooks with a JSON object on standard input; not for people."
    )
    # Code 2, the usual one for a wrong option, would stop the agent.
    parser.error = _ignored  # type: ignore[method-assign]


def _ignored(message: str) -> NoReturn:
    raise SystemExit(0)


def run(args: argparse.Namespace, app: App) -> int:
    with contextlib.suppress(Exception):
        _run(sys.stdin.read() if sys.stdin is not None else "", app)
    return 0


def _run(raw: str, app: App) -> None:
    from holdfast.agents.claude.hook import answer, parse, recovery_text
    from holdfast.mcp.rendezvous import ancestors
    from holdfast.reading.hosts import bindings

    call = parse(raw)
    if call is None:
        return
    agent = next(
        ((int(f"{p['pid']}"), int(f"{p['start']}")) for p in ancestors() if _is_agent(p)), None
    )
    with contextlib.suppress(OSError):
        app.home.make()
        bindings.write(
            app.home,
            bindings.Binding(
                "claude-code",
                call.session,
                os.path.abspath(call.transcript),
                call.cwd,
                agent,
                call.event,
                app.clock.now_ms(),
            ),
        )
    reply = answer(call, lambda: recovery_text(app, call))
    if reply:
        print(json.dumps(reply))


def _is_agent(process: dict[str, object]) -> bool:
    """Whether a process is not a shell: hooks are often run through one."""
    return process.get("name") not in ("sh", "bash", "dash", "zsh", "fish", "env")
