"""Sets up pi: an extension that answers `read`, helps its other tools and adds two commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents.client import NAME, Client, InstallTarget, found_by
from holdfast.agents.plan import Edit, read
from holdfast.agents.scripts import with_host


def _file(target: InstallTarget) -> Path:
    folder = target.project / ".pi" if target.project is not None else None
    folder = folder or target.folder("PI_CODING_AGENT_DIR", ".pi/agent")
    return folder / "extensions" / f"{NAME}.ts"


def _install(target: InstallTarget) -> list[Edit]:
    path = _file(target)
    text = with_host(target, "pi", "extension.ts")
    text = text.replace('["holdfast"]', json.dumps(list(target.command)))
    what = "an extension: read, shorter shell reads, help for failed edits, two commands"
    return [Edit(path, read(path), text, what)]


def _uninstall(target: InstallTarget, receipt: Mapping[str, Any]) -> list[Edit]:
    path = _file(target)
    return [Edit(path, read(path), None, "an extension")]


CLIENT = Client(
    "pi",
    "pi",
    found_by(lambda target: target.folder("PI_CODING_AGENT_DIR", ".pi/agent"), "pi"),
    _install,
    _uninstall,
    "start pi, or /reload; /readcache-status answers",
)
