"""Connect to PostgreSQL with deadlines, and explain failures without showing the password.

Every wait for the server ends:

    connecting    after CONNECT_S; `connect_timeout=` in the address sets another limit
    a statement   after STATEMENT_S: the server cancels it. A `statement_timeout` of the role, the
                  database or the address (`options=-c statement_timeout=…`) takes precedence
    a lock        after two thirds of that, so that waiting for another writer has its own error
    silence       GRACE_S after the statement's deadline: a server that is frozen or cut off cannot
                  cancel anything, so the client gives up and closes the connection

Maintenance (indexing, verifying, import, export, compaction) may take MAINTENANCE_S per statement.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Generator, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, cast
from urllib.parse import quote, unquote, urlsplit

from holdfast import system
from holdfast.extras import install_command

if TYPE_CHECKING:
    import psycopg

STORE_SETTING, INDEX_SETTING = "HOLDFAST_DATABASE_URL", "HOLDFAST_INDEX_URL"
"""The settings that an address may be from; hints name the right one."""

CONNECT_S = 10
STATEMENT_S = 30
MAINTENANCE_S = 600
GRACE_S = 2.0

# Keeps deadlines that the user set. A server or role may be configured to acknowledge commits
# before they are on disk; our sessions turn that off.
_SESSION_SETTINGS = f"""
SELECT ms, set_config('statement_timeout', ms::text, false),
  set_config('lock_timeout', (ms * 2 / 3)::text, false),
  CASE WHEN current_setting('synchronous_commit') = 'off'
    THEN set_config('synchronous_commit', 'on', false) END
FROM (SELECT CASE WHEN current_setting('statement_timeout') = '0' THEN {STATEMENT_S * 1000}
  ELSE (extract(epoch FROM current_setting('statement_timeout')::interval) * 1000)::bigint
  END AS ms OFFSET 0) AS deadline
"""  # noqa: S608


class NotReached(Exception):
    """Raised when connecting fails; callers turn it into their own error."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message)
        self.hint = hint


class DriverMissing(NotReached):
    """Raised when the `psycopg` package is not installed."""


class Silent(Exception):
    """Raised inside the driver when the server sent nothing before the deadline."""


def connect(
    url: str, name: str, timeout_s: int | None = None, setting: str = STORE_SETTING
) -> psycopg.Connection[Any]:
    """A connection in autocommit mode under an application name; parameters are `$1`, `$2`, …

    All waiting on it is bounded. `timeout_s` bounds connecting, unless the address does.
    """
    try:
        import psycopg
    except ImportError:
        raise DriverMissing(
            "PostgreSQL needs the psycopg package", install_command("postgres")
        ) from None
    limit: dict[str, Any] = {}
    if "connect_timeout" not in _parameters(url):
        limit["connect_timeout"] = CONNECT_S if timeout_s is None else timeout_s
    try:
        connection = _connection_class().connect(
            url,
            autocommit=True,
            cursor_factory=psycopg.RawCursor,
            application_name=name,
            **limit,
        )
        try:
            connection.deadlines_of_session()
        except BaseException:
            connection.close()
            raise
        return cast("psycopg.Connection[Any]", connection)
    except (psycopg.Error, Silent) as error:
        reason, hint = explain(str(error), url, setting)
        # Not chained: the driver's message may contain the address, and with it the password.
        raise NotReached(f"cannot reach PostgreSQL: {reason}", hint) from None


@functools.cache
def _connection_class() -> Any:
    """The driver's connection, with a limit on how long the server may be silent."""
    import psycopg

    class BoundedConnection(psycopg.Connection[Any]):
        silence_s: float = CONNECT_S
        statement_ms: int = STATEMENT_S * 1000

        def deadlines_of_session(self) -> None:
            row = self.execute(_SESSION_SETTINGS).fetchone()
            assert row is not None
            self.statement_ms = int(row[0])
            self.silence_s = self.statement_ms / 1000 + GRACE_S

        def wait(self, gen: Any, *args: Any, **kwargs: Any) -> Any:
            try:
                return super().wait(_until_silent(gen, self.silence_s), *args, **kwargs)
            except Silent as silent:
                # A late answer may still arrive and would be taken for that of another statement.
                self.pgconn.finish()
                raise psycopg.OperationalError(str(silent)) from None

    return BoundedConnection


def _until_silent(
    waiting: Generator[Any, Any, Any],
    silence_s: float,
    monotonic: Callable[[], float] = system.monotonic,
) -> Generator[Any, Any, Any]:
    """The driver's generator; raises when the socket has not been ready for `silence_s`.

    Any data that the server sends or receives restarts the time, so long transfers are not cut off.
    """
    deadline = monotonic() + silence_s
    try:
        events = next(waiting)
        while True:
            ready = yield events
            if ready:
                deadline = monotonic() + silence_s
            elif monotonic() >= deadline:
                raise Silent(f"timed out: nothing received for {silence_s:.0f} s")
            events = waiting.send(ready)
    except StopIteration as done:
        return done.value


def statement_ms(connection: psycopg.Connection[Any]) -> int:
    """How long a statement may take on this connection."""
    return int(getattr(connection, "statement_ms", STATEMENT_S * 1000))


@contextmanager
def maintenance(connection: psycopg.Connection[Any]) -> Iterator[None]:
    """A context in which statements may take MAINTENANCE_S. Enter it outside a transaction."""
    import psycopg

    bounded: Any = connection
    usual_ms, usual_s = bounded.statement_ms, bounded.silence_s
    _set_statement_ms(bounded, max(usual_ms, MAINTENANCE_S * 1000))
    try:
        yield
    finally:
        bounded.silence_s = usual_s
        if not bounded.closed:
            with suppress(psycopg.Error):
                _set_statement_ms(bounded, usual_ms)


def _set_statement_ms(connection: Any, ms: int) -> None:
    connection.execute("SELECT set_config('statement_timeout', $1, false)", (str(ms),))
    connection.statement_ms, connection.silence_s = ms, ms / 1000 + GRACE_S


def address(url: str) -> str:
    """Host and port of an address, for messages; the socket's path if it is a Unix socket."""
    host, port = _place(url)
    return f"{host}/.s.PGSQL.{port}" if host.startswith("/") else f"{host}:{port}"


def silent_sentence(url: str, waited_ms: int, setting: str = STORE_SETTING) -> tuple[str, str]:
    """Message and hint for a server that stopped answering during a statement."""
    return (
        f"PostgreSQL at {address(url)} has not answered for {waited_ms / 1000 + GRACE_S:.0f} s",
        f"check that the server is running and not frozen or overloaded, or check {setting}",
    )


def slow_sentence(url: str, limit_ms: int, setting: str = STORE_SETTING) -> tuple[str, str]:
    """Message and hint for a statement that the server cancelled at its deadline."""
    return (
        f"PostgreSQL at {address(url)} did not finish a statement within {limit_ms / 1000:.0f} s",
        "try again when the server is less busy, or raise statement_timeout "
        f"(options=-c%20statement_timeout=60s in {setting})",
    )


def explain(message: str, url: str, setting: str = STORE_SETTING) -> tuple[str, str]:
    """A readable reason for a message of the driver, and a hint."""
    host, _port = _place(url)
    where, check = address(url), f"check {setting}"
    if "Connection refused" in message or "No such file or directory" in message:
        return f"no server is listening at {where}", f"start the server there, or {check}"
    if "resolve host" in message or "translate host name" in message:
        return f"there is no host {host}", check
    if "timeout expired" in message or "timed out" in message:
        hint = f"check that the server is running and not frozen or overloaded, or {check}"
        return f"no answer from {where} in time", f"{hint} (connect_timeout= there waits longer)"
    # The server's own message follows this word; the address precedes it.
    line = message.partition("FATAL:")[2].strip() or message.strip()
    line = line.splitlines()[0] if line else "no answer"
    line = line.split(" in URI: ")[0]
    hint = f"check the user and password in {setting}" if "password" in line else check
    return _without_password(line, url), hint


def _parameters(url: str) -> dict[str, str]:
    """The parameters of an address and libpq's environment; empty if it cannot be parsed."""
    try:
        from psycopg import pq
        from psycopg.conninfo import conninfo_to_dict

        # From PGHOST, PGCONNECT_TIMEOUT, a service file and so on.
        defaults = {
            option.keyword.decode(): option.val.decode()
            for option in pq.Conninfo.get_defaults()
            if option.val
        }
        # Parameters that are not set anywhere have no value.
        return defaults | {key: str(val) for key, val in conninfo_to_dict(url).items() if val}
    except Exception:  # an address that cannot be parsed has no parameters
        return {}


def _place(url: str) -> tuple[str, str]:
    """The host and port of an address, with libpq's defaults."""
    parameters = _parameters(url)
    if not parameters:  # without the driver, what the address itself names
        try:
            parts = urlsplit(url)
            return parts.hostname or "localhost", str(parts.port or 5432)
        except ValueError:
            pass
    return parameters.get("host", "localhost"), parameters.get("port", "5432")


def _without_password(line: str, url: str) -> str:
    try:
        secret = urlsplit(url).password
    except ValueError:
        return "the address cannot be parsed"
    for spelled in {secret, unquote(secret), quote(unquote(secret), safe="")} if secret else ():
        line = line.replace(spelled, "…")
    return line
