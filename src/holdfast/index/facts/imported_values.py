"""Which names of a file hold a value of an imported class: `p = Price(3)`, `def show(p: Price)`.

Only such names are looked at for operators and properties of classes in other files. The answer is
about the whole file, not about one scope: whether a name really has such a value where it is used
is decided when the call is resolved.
"""

from __future__ import annotations

import re
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.index.facts.model import Binding, Import
    from holdfast.index.facts.walk_view import Named, Signed

_ANNOTATED = re.compile(
    r"([A-Za-z_$][\w$]*)\??\s*:\s*[\"']?(?:Optional\[[\"']?)?([A-Za-z_$][\w$]*)"
)
_TYPE = re.compile(r"[\"'\s]*(?:Optional\[[\"']?)?([A-Za-z_$][\w$]*)")
_MADE = re.compile(r"([A-Za-z_$][\w$]*)(?:\.[\w$]+)*\(\)")
_ROOT = re.compile(r"\(*(?:(?:self|this)\.)?([A-Za-z_$][\w$]*)")


class ImportedValues:
    """The names found so far in one file; grows with what the walk has recorded.

    It has the walk's lists, not the walk: a cycle would keep the syntax tree of every file in
    memory, because workers collect no garbage.
    """

    def __init__(
        self,
        language: Named,
        imports: Sequence[Import],
        bindings: Sequence[Binding],
        symbols: Sequence[Signed],
    ) -> None:
        self._imports, self._bindings, self._symbols = imports, bindings, symbols
        self._python = language.name == "python"
        self._names: set[str] = set()
        self._classes: set[str] = set()
        self._seen = [0, 0, 0]
        """How many imports, bindings and symbols were looked at."""

    def names(self) -> set[str]:
        imports, bindings, symbols = self._seen
        for item in self._imports[imports:]:
            if item.alias and self._may_be_inside(item):
                self._classes.add(item.alias.partition(".")[0])
        if self._classes:
            for each in self._bindings[bindings:]:
                written = self._evidence(each)
                if written and (written in self._classes or written in self._names):
                    self._names.add(each.name)
            for symbol in self._symbols[symbols:] if self._python else ():
                taken = symbol.signature.partition("(")[2]
                for name, kind in _ANNOTATED.findall(taken):
                    if kind in self._classes:
                        self._names.add(name)
        self._seen = [len(self._imports), len(self._bindings), len(self._symbols)]
        return self._names

    def _evidence(self, binding: Binding) -> str:
        """The name of the class of a binding's value, or of what made it.

        In TypeScript nearly all annotated values have fields only, so their types are left out.
        """
        if binding.type and self._python:
            found = _TYPE.match(binding.type)
        else:
            found = _MADE.match(binding.value) if binding.value[-2:] == "()" else None
        return found.group(1) if found else ""

    def holds(self, text: str) -> bool:
        """Whether an expression starts with such a name."""
        root = _ROOT.match(text)
        return root is not None and root.group(1) in self.names()

    def _may_be_inside(self, item: Import) -> bool:
        """Whether an import may be of the program: not of the standard library or a package."""
        if self._python:
            return item.module.partition(".")[0] not in sys.stdlib_module_names
        return item.module[:1] in (".", "/", "~", "@")
