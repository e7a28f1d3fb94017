"""`holdfast mcp --status` and `--stop`: report and stop the background host."""

from __future__ import annotations

import json
import os
import signal
import time
from typing import Any

from holdfast.app import App
from holdfast.mcp.frozen_host import answer_seconds, end_frozen_host, host_answers, lock_facts
from holdfast.mcp.rendezvous import Rendezvous, rendezvous_of

STOP_S = 20.0
CHECK_S = 3.0
"""How long a host may take to answer a check; the user waits for it."""


def running_host(app: App) -> dict[str, Any] | None:
    """The process id and version of the running host; None if none runs."""
    return running(rendezvous_of(app.home, app.environment))


def running(place: Rendezvous) -> dict[str, Any] | None:
    """The process id and version of the running host; None if none runs."""
    return lock_facts(place)


def answers(app: App) -> bool:
    """Whether the running host answers; also true if none runs."""
    place = rendezvous_of(app.home, app.environment)
    return host_answers(place, min(CHECK_S, answer_seconds(app.environment)))


def status(app: App, *, as_json: bool) -> int:
    place = rendezvous_of(app.home, app.environment)
    host = running(place)
    if as_json:
        facts = {"running": host is not None, **(host or {}), "log": place.log}
        print(json.dumps(facts if host is None else {**facts, "answers": answers(app)}))
    elif host is None:
        print("no host is running; the next agent starts one")
    else:
        frozen = "" if answers(app) else ", but it does not answer; stop it: holdfast mcp --stop"
        print(f"a host is running: process {host['pid']}, version {host['version']}{frozen}")
        print(f"log: {place.log}")
    return 0


def end_host(app: App) -> bool:
    """Stop the host and wait until it has ended; whether none runs now."""
    place = rendezvous_of(app.home, app.environment)
    host = running(place)
    ended = host is None
    if host is not None:
        pid = int(host["pid"])
        os.kill(pid, signal.SIGTERM)
        # A frozen host does not receive the signal, and a blocked one does not handle it.
        ended = not answers(app) and end_frozen_host(place, CHECK_S)
        deadline = app.clock.monotonic() + STOP_S
        while not ended and app.clock.monotonic() < deadline:
            time.sleep(0.02)
            now = running(place)
            ended = now is None or now.get("pid") != pid
    return ended


def stop(app: App, *, as_json: bool) -> int:
    """Stop the host. The next call of an agent starts a new one."""
    host = running_host(app)
    ended = end_host(app)
    if as_json:
        print(json.dumps({"stopped": host is not None and ended}))
    elif host is None:
        print("no host is running")
    else:
        print("stopped the host" if ended else f"process {host['pid']} did not end")
    return 0 if ended else 1
