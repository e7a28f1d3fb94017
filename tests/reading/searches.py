"""A search of ours in an agent's log: the call, and the answer as the model is shown it."""

from holdfast.replay.writers import ClaudeWriter, CodexWriter, Writer


def search(writer: Writer, at: float) -> str:
    """The agent calls our search; returns the id of the call."""
    if not isinstance(writer, CodexWriter):
        return writer.call("mcp__holdfast__search_code", {"query": "x"}, at)
    call = writer.next_id("c")
    writer.item(at, type="function_call", name="search_code", call_id=call, arguments="{}")
    return call


def search_result(writer: Writer, call: str, text: str, at: float) -> None:
    """Its answer."""
    if isinstance(writer, CodexWriter):
        head = {"type": "text", "text": "Wall time: 0.1 seconds\nOutput:"}
        content = [head, {"type": "text", "text": text}]
        writer.item(at, type="function_call_output", call_id=call, output=content)
    else:
        assert isinstance(writer, ClaudeWriter), "pi has none of our search tools"
        writer.result(call, text, {}, at)
