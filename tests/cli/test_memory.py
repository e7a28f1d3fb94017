"""`holdfast memory` as a person and as a script would use it."""

import json
import os
import threading
from pathlib import Path
from typing import Any

import pytest

from holdfast.cli import memory
from holdfast.cli.main import main
from holdfast.cli.parsing import Parser


class Terminal:
    """Runs commands and keeps what they printed."""

    def __init__(self, capture: pytest.CaptureFixture[str]) -> None:
        self._capture = capture
        self.errors = ""

    def __call__(self, *words: str, code: int = 0) -> str:
        try:
            ended = main(words)
        except SystemExit as stop:
            ended = int(stop.code or 0)
        printed = self._capture.readouterr()
        self.errors = printed.err
        assert ended == code, f"{words}: exit code {ended}\n{printed.out}\n{printed.err}"
        return printed.out

    def settle(self) -> None:
        """Forget what was printed so far."""
        self._capture.readouterr()

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self(*words, "--json", code=code))


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Terminal:
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.delenv("HOLDFAST_DATABASE_URL", raising=False)
    monkeypatch.chdir(tmp_path)
    return Terminal(capsys)


@pytest.mark.shows("CLI-MEMORY")
def test_every_verb_answers_in_json(run: Terminal) -> None:
    assert run.json("memory", "set", "doc:a", '{"n": 1}')["seq"] == 1
    assert run.json("memory", "get", "doc:a")["document"] == {"value": {"n": 1}}
    assert run.json("memory", "list")[0]["id"] == "doc:a"
    edit = '[{"op": "increment", "path": "/value/n", "by": 1}]'
    assert run.json("memory", "patch", "doc:a", edit)["seq"] == 2
    assert run.json("memory", "at", "1", "doc:a")["document"] == {"value": {"n": 1}}
    assert [s["seq"] for s in run.json("memory", "at", "1")] == [1]
    assert [e["seq"] for e in run.json("memory", "log")] == [2, 1]
    assert run.json("memory", "branch", "create", "draft")["forkSeq"] == 2
    assert [b["name"] for b in run.json("memory", "branch", "list")] == ["", "draft"]
    run.json("memory", "set", "doc:b", "1", "--branch", "draft")
    assert run.json("memory", "diff", "draft")[0]["kind"] == "added"
    assert run.json("memory", "merge", "draft", "--dry-run")["operations"][0]["id"] == "doc:b"
    assert run.json("memory", "merge", "draft")["seq"] == 5
    assert run.json("memory", "merge", "draft") is None
    assert run.json("memory", "delete", "doc:b")["seq"] == 7
    assert run.json("memory", "branch", "delete", "draft")["status"] == "deleted"
    assert run.json("memory", "export", "x.jsonl")["lines"] == 11
    assert run.json("memory", "import", "x.jsonl", "--space", "copy")["commits"] == 7
    assert run.json("memory", "verify", "--space", "copy")["sound"] is True
    assert run.json("memory", "gc")["blobsDropped"] == 0
    assert run.json("memory", "gc", "--blobs", "--grace", "0.5")["blobsDropped"] == 0
    run("memory", "gc", "--grace", "soon", code=2)
    assert "must be a number of seconds, 0 or more (got 'soon')" in run.errors


@pytest.mark.shows("CLI-MEMORY")
def test_a_merge_that_clashes_says_so_in_json_and_by_its_exit_code(run: Terminal) -> None:
    run("memory", "set", "doc:a", '{"x": 0}')
    run("memory", "branch", "create", "draft")
    run("memory", "set", "doc:a", '{"x": 1}', "--branch", "draft")
    run("memory", "set", "doc:a", '{"x": 2}')
    answer = run.json("memory", "merge", "draft", code=1)
    assert answer["conflicts"] == [
        {
            "id": "doc:a",
            "path": "/value/x",
            "sourceValue": 1,
            "targetValue": 2,
            "ancestorValue": 0,
        }
    ]
    assert run.json("memory", "get", "doc:a")["document"] == {"value": {"x": 2}}


@pytest.mark.parametrize(
    ("words", "code", "said"),
    [
        (("memory", "get", "nope"), 1, "there is no nope"),
        (("memory", "set", "doc:a", "{not json"), 2, "the argument is not JSON"),
        (("memory", "set", "doc:a", "@missing.json"), 2, "missing.json cannot be read"),
        (("memory", "set", "doc:a", "1", "--branch", "nowhere"), 1, "unknown branch: nowhere"),
        (("memory", "set", "doc:a", "1", "--document"), 1, "explicit document objects"),
        (("memory", "patch", "doc:a", '{"op": "bogus"}'), 1, "unknown patch operation: bogus"),
        (("memory", "branch", "create"), 2, "branch create needs a NAME"),
        (("memory", "branch", "delete", "nowhere"), 1, "unknown branch: nowhere"),
        (("memory", "merge", "nowhere"), 1, "unknown branch: nowhere"),
        (("memory", "at", "7"), 1, "seq 7 is out of range"),
        (("memory", "get", "doc:a", "--space", "../evil"), 1, "Invalid memory space identifier"),
        (("memory", "import", "missing.jsonl"), 2, "cannot read missing.jsonl"),
        (("memory", "nonsense"), 2, "invalid choice"),
        (("nonsense",), 2, "there is no command 'nonsense'"),
    ],
)
@pytest.mark.shows("CLI-ERRORS")
def test_a_mistake_gets_one_sentence_and_an_exit_code(
    run: Terminal, words: tuple[str, ...], code: int, said: str
) -> None:
    run(*words, code=code)
    assert said in run.errors
    assert "Traceback" not in run.errors


def test_a_value_may_come_from_a_file(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "v.json").write_text('{"big": true}')
    run("memory", "set", "doc:a", "@v.json")
    assert run.json("memory", "get", "doc:a")["document"] == {"value": {"big": True}}


def test_the_home_is_the_owners_alone(run: Terminal, tmp_path: Path) -> None:
    run("memory", "set", "doc:a", "1")
    home = tmp_path / "home"
    assert home.stat().st_mode & 0o777 == 0o700
    database = home / "spaces" / "engine-v3" / "local.sqlite"
    assert database.stat().st_mode & 0o777 == 0o600


def test_a_cut_export_is_refused_and_makes_no_space(run: Terminal, tmp_path: Path) -> None:
    run("memory", "set", "doc:a", "1")
    run("memory", "export", "x.jsonl")
    lines = (tmp_path / "x.jsonl").read_text().splitlines()
    (tmp_path / "cut.jsonl").write_text("\n".join(lines[:-1]))
    run("memory", "import", "cut.jsonl", "--space", "copy", code=1)
    assert "cut short" in run.errors
    assert run.json("memory", "list", "--space", "copy", code=1)["error"] == "UnknownSpace"


@pytest.mark.shows("TRY")
def test_the_tour_runs_to_its_end(run: Terminal) -> None:
    said = run("try")
    assert "every invariant holds" in said
    assert "That was the tour" in said
    assert not Path("home").exists(), "the tour keeps to a directory of its own"


@pytest.mark.shows("CLI-ERRORS")
def test_a_damaged_file_is_named_and_left_alone(run: Terminal, tmp_path: Path) -> None:
    run("memory", "set", "doc:a", "1")
    database = tmp_path / "home" / "spaces" / "engine-v3" / "broken.sqlite"
    database.write_bytes(b"this is no database, it is a letter" * 200)
    before = database.read_bytes()
    run("memory", "get", "doc:a", "--space", "broken", code=1)
    assert "the database file is damaged" in run.errors
    assert database.read_bytes() == before


@pytest.mark.shows("CLI-ERRORS")
def test_a_home_that_cannot_be_made_is_named(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("in the way")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "file" / "home"))
    run("memory", "list", code=1)
    assert "Not a directory" in run.errors
    assert "Traceback" not in run.errors


def test_an_export_that_is_not_text_is_refused(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "x.bin").write_bytes(b"\xff\xfe\x00")
    run("memory", "import", "x.bin", code=2)
    assert "is not UTF-8 text" in run.errors


@pytest.mark.shows("CLI-MEMORY")
def test_nothing_is_acknowledged_that_only_memory_holds(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is no file and no PostgreSQL used to be kept in memory, and committed there."""
    monkeypatch.setenv("HOLDFAST_HOME", "data:1")
    run("memory", "set", "doc:a", "1")
    assert run.json("memory", "get", "doc:a")["seq"] == 1
    assert list((tmp_path / "data:1").rglob("local.sqlite"))
    for url in ("mysql://host/db", "postgrsql://host/db", "Sqlite:///x"):
        monkeypatch.setenv("HOLDFAST_DATABASE_URL", url)
        assert run("memory", "set", "doc:a", "1", code=2) == ""
        assert "HOLDFAST_DATABASE_URL" in run.errors


@pytest.mark.shows("CLI-MEMORY")
@pytest.mark.parametrize(
    "url", ["postgresql://me:secret@[bad", "postgresql://localhost/x?nonsense=1"]
)
def test_an_address_that_cannot_be_read_is_named(
    run: Terminal, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", url)
    run("memory", "list", code=3)
    assert "cannot reach PostgreSQL" in run.errors
    assert "secret" not in run.errors


@pytest.mark.shows("CLI-MEMORY")
def test_arguments_at_their_limits_get_an_answer(run: Terminal, tmp_path: Path) -> None:
    run("memory", "set", "doc:a", "1")
    for words in (["log"], ["log", "doc:a"]):
        for number in ("-1", "0", str(2**63), str(2**80)):
            run("memory", *words, "--before", number)
            run("memory", *words, "--limit", number, code=0 if int(number) > 0 else 2)
    (tmp_path / "latin").write_bytes(b"\xff")
    run("memory", "set", "doc:a", "@latin", code=2)
    assert "latin is not UTF-8 text" in run.errors
    (tmp_path / "deep").write_text("[" * 100_000)
    run("memory", "set", "doc:a", "@deep", code=2)
    assert "nested too deeply" in run.errors
    run("memory", "list", "--space", "half\udcff", code=1)
    assert "Invalid memory space identifier" in run.errors


@pytest.mark.shows("CLI-MEMORY")
def test_an_id_cannot_command_the_terminal(run: Terminal) -> None:
    run("memory", "set", "doc:\x1b[31mred\nline", "1")
    run("memory", "branch", "create", "draft")
    run("memory", "set", "doc:\x1b[31mred\nline", '{"\x1b": 2}'.replace("\x1b", "\\u001b"))
    for words in (["list"], ["log"], ["diff", "", "--against", "draft"]):
        printed = run("memory", *words)
        assert "doc:\\x1b[31mred\\nline" in printed
        assert "\x1b" not in printed


@pytest.mark.shows("CLI-MEMORY")
def test_a_dash_exports_to_standard_output(run: Terminal, tmp_path: Path) -> None:
    """It wrote a file named `-`."""
    run("memory", "set", "doc:a", "1")
    assert run("memory", "export", "-") == run("memory", "export")
    assert not (tmp_path / "-").exists()


def test_an_export_into_a_pipe_does_not_replace_it(run: Terminal, tmp_path: Path) -> None:
    """/dev/stdout was replaced by a file, where that was allowed."""
    run("memory", "set", "doc:a", "1")
    pipe, taken = tmp_path / "pipe", list[str]()
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: taken.append(pipe.read_text()), daemon=True)
    reader.start()
    run("memory", "export", str(pipe))
    reader.join(timeout=30)
    assert pipe.is_fifo()
    assert taken == [run("memory", "export")]
    run("memory", "export", str(tmp_path), code=1)
    assert not list(tmp_path.parent.glob("*.part")), "nothing is left of what was not kept"


READS = [
    ("get", "note:a"),
    ("list",),
    ("log",),
    ("at", "1"),
    ("at", "1", "note:a"),
    ("diff", "draft"),
    ("export",),
    ("export", "out.jsonl"),
    ("verify",),
    ("gc",),
    ("branch", "list"),
    ("branch", "delete", "draft"),
    ("merge", "draft"),
    ("delete", "note:a"),
    ("acl", "show"),
]


@pytest.mark.shows("CLI-READS-MAKE-NOTHING")
@pytest.mark.parametrize("words", READS)
def test_a_read_of_a_mistyped_space_makes_nothing_and_names_those_there_are(
    run: Terminal, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """`holdfast memory list --space tpyo` made a space of that name and said it was empty."""
    run("memory", "set", "note:a", "1", "--space", "team")
    before = sorted(path.name for path in tmp_path.rglob("*"))
    run("memory", *words, "--space", "taem", code=1)
    assert "holdfast: there is no space taem\n" in run.errors
    assert "hint: did you mean `holdfast memory list --space team`?" in run.errors
    assert "`holdfast memory set ID VALUE --space taem` creates it" in run.errors
    assert sorted(path.name for path in tmp_path.rglob("*")) == before
    answer = run.json("memory", *words, "--space", "taem", code=1)
    assert (answer["error"], answer["message"]) == ("UnknownSpace", "there is no space taem")
    run("memory", *words, "--space", "quite-another", code=1)
    assert "existing spaces: team; `holdfast memory list --space team`" in run.errors


@pytest.mark.shows("CLI-READS-MAKE-NOTHING")
def test_the_default_space_is_empty_until_it_is_written_and_looking_does_not_make_it(
    run: Terminal, tmp_path: Path
) -> None:
    assert run("memory", "list") == "no documents\n"
    run("memory", "get", "note:a", code=1)
    assert "there is no note:a" in run.errors
    assert "sound" in run("memory", "verify")
    assert [b["name"] for b in run.json("memory", "branch", "list")] == [""]
    assert not (tmp_path / "home").exists()
    run("memory", "set", "note:a", "1")
    assert "note:a" in run("memory", "list")


def test_every_writing_verb_makes_its_space(run: Terminal) -> None:
    run("memory", "set", "a", "1", "--space", "one")
    edit = '{"op": "increment", "path": "/value", "by": 1}'
    run("memory", "patch", "a", edit, "--space", "two")
    run("memory", "branch", "create", "draft", "--space", "three")
    run("memory", "export", "x.jsonl", "--space", "one")
    run("memory", "import", "x.jsonl", "--space", "four")
    for name in ("one", "two", "three", "four"):
        run("memory", "verify", "--space", name)


def test_a_verb_is_parsed_without_making_the_parsers_of_the_others() -> None:
    made = []

    class Counted(Parser):
        def __init__(self, *args: Any, **settings: Any) -> None:
            super().__init__(*args, **settings)
            made.append(self.prog)

    parser = Counted(prog="holdfast memory")
    memory.configure(parser)
    args = parser.parse_args(["get", "note:plan", "--json"])
    assert (args.id, args.json, args.branch) == ("note:plan", True, "")
    assert made == ["holdfast memory", "holdfast memory get"]
