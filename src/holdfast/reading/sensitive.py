"""Files whose text is never kept: keys, certificates, environment files, credentials.

A sensitive file is read plainly every time: nothing of it is stored and no trust is claimed. The
reference looks at the typed name only; we look at the resolved one too, so a link called `notes`
that leads to `.env` is sensitive as well.
"""

from __future__ import annotations

import posixpath
from dataclasses import dataclass, field
from fnmatch import fnmatchcase

from holdfast.files.secrets import secret_name, secrets_in

PREFIXES = (".env",)
SUFFIXES = (".pem", ".key", ".p12", ".pfx", ".crt", ".cer", ".der", ".pk8")
NAMES = frozenset({"id_rsa", "id_ed25519", ".npmrc", ".netrc"})


@dataclass(frozen=True, slots=True)
class Sensitive:
    """The reference's list, with the user's own patterns added.

    `also` are shell patterns on the lower-case base name, or on the whole path when they contain a
    slash; `never` are exceptions and win.
    """

    also: tuple[str, ...] = ()
    never: tuple[str, ...] = field(default=())

    def covers(self, path: str) -> bool:
        """Whether text at this path must not be kept."""
        name = posixpath.basename(path).lower()
        if self.never and any(_matches(pattern, path, name) for pattern in self.never):
            return False
        if name.startswith(PREFIXES) or name.endswith(SUFFIXES) or name in NAMES:
            return True
        if secret_name(path):
            return True
        return any(_matches(pattern, path, name) for pattern in self.also) if self.also else False

    def covers_text(self, path: str, text: bytes) -> bool:
        """Whether a file must not be kept because its text contains secrets."""
        name = posixpath.basename(path).lower()
        if any(_matches(pattern, path, name) for pattern in self.never):
            return False
        return bool(secrets_in(text))


def _matches(pattern: str, path: str, name: str) -> bool:
    return fnmatchcase(path if "/" in pattern else name, pattern)
