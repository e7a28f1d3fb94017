"""Metrics of a running server in the Prometheus text format. They contain no user names."""

from __future__ import annotations

import resource
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.sync.io.websocket import Receive, Scope, Send
from holdfast.web.call_gate import CallGate
from holdfast.web.site import Asgi, answer, answer_json

if TYPE_CHECKING:
    from holdfast.sync.io.endpoint import SyncService


@dataclass(slots=True)
class Counters:
    """Counters of tool calls."""

    calls: dict[tuple[str, str], int] = field(default_factory=dict)
    """Tool calls by tool and outcome: ok, refused, failed."""

    seconds: dict[str, float] = field(default_factory=dict)
    """Total time spent in each tool."""

    def called(self, tool: str, outcome: str, seconds: float) -> None:
        self.calls[tool, outcome] = self.calls.get((tool, outcome), 0) + 1
        self.seconds[tool] = self.seconds.get(tool, 0.0) + seconds


def metrics_text(service: SyncService, counters: Counters, gate: CallGate) -> str:
    """All metrics in the text format of Prometheus."""
    usage = resource.getrusage(resource.RUSAGE_SELF)
    spaces = service.server.spaces.values()
    lines = [
        *_metric("holdfast_info", "gauge", "the version that runs",
                 {f'version="{__version__}"': 1}),
        *_metric("holdfast_sync_connections", "gauge", "open connections",
                 {"": len(service.server.connections)}),
        *_metric("holdfast_sync_sessions", "gauge", "sessions that are kept",
                 {"": len(service.server.registry)}),
        *_metric("holdfast_spaces_open", "gauge", "spaces that are open", {"": len(spaces)}),
        *_metric("holdfast_commits_total", "counter", "commits in all open spaces",
                 {"": sum(space.seq for space in spaces)}),
        *_metric("holdfast_tool_calls_total", "counter", "tool calls over MCP",
                 {f'tool="{tool}",outcome="{outcome}"': count
                  for (tool, outcome), count in sorted(counters.calls.items())}),
        *_metric("holdfast_calls_in_flight", "gauge", "tool calls that are running or wait",
                 {"": gate.in_flight}),
        *_metric("holdfast_calls_in_flight_peak", "gauge", "the most of them at once",
                 {"": gate.peak}),
        *_metric("holdfast_calls_in_flight_limit", "gauge", "above this they are refused",
                 {"": gate.most}),
        *_metric("holdfast_calls_refused_total", "counter", "tool calls refused for lack of room",
                 {"": gate.refused}),
        *_metric("holdfast_sync_busy", "gauge", "connections with unanswered messages",
                 {"": len(service.server.notifier.busy)}),
        *_metric("holdfast_tool_seconds_total", "counter", "time spent in tools",
                 {f'tool="{tool}"': round(seconds, 6)
                  for tool, seconds in sorted(counters.seconds.items())}),
        *_metric("process_cpu_seconds_total", "counter", "processor time",
                 {"": round(usage.ru_utime + usage.ru_stime, 3)}),
        *_metric("process_resident_memory_max_bytes", "gauge", "the most memory held",
                 {"": usage.ru_maxrss * 1024}),
    ]  # fmt: skip
    return "\n".join(lines) + "\n"


def _metric(name: str, kind: str, text: str, values: dict[str, float]) -> list[str]:
    rows = [
        f"{name}{f'{{{labels}}}' if labels else ''} {value}" for labels, value in values.items()
    ]
    return [f"# HELP {name} {text}", f"# TYPE {name} {kind}", *rows]


def metrics_page(service: SyncService, counters: Counters, gate: CallGate) -> Asgi:
    """`/metrics`."""

    async def page(scope: Scope, receive: Receive, send: Send) -> None:
        if scope["path"] != "/metrics" or scope["method"] not in ("GET", "HEAD"):
            await answer_json(send, 404, {"error": "there is no such page"})
            return
        body = metrics_text(service, counters, gate).encode()
        kind = [(b"content-type", b"text/plain; version=0.0.4; charset=utf-8")]
        await answer(send, 200, body, kind, head=scope["method"] == "HEAD")

    return page
