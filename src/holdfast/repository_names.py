"""Names of repositories without a checkout: which tree a name is, and who may read it.

Names are not unique. A repository may be indexed at several refs, and one that was never pushed is
named by its directory alone.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from holdfast.errors import UsageError
from holdfast.files.git import protocol_of
from holdfast.repositories import GitTree
from holdfast.sync.server.access import Right, parse_acl, right_of


def readable(
    trees: Sequence[GitTree], lists: Mapping[str, object], principal: str
) -> list[GitTree]:
    """The trees that a principal may read, by the access lists of the settings.

    A list is named by the source of a repository or by its name. A name that different
    repositories have opens none of them.
    """
    unclear = names_of_several(trees)

    def rights_on(tree: GitTree) -> dict[str, Right] | None:
        by_name = None if tree.name in unclear else lists.get(tree.name)
        return parse_acl({"value": lists.get(tree.source, by_name)})

    return [
        tree
        for tree in trees
        if (rights := rights_on(tree)) is not None
        and right_of(rights, principal, tree.name) >= Right.READ
    ]


def path_of(trees: Iterable[GitTree], address: str) -> str | None:
    """The path that `NAME`, `NAME@REF` or `NAME/src/a.py` names; the longest name decides.

    A name without a ref is that of HEAD, or of the only ref. Raises UsageError if that leaves
    several: the first of them would be an answer about another repository or another commit.
    """
    found: dict[str, list[GitTree]] = {}
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


def names_of_several(trees: Sequence[GitTree]) -> frozenset[str]:
    """The names that different repositories have.

    One source is one repository, whatever the ref; so are addresses with one name, and sources
    whose histories begin with the same commit.
    """
    first: dict[str, GitTree] = {}
    return frozenset(
        tree.name for tree in trees if not _same(tree, first.setdefault(tree.name, tree))
    )


def _same(one: GitTree, other: GitTree) -> bool:
    if one.source == other.source:
        return True
    if None not in (protocol_of(one.source), protocol_of(other.source)):
        return True
    return one.first_commit is not None and one.first_commit == other.first_commit
