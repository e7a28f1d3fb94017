"""What a new user met in the first five minutes, and what it says now."""

from __future__ import annotations

import http.client
import io
import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.main import main


@pytest.fixture
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An indexed tree in a git repository without commits, as the working directory."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    root = tmp_path.resolve() / "shop"
    root.mkdir()
    (root / "pay.py").write_text("def charge(card):\n    return card.limit\n")
    subprocess.run(["git", "init", "-q", str(root)], check=True)
    monkeypatch.chdir(root)
    assert main(["index", "create"]) == 0
    return root


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize(
    "words",
    [
        ["references", "pay.py:refund"],
        ["explore", "pay.py:refund"],
        ["edit", "rename", "pay.py:refund", "repay"],
    ],
    ids=lambda words: words[0],
)
def test_a_command_that_finds_no_symbol_names_the_command_that_lists_them(
    words: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """It named `file_outline`, which is a tool of agents and not a command."""
    assert main(words) == 1
    error = capsys.readouterr().err
    assert "'pay.py' has no symbol named 'refund'; `holdfast outline pay.py` lists" in error
    assert "file_outline" not in error


@pytest.mark.usefixtures("shop")
def test_impact_of_a_symbol_names_the_command_for_a_symbol(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It took the name for a directory and said that git has no revision HEAD."""
    assert main(["impact", "charge"]) == 1
    error = capsys.readouterr().err
    assert "there is no directory charge" in error
    assert "for a symbol run: holdfast explore charge" in error


@pytest.mark.usefixtures("shop")
def test_impact_before_the_first_commit_says_that_there_are_no_commits(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """The hint was `git log`, which fails in such a repository."""
    assert main(["impact"]) != 0
    assert "has no commits yet" in capsys.readouterr().err


def test_serve_without_its_extra_names_the_extra(tmp_path: Path) -> None:
    """The base install answered `holdfast serve` with a traceback."""
    program = (
        "import sys; sys.modules['websockets'] = None\n"
        "from holdfast.cli.main import main; sys.exit(main(['serve']))"
    )
    environment = os.environ | {"HOLDFAST_HOME": str(tmp_path / "home")}
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert "Traceback" not in ran.stderr
    assert "holdfast serve needs the package websockets, which is not installed" in ran.stderr
    assert "run: pip install 'holdfast[serve]'" in ran.stderr


def test_install_without_the_tools_package_says_that_agents_need_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The settings of the agent were written, and its tools then failed to start."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setattr("holdfast.cli.install.find_spec", lambda name: None)
    assert main(["install", "--client", "cursor", "--dry-run"]) == 0
    error = capsys.readouterr().err
    assert "the package mcp is not installed" in error
    assert "pip install 'holdfast[agents]'" in error


def without(packages: list[str], words: list[str], home: Path, **settings: str) -> tuple[int, str]:
    """Run the command in a process that cannot import these packages; exit code and output."""
    missing = "".join(f"sys.modules[{name!r}] = None; " for name in packages)
    program = f"import sys; {missing}from holdfast.cli.main import main; sys.exit(main({words!r}))"
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | settings | {"HOLDFAST_HOME": str(home), "HOLDFAST_CLI_HOST": "0"},
        cwd=home.parent,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    return ran.returncode, ran.stdout + ran.stderr


@pytest.fixture
def closed_port() -> int:
    """A port on which nothing listens."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def test_a_key_that_cannot_be_used_is_not_made(tmp_path: Path) -> None:
    """It said that signatures cannot be checked, after it had written the private key."""
    code, text = without(["cryptography"], ["keys", "new"], tmp_path / "home")
    assert code == 1
    assert "keys and signatures need the package cryptography, which is not installed" in text
    assert "pip install 'holdfast[identity]'" in text
    assert not list(tmp_path.rglob("*.key"))


@pytest.mark.shows("CLI-STATUS")
def test_status_does_not_call_a_database_empty_that_it_has_not_read(
    tmp_path: Path,
    closed_port: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """It said *no documents yet* when memory is kept in PostgreSQL, reached or not."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    url = f"postgresql://me:secret@127.0.0.1:{closed_port}/db"
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", url)
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "no documents yet" not in out
    assert f"documents are kept in PostgreSQL at 127.0.0.1:{closed_port}" in out
    assert "holdfast doctor" in out
    assert "secret" not in out


@pytest.mark.shows("CLI-DOCTOR")
@pytest.mark.parametrize("scheme", ["postgresql", "http"])
def test_the_doctor_looks_for_the_shared_index(
    scheme: str,
    tmp_path: Path,
    closed_port: int,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """*Nothing is wrong* was its answer when the address of HOLDFAST_INDEX_URL did not answer."""
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOLDFAST_INDEX_URL", f"{scheme}://127.0.0.1:{closed_port}/x")
    assert main(["doctor", "--json"]) == 1
    wrong = [
        one for one in json.loads(capsys.readouterr().out)["findings"] if one["state"] == "wrong"
    ]
    assert [one["about"] for one in wrong] == ["team"]
    assert f"127.0.0.1:{closed_port}" in wrong[0]["said"]
    assert "HOLDFAST_INDEX_URL" in wrong[0]["fix"]


def test_a_shared_index_without_its_driver_names_the_extra_and_the_address(
    tmp_path: Path, closed_port: int
) -> None:
    """It named localhost:5432 for any address, and asked to check the address."""
    url = f"postgresql://127.0.0.1:{closed_port}/x"
    code, text = without(["psycopg"], ["doctor"], tmp_path / "home", HOLDFAST_INDEX_URL=url)
    assert code == 1
    assert f"postgresql://127.0.0.1:{closed_port}" in text
    assert "PostgreSQL needs the psycopg package" in text
    assert "pip install 'holdfast[postgres]'" in text
    assert "5432" not in text


def test_the_tools_without_their_package_name_the_extra_for_agents(tmp_path: Path) -> None:
    """The host said *No module named 'mcp_types'*, and named another extra than `install`."""
    hello: dict[str, object] = {"protocolVersion": "2025-06-18", "capabilities": {}}
    hello["clientInfo"] = {"name": "test", "version": "1"}
    request = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
    program = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None; "
        "from holdfast.mcp.host import main; sys.exit(main())"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program],
        env=os.environ | {"HOLDFAST_HOME": str(tmp_path / "home")},
        input=json.dumps(request),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.returncode == 1
    assert "the tools need the package mcp, which is not installed" in ran.stderr
    assert "pip install 'holdfast[agents]'" in ran.stderr
    assert "Traceback" not in ran.stderr


def test_serve_without_the_tools_package_does_not_announce_them(tmp_path: Path) -> None:
    """It printed an address for agents that answered *only GET and HEAD are allowed*."""
    program = (
        "import sys; sys.modules['mcp'] = sys.modules['mcp_types'] = None; "
        "from holdfast.cli.main import main; "
        "sys.exit(main(['serve', '--port', '0', '--show-token']))"
    )
    with subprocess.Popen(
        [sys.executable, "-c", program],
        env=os.environ | {"HOLDFAST_HOME": str(tmp_path / "home")},
        stdout=subprocess.PIPE,
        text=True,
    ) as server:
        try:
            assert server.stdout is not None
            lines = [server.stdout.readline() for _ in range(3)]
            port = int(lines[0].split(":")[2].partition("/")[0])
            token = lines[1].partition("token=")[2].strip()
            connection = http.client.HTTPConnection("127.0.0.1", port, timeout=30)
            connection.request("POST", "/mcp", b"{}", {"Authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            status, body = answer.status, answer.read().decode()
            connection.close()
        finally:
            server.terminate()
    assert lines[2].startswith("agents       need the package mcp, which is not installed")
    assert status == 501
    for text in (lines[2], body):
        assert "pip install 'holdfast[agents]'" in text


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("command", ["calls", "references", "explore"])
def test_a_file_without_a_symbol_is_not_searched_for_as_one(
    command: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """They said that no symbol is named `pay.py`, and suggested others."""
    assert main([command, "pay.py"]) == 2
    error = capsys.readouterr().err
    assert f"pay.py is a file; {command} needs a symbol too\n" in error
    assert f"hint: holdfast {command} pay.py SYMBOL; holdfast outline pay.py lists" in error
    assert main([command, "pya.py:charge"]) == 1
    error = capsys.readouterr().err
    assert "there is no file pya.py\n" in error
    assert f"hint: did you mean: holdfast {command} pay.py charge\n" in error
    assert main([command, "Cart.total:charge"]) == 1
    assert "no symbol in the tree is named Cart.total:charge" in capsys.readouterr().err


@pytest.mark.usefixtures("shop")
def test_outline_takes_a_symbol_with_its_file(capsys: pytest.CaptureFixture[str]) -> None:
    """`calls` and `read` do; here the whole text was taken for a file that does not exist."""
    capsys.readouterr()
    assert main(["outline", "pay.py:charge"]) == 0
    assert "1-2 charge(card)" in capsys.readouterr().out
    assert main(["outline", "pay.py:refund"]) == 1
    assert "'pay.py' has no symbol named 'refund'" in capsys.readouterr().out
    assert main(["outline", "pya.py:charge"]) == 1
    assert "there is no file pya.py:charge" in capsys.readouterr().err


@pytest.mark.usefixtures("shop")
@pytest.mark.parametrize("place", ["pay.py:1-2", "pay.py:charge"])
def test_lines_and_options_for_lines_are_refused_together(
    place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """The error said that there is no such file, and suggested a similar one."""
    assert main(["read", place, "--limit", "1"]) == 2
    error = capsys.readouterr().err
    assert f"--offset and --limit are for a whole file, and {place} names a part of pay.py" in error
    assert f"hint: without the options: holdfast read {place}\n" in error


@pytest.mark.usefixtures("shop")
def test_a_reversed_range_is_called_reversed(capsys: pytest.CaptureFixture[str]) -> None:
    """The error said that the file has no such lines, and that it has enough of them."""
    assert main(["search", "--similar", "pay.py:2-1"]) == 2
    error = capsys.readouterr().err
    assert "line range 2-1 is reversed\nhint: use 1-2\n" in error


@pytest.mark.usefixtures("shop")
def test_a_directory_cannot_be_linked_to(capsys: pytest.CaptureFixture[str], shop: Path) -> None:
    """The error said that it does not exist."""
    (shop / "src").mkdir()
    assert main(["memory", "note", "x", "--code", "src"]) == 2
    error = capsys.readouterr().err
    assert f"there is no file src below {shop} to link to\n" in error
    assert "hint: name a file relative to that directory, or a symbol of it: FILE:SYMBOL" in error


@pytest.mark.usefixtures("shop")
def test_one_token_is_not_counted_as_many(capsys: pytest.CaptureFixture[str]) -> None:
    capsys.readouterr()
    assert main(["locate", "charge"]) == 0
    assert capsys.readouterr().out.startswith("the token was found once\n")
    assert main(["locate", "refund"]) == 1
    assert "0 of 1 token found: `refund` occurs nowhere" in capsys.readouterr().out


def test_a_full_disk_behind_the_output_is_not_the_disk_of_the_home(shop: Path) -> None:
    """`read` named HOLDFAST_HOME, which is on another disk."""
    if not os.path.exists("/dev/full"):
        pytest.skip("there is no /dev/full")
    environment = {**os.environ, "PYTHONUNBUFFERED": ""}
    with open("/dev/full", "wb") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "holdfast", "read", "pay.py"],
            stdout=full, stderr=subprocess.PIPE, text=True, cwd=shop, env=environment, check=False,
        )  # fmt: skip
    assert ended.returncode == 1
    assert ended.stderr == "holdfast: cannot write the output: No space left on device\n"


@pytest.mark.usefixtures("shop")
def test_a_file_that_cannot_be_read_is_not_called_another_thing_than_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(os, "access", lambda path, mode: False)  # to root nothing is forbidden
    assert main(["outline", "pay.py"]) == 1
    assert capsys.readouterr().err == "holdfast: pay.py cannot be read: permission denied\n"


@pytest.mark.usefixtures("shop")
def test_a_name_that_no_key_has_does_not_become_an_owner(
    capsys: pytest.CaptureFixture[str],
) -> None:
    """`acl set bob OWNER` made a list that no key could change."""
    assert main(["memory", "acl", "set", "bob", "OWNER"]) == 2
    error = capsys.readouterr().err
    assert "a principal is a did:key:… or * (got 'bob')\n" in error
    assert "hint: holdfast keys show prints the did:key of each key\n" in error


def test_a_tree_that_is_not_indexed_is_suggested_as_a_whole(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """It suggested to index the directory of the file, and not its repository."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("HOME", str(tmp_path / "person"))
    for top, expected in (("shop", "shop"), ("person", "person/sub")):
        folder = tmp_path.resolve() / top / "sub"
        folder.mkdir(parents=True)
        (folder / "pay.py").write_text("def charge(card): ...\n")
        subprocess.run(["git", "init", "-q", str(folder.parent)], check=True)
        monkeypatch.chdir(folder)
        assert main(["outline", "pay.py"]) == 1
        printed = "".join(capsys.readouterr())
        assert f"run `holdfast index create {tmp_path.resolve() / expected}`" in printed


@pytest.mark.usefixtures("shop")
def test_a_value_from_standard_input_may_be_plain_text(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The help says so, but it was refused as "not JSON"."""
    monkeypatch.setattr(sys, "stdin", io.StringIO("tried again twice\n"))
    assert main(["memory", "set", "note:card", "-"]) == 0
    assert main(["memory", "get", "note:card"]) == 0
    assert '"tried again twice"' in capsys.readouterr().out
    monkeypatch.setattr(sys, "stdin", io.StringIO("{tried"))
    assert main(["memory", "set", "note:card", "-"]) == 2
    assert "standard input is not JSON" in capsys.readouterr().err
