"""Streams: queues that can be read with `for` and with `async for`.

A stream of snapshots keeps only the newest, so a slow reader skips elements and gets the current
state. A stream in which every element counts ends with `StreamOverflow` when it is not read; it
never grows without bound and never drops an element.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import AsyncIterator, Callable, Iterator
from typing import Generic, TypeVar

from holdfast.sync.client.errors import StreamOverflow

Item = TypeVar("Item")


class Stream(Generic[Item]):
    """Elements in the order they came. `close` ends it for its reader."""

    def __init__(self, newest_only: bool = False, most: int = 10_000) -> None:
        self._newest_only, self._most = newest_only, most
        self._items: deque[Item] = deque()
        self._ended = False
        self._error: Exception | None = None
        self._changed = threading.Condition()
        self._waiters: list[tuple[asyncio.AbstractEventLoop, asyncio.Future[None]]] = []
        self.on_close: Callable[[], None] = lambda: None

    def put(self, item: Item | None) -> None:
        """Add an element; None is the end."""
        with self._changed:
            if self._ended:
                return
            if item is None:
                self._ended = True
            else:
                if self._newest_only:
                    self._items.clear()
                elif len(self._items) >= self._most:
                    self._ended, self._error = True, StreamOverflow(self._most)
                self._items.append(item)
            self._wake()

    def close(self) -> None:
        """End the stream."""
        self.on_close()
        self.put(None)

    def _wake(self) -> None:
        self._changed.notify_all()
        waiters, self._waiters = self._waiters, []
        for loop, waiter in waiters:
            loop.call_soon_threadsafe(_resolve, waiter)

    def _next(self) -> tuple[bool, Item | None]:
        """Whether there is an element, or the end; and the element."""
        if self._items:
            return True, self._items.popleft()
        if self._error is not None:
            raise self._error
        return self._ended, None

    def __iter__(self) -> Iterator[Item]:
        while True:
            with self._changed:
                ready, item = self._next()
                while not ready:
                    self._changed.wait()
                    ready, item = self._next()
            if item is None:
                return
            yield item

    async def __aiter__(self) -> AsyncIterator[Item]:
        loop = asyncio.get_running_loop()
        while True:
            waiter: asyncio.Future[None] = loop.create_future()
            with self._changed:
                ready, item = self._next()
                if not ready:
                    self._waiters.append((loop, waiter))
            if not ready:
                await waiter
                continue
            if item is None:
                return
            yield item


def _resolve(waiter: asyncio.Future[None]) -> None:
    if not waiter.done():
        waiter.set_result(None)
