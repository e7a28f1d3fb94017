"""One result per file: its best place is the result, and its other places are listed below it.

A file that is all about the query has many places that match. As separate results they would take
ranks from files that are not shown yet, and tokens for their text. As further places they are still
listed, by symbol and lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.index.search.results import Group

FURTHER_MAX = 3
"""How many further places a result has, overloads not counted; the next one is a result again."""
FILES_MIN = 10
"""With fewer files than this, a page has room for every place."""


def one_for_each_file(groups: Sequence[Group]) -> list[Group]:
    """Groups with the further places of a file attached to an earlier group of that file.

    Never drops a place, and depends on the whole ranking alone, so that all pages agree.
    """
    if len({(group.best.root, group.best.chunk.path) for group in groups}) < FILES_MIN:
        return list(groups)
    leaders: dict[tuple[str, str], Group] = {}
    kept = []
    for group in groups:
        file = (group.best.root, group.best.chunk.path)
        leader = leaders.get(file)
        if leader is not None and (
            len(leader.distinct_further) < FURTHER_MAX or _is_overload(leader, group)
        ):
            leader.further.append(group)
        else:
            leaders[file] = group
            kept.append(group)
    return kept


def _is_overload(leader: Group, group: Group) -> bool:
    """Whether a place has the name of the leader or of one of its further places."""
    name = group.best.chunk.label
    return name is not None and name in {g.best.chunk.label for g in (leader, *leader.further)}
