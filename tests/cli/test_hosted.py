"""Commands through the background host: the same answers, and no trouble when there is none."""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from holdfast import __version__
from holdfast.app import App
from holdfast.cli import command_protocol, host_client, large_trees
from holdfast.cli.host_client import ask_host
from holdfast.cli.main import main
from tests.mcp.agents import Machine, machine_in

TREE = {
    "src/cart.py": (
        "class Cart:\n"
        "    def total(self):\n"
        '        """Sum up the prices of all lines."""\n'
        "        return sum(line.price for line in self.lines)\n"
        "\n"
        "\n"
        "def settle_up(cart):\n"
        "    return cart.total()\n"
    ),
    "src/kart.py": "def copied(cart):\n    return sum(line.price for line in cart.lines)\n",
    "docs/notes.md": "# Notes\n\nHow a cart is paid.\n",
}

QUESTIONS: list[list[str]] = [
    ["search", "price of a cart"],
    ["search", "price of a cart", "--json", "--limit", "1"],
    ["search", "re:line.price"],
    ["search", "sym:settle_up", "--path", "src"],
    ["search", "--similar", "cart.py:4"],
    ["search", "--snippet", "src/kart.py"],
    ["search", "nothingofthekind"],
    ["search", "re:(("],
    ["search", "total", "--path", "nowhere"],
    ["outline", "src/cart.py"],
    ["outline", "src/nowhere.py"],
    ["outline", "cart.py", "--path", "src"],
    ["calls", "settle_up"],
    ["calls", "src/cart.py", "total", "--json"],
    ["calls", "totl"],
    ["references", "total"],
    ["explore", "settle_up"],
    ["impact", "total"],
    ["impact", "totl"],
    ["locate", "sum(line.price for line in cart.lines)"],
    ["locate", "--file", "src/kart.py", "--json"],
    ["clones", "--min-tokens", "5"],
    ["read", "src/cart.py:2-4"],
    ["read", "src/carte.py"],
    ["read", "src/cart.py", "--json"],
    ["context", "--session", "nobody"],
]


@pytest.fixture(scope="module")
def machine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Machine]:
    """A machine with an indexed tree and a host."""
    with machine_in(tmp_path_factory.mktemp("hosted")) as machine:
        for name, text in TREE.items():
            path = machine.tree / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        assert machine.run("index", "create").returncode == 0
        machine.start_host()
        yield machine


@pytest.fixture
def inside(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.chdir(machine.tree)
    return machine


def hosted(machine: Machine, argv: Sequence[str]) -> tuple[int | None, str, str]:
    """The exit code and the output of a command that the host ran; None if it did not."""
    with pytest.MonkeyPatch.context() as patch:
        out, err = io.StringIO(), io.StringIO()
        patch.setattr(sys, "stdout", Pipe(out))
        patch.setattr(sys, "stderr", Pipe(err))
        code = ask_host(argv, machine.environment)
    return code, out.getvalue(), err.getvalue()


class Pipe:
    """A pipe that takes UTF-8."""

    encoding = "utf-8"

    def __init__(self, kept: io.StringIO) -> None:
        self.write, self.flush, self.isatty = kept.write, kept.flush, kept.isatty


def alone(
    machine: Machine, argv: Sequence[str], capsys: pytest.CaptureFixture[str]
) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(list(argv), App.from_environment(machine.environment))
    shown = capsys.readouterr()
    return code, shown.out, shown.err


@pytest.mark.shows("CLI-HOST-SAME")
@pytest.mark.parametrize("argv", QUESTIONS, ids=" ".join)
def test_a_command_answers_the_same_with_and_without_a_host(
    inside: Machine, argv: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    found = hosted(inside, argv)
    assert found[0] is not None, "the host did not run it"
    assert _without_times(found) == _without_times(alone(inside, argv, capsys))


def _without_times(found: tuple[int | None, str, str]) -> tuple[int | None, str, str]:
    """Without times, and without whether an unchanged tree was compared now or watched since."""
    timed = ('"checkedAt"', '"thresholdMs"')
    text = found[1].replace('"skipped_recent"', '"skipped_source_unchanged"')
    lines = [line for line in text.split("\n") if not line.strip().startswith(timed)]
    if found[1].startswith('{"content'):
        answer = json.loads(found[1])
        answer.pop("trace", None)
        lines = [json.dumps(answer)]
    return found[0], "\n".join(lines), found[2]


@pytest.mark.shows("CLI-HOST-SAME")
def test_a_command_is_answered_from_the_directory_it_was_typed_in(
    inside: Machine, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(inside.tree / "docs")
    found_from_docs = ["search", "sym:settle_up", "--path", ".."]
    for argv in (found_from_docs, ["read", "../src/kart.py"], ["calls", "settle_up"]):
        found = hosted(inside, argv)
        assert found[0] is not None
        assert found == alone(inside, argv, capsys)
    assert "../src/cart.py:7" in hosted(inside, found_from_docs)[1]


@pytest.mark.shows("CLI-HOST-SAME")
def test_what_was_just_written_is_found(inside: Machine) -> None:
    assert hosted(inside, ["search", "sym:brand_new"])[0] == 0
    new = inside.tree / "src" / "new.py"
    new.write_text("def brand_new():\n    return 1\n")
    try:
        assert "src/new.py:1-2" in hosted(inside, ["search", "sym:brand_new"])[1]
    finally:
        new.unlink()
    assert "src/new.py" not in hosted(inside, ["search", "sym:brand_new"])[1]


@pytest.mark.shows("CLI-HOST-SAME")
def test_a_read_counts_as_seen_only_once_it_was_written(inside: Machine) -> None:
    read = ["read", "src/kart.py", "--session", "shown"]
    for _ in range(2):  # the reader of the output has gone
        assert not Deaf.of(inside, read)
    assert "def copied" in hosted(inside, read)[1]
    assert "unchanged" in hosted(inside, read)[1]


class Deaf:
    """A process that asks and ends without confirming that the text was written."""

    @staticmethod
    def of(machine: Machine, argv: Sequence[str]) -> bytes:
        with socket.socket(socket.AF_UNIX) as peer:
            peer.settimeout(60)
            peer.connect(os.path.join(machine.place.run, machine.place.socket))
            peer.sendall(json.dumps(request(machine, argv), separators=(",", ":")).encode() + b"\n")
            line = b""
            while b'"out"' not in line:
                piece = peer.recv(1 << 16)
                assert piece, "the host sent no text"
                line += piece
            peer.shutdown(socket.SHUT_WR)
            rest = b""
            while piece := peer.recv(1 << 16):
                rest += piece
        return rest.replace(b"\n", b"") if b'"out": "def' in rest else b""


def request(machine: Machine, argv: Sequence[str]) -> dict[str, object]:
    return {
        "holdfast": "cli",
        "v": command_protocol.COMMAND_VERSION,
        "version": __version__,
        "argv": list(argv),
        "cwd": str(machine.tree),
        "environment": {},
        "terminal": [False, False],
        "columns": None,
        "encoding": "utf-8",
    }


@pytest.mark.shows("CLI-HOST-LOCAL")
@pytest.mark.parametrize(
    "argv",
    [
        ["locate", "-"],
        ["search", "--snippet", "-"],
        ["search", "--no-such-option"],
        ["search", "--help"],
        ["memory", "log"],
    ],
    ids=" ".join,
)
def test_what_only_its_own_process_can_do_is_left_to_it(inside: Machine, argv: list[str]) -> None:
    assert hosted(inside, argv) == (None, "", "")


@pytest.mark.shows("CLI-HOST-LOCAL")
def test_a_host_of_another_version_is_not_used(
    inside: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_client, "__version__", "0.0.0")
    assert hosted(inside, ["search", "cart"]) == (None, "", "")


@pytest.mark.shows("CLI-HOST-LOCAL")
@pytest.mark.parametrize("line", [b"", b"[]", b'{"holdfast":"cli"', b'{"holdfast":"cli","v":1}'])
def test_a_request_that_is_not_understood_is_left_to_its_process(
    inside: Machine, line: bytes
) -> None:
    with socket.socket(socket.AF_UNIX) as peer:
        peer.settimeout(60)
        peer.connect(os.path.join(inside.place.run, inside.place.socket))
        peer.sendall(line + b"\n")
        answer = peer.recv(1 << 16)
    assert answer in (b"", b'{"local": true}\n')


@pytest.mark.shows("CLI-HOST-LOCAL")
def test_a_setting_keeps_commands_in_their_own_process(inside: Machine) -> None:
    inside.environment["HOLDFAST_CLI_HOST"] = "0"
    try:
        assert hosted(inside, ["search", "cart"])[0] is None
    finally:
        del inside.environment["HOLDFAST_CLI_HOST"]


@pytest.mark.shows("CLI-HOST-LOCAL")
def test_a_frozen_host_and_one_that_is_gone_cost_no_error(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(host_client, "SILENT_S", 0.3)
    with machine_in(tmp_path) as machine:
        monkeypatch.chdir(machine.tree)
        assert hosted(machine, ["search", "cart"]) == (None, "", "")
        machine.start_host()
        pid = machine.host
        assert pid is not None
        os.kill(pid, signal.SIGSTOP)
        try:
            assert hosted(machine, ["search", "cart"]) == (None, "", "")
        finally:
            os.kill(pid, signal.SIGKILL)
        assert hosted(machine, ["search", "cart"]) == (None, "", "")


def answered(*lines: object) -> tuple[int | None, str, str]:
    """What a command makes of a host that sends these lines and ends."""
    ours, host = socket.socketpair()
    out, err = io.StringIO(), io.StringIO()
    with ours, host:
        host.sendall(b"".join(json.dumps(line).encode() + b"\n" for line in lines))
        host.shutdown(socket.SHUT_WR)
        code = host_client._converse(ours, b"{}\n", out, err, json.loads)
    return code, out.getvalue(), err.getvalue()


LOST = (
    "holdfast: the background host ended before the output was complete\n"
    "hint: run the command again\n"
)


@pytest.mark.shows("CLI-HOST-LOCAL")
def test_half_an_answer_of_a_host_that_ended_is_an_error() -> None:
    """A host that was killed in the middle of its output left exit code 0 behind."""
    assert answered() == (None, "", "")
    assert answered({"err": "1 %"}) == (None, "", "1 %")
    assert answered({"out": "half"}) == (3, "half", LOST)
    assert answered({"out": "half"}, {"local": True}) == (3, "half", LOST)
    assert answered({"local": True}) == (None, "", "")
    assert answered({"out": "whole", "err": "", "code": 1}) == (1, "whole", "")


@pytest.mark.shows("CLI-STREAMS")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to try")
@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_output_of_the_host_that_could_not_be_written_is_an_error(
    inside: Machine, unbuffered: str
) -> None:
    """`PYTHONUNBUFFERED=1 holdfast search … > /dev/full` ended with 0."""
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [sys.executable, "-m", "holdfast", "search", "sym:settle_up"],
            env={**inside.environment, "PYTHONUNBUFFERED": unbuffered},
            cwd=inside.tree, stdout=full, stderr=subprocess.PIPE, timeout=60, check=False,
        )  # fmt: skip
    lost = b"holdfast: cannot write the output: No space left on device\n"
    assert (done.returncode, done.stderr) == (1, lost)


@pytest.mark.shows("CLI-HOST-THIN")
def test_a_command_in_the_host_imports_next_to_nothing(inside: Machine) -> None:
    script = (
        "import sys; sys.argv = ['holdfast', 'search', 'sym:settle_up']\n"
        "from holdfast.cli.start import run\n"
        "code = run()\n"
        "print(sorted({'argparse', 'msgspec', 'numpy', 'asyncio', 'socket', 'typing', 'pathlib', "
        "'subprocess', 'holdfast.app'} & set(sys.modules)), file=sys.stderr)\n"
        "sys.exit(code)\n"
    )
    done = subprocess.run(
        [sys.executable, "-S", "-c", script],
        env={**inside.environment, "PYTHONPATH": str(Path(host_client.__file__).parents[2])},
        cwd=inside.tree,
        capture_output=True,
        text=True,
        timeout=60,
    )
    assert (done.returncode, done.stderr) == (0, "[]\n")
    assert "src/cart.py:7-8" in done.stdout


@pytest.mark.shows("CLI-HOST-LARGE")
def test_a_search_of_a_large_tree_starts_a_host(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(large_trees, "FILES_MIN", 2)
    with machine_in(tmp_path) as machine:
        monkeypatch.chdir(machine.tree)
        app = App.from_environment(machine.environment)
        assert main(["index", "create"], app) == 0
        assert machine.host is None
        quiet = App.from_environment({**machine.environment, "HOLDFAST_CLI_HOST": "0"})
        assert main(["search", "cart"], quiet) == 0
        assert not os.path.exists(machine.place.log)
        assert main(["search", "cart"], app) == 0
        assert os.path.exists(machine.place.log)
        # Holds the lock of starting until a host listens, as an agent's shim would.
        from holdfast.mcp.host_connection import connect_to_host
        from holdfast.mcp.rendezvous import greeting

        hello = greeting(__version__, machine.environment, None, None)
        connect_to_host(machine.place, hello, machine.environment).close()
        gc.collect()
        monkeypatch.chdir(machine.tree)
        assert (
            hosted(machine, ["search", "cart"])[:2]
            == alone(machine, ["search", "cart"], capsys)[:2]
        )


@pytest.mark.shows("CLI-HOST-LARGE")
def test_an_answer_is_shown_before_the_host_of_a_large_tree_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(large_trees, "FILES_MIN", 2)
    shown: list[str] = []
    monkeypatch.setattr(
        "holdfast.mcp.host_connection.start_aside",
        lambda *_: shown.append(capsys.readouterr().out),
    )
    with machine_in(tmp_path) as machine:
        monkeypatch.chdir(machine.tree)
        app = App.from_environment(machine.environment)
        assert main(["index", "create"], app) == 0
        capsys.readouterr()
        assert main(["search", "cart"], app) == 0
    assert len(shown) == 1
    assert "cart.py:1-7  Cart" in shown[0]
    assert capsys.readouterr().out == ""
