"""A model that says what a test wrote down, behind the four APIs that agents speak.

Anthropic Messages, OpenAI Responses, OpenAI chat completions and Gemini, with and without
server-sent events. The key of a request names the script it plays, so that two agents at once have
a script each. Every request is recorded with a snapshot of the watched files: it is the truth about
what the model was shown, and `tests.agents.judge` judges our answers by it.

A request without tools asks for a title or a summary: it gets a summary and uses up no turn.
"""

from __future__ import annotations

import gzip
import json
import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

SUMMARY = "<summary>the work goes on</summary>"
SUMMARIZING = (
    "create a detailed summary",
    "CONTEXT CHECKPOINT COMPACTION",
    "Do NOT call any tools",
    "Do NOT use any tools",
    "context summarization",
    "structured context checkpoint",
    "detailed prompt for summarizing",
)
"""What agents write when they ask for a summary with their tools still listed."""

SNAPSHOT_BYTES_MAX = 400_000


@dataclass(frozen=True)
class Turn:
    """One answer of the model: tool calls, a text, or an error."""

    calls: tuple[tuple[str, dict[str, Any]], ...] = ()
    """Names of tools with arguments. `a|b` takes the first that the agent has; `holdfast.read` is
    the tool `read` of a server whose name contains `holdfast`."""
    text: str = ""
    tokens: int = 1200
    """The size of the request that the answer reports."""
    error: tuple[int, str] | None = None
    before: Callable[[], object] | None = None
    """Runs before the answer is sent: what someone else does in the meantime."""
    where: str = ""
    """Only for a request that contains this text, such as the prompt of a subagent."""


def call(name: str, /, **arguments: Any) -> Turn:
    return Turn(((name, arguments),))


def calls(*uses: tuple[str, dict[str, Any]]) -> Turn:
    return Turn(uses)


def say(text: str = "done", **more: Any) -> Turn:
    return Turn(text=text, **more)


@dataclass
class Recorded:
    """One request."""

    number: int
    script: str
    api: str
    body: dict[str, Any]
    files: dict[str, str]
    """The watched files when the request came, by absolute path."""
    plays: bool
    """Whether it was answered by a turn of the script; others are titles and summaries."""
    calls: list[tuple[str, str, dict[str, Any]]] = field(default_factory=list)
    """What was answered: id, name and arguments of each call."""
    missing: str = ""
    """A tool that the script wanted and the agent does not have."""


class Script:
    """The turns of one agent, and what it sent."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.turns: list[Turn] = []
        self.requests: list[Recorded] = []

    @property
    def key(self) -> str:
        return f"dummy-{self.name}"

    def play(self, *turns: Turn) -> Script:
        self.turns.extend(turns)
        return self

    def played(self) -> list[Recorded]:
        """The requests of the conversation itself."""
        return [one for one in self.requests if one.plays]

    def take(self, request: Recorded) -> Turn:
        text = json.dumps(request.body, ensure_ascii=False) if self.turns else ""
        for at, turn in enumerate(self.turns):
            if turn.where in text:
                return self.turns.pop(at)
        return Turn(text="the script is over")


class Model:
    """The server with its scripts."""

    def __init__(self, watched: Path) -> None:
        self.watched = watched
        self.scripts: dict[str, Script] = {}
        self.requests: list[Recorded] = []
        self.others: list[str] = []
        """Paths of requests that are not to a model."""
        self.url = ""
        self._turn = threading.Lock()

    def script(self, name: str, *turns: Turn) -> Script:
        found = self.scripts.setdefault(name, Script(name))
        return found.play(*turns)

    def receive(self, name: str, api: str, body: dict[str, Any]) -> tuple[Recorded, Turn]:
        tools = tools_of(body)
        with self._turn:
            script = self.scripts.setdefault(name, Script(name))
            plays = bool(tools) and not is_summarizing(body)
            recorded = Recorded(len(self.requests), name, api, body, self._snapshot(), plays=plays)
            turn = script.take(recorded) if plays else Turn(text=SUMMARY)
            for wanted, arguments in turn.calls:
                found = find_tool(wanted, tools)
                if found is None:
                    recorded.missing = wanted
                    turn = Turn(text=f"there is no tool {wanted}")
                    recorded.calls.clear()
                    break
                id = f"call_{recorded.number:03d}{len(recorded.calls)}_{time.time_ns() % 10**9}"
                recorded.calls.append((id, found, arguments))
            self.requests.append(recorded)
            script.requests.append(recorded)
        if turn.before is not None:
            turn.before()
        return recorded, turn

    def _snapshot(self) -> dict[str, str]:
        found = {}
        for path in sorted(self.watched.rglob("*")):
            if ".git" in path.parts or not path.is_file():
                continue
            if path.stat().st_size <= SNAPSHOT_BYTES_MAX:
                try:
                    found[str(path)] = path.read_bytes().decode("utf-8")
                except (OSError, UnicodeDecodeError):
                    continue
        return found


def is_summarizing(body: Mapping[str, Any]) -> bool:
    messages = body.get("messages") or body.get("input") or body.get("contents") or [""]
    # Reminders may follow the instruction.
    last = [json.dumps(message, ensure_ascii=False)[-8000:] for message in messages[-3:]]
    return any(mark in text for mark in SUMMARIZING for text in last)


def tools_of(body: Mapping[str, Any]) -> list[tuple[str, str]]:
    """The tools that the agent offers, as (server, name)."""
    found: list[tuple[str, str]] = []
    given = list(body.get("tools") or [])
    for item in body.get("input") or []:
        if isinstance(item, dict) and item.get("type") in (
            "tool_search_output",
            "additional_tools",
        ):
            given += item.get("tools", [])
    for tool in given:
        if tool.get("type") == "namespace":
            found += [(str(tool["name"]), str(one["name"])) for one in tool.get("tools", [])]
        elif "functionDeclarations" in tool:
            found += [("", str(one["name"])) for one in tool["functionDeclarations"]]
        elif "function" in tool:
            found.append(("", str(tool["function"]["name"])))
        elif "name" in tool:
            found.append(("", str(tool["name"])))
        elif tool.get("type") == "tool_search":
            found.append(("", "tool_search"))
    return found


def find_tool(wanted: str, tools: list[tuple[str, str]]) -> str | None:
    """The full name of the tool, `server\\0name` when the API has servers."""
    for one in wanted.split("|"):
        server, _, name = one.rpartition(".")
        for space, tool in tools:
            whole = f"{space}{tool}"
            if (server and server in whole and (tool == name or tool.endswith(f"_{name}"))) or (
                not server and tool == name
            ):
                return f"{space}\0{tool}" if space else tool
    return None


@contextmanager
def scripted_model(watched: Path) -> Iterator[Model]:
    """Serve scripts on a port of this machine."""
    model = Model(watched)

    class Handler(_Handler):
        pass

    Handler.model = model
    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    server.daemon_threads = True
    model.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,), daemon=True)
    thread.start()
    try:
        yield model
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    model: Model

    def log_message(self, *_: object) -> None: ...

    def do_GET(self) -> None:
        self.model.others.append(self.path)
        self._json({"data": [], "models": [], "object": "list"})

    do_HEAD = do_GET

    def do_POST(self) -> None:
        body = self._body()
        path = self.path.split("?")[0]
        api = _api_of(path)
        if path.endswith("count_tokens"):
            self._json({"input_tokens": 1000})
            return
        if path.endswith(":countTokens"):
            self._json({"totalTokens": 1000})
            return
        if api is None:
            self.model.others.append(self.path)
            self._json({})
            return
        recorded, turn = self.model.receive(self._script(), api, body)
        try:
            if turn.error is not None:
                self._error(*turn.error)
            else:
                getattr(self, f"_{api}")(body, recorded, turn)
        except (BrokenPipeError, ConnectionResetError):
            self.close_connection = True

    def _script(self) -> str:
        names = ("x-api-key", "authorization", "x-goog-api-key")
        key = next((self.headers[name] for name in names if self.headers.get(name)), "")
        return key.removeprefix("Bearer ").removeprefix("dummy-") or "none"

    def _body(self) -> dict[str, Any]:
        if self.headers.get("transfer-encoding") == "chunked":
            raw = b""
            while size := int(self.rfile.readline().strip() or b"0", 16):
                raw += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
        else:
            raw = self.rfile.read(int(self.headers.get("content-length") or 0))
        encoding = self.headers.get("content-encoding")
        assert encoding in (None, "identity", "gzip"), encoding
        if encoding == "gzip":
            raw = gzip.decompress(raw)
        found = json.loads(raw or b"{}")
        return found if isinstance(found, dict) else {"value": found}

    # answers

    def _send(self, status: int, kind: str, payload: bytes) -> None:
        self.send_response(status)
        self.send_header("content-type", kind)
        self.send_header("content-length", str(len(payload)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(payload)
        self.wfile.flush()

    def _json(self, value: object, status: int = 200) -> None:
        self._send(status, "application/json", json.dumps(value).encode())

    def _error(self, status: int, message: str) -> None:
        error = {
            "type": "invalid_request_error",
            "message": message,
            "code": "context_length_exceeded",
        }
        self._json({"type": "error", "error": error}, status)

    def _events(self, events: list[Any], *, named: bool = True) -> None:
        lines = []
        for event in events:
            if named:
                lines.append(f"event: {event['type']}\n")
            lines.append(f"data: {event if isinstance(event, str) else json.dumps(event)}\n\n")
        self._send(200, "text/event-stream", "".join(lines).encode())

    def _anthropic(self, body: dict[str, Any], recorded: Recorded, turn: Turn) -> None:
        content: list[dict[str, Any]] = [{"type": "text", "text": turn.text}] if turn.text else []
        content += [
            {"type": "tool_use", "id": f"toolu_{id}", "name": name, "input": arguments}
            for id, name, arguments in recorded.calls
        ]
        usage = {
            "input_tokens": turn.tokens,
            "output_tokens": 50,
            "cache_creation_input_tokens": 0,
            "cache_read_input_tokens": 0,
        }
        stop = "tool_use" if recorded.calls else "end_turn"
        message = {
            "id": f"msg_{recorded.number}_{time.time_ns()}",
            "type": "message",
            "role": "assistant",
            "model": body.get("model", "scripted"),
            "content": content,
            "stop_reason": stop,
            "stop_sequence": None,
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(message)
            return
        events: list[dict[str, Any]] = [
            {"type": "message_start", "message": {**message, "content": [], "stop_reason": None}}
        ]
        for at, block in enumerate(content):
            start: dict[str, Any]
            if block["type"] == "text":
                start = {"type": "text", "text": ""}
                delta = {"type": "text_delta", "text": block["text"]}
            else:
                start = {**block, "input": {}}
                delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
            events += [
                {"type": "content_block_start", "index": at, "content_block": start},
                {"type": "content_block_delta", "index": at, "delta": delta},
                {"type": "content_block_stop", "index": at},
            ]
        delta = {"stop_reason": stop, "stop_sequence": None}
        events += [
            {"type": "message_delta", "delta": delta, "usage": usage},
            {"type": "message_stop"},
        ]
        self._events(events)

    def _responses(self, body: dict[str, Any], recorded: Recorded, turn: Turn) -> None:
        out: list[dict[str, Any]] = []
        if turn.text:
            text = {"type": "output_text", "text": turn.text, "annotations": []}
            out.append(
                {
                    "type": "message",
                    "id": f"msg_{recorded.number}",
                    "role": "assistant",
                    "status": "completed",
                    "content": [text],
                }
            )
        freeform = {t.get("name") for t in body.get("tools", []) if t.get("type") == "custom"}
        for id, full, arguments in recorded.calls:
            space, _, name = full.rpartition("\0")
            item: dict[str, Any] = {"id": f"fc_{id}", "call_id": id, "status": "completed"}
            if name in freeform or name == "exec":
                item |= {"type": "custom_tool_call", "name": name, "input": arguments["input"]}
            elif name == "tool_search":
                item |= {
                    "type": "tool_search_call",
                    "execution": "client",
                    "arguments": arguments,
                }
            else:
                item |= {
                    "type": "function_call",
                    "name": name,
                    "arguments": json.dumps(arguments),
                }
            out.append(item | ({"namespace": space} if space else {}))
        usage = {
            "input_tokens": turn.tokens,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 50,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": turn.tokens + 50,
        }
        response = {
            "id": f"resp_{recorded.number}",
            "object": "response",
            "created_at": int(time.time()),
            "status": "completed",
            "model": body.get("model"),
            "output": out,
            "usage": usage,
        }
        if not body.get("stream"):
            self._json(response)
            return
        begun = {**response, "status": "in_progress", "output": [], "usage": None}
        events: list[dict[str, Any]] = [{"type": "response.created", "response": begun}]
        for at, item in enumerate(out):
            events += [
                {"type": f"response.output_item.{kind}", "output_index": at, "item": item}
                for kind in ("added", "done")
            ]
        events.append({"type": "response.completed", "response": response})
        for at, event in enumerate(events):
            event["sequence_number"] = at
        self._events(events)

    def _compact(self, body: dict[str, Any], recorded: Recorded, turn: Turn) -> None:
        content = [{"type": "input_text", "text": SUMMARY}]
        usage = {"input_tokens": 10, "output_tokens": 5, "total_tokens": 15}
        message = {"type": "message", "role": "user", "content": content}
        self._json(
            {
                "id": f"resp_{recorded.number}",
                "object": "response.compaction",
                "output": [message],
                "usage": usage,
            }
        )

    def _chat(self, body: dict[str, Any], recorded: Recorded, turn: Turn) -> None:
        uses = [
            {
                "index": at,
                "id": id,
                "type": "function",
                "function": {"name": name, "arguments": json.dumps(arguments)},
            }
            for at, (id, name, arguments) in enumerate(recorded.calls)
        ]
        usage = {
            "prompt_tokens": turn.tokens,
            "completion_tokens": 50,
            "total_tokens": turn.tokens + 50,
        }
        base = {
            "id": f"chat-{recorded.number}",
            "created": int(time.time()),
            "model": body.get("model"),
        }
        finish = "tool_calls" if uses else "stop"
        if not body.get("stream"):
            message = {"role": "assistant", "content": turn.text or None}
            choice = {
                "index": 0,
                "message": {**message, **({"tool_calls": uses} if uses else {})},
                "finish_reason": finish,
            }
            self._json({**base, "object": "chat.completion", "choices": [choice], "usage": usage})
            return
        chunk = {**base, "object": "chat.completion.chunk"}
        deltas: list[tuple[dict[str, Any], str | None]] = [
            ({"role": "assistant", "content": turn.text}, None)
        ]
        deltas += [({"tool_calls": uses}, None)] if uses else []
        deltas.append(({}, finish))
        events: list[Any] = [
            {**chunk, "choices": [{"index": 0, "delta": delta, "finish_reason": end}]}
            for delta, end in deltas
        ]
        self._events([*events, {**chunk, "choices": [], "usage": usage}, "[DONE]"], named=False)

    def _gemini(self, body: dict[str, Any], recorded: Recorded, turn: Turn) -> None:
        parts: list[dict[str, Any]] = [{"text": turn.text}] if turn.text else []
        parts += [
            {"functionCall": {"id": id, "name": name, "args": arguments}}
            for id, name, arguments in recorded.calls
        ]
        candidate = {
            "content": {"role": "model", "parts": parts},
            "finishReason": "STOP",
            "index": 0,
        }
        usage = {
            "promptTokenCount": turn.tokens,
            "candidatesTokenCount": 50,
            "totalTokenCount": turn.tokens + 50,
        }
        answer = {"candidates": [candidate], "usageMetadata": usage, "modelVersion": "scripted"}
        if "stream" in self.path:
            self._events([answer], named=False)
        else:
            self._json(answer)


def _api_of(path: str) -> str | None:
    if path.endswith("/messages"):
        return "anthropic"
    if path.endswith("/responses/compact"):
        return "compact"
    if path.endswith("/responses"):
        return "responses"
    if path.endswith("/chat/completions"):
        return "chat"
    return "gemini" if "enerateContent" in path else None
