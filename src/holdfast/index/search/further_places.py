"""One result for each file: its best place leads, and its other places are named below it.

A file that is all about the query has many places that match. Each as a result of its own took a
rank from a file that was not shown yet, and its text the tokens. As further places they are still
named, by symbol and lines.
"""

from __future__ import annotations

from collections.abc import Sequence

from holdfast.index.search.results import Group

FURTHER_MAX = 3
"""How many further places a result names. The next place of the file is a result again."""
FILES_MIN = 10
"""With fewer files than a page has results there is room for every place."""


def one_for_each_file(groups: Sequence[Group]) -> list[Group]:
    """Groups without further places of a file; these are attached to an earlier one of the file.

    Never drops a place, and depends on the whole ranking alone, so that all pages agree.
    """
    if len({(group.best.root, group.best.chunk.path) for group in groups}) < FILES_MIN:
        return list(groups)
    leaders: dict[tuple[str, str], Group] = {}
    kept = []
    for group in groups:
        file = (group.best.root, group.best.chunk.path)
        leader = leaders.get(file)
        if leader is not None and len(leader.further) < FURTHER_MAX:
            leader.further.append(group)
        else:
            leaders[file] = group
            kept.append(group)
    return kept
