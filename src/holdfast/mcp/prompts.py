"""MCP prompts that a user may pick, filled with the current state."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from holdfast.errors import UsageError
from holdfast.mcp.tool import ToolCall


@dataclass(frozen=True, slots=True)
class Prompt:
    """A prompt: its arguments as (name, description, required) and the function that writes it."""

    name: str
    title: str
    description: str
    arguments: tuple[tuple[str, str, bool], ...]
    write: Callable[[ToolCall], str]


def recover(call: ToolCall) -> str:
    """What a compaction removed, and how to get back what the task needs."""
    from holdfast.mcp.tools.context import CONTEXT

    task = call.arguments.get("task", "").strip()
    call.arguments = {}
    context = CONTEXT.run(call).text
    about = f"The task: {task}\n\n" if task else ""
    return (
        f"{about}The conversation was compacted, so texts that you read before are gone from your "
        "context, whatever the summary says about them. This is what you provably hold now, and "
        f"what was taken away:\n\n{context}\n\n"
        "Work out which of the lost files the task still needs. Read those again, the needed "
        "lines only, with the calls above; do not edit a file from memory. Look into "
        "memory_query for notes about the task. Then say in two sentences where the work stands "
        "and go on."
    )


def review(call: ToolCall) -> str:
    """What a branch of memory would change, and how to decide whether to merge it."""
    from holdfast.mcp.tools.memory import MEMORY_BRANCH

    name, space = call.arguments["branch"], call.arguments.get("space") or "local"
    call.arguments = MEMORY_BRANCH.checked({"action": "diff", "name": name, "space": space})
    answer = MEMORY_BRANCH.run(call)
    if answer.failed:
        raise UsageError(str(answer.facts["message"]), "memory_branch lists those there are")
    differences = answer.text
    call.arguments = MEMORY_BRANCH.checked(
        {"action": "merge", "name": name, "space": space, "dry_run": True}
    )
    merge = MEMORY_BRANCH.run(call).text
    return (
        f"Review the branch {name} of the memory space {space} before it is merged.\n\n"
        f"What it changes:\n{differences}\n\nWhat merging would do:\n{merge}\n\n"
        "For each change say whether it is true of the code as it is (check links with "
        "memory_get and the code with read or search_code), whether it contradicts other notes, "
        "and whether it belongs there. Then recommend: merge, merge with these resolutions, or "
        f'leave it. Merge only when told to: memory_branch(action="merge", name="{name}", '
        f'space="{space}").'
    )


PROMPTS: dict[str, Prompt] = {
    prompt.name: prompt
    for prompt in (
        Prompt(
            "recover",
            "Recover after a compaction",
            "what the conversation lost, and the calls that bring back what is needed",
            (("task", "what you were doing, in a sentence", False),),
            recover,
        ),
        Prompt(
            "review_branch",
            "Review a branch of memory",
            "what a branch would change, checked before it is merged",
            (
                ("branch", "the branch to review", True),
                ("space", "its space (default: local)", False),
            ),
            review,
        ),
    )
}


def find(name: str, arguments: Mapping[str, Any]) -> Prompt:
    """The prompt of this name; raises UsageError if it does not exist or arguments are missing."""
    prompt = PROMPTS.get(name)
    if prompt is None:
        raise UsageError(f"there is no prompt {name!r}", f"one of: {', '.join(PROMPTS)}")
    missing = [n for n, _, required in prompt.arguments if required and not arguments.get(n)]
    if missing:
        raise UsageError(f"{name}: {', '.join(missing)} is missing")
    return prompt
