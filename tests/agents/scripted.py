"""A model that says what a test wrote down, behind the API that agents speak to local servers."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Script:
    """What the model will say, one entry per request, and what it was sent."""

    def __init__(self) -> None:
        self.turns: list[dict[str, Any]] = []
        self.requests: list[dict[str, Any]] = []
        self.url = ""
        self.calls = 0

    def call(self, name: str, **arguments: Any) -> None:
        """The model calls a tool."""
        self.calls += 1
        number = f"call_{self.calls}"
        function = {"name": name, "arguments": json.dumps(arguments)}
        self.turns.append(
            {"tool_calls": [{"index": 0, "id": number, "type": "function", "function": function}]}
        )

    def say(self, text: str) -> None:
        self.turns.append({"content": text})

    def tool_results(self) -> list[str]:
        """The texts of all tool results in the newest request: what the model sees."""
        messages = self.requests[-1]["messages"]
        return [_text(m["content"]) for m in messages if m["role"] == "tool"]


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content)


@contextmanager
def scripted_model() -> Iterator[Script]:
    """Serve a script on a port of this machine."""
    script = Script()

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["content-length"]))
            script.requests.append(json.loads(body))
            turn = script.turns.pop(0) if script.turns else {"content": "done"}
            finish = "tool_calls" if "tool_calls" in turn else "stop"
            chunks: list[dict[str, Any]] = [
                {"choices": [{"index": 0, "delta": {"role": "assistant", **turn}}]},
                {"choices": [{"index": 0, "delta": {}, "finish_reason": finish}]},
                {
                    "choices": [],
                    "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
                },
            ]
            base: dict[str, Any] = {
                "id": "x",
                "object": "chat.completion.chunk",
                "created": 1,
                "model": "scripted",
            }
            lines = [f"data: {json.dumps({**base, **chunk})}\n\n" for chunk in chunks]
            payload = "".join([*lines, "data: [DONE]\n\n"]).encode()
            self.send_response(200)
            self.send_header("content-type", "text/event-stream")
            self.send_header("content-length", str(len(payload)))
            self.end_headers()
            self.wfile.write(payload)

        def log_message(self, *_: object) -> None: ...

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    script.url = f"http://127.0.0.1:{server.server_address[1]}/v1"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield script
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
