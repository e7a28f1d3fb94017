"""Credentials of `holdfast serve`: the token of a home, and tickets that are made from it.

The token is a secret in a file that only its owner can read. A ticket proves that its holder has
the token without containing it. It is valid for one purpose, on one port, until a certain time, so
a stolen ticket is of little use:

    dashboard   the value of the dashboard's cookie: browsers send cookies to every port of a host
    sync        sent by our client to a server on this machine: another user's program may be
                listening on that port

Both sides make the same ticket from the same token; nothing is stored.
"""

from __future__ import annotations

import hashlib
import hmac
import os
from collections.abc import Callable, Mapping
from typing import Literal

from holdfast import system
from holdfast.errors import UsageError
from holdfast.home import Home, home_of

Purpose = Literal["dashboard", "sync"]

DASHBOARD_MS = 24 * 3600 * 1000
"""How long the dashboard's cookie is valid."""

SYNC_MS = 60 * 1000
"""How long a client's ticket is valid: as long as a handshake may take."""

TOKEN_BYTES_MAX = 4096
LOOPBACK = ("localhost", "127.0.0.1", "::1")


def token_of(home: Home, new_secret: Callable[[], str] = system.new_secret) -> str:
    """The token of this home; created on first use, readable by its owner only."""
    token = read_token(home)
    return _make_token(home, new_secret) if token is None else token


def read_token(home: Home) -> str | None:
    """The token of this home; None if it has none yet."""
    path = home.token
    try:
        # O_NONBLOCK: a FIFO in its place opens without waiting for a writer and reads as empty.
        file = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    with os.fdopen(file, "rb") as opened:
        mode = os.fstat(file).st_mode & 0o777
        token = opened.read(TOKEN_BYTES_MAX).decode("utf-8", "replace").strip()
    if mode & 0o077:
        raise UsageError(
            f"other users may read the token in {path} (mode {mode:o})",
            f"delete it to get a new one: rm {path}",
        )
    if len(token) < 32 or not token.isprintable():
        raise UsageError(
            f"{path} does not contain a token", f"delete it to get a new one: rm {path}"
        )
    return token


def _make_token(home: Home, new_secret: Callable[[], str]) -> str:
    home.make()
    path, secret = home.token, new_secret()
    # Named after its content, so that two servers that start at once never share a file.
    part = path.with_name(f"token.{hashlib.sha256(secret.encode()).hexdigest()[:8]}")
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
        out.write(secret + "\n")
    try:
        os.link(part, path)  # atomic, and fails if the file exists
    except FileExistsError:
        pass
    finally:
        part.unlink()
    token = read_token(home)
    assert token is not None, "it was written above"
    return token


def same(presented: str, expected: str) -> bool:
    """Compare secrets in constant time."""
    return hmac.compare_digest(presented.encode("utf-8", "replace"), expected.encode())


# tickets


def ticket(token: str, purpose: Purpose, port: int, until_ms: int) -> str:
    """A ticket for a server on this port, valid for one purpose until `until_ms`."""
    text = f"holdfast {purpose} {port} {until_ms}".encode()
    return f"{until_ms}.{hmac.new(token.encode(), text, hashlib.sha256).hexdigest()}"


def valid_until(presented: str, token: str, purpose: Purpose, port: int, now_ms: int) -> int | None:
    """When a ticket expires; None if it is not valid now, or not for this purpose and port."""
    until, _, _ = presented.partition(".")
    if not (until.isascii() and until.isdigit() and len(until) <= 15):
        return None
    until_ms = int(until)
    genuine = same(presented, ticket(token, purpose, port, until_ms))
    return until_ms if genuine and now_ms < until_ms else None


def cookie_name(token: str, port: int) -> str:
    """The name of a server's cookie, different for each port of a host."""
    return f"holdfast-{hashlib.sha256(f'holdfast cookie {port} {token}'.encode()).hexdigest()[:8]}"


# clients


def authorization(
    host: str | None,
    port: int,
    token: str | None,
    environment: Mapping[str, str],
    now_ms: int,
) -> str | None:
    """The Authorization header for a server; None if there is nothing to send.

    A token that the user passed, as an argument or in HOLDFAST_TOKEN, is sent as it is. Without
    one, a server on this machine gets a ticket made from the token of the home: the token itself is
    never sent to a port where a program of another user may listen.
    """
    named = token or environment.get("HOLDFAST_TOKEN")
    if named:
        return f"Bearer {named}"
    if host not in LOOPBACK:
        return None
    own = read_token(home_of(environment))
    return None if own is None else f"Ticket {ticket(own, 'sync', port, now_ms + SYNC_MS)}"
