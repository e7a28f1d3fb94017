"""Ignore rules agree with git itself, on hand-picked cases and on random ones."""

import random
import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files import disk, ignore_files, names
from holdfast.files.ignore import Rules, RuleStack, parse_rule
from tests.scale import examples, seeds

PATHS = (
    "a", "a/b", "a/b/c", "b", "b/a", "build/x.py", "src/build/x.py", "x.py", "x.pyc", "src/x.pyc",
    "src/a b.py", "foo/bar/baz", "foo/baz", "bar/foo", "#x", "!x", "a-b", "z]z", "zz", "doc.txt",
    "doc/frotz/a", "a/doc/frotz/b", ".hidden", "src/.env", "abc", "abd", "aXc",
    "src/deep/er/file.js",
)  # fmt: skip


def ours(lines: list[str], path: str) -> bool:
    stack = RuleStack().with_rules(Rules(lines))
    parts = path.split("/")
    for depth in range(1, len(parts) + 1):
        part = "/".join(parts[:depth])
        if stack.excludes(part, parts[depth - 1], depth < len(parts)):
            return True
    return False


@pytest.fixture(scope="session")
def repository(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("ignore")
    subprocess.run(["git", "init", "-q", root], check=True)
    for path in PATHS:
        if not (root / path).is_dir():
            (root / path).parent.mkdir(parents=True, exist_ok=True) if not any(
                (root / p).is_file() for p in Path(path).parents if str(p) != "."
            ) else None
            try:
                (root / path).touch()
            except (IsADirectoryError, NotADirectoryError, FileNotFoundError):
                continue
    return root


def files_of(root: Path) -> list[str]:
    return sorted(
        p.relative_to(root).as_posix()
        for p in root.rglob("*")
        if p.is_file() and ".git" not in p.relative_to(root).parts and p.name != ".gitignore"
    )


def git_ignores(root: Path, lines: list[str], paths: list[str]) -> set[str]:
    (root / ".gitignore").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run = subprocess.run(
        ["git", "-C", str(root), "check-ignore", "-z", "--stdin", "--no-index"],
        input="\0".join(paths).encode(), capture_output=True, check=False,
    )  # fmt: skip
    return {path.decode() for path in run.stdout.split(b"\0") if path}


CASES = [
    ["*.pyc"], ["build/"], ["/build"], ["/build/"], ["build"], ["a/b"], ["/a/b"], ["**/build"],
    ["src/**"], ["**/x.py"], ["src/**/file.js"], ["foo/*"], ["foo/**/baz"], ["*.py", "!x.py"],
    ["*", "!*.py", "!*/"], ["*", "!x.py"], ["build/", "!build/x.py"], ["\\#x"], ["\\!x"], ["#x"],
    ["!x"], ["a[-]b"], ["z[]]z"], ["z[!a]z"], ["ab[cd]"], ["a?c"], ["a[!/]b"], ["doc/frotz/"],
    ["doc.txt   "], ["doc.txt\\ "], ["*b"], [".*"], ["**"], ["*/"], ["a/**"], ["/*", "!/src"],
    ["abc", "!abc", "abc"], ["[[:alpha:]]bc"], ["[a-"], ["x.py\\"], ["/"], ["a//b"], ["a/"],
    ["**/"], ["**foo"], ["foo**"], ["a/**/b"], ["src/deep/"], ["!*", "x.py"], ["b/*", "!b/a"],
    ["[b-a]"], ["[!b-a]"],
]  # fmt: skip


@pytest.mark.shows("FILES-IGNORE-GIT")
@pytest.mark.parametrize("lines", CASES, ids=" ".join)
def test_rules_leave_out_what_git_leaves_out(repository: Path, lines: list[str]) -> None:
    paths = files_of(repository)
    assert {p for p in paths if ours(lines, p)} == git_ignores(repository, lines, paths)


PIECES = ["a", "b", "*", "**", "/", "?", "!", "x.py", "build", "src", "[ab]", "foo", "\\", ".", "c"]


@pytest.mark.shows("FILES-IGNORE-GIT")
@settings(max_examples=examples(150))
@given(
    st.lists(
        st.lists(st.sampled_from(PIECES), min_size=1, max_size=5).map("".join),
        min_size=1,
        max_size=4,
    )
)
def test_random_rules_leave_out_what_git_leaves_out(repository: Path, lines: list[str]) -> None:
    paths = files_of(repository)
    assert {p for p in paths if ours(lines, p)} == git_ignores(repository, lines, paths)


@pytest.mark.parametrize("line", ["", "   ", "# note", "/", "!"])
def test_a_line_without_a_pattern_states_no_rule(line: str) -> None:
    assert parse_rule(line) is None


ODD = [
    "a", "b", "foo", "*", "**", "***", "?", "??", "[!a]", "[a-c]", "[[:alpha:]]", "\\*", "\\ ", " ",
    "é", "x.py", "*.py", "#x", "\\#x", "[]a]", "[a-", "..", "\\",
]  # fmt: skip
ODD_NAMES = ["a", "b", "foo", "x.py", "#x", "!y", "*", "a b", "é", "]", " a", "b ", "A", "n\nl"]


def plant(rng: random.Random, folder: Path, depth: int = 0) -> None:
    for _ in range(rng.randint(1, 4)):
        path = folder / rng.choice(ODD_NAMES)
        if path.exists():
            continue
        if depth < 3 and rng.random() < 0.5:
            path.mkdir()
            plant(rng, path, depth + 1)
        else:
            path.touch()
    if rng.random() < 0.5:
        end = rng.choice(["\n", "\n", "\r\n", "\r\r\n"])
        rules = rng.choice(["", "", "\ufeff"]) + end.join(odd_rule(rng) for _ in range(3)) + end
        (folder / ".gitignore").write_bytes(rules.encode())


def odd_rule(rng: random.Random) -> str:
    parts = ["".join(rng.choices(ODD, k=rng.randint(1, 2))) for _ in range(rng.randint(1, 3))]
    begin, end = rng.choice(["", "", "/", "!", "!/"]), rng.choice(["", "", "/", " ", "\t"])
    return begin + "/".join(parts) + end


@pytest.mark.shows("FILES-IGNORE-GIT")
@pytest.mark.parametrize("seed", seeds(40))
def test_a_random_tree_holds_what_git_lists(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, seed: int
) -> None:
    """Names beyond ASCII were matched by letters and not by bytes, three stars were one, a byte
    order mark was part of the first rule, and a lone carriage return ended a line."""
    monkeypatch.setattr(ignore_files, "_DEFAULTS", Rules([]))
    monkeypatch.setattr(ignore_files, "_OUTPUTS", {ruled: Rules([]) for ruled in (False, True)})
    monkeypatch.setattr(
        names,
        "_left_out",
        lambda name, path, extensions, rules: (
            "ignored" if rules.excludes(path, name, False) else None
        ),
    )
    subprocess.run(["git", "init", "-q", tmp_path], check=True)
    plant(random.Random(seed), tmp_path)
    asked = ["-c", "core.excludesFile=/dev/null", "-c", "core.ignoreCase=false"]
    listed = subprocess.run(
        ["git", "-C", tmp_path, *asked, "ls-files", "-z", "--others", "--exclude-standard"],
        capture_output=True, check=True,
    ).stdout.decode()  # fmt: skip
    assert set(disk.walk(str(tmp_path)).stats) == {path for path in listed.split("\0") if path}


@pytest.mark.parametrize("name", ignore_files.IGNORE_FILES)
@pytest.mark.parametrize("below", ["", "inner/"])
def test_a_directory_with_the_name_of_an_ignore_file_states_no_rule(
    tmp_path: Path, name: str, below: str
) -> None:
    """The whole tree could not be indexed."""
    (tmp_path / below / name).mkdir(parents=True)
    (tmp_path / below / "a.py").write_text("def a(): ...\n")
    (tmp_path / below / name / "b.py").write_text("def b(): ...\n")
    assert f"{below}a.py" in disk.walk(str(tmp_path)).stats
