"""Which files count as being edited when a search is ranked."""

from __future__ import annotations

from collections.abc import Iterable

from holdfast.files.edited_files import Edited
from holdfast.index.generations.marker import Marker
from holdfast.index.shared.team_marker import team_commit


def being_edited(edited: Edited | None, changed: Iterable[str], marker: Marker | None) -> Edited:
    """The files that count as being edited.

    Those that git reports, and those changed since the index was made: git may not have reported
    them yet. A team's generation may be of an earlier commit, and files that differ from it are
    mostly committed; then git alone decides, as it does for an index of the same tree.
    """
    if edited is None:
        return frozenset()
    return edited if team_commit(marker) is not None else edited.union(changed)
