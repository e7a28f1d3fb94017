"""What one source file says about itself: symbols, imports, calls, bindings and chunks.

Facts are pure: they depend on the path and the bytes and on nothing else, so they can be kept by
content hash, made in another process and thrown away at will. Extraction never fails. A file that
cannot be parsed, in part or at all, still has chunks that cover it, and `problems` says what was
missed; no fact is invented to fill the hole.

Facts are also local. `cart.total()` is recorded as a call of `total` on `cart`; what that means is
decided in `holdfast.index.calls.resolve`, which sees many files.

Nothing here mentions a line in an identity. A symbol is named by its path, its qualified name, its
kind and its ordinal among namesakes, so it keeps its id when the file shifts around it.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

FACTS_VERSION = 4
"""The format of `FileFacts`; part of whatever key the facts are kept under.

1: first version.
2: `guessed`; files without a grammar have symbols guessed from their lines.
3: methods outside a short owner are chunks of their own; broken shell scripts are mended.
4: C, C++ and C# are mended where branches of `#if` tear code apart.
"""

Kind = Literal[
    "class",
    "interface",  # also Swift protocols, PHP interfaces
    "trait",
    "struct",
    "union",
    "enum",
    "object",  # Kotlin and Scala singletons
    "namespace",  # also Ruby and Rust modules declared inside a file
    "type",  # an alias
    "function",
    "method",
    "constructor",
    "property",  # an accessor, or a field with a body of its own
    "constant",
    "variable",
    "macro",
    "section",  # a heading of a document and what is under it
    "cell",  # of a notebook
    "key",  # at the top level of a configuration file
]

CallKind = Literal["call", "new", "decorator", "macro"]
BindingKind = Literal["variable", "parameter", "field"]
InheritanceKind = Literal["extends", "implements", "mixes in", "embeds"]

MODULE = -1
"""Stands where a symbol's index would: the file itself."""


class Span(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A run of a file: whole lines counted from 1, and the exact bytes `[start, end)`."""

    first_line: int
    last_line: int
    start: int
    end: int


class Symbol(msgspec.Struct, frozen=True, array_like=True):
    """Something with a name. `parent` is an index into the file's symbols, or MODULE.

    `defined` is False for what only says that it exists: a prototype, a method without a body.
    """

    id: str
    name: str
    qualified: str
    kind: Kind
    parent: int
    ordinal: int
    span: Span
    signature: str = ""
    doc: str = ""
    exported: bool = True
    defined: bool = True


class Import(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A name that a file takes from elsewhere.

    `module` is as written (`..pkg`, `./util`, `std.fmt`; `::` and `\\` become a dot). `name` is the
    thing taken out of it: "" the module itself, "*" everything, "default" the default export.
    `alias` is what it is called here: a dotted path for `import a.b`, "" when it has no name.
    """

    module: str
    name: str
    alias: str
    line: int
    scope: int = MODULE
    reexport: bool = False


class Call(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One call site, as written.

    `receiver` is a normalised chain: names joined by dots, `()` after a called one (`self.repo`,
    `make().items`), "" for a bare call, "?" for an expression that is not such a chain.
    `arity` counts the arguments; -1 when it is not known.
    """

    caller: int
    name: str
    receiver: str
    kind: CallKind
    line: int
    start: int
    arity: int = -1


class Binding(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Evidence of what a name stands for: a type as written, or a chain it was assigned from.

    `scope` is the function for a variable, the class for a field, MODULE for a global.
    """

    scope: int
    name: str
    kind: BindingKind
    line: int
    type: str = ""
    value: str = ""


class Inheritance(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """`child` takes members from `base`; both as written, the child as a qualified name here."""

    child: str
    base: str
    kind: InheritanceKind
    line: int


class Chunk(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A run of the file to index as one text. The chunks of a file are a partition of its bytes.

    `owner` is the innermost symbol that holds all of it, or MODULE. A symbol too long for one chunk
    is cut at statement boundaries: `part` counts from 0 among the `parts` cut from one run of it.
    A chunk starts and ends between lines, unless `broken_line`: then it is a piece of a long line.
    """

    owner: int
    span: Span
    part: int = 0
    parts: int = 1
    broken_line: bool = False


class Problem(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Something extraction could not see, and where. `code` is stable, `detail` is a sentence."""

    code: Literal["syntax", "encoding", "too_large", "too_hard", "binary", "too_many", "malformed"]
    line: int
    detail: str


class FileFacts(msgspec.Struct, frozen=True, array_like=True):
    """Everything known about one file from its own bytes.

    `guessed` says that no grammar was behind it: the symbols are lines that look like definitions,
    good for cutting and for finding chunks, and no outline or call graph is made of them.
    """

    path: str
    language: str
    module: str
    lines: int
    size: int
    symbols: tuple[Symbol, ...] = ()
    imports: tuple[Import, ...] = ()
    calls: tuple[Call, ...] = ()
    bindings: tuple[Binding, ...] = ()
    inherits: tuple[Inheritance, ...] = ()
    chunks: tuple[Chunk, ...] = ()
    problems: tuple[Problem, ...] = ()
    version: int = FACTS_VERSION
    guessed: bool = False

    def label(self, index: int) -> str:
        """The name to show for a symbol, module first: `shop.cart.Cart.total`."""
        if index == MODULE:
            return self.module or self.path
        qualified = self.symbols[index].qualified
        return f"{self.module}.{qualified}" if self.module else qualified


def symbol_id(path: str, qualified: str, kind: str, ordinal: int) -> str:
    """The stable id of a symbol. Moving lines about does not change it; moving the file does."""
    key = f"{path}\0{qualified}\0{kind}\0{ordinal}".encode("utf-8", "surrogatepass")
    return "sym_" + hashlib.blake2b(key, digest_size=10).hexdigest()


def file_id(path: str) -> str:
    """The id of the file itself, the owner of what no symbol owns."""
    return symbol_id(path, "", "file", 0)


def encode(facts: FileFacts) -> bytes:
    """Facts as MessagePack, for keeping by content hash."""
    return msgspec.msgpack.encode(facts)


def decode(data: bytes) -> FileFacts:
    """The inverse of `encode`; raises `msgspec.DecodeError` for anything else."""
    return msgspec.msgpack.decode(data, type=FileFacts)
