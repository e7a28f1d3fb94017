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


def configure(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Called by an agent's hooks with a JSON object on standard input; not for people."
    )
    # Code 2, the usual one for a wrong option, would stop the agent.
    parser.error = _ignored  # type: ignore[method-assign]


def _ignored(message: str) -> NoReturn:
    raise SystemExit(0)


def run(args: argparse.Namespace) -> int:
    with contextlib.suppress(Exception):
        _run(sys.stdin.read() if sys.stdin is not None else "")
    return 0


def _run(raw: str) -> None:
    import time

    from holdfast.agents.claude.hook import answer, parse, recovery_text
    from holdfast.app import App
    from holdfast.mcp import bindings
    from holdfast.mcp.rendezvous import ancestors

    call = parse(raw)
    if call is None:
        return
    app = App.from_environment()
    home = app.home
    agent = next(
        ((int(f"{p['pid']}"), int(f"{p['start']}")) for p in ancestors() if _is_agent(p)), None
    )
    with contextlib.suppress(OSError):
        app.make_home()
        bindings.write(
            home,
            bindings.Binding(
                "claude-code",
                call.session,
                os.path.abspath(call.transcript),
                call.cwd,
                agent,
                call.event,
                time.time_ns() // 1_000_000,
            ),
        )
    reply = answer(call, lambda: recovery_text(home, call))
    if reply:
        print(json.dumps(reply))


def _is_agent(process: dict[str, object]) -> bool:
    """Whether a process is not a shell: hooks are often run through one."""
    return process.get("name") not in ("sh", "bash", "dash", "zsh", "fish", "env")
