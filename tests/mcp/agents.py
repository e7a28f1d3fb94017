"""Real MCP clients against a real shim, host and server, each in a home of its own."""

import asyncio
import json
import os
import signal
import subprocess
import sys
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import asynccontextmanager, contextmanager
from functools import cache
from pathlib import Path
from typing import Any

import httpx2
from jsonschema import Draft202012Validator
from mcp import Client, StdioServerParameters
from mcp.client.stdio import stdio_client
from mcp.client.streamable_http import streamable_http_client
from mcp_types import CallToolResult, Implementation, TextContent, Tool

from holdfast.home import home_of
from holdfast.mcp.control import running
from holdfast.mcp.rendezvous import Rendezvous, rendezvous_of
from tests.fork_server import Forked, fork_server

ERAS = ("legacy", "2026-07-28")
WAIT_S = 60.0

SHOP = {
    "shop/cart.py": (
        "class Cart:\n"
        "    def __init__(self):\n"
        "        self.lines = []\n"
        "\n"
        "    def total(self):\n"
        '        """Sum up the prices of all lines."""\n'
        "        return sum(line.price for line in self.lines)\n"
        "\n"
        "\n"
        "def checkout(cart):\n"
        "    return cart.total()\n"
    ),
    "shop/tax.py": "def with_tax(amount):\n    return amount * 1.19\n",
    "README.md": "# Shop\n\nA small shop.\n",
}


_check_schema = Draft202012Validator.check_schema


@cache
def _check_schema_once(text: str) -> None:
    _check_schema(json.loads(text))


# Each client checks the schema of each tool that it calls, which takes longer than the calls.
_validator: Any = Draft202012Validator
_validator.check_schema = lambda schema: _check_schema_once(json.dumps(schema))


def make_tree(folder: Path, files: Mapping[str, str] = SHOP) -> Path:
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return folder


class Machine:
    """One user's machine: a home, a tree, and the programs started on it.

    With `forks_host` the host does not start with the first shim but before it, by a fork.
    """

    def __init__(self, folder: Path, *, forks_host: bool = False, **environment: str) -> None:
        self._forks_host = forks_host
        self.home = folder / "home"
        self.tree = make_tree(folder / "tree")
        kept = {
            n: v for n, v in os.environ.items() if not n.startswith(("HOLDFAST", "CLAUDE", "CODEX"))
        }
        self.environment = {
            **kept,
            "HOLDFAST_HOME": str(self.home),
            "HOME": str(folder / "user"),
            "HOLDFAST_MCP_STRUCTURED": "full",
            "HOLDFAST_MCP_TOOLS": "all",
            **environment,
        }
        (folder / "user").mkdir(exist_ok=True)

    @property
    def place(self) -> Rendezvous:
        home_of(self.environment).make_run()
        return rendezvous_of(home_of(self.environment), self.environment)

    @property
    def host(self) -> int | None:
        """The process of the host that runs, if one does."""
        found = running(self.place)
        return None if found is None else int(found["pid"])

    def command(self, *options: str) -> list[str]:
        return [sys.executable, "-m", "holdfast.cli.main", "mcp", *options]

    def run(self, *arguments: str) -> subprocess.CompletedProcess[str]:
        """A command of ours, to its end."""
        return subprocess.run(
            [sys.executable, "-m", "holdfast.cli.main", *arguments],
            env=self.environment,
            cwd=self.tree,
            capture_output=True,
            text=True,
            timeout=WAIT_S,
        )

    @asynccontextmanager
    async def agent(
        self, era: str = "legacy", *options: str, name: str = "test-agent", **environment: str
    ) -> AsyncIterator[Client]:
        """The official client at the end of a shim."""
        self.prepare()
        command, *arguments = self.command(*options)
        parameters = StdioServerParameters(
            command=command,
            args=arguments,
            env={**self.environment, **environment},
            cwd=str(self.tree),
        )
        info = Implementation(name=name, version="1")
        async with Client(stdio_client(parameters), mode=era, client_info=info) as client:
            yield client

    def talk(
        self, story: Callable[[Client], Awaitable[Any]], era: str = "legacy", *options: str
    ) -> Any:
        """Run a story with one agent."""

        async def told() -> Any:
            async with asyncio.timeout(WAIT_S), self.agent(era, *options) as client:
                return await story(client)

        return asyncio.run(told())

    def prepare(self) -> None:
        """Before the first agent: start a host, if it is not the shim that shall start it."""
        if self._forks_host:
            self._forks_host = False
            self.start_host()

    def start_host(self) -> None:
        """A host by a fork, much sooner than a shim could start one."""
        place = self.place
        ready, child_ready = os.pipe()
        log = os.open(place.log, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
        nothing = os.open(os.devnull, os.O_RDONLY)
        streams = (nothing, log, log, child_ready)
        fork_server().fork(
            "holdfast.cli.host", ["--ready", "3"], self.environment, Path(place.run), streams
        )
        for number in {*streams}:
            os.close(number)
        assert os.read(ready, 1) == b"1", Path(place.log).read_text()
        os.close(ready)

    def stop(self) -> None:
        pid = self.host
        if pid is not None:
            os.kill(pid, signal.SIGKILL)


@contextmanager
def machine_in(folder: Path, *, forks_host: bool = False, **environment: str) -> Iterator[Machine]:
    machine = Machine(folder, forks_host=forks_host, **environment)
    try:
        yield machine
    finally:
        machine.stop()


class Web:
    """`holdfast serve` of a machine."""

    def __init__(self, machine: Machine) -> None:
        words = ("serve", "--port", "0", "--json", "--show-token")
        env = {**machine.environment, "PYTHONUNBUFFERED": "1"}
        self.process = Forked("holdfast.cli.main", *words, env=env, cwd=machine.tree)
        facts = json.loads(self.process.stdout.readline())
        self.url: str = facts["mcp"]
        self.token: str = facts["token"]

    @asynccontextmanager
    async def agent(
        self, era: str = "legacy", token: str | None = None, credential: str = ""
    ) -> AsyncIterator[Client]:
        bearer = f"Bearer {self.token if token is None else token}"
        headers = {"authorization": credential or bearer}
        async with (
            httpx2.AsyncClient(headers=headers, timeout=WAIT_S) as http,
            Client(streamable_http_client(self.url, http_client=http), mode=era) as client,
        ):
            yield client

    def stop(self) -> None:
        self.process.terminate()
        self.process.wait(WAIT_S)
        self.process.close()


def text_of(result: CallToolResult) -> str:
    """The first block of an answer."""
    block = result.content[0]
    assert isinstance(block, TextContent)
    return block.text


def facts_of(result: CallToolResult) -> dict[str, Any]:
    facts = result.structured_content
    assert isinstance(facts, dict)
    return facts


async def call(
    client: Client, tool: str, *, meta: dict[str, Any] | None = None, **arguments: Any
) -> CallToolResult:
    """Call a tool and hold its answer against what it declares."""
    result = await client.call_tool(tool, arguments, meta=meta)  # type: ignore[arg-type]
    await judge(client, tool, result)
    return result


async def judge(client: Client, tool: str, result: CallToolResult) -> None:
    """Every answer has text, and facts that fit the declared schema, refused or failed too."""
    tools: dict[str, Tool] = vars(client).get("listed_tools", {})
    if tool not in tools:  # Listing them again for each call would take longer than the calls.
        tools = {one.name: one for one in (await client.list_tools()).tools}
        vars(client)["listed_tools"] = tools
    declared = tools[tool]
    assert declared.output_schema is not None
    Draft202012Validator(declared.output_schema).validate(result.structured_content)
    assert text_of(result).strip()
    facts = facts_of(result)
    if result.is_error:
        # A path that is missing is an error too, with its own status.
        assert facts["status"] in ("error", "not_found", "not_indexed")
        assert facts["message"] in text_of(result)
    more = facts.get("continue")
    if more is not None:
        assert more["tool"] in tools
