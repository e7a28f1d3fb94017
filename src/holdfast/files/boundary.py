"""The workspace boundary: which files a tool may read on behalf of an agent.

An agent may be misled by what it reads, so it is not trusted with everything its user may read.
Tools read inside *roots*: the working directory of the client, directories that the client
declares, tracked trees, and what the user allows in the settings. Real paths decide. Some places
are never read, whatever the roots are:

    /proc, /sys, /dev                     processes and devices, not files of a workspace
    our own keys, tokens and sessions     they belong to every agent of the user
    the home of another user              unless a root lies inside it
    another user's files                  below a root that several users share

A root that is as wide as a home directory counts only if the user named it in the settings. So a
client that was started in the home directory reads tracked trees and declared roots below it.

Everything here is a decision about values; `workspace.py` asks the file system.
"""

from __future__ import annotations

import os
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from holdfast.errors import HoldfastError
from holdfast.files.paths import within

Source = Literal["working directory", "declared root", "tracked tree", "setting", "repository"]
Reason = Literal["outside", "link", "whole_home", "system", "private", "other_user"]

SYSTEM = ("/proc", "/sys", "/dev")
"""Never read: they show processes, the kernel and devices."""

HOME_PARENTS = ("/home", "/Users")
"""Directories whose members are home directories, also of users that are not listed anywhere."""

SHARED_FOLDER = "/Users/Shared"
ROOTS_SHOWN = 4
SYSTEM_USER = 0


@dataclass(frozen=True, slots=True)
class Root:
    """A directory, by its real path, that tools may read, and why they may."""

    path: str
    source: Source
    shared: bool = False
    """Whether every user may put files there, as in `/tmp`."""

    def __str__(self) -> str:
        return f"the {self.source} {self.path}"


@dataclass(frozen=True, slots=True)
class Machine:
    """What the decision needs to know about the machine. All paths are real paths."""

    user: int
    homes: tuple[str, ...]
    """The home directories of this user: by the environment and by the system."""
    other_homes: tuple[str, ...] = ()
    not_homes: tuple[str, ...] = ()
    """Members of `/home` that belong to this user and are not the home of any."""
    private: tuple[str, ...] = ()
    """Files and directories of Holdfast that no tool shows."""
    settings: str = "settings.toml"
    """The file in which the user allows more."""

    def is_wide(self, path: str) -> bool:
        """Whether a directory is the root directory, a home directory or above one."""
        everyone = (*self.homes, *self.other_homes, *HOME_PARENTS)
        return (
            path == "/" or any(within(path, home) for home in everyone) or self._home(path) == path
        )

    def other_home(self, path: str) -> str | None:
        """The home directory of another user that contains a path."""
        folded = _folded(path)
        for home in self.other_homes:
            if within(_folded(home), folded):
                return home
        member = self._home(path)
        if member is None or any(_related(_folded(member), _folded(own)) for own in self.homes):
            return None
        return member

    def _home(self, path: str) -> str | None:
        """The member of `/home` or `/Users` that contains a path."""
        for parent in HOME_PARENTS:
            if within(_folded(parent), _folded(path)) and len(path) > len(parent):
                home = f"{parent}/{path[len(parent) + 1 :].split('/', 1)[0]}"
                return None if home in (SHARED_FOLDER, *self.not_homes) else home
        return None


@dataclass(frozen=True, slots=True)
class Allowed:
    """The file may be read, because of this root."""

    real: str
    root: Root


@dataclass(frozen=True, slots=True)
class Refused:
    """The file may not be read."""

    path: str
    """As the caller named it."""
    reason: Reason
    message: str
    hint: str


class OutsideWorkspace(HoldfastError):
    """Raised where a refused path must not be overlooked."""

    def __init__(self, refused: Refused) -> None:
        super().__init__(refused.message)
        self.refused, self.hint = refused, refused.hint


class Boundary:
    """Roots, and what they admit."""

    __slots__ = ("dropped", "machine", "roots")

    def __init__(self, roots: Iterable[Root], machine: Machine) -> None:
        self.machine = machine
        narrow: list[Root] = []
        dropped: list[Root] = []
        for root in dict.fromkeys(roots):
            wide = root.source != "setting" and machine.is_wide(root.path)
            (dropped if wide else narrow).append(root)
        self.roots, self.dropped = tuple(narrow), tuple(dropped)

    def admit(self, named: str, real: str, owner: int | None = None) -> Allowed | Refused:
        """Decide about a path: as it was named, its real path, and its owner if that is known."""
        spelled = os.path.normpath(named)
        if any(within(place, _folded(path)) for place in SYSTEM for path in (spelled, real)):
            return self._never(named, "system", "/proc, /sys and /dev are not files of a workspace")
        if any(within(_folded(place), _folded(real)) for place in self.machine.private):
            return self._never(named, "private", "Holdfast keeps its own state there")
        around = [root for root in self.roots if within(root.path, real)]
        foreign = self.machine.other_home(real)
        if foreign is not None:
            around = [r for r in around if within(foreign, r.path) and r.path != foreign]
            if not around:
                return self._never(named, "other_user", "it is in the home of another user")
        for root in around:
            mixed = root.shared or self.machine.is_wide(root.path)
            if not mixed or owner in (None, SYSTEM_USER, self.machine.user):
                return Allowed(real, root)
        if around:
            return self._never(named, "other_user", f"user {owner} owns it, in a shared directory")
        return self._outside(named, spelled, real)

    def _outside(self, named: str, spelled: str, real: str) -> Refused:
        reason: Reason = "outside"
        what, allow = "", spelled
        if any(within(root.path, spelled) for root in self.roots):
            reason, what, allow = "link", f"a link to {real}, ", real
        elif real == "/":
            reason, what = "whole_home", "the root directory, "
        elif self.machine.is_wide(real):
            reason, what = "whole_home", "a whole home directory or above one, "
        message = f"{named} is {what}outside the workspace ({self})"
        setting = f'[workspace] allow = ["{allow}"]'
        hint = f"if the user agrees, they allow it in {self.machine.settings}: {setting}"
        return Refused(named, reason, message, hint)

    def _never(self, named: str, reason: Reason, why: str) -> Refused:
        hint = "no setting allows it; name a file of the workspace"
        if reason == "other_user":
            setting = f"[workspace] allow in {self.machine.settings}"
            hint = f"a directory of one's own below it can be allowed: {setting}"
        return Refused(named, reason, f"{named} is never read: {why}", hint)

    def __str__(self) -> str:
        names = [str(root) for root in self.roots[:ROOTS_SHOWN]]
        if len(self.roots) > ROOTS_SHOWN:
            names.append(f"{len(self.roots) - ROOTS_SHOWN} more")
        text = ", ".join(names) or "empty: no tree is tracked and no root is declared"
        for root in self.dropped:
            text += f"; {root} does not count, because it is a home directory or above one"
        return text


def _related(one: str, other: str) -> bool:
    return within(one, other) or within(other, one)


def _folded(path: str) -> str:
    """For comparing places that must be found in any spelling a file system may accept."""
    return path.casefold()
