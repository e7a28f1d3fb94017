"""The exceptions of the store.

    StoreError
    ├── InvalidValue              a value, or a text, that no document can hold
    │   └── MalformedText         a text that is not JSON at all
    ├── PatchError                a patch that cannot be applied to this document
    │   └── MisplacedPatch        a patch that would write beside the value of a document
    ├── TransactionError          a commit that can never land as it is
    │   ├── UnknownBranch, InactiveBranch
    │   └── CommitTooLarge
    ├── ConflictError             a read the commit depends on no longer holds; has the `Conflict`s
    ├── OutOfRange                a read at a seq the branch does not have
    ├── UnknownSpace              a space that does not exist, opened for reading
    ├── QueryError                a graph query that is invalid or passes a limit
    ├── BranchError               a branch that cannot be created, deleted or merged
    │   └── MergeClash            a merge that needs resolutions; has the `Clash`es
    ├── InvalidExport             an export that cannot be imported
    ├── InvalidBlob               bytes that do not match their hash
    ├── AuthorizationError        the caller did not prove its identity
    ├── ProtocolError             the caller broke the protocol; sending it again cannot help
    │   ├── ReplayMismatch        one localSeq for two different commits
    │   ├── TextRemoved           a commit sent again whose text retention removed
    │   ├── UnsafeSubject         a space id that could leave its directory
    │   └── InvalidIdentity       a DID that is not an Ed25519 key
    ├── DamagedStore              the database contradicts itself
    ├── StoreBusy, StoreUnreachable, StoreClosed
    ├── StoreFailed               the database refused a statement; nothing was written
    │   └── KeyTaken              a row has this key already
    └── IdentityUnavailable       signatures need an optional package that is not installed

An error that is sent to a peer has a `name`: the word the peer sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from holdfast.errors import StoreError
from holdfast.extras import install_command

if TYPE_CHECKING:
    from holdfast.ids import Seq

Step = str | int
"""One step into a value: a member's name or an element's index."""


class ConflictFacts(Protocol):
    """The members of `store.conflict.Conflict` (which imports this module) that an error uses."""

    @property
    def id(self) -> str: ...
    @property
    def seq(self) -> Seq | None: ...
    def explanation(self) -> str: ...
    def to_wire(self) -> dict[str, Any]: ...


class ClashFacts(Protocol):
    """The members of `store.merge.Clash` (which imports this module) that an error uses."""

    @property
    def id(self) -> str: ...
    def to_wire(self) -> dict[str, Any]: ...


SENTENCE_MAX = 600
"""The longest message; what it quotes may be of any length."""


def one_line(text: str) -> str:
    """A message on one line, printable and of limited length, whatever it quotes."""
    if len(text) > SENTENCE_MAX:
        half = SENTENCE_MAX // 2
        text = f"{text[:half]} … {text[-half:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _MessageError(StoreError):
    """An error with a one-line message and a hint."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(one_line(message))
        self.hint = one_line(hint) if hint else type(self).hint


class PatchError(_MessageError):
    """Raised when a patch cannot be applied; the document stays as it was."""

    name = "TransactionError"


class MisplacedPatch(PatchError):
    """Raised when a patch would create a member beside the value of a document."""

    def __init__(self, id: str, path: str) -> None:
        super().__init__(
            f"{path} is outside the value of {id}; did you mean /value{path}?",
            hint=f"use /value{path}; to add a member beside value, set the whole document",
        )
        self.id, self.path = id, path


class TransactionError(_MessageError):
    """Raised when a commit can never land as it is."""

    name = "TransactionError"


class NotPermitted(_MessageError):
    """Raised when the document that guards a write does not allow it by the time it lands."""

    name = "AuthorizationError"


class DamagedStore(_MessageError):
    """Raised when a database contradicts itself; nothing was changed."""

    name = "TransactionError"

    def __init__(self, message: str, hint: str = "run: holdfast memory verify") -> None:
        super().__init__(message)
        self.hint = hint


class StoreFailed(_MessageError):
    """Raised when the database could not run a statement: a full disk, a refused row.

    The transaction is rolled back, and the store can be used again.
    """

    name = "TransactionError"


class KeyTaken(StoreFailed):
    """Raised when a row was inserted under a key that another row has."""


class StoreBusy(_MessageError):
    """Raised when another process kept the space locked for too long."""

    name = "TransactionError"
    hint = "another process is writing; try again"

    def __init__(self, waited_ms: int) -> None:
        super().__init__(f"the space stayed locked for {waited_ms} ms")
        self.waited_ms = waited_ms


class UnknownSpace(_MessageError):
    """Raised when opening a space that does not exist, without creating it.

    Sent only to peers that ask for existing spaces.
    """

    name = "UnknownSpaceError"

    def __init__(self, space: str, spaces: Sequence[str]) -> None:
        super().__init__(f"there is no space {space}", hint=_known_spaces(space, spaces))
        self.space, self.known = space, tuple(spaces)


SPACES_NAMED = 6
"""How many spaces a hint names."""


def _known_spaces(space: str, spaces: Sequence[str]) -> str:
    """The existing spaces, those with a similar name first."""
    if not spaces:
        return "there are no spaces yet; the first write creates one"
    from difflib import get_close_matches

    alike = get_close_matches(space, spaces, n=SPACES_NAMED)
    names = [*alike, *(name for name in spaces if name not in alike)][:SPACES_NAMED]
    more = f" and {len(spaces) - len(names)} more" if len(spaces) > len(names) else ""
    return f"there are: {', '.join(names)}{more}"


class UnknownBranch(TransactionError):
    """Raised when a branch was never created."""

    def __init__(self, branch: str) -> None:
        super().__init__(f"unknown branch: {branch}", hint="run: holdfast memory branch list")
        self.branch = branch


class InactiveBranch(TransactionError):
    """Raised when writing to a deleted branch. It can still be read and forked."""

    def __init__(self, branch: str) -> None:
        super().__init__(f"branch is not active: {branch}", hint="fork it and write to the fork")
        self.branch = branch


class CommitTooLarge(TransactionError):
    """Raised when a commit is longer than the space accepts."""

    def __init__(self, size: int, most: int) -> None:
        super().__init__(
            f"the commit is {size} bytes long; this space accepts at most {most}",
            hint="split it, or store large data as blobs",
        )
        self.size, self.most = size, most


class ProtocolError(_MessageError):
    """Raised when a peer broke the protocol; sending the same message again cannot help."""

    name = "ProtocolError"


class ReplayMismatch(ProtocolError):
    """Raised when a session uses one localSeq for two different commits."""

    def __init__(self, session: str, local_seq: int) -> None:
        super().__init__(
            f"commit replay mismatch for session {session} localSeq {local_seq}",
            hint="every commit of a session needs a localSeq of its own",
        )
        self.session, self.local_seq = session, local_seq


class TextRemoved(ProtocolError):
    """Raised when a commit is sent again whose text was removed, and it is not the same text."""

    def __init__(self, session: str, local_seq: int, seq: int) -> None:
        super().__init__(
            f"commit {local_seq} of session {session} landed at seq {seq}; its text was removed "
            "by gc --before, so this one cannot be compared with it",
            hint="every commit of a session needs a localSeq of its own",
        )
        self.session, self.local_seq, self.seq = session, local_seq, seq


class OutOfRange(_MessageError):
    """Raised when reading a branch at a seq that it does not have."""

    name = "QueryError"

    def __init__(self, branch: str, seq: int, least: int, most: int, gone: bool = False) -> None:
        why = ": its history was removed by gc --before" if gone else ""
        super().__init__(f"seq {seq} is out of range for branch {branch}{why}")
        self.branch, self.seq, self.least, self.most = branch, seq, least, most
        self.gone = gone
        self.hint = f"this branch can be read at seq {least} to {most}"


class QueryError(_MessageError):
    """Raised when a graph query is invalid or passes a limit; nothing has changed."""

    name = "QueryError"


class BranchError(_MessageError):
    """Raised when a branch cannot be created, deleted or merged."""

    name = "TransactionError"


class ConflictError(StoreError):
    """Raised when reads that a commit depends on no longer hold; nothing was written."""

    name = "ConflictError"

    def __init__(self, conflicts: Sequence[ConflictFacts]) -> None:
        assert conflicts, "a conflict error names what conflicted"
        super().__init__(conflicts)
        self.conflicts = conflicts

    def __str__(self) -> str:
        return one_line(str(self.conflicts[0]))

    @property
    def retry_after_seq(self) -> Seq | None:
        """The newest write that broke a read; None if a commit that never landed did."""
        return max((c.seq for c in self.conflicts if c.seq is not None), default=None)

    @property
    def hint(self) -> str:  # type: ignore[override]
        cause, newest = one_line(self.conflicts[0].explanation()), self.retry_after_seq
        if newest is None:
            return cause
        return f"{cause}; read again at seq {newest} or later, then commit again"


class InvalidBlob(_MessageError):
    """Raised when bytes do not match their hash, or are not stored."""

    name = "TransactionError"


class StoreClosed(_MessageError):
    """Raised when a store is used after `close`."""

    name = "TransactionError"

    def __init__(self) -> None:
        super().__init__("the store is closed")


class StoreUnreachable(_MessageError):
    """Raised when the database server cannot be reached; whether a commit landed is unknown."""

    name = "ConnectionError"


class StoreSilent(StoreUnreachable):
    """Raised when the database server did not answer before the deadline."""

    def __init__(self, message: str, hint: str) -> None:
        super().__init__(message, hint=hint)


class StoreUpgraded(StoreUnreachable):
    """Raised when a newer version has changed the tables of a space; nothing was written."""

    def __init__(self, space: str, version: int, ours: int) -> None:
        self.space, self.version, self.ours = space, version, ours
        super().__init__(
            f"the space {space} has tables of version {version}; this program knows {ours}",
            hint="a newer server brought it up to date: restart this one with the newer release",
        )


DATABASE_FAILURES = (StoreFailed, StoreBusy, StoreClosed, StoreUnreachable)
"""Failures of the database itself, not of one commit."""


class InvalidValue(StoreError):
    """Raised when a value cannot be stored or sent without changing it."""

    name: ClassVar[str] = "TransactionError"

    def __init__(self, path: tuple[Step, ...], reason: str) -> None:
        super().__init__(path, reason)
        self.path, self.reason = path, reason

    @property
    def pointer(self) -> str:
        """The place as a JSON pointer; empty for the whole value."""
        steps = (str(step).replace("~", "~0").replace("/", "~1") for step in self.path)
        return "".join(f"/{step}" for step in steps)

    def __str__(self) -> str:
        # A refused name may contain a lone surrogate; the message must still be printable.
        return one_line(f"{self.pointer or 'the value'} cannot be stored: {self.reason}")


class MalformedText(InvalidValue):
    """Raised when a text is not JSON."""

    def __init__(self, reason: str) -> None:
        super().__init__((), reason)
        self.args = (reason,)

    def __str__(self) -> str:
        return f"the text is not JSON: {self.reason}"


class AuthorizationError(StoreError):
    """Raised when a session cannot be opened as the principal it names."""

    name: ClassVar[str] = "AuthorizationError"


class UnsafeSubject(ProtocolError):
    """Raised before any path is built from a space id that could name another file."""

    hint = "a space id must not be empty, . or .., nor contain /, \\, NUL or a lone surrogate"

    def __init__(self, subject: str) -> None:
        super().__init__(subject)
        self.subject = subject

    def __str__(self) -> str:
        # Peers look for this text, so it starts with a capital letter as theirs does.
        subject = self.subject.encode(errors="backslashreplace").decode()
        return f"Invalid memory space identifier for store path: {subject}"


class InvalidIdentity(ProtocolError):
    """Raised when a DID cannot be read as an Ed25519 public key."""

    def __init__(self, did: str, reason: str) -> None:
        super().__init__(did, reason)
        self.did, self.reason = did, reason
        self.hint = "expected did:key:z6Mk…, an Ed25519 public key in base58btc"

    def __str__(self) -> str:
        return f"{self.did!r} is not an identity: {self.reason}"


class IdentityUnavailable(StoreError):
    """Raised when a key or a signature is needed and the `cryptography` package is missing."""

    def __init__(self) -> None:
        self.hint = f"run: {install_command('identity')}"

    def __str__(self) -> str:
        return "keys and signatures need the package cryptography, which is not installed"


class InvalidExport(_MessageError):
    """Raised when an export cannot be imported; the space is unchanged."""

    name = "TransactionError"


class MergeClash(BranchError):
    """Raised when a merge needs resolutions; nothing was written."""

    name = "ConflictError"

    def __init__(self, source: str, target: str, clashes: Sequence[ClashFacts]) -> None:
        places = len(clashes)
        super().__init__(
            f"merging {source!r} into {target!r} needs {places} resolution{'s' * (places != 1)}",
            hint="resolve each with --take source|target or --resolutions JSON",
        )
        self.source, self.target, self.clashes = source, target, clashes
