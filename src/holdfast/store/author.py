"""Who wrote a commit: the person, the program and the conversation, as the writer says.

A commit is identified by its session and localSeq, which say nothing to a reader. So a writer may
add the member `author` to a commit, beside `operations` or `branchLifecycle`. It is stored with the
commit and covered by the hash chain; the store does not act on it, and it proves nothing: whether
a session may write is decided by access rights and signatures.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

AUTHOR_FORMAT = 1
"""The format of the member `author` of a commit. A reader ignores members that it does not know.

1: user, agent, session: strings, each of which may be left out
"""

TEXT_MAX = 200
SESSION_SHOWN = 8


@dataclass(frozen=True, slots=True)
class Author:
    """The author of a commit; empty parts are unknown."""

    user: str = ""
    agent: str = ""
    session: str = ""

    def __bool__(self) -> bool:
        return bool(self.user or self.agent or self.session)

    def __str__(self) -> str:
        via = " ".join(part for part in (self.agent, self.session[:SESSION_SHOWN]) if part)
        if self.user and via:
            return f"{self.user} via {via}"
        return self.user or via

    def to_wire(self) -> dict[str, str]:
        parts = {"user": self.user, "agent": self.agent, "session": self.session}
        return {name: part for name, part in parts.items() if part}

    def matches(self, fragment: str) -> bool:
        """Whether a part of the author is this text, in any case, or its session begins so."""
        text = fragment.casefold()
        names = (self.user.casefold(), self.agent.casefold())
        return text in names or self.session.casefold().startswith(text)


def author_in(message: Any) -> Author | None:
    """The author of a stored commit; None if it has none, or one that cannot be read."""
    stated = message.get("author") if isinstance(message, Mapping) else None
    if not isinstance(stated, Mapping):
        return None
    parts = (stated.get(name, "") for name in ("user", "agent", "session"))
    author = Author(*(part[:TEXT_MAX] if isinstance(part, str) else "" for part in parts))
    return author or None
