"""status, doctor, completion, --version, -v: what a person looks at every day."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from holdfast import __version__
from holdfast.cli.completion import SHELLS, WHERE, words
from holdfast.cli.main import COMMANDS, main
from holdfast.cli.output import BOLD, styled
from holdfast.cli.streams import prepared

Capture = pytest.CaptureFixture[str]


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "user").mkdir()
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return tmp_path / "home"


def facts(capsys: Capture, *argv: str) -> dict[str, object]:
    capsys.readouterr()
    main([*argv, "--json"])
    found = json.loads(capsys.readouterr().out)
    assert isinstance(found, dict)
    return found


@pytest.mark.shows("CLI-STATUS")
def test_status_of_an_empty_home_says_what_to_do_and_makes_nothing(
    home: Path, capsys: Capture
) -> None:
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "no codebase is indexed" in out
    assert "no documents yet" in out
    assert not home.exists()


@pytest.mark.shows("CLI-STATUS")
def test_status_shows_trees_spaces_and_agents(home: Path, tmp_path: Path, capsys: Capture) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def a(): ...\n")
    assert main(["index", "create", str(tree)]) == 0
    assert main(["memory", "set", "note:1", '"x"']) == 0
    (tmp_path / "user" / ".cursor").mkdir()
    found = facts(capsys, "status")
    assert found["version"] == __version__
    assert [row["section"] for row in found["codebases"]] == ["Ready"]  # type: ignore[attr-defined]
    assert [(row["space"], row["seq"]) for row in found["spaces"]] == [("local", 1)]  # type: ignore[attr-defined]
    assert found["agents"] == [{"client": "cursor", "title": "Cursor", "ready": False}]
    main(["status"])
    out = capsys.readouterr().out
    assert str(tree) in out
    assert "Cursor not set up" in out


@pytest.mark.shows("CLI-STATUS")
def test_a_space_that_cannot_be_read_hides_nothing_else(home: Path, capsys: Capture) -> None:
    """One damaged file, or a home that may not be written, left the screen empty."""
    for space in ("good", "torn"):
        assert main(["memory", "set", "note:1", '"x"', "--space", space]) == 0
    (home / "spaces" / "engine-v3" / "torn.sqlite").write_bytes(b"no database " * 1000)
    (home / "index").mkdir()
    (home / "index" / "registry.json").write_text("no registry")
    found: Any = facts(capsys, "status")["spaces"]
    good, torn = found
    assert (good["space"], good["seq"], "error" in good) == ("good", 1, False)
    assert (torn["space"], torn["seq"]) == ("torn", None)
    assert "damaged" in torn["error"]
    assert main(["status"]) == 0
    out = capsys.readouterr().out
    assert "torn   ?    ?         12 KB  the database file is damaged" in out
    assert "hint: run: holdfast index repair" in out
    assert "agents:" in out
    assert not (home / "run").exists(), "looking makes nothing"


@pytest.mark.shows("CLI-DOCTOR")
def test_doctor_finds_nothing_wrong_where_nothing_is(home: Path, capsys: Capture) -> None:
    assert main(["doctor"]) == 0
    assert "nothing is wrong" in capsys.readouterr().out
    assert not home.exists() or not any(home.glob("spaces/*"))


def wrong(found: dict[str, object]) -> dict[str, str]:
    findings = found["findings"]
    assert isinstance(findings, list)
    return {one["said"]: one["fix"] for one in findings if one["state"] == "wrong"}


@pytest.mark.shows("CLI-DOCTOR")
def test_doctor_says_the_fix(home: Path, tmp_path: Path, capsys: Capture) -> None:
    home.mkdir(mode=0o755)
    home.chmod(0o755)
    cursor = tmp_path / "user" / ".cursor"
    cursor.mkdir()
    (cursor / "mcp.json").write_text("{")
    found = facts(capsys, "doctor")
    assert found["status"] == "wrong"
    said = wrong(found)
    assert said[f"{home} is readable by other users"] == f"chmod 700 {home}"
    assert any("mcp.json cannot be edited" in one for one in said)
    assert main(["doctor"]) == 1


@pytest.mark.shows("CLI-DOCTOR")
def test_an_index_that_does_not_fit_is_explained_in_words(
    home: Path, tmp_path: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    """doctor, status and index list printed `fingerprint_mismatch`."""
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("def a(): ...\n")
    assert main(["index", "create", str(tree)]) == 0
    monkeypatch.setenv("HOLDFAST_EMBEDDING", "hashed")
    words = "made with other settings or by another version"
    assert wrong(facts(capsys, "doctor")) == {
        f"{tree}: requires reindex ({words})": f"holdfast index reindex {tree}"
    }
    for command in (["status"], ["index", "list"]):
        assert main(command) == 0
        out = capsys.readouterr().out
        assert words in out
        assert "fingerprint" not in out
    assert main(["index", "status", str(tree)]) == 1
    assert "fingerprint" not in capsys.readouterr().out
    found: Any = facts(capsys, "status")["codebases"]
    assert found[0]["detail"] == "fingerprint_mismatch", "programs get the name"


@pytest.mark.shows("CLI-DOCTOR")
def test_doctor_sees_an_agent_that_starts_another_program(
    home: Path, tmp_path: Path, capsys: Capture
) -> None:
    main(["install", "--client", "cursor", "--command", "/old/holdfast"])
    said = wrong(facts(capsys, "doctor"))
    assert "holdfast install --client cursor" in said.values()


@pytest.mark.shows("CLI-DOCTOR")
def test_doctor_names_a_registry_that_cannot_be_read(home: Path, capsys: Capture) -> None:
    (home / "index").mkdir(parents=True, mode=0o700)
    home.chmod(0o700)
    (home / "index" / "registry.json").write_text("not json")
    assert wrong(facts(capsys, "doctor")), "a broken registry is wrong"


@pytest.mark.shows("CLI-COMPLETION")
def test_words_fit_what_was_typed() -> None:
    assert words(["mem"]) == ["memory"]
    assert set(COMMANDS) < set(words([""]))
    assert words(["memory", "me"]) == ["merge"]
    assert words(["index", "re"]) == ["reindex", "repair"]
    assert words(["search", "--js"]) == ["--json"]
    assert words(["install", "--client", "cu"]) == ["cursor"]
    assert words(["memory", "watch", "--cou"]) == ["--count"]
    assert words(["nothing", ""]) == []


@pytest.mark.shows("CLI-COMPLETION")
@pytest.mark.parametrize("command", COMMANDS)
def test_every_command_can_be_completed(command: str) -> None:
    assert "--help" in words([command, "--"])


@pytest.mark.shows("CLI-COMPLETION")
def test_bash_completes_for_real(home: Path) -> None:
    program = Path(sys.executable).parent
    script = (
        'eval "$(holdfast completion bash)"; COMP_WORDS=(holdfast memory me); COMP_CWORD=2; '
        '_holdfast; echo "${COMPREPLY[@]}"'
    )
    done = subprocess.run(
        ["bash", "-c", script],
        capture_output=True,
        text=True,
        env={**os.environ, "PATH": f"{program}:{os.environ['PATH']}"},
        check=True,
    )
    assert done.stdout.strip() == "merge"
    assert set(SHELLS) == {"bash", "zsh", "fish"}


@pytest.mark.shows("CLI-VERSION")
def test_the_version_names_its_parts(capsys: Capture) -> None:
    with pytest.raises(SystemExit) as left:
        main(["--version"])
    assert left.value.code == 0
    lines = capsys.readouterr().out.splitlines()
    assert lines[0] == f"holdfast {__version__}"
    assert {line.split()[0] for line in lines[1:]} >= {"python", "sqlite", "sync", "index"}


@pytest.mark.long
@pytest.mark.shows("CLI-VERBOSE")
def test_verbose_says_what_happens_and_only_then(home: Path, tmp_path: Path) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "a.py").write_text("x = 1\n")
    program = str(Path(sys.executable).parent / "holdfast")
    quiet = subprocess.run(
        [program, "index", "create", str(tree)], capture_output=True, text=True, check=True
    )
    assert quiet.stderr == ""
    (tree / "b.py").write_text("y = 1\n")
    loud = subprocess.run(
        [program, "-v", "index", "sync", str(tree)], capture_output=True, text=True, check=True
    )
    assert "holdfast.index: published" in loud.stderr
    assert loud.stdout.startswith("Synced")


@pytest.mark.shows("CLI-BENCH")
def test_bench_measures_beside_something_plain_and_leaves_nothing(
    home: Path, tmp_path: Path, capsys: Capture
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    for n in range(3):
        (tree / f"file_{n}.py").write_text(f"def function_number_{n}(argument): return {n}\n" * 9)
    found = facts(capsys, "bench", str(tree), "--rounds", "3")
    rows = found["rows"]
    assert isinstance(rows, list)
    said = {row["what"].split()[0]: row for row in rows}
    assert set(said) == {"index", "sync,", "search", "locate", "read", "commits,"}
    assert said["read"]["bytes"] < said["read"]["baseline"] / 3
    assert not home.exists()
    assert main(["bench", str(tmp_path / "missing")]) == 2


FIRST = {
    "install": ["install", "--client", "cursor"],
    "index": ["index", "create", "TREE"],
    "locate": ["locate", "price", "--path", "TREE"],
    "clones": ["clones", "TREE"],
    "keys": ["keys", "new"],
    "memory": ["memory", "set", "a", "1"],
}


@pytest.mark.shows("CLI-DOCTOR")
@pytest.mark.parametrize("first", FIRST)
def test_whatever_comes_first_makes_a_home_that_doctor_finds_right(
    first: str, home: Path, tmp_path: Path, capsys: Capture
) -> None:
    (tmp_path / "tree").mkdir()
    (tmp_path / "tree" / "shop.py").write_text("def price():\n    return 7\n")
    before = os.umask(0o022)
    try:
        main([str(tmp_path / "tree") if word == "TREE" else word for word in FIRST[first]])
    finally:
        os.umask(before)
    assert home.stat().st_mode & 0o777 == 0o700
    assert main(["doctor"]) == 0, capsys.readouterr().out


@pytest.mark.shows("CLI-DOCTOR")
def test_a_home_that_can_never_be_made_is_wrong(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "file" / "home"))
    assert main(["doctor"]) == 1
    assert f"{tmp_path / 'file' / 'home'} cannot be created" in capsys.readouterr().out


@pytest.mark.shows("CLI-DOCTOR")
def test_a_fix_can_be_pasted_into_a_shell(
    tmp_path: Path, home: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    spaced = tmp_path / "a home"
    spaced.mkdir(mode=0o755)
    monkeypatch.setenv("HOLDFAST_HOME", str(spaced))
    assert main(["doctor"]) == 1
    assert f"fix: chmod 700 '{spaced}'" in capsys.readouterr().out


def test_the_package_can_be_started_by_its_name(home: Path) -> None:
    said = subprocess.run(
        [sys.executable, "-m", "holdfast", "memory", "get", "note:none"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert said.returncode == 1
    assert "note:none" in said.stderr


@pytest.mark.shows("CLI-ERRORS")
def test_an_index_build_ended_by_ctrl_c_is_over_at_once(
    home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: Capture
) -> None:
    tree = tmp_path / "tree"
    tree.mkdir()
    (tree / "shop.py").write_text("def price():\n    return 7\n")

    def interrupted(*_: object, **__: object) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as patched:
        patched.setattr("holdfast.index.building.lifecycle.build", interrupted)
        assert main(["index", "create", str(tree)]) == 130
    capsys.readouterr()
    assert main(["index", "status", str(tree)]) == 1
    said = capsys.readouterr().out
    assert "interrupted" in said
    assert "currently indexing" not in said
    assert main(["index", "create", str(tree)]) == 0


@pytest.mark.parametrize("shell", SHELLS)
def test_the_help_of_completion_can_be_copied(shell: str, capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["completion", "--help"])
    assert WHERE[shell] in capsys.readouterr().out.splitlines()


def test_the_help_names_what_every_command_obeys(capsys: Capture) -> None:
    with pytest.raises(SystemExit):
        main(["--help"])
    said = capsys.readouterr().out
    for word in ("HOLDFAST_HOME", "HOLDFAST_DATABASE_URL", "NO_COLOR", "exit codes: 0 ok"):
        assert word in said


@pytest.mark.parametrize(
    ("environment", "coloured"),
    [({}, True), ({"NO_COLOR": "1"}, False), ({"NO_COLOR": ""}, True), ({"TERM": "dumb"}, False)],
)
def test_colours_are_for_terminals_that_want_them(
    environment: dict[str, str], coloured: bool
) -> None:
    class Terminal(io.TextIOWrapper):
        def isatty(self) -> bool:
            return True

    bytes_sent = io.BytesIO()
    terminal = Terminal(bytes_sent, "utf-8")
    screen = prepared(terminal, {"TERM": "xterm", **environment})
    print(styled("x", BOLD, terminal), file=screen, flush=True)
    assert (bytes_sent.getvalue() != b"x\n") is coloured
    assert b"x" in bytes_sent.getvalue()
    assert styled("x", BOLD, io.StringIO()) == "x"


@pytest.mark.shows("CLI-HELP")
def test_every_command_is_listed_under_its_purpose() -> None:
    from holdfast.cli.main import COMMANDS, GROUPS, _listing

    names = [name for names in GROUPS.values() for name in names]
    assert len(names) == len(set(names))
    assert set(names) <= set(COMMANDS)
    text = _listing()
    assert all(f"\n  {name} " in text for name in COMMANDS)


@pytest.mark.shows("CLI-DOCTOR")
def test_doctor_calls_a_missing_extra_wrong_only_if_an_agent_needs_it(
    home: Path, capsys: Capture, monkeypatch: pytest.MonkeyPatch
) -> None:
    from importlib import util

    found = util.find_spec
    monkeypatch.setattr(util, "find_spec", lambda name: None if name == "mcp" else found(name))
    assert main(["doctor"]) == 0
    assert "mcp is not installed; agents cannot use the tools without it" in capsys.readouterr().out
    assert main(["install", "--client", "claude"]) == 0
    capsys.readouterr()
    assert any("mcp is not installed" in one for one in wrong(facts(capsys, "doctor")))
