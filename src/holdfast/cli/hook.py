"""`holdfast hook`: what agents call at the start of a session, at compactions and after tools.

Reads one JSON object from standard input. Always exits with 0: trouble of ours is not the agent's.
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

    heard = parse(raw)
    if heard is None:
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
                heard.session,
                os.path.abspath(heard.transcript),
                heard.cwd,
                agent,
                heard.event,
                app.clock.now_ms(),
            ),
        )
    said = answer(heard, lambda: recovery_text(app, heard))
    if said:
        print(json.dumps(said))


def _is_agent(process: dict[str, object]) -> bool:
    """The nearest ancestor that is no shell: hooks are often run through one."""
    return process.get("name") not in ("sh", "bash", "dash", "zsh", "fish", "env")
