"""What becomes of an edit of several files whose process ended before all were written.

Pure. Each file is in a state that is found by its text. Files that still have the text before the
edit, and files that have the text after it, are known exactly, so such an edit is finished or
dropped without a question. As soon as one file is neither, only its owner knows what should be in
it: nothing is written until they decide.

May ask about an edit that could have been finished. Never writes over a text that the edit does not
know.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from shlex import quote
from typing import Literal

from holdfast.text import counted


class State(Enum):
    """What a file is now, compared with an edit's texts before and after; the value says it."""

    BEFORE = "not written"
    AFTER = "written"
    CHANGED = "changed since"
    MISSING = "is gone"
    UNREADABLE = "cannot be read"


NAMED_MAX = 20
"""How many files a message names; `holdfast edit recover --list` names all."""

States = Mapping[str, State]
Choice = Literal["finish", "undo"]


def state_of(text: bytes, before: bytes, after: bytes) -> State:
    """The state of a file that has this text. One that the edit does not change is written."""
    if text == after:
        return State.AFTER
    return State.BEFORE if text == before else State.CHANGED


@dataclass(frozen=True, slots=True)
class Drop:
    """Nothing is left to do: every file was written, or none was."""

    written: bool


@dataclass(frozen=True, slots=True)
class Finish:
    """Write these files, which still have the text before the edit."""

    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Ask:
    """Write nothing: these files are neither as before the edit nor as after it."""

    unknown: tuple[str, ...]


Plan = Drop | Finish | Ask


def decide(states: States) -> Plan:
    """What to do about an interrupted edit without being asked."""
    unknown = _in(states, State.CHANGED, State.MISSING, State.UNREADABLE)
    if unknown:
        return Ask(unknown)
    left = _in(states, State.BEFORE)
    if not left:
        return Drop(written=True)
    return Drop(written=False) if len(left) == len(states) else Finish(left)


def choose(states: States, choice: Choice) -> tuple[str, ...] | None:
    """The files to write for a user's choice; None while a file cannot be read.

    Files that were changed by others are never among them.
    """
    if _in(states, State.UNREADABLE):
        return None
    return _in(states, State.BEFORE if choice == "finish" else State.AFTER)


def named(paths: tuple[str, ...]) -> str:
    """The names of files; of many the first ones."""
    more = len(paths) - NAMED_MAX
    return ", ".join(paths[:NAMED_MAX]) + (f" and {more:,} more" if more > 0 else "")


def _in(states: States, *wanted: State) -> tuple[str, ...]:
    return tuple(path for path, state in states.items() if state in wanted)


@dataclass(frozen=True, slots=True)
class Interrupted:
    """An edit whose process ended before it was done."""

    root: str
    states: States

    @property
    def plan(self) -> Plan:
        return decide(self.states)

    @property
    def hint(self) -> str:
        """How to go on."""
        command = f"holdfast edit recover --path {quote(self.root)}"
        if not isinstance(self.plan, Ask):
            return f"the next edit of this tree completes it, and so does: {command}"
        return (
            f"finish or undo it: {command} --finish (or --undo); "
            "files that were changed since stay as they are"
        )

    def __str__(self) -> str:
        """Which files are written, which are not, and which were changed; those are all named."""
        files = counted(len(self.states), "file")
        lines = [f"an edit of {files} in {self.root} was interrupted"]
        for state in State:
            paths = _in(self.states, state)
            if paths:
                known = state in (State.BEFORE, State.AFTER)
                names = named(paths) if known else ", ".join(paths)
                lines.append(f"{state.value}: {names}")
        return "; ".join(lines)


def outcome(interrupted: Interrupted) -> str:
    """What was done about an edit that needed no decision."""
    files = counted(len(interrupted.states), "file")
    said = f"an edit of {files} in {interrupted.root} was interrupted"
    match interrupted.plan:
        case Drop(written=True):
            return f"{said} after it had written all of them"
        case Drop():
            return f"{said} before it had written any of them; it was dropped"
        case Finish(paths):
            return f"{said}; it is finished now: wrote {named(paths)}"
        case Ask():
            return str(interrupted)
