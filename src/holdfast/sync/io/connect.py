"""`holdfast.connect`: from URLs, a space and a key to a live space, with or without a loop.

with holdfast.connect("http://localhost:7433", key=seed) as space: …
async with holdfast.connect("http://localhost:7433", key=seed) as space: …
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit, urlunsplit

from holdfast import system
from holdfast.credentials import authorization
from holdfast.errors import UsageError
from holdfast.extras import install_command
from holdfast.store.author import TEXT_MAX, Author
from holdfast.sync.client.client import Client
from holdfast.sync.client.keys import SigningKey, commit_signer, signer
from holdfast.sync.client.outbox import NoOutbox, Outbox, SqliteOutbox
from holdfast.sync.wire.errors import Unreachable
from holdfast.sync.wire.messages import CAPABILITIES, EXISTING, Flags

if TYPE_CHECKING:
    from holdfast.sync.io.aio import AsyncSpace
    from holdfast.sync.io.blocking import BlockingSpace
    from holdfast.sync.io.link import Link

_SCHEMES = {"http": "ws", "https": "wss", "ws": "ws", "wss": "wss"}

OPEN_TIMEOUT_S = 30.0


def websocket_url(url: str) -> str:
    """The URL of the server's sync endpoint: `http` becomes `ws`, and no path becomes `/sync`."""
    parts = urlsplit(url)
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None or not parts.netloc:
        raise UsageError(f"{url!r} is not a server URL", hint="try http://localhost:7433")
    path = parts.path if parts.path not in ("", "/") else "/sync"
    return urlunsplit((scheme, parts.netloc, path, parts.query, ""))


_BETWEEN = re.compile(r"\s*,\s*(?=[a-z]+://)")


def websocket_urls(url: str | Sequence[str]) -> tuple[str, ...]:
    """The endpoints of several servers, from a sequence of URLs or one comma-separated text."""
    urls = _BETWEEN.split(url.strip()) if isinstance(url, str) else url
    addresses = tuple(dict.fromkeys(websocket_url(one) for one in urls))
    if not addresses:
        raise UsageError("no server URL was given", hint="try http://localhost:7433")
    return addresses


class PendingConnection:
    """The result of `connect`: enter it with `with` or `async with`, or await it."""

    def __init__(
        self,
        url: str | Sequence[str],
        space: str | None = None,
        key: bytes | None = None,
        *,
        outbox: Path | str | None = None,
        session: str | None = None,
        flags: Flags | None = None,
        timeout_s: float = OPEN_TIMEOUT_S,
        patient: bool = True,
        create: bool = True,
        token: str | None = None,
        first_version: bool = False,
        author: str | Author | None = None,
        environment: Callable[[], Mapping[str, str]] = system.environment,
        now_ms: Callable[[], int] = system.now_ms,
    ) -> None:
        self.urls = websocket_urls(url)
        self._token, self._environment, self._now_ms = token, environment, now_ms
        self._key = None if key is None else SigningKey(key)
        if space is None:
            if self._key is None:
                raise UsageError("no space was named", hint="pass space=, or the space's own key")
            space = self._key.did
        self.space = space
        self._outbox, self._session = outbox, session
        self._flags, self._timeout_s, self._patient = flags or Flags(), timeout_s, patient
        self._create, self._first_version = create, first_version
        self._author = Author(author[:TEXT_MAX]) if isinstance(author, str) else author
        self._async: AsyncSpace | None = None
        self._blocking: BlockingSpace | None = None

    def _client(self) -> Client:
        # Without a key there is nothing to sign the server's challenge with.
        capabilities = CAPABILITIES if self._key is not None else CAPABILITIES - {"identity"}
        if not self._create:
            capabilities |= {EXISTING}
        sign, sign_commit = None, None
        if self._key is not None:
            sign = signer(self._key, self._flags, system.now_s, self._first_version)
            sign_commit = commit_signer(self._key)
        return Client(
            system.random_fraction, self._flags, capabilities, sign, sign_commit, self._author,
            ask_again=len(self.urls) > 1,
        )  # fmt: skip

    def _authorization(self, url: str) -> str | None:
        parts = urlsplit(url)
        port = parts.port or (443 if parts.scheme == "wss" else 80)
        environment = self._environment()
        return authorization(parts.hostname, port, self._token, environment, self._now_ms())

    async def open(self) -> AsyncSpace:
        """Connect, in the running loop."""
        import asyncio

        from holdfast.sync.io.aio import AsyncSpace
        from holdfast.sync.io.link import Link

        if find_spec("websockets") is None:
            raise UsageError(
                "connecting needs the package websockets", hint=install_command("serve")
            )
        self._authorization(self.urls[0])  # an unusable token is an error now
        outbox: Outbox = NoOutbox()
        if self._outbox is not None:
            outbox = SqliteOutbox(self._outbox, self.space, self._flags.unified_json_encoding)
        link = Link(self.urls, self._client(), self._authorization)
        space = AsyncSpace(link, link.client.mount(self.space, self._session, outbox), outbox)
        link.start()
        try:
            async with asyncio.timeout(self._timeout_s):
                if self._patient:
                    await space.open()
                else:
                    await _at_once(space, link)
        except Unreachable:
            await space.close(0.1)
            raise
        except TimeoutError:
            await space.close(0.1)
            raise Unreachable(_named(self.urls), link.reason) from None
        except BaseException:
            await space.close(0.1)
            raise
        return space

    def __await__(self) -> Generator[Any, None, AsyncSpace]:
        return self.open().__await__()

    async def __aenter__(self) -> AsyncSpace:
        self._async = await self.open()
        return self._async

    async def __aexit__(self, *exception: object) -> None:
        assert self._async is not None
        await self._async.close()

    def open_blocking(self) -> BlockingSpace:
        """Connect, with a loop in a separate thread."""
        from holdfast.sync.io.blocking import BlockingSpace, LoopThread

        thread = LoopThread()
        try:
            inner = thread.run(self.open())
        except BaseException:
            thread.stop()
            raise
        return BlockingSpace(thread, inner.link, inner)

    def __enter__(self) -> BlockingSpace:
        self._blocking = self.open_blocking()
        return self._blocking

    def __exit__(self, *exception: object) -> None:
        assert self._blocking is not None
        self._blocking.close()


def connect(
    url: str | Sequence[str],
    space: str | None = None,
    key: bytes | None = None,
    *,
    outbox: Path | str | None = None,
    session: str | None = None,
    flags: Flags | None = None,
    timeout_s: float = OPEN_TIMEOUT_S,
    patient: bool = True,
    create: bool = True,
    token: str | None = None,
    first_version: bool = False,
    author: str | Author | None = None,
) -> PendingConnection:
    """A space on a server: enter the result with `with` or `async with`, or await it.

    `url` may name several servers that share one PostgreSQL (a sequence, or one comma-separated
    text). When the connection ends, the session continues at the next server, and unanswered
    requests are sent there again.

    `key` is an Ed25519 seed of 32 bytes; without a `space` it names the space too. `outbox` is a
    file that keeps commits without a verdict; each client needs one of its own. While the server is
    unreachable, connecting is tried again for `timeout_s`, unless `patient` is false. A space that
    does not exist is created, unless `create` is false: then the server refuses to open it.

    `token` is the server's token. By default it is HOLDFAST_TOKEN; for a server on this machine,
    the token of the home (HOLDFAST_HOME) proves who is connecting without being sent.

    `first_version` signs for a server that sends no challenge. Such a signature can be used again
    by the server that receives it, so without this nothing is signed there.

    `author` is who writes: it is stated in every commit, for readers; it proves nothing.
    """
    return PendingConnection(
        url,
        space,
        key,
        outbox=outbox,
        session=session,
        flags=flags,
        timeout_s=timeout_s,
        patient=patient,
        create=create,
        token=token,
        first_version=first_version,
        author=author,
    )


async def _at_once(space: AsyncSpace, link: Link) -> None:
    """Open on the first connection, or raise why it failed."""
    import asyncio

    opening = asyncio.ensure_future(space.open())
    missing = asyncio.ensure_future(link.missed.wait())
    await asyncio.wait((opening, missing), return_when=asyncio.FIRST_COMPLETED)
    missing.cancel()
    if not opening.done():
        opening.cancel()
        raise Unreachable(_named(link.urls), link.reason)
    await opening


def _named(urls: Sequence[str]) -> str:
    return ", ".join(urls)
