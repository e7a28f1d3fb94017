"""Ignore rules agree with git itself, on hand-picked cases and on random ones."""

import subprocess
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.files.ignore import Rules, RuleStack, parse_rule

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
]  # fmt: skip


@pytest.mark.shows("FILES-IGNORE-GIT")
@pytest.mark.parametrize("lines", CASES, ids=" ".join)
def test_rules_leave_out_what_git_leaves_out(repository: Path, lines: list[str]) -> None:
    paths = files_of(repository)
    assert {p for p in paths if ours(lines, p)} == git_ignores(repository, lines, paths)


PIECES = ["a", "b", "*", "**", "/", "?", "!", "x.py", "build", "src", "[ab]", "foo", "\\", ".", "c"]


@pytest.mark.shows("FILES-IGNORE-GIT")
@settings(max_examples=150)
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
