"""Answers the hooks that run inside agents, within a time limit.

Every failure is the empty answer, so the agent's own result stays as it is.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from holdfast.agents.hooks import HookEvent, Outcome, adapter_of
from holdfast.mcp.hook_protocol import ANSWER_S, EMPTY, answer_line, request_of

THREADS_MAX = 8

log = logging.getLogger("holdfast.mcp")

Decide = Callable[[HookEvent], Outcome]


class HookService:
    """Turns requests of hooks into answers."""

    def __init__(self, decide: Decide, answer_s: float = ANSWER_S) -> None:
        self._decide, self._answer_s = decide, answer_s
        self._threads = ThreadPoolExecutor(THREADS_MAX, "holdfast hook")

    async def serve(
        self, first: bytes, reader: asyncio.StreamReader, writer: asyncio.StreamWriter
    ) -> None:
        """Answer the requests of one connection until it ends."""
        line = first
        while line.endswith(b"\n"):
            request = request_of(line)
            answer = EMPTY if request is None else await self.answer(*request)
            writer.write(answer_line(answer))
            await writer.drain()
            line = await reader.readline()

    async def answer(self, agent: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        """The hook's reply to the agent; empty if it is not ready in time."""
        loop = asyncio.get_running_loop()
        work = loop.run_in_executor(self._threads, self._answer, agent, payload)
        try:
            async with asyncio.timeout(self._answer_s):
                return await asyncio.shield(work)
        except TimeoutError:
            log.info("a hook of %s was answered with nothing: it took too long", agent)
            work.add_done_callback(lambda done: done.cancelled() or done.exception())
            return EMPTY

    def _answer(self, agent: str, payload: Mapping[str, Any]) -> Mapping[str, Any]:
        try:
            adapter = adapter_of(agent)
            event = None if adapter is None else adapter.event_of(payload)
            if adapter is None or event is None:
                return EMPTY
            outcome = self._decide(event)
            return adapter.reply_to(event, outcome) if outcome else EMPTY
        except Exception:
            log.exception("a hook of %s was answered with nothing", agent)
            return EMPTY

    def close(self) -> None:
        self._threads.shutdown(wait=False, cancel_futures=True)
