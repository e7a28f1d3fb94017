"""The ignore files of a tree, and the rules that hold above it."""

from __future__ import annotations

import os
from functools import lru_cache
from pathlib import Path

from holdfast.files.git_directory import find_git
from holdfast.files.ignore import Rules, RuleStack
from holdfast.files.policy import DEFAULT_EXCLUSIONS, Outputs, Policy
from holdfast.files.regular import read_regular

IGNORE_FILES = (".gitignore", ".holdfastignore")

RULES_BYTES_MAX = 512 * 1024
"""Of a longer file of rules, what follows is not used."""

_DEFAULTS = Rules(DEFAULT_EXCLUSIONS)
_OUTPUTS = {ruled: Outputs(ruled) for ruled in (False, True)}


def with_ignore_files(rules: RuleStack, present: dict[str, str], prefix: str) -> RuleStack:
    """The rules with those of a directory's own ignore files, given by name."""
    for name in IGNORE_FILES:
        if name in present:
            rules = rules.with_rules(_rules(present[name]), drop=len(prefix))
    return rules


def _rules(path: str) -> Rules:
    """The rules of an ignore file; the same object for the same lines."""
    data = read_regular(path, RULES_BYTES_MAX)  # git does not follow a linked .gitignore either.
    if data is None:
        return _of_lines(())
    if len(data) == RULES_BYTES_MAX:
        data = data[: data.rfind(b"\n") + 1]  # the last rule may be cut off
    text = data.decode("utf-8", "surrogateescape")
    return _of_lines(tuple(text.removeprefix("\ufeff").split("\n")))


@lru_cache(maxsize=512)
def _of_lines(lines: tuple[str, ...]) -> Rules:
    return Rules(lines)


def top_rules(root: str, policy: Policy) -> RuleStack:
    """The rules that hold before the tree's own: defaults, the caller's, and those of git above."""
    repository = find_git(Path(root))
    top, git = (None, None) if repository is None else (str(repository.top), repository.common)
    ruled = any(os.path.isfile(os.path.join(place, ".gitignore")) for place in (root, top or root))
    user = _of_lines(policy.ignore_patterns)
    rules = RuleStack(user=user).with_rules(_OUTPUTS[ruled]).with_rules(_DEFAULTS)
    if git is not None:
        assert top is not None
        root = os.path.realpath(root)
        inside = os.path.relpath(root, top)
        prefix = "" if inside == "." else f"{inside}/"
        exclude = git / "info" / "exclude"
        if exclude.is_file():
            rules = rules.with_rules(_rules(str(exclude)), prefix=prefix)
        above = Path(top)
        for part in () if inside == "." else (".", *Path(inside).parts[:-1]):
            above = above / part
            down = os.path.relpath(root, above)
            for name in IGNORE_FILES:
                if (above / name).is_file():
                    rules = rules.with_rules(_rules(str(above / name)), prefix=f"{down}/")
    return rules.with_rules(user)
