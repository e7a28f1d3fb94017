"""`holdfast serve`: sync, MCP and the dashboard on one port."""

from __future__ import annotations

import argparse
import gc
import json
import sys
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.app import App
from holdfast.cli.failures import TRANSPORT, CommandRefused
from holdfast.errors import UsageError
from holdfast.extras import install_command
from holdfast.web.call_gate import CALLS_MAX

if TYPE_CHECKING:
    import socket

    import uvicorn


OPEN_FILES = 65_536


def configure(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--host", default="127.0.0.1", help="address to listen on (default: loopback)"
    )
    parser.add_argument("--port", type=int, default=7433, help="port to listen on; 0 picks one")
    parser.add_argument(
        "--store",
        metavar="URL",
        help="where memory is kept, for /sync, /mcp and the dashboard: a directory, a file, "
        "postgresql://…, or memory: for /sync alone (default: HOLDFAST_DATABASE_URL, else "
        "HOLDFAST_HOME/spaces)",
    )
    parser.add_argument(
        "--allow-host", action="append", default=[], help="another host name that clients may use"
    )
    parser.add_argument(
        "--allow-origin", action="append", default=[], help="a web page's origin that may connect"
    )
    parser.add_argument(
        "--require-signature",
        action="store_true",
        help="a session is opened only by a client that proves to hold a key",
    )
    parser.add_argument(
        "--require-identity",
        action="store_true",
        help="signatures must answer a challenge (refuses first-version clients); "
        "implies --require-signature",
    )
    parser.add_argument(
        "--open-sync",
        action="store_true",
        help="unsafe: let every program that can reach /sync read and write without the token "
        "(for clients that cannot send one)",
    )
    parser.add_argument(
        "--acl",
        choices=("off", "observe", "enforce"),
        default="off",
        help="access lists: off, observe (only report) or enforce",
    )
    parser.add_argument(
        "--audience", default="", help="the server's name in signed session.open messages"
    )
    parser.add_argument(
        "--key-file",
        metavar="FILE",
        help="32 secret bytes to seal session ids with (default: kept with the sessions)",
    )
    parser.add_argument(
        "--calls",
        type=int,
        default=CALLS_MAX,
        metavar="N",
        help=f"tool calls in flight before more are refused (default: {CALLS_MAX})",
    )
    parser.add_argument(
        "--drain",
        type=float,
        default=20.0,
        metavar="SECONDS",
        help="how long calls may take to finish after SIGTERM (default: 20)",
    )
    parser.add_argument(
        "--show-token",
        action="store_true",
        help="print the token also if the output is not a terminal",
    )
    parser.add_argument("--json", action="store_true", help="print the addresses as JSON")


def run(args: argparse.Namespace, app: App) -> int:
    try:
        import uvicorn
    except ImportError:
        raise UsageError(
            "serving needs the uvicorn and websockets packages", install_command("serve")
        ) from None
    from holdfast.credentials import LOOPBACK, token_of
    from holdfast.index.facts import extractor
    from holdfast.sync.io.endpoint import ServeOptions, SyncService
    from holdfast.sync.io.handover import Handover
    from holdfast.sync.io.websocket import OriginPolicy
    from holdfast.sync.server.access import AccessMode
    from holdfast.sync.server.limits import Limits, fitted

    extractor.mark_shared()
    from holdfast.web.compose import PromptRequests, site

    check(args)
    signatures = args.require_signature or args.require_identity
    for warning in _warnings(args, loopback=args.host in LOOPBACK, signatures=signatures):
        print(f"holdfast: warning: {warning}", file=sys.stderr)
    bound = _any_free_port(args.host) if args.port == 0 else None
    port = args.port if bound is None else bound.getsockname()[1]
    options = ServeOptions(
        store=args.store or str(app.store_url),
        hosts=(*LOOPBACK, args.host, *args.allow_host),
        origins=tuple(args.allow_origin),
        require_signature=signatures,
        require_identity=args.require_identity,
        open_sync=args.open_sync,
        limits=fitted(Limits(), _raise_open_files()),
        access=AccessMode(args.acl),
        audience=args.audience or f"holdfast://{args.host}:{port}",
        key=_key(Path(args.key_file)) if args.key_file else b"",
    )
    token = token_of(app.home, app.new_secret)
    service = SyncService(
        options, now_ms=app.clock.now_ms, new_token=app.new_token, random_bytes=app.random_bytes
    )
    policy = OriginPolicy(options.hosts, options.origins)
    served = site(app, service, policy, token, calls_max=args.calls)
    config = uvicorn.Config(
        served,
        host=args.host,
        port=port,
        http=PromptRequests,
        ws=Handover,
        ws_max_size=options.limits.frame_bytes_max,
        # On one machine or in one data centre, compression costs more than it saves.
        ws_per_message_deflate=False,
        lifespan="on",
        # Without a limit, one open stream would keep the process alive forever.
        timeout_graceful_shutdown=max(1, round(args.drain)),
        log_level="warning",
        access_log=False,
    )
    # Messages and rows contain no cycles, and collecting them took a sixth of the time of a commit.
    # So imported objects are frozen and collections are rare.
    gc.freeze()
    gc.set_threshold(200_000, 20, 20)
    try:
        printed_token = token if args.show_token or sys.stdout.isatty() else None
        drain = partial(served.drain, args.drain)
        server = announcing(config, args.json, app.home.token, printed_token, drain)
        server.run(None if bound is None else [bound])
    except SystemExit as stop:
        # The web server has printed the reason.
        if not stop.code:
            return 0
        raise CommandRefused(
            "NotServed",
            f"the server did not start on {args.host}:{args.port}",
            "the line above says why; --port 0 picks a free port. If your own server runs there: "
            f"http://{args.host}:{args.port}/?token=TOKEN with TOKEN from {app.home.token}",
            TRANSPORT,
        ) from None
    return 0


def check(args: argparse.Namespace) -> None:
    """Refuse options with values that are not accepted, or that need others."""
    if not 0 <= args.port <= 65535:
        raise UsageError(
            f"--port must be 0 to 65535 (got {args.port})", "a port is 1 to 65535; 0 picks one"
        )
    if not 0 <= args.drain <= 3600:
        raise UsageError(f"--drain must be 0 to 3600 seconds (got {args.drain:g})")
    if args.calls < 1:
        raise UsageError(f"--calls must be at least 1 (got {args.calls})")
    if args.acl != "off" and not (args.require_signature or args.require_identity):
        raise UsageError(f"--acl {args.acl} needs signed sessions", "add --require-signature")


def _warnings(args: argparse.Namespace, *, loopback: bool, signatures: bool) -> list[str]:
    """Warnings about who can reach this server."""
    warnings = []
    if args.open_sync and not signatures:
        everyone = "every user of this machine" if loopback else f"everyone who reaches {args.host}"
        warnings.append(f"--open-sync: {everyone} may read and write through /sync")
    if not loopback:
        warnings.append(
            f"the token is sent unencrypted to {args.host}; put a proxy with TLS in front, or use "
            "the default --host and a tunnel"
        )
    return warnings


def _raise_open_files() -> int:
    """Raise the limit of open files as far as allowed, up to a maximum; returns the new limit."""
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    limit = OPEN_FILES if hard == resource.RLIM_INFINITY else min(OPEN_FILES, hard)
    if soft != resource.RLIM_INFINITY and soft < limit:
        with suppress(OSError, ValueError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
            soft = limit
    return OPEN_FILES if soft == resource.RLIM_INFINITY else soft


def _any_free_port(host: str) -> socket.socket:
    """A socket on a port that the system chose, so that the port is known before serving."""
    import socket

    try:
        family, *_, address = socket.getaddrinfo(host, 0, type=socket.SOCK_STREAM)[0]
        return socket.create_server(address[:2], family=family)
    except OSError as error:
        raise CommandRefused(
            "NotServed",
            f"cannot listen on {host}: {error.strerror or error}",
            "--host must be an address of this machine",
            TRANSPORT,
        ) from None


def _key(path: Path) -> bytes:
    key = path.read_bytes()
    if len(key) < 32:
        raise UsageError(f"{path} holds {len(key)} bytes", "a key has at least 32 random bytes")
    return key


def announcing(
    config: uvicorn.Config,
    as_json: bool,
    token_file: Path,
    token: str | None = None,
    drain: Callable[[], Awaitable[None]] | None = None,
) -> uvicorn.Server:
    """A web server that prints its addresses when it listens, and calls `drain` before it stops."""
    import uvicorn

    from holdfast.web.watchdog import Watchdog

    class Announcing(uvicorn.Server):
        def __init__(self, config: uvicorn.Config) -> None:
            super().__init__(config)
            self._watchdog = Watchdog()

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            if self.servers:
                host, port = self.servers[0].sockets[0].getsockname()[:2]
                where = f"[{host}]" if ":" in host else host
                _announce(where, port, as_json, token_file, token)
                self._watchdog.listeners = [
                    listener.dup() for server in self.servers for listener in server.sockets
                ]
                self._watchdog.start()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            self._watchdog.stop()
            # Stop accepting: a refused client tries another server, an accepted one would wait.
            for server in self.servers:
                server.close()
            for listener in sockets or ():
                listener.close()
            if drain is not None:
                await drain()
            await super().shutdown(sockets)

    return Announcing(config)


def _announce(host: str, port: int, as_json: bool, token_file: Path, token: str | None) -> None:
    sync, base = f"ws://{host}:{port}/sync", f"http://{host}:{port}"
    page = f"{base}/" if token is None else f"{base}/?token={token}"
    tools = find_spec("mcp") is not None
    if as_json:
        facts = {"url": sync, "mcp": f"{base}/mcp" if tools else None, "dashboard": page}
        print(json.dumps(facts if token is None else {**facts, "token": token}), flush=True)
        return
    print(f"listening on {sync}", flush=True)
    print(f"dashboard    {page}", flush=True)
    header = "Bearer <token>" if token is None else f"Bearer {token}"
    lacking = f"need the package mcp, which is not installed; run: {install_command('agents')}"
    agents = f"{base}/mcp   Authorization: {header}" if tools else lacking
    print(f"agents       {agents}", flush=True)
    if token is None:
        print(f"the token is in {token_file}; --show-token prints it", flush=True)
