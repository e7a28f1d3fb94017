"""Access lists: one document of a space says who may do what, and every command is checked.

The document is `of:<space>`, on the default branch; its value maps principals, or `*` for everyone,
to READ, WRITE or OWNER, each including the one before. Until there is one, the space belongs to its
own key alone, and the first commit of an empty space must be that document (genesis). It changes
only as a whole: one `set`, by an owner, that leaves at least one named owner. So no patch can open
a space to strangers by accident, and no space is left without an owner.

    OFF      nothing is checked
    OBSERVE  everything is checked and counted, nothing is refused
    ENFORCE  what is not allowed is refused

Errs on the side of refusing: if the document is not a valid access list, only the space's own key
may write, and only to repair it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import Enum, IntEnum
from typing import Any

from holdfast.ids import MAIN, EntityId
from holdfast.store.model import Guard, Problem
from holdfast.sync.server.space import Space
from holdfast.sync.wire.errors import Forbidden

EVERYONE = "*"


class Right(IntEnum):
    """The rights of a principal; each includes the ones below it."""

    NONE = 0
    READ = 1
    WRITE = 2
    OWNER = 3


class AccessMode(Enum):
    """Whether the access list is enforced."""

    OFF = "off"
    OBSERVE = "observe"
    ENFORCE = "enforce"


def acl_id(space: str) -> EntityId:
    """The document that says who may do what."""
    return EntityId(f"of:{space}")


def parse_acl(document: Any) -> dict[str, Right] | None:
    """The rights by principal; None if the document is not an access list."""
    value = document.get("value") if isinstance(document, Mapping) else None
    if not isinstance(value, Mapping):
        return None
    rights: dict[str, Right] = {}
    for principal, word in value.items():
        if word not in ("READ", "WRITE", "OWNER") or not isinstance(principal, str):
            return None
        rights[principal] = Right[word]
    return rights


def has_named_owner(rights: Mapping[str, Right]) -> bool:
    return any(
        right is Right.OWNER and principal not in (EVERYONE, "")
        for principal, right in rights.items()
    )


def right_of(rights: Mapping[str, Right] | None, principal: str | None, space: str) -> Right:
    """The right of a principal; without a list the space's own key may do everything."""
    if rights is None:
        return Right.OWNER if principal == space else Right.NONE
    own = rights.get(principal, Right.NONE) if principal is not None else Right.NONE
    return max(own, rights.get(EVERYONE, Right.NONE))


def may_read(value: object, principal: str, name: str) -> bool:
    """Whether an access list from the settings lets a principal read what the list is about."""
    rights = parse_acl({"value": value})
    return rights is not None and right_of(rights, principal, name) >= Right.READ


class Access:
    """The current access list of one space."""

    def __init__(self, space: Space, mode: AccessMode) -> None:
        self.space, self.mode = space, mode
        self.would_refuse = 0
        """How often OBSERVE let something pass that ENFORCE would not."""
        self._rights: dict[str, Right] | None = None
        self._loaded = False

    def concerns(self, branch: str, ids: list[Any]) -> bool:
        """Whether a commit may have changed the list."""
        return self.mode is not AccessMode.OFF and branch == MAIN and acl_id(self.space.name) in ids

    def reload(self) -> None:
        """Read the list again, because it has changed."""
        self._loaded = False

    @property
    def rights(self) -> dict[str, Right] | None:
        if not self._loaded:
            document = self.space.views()(MAIN)(acl_id(self.space.name))
            self._rights = None if document is None else parse_acl(document.document)
            self._loaded = True
        return self._rights

    def may_read(self, principal: str | None) -> bool:
        if self.mode is not AccessMode.ENFORCE:
            return True
        return right_of(self.rights, principal, self.space.name) >= Right.READ

    def require_commit(self, principal: str | None, commit: Mapping[str, Any]) -> Guard | None:
        """Refuse a commit that its author may not make; returns the guard for landing it."""
        name, touches = self.space.name, _touches(commit, self.space.name)
        self._enforce(_commit_problem(self.rights, principal, commit, name))
        if not touches and self.rights is None and self.space.seq == 0:
            self._enforce(("the first commit of a space must set its access list", ""))
        return self._guard(lambda rights: _commit_problem(rights, principal, commit, name))

    def require(self, principal: str | None, right: Right) -> None:
        """Refuse what needs a right that a principal does not have."""
        if self.mode is not AccessMode.OFF:
            self._enforce(_lacking(self.rights, principal, self.space.name, right))

    def guard(self, principal: str | None, right: Right) -> Guard | None:
        """The guard under which a write that needs this right may land."""
        name = self.space.name
        return self._guard(lambda rights: _lacking(rights, principal, name, right))

    def _guard(self, check: Callable[[Mapping[str, Right] | None], Problem | None]) -> Guard | None:
        """The same check by the list as it is when the write lands.

        Another process may have changed it by then, unnoticed. Called in the store's thread.
        """
        if self.mode is not AccessMode.ENFORCE:
            return None
        return Guard(
            acl_id(self.space.name),
            self.space.seq,
            lambda document: check(None if document is None else parse_acl(document)),
        )

    def _enforce(self, problem: Problem | None) -> None:
        if problem is None:
            return
        if self.mode is AccessMode.ENFORCE:
            raise Forbidden(*problem)
        self.would_refuse += 1


def _touches(commit: Mapping[str, Any], space: str) -> bool:
    """Whether a commit writes the access list."""
    operations, id = commit.get("operations"), acl_id(space)
    listed = operations if isinstance(operations, list) else []
    return any(isinstance(each, Mapping) and each.get("id") == id for each in listed)


def _commit_problem(
    rights: Mapping[str, Right] | None, principal: str | None, commit: Mapping[str, Any], space: str
) -> Problem | None:
    """Why a principal may not make this commit; None if they may."""
    if not _touches(commit, space):
        return _lacking(rights, principal, space, Right.WRITE)
    problem = _mutation_problem(commit["operations"], commit.get("branch", MAIN))
    lacking = _lacking(rights, principal, space, Right.OWNER)
    return lacking or (None if problem is None else (problem, ""))


def _lacking(
    rights: Mapping[str, Right] | None, principal: str | None, space: str, right: Right
) -> Problem | None:
    actual = right_of(rights, principal, space)
    if actual >= right:
        return None
    return (
        f"{principal or 'an unnamed peer'} has {actual.name} on {space}, "
        f"and this needs {right.name}",
        f"an owner can grant it in {acl_id(space)}",
    )


def _mutation_problem(operations: list[Any], branch: Any) -> str | None:
    """Why a commit may not change the access list as it does; None if it may."""
    if len(operations) != 1 or operations[0].get("op") != "set":
        return "an access list is changed by a commit with one set and nothing else"
    if branch != MAIN:
        return "an access list is changed on the default branch only"
    rights = parse_acl(operations[0].get("value"))
    if rights is None:
        return "an access list maps principals to READ, WRITE or OWNER"
    if not has_named_owner(rights):
        return "an access list needs a named owner"
    return None
