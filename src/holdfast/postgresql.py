"""Connects to PostgreSQL and explains failures. Messages never contain the password."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any
from urllib.parse import quote, unquote, urlsplit

if TYPE_CHECKING:
    import psycopg

CHECK = "check HOLDFAST_DATABASE_URL"


class NotReached(Exception):
    """Raised when there is no connection; callers turn it into an error of their own."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


def connect(url: str, name: str, timeout_s: int | None = None) -> psycopg.Connection[Any]:
    """A connection in autocommit mode under an application name; parameters are `$1`, `$2`, …"""
    try:
        import psycopg
    except ImportError:
        raise NotReached(
            "PostgreSQL needs the psycopg package", "pip install 'holdfast[postgres]'"
        ) from None
    limit: dict[str, Any] = {} if timeout_s is None else {"connect_timeout": timeout_s}
    try:
        return psycopg.Connection.connect(
            url,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            application_name=name,
            **limit,
        )
    except (psycopg.OperationalError, psycopg.ProgrammingError) as error:
        reason, hint = explain(str(error), url)
        # Not chained: the driver's message may contain the address, and with it the password.
        raise NotReached(f"cannot reach PostgreSQL: {reason}", hint) from None


def explain(message: str, url: str) -> tuple[str, str]:
    """A readable reason for a message of the driver, and a hint."""
    host, port = _place(url)
    # A path is the directory of a Unix socket.
    where = f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"{host}:{port}"
    if "Connection refused" in message or "No such file or directory" in message:
        return f"no server is listening at {where}", f"start the server there, or {CHECK}"
    if "resolve host" in message or "translate host name" in message:
        return f"there is no host {host}", CHECK
    if "timeout expired" in message or "timed out" in message:
        return f"no answer from {where} in time", CHECK
    # The server's own message follows this word; the address precedes it.
    line = message.partition("FATAL:")[2].strip() or message.strip()
    line = line.splitlines()[0] if line else "no answer"
    line = line.split(" in URI: ")[0]
    hint = "check the user and password in HOLDFAST_DATABASE_URL" if "password" in line else CHECK
    return _without_password(line, url), hint


def _place(url: str) -> tuple[str, str]:
    """The host and port of an address, with libpq's defaults."""
    host, port = "localhost", "5432"
    try:
        from psycopg import pq
        from psycopg.conninfo import conninfo_to_dict

        defaults = {option.keyword: option.val for option in pq.Conninfo.get_defaults()}
        host = (defaults.get(b"host") or b"").decode() or host  # from PGHOST or a service file
        port = (defaults.get(b"port") or b"").decode() or port
        named = conninfo_to_dict(url)
    except Exception:  # an address that cannot be parsed names no host
        return host, port
    return str(named.get("host") or host), str(named.get("port") or port)


def _without_password(line: str, url: str) -> str:
    try:
        secret = urlsplit(url).password
    except ValueError:
        return "the address cannot be parsed"
    for spelled in {secret, unquote(secret), quote(unquote(secret), safe="")} if secret else ():
        line = line.replace(spelled, "…")
    return line
