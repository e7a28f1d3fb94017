"""What to do about an event in an agent: opens its session and its files, and asks `reading`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.agents.hooks import HookEvent, Outcome

if TYPE_CHECKING:
    from holdfast.mcp.host_context import HostContext


class HookDecision:
    """Answers events with what the host has open."""

    def __init__(self, context: HostContext) -> None:
        self._context = context

    def decide(self, event: HookEvent) -> Outcome:
        """What to do; an empty outcome leaves the agent's own result as it is."""
        return Outcome()
