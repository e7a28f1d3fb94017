"""What can go wrong in the store.

    StoreError
    ├── InvalidValue              a value, or a text, that no document can hold
    │   └── MalformedText         a text that is not JSON at all
    ├── AuthorizationError        the caller did not prove who it is
    ├── ProtocolError             the caller asked for something that has no meaning here
    │   ├── UnsafeSubject         a space id that could leave its directory
    │   └── InvalidIdentity       a DID that names no Ed25519 key
    └── IdentityUnavailable       signatures need an optional package that is not installed

An error that is sent to a peer has a `name`: the word the peer sees.
"""

from typing import ClassVar

from holdfast.errors import StoreError

Step = str | int
"""One step into a value: a member's name or an element's index."""


class InvalidValue(StoreError):
    """Raised when a value cannot be stored or sent without changing it."""

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
        where = self.pointer.encode("utf-8", "backslashreplace").decode("utf-8")
        return f"{where or 'the value'} cannot be stored: {self.reason}"


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


class ProtocolError(StoreError):
    """Raised when a request breaks the rules of the protocol."""

    name: ClassVar[str] = "ProtocolError"


class UnsafeSubject(ProtocolError):
    """Raised before any path is built from a space id that could name another file."""

    hint = "a space id is not empty, not . or .., and holds no slash, backslash or NUL"

    def __init__(self, subject: str) -> None:
        super().__init__(subject)
        self.subject = subject

    def __str__(self) -> str:
        # Peers look for this text, so it starts with a capital letter as theirs does.
        return f"Invalid memory space identifier for store path: {self.subject}"


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
