"""Scripts that run inside an agent; the code that calls the host is inserted into each of them."""

from __future__ import annotations

import json
from importlib import resources

from holdfast.agents.client import InstallTarget, bundled

_PLACE = "/*ask_host*/"
_HOME = "HOLDFAST_HOME="


def with_host(target: InstallTarget, package: str, name: str) -> str:
    """A bundled script with the function that calls the host, and the home inserted."""
    asking = (resources.files("holdfast.agents") / "ask_host.js").read_text(encoding="utf-8")
    text = bundled(package, name)
    assert _PLACE in text, f"{name} has no place for the function that asks the host"
    text = text.replace(_PLACE, asking.strip())
    return text.replace('const HOME = "";', f"const HOME = {json.dumps(home_of(target))};")


def home_of(target: InstallTarget) -> str:
    """The home that the agent's command names; empty for the default one."""
    settings = [word for word in target.command if word.startswith(_HOME)]
    return settings[0].removeprefix(_HOME) if settings and target.command[0] == "env" else ""
