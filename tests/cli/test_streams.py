"""What is said to pipes that nobody reads, to full disks and to terminals that obey."""

import os
import pty
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from holdfast.cli.output import fitted
from holdfast.cli.streams import harmless
from tests.fork_server import fork_server

COMMANDS = [
    ["--help"],
    ["--version"],
    ["memory", "--help"],
    ["memory", "list"],
    ["status"],
    ["completion", "bash"],
    ["read", "a.py"],
    ["memory", "get", "nothing", "--json"],
]


CASES = [
    pytest.param(
        words, buffered, id=f"{' '.join(words)}-{buffered}", marks=[] if quick else pytest.mark.long
    )
    for words in COMMANDS
    for buffered in (True, False)
    for quick in [buffered or words in (["--version"], ["memory", "list"])]
]
"""Only a new interpreter has no buffer: of these, `make quick` starts two."""


def settings(tmp_path: Path, buffered: bool) -> dict[str, str]:
    made = {"HOME": str(tmp_path), "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8"}
    return made if buffered else {**made, "PYTHONUNBUFFERED": "1"}


def holdfast(
    tmp_path: Path, words: list[str], out: int, buffered: bool
) -> subprocess.CompletedProcess[bytes]:
    (tmp_path / "a.py").write_text("def a(): pass\n" * 50)
    if buffered and "--help" not in words:
        return forked(tmp_path, words, out)
    return subprocess.run(
        [sys.executable, "-m", "holdfast", *words],
        stdin=subprocess.DEVNULL, stdout=out, stderr=subprocess.PIPE,
        env=settings(tmp_path, buffered), cwd=tmp_path, timeout=60, check=False,
    )  # fmt: skip


def forked(tmp_path: Path, words: list[str], out: int) -> subprocess.CompletedProcess[bytes]:
    """The same without a new interpreter, which alone can be told to have no buffer."""
    server = fork_server()
    with open(os.devnull, "rb") as nothing, tempfile.TemporaryFile() as errors:
        streams = [nothing.fileno(), out, errors.fileno()]
        environment = settings(tmp_path, True)
        pid = server.fork("holdfast.__main__", words, environment, tmp_path, streams)
        code = server.code(pid, 60)
        assert code is not None
        errors.seek(0)
        return subprocess.CompletedProcess(words, code, None, errors.read())


@pytest.mark.shows("CLI-STREAMS")
@pytest.mark.parametrize(("words", "buffered"), CASES)
def test_a_reader_that_has_gone_is_no_error(
    tmp_path: Path, words: list[str], buffered: bool
) -> None:
    """`holdfast … | true` ended with code 120 and a complaint of Python's about its own stream,
    and `holdfast --version | head -1` with a traceback."""
    reading, writing = os.pipe()
    os.close(reading)
    try:
        ended = holdfast(tmp_path, words, writing, buffered)
    finally:
        os.close(writing)
    assert ended.stderr == b""
    # Without a buffer the reader is missed before the answer is known to be a refusal.
    assert ended.returncode in ((1, 0) if "nothing" in words else (0,))


@pytest.mark.shows("CLI-STREAMS")
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="this system has no full disk to try")
@pytest.mark.parametrize(("words", "buffered"), CASES)
def test_an_answer_that_could_not_be_written_is_said_to_be_lost(
    tmp_path: Path, words: list[str], buffered: bool
) -> None:
    """`holdfast memory list > file` on a full disk said nothing a person could understand."""
    out = os.open("/dev/full", os.O_WRONLY)
    try:
        ended = holdfast(tmp_path, words, out, buffered)
    finally:
        os.close(out)
    if "--help" in words and not buffered:
        return  # the parser of the standard library keeps this to itself
    assert "No space left on device" in ended.stderr.decode()
    assert "Traceback" not in ended.stderr.decode()
    assert "Exception ignored" not in ended.stderr.decode()
    assert ended.returncode == 1


@pytest.mark.shows("CLI-TERMINAL")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("plain\n\ttext\r\n", "plain\n\ttext\r\n"),
        ("\x1b[1mbold\x1b[0m", "\x1b[1mbold\x1b[0m"),
        ("\x1b[2Jgone", "\\x1b[2Jgone"),
        ("\x1b]0;title\x07", "\\x1b]0;title\\x07"),
        ("\x9b2J", "\\x9b2J"),
        ("\x1b[8mhidden", "\\x1b[8mhidden"),
        ("over\rwritten", "over\\rwritten"),
        ("a\u202eb", "a\\u202eb"),
        ("ünïcödé 漢字 👍 שלום", "ünïcödé 漢字 👍 שלום"),
    ],
)
def test_a_terminal_obeys_only_our_own_colours(text: str, shown: str) -> None:
    assert harmless(text) == shown


EVIL = "a\x1b]0;pwned\x07b.py"


@pytest.mark.shows("CLI-TERMINAL")
@pytest.mark.parametrize(
    "words",
    [
        ["read", EVIL],
        ["locate", "evil_name()"],
        ["clones", "--min-tokens", "3"],
        ["outline", "a"],
        ["read", "nowhere\x1b[2J"],
        ["read", EVIL, "--session", "s"],
    ],
    ids=lambda words: repr(words[0]),
)
def test_names_and_contents_of_files_cannot_command_a_terminal(
    tmp_path: Path, words: list[str]
) -> None:
    """A file's name or text could clear the screen, set its title, or fill the clipboard."""
    for name in (EVIL, EVIL.replace("b.py", "c.py")):
        text = "def evil_name():\n    return other('\x1b[2J\x1b]52;c;aGk=\x07')\n"
        (tmp_path / name).write_text(text)
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "holdfast", *words],
        stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs,
        env=settings(tmp_path, True), cwd=tmp_path,
    )  # fmt: skip
    os.close(theirs)
    seen = b""
    while piece := _read(ours):
        seen += piece
    process.wait(60)
    os.close(ours)
    assert seen
    assert b"Traceback" not in seen
    left = seen.replace(b"\r\n", b"").replace(b"\x1b[K", b"")
    for style in (b"0", b"1", b"2", b"31", b"32", b"33"):
        left = left.replace(b"\x1b[" + style + b"m", b"")
    assert b"\x1b" not in left
    assert b"\x07" not in left


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 1 << 16)
    except OSError:  # the other end is closed
        return b""


@pytest.mark.parametrize(
    ("row", "room", "line"),
    [
        (("a", "ready", ""), 40, "a  ready"),
        (("/home/ada/work/client/shop", "ready", "5 files"), 30, "/home/ad…/shop  ready  5 files"),
        (("note:a", "7", "x" * 40), 20, "note:a  7  xxxxxxxx…"),
        (("x" * 60, "y" * 60, "z"), 20, "xxxxxxx…xxxx  yyyyy…"),
    ],
)
def test_a_row_of_a_table_keeps_the_end_of_what_it_cuts(
    row: tuple[str, ...], room: int, line: str
) -> None:
    """A long path took all of a narrow terminal, and the state beside it was never seen."""
    assert fitted([row], room) == [line]
