"""What the readers of values ask of a walk."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from tree_sitter import Node

    from holdfast.index.facts.model import Binding, Import


class Named(Protocol):
    """A language."""

    @property
    def name(self) -> str: ...


class Signed(Named, Protocol):
    """A symbol."""

    @property
    def signature(self) -> str: ...


class WalkView(Protocol):
    """The file that is walked, and what was recorded so far."""

    @property
    def language(self) -> Named: ...
    @property
    def imports(self) -> Sequence[Import]: ...
    @property
    def bindings(self) -> Sequence[Binding]: ...
    @property
    def symbols(self) -> Sequence[Signed]: ...
    def text(self, node: Node, most: int = ...) -> str: ...
    def field(self, node: Node, name: str, most: int = ...) -> str: ...
    def enclosing_class(self) -> int: ...
