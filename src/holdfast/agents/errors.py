"""What can go wrong when another program's settings are edited.

AgentError
├── BadSettingsFile     a settings file that we cannot understand, and so do not touch
└── Changed             a settings file that changed while we looked at it
"""

from __future__ import annotations

from holdfast.errors import HoldfastError


class AgentError(HoldfastError):
    """Something about an agent's settings."""


class BadSettingsFile(AgentError):
    """Raised when a settings file is not what its name says; nothing was written."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        self.hint = "mend the file, or move it away; nothing was written"

    def __str__(self) -> str:
        return f"{self.name} cannot be edited: {self.what}"


class Changed(AgentError):
    """Raised when a file is no longer what the plan was made for; it was not written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hint = "run the command again"

    def __str__(self) -> str:
        return f"{self.name} changed in the meantime; it was left alone"
