"""Holdfast: a local-first context engine for coding agents.

An answer carries its proof, or it is the plain safe answer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from holdfast.sync.connecting import Connecting

__version__ = "0.1.0"


def connect(url: str, space: str | None = None, key: bytes | None = None, **how: Any) -> Connecting:
    """A space on a server: enter the answer with `with` or `async with`, or await it.

    `key` is an Ed25519 seed; without a `space` it names the space too. See docs/client.md.
    """
    from holdfast.sync.connecting import Connecting

    return Connecting(url, space, key, **how)
