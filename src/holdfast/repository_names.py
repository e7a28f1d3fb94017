"""Which repository without a checkout a name is that of, and which ones a reader may see. Pure.

Names come from remotes and directories, so different repositories may share one. A name that leaves
open which of them is meant is refused, and opens none.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Protocol, TypeVar

from holdfast.errors import UsageError
from holdfast.files.git import protocol_of
from holdfast.files.remotes import ssh_user


class NamedTree(Protocol):
    """What is known of a tree besides its files."""

    @property
    def source(self) -> str: ...
    @property
    def ref(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def root(self) -> str: ...
    @property
    def first_commit(self) -> str | None: ...


T = TypeVar("T", bound=NamedTree)


def readable(
    trees: Sequence[T],
    lists: Mapping[str, object],
    may_read: Callable[[object, str], bool],
    unclear: frozenset[str] = frozenset(),
) -> list[T]:
    """The trees that `may_read` opens, by the access lists of the settings.

    A list is named by the source of a repository or by its name. A name that different
    repositories have opens none of them, nor does one in `unclear`, which others may have.
    """
    unclear |= names_of_several(trees)

    def list_of(tree: NamedTree) -> object:
        return lists.get(tree.source, None if tree.name in unclear else lists.get(tree.name))

    return [tree for tree in trees if may_read(list_of(tree), tree.name)]


def path_of(trees: Iterable[NamedTree], address: str) -> str | None:
    """The path that `NAME`, `NAME@REF` or `NAME/src/a.py` names; the longest name decides.

    A name without a ref is that of HEAD, or of the only ref. Raises UsageError if that leaves
    several: the first of them would be an answer about another repository or another commit.
    """
    found: dict[str, list[NamedTree]] = {}
    for tree in trees:
        for name in (tree.name, f"{tree.name}@{tree.ref}"):
            if address == name or address.startswith(f"{name}/"):
                found.setdefault(name, []).append(tree)
    if not found:
        return None
    name = max(found, key=len)
    candidates = found[name]
    if len(candidates) > 1:
        candidates = [tree for tree in candidates if tree.ref == "HEAD"] or candidates
    if len(candidates) > 1:
        listed = ", ".join(f"{tree.name}@{tree.ref} at {tree.root}" for tree in candidates)
        raise UsageError(
            f"{name} is the name of {len(candidates)} indexed trees",
            f"add the ref to the name, or use the directory: {listed}",
        )
    return candidates[0].root + address.removeprefix(name)


def names_of_several(trees: Sequence[NamedTree]) -> frozenset[str]:
    """The names that different repositories have.

    One source is one repository, whatever the ref; so are addresses with one name, and sources
    whose histories begin with the same commit.
    """
    of_name: dict[str, dict[str, NamedTree]] = {}
    for tree in trees:
        of_name.setdefault(tree.name, {}).setdefault(tree.source, tree)
    return frozenset(
        name
        for name, by_source in of_name.items()
        if not all(_same(one, other) for one, other in combinations(by_source.values(), 2))
    )


def _same(one: NamedTree, other: NamedTree) -> bool:
    if one.source == other.source:
        return True
    if None not in (protocol_of(one.source), protocol_of(other.source)):
        # Over ssh, a path may be in the home of the user: the same name, another repository.
        users = {ssh_user(one.source), ssh_user(other.source)}
        return None in users or len(users) == 1
    return one.first_commit is not None and one.first_commit == other.first_commit
