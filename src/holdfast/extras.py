"""The command that adds an extra to the environment that this program runs in.

`pip install` is wrong for a program that uv or pipx installed: it has an environment without pip,
so the command would change another one. Both name all extras anew, so the installed ones are
repeated.
"""

from __future__ import annotations

import os
import sys

UV_RECEIPT, PIPX_METADATA = "uv-receipt.toml", "pipx_metadata.json"


def install_command(extra: str, prefix: str | None = None) -> str:
    """What to type for an extra; `prefix` is the environment (default: the interpreter's)."""
    place = prefix or sys.prefix
    try:
        if (receipt := _read(place, UV_RECEIPT)) is not None:
            import tomllib

            stated = tomllib.loads(receipt)["tool"]["requirements"]
            ours = next(one for one in stated if one["name"] == "holdfast")
            source, installed = ours.get("path", "holdfast"), ours.get("extras", [])
            return f"uv tool install {_with(extra, source, installed)}"
        if (metadata := _read(place, PIPX_METADATA)) is not None:
            import json

            package = json.loads(metadata)["main_package"]["package_or_url"]
            source, _, named = package.rstrip("]").partition("[")
            installed = named.split(",") if named else []
            return f"pipx install --force {_with(extra, source, installed)}"
    except (ValueError, KeyError, TypeError, AttributeError, StopIteration):
        pass  # another version of the tool writes it in another way
    return f"pip install 'holdfast[{extra}]'"


def upgrade_command(prefix: str | None = None) -> str:
    """What to type for a newer version."""
    place = prefix or sys.prefix
    if _read(place, UV_RECEIPT) is not None:
        return "uv tool upgrade holdfast"
    if _read(place, PIPX_METADATA) is not None:
        return "pipx upgrade holdfast"
    return "pip install --upgrade holdfast"


def _with(extra: str, source: str, installed: list[str]) -> str:
    """The source with its extras and one more, as a shell needs it."""
    import shlex

    extras = dict.fromkeys([*map(str.strip, installed), extra])
    return shlex.quote(f"{source}[{','.join(extras)}]")


def _read(folder: str, name: str) -> str | None:
    try:
        with open(os.path.join(folder, name), encoding="utf-8") as file:
            return file.read()
    except OSError:
        return None
