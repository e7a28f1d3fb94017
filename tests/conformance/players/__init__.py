"""One player per folder of cases.

A player is a module with `cases(folder)`, which yields an id and a function for each case found in
the folder's files. Calling the function plays the case and raises if an expectation does not hold.
A step or a kind that a player does not know is an error, never a skip.
"""

from collections.abc import Callable, Iterator
from importlib import import_module
from pathlib import Path

Case = tuple[str, Callable[[], None]]

PLAYERS: dict[str, str] = {
    "reading": "reading",
    "reading-diff": "reading_diff",
    "sequence": "sequence",
    "store": "store",
}
"""Folder name -> the module that plays it."""


def cases(directory: Path) -> Iterator[Case]:
    """Every case below `directory`, by folder name."""
    for folder in sorted(path for path in directory.iterdir() if path.is_dir()):
        if folder.name not in PLAYERS:
            yield f"{folder.name}/unknown-folder", _unknown(folder)
            continue
        player = import_module(f"tests.conformance.players.{PLAYERS[folder.name]}")
        for name, play in player.cases(folder):
            yield f"{folder.name}/{name}", play


def _unknown(folder: Path) -> Callable[[], None]:
    def fail() -> None:
        raise AssertionError(f"no player for the folder {folder.name!r}; known: {sorted(PLAYERS)}")

    return fail
