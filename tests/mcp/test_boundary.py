"""A real client tries to read what is not in its workspace, with every tool that takes a path."""

from __future__ import annotations

import asyncio
import json
import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import mcp_types as types
import pytest
from mcp import Client, StdioServerParameters
from mcp.client.session import ClientRequestContext
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError
from pydantic import FileUrl

from holdfast.mcp.declared_roots import directory_of
from holdfast.mcp.tools import TOOLS
from tests.mcp.agents import WAIT_S, Machine, Web, call, facts_of, machine_in, text_of
from tests.scale import first_in_quick, size

SECRET = "PLANTED-SECRET"

TRIES: dict[str, Callable[[str, str], tuple[str, dict[str, Any]]]] = {
    "read": lambda tree, path: ("read", {"path": path}),
    "read lines": lambda tree, path: ("read", {"path": f"{path}:1-2"}),
    "read plainly": lambda tree, path: ("read", {"path": path, "bypass_cache": True}),
    "refresh": lambda tree, path: ("readcache_refresh", {"path": path, "offset": 1}),
    "search": lambda tree, path: ("search_code", {"query": "planted", "path": path}),
    "search two": lambda tree, path: ("search_code", {"query": "planted", "path": [tree, path]}),
    "outline": lambda tree, path: ("file_outline", {"file": path}),
    "outline below": lambda tree, path: ("file_outline", {"file": "secret.txt", "path": path}),
    "outline from": lambda tree, path: ("file_outline", {"file": path, "path": tree}),
    "calls": lambda tree, path: (
        "call_graph",
        {"symbolRef": {"file": path, "symbolLabel": "x"}},
    ),
    "calls below": lambda tree, path: (
        "call_graph",
        {"symbolRef": {"file": "secret.txt", "symbolLabel": "x"}, "path": path},
    ),
    "references": lambda tree, path: ("references", {"symbol": "x", "file": path}),
    "explore": lambda tree, path: ("explore", {"symbol": "x", "file": path}),
    "edit": lambda tree, path: (
        "edit_symbol",
        {"action": "rename", "symbol": "x", "text": "y", "file": path},
    ),
    "impact": lambda tree, path: ("impact", {"path": path}),
    "references below": lambda tree, path: (
        "references",
        {"symbol": "x", "file": "secret.txt", "path": path},
    ),
    "create": lambda tree, path: ("manage_index", {"action": "create", "path": path}),
    "reindex": lambda tree, path: ("manage_index", {"action": "reindex", "path": path}),
    "sync": lambda tree, path: ("manage_index", {"action": "sync", "path": path}),
    "status": lambda tree, path: ("manage_index", {"action": "status", "path": path}),
    "locate": lambda tree, path: ("locate", {"snippet": "find me", "path": path}),
    "clones": lambda tree, path: ("clones", {"path": path}),
}
"""Every way in which a tool takes a path; `path` is what is tried."""

TAKE_NO_PATH = {
    "readcache_status", "context", "recover", "list_codebases", "memory_get", "memory_commit",
    "memory_query", "memory_history", "memory_branch", "memory_note",
}  # fmt: skip


def plant(machine: Machine) -> None:
    """Secrets around the tree, and ways to them in it."""
    folder, tree = machine.tree.parent, machine.tree
    keys = folder / "user" / ".ssh"
    keys.mkdir()
    (keys / "id_rsa").write_text(SECRET)
    (folder / "vault").mkdir()
    (folder / "vault" / "secret.txt").write_text(f"{SECRET}\nfind me\n")
    (tree / "out").symlink_to(folder / "vault" / "secret.txt")
    (tree / "outdir").symlink_to(folder / "vault")
    (tree / "chain").symlink_to(tree / "out")
    (tree / "env").symlink_to("/proc/self/environ")
    os.mkfifo(tree / "pipe")


@pytest.fixture(scope="module")
def planted(shared: Machine) -> Machine:
    plant(shared)
    return shared


def outside_of(machine: Machine, *, absolute: bool) -> list[str]:
    folder, tree, host = machine.tree.parent, machine.tree, machine.host or os.getpid()
    named = [
        "/etc/shadow", "//etc/shadow", "/./etc//shadow", "/etc", "/none/such",
        "/", "/home", "/root", str(folder / "user"), "~", "~/.ssh/id_rsa",
        str(folder / "user" / ".ssh" / "id_rsa"), str(folder / "vault"),
        f"{tree}/out", f"{tree}/chain", f"{tree}/outdir", f"{tree}/outdir/secret.txt",
        f"{tree}/../vault/secret.txt", f"{tree}/shop/../../vault/secret.txt", f"{tree}/env",
        "/proc/self/environ", f"/proc/{host}/environ", f"/proc/{os.getpid()}/environ",
        f"/proc/{host}/root/etc/shadow", "/proc/self/cwd/../../tree", "/proc/self/fd/0",
        "/dev/stdin", "/dev/fd/0", "/dev/zero", "/sys/kernel", str(machine.home / "run"),
    ]  # fmt: skip
    relative = ["out", "outdir/secret.txt", "../vault/secret.txt", "shop/../../vault/secret.txt"]
    return named + ([] if absolute else relative)


def tricks_of(machine: Machine) -> list[str]:
    """Spellings that some other layer might take for a way out. They may name nothing at all."""
    tree, vault = machine.tree, machine.tree.parent / "vault" / "secret.txt"
    return [
        f"{tree}/%2e%2e/vault/secret.txt", f"{tree}/..%2fvault%2fsecret.txt",
        f"{tree}/%252e%252e/vault/secret.txt", f"{tree}/\uff0e\uff0e/vault/secret.txt",
        f"{tree}/\u2025/vault/secret.txt", f"{tree}/..\\vault\\secret.txt",
        f"{tree}/..\u200b/vault/secret.txt", f"file://{vault}", f"@{vault}", f"\u00a0{vault}",
        f"{vault}\u00a0", f"{vault}/", f"{vault}/.", f"{tree}/out/", f"{tree}/o\u0075t",
        f"{tree}/../../" + "../" * 40 + str(vault).lstrip("/"), f"{vault}\x00.py",
        str(vault).upper(), "$HOME/.ssh/id_rsa", "~root/.ssh/id_rsa", "`cat /etc/shadow`",
    ]  # fmt: skip


def test_every_tool_that_takes_a_path_is_tried() -> None:
    assert {how(".", ".")[0] for how in TRIES.values()} == set(TOOLS) - TAKE_NO_PATH
    for name in TAKE_NO_PATH:
        assert not {"path", "file"} & set(TOOLS[name].input["properties"]), name


STEP = size(1, 3)
"""`make quick` tries each path with a third of the tools, and each tool with some of the paths."""


@pytest.mark.shows("SEC-BOUNDARY", "SEC-BOUNDARY-REFUSAL")
@pytest.mark.parametrize("transport", first_in_quick(["stdio", "http"]))
def test_no_tool_reads_outside_the_workspace(planted: Machine, web: Web, transport: str) -> None:
    async def story() -> None:
        tree = str(planted.tree)
        agent = planted.agent() if transport == "stdio" else web.agent()
        async with asyncio.timeout(WAIT_S * 4), agent as client:
            made = await call(client, "manage_index", action="create", path=tree, wait=60)
            assert not made.is_error
            for number, path in enumerate(outside_of(planted, absolute=transport == "http")):
                for name, how in list(TRIES.items())[number % STEP :: STEP]:
                    tool, arguments = how(tree, path)
                    result = await client.call_tool(tool, arguments)
                    gives_nothing_away(result)
                    if name == "outline from" and path.startswith("~"):
                        continue  # names a file of the tree
                    said = f"{name} of {path}: {text_of(result)}"
                    assert result.is_error, said
                    assert facts_of(result)["status"] == "error", said
                    assert "outside the workspace" in said or "is never read" in said, said
                    assert "[workspace] allow" in said or "no setting allows it" in said, said
                # A note links to what it may read and never says what is outside.
                linked = await client.call_tool("memory_note", {"text": "x", "code": [path]})
                gives_nothing_away(linked)
                assert "sha256" not in json.dumps(linked.model_dump(mode="json"))
            for number, path in enumerate(tricks_of(planted)):
                for how in list(TRIES.values())[number % STEP :: STEP]:
                    tool, arguments = how(tree, path)
                    gives_nothing_away(await client.call_tool(tool, arguments))
            listed = await call(client, "list_codebases")
            assert [one["path"] for one in facts_of(listed)["codebases"]] == [tree]

    asyncio.run(story())


def gives_nothing_away(result: Any) -> None:
    shown = json.dumps(result.model_dump(mode="json"))
    assert SECRET not in shown
    assert "HOLDFAST_HOME=" not in shown
    assert re.search(r"root:[x*!$]", shown) is None


@pytest.mark.shows("SEC-BOUNDARY-REFUSAL")
def test_a_refusal_names_the_path_the_boundary_and_the_setting(planted: Machine) -> None:
    async def story(client: Client) -> None:
        tree, settings = str(planted.tree), str(planted.home / "settings.toml")
        refused = await call(client, "read", path="/etc/shadow")
        assert text_of(refused).startswith("/etc/shadow is outside the workspace (the working ")
        assert f"the working directory {tree}" in text_of(refused)
        assert f'allow it in {settings}: [workspace] allow = ["/etc/shadow"]' in text_of(refused)
        link = await call(client, "read", path="chain")
        vault = planted.tree.parent / "vault" / "secret.txt"
        assert f"is a link to {vault}, outside the workspace" in text_of(link)
        # Whether a file exists outside is not told.
        for path in ("/etc/passwd", "/etc/no-such-file", "/etc/passwd:3", "/etc/passwd:x"):
            missing = text_of(await call(client, "read", path=path))
            assert missing.startswith(f"{path} is outside the workspace (")
            assert "did you mean" not in missing

    planted.talk(story)


@pytest.mark.shows("SEC-BOUNDARY")
def test_a_pipe_in_the_tree_is_refused_at_once(planted: Machine) -> None:
    async def story(client: Client) -> None:
        assert "not a regular file" in text_of(await call(client, "read", path="pipe"))
        for how in TRIES.values():
            tool, arguments = how(str(planted.tree), str(planted.tree / "pipe"))
            assert text_of(await client.call_tool(tool, arguments))

    planted.talk(story)


@pytest.mark.shows("SEC-BOUNDARY-SETTING")
def test_what_the_user_allows_is_read_without_a_restart(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        plant(machine)
        vault, settings = tmp_path / "vault", machine.home / "settings.toml"

        async def story(client: Client) -> None:
            assert (await call(client, "read", path="out")).is_error
            settings.write_text(f'[workspace]\nallow = ["{vault}"]\n')
            assert SECRET in text_of(await call(client, "read", path="out"))
            assert SECRET in text_of(await call(client, "read", path=f"{vault}/secret.txt"))
            assert not (await call(client, "locate", snippet="find me", path=str(vault))).is_error
            assert (await call(client, "read", path="~/.ssh/id_rsa")).is_error
            settings.write_text("[workspace]\nallow = 1\n")
            wrong = await call(client, "read", path="out")
            assert "allow must be a list of directories" in text_of(wrong)
            assert not (await call(client, "read", path="README.md")).is_error
            settings.unlink()
            assert (await call(client, "read", path="out")).is_error

        machine.talk(story)


@pytest.mark.long
@pytest.mark.shows("SEC-BOUNDARY-HOME")
def test_a_client_that_was_started_in_the_home_directory(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        home = machine.tree
        (home / ".ssh").mkdir()
        (home / ".ssh" / "id_rsa").write_text(SECRET)
        machine.environment["HOME"] = str(home)
        assert machine.run("index", "create", "shop").returncode == 0

        async def story(client: Client) -> None:
            for path in (".ssh/id_rsa", "README.md", "."):
                refused = text_of(await call(client, "read", path=path))
                assert f"the working directory {home} does not count" in refused
            for tool in ("locate", "clones", "manage_index"):
                more: dict[str, dict[str, Any]] = {
                    "locate": {"snippet": "x"},
                    "manage_index": {"action": "create"},
                }
                refused = text_of(await call(client, tool, path=".", **more.get(tool, {})))
                assert "a whole home directory" in refused
            assert not (await call(client, "read", path="shop/tax.py")).is_error
            assert not (await call(client, "search_code", query="tax", path="shop")).is_error

        machine.talk(story)


@pytest.mark.shows("SEC-BOUNDARY-ROOTS")
def test_the_roots_that_a_client_declares_are_read(tmp_path: Path) -> None:
    with machine_in(tmp_path, forks_host=True) as machine:
        plant(machine)
        roots: list[str] = [f"file://{tmp_path}/vault", "file:///"]
        asked = 0

        async def listed(context: ClientRequestContext) -> types.ListRootsResult:
            nonlocal asked
            asked += 1
            return types.ListRootsResult(roots=[types.Root(uri=FileUrl(uri)) for uri in roots])

        async def story() -> None:
            command, *arguments = machine.command()
            parameters = StdioServerParameters(
                command=command, args=arguments, env=machine.environment, cwd=str(machine.tree)
            )
            async with (
                asyncio.timeout(WAIT_S),
                Client(
                    stdio_client(parameters), mode="legacy", list_roots_callback=listed
                ) as client,
            ):
                assert not (await call(client, "read", path="README.md")).is_error
                assert asked == 0, "a call inside the working directory needs no roots"
                for _ in range(2):
                    assert SECRET in text_of(await call(client, "read", path="out"))
                assert asked == 1
                refused = text_of(await call(client, "read", path="~/.ssh/id_rsa"))
                assert "the declared root / does not count" in refused
                roots[:] = []
                changed = types.RootsListChangedNotification()
                await client.session.send_notification(changed)
                assert (await call(client, "read", path="out")).is_error

        asyncio.run(story())


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///srv/a%20b", "/srv/a b"),
        ("file://localhost/srv", "/srv"),
        ("file://server/share", None),
        ("https://example.org/srv", None),
        ("file:srv", None),
        ("file:///a%00b", None),
        ("file://[", None),
    ],
)
def test_only_local_files_are_roots(uri: str, path: str | None) -> None:
    assert directory_of(uri) == path


@pytest.mark.shows("SEC-BOUNDARY")
def test_links_of_memory_and_resources_stay_inside(planted: Machine) -> None:
    async def story(client: Client) -> None:
        vault = str(planted.tree.parent / "vault")
        link = {"code": {"path": "secret.txt", "root": vault}}
        made = [{"op": "set", "id": "note:a", "value": link}]
        refused = await call(client, "memory_commit", operations=made, space="links")
        assert refused.is_error
        assert "outside the workspace" in text_of(refused)
        link["code"]["sha256"] = "0" * 64
        assert not (await call(client, "memory_commit", operations=made, space="links")).is_error
        found = await call(client, "memory_get", id="note:a", space="links")
        (judged,) = facts_of(found)["links"]
        assert (judged["state"], "lines" in judged) == ("unverified", False)
        assert "outside the workspace" in judged["why"]
        with pytest.raises(MCPError, match="outside the workspace"):
            await client.read_resource(f"holdfast://codebase{vault}")

    planted.talk(story)
