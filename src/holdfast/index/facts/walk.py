"""The walk over a syntax tree, the same for every language.

A language is a table of node kinds with a rule for each. The table becomes a single query, so that
the parser's C code finds the nodes and Python only sees those. They are visited in document order;
a stack of open scopes, by end position, tracks the enclosing scopes. Nothing is recursive, so deep
nesting is not a problem.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cached_property, partial
from typing import TYPE_CHECKING, Literal

from holdfast.index.facts import chains, expressions
from holdfast.index.facts.comments import comment_above
from holdfast.index.facts.constants import constants
from holdfast.index.facts.function_arguments import (
    nameable,
    names_passed,
    values_passed,
    with_passed,
)
from holdfast.index.facts.imported_values import ImportedValues
from holdfast.index.facts.model import (
    MODULE,
    SAME_SCOPE,
    Binding,
    Call,
    CallKind,
    Import,
    Inheritance,
    InheritanceKind,
    Kind,
)
from holdfast.index.facts.node_order import in_order, lost_bytes
from holdfast.index.facts.parse import TooHardError, captures, parse, parser_of, size_limits

if TYPE_CHECKING:
    import tree_sitter

Rule = Callable[["Walk", "tree_sitter.Node"], None]

CONTAINERS = frozenset({"class", "interface", "trait", "struct", "union", "enum", "object"})
SYMBOLS_MAX = 50_000
DEPTH_MAX = 200
SIGNATURE_MAX = 600
CALLEES_MAX = 50_000


@dataclass(frozen=True)
class Language:
    """The definition of one language. `rules` is keyed by kind of node."""

    name: str
    grammar: tuple[str, str]
    rules: Mapping[str, Rule]
    patterns: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Narrower queries for kinds of nodes that are mostly uninteresting.

    A pattern that contains `@n` captures only that part of its match.
    """
    line_comments: tuple[str, ...] = ("//",)
    block_comments: bool = True
    attributes: tuple[str, ...] = ()
    """Prefixes of lines that may be between a doc comment and its symbol."""
    module: Callable[[str, str], str] = lambda path, package: package
    """The module of a file, from its path and the package it declares."""
    prepare: Callable[[str], str] | None = None
    """Rewrites a callee or a value before it is parsed as a chain."""
    values: bool = False
    """Whether values are built from syntax nodes (`expressions`), not only as chains."""
    repair: Callable[[bytes, Callable[[bytes], bool]], bytes] | None = None
    """Blanks parts that cannot be parsed; its second argument checks whether a text parses."""

    @cached_property
    def query(self) -> str:
        """The query that captures, as `n`, every node that has a rule."""
        patterns = [p for kind in self.rules for p in self.patterns.get(kind, (f"({kind})",))]
        return "\n".join(p if "@n" in p else p + " @n" for p in patterns)

    @cached_property
    def leads(self) -> frozenset[int]:
        """First bytes of lines that may belong to the symbol below them."""
        marks = "".join(mark[0] for mark in (*self.line_comments, *self.attributes))
        return frozenset((marks + ("/*" if self.block_comments else "")).encode())

    @cached_property
    def comment_marks(self) -> tuple[bytes, ...]:
        return tuple(mark.encode() for mark in self.line_comments)

    @cached_property
    def attribute_marks(self) -> tuple[bytes, ...]:
        return tuple(mark.encode() for mark in self.attributes)


@dataclass(slots=True)
class SymbolDraft:
    """A symbol without its id; `lead` is the first line of its comment and attributes."""

    name: str
    qualified: str
    kind: Kind
    parent: int
    start: int
    end: int
    first_line: int
    last_line: int
    lead: int
    signature: str
    doc: str
    exported: bool
    defined: bool


@dataclass(slots=True)
class OpenScope:
    """An open scope: its end, its symbol, and the prefix of the names inside."""

    end: int
    symbol: int
    prefix: str
    kind: str


_CALLEES: dict[str, dict[bytes, tuple[str, str]]] = {}
"""A cache of parsed callees, by language."""


_RULES: dict[str, dict[int, Rule]] = {}


def _rules(language: Language) -> dict[int, Rule]:
    """The rules of a language, by the grammar's number of the node kind."""
    known = _RULES.get(language.name)
    if known is None:
        grammar = parser_of(language.grammar).language
        assert grammar is not None, "a parser is made with its language"
        known = _RULES[language.name] = {
            (grammar.id_for_node_kind(kind, True) or 0): rule
            for kind, rule in language.rules.items()
        }
    return known


@dataclass
class RawFacts:
    """The facts of a file before their ids are assigned."""

    symbols: list[SymbolDraft] = field(default_factory=list)
    imports: list[Import] = field(default_factory=list)
    calls: list[Call] = field(default_factory=list)
    bindings: list[Binding] = field(default_factory=list)
    inherits: list[Inheritance] = field(default_factory=list)
    module: str = ""
    truncated: bool = False
    failed: list[tuple[int, str]] = field(default_factory=list)
    """Nodes whose rule raised an exception: line and error."""
    tree: tree_sitter.Tree | None = None
    broken: tree_sitter.Tree | None = None
    """The tree of the original file, if the facts are from a repaired one."""


def first_child(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The first named child, if there is one."""
    return node.named_child(0) if node.named_child_count else None


_OWN = frozenset({"self", "cls", "this"})


def last_child(node: tree_sitter.Node) -> tree_sitter.Node | None:
    """The last named child, if there is one."""
    count = node.named_child_count
    return node.named_child(count - 1) if count else None


def line_starts(source: bytes) -> list[int]:
    """The offset of each line, and at the end the size of the file."""
    import numpy as np

    starts: list[int] = (np.flatnonzero(np.frombuffer(source, dtype=np.uint8) == 10) + 1).tolist()
    starts.insert(0, 0)
    if starts[-1] != len(source):
        starts.append(len(source))
    return starts


class Walk(RawFacts):
    """The state of one walk; rules read nodes and record facts through it."""

    def __init__(self, language: Language, source: bytes, line_starts: list[int]) -> None:
        super().__init__()
        self.language = language
        self.source = self.original = source
        self.line_starts = line_starts
        self.package = ""
        self.line = 1
        """The first line of the current node."""
        self.callees = _CALLEES.setdefault(language.name, {})
        if len(self.callees) > CALLEES_MAX:
            self.callees.clear()
        self.scopes: list[OpenScope] = []
        self.wrapper: tuple[int, int, int] | None = None
        self.loops: dict[str, str] = {}  # names bound by loops around the current expression
        self.elsewhere: dict[tuple[int, str], int] = {}
        """Names that a function declares as global or nonlocal, and their scope."""
        self.strings: dict[str, str] = {}  # the constants of the module that are strings
        self.latest: dict[str, int] = {}  # the latest symbol of each qualified name
        self._constants: frozenset[str] | None = None
        self.searched: dict[tuple[int, str], int] = {}
        self.has_subclass_hook = b"__init_subclass__" in source
        self.other_this = (0, 0)  # where a function ends that has its own `this`, and its depth
        self.imported_values = ImportedValues(language, self.imports, self.bindings, self.symbols)
        self._bound: set[str] | None = None
        self.passing: list[tuple[int, int, int]] = []
        """Calls with arguments: call number, start and end of the arguments."""

    def run(self) -> None:
        rules = _rules(self.language)
        self.tree = tree = self._parsed(self.source)
        if tree.root_node.has_error and self.language.repair is not None:
            self.tree = tree = self._repaired(tree, self.language.repair)
        with size_limits(len(self.source)):
            nodes = captures(self.language.grammar, self.language.query, tree)
        begins = in_order(nodes)
        scopes, starts, line = self.scopes, self.line_starts, 1
        lines = len(starts) - 1
        last, last_start = None, -1
        for start, node in zip(begins, nodes, strict=True):
            if start == last_start and node == last:
                continue
            last, last_start = node, start
            while scopes and scopes[-1].end <= start:
                scopes.pop()
            if starts[line] <= start:
                # Usually the next line or a nearby one.
                line = min(lines, line + 1)
                if starts[line] <= start:
                    line = min(lines, bisect_right(starts, start, line))
                self.line = line
            try:
                rules[node.kind_id](self, node)
            except Exception as error:  # extraction never fails; tests cover the rules
                self.failed.append((node.start_point[0] + 1, f"{node.type}: {error!r}"))
        self.adopt()
        if self.passing:
            self._note_functions_passed()

    def _local(self, scope: int, name: str) -> bool:
        """Whether a name is bound in the file, or may be a parameter of an enclosing function."""
        if self._bound is None:
            self._bound = {binding.name for binding in self.bindings}
        if name in self._bound:
            return True
        while scope != MODULE:
            if name in self.symbols[scope].signature:
                return True
            scope = self.symbols[scope].parent
        return False

    def _note_functions_passed(self) -> None:
        known = nameable(self.symbols, self.imports)
        heads = _OWN | known
        for number, start, end in self.passing if known else ():
            text = self.source[start:end].decode("utf-8", "replace")
            call = self.calls[number]
            inner = self.language.values and (
                call.name in known
                or call.receiver.partition(".")[0] in heads
                or (not call.receiver and self._local(call.caller, call.name))
            )
            if inner:
                span = (start - 1, end + 1)
                local = partial(self._local, call.caller)
                read = partial(expressions.argument, self, span)
                passed = values_passed(text, known, local, self.chain, read)
            else:
                passed = names_passed(text, known, call, self._local)
            if passed:
                self.calls[number] = with_passed(self.calls[number], passed)

    def _parsed(self, source: bytes) -> tree_sitter.Tree:
        return parse(self.language.grammar, source, self.language.query)

    def _repaired(
        self,
        broken: tree_sitter.Tree,
        repair: Callable[[bytes, Callable[[bytes], bool]], bytes],
    ) -> tree_sitter.Tree:
        """The tree of the repaired source if it has fewer bytes in errors, else `broken`."""

        def fits(text: bytes) -> bool:
            try:
                return not self._parsed(text).root_node.has_error
            except TooHardError:
                return False

        source = repair(self.source, fits)
        if source == self.source:
            return broken
        tree = self._parsed(source)
        if lost_bytes(tree.root_node) >= lost_bytes(broken.root_node):
            return broken
        self.original, self.source, self.broken = self.source, source, broken
        return tree

    def adopt(self) -> None:
        """Set the parent of members defined outside their class (`Cart::total`)."""
        owners: dict[str, int] | None = None
        for symbol in self.symbols:
            if symbol.parent == MODULE and "." in symbol.qualified:
                if owners is None:
                    owners = {
                        s.qualified: i for i, s in reversed(list(enumerate(self.symbols)))
                        if s.kind in CONTAINERS or s.kind == "namespace"
                    }  # fmt: skip
                symbol.parent = owners.get(symbol.qualified.rpartition(".")[0], MODULE)

    # reading

    def text(self, node: tree_sitter.Node, most: int = 400) -> str:
        """The source of a node, truncated when it is long."""
        start, end = node.start_byte, node.end_byte
        if end - start > most:
            end = start + most
        return self.source[start:end].decode("utf-8", "replace")

    def field(self, node: tree_sitter.Node, name: str, most: int = 400) -> str:
        child = node.child_by_field_name(name)
        return self.text(child, most) if child else ""

    def slice(self, start: int, end: int, most: int = 400) -> str:
        if end - start > most:
            end = start + most
        return self.source[start:end].decode("utf-8", "replace")

    def chain(self, text: str) -> str:
        """`text` as a chain, or "" when it is not one."""
        prepare = self.language.prepare
        path = chains.chain(prepare(text) if prepare else text)
        return "" if path == "?" else path

    # current position

    def symbol(self) -> int:
        return self.scopes[-1].symbol if self.scopes else MODULE

    def prefix(self) -> str:
        return self.scopes[-1].prefix if self.scopes else ""

    def inside(self) -> str:
        """The kind of the innermost scope; "" at the top."""
        return self.scopes[-1].kind if self.scopes else ""

    def enclosing_class(self) -> int:
        """The index of the innermost class-like symbol that is open, or MODULE."""
        for scope in reversed(self.scopes):
            if scope.kind in CONTAINERS:
                return scope.symbol
        return MODULE

    @property
    def constants(self) -> frozenset[str]:
        """The names in capitals that the file writes once."""
        if self._constants is None:
            self._constants = constants(self.source)
        return self._constants

    # writing

    def enter(
        self, node: tree_sitter.Node, prefix: str, kind: str, symbol: int | None = None
    ) -> None:
        """Open a scope that is not itself a symbol: an `impl`, an `extension`, a namespace."""
        index = self.symbol() if symbol is None else symbol
        self.scopes.append(OpenScope(node.end_byte, index, prefix, kind))

    def define(
        self,
        node: tree_sitter.Node,
        name: str,
        kind: Kind,
        *,
        signature_end: int | None = None,
        qualified: str | None = None,
        parent: int | None = None,
        doc: str | None = None,
        exported: bool = True,
        opens: bool = True,
        defined: bool = True,
    ) -> int:
        """Record a symbol and open its scope. Returns its index."""
        if len(self.symbols) >= SYMBOLS_MAX or len(self.scopes) >= DEPTH_MAX or not name:
            self.truncated = self.truncated or bool(name)
            return MODULE
        start, end = node.start_byte, node.end_byte
        first_line = node.start_point[0] + 1
        row, column = node.end_point
        last_line = row + (1 if column or end == start else 0)
        stop = end if signature_end is None else signature_end
        signature = self.signature(start, stop)
        wrapper = self.wrapper
        if wrapper and wrapper[0] <= start and 0 <= wrapper[1] - end <= 2:
            start, end, first_line = wrapper
        self.wrapper = None
        lead, comment = comment_above(
            self.language, self.source, self.line_starts, first_line, start
        )
        prefix = self.prefix()
        full = qualified if qualified is not None else f"{prefix}.{name}" if prefix else name
        self.symbols.append(
            SymbolDraft(
                name,
                full,
                kind,
                self.symbol() if parent is None else parent,
                start,
                end,
                first_line,
                max(first_line, last_line),
                lead,
                signature,
                comment if doc is None else doc,
                exported,
                defined,
            )
        )
        self.latest[full] = index = len(self.symbols) - 1
        if opens:
            self.scopes.append(OpenScope(node.end_byte, index, full, kind))
        return index

    def signature(self, start: int, stop: int) -> str:
        # From the original: blanked text still belongs to the signature.
        text = self.original[start : min(stop, start + SIGNATURE_MAX)].decode("utf-8", "replace")
        return " ".join(text.split()).rstrip("{:=; \t")

    def read_callee(self, raw: bytes) -> tuple[str, str]:
        """The receiver and the name in the text of a callee; cached."""
        text = raw.decode("utf-8", "replace").rstrip().removesuffix("?.")
        prepare = self.language.prepare
        known = chains.callee(prepare(text) if prepare else text)
        self.callees[raw] = known
        return known

    def call(
        self, node: tree_sitter.Node, callee: str, kind: CallKind = "", arity: int = -1
    ) -> None:
        prepare = self.language.prepare
        receiver, name = chains.callee(prepare(callee) if prepare else callee)
        if name:
            self.calls.append(
                Call(self.symbol(), name, receiver, kind, self.line, node.start_byte, arity)
            )

    def bind(
        self,
        node: tree_sitter.Node,
        name: str,
        *,
        type: str = "",
        value: str = "",
        kind: Literal["variable", "parameter", "field"] = "variable",
        scope: int | None = None,
        expression: str = "",
        inside: int = SAME_SCOPE,
        last: int = 0,
    ) -> None:
        """Record a binding; its value is source text (`value`) or an expression (`expression`)."""
        if value:
            prepare = self.language.prepare
            value = chains.chain(prepare(value) if prepare else value)
            if value == "?":
                value = ""
        elif expression:
            value = "" if expression == "?" and not last else expression
        if type:
            type = " ".join(type.split())[:160]
        if not (value or type) or not name:
            return
        at = self.symbol() if scope is None else scope
        if inside == at:
            inside = SAME_SCOPE
        self.bindings.append(
            Binding(at, name, kind == "field", self.line, type, value, inside, last)
        )

    def inherit(self, child: str, base: str, kind: InheritanceKind, line: int) -> None:
        name = chains.type_name(base)
        if name:
            self.inherits.append(Inheritance(child, name, kind, line))

    def imported(
        self, line: int, module: str, name: str, alias: str, *, reexport: bool = False
    ) -> None:
        self.imports.append(Import(module, name, alias, line, self.symbol(), reexport))
