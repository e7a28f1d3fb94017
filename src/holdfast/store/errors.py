"""What the store raises.

    StoreError
    ├── InvalidValue              a value, or a text, that no document can hold
    │   └── MalformedText         a text that is not JSON at all
    ├── PatchError                a patch that cannot be applied to this document
    ├── TransactionError          a commit that can never land as it is
    │   ├── UnknownBranch, InactiveBranch
    │   └── CommitTooLarge
    ├── ConflictError             a read the commit stands on no longer holds; has the `Conflict`s
    ├── OutOfRange                a read at a seq the branch does not have
    ├── UnknownSpace              a space that nobody made, opened to be read
    ├── QueryError                a graph query that cannot be answered as asked
    ├── BranchError               a branch that cannot be made, removed or merged as asked
    │   └── MergeClash            a merge that needs resolutions; has the `Clash`es
    ├── InvalidExport             an export that cannot be read in
    ├── InvalidBlob               bytes that are not what their hash says
    ├── AuthorizationError        the caller did not prove who it is
    ├── ProtocolError             the caller broke the protocol; the same thing again cannot help
    │   ├── ReplayMismatch        one localSeq for two different commits
    │   ├── UnsafeSubject         a space id that could leave its directory
    │   └── InvalidIdentity       a DID that names no Ed25519 key
    ├── DamagedStore              the database does not say what it must
    ├── StoreBusy, StoreUnreachable, StoreClosed
    ├── StoreFailed               the database could not do it; nothing of it stays
    └── IdentityUnavailable       signatures need an optional package that is not installed

An error that is sent to a peer has a `name`: the word the peer sees.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from holdfast.errors import StoreError

if TYPE_CHECKING:
    from holdfast.ids import Seq

Step = str | int
"""One step into a value: a member's name or an element's index."""


class ConflictFacts(Protocol):
    """What an error needs of `store.conflict.Conflict`, which itself imports this module."""

    @property
    def id(self) -> str: ...
    @property
    def seq(self) -> Seq | None: ...
    def explanation(self) -> str: ...
    def to_wire(self) -> dict[str, Any]: ...


class ClashFacts(Protocol):
    """What an error needs of `store.merge.Clash`, which itself imports this module."""

    @property
    def id(self) -> str: ...
    def to_wire(self) -> dict[str, Any]: ...


SENTENCE_MAX = 600
"""How long a sentence gets; what it quotes may be of any length."""


def one_line(text: str) -> str:
    """A text that can be printed and sent, whatever it quotes: on one line, and not endless."""
    if len(text) > SENTENCE_MAX:
        half = SENTENCE_MAX // 2
        text = f"{text[:half]} … {text[-half:]}"
    if text.isprintable():
        return text
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


class _Told(StoreError):
    """An error that is told in a sentence."""

    def __init__(self, message: str, hint: str = "") -> None:
        super().__init__(one_line(message))
        self.hint = one_line(hint) if hint else type(self).hint


class PatchError(_Told):
    """Raised when a patch cannot be applied; the document stays as it was."""

    name = "TransactionError"


class TransactionError(_Told):
    """Raised when a commit can never land as it is."""

    name = "TransactionError"


class NotPermitted(_Told):
    """Raised when the document that guards a write does not allow it as it stands by then."""

    name = "AuthorizationError"


class DamagedStore(_Told):
    """Raised when a database does not say what it must; nothing was changed."""

    name = "TransactionError"

    def __init__(self, message: str, hint: str = "run: holdfast memory verify") -> None:
        super().__init__(message)
        self.hint = hint


class StoreFailed(_Told):
    """Raised when the database could not carry out a statement: a full disk, a refused row.

    Nothing of the transaction stays, and the store can be used again.
    """

    name = "TransactionError"


class StoreBusy(_Told):
    """Raised when another process kept the space locked for too long."""

    name = "TransactionError"
    hint = "another process is writing; try again"

    def __init__(self, waited_ms: int) -> None:
        super().__init__(f"the space stayed locked for {waited_ms} ms")
        self.waited_ms = waited_ms


class UnknownSpace(_Told):
    """Raised when a space was to be opened as it is, and there is none of that name.

    Only a peer that asks for spaces as they are is told so.
    """

    name = "UnknownSpaceError"

    def __init__(self, space: str, known: Sequence[str]) -> None:
        super().__init__(f"there is no space {space}", hint=_known_spaces(space, known))
        self.space, self.known = space, tuple(known)


SPACES_NAMED = 6
"""How many spaces a hint names."""


def _known_spaces(space: str, known: Sequence[str]) -> str:
    """The spaces there are, those that look like a slip of the pen first."""
    if not known:
        return "there are no spaces yet; the first write makes one"
    from difflib import get_close_matches

    alike = get_close_matches(space, known, n=SPACES_NAMED)
    named = [*alike, *(name for name in known if name not in alike)][:SPACES_NAMED]
    more = f" and {len(known) - len(named)} more" if len(known) > len(named) else ""
    return f"there are: {', '.join(named)}{more}"


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
            f"the commit is {size} bytes long, and this space takes at most {most}",
            hint="split it, or store large data as blobs",
        )
        self.size, self.most = size, most


class ProtocolError(_Told):
    """Raised when a peer broke the protocol; sending the same thing again cannot help."""

    name = "ProtocolError"


class ReplayMismatch(ProtocolError):
    """Raised when a session uses one localSeq for two different commits."""

    def __init__(self, session: str, local_seq: int) -> None:
        super().__init__(
            f"commit replay mismatch for session {session} localSeq {local_seq}",
            hint="every commit of a session needs a localSeq of its own",
        )
        self.session, self.local_seq = session, local_seq


class OutOfRange(_Told):
    """Raised when reading a branch at a seq that it does not have."""

    name = "QueryError"

    def __init__(self, branch: str, seq: int, least: int, most: int) -> None:
        super().__init__(f"seq {seq} is out of range for branch {branch}")
        self.branch, self.seq, self.least, self.most = branch, seq, least, most
        self.hint = f"this branch can be read at seq {least} to {most}"


class QueryError(_Told):
    """Raised when a graph query cannot be answered as asked; nothing has changed."""

    name = "QueryError"


class BranchError(_Told):
    """Raised when a branch cannot be made, removed or merged as asked."""

    name = "TransactionError"


class ConflictError(StoreError):
    """Raised when reads that a commit stands on no longer hold; nothing was written."""

    name = "ConflictError"

    def __init__(self, conflicts: Sequence[ConflictFacts]) -> None:
        assert conflicts, "a conflict error says what conflicted"
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
        said, newest = one_line(self.conflicts[0].explanation()), self.retry_after_seq
        if newest is None:
            return said
        return f"{said}; read again at seq {newest} or later, then commit again"


class InvalidBlob(_Told):
    """Raised when bytes are not what their hash says, or nobody stored them."""

    name = "TransactionError"


class StoreClosed(_Told):
    """Raised when a store is used after `close`."""

    name = "TransactionError"

    def __init__(self) -> None:
        super().__init__("the store is closed")


class StoreUnreachable(_Told):
    """Raised when the database server cannot be reached; whether a commit landed is unknown."""

    name = "ConnectionError"


DATABASE_FAILURES = (StoreFailed, StoreBusy, StoreClosed, StoreUnreachable)
"""What the database itself says when it cannot go on, whatever it was asked for."""


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
        # A refused name may hold half a character; the sentence must still be printable.
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

    hint = "a space id is not empty, not . or .., and holds no /, \\, NUL or half a character"

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
        self.hint = "an identity reads did:key:z6Mk…, an Ed25519 public key in base58btc"

    def __str__(self) -> str:
        return f"{self.did!r} is not an identity: {self.reason}"


class IdentityUnavailable(StoreError):
    """Raised when a signature is to be checked and the package that can do it is missing."""

    hint = "run: pip install 'holdfast[identity]'"

    def __str__(self) -> str:
        return "signatures cannot be checked: the package cryptography is not installed"


class InvalidExport(_Told):
    """Raised when an export cannot be read in; the space stays as it was."""

    name = "TransactionError"


class MergeClash(BranchError):
    """Raised when a merge needs resolutions; nothing was written."""

    name = "ConflictError"

    def __init__(self, source: str, target: str, clashes: Sequence[ClashFacts]) -> None:
        places = len(clashes)
        super().__init__(
            f"merging {source!r} into {target!r} needs {places} resolution{'s' * (places != 1)}",
            hint="settle each with --take source|target or a resolutions file",
        )
        self.source, self.target, self.clashes = source, target, clashes
