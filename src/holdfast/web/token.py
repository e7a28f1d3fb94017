"""The token of a home, which grants access to its pages and tools over HTTP."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable

from holdfast import system
from holdfast.errors import UsageError
from holdfast.home import Home


def token_of(home: Home, new_secret: Callable[[], str] = system.new_secret) -> str:
    """The token of a home; created on first use, readable by its owner only."""
    path = home.token
    try:
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
    except FileNotFoundError:
        return _make_token(home, new_secret)
    with os.fdopen(file) as opened:
        mode, token = os.fstat(file).st_mode & 0o777, opened.read().strip()
    if mode & 0o077:
        raise UsageError(
            f"others may read the token in {path} (mode {mode:o})",
            f"delete it to get a new one: rm {path}",
        )
    if len(token) < 32:
        raise UsageError(
            f"{path} does not contain a token", f"delete it to get a new one: rm {path}"
        )
    return token


def _make_token(home: Home, new_secret: Callable[[], str]) -> str:
    home.make()
    path, secret = home.token, new_secret()
    # Named after its content, not its writer: two servers that start at once never share a file.
    part = path.with_name(f"token.{hashlib.sha256(secret.encode()).hexdigest()[:8]}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(secret + "\n")
    try:
        os.link(part, path)  # whole or not at all, and never over one that is there
    except FileExistsError:
        pass
    finally:
        part.unlink()
    return token_of(home, new_secret)


def cookie_name(token: str) -> str:
    """What the cookie of a server is called: all ports of a host share their cookies, and servers
    of several homes may run on one."""
    return f"holdfast-{hashlib.sha256(f'holdfast cookie {token}'.encode()).hexdigest()[:8]}"


def page_token(token: str) -> str:
    """What a browser holds instead of the token: good for pages of this server alone.

    Cookies are shared by all ports of a host, so another program on this machine may see it.
    """
    return hashlib.sha256(f"holdfast page {token}".encode()).hexdigest()
