"""Errors of editing the settings of another program.

AgentError
├── BadSettingsFile     a settings file that cannot be parsed and is not touched
└── Changed             a settings file that changed while the plan was made
"""

from __future__ import annotations

from holdfast.errors import HoldfastError


class AgentError(HoldfastError):
    """An error about an agent's settings."""


class BadSettingsFile(AgentError):
    """Raised when a settings file cannot be parsed; nothing was written."""

    def __init__(self, name: str, what: str) -> None:
        self.name, self.what = name, what
        self.hint = "fix or move the file; nothing was written"

    def __str__(self) -> str:
        return f"{self.name} cannot be edited: {self.what}"


class Changed(AgentError):
    """Raised when a file changed after the plan was made; it was not written."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.hint = "run the command again"

    def __str__(self) -> str:
        return f"{self.name} changed in the meantime and was not written"
