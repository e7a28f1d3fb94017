"""An agent that has only the descriptions of the default toolset does a whole task without a slip.

The scripted model knows no name of a tool or an argument. It has intentions in words, and chooses
for each the tool whose title and description share the most with it; an argument is filled from the
names and descriptions of the tool's own schema. So the test fails when a description no longer says
what its tool is for, when a needed argument is not listed, or when a call is refused.
"""

import asyncio
import re
from pathlib import Path
from typing import Any

import pytest
from mcp import Client

from holdfast.index.search.terms import terms
from tests.mcp.agents import WAIT_S, machine_in, text_of

COMMON = set(terms("a an the of in it is to or and what that this you your one all its as by with"))


def words(text: str) -> set[str]:
    return set(terms(text)) - COMMON


class Model:
    """Chooses tools and arguments by their descriptions alone."""

    def __init__(self, listed: list[dict[str, Any]], client: Client) -> None:
        self._tools, self._client = listed, client
        self.calls: list[str] = []

    def tool_for(self, intention: str) -> dict[str, Any]:
        """The tool whose description fits an intention best; rare words of the list count more."""
        texts = {
            tool["name"]: words(f"{tool['name']} {tool.get('title', '')} {tool['description']}")
            for tool in self._tools
        }

        def worth(word: str) -> float:
            return 1 / sum(word in one for one in texts.values())

        def score(tool: dict[str, Any]) -> float:
            return sum(worth(word) for word in words(intention) & texts[tool["name"]])

        return max(self._tools, key=score)

    def argument_for(self, tool: dict[str, Any], meaning: str) -> str:
        """The argument whose name and description fit a meaning best."""
        properties: dict[str, Any] = tool["inputSchema"]["properties"]
        required = tool["inputSchema"].get("required", [])

        def score(name: str) -> tuple[int, int, bool]:
            described = words(f"{name} {properties[name].get('description', '')}")
            enum = words(" ".join(map(str, properties[name].get("enum", ()))))
            exact = words(meaning) & words(name)
            return len(words(meaning) & (described | enum)), len(exact), name in required

        return max(properties, key=score)

    async def does(self, intention: str, **meanings: Any) -> str:
        """Call what fits; meanings are words for each value, with _ for blanks."""
        tool = self.tool_for(intention)
        arguments: dict[str, Any] = {}
        for meaning, value in meanings.items():
            name = self.argument_for(tool, meaning.replace("_", " "))
            schema = tool["inputSchema"]["properties"][name]
            arguments[name] = [value] if schema.get("type") == "array" else value
        self.calls.append(tool["name"])
        result = await self._client.call_tool(tool["name"], arguments)
        assert not result.is_error, f"{intention}: {tool['name']}({arguments}): {text_of(result)}"
        status = (result.structured_content or {"status": "ok"}).get("status", "ok")
        assert status == "ok", f"{intention}: {tool['name']}({arguments}): {text_of(result)}"
        return text_of(result)


@pytest.mark.shows("MCP-DESCRIPTIONS")
def test_an_agent_with_only_the_descriptions_makes_no_wrong_call(tmp_path: Path) -> None:
    with machine_in(
        tmp_path, forks_host=True, HOLDFAST_MCP_TOOLS="", HOLDFAST_MCP_STRUCTURED=""
    ) as machine:
        assert machine.run("index", "create").returncode == 0
        tax = machine.tree / "shop" / "tax.py"

        async def story() -> list[str]:
            async with asyncio.timeout(WAIT_S * 2), machine.agent() as client:
                listed = [
                    one.model_dump(by_alias=True, exclude_none=True, mode="json")
                    for one in (await client.list_tools()).tools
                ]
                model = Model(listed, client)
                found = await model.does(
                    "find code in the indexed tree by behaviour",
                    query_a_phrase_or_a_behaviour="amount with tax",
                )
                assert "shop/tax.py" in found
                path = re.findall(r"[\w/]+\.py", found)[0]
                text = await model.does("read a file", path_of_the_file=path)
                assert "1.19" in text
                tax.write_text(tax.read_text().replace("1.19", "1.2"))  # the agent's own edit
                changed = await model.does("read a file", path_of_the_file=path)
                assert "1.2" in changed
                await model.does(
                    "branches: create one to work on undisturbed",
                    what_to_do_action="create",
                    name_the_branch="vat",
                )
                noted = await model.does(
                    "write down as plain text what the next agent should know",
                    text_the_note="the rate is 20 percent since May",
                    code_it_is_about_path_symbol=f"{path}:with_tax",
                    branch="vat",
                )
                note = re.findall(r"note:[\w-]+", noted)[0]
                review = await model.does(
                    "branches: review each change beside its code",
                    what_to_do_action="review",
                    name_the_branch="vat",
                )
                assert note in review
                assert "def with_tax" in review
                merged = await model.does(
                    "branches: merge and close it",
                    what_to_do_action="merge",
                    name_the_branch="vat",
                )
                assert "vat is closed" in merged
                again = await model.does(
                    "find notes of the shared memory by what they say",
                    text_what_they_say="tax percentage",
                )
                assert note in again
                shown = await model.does("read a document", id_the_document=note)
                assert "20 percent" in shown
                assert note in await model.does("read a file", path_of_the_file=path)
                return model.calls

        assert asyncio.run(story()) == [
            "search_code", "read", "read", "memory_branch", "memory_note", "memory_branch",
            "memory_branch", "memory_query", "memory_get", "read",
        ]  # fmt: skip
