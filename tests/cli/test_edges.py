"""What a new user meets first: bad input, closed pipes, servers that are not there."""

import argparse
import io
import json
import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path

import pytest

from holdfast.cli.main import COMMANDS, main
from tests.cli.test_memory import Terminal, run

__all__ = ["run"]


@pytest.fixture
def dead_port() -> int:
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        return int(unused.getsockname()[1])


def test_a_server_that_is_not_there_is_a_transport_error(run: Terminal, dead_port: int) -> None:
    url = f"http://127.0.0.1:{dead_port}"
    run("memory", "watch", "note:a", "--url", url, code=3)
    assert f"cannot reach ws://127.0.0.1:{dead_port}/sync" in run.errors
    assert "nothing is listening at" in run.errors
    assert "hint: start it with holdfast serve, or name another with --url" in run.errors


def test_a_database_that_is_not_there_is_a_transport_error(
    run: Terminal, dead_port: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", f"postgresql://127.0.0.1:{dead_port}/x")
    run("memory", "list", code=3)
    assert "no server is listening at" in run.errors
    assert "\\t" not in run.errors


def test_a_log_of_no_entries_is_no_question(run: Terminal) -> None:
    run("memory", "set", "a", "1")
    for limit in ("0", "-1"):
        run("memory", "log", "--limit", limit, code=2)
        assert f"--limit must be at least 1 (got {limit})" in run.errors


def test_a_log_goes_on_with_what_was_asked(run: Terminal) -> None:
    for value in "123":
        run("memory", "set", "a", value, "--space", "s")
    said = run("memory", "log", "a", "--limit", "2", "--space", "s", "--branch", "")
    assert (
        "holdfast memory log a --space s --branch '' --limit 2 --before 2 shows older commits"
        in said
    )
    assert "older commits" not in run("memory", "log", "a", "--limit", "3", "--space", "s")


def test_a_value_from_a_file_that_is_no_text(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "logo.bin").write_bytes(b"\xcf\x00\xff")
    run("memory", "set", "a", "@logo.bin", code=2)
    assert "holdfast: logo.bin is not UTF-8 text" in run.errors


def test_clones_never_deny_blocks_they_were_told_not_to_list(run: Terminal, tmp_path: Path) -> None:
    block = "".join(f"value_{n} = compute({n}, other={n})\n" for n in range(30))
    (tmp_path / "tree").mkdir()
    for name in "ab":
        (tmp_path / "tree" / f"{name}.py").write_text(block)
    run("clones", "tree", "--limit", "-1", code=2)
    assert "--limit must be at least 0 (got -1)" in run.errors
    assert "1 group covers" in run("clones", "tree", "--limit", "0")


def test_clones_say_how_to_see_the_rest(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    for n in range(2):
        block = "".join(f"v{n}_{k} = f{n}({k}, g={k})\n" for k in range(30))
        for name in "ab":
            (tmp_path / "tree" / f"{name}{n}.py").write_text(block)
    assert "--limit 0 lists all" in run("clones", "tree", "--limit", "1")
    assert "--limit" not in run("clones", "tree")


def test_a_closed_standard_output_is_no_traceback(run: Terminal) -> None:
    run("memory", "set", "a", "1")
    shell = f"'{sys.executable}' -m holdfast.cli.main memory list >&-"
    ended = subprocess.run(["sh", "-c", shell], capture_output=True, timeout=60, check=False)
    assert ended.returncode == 0, ended.stderr
    assert ended.stderr == b""


def test_names_that_are_not_utf8_are_refused_in_a_sentence(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def a(): pass\n")
    run("index", "create", "tree")
    name = os.fsdecode(b"bad\xff.py")
    (tmp_path / "tree" / name).write_text("def b(): pass\n")
    run("outline", f"tree/{name}", code=1)
    assert "is not UTF-8" in run.errors
    run("memory", "list", "--space", name, code=1)
    assert "bad\\udcff" in run.errors
    assert "lone surrogate" in run.errors


def test_an_empty_home_is_an_unset_one(run: Terminal, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HOLDFAST_HOME")
    monkeypatch.setenv("HOME", "")
    run("--version")
    assert "HOME" not in os.environ, "the password database knows better than /"


def test_a_home_that_cannot_be_written_says_which_setting_moves_it(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "file" / "home"))
    for words in (("memory", "list"), ("keys", "new"), ("context", "--session", "s")):
        run(*words, code=1)
        assert "hint: set HOLDFAST_HOME to a directory that you may write" in run.errors


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("--drain", "-1"), "--drain must be 0 to 3600 seconds (got -1)"),
        (("--calls", "0"), "--calls must be at least 1 (got 0)"),
        (("--acl", "enforce"), "--acl enforce needs signed sessions"),
    ],
)
def test_options_of_serve_that_are_not_accepted(
    run: Terminal, words: tuple[str, ...], message: str
) -> None:
    run("serve", *words, code=2)
    assert message in run.errors


def test_ports_that_cannot_be_had_are_refused_in_a_sentence(run: Terminal) -> None:
    for port in ("99999", "-1"):
        run("serve", "--port", port, code=2)
        assert f"--port must be 0 to 65535 (got {port})" in run.errors
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = str(taken.getsockname()[1])
        run("serve", "--port", port, code=3)
    assert f"did not start on 127.0.0.1:{port}" in run.errors
    assert "--port 0 picks a free port" in run.errors
    assert f"If your own server runs there: http://127.0.0.1:{port}/?token=TOKEN" in run.errors


def test_a_database_of_no_known_kind_is_no_file(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("HOLDFAST_DATABASE_URL", "mysql://127.0.0.1/x")
    run("memory", "list", code=2)
    assert "mysql:" in run.errors
    assert "postgresql://" in run.errors
    assert not (tmp_path / "mysql:").exists()


def test_hints_name_commands_that_can_be_typed(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "my tree").mkdir()
    (tmp_path / "my tree" / "a.py").write_text("def a(): pass\n")
    root = str(tmp_path / "my tree")
    create = f"run `holdfast index create '{root}'`"
    for words in (("index", "status", root), ("search", "a", "--path", root)):
        assert create in run(*words, code=1)
    assert create in run("outline", f"{root}/a.py", code=1)
    assert create in run("calls", f"{root}/a.py", "a", code=1)
    assert create in run("index", "sync", root, code=1).replace("Run", "run")
    assert "run `holdfast index create PATH`" in run("index", "list")
    run("index", "create", root)
    again = run("index", "create", root, code=1)
    assert f"run `holdfast index sync '{root}'`" in again
    assert f"`holdfast index reindex '{root}'` or `holdfast index create --force '{root}'`" in again
    assert "`holdfast outline" in run("calls", f"{root}/a.py", "nope", code=1)
    assert "manage_index" not in run("index", "list") + run("index", "status", root)
    answer = run.json("index", "create", root, code=1)
    assert "manage_index" in answer["humanText"], "a program reads what the tool said"


def test_a_shortened_answer_says_what_continues_it(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree" / "lib").mkdir(parents=True)
    body = "".join(f"    total_{n} = {n}\n" for n in range(20))
    calls = "".join(f"def caller_{n}():\n    compute()\n\n" for n in range(9))
    (tmp_path / "tree" / "lib" / "a.py").write_text(f"def compute():\n{body}\n\n{calls}")
    (tmp_path / "tree" / "none.py").write_text("")
    run("index", "create", "tree")
    said = run("search", "compute", "--path", "tree/lib", "--limit", "5")
    assert "[results 1-5 of 10; more: --cursor " in said
    said = run("calls", "tree/lib/a.py", "compute", "--limit", "2")
    assert "[2 calls shown; for more: --limit 4]" in said
    assert "No symbols." in run("outline", "tree/none.py")


class Screen(io.StringIO):
    """Standard error on a terminal."""

    def isatty(self) -> bool:
        return True


def test_progress_fits_on_one_line_of_a_narrow_terminal(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def a(): pass\n")
    screen = Screen()
    monkeypatch.setenv("COLUMNS", "40")
    monkeypatch.setattr(sys, "stderr", screen)
    run("index", "create", "tree")
    lines = screen.getvalue().split("\r")
    assert any("publishing" in line for line in lines)
    assert max(len(line) for line in lines) < 40


def parsers(parser: argparse.ArgumentParser) -> Iterator[argparse.ArgumentParser]:
    yield parser
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            for sub in action.choices.values():
                yield from parsers(sub)


@pytest.mark.parametrize("name", COMMANDS)
def test_help_explains_every_argument(name: str) -> None:
    top = argparse.ArgumentParser(prog=f"holdfast {name}")
    import_module(COMMANDS[name][0]).configure(top)
    silent = [
        f"{parser.prog} {action.metavar or action.dest}"
        for parser in parsers(top)
        for action in parser._actions
        if not action.help and not isinstance(action, argparse._SubParsersAction)
    ]
    assert silent == []


@pytest.mark.parametrize("name", COMMANDS)
def test_help_of_every_verb_begins_with_what_it_does(name: str) -> None:
    top = argparse.ArgumentParser(prog=f"holdfast {name}", description="as the overview says")
    import_module(COMMANDS[name][0]).configure(top)
    assert [parser.prog for parser in parsers(top) if not parser.description] == []


def test_numbers_that_are_none_are_refused_in_words(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("one\ntwo\n")
    run("read", "a.py", "--offset", "x", code=2)
    assert "must be a number of lines, at least 0 (got x)" in run.errors
    run("read", "a.py", "--limit", "-1", code=2)
    assert "must be a number of lines, at least 0 (got -1)" in run.errors


def test_a_tree_that_is_not_there_cannot_be_indexed_either(run: Terminal, tmp_path: Path) -> None:
    said = run("search", "a", "--path", "nowhere", code=1)
    assert said == f"'{tmp_path / 'nowhere'}' does not exist.\n"


def test_calls_name_the_limit_that_held(run: Terminal, tmp_path: Path) -> None:
    calls = "".join(f"def caller_{n}():\n    compute()\n\n" for n in range(9))
    (tmp_path / "a.py").write_text(f"def compute(): pass\n\n{calls}")
    run("index", "create")
    assert "[1 call shown; for more: --limit 2]" in run("calls", "a.py", "compute", "--limit", "1")


FAILURES = [
    (("memory", "get", "note:none"), 1, "NoSuchDocument", "holdfast memory list"),
    (("memory", "get", "a", "/value/x"), 1, "NoSuchPart", "holdfast memory get a shows all of it"),
    (("memory", "get", "a", "no pointer"), 1, None, None),
    (("memory", "set", "a", "{no json"), 2, "UsageError", "quote strings"),
    (("memory", "set", "a", "1", "--if-seq", "7"), 1, None, None),
    (("memory", "log", "--limit", "0"), 2, "UsageError", None),
    (("memory", "log", "--limit", "x"), 2, "UsageError", "usage: holdfast memory log"),
    (("memory", "frobnicate"), 2, "UsageError", "usage: holdfast memory"),
    (("memory", "diff", "no-branch"), 1, "UnknownBranch", None),
    (("read", "none.txt"), 1, "Unreadable", None),
    (("read", "lines.txt:9-3"), 1, "BadRange", None),
    (("read", "lines.txt", "--session", "/none.jsonl"), 1, "NoSuchSession", "name a session file"),
    (("readcache", "status"), 2, "UsageError", "usage: holdfast readcache status"),
    (("locate", "x", "--path", "nowhere"), None, None, None),
    (("locate", "--file", "none.txt"), 2, "UsageError", None),
    (("locate", ""), None, "EmptyQuery", None),
    (("clones", "--min-tokens", "1"), 2, "UsageError", None),
    (("keys", "show", "none"), 2, "UsageError", "holdfast keys new none"),
    (("serve", "--port", "99999"), 2, "UsageError", "a port is"),
    (("sequence", "show"), 2, "UsageError", "give at least one TEXT"),
    (("bench", "nowhere"), 2, "UsageError", None),
    (("frobnicate",), 2, "UsageError", "holdfast --help lists the commands"),
    (("serch", "x"), 2, "UsageError", "did you mean holdfast search?"),
]


@pytest.mark.shows("CLI-JSON-ERRORS")
@pytest.mark.parametrize(("words", "code", "error", "hint"), FAILURES)
def test_a_failure_is_one_json_object_where_json_was_asked_for(
    run: Terminal,
    tmp_path: Path,
    words: tuple[str, ...],
    code: int | None,
    error: str | None,
    hint: str | None,
) -> None:
    """A program that asked for JSON got text on another stream and nothing to parse."""
    (tmp_path / "lines.txt").write_text("one\ntwo\n")
    run("memory", "set", "a", "1")
    plain = main(words) if "usage" not in (hint or "") else 2
    run.settle()
    assert plain in (1, 2)
    assert code in (None, plain)
    answer = run.json(*words, code=plain)
    assert answer["status"] == "error"
    assert answer["message"]
    assert error in (None, answer["error"])
    assert (hint or "") in answer.get("hint", "")
    assert run.errors == ""


@pytest.mark.long
@pytest.mark.shows("TRY")
def test_the_tour_as_json_is_a_line_for_each_step(run: Terminal) -> None:
    lines = [json.loads(line) for line in run("try", "--json").splitlines()]
    steps, (end,) = [one for one in lines if "command" in one], lines[-1:]
    assert all(one["exit"] == one["expected"] for one in steps)
    assert {one["chapter"].partition(":")[0] for one in steps} >= {"Index", "Reading", "Memory"}
    unchanged = [one for one in steps if "unchanged" in one["output"]]
    assert unchanged[0]["command"] == ["holdfast", "read", "shop.py", "--session", "tour"]
    assert end["status"] == "ok"
    assert end["steps"] == len(steps)
    assert end["surprises"] == 0


def test_a_read_that_is_refused_names_the_read_that_was_meant(
    run: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "my cart.py").write_text("one\ntwo\n")
    for typed, meant in (
        ("lib/my crat.py", "did you mean: holdfast read 'lib/my cart.py'"),
        ("lib", "a file in it: holdfast read 'lib/my cart.py'"),
        ("lib/my cart.py:9-3", "all of it: holdfast read 'lib/my cart.py'"),
        ("lib/my cart.py:77", "its last lines: holdfast read 'lib/my cart.py' --offset 1"),
    ):
        run("read", typed, code=1)
        assert f"hint: {meant}\n" in run.errors
    run("read", "nothing-like-it", code=1)
    assert "hint" not in run.errors


def test_a_search_that_finds_nothing_names_a_wider_one(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("def alpha(): ...\n")
    run("index", "create")
    said = run("search", "must:zzz", "alpha")
    assert said.startswith("Nothing found.\n")
    assert "[wider: holdfast search alpha]" in said
    said = run("search", "sym:Nowhere", "--limit", "3")
    assert "[wider: holdfast search sym:Nowhere --scope mixed --limit 3]" in said
    said = run("search", "sym:Nowhere", "--scope", "mixed", "--path", ".")
    assert "[the exact tokens, in any file: holdfast locate sym:Nowhere --path .]" in said
    run("search", "alpha", "--cursor", "bad", code=2)
    assert "hint: from the start: holdfast search alpha\n" in run.errors


def test_a_seq_that_is_not_there_names_the_branch_and_those_that_are(run: Terminal) -> None:
    run("memory", "set", "a", "1")
    run("memory", "at", "99", code=1)
    assert "seq 99 is out of range for the default branch\n" in run.errors
    assert "hint: this branch can be read at seq 0 to 1" in run.errors


def test_a_file_that_is_none_names_the_command_that_was_meant(
    run: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "cart.py").write_text("def total(): ...\n")
    (tmp_path / "lib" / "empty.py").write_text("")
    run("index", "create")
    run("outline", "lib/crat.py", code=1)
    assert "holdfast: there is no file lib/crat.py\n" in run.errors
    assert "hint: did you mean: holdfast outline lib/cart.py\n" in run.errors
    run("outline", "lib", code=1)
    assert "holdfast: lib is a directory\nhint: a file in it: holdfast outline lib/cart.py\n" in (
        run.errors
    )
    run("calls", "lib/crat.py", "total", code=1)
    assert "hint: did you mean: holdfast calls lib/cart.py total\n" in run.errors
    said = run("outline", "lib/empty.py", "--symbol", "total", code=1)
    assert "'lib/empty.py' has no symbol named 'total'" in said


def test_a_pipe_is_not_a_file_and_does_not_suggest_itself(run: Terminal, tmp_path: Path) -> None:
    """The error said that there is no such file, and to try the same command on it."""
    (tmp_path / "a.py").write_text("def total(): ...\n")
    os.mkfifo(tmp_path / "pipe.py")
    run("index", "create")
    run("outline", "pipe.py", code=1)
    assert run.errors.endswith("holdfast: pipe.py is not a regular file\n")


def test_a_negative_number_is_a_number(run: Terminal, tmp_path: Path) -> None:
    """`--budget -1` was told to expect an argument."""
    (tmp_path / "a.py").write_text("def alpha(): ...\n")
    run("index", "create")
    run("search", "alpha", "--limit", "-1", code=2)
    assert "limit must be at least 1 (got -1)" in run.errors


def test_what_a_new_user_types_wrong_in_memory(run: Terminal, tmp_path: Path) -> None:
    run("memory", "set", "note:a", '{"t": 1}', "--space", "team")
    assert run("memory", "log", "note:zz", "--space", "team") == "no commit wrote note:zz\n"
    assert run("memory", "log") == "no commits\n"
    run("memory", "delete", "note:zz", "--space", "team", code=1)
    assert "there is no note:zz to delete" in run.errors
    assert "hint: holdfast memory list --space team shows what there is" in run.errors
    run("memory", "diff", "nope", "--space", "team", code=1)
    assert "hint: run: holdfast memory branch list --space team" in run.errors
    run("memory", "export", "nowhere/x.jsonl", "--space", "team", code=2)
    assert "cannot write nowhere/x.jsonl: No such file or directory" in run.errors
    run("memory", "import", os.devnull, "--space", "new", code=2)
    assert "is a device, not an export" in run.errors
    (tmp_path / "empty.jsonl").touch()
    run("memory", "import", "empty.jsonl", "--space", "new", code=1)
    assert "cut short" in run.errors
    run("memory", "list", "--space", "new", code=1)
    assert "there is no space new" in run.errors, "what was refused left nothing behind"
    run("memory", "branch", "create", "d", "--space", "team")
    run("memory", "set", "note:a", '{"t": 2}', "--branch", "d", "--space", "team")
    run("memory", "set", "note:a", '{"t": 3}', "--space", "team")
    run("memory", "merge", "d", "--space", "team", code=1)
    assert "hint: holdfast memory merge d --space team --take source|target" in run.errors


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        ({"LC_ALL": "C"}, "grün → 日本"),
        ({"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}, "grün → 日本"),
        ({"PYTHONIOENCODING": "latin-1"}, "grün \\u2192 \\u65e5\\u672c"),
        ({"PYTHONIOENCODING": "ascii"}, "gr\\xfcn \\u2192 \\u65e5\\u672c"),
    ],
)
def test_a_text_is_said_in_any_locale(tmp_path: Path, settings: dict[str, str], said: str) -> None:
    """Where the terminal spoke no UTF-8, a file in UTF-8 was said not to be, and not shown."""
    (tmp_path / "a.txt").write_text("grün → 日本\n", encoding="utf-8")
    plain = {k: v for k, v in os.environ.items() if not k.startswith(("LC_", "LANG", "PYTHON"))}
    ended = subprocess.run(
        [sys.executable, "-m", "holdfast", "read", "a.txt"],
        cwd=tmp_path, env=plain | settings, capture_output=True, timeout=60, check=False,
    )  # fmt: skip
    assert ended.returncode == 0, ended.stderr
    shown = ended.stdout.decode("latin-1" if settings.get("PYTHONIOENCODING") else "utf-8")
    assert shown.splitlines()[0] == said


def test_calls_finds_the_file_of_a_name(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "lib").mkdir()
    (tmp_path / "lib" / "cart.py").write_text(
        "class Cart:\n    def total(self):\n        return price()\n\n\ndef price(): ...\n"
    )
    (tmp_path / "lib" / "bill.py").write_text("class Bill:\n    def total(self): ...\n")
    run("index", "create")
    callers = "lib/cart.py:6  price\ncalled by:\n  :3  Cart.total (2-3)  return price()\n"
    assert run("calls", "price") == callers
    assert run("calls", "Cart.total") == "lib/cart.py:2-3  Cart.total\ncalls:\n  :3  price (6)\n"
    assert '"status": "ok"' in run("calls", "price", "--json")
    (tmp_path / "lib" / "pay.py").write_text(
        "from lib.bill import Bill\n\n\ndef pay(bill: Bill):\n    bill.total()\n"
    )
    run("index", "sync")
    both = run("calls", "total")
    assert "calls:\n  :3  price (6)\n" in both
    assert "called by:\n  lib/pay.py:5  pay (4-5)  bill.total()\n" in both
    assert "[2 symbols named total: " in both
    run("calls", "nothing_like_it", code=1)
    assert "holdfast: no symbol in the tree is named nothing_like_it" in run.errors
    # `sym:*` is no operator but words, and the one symbol that is near to them was taken.
    (tmp_path / "lib" / "cart.py").write_text("def sym(): ...\n")
    (tmp_path / "lib" / "bill.py").unlink()
    run("calls", "*", code=1)
    assert "holdfast: no symbol in the tree is named *" in run.errors


def test_calls_of_a_name_that_was_only_guessed_say_why_there_are_none(
    run: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "shop.dart").write_text("int total(Cart cart) {\n  return 0;\n}\n")
    run("index", "create")
    said = run("calls", "total", code=1) + run.errors
    assert "files in dart can be searched and read, not outlined" in said


def test_calls_of_a_name_in_a_tree_that_is_not_indexed_say_so(
    run: Terminal, tmp_path: Path
) -> None:
    (tmp_path / "cart.py").write_text("def total(): ...\n")
    run("calls", "total", code=1)
    assert "holdfast index create" in run.errors


def test_an_outline_says_what_was_not_understood(run: Terminal, tmp_path: Path) -> None:
    """`No symbols.` of a file in which none could be made out is half the truth."""
    (tmp_path / "broken.cs").write_text(")))\n" * 40)
    run("index", "create")
    assert "No symbols.\n[line 1: " in run("outline", "broken.cs")


def test_one_of_more_places_than_were_seen_is_not_the_only_one(
    run: Terminal, tmp_path: Path
) -> None:
    for number in range(14):
        (tmp_path / f"m{number:02}.py").write_text("def spread():\n    return 1\n")
    run("index", "create")
    assert "[at least 11 symbols named spread: m00.py:1 spread, m01.py:1 " in run("calls", "spread")


@pytest.mark.shows("CLI-READS-MAKE-NOTHING")
@pytest.mark.parametrize(
    "words",
    [
        ["set", "a", "{no json"],
        ["patch", "a", "[1"],
        ["set", "a", "@nowhere"],
        ["branch", "create"],
        ["acl", "set"],
    ],
    ids=" ".join,
)
def test_a_command_that_is_wrong_in_itself_makes_no_space(
    run: Terminal, tmp_path: Path, words: list[str]
) -> None:
    """`memory set a text --space new` said that text is no JSON, and left an empty space."""
    run("memory", *words, "--space", "new", code=2)
    assert not list(tmp_path.rglob("new*"))


def test_an_entry_that_is_not_there_names_the_command_that_lists_them(
    run: Terminal, tmp_path: Path
) -> None:
    """It said that there is no session, and to leave away the option that must be given."""
    (tmp_path / "a.py").write_text("a = 1\n")
    run("read", "a.py", "--session", "s")
    run("session", "show", "--session", "s", "--entry", "zzz", code=1)
    assert "session s has no entry zzz" in run.errors
    assert "hint: holdfast session show --session s lists them" in run.errors
    run("session", "show", "--session", "s")


def test_a_tour_that_cannot_be_kept_names_the_folder_and_leaves_the_settings(
    run: Terminal, tmp_path: Path
) -> None:
    """It said to set HOLDFAST_HOME, which has nothing to do with it, and left it set wrongly."""
    (tmp_path / "file").write_text("")
    before = os.environ["HOLDFAST_HOME"]
    run("try", "--keep", "file/x", code=1)
    assert os.environ["HOLDFAST_HOME"] == before
    assert "HOLDFAST_HOME" not in run.errors
    assert str(tmp_path / "file" / "x") in run.errors


@pytest.mark.shows("CLI-ERRORS")
def test_options_may_stand_anywhere(run: Terminal, tmp_path: Path) -> None:
    """`holdfast index create --force PATH`, which hints say to type, was a usage error: an option
    before an argument that may be left out took its place away."""
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "a.py").write_text("def a(): pass\n")
    run("index", "create", "--force", "tree")
    assert run.json("index", "status", "--json", "tree")["path"].endswith("tree")
    run("memory", "set", "note:a", '{"x": 1}')
    assert run("memory", "get", "note:a", "--space", "local", "/value/x") == "1\n"
    assert '"x": 1' in run("memory", "at", "1", "--space", "local", "note:a")
    run("memory", "branch", "create", "--from", "", "draft")
    run("read", "tree/a.py", "--session", "s")
    run("readcache", "refresh", "tree/a.py", "--session", "s", "1-2")
    run("index", "status", "--json", "tree", "more", code=2)
    run("memory", "get", "note:a", "--space", "local", "/value", "more", code=2)
    assert "unrecognized arguments: more" in run.errors
    run("memory", "get", "--nonsense", "note:a", code=2)
    assert "unrecognized arguments: --nonsense" in run.errors


def test_a_wrong_option_of_a_verb_shows_the_usage_of_the_verb(run: Terminal) -> None:
    """It showed `usage: holdfast memory [-h] VERB ...`, which lacks its options."""
    run("memory", "note", "words", "--wrong", "1", code=2)
    assert "usage: holdfast memory note " in run.errors
    assert "--tag TAG" in run.errors
    assert "holdfast memory note: error: unrecognized arguments: --wrong 1" in run.errors
    assert "usage: holdfast memory note " in run.json("memory", "note", "--wrong", code=2)["hint"]


def test_calls_name_files_as_one_would_type_them_here(
    run: Terminal, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "tree" / "lib").mkdir(parents=True)
    (tmp_path / "tree" / "lib" / "a.py").write_text("def f():\n    return g()\ndef g(): ...\n")
    run("index", "create", "tree")
    monkeypatch.chdir(tmp_path / "tree" / "lib")
    assert run("calls", "f") == "a.py:1-2  f\ncalls:\n  :2  g (3)\n"


@pytest.mark.parametrize(
    ("words", "listed"),
    [
        (("memory",), "note, find, get"),
        (("memory", "branch"), "create, list, delete"),
        (("index",), "create, reindex, sync"),
        (("edit",), "rename, replace"),
    ],
)
@pytest.mark.shows("CLI-ERRORS")
def test_a_missing_verb_is_answered_with_the_verbs(
    run: Terminal, words: tuple[str, ...], listed: str
) -> None:
    """It said `the following arguments are required: act`, a name that cannot be typed."""
    run(*words, code=2)
    assert f"error: name one of: {listed}" in run.errors
    assert f"name one of: {listed}" in run.json(*words, code=2)["message"]


@pytest.mark.shows("CLI-ERRORS")
def test_a_binary_file_is_not_printed(run: Terminal, tmp_path: Path) -> None:
    """Its bytes went to the terminal, control characters included."""
    (tmp_path / "a.bin").write_bytes(b"\x7fELF\0\x01\x1b[2J")
    assert run("read", "a.bin", "--session", "s", code=1) == ""
    assert "a.bin is a binary file" in run.errors
    assert "hint: to print it as it is: holdfast read --plain a.bin" in run.errors
    assert "\0" in run("read", "--plain", "a.bin")


def test_an_index_without_files_says_so(run: Terminal, tmp_path: Path) -> None:
    (tmp_path / "tree").mkdir()
    assert "It has no files of a known language.\n0 files" in run("index", "create", "tree")


@pytest.mark.parametrize("action", ["status", "verify"])
def test_the_state_of_an_index_has_no_fingerprints(
    run: Terminal, tmp_path: Path, action: str
) -> None:
    (tmp_path / "tree").mkdir()
    assert "ingerprint" not in run("index", action, "tree", code=1)
    run("index", "create", "tree")
    assert "ingerprint" not in run("index", action, "tree")
