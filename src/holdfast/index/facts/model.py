"""The facts of one source file: symbols, imports, calls, bindings and chunks.

Facts depend only on the path and the bytes of a file, so they can be cached by content hash, made
in another process and dropped at any time. Extraction never fails. A file that cannot be parsed, in
part or at all, still has chunks that cover it, and `problems` says what is missing; no fact is made
up.

Facts are also local. `cart.total()` is recorded as a call of `total` on `cart`; what that means is
decided in `holdfast.index.calls.resolve`, which sees many files.

The id of a symbol does not depend on lines. It is made of the path, the qualified name, the kind
and the ordinal among symbols of that name, so it stays the same when the file around it changes.
"""

from __future__ import annotations

import hashlib
from typing import Literal

import msgspec

FACTS_VERSION = 17
"""The format of `FileFacts`; part of every key that facts are stored under.

1: first version.
2: `guessed`; files without a grammar have symbols guessed from their lines.
3: methods outside a short owner are chunks of their own; broken shell scripts are repaired.
4: C, C++ and C# are repaired where branches of `#if` break the syntax.
5: values are expressions, with results, loops and narrowed types; calls of values; arguments that
   name functions; the scope and the last line of a binding.
6: members of object types in TypeScript; what decides the type parameters of a callback; a class
   that is the module has its own name; associated types of Rust traits; members that are assigned
   to a prototype; kinds of calls and bindings are coded shorter.
7: bindings of elements and attributes, and those of one branch; functions made by `lambda`; what
   a decorator with arguments is called with; values that are passed to functions of the program.
8: values by `type(x)`, `x if isinstance(x, T)`, quoted bounds of type variables, places behind a
   star; elements that `update` gives a dictionary.
9: calls by operators, statements and properties of the same file; members of a prototype that is
   an object; what `Object.values`, `Map` and other parts of a script's platform hold; named
   functions that are passed; what is left of a destructured value.
10: operators and properties of imported classes; parameters of lambdas; fields that a tuple is
   taken apart into; what a promise resolves to and a generator is sent; `super` of another class.
11: arguments of `new`; a named class expression that is assigned is one symbol; branches without
   braces; members of a prototype that are others.
12: constants that are keys, and keys that are fixed but not known; elements added to private
   fields, to `table['k']` and to `(x ||= [])`; functions assigned to a variable of an enclosing
   function; `__init_subclass__`; a return of a nested arrow function is not one of the outer.
13: a key is fixed also if a variable or an attribute holds it; `{K := …}` writes a constant.
14: members and elements that are deleted, replaced or moved; what `map` gives; slices with a step;
   names of a block; `||=` and `&&=`; `this` of a function that is passed on is unknown.
15: what a CommonJS module exports from another one; a named class that is returned; the fixed key
   of `setdefault`.
16: a comment inside a string of `module.exports = {…}` is part of the string.
17: in scripts, classes without a name that a function returns; named functions and bound methods
   that are passed; several elements that one call adds; what `resolve` gives a promise; keys that
   a `const` of the same function holds; the last of `(a, b)`, and `a ??= b` as a value; literals
   and modules that are spread; places that a pattern leaves out; a method that is bound to its own
   object is not replaced; functions with the name of one that Python has are their own.
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

CallKind = Literal["", "new", "decorator", "macro", "implicit"]
"""An ordinary call is "", because there are many and each letter is stored. An implicit one has no
parentheses: an operator, a loop, `with`, or a property that is read or written."""
InheritanceKind = Literal["extends", "implements", "mixes in", "embeds"]

MODULE = -1
"""In place of a symbol's index: the file itself."""
SAME_SCOPE = -2
"""In place of a symbol's index: the scope of the binding."""
ANY_TIME = -1
"""In place of the last line of a binding: another function makes it, at an unknown time."""
MOVED = "~"
"""In place of a key: the elements of a container are no longer where they were."""
RESULT, YIELD = "<return>", "<yield>"
CLASS = "class"
"""In place of a value: the class without a name that a function returns."""
VALUE = "()"
"""The name of a call of a value without a name."""


class Span(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A run of a file: whole lines counted from 1, and the exact bytes `[start, end)`."""

    first_line: int
    last_line: int
    start: int
    end: int


class Symbol(msgspec.Struct, frozen=True, array_like=True):
    """Something with a name. `parent` is an index into the file's symbols, or MODULE.

    `defined` is False for a declaration without a body, such as a prototype.
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
    """A name that a file imports.

    `module` is as written (`..pkg`, `./util`, `std.fmt`; `::` and `\\` become a dot). `name` is the
    imported thing: "" the module itself, "*" everything, "default" the default export. `alias` is
    its local name: a dotted path for `import a.b`, "" when it has none.
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
    `make().items`), or an expression as in `expressions`; "" for a bare call, "?" if it is unknown.
    A call of an unnamed value (`table["k"]()`, `make()()`) has the name `()`, and the value is its
    receiver. `arity` is the number of arguments, -1 if unknown; 1 for a property that is written.
    `passed` has the arguments that name a function or a class of this file: `0=work`,
    `key=by_name`. For a call inside the program it also has values that may hold one, with `0*` and
    `**` for spread ones.
    """

    caller: int
    name: str
    receiver: str
    kind: CallKind
    line: int
    start: int
    arity: int = -1
    passed: tuple[str, ...] = ()


class Binding(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Evidence of what a name refers to: the text of its type, or the expression assigned to it.

    `scope` is the function for a variable, the class for a field, MODULE for a global. `inside` is
    the scope in which the value is evaluated: for a field the method that assigns it. `last` is the
    last line of a binding that is valid only for some lines, as in a loop or after a type check;
    for a binding in a branch it is the end of the branch, negated. `table['k']`, `table[]` and
    `steps[+]` are elements added to a container, `cart.total` is an attribute set on an object. The
    name RESULT stands for what a function returns, YIELD for what it yields.
    """

    scope: int
    name: str
    field: bool
    line: int
    type: str = ""
    value: str = ""
    inside: int = SAME_SCOPE
    last: int = 0


class Inheritance(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """`child` inherits from `base`; the child is a qualified name, the base is as in the source."""

    child: str
    base: str
    kind: InheritanceKind
    line: int


class Chunk(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """A run of the file to index as one text. The chunks of a file are a partition of its bytes.

    `owner` is the innermost symbol that contains all of it, or MODULE. A symbol too long for one
    chunk is cut at statement boundaries: `part` counts from 0 among the `parts` cut from one run of
    it. A chunk starts and ends between lines, unless `broken_line`: then it is a piece of a long
    line.
    """

    owner: int
    span: Span
    part: int = 0
    parts: int = 1
    broken_line: bool = False


class Problem(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """Something that extraction could not handle, and where. `code` is stable; `detail` is text."""

    code: Literal["syntax", "encoding", "too_large", "too_hard", "binary", "too_many", "malformed"]
    line: int
    detail: str


class FileFacts(msgspec.Struct, frozen=True, array_like=True):
    """Everything known about one file from its own bytes.

    `guessed` says that there is no grammar: the symbols are lines that look like definitions. They
    are used to cut and label chunks and for outlines that say so, but not for call graphs.
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


def without_guesses(facts: FileFacts) -> FileFacts:
    """The facts without guessed symbols: calls and references are never resolved to a guess."""
    return msgspec.structs.replace(facts, symbols=()) if facts.guessed else facts


def has_content(facts: FileFacts, family: str) -> bool:
    """Whether a file may mention a symbol; one of a family that lacks its grammar may, too."""
    return bool(facts.symbols or facts.imports or facts.calls or (facts.guessed and family))


def symbol_id(path: str, qualified: str, kind: str, ordinal: int) -> str:
    """The stable id of a symbol. Moving lines does not change it; moving the file does."""
    key = f"{path}\0{qualified}\0{kind}\0{ordinal}".encode("utf-8", "surrogatepass")
    return "sym_" + hashlib.blake2b(key, digest_size=10).hexdigest()


def file_id(path: str) -> str:
    """The id of the file itself, which owns everything outside its symbols."""
    return symbol_id(path, "", "file", 0)


class _Outlined(msgspec.Struct, frozen=True, array_like=True):
    """The same positions as `FileFacts`; parts that an outline does not need stay encoded."""

    path: str
    language: str
    module: str
    lines: int
    size: int
    symbols: tuple[Symbol, ...]
    imports: msgspec.Raw
    calls: msgspec.Raw
    bindings: msgspec.Raw
    inherits: msgspec.Raw
    chunks: msgspec.Raw
    problems: tuple[Problem, ...]
    version: int
    guessed: bool


def encode(facts: FileFacts) -> bytes:
    """Facts as MessagePack."""
    return msgspec.msgpack.encode(facts)


def decode(data: bytes) -> FileFacts:
    """The inverse of `encode`; raises `msgspec.DecodeError` for anything else."""
    try:
        return msgspec.msgpack.decode(data, type=FileFacts)
    except UnicodeDecodeError as error:  # msgspec does not catch it
        raise msgspec.DecodeError(f"a text is not UTF-8: {error}") from error


def decode_outline(data: bytes) -> FileFacts:
    """The facts that an outline shows: without imports, calls, bindings, bases and chunks.

    These are most of the bytes, and skipping them is fast.
    """
    try:
        found = msgspec.msgpack.decode(data, type=_Outlined)
    except UnicodeDecodeError as error:
        raise msgspec.DecodeError(f"a text is not UTF-8: {error}") from error
    return FileFacts(
        found.path,
        found.language,
        found.module,
        found.lines,
        found.size,
        found.symbols,
        problems=found.problems,
        version=found.version,
        guessed=found.guessed,
    )
