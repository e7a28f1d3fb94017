"""One connection, served by the official SDK.

Each connection has its own server, which knows the caller. Tools run in threads, so that a slow one
does not block others; progress is reported through the event loop, and cancelling a call notifies
its thread.
"""

from __future__ import annotations

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
import mcp_types as types
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel import Server
from mcp.shared.exceptions import MCPError
from mcp.shared.message import SessionMessage

from holdfast import __version__
from holdfast.errors import HoldfastError
from holdfast.files.boundary import OutsideWorkspace
from holdfast.mcp import prompts, resources
from holdfast.mcp.binding import LEAF
from holdfast.mcp.caller import Caller, caller_of, named
from holdfast.mcp.declared_roots import DeclaredRoots
from holdfast.mcp.hook_protocol import HOOK_TOOL
from holdfast.mcp.host_context import HostContext
from holdfast.mcp.structured import SETTING as STRUCTURED
from holdfast.mcp.structured import content, mode_of
from holdfast.mcp.tool import CallCancelled, Result, Tool, ToolCall, failure
from holdfast.mcp.tools import TOOLS
from holdfast.mcp.tools.common import no_such_tree
from holdfast.mcp.toolsets import SETTING as TOOLSETS
from holdfast.mcp.toolsets import listed

THREADS_MAX = 128
PROGRESS_EVERY_S = 0.1

INSTRUCTIONS = """\
Holdfast answers with proof or with the plain safe answer.
- read: a file, or only what you do not hold of it already. Treat the answer as authoritative.
- search_code, file_outline, call_graph: find code in an indexed tree. Not indexed? \
manage_index(action="create", path=...).
- locate: where a snippet stands, and what differs first; use it when an edit did not match.
- context: what you hold of which files, and what changed since; call it after a compaction.
- memory_get, memory_query, memory_commit, memory_branch: notes that outlive this conversation.
A refusal names the call that helps."""

log = logging.getLogger("holdfast.mcp")

Context = ServerRequestContext[Any, Any]
Counted = Callable[[str, str, float], None]


class AfterSending:
    """Functions to run after the answer to a request was sent."""

    def __init__(self) -> None:
        self._acts: dict[types.RequestId, list[Callable[[], None]]] = {}

    def after(self, id: types.RequestId | None, act: Callable[[], None]) -> None:
        if id is None:
            act()
        else:
            self._acts.setdefault(id, []).append(act)

    def take(self, id: types.RequestId) -> list[Callable[[], None]]:
        return self._acts.pop(id, [])

    def forget(self, id: types.RequestId | None) -> None:
        if id is not None:
            self._acts.pop(id, None)


READERS_TOOLS = frozenset({"search_code", "file_outline", "call_graph", "read", "list_codebases"})
"""The tools that a client with a pass may call, on the repositories that its key may read."""


class ToolServer:
    """The request handlers of one SDK server."""

    def __init__(
        self,
        context: HostContext,
        caller: Caller,
        sent: AfterSending | None = None,
        counted: Counted = lambda tool, outcome, seconds: None,
    ) -> None:
        self._context, self._caller, self._sent, self._counted = context, caller, sent, counted
        self._threads = anyio.CapacityLimiter(THREADS_MAX)
        self._is_named = False
        self._declared = DeclaredRoots()

    def server(self) -> Server[Any]:
        server: Server[Any] = Server(
            "holdfast",
            version=__version__,
            title="Holdfast",
            description="Reads, code search, sequence search and memory, each with proof.",
            instructions=INSTRUCTIONS,
            get_tool_input_schema=lambda name: TOOLS[name].input if name in TOOLS else None,
            on_list_tools=self._list_tools,
            on_call_tool=self._call_tool,
            on_list_resources=self._list_resources,
            on_list_resource_templates=self._list_templates,
            on_read_resource=self._read_resource,
            on_list_prompts=self._list_prompts,
            on_get_prompt=self._get_prompt,
        )
        server.add_notification_handler(
            "notifications/roots/list_changed", types.NotificationParams, self._declared.changed
        )
        return server

    # tools

    async def _list_tools(self, ctx: Context, params: object) -> types.ListToolsResult:
        environment, client = self._caller.environment, _client_of(ctx)
        has_conversation = self._caller.may_have_conversation(client)
        names = listed(TOOLS, environment.get(TOOLSETS, ""), has_conversation=has_conversation)
        if self._caller.principal is not None:
            names = [name for name in TOOLS if name in READERS_TOOLS]
        # Output schemas are long: they cost more than the rest of the list.
        full = environment.get(STRUCTURED) == "full"
        return types.ListToolsResult(tools=[_described(TOOLS[name], full) for name in names])

    async def _call_tool(
        self, ctx: Context, params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        self._refuse_reader(params.name)
        if params.name == HOOK_TOOL:
            arguments = params.arguments or {}
            answer = await self._context.hooks.answer(str(arguments.get("agent")), arguments)
            text = json.dumps(answer, ensure_ascii=False)
            return types.CallToolResult(content=[types.TextContent(text=text)])
        tool = TOOLS.get(params.name)
        if tool is None:
            raise MCPError(
                types.INVALID_PARAMS,
                f"there is no tool {params.name!r}",
                {"tools": list(TOOLS)},
            )
        self._learn_name(ctx)
        started = self._context.app.clock.monotonic()
        try:
            result = await self._run(ctx, tool, params.arguments)
        except asyncio.CancelledError:
            self._counted(tool.name, "cancelled", self._context.app.clock.monotonic() - started)
            raise
        outcome = "failed" if result.failed else "ok"
        if not result.failed and result.facts.get("status") != "ok":
            outcome = "refused"
        self._counted(tool.name, outcome, self._context.app.clock.monotonic() - started)
        blocks: list[Any] = [types.TextContent(text=result.text)]
        blocks += [types.ImageContent(data=data, mime_type=kind) for data, kind in result.images]
        mode = mode_of(
            _client_of(ctx),
            self._caller.environment.get(STRUCTURED, ""),
            verbose=(params.arguments or {}).get("verbose") is True,
        )
        facts = content(tool.name, result.facts, result.text, mode)
        return types.CallToolResult(
            content=blocks, structured_content=facts, is_error=result.failed
        )

    async def _run(self, ctx: Context, tool: Tool, arguments: dict[str, Any] | None) -> Result:
        gone = threading.Event()
        meta: dict[str, Any] = dict(ctx.meta or {})
        sent, id = self._sent, ctx.request_id

        def after_sent(act: Callable[[], None]) -> None:
            if sent is None:
                act()
            else:
                # A thread may register its record after its call was cancelled.
                sent.after(id, lambda: None if gone.is_set() else act())

        call = ToolCall(
            self._context,
            self._caller,
            {},
            meta,
            cancelled=gone.is_set,
            after_sent=after_sent,
            declared=self._declared.of(ctx),
        )

        def work() -> Result:
            return run_tool(tool, call, arguments)

        if "progress_token" in meta or "progressToken" in meta:
            return await self._run_with_progress(ctx, call, work, gone)
        try:
            return await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._threads
            )
        except asyncio.CancelledError:
            gone.set()
            if sent is not None:
                sent.forget(id)
            raise

    async def _run_with_progress(
        self, ctx: Context, call: ToolCall, work: Callable[[], Result], gone: threading.Event
    ) -> Result:
        reports: asyncio.Queue[tuple[float, float, str] | None] = asyncio.Queue()
        loop = asyncio.get_running_loop()
        last = [-1.0, 0.0]

        def progress(done: float, total: float, text: str) -> None:
            # Progress must increase, and a few reports per second are enough.
            now = self._context.app.clock.monotonic()
            if done <= last[0] or (now - last[1] < PROGRESS_EVERY_S and done < total):
                return
            last[0], last[1] = done, now
            loop.call_soon_threadsafe(reports.put_nowait, (done, total, text))

        async def pass_on() -> None:
            while (report := await reports.get()) is not None:
                await ctx.session.report_progress(*report)

        call.progress = progress
        passing = loop.create_task(pass_on())
        try:
            result = await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=self._threads
            )
            reports.put_nowait(None)
            await passing
        except asyncio.CancelledError:
            gone.set()
            if self._sent is not None:
                self._sent.forget(ctx.request_id)
            raise
        finally:
            passing.cancel()
        return result

    def _learn_name(self, ctx: Context) -> None:
        """Use the name that the agent reported for its commits."""
        if self._is_named or self._sent is None:
            return
        self._is_named = True
        params = ctx.session.client_params
        if params is not None:
            unique = self._caller.name.rpartition("-")[2]
            self._caller.client = params.client_info.name
            self._caller.name = named(self._caller.client, unique)

    # resources and prompts

    def _refuse_reader(self, name: str) -> None:
        """Refuse a client with a pass everything but a few tools that read."""
        if self._caller.principal is not None and name not in READERS_TOOLS:
            raise MCPError(
                types.INVALID_PARAMS,
                f"a pass does not open {name!r}; it opens {', '.join(sorted(READERS_TOOLS))}",
            )

    async def _list_resources(self, ctx: Context, params: object) -> types.ListResourcesResult:
        if self._caller.principal is not None:
            return types.ListResourcesResult(resources=[])
        entries = await anyio.to_thread.run_sync(resources.listed, self._context)
        return types.ListResourcesResult(resources=[types.Resource(**one) for one in entries])

    async def _list_templates(
        self, ctx: Context, params: object
    ) -> types.ListResourceTemplatesResult:
        templates = [types.ResourceTemplate(**one) for one in resources.TEMPLATES]
        return types.ListResourceTemplatesResult(resource_templates=templates)

    async def _read_resource(
        self, ctx: Context, params: types.ReadResourceRequestParams
    ) -> types.ReadResourceResult:
        self._refuse_reader("resources")
        uri = str(params.uri)
        try:
            call = ToolCall(self._context, self._caller, {}, declared=self._declared.of(ctx))
            resource = await anyio.to_thread.run_sync(resources.read, call, uri)
        except HoldfastError as error:
            raise MCPError(types.INVALID_PARAMS, _sentence(error), {"uri": uri}) from error
        content = types.TextResourceContents(uri=uri, mime_type="application/json", text=resource)
        return types.ReadResourceResult(contents=[content])

    async def _list_prompts(self, ctx: Context, params: object) -> types.ListPromptsResult:
        listed_prompts = [
            types.Prompt(
                name=prompt.name,
                title=prompt.title,
                description=prompt.description,
                arguments=[
                    types.PromptArgument(name=name, description=text, required=required)
                    for name, text, required in prompt.arguments
                ],
            )
            for prompt in prompts.PROMPTS.values()
        ]
        return types.ListPromptsResult(prompts=listed_prompts)

    async def _get_prompt(
        self, ctx: Context, params: types.GetPromptRequestParams
    ) -> types.GetPromptResult:
        self._refuse_reader("prompts")
        call = ToolCall(
            self._context,
            self._caller,
            dict(params.arguments or {}),
            dict(ctx.meta or {}),
            declared=self._declared.of(ctx),
        )
        try:
            prompt = prompts.find(params.name, call.arguments)
            text = await anyio.to_thread.run_sync(prompt.write, call)
        except HoldfastError as error:
            raise MCPError(types.INVALID_PARAMS, _sentence(error)) from error
        message = types.PromptMessage(role="user", content=types.TextContent(text=text))
        return types.GetPromptResult(description=prompt.description, messages=[message])


def run_tool(tool: Tool, call: ToolCall, arguments: dict[str, Any] | None) -> Result:
    """Run a tool; every exception becomes a failed result."""
    try:
        call.arguments = tool.checked(arguments)
        return tool.run(call)
    except CallCancelled as error:
        return failure(str(error), error.hint)
    except OutsideWorkspace as error:
        log.info("%s refused: %s", tool.name, error.refused.reason)
        refused = failure(str(error), error.hint)
        return refused if LEAF in call.meta else no_such_tree(refused)
    except HoldfastError as error:
        log.info("%s refused: %s", tool.name, type(error).__name__)
        return failure(str(error), error.hint)
    except OSError as error:
        log.warning("%s: %s", tool.name, error.strerror or type(error).__name__)
        where = f": {error.filename}" if error.filename else ""
        return failure(f"{error.strerror or error}{where}")
    except Exception:
        log.exception("%s failed", tool.name)
        return failure(
            f"{tool.name} failed with an internal error",
            f"the traceback is in the log in {call.context.home.run}",
        )


def _sentence(error: HoldfastError) -> str:
    return f"{error} ({error.hint})" if error.hint else str(error)


def listing(tool: Tool, *, full: bool = False) -> dict[str, Any]:
    """A tool as `tools/list` sends it."""
    return _described(tool, full).model_dump(by_alias=True, exclude_none=True, mode="json")


def _client_of(ctx: Context) -> str:
    """The name that the client program reports."""
    params = ctx.session.client_params
    return "" if params is None else params.client_info.name


def _described(tool: Tool, full: bool) -> types.Tool:
    """A tool as it is listed, with only the hints that differ from the protocol's defaults."""
    hints = types.ToolAnnotations(read_only_hint=True, open_world_hint=False)
    if not tool.read_only:
        hints = types.ToolAnnotations(
            destructive_hint=None if tool.destructive else False,
            idempotent_hint=tool.idempotent or None,
            open_world_hint=False,
        )
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.input,
        output_schema=tool.output if full else None,
        annotations=hints,
    )


# a connection of the host


async def serve_stream(
    context: HostContext,
    hello: dict[str, Any],
    reader: asyncio.StreamReader,
    writer: asyncio.StreamWriter,
) -> None:
    """Serve one shim until it disconnects."""
    unique = context.new_id()
    caller = caller_of(hello, unique)
    sent = AfterSending()
    server = ToolServer(context, caller, sent).server()
    to_server, from_agent = anyio.create_memory_object_stream[SessionMessage | Exception](16)
    to_agent, from_server = anyio.create_memory_object_stream[SessionMessage](16)
    writing, noting = asyncio.Lock(), asyncio.Lock()

    async def read() -> None:
        async with to_server:
            while line := await _line(reader):
                async with noting:
                    pass  # once the agent has received an answer, its record must exist
                try:
                    message = types.jsonrpc_message_adapter.validate_json(line, by_name=False)
                except ValueError:
                    message = None
                if message is None or _has_no_such_id(message, line):
                    async with writing:
                        writer.write(_misunderstood(line))
                        await writer.drain()
                    continue
                await to_server.send(SessionMessage(message))

    async def write() -> None:
        async with from_server:
            async for item in from_server:
                message = item.message
                text = message.model_dump_json(by_alias=True, exclude_unset=True)
                try:
                    async with writing:
                        writer.write(text.encode("utf-8", "surrogatepass") + b"\n")
                        await writer.drain()
                except ConnectionError:
                    continue  # the reader notices too; an unsent answer is not recorded
                if isinstance(message, types.JSONRPCResponse):
                    async with noting:
                        for act in sent.take(message.id):
                            await anyio.to_thread.run_sync(_quietly, act)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(read)
        tasks.start_soon(write)
        await server.run(from_agent, to_agent, server.create_initialization_options())
        tasks.cancel_scope.cancel()


async def _line(reader: asyncio.StreamReader) -> bytes:
    """The next line; empty when the peer disconnected or sent an overlong line."""
    try:
        return await reader.readline()
    except (ConnectionError, ValueError) as error:
        log.info("a connection ended: %s", type(error).__name__)
        return b""


def _has_no_such_id(message: types.JSONRPCMessage, line: bytes) -> bool:
    """Whether a message looks like a notification only because its id is invalid."""
    import json

    return (
        isinstance(message, types.JSONRPCNotification)
        and b'"id"' in line
        and "id" in json.loads(line)
    )


def _quietly(act: Callable[[], None]) -> None:
    try:
        act()
    except Exception:
        log.exception("a sent answer could not be recorded; it will be sent again")


def _misunderstood(line: bytes) -> bytes:
    """The error for a line that is not a JSON-RPC message."""
    import json

    id: object = None
    code, message = types.PARSE_ERROR, "the line is not valid JSON"
    try:
        raw = json.loads(line)
    except (ValueError, RecursionError):
        raw = None
    else:
        code, message = types.INVALID_REQUEST, "the line is not a JSON-RPC 2.0 message"
        raw_id = raw.get("id") if isinstance(raw, dict) else None
        id = raw_id if isinstance(raw_id, str | int) and not isinstance(raw_id, bool) else None
    error = {"code": code, "message": message}
    return json.dumps({"jsonrpc": "2.0", "id": id, "error": error}).encode() + b"\n"
