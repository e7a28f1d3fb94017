"""What the marker of a root says about the team's generation that it uses.

Apart from the rest, because every search asks it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.text import counted

if TYPE_CHECKING:
    from holdfast.index.generations.marker import Marker

TEAM_RUN = "team "
"""The prefix of the run id in the marker of a root that uses a team's generation."""


def team_commit(marker: Marker | None) -> str | None:
    """The commit of the team's generation that a root uses; None for its own generation."""
    if marker is None or not marker.run_id.startswith(TEAM_RUN):
        return None
    return marker.run_id.removeprefix(TEAM_RUN)


def differ(files: int) -> str:
    """A phrase for how many files of a tree differ from a generation."""
    if files == 0:
        return "no file differs here"
    return f"{counted(files, 'file')} {'differs' if files == 1 else 'differ'} here"
