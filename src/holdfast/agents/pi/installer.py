"""Sets up pi: an extension that answers `read` and adds two commands."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from holdfast.agents.client import NAME, Client, InstallTarget, bundled, found_by
from holdfast.agents.plan import Edit, read


def _file(target: InstallTarget) -> Path:
    folder = target.project / ".pi" if target.project is not None else None
    folder = folder or target.folder("PI_CODING_AGENT_DIR", ".pi/agent")
    return folder / "extensions" / f"{NAME}.ts"


def _install(target: InstallTarget) -> list[Edit]:
    path = _file(target)
    text = bundled("pi", "extension.ts").replace('["holdfast"]', json.dumps(list(target.command)))
    return [Edit(path, read(path), text, "an extension: read, and two commands")]


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
