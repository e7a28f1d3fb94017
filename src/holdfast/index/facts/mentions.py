"""The mentions of some names in one file, each with its kind. Pure.

A mention is a name in the syntax tree; comments and strings count only where type checkers count
them (`doc_mentions`). What a mention refers to is resolved elsewhere, over all files; a name that
is bound inside a function (a parameter, a local variable) is marked as local here, because that
needs the tree.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable
from typing import TYPE_CHECKING

import msgspec

from holdfast.index.facts import chains, languages
from holdfast.index.facts.doc_mentions import dotted_owner, in_comment, in_string
from holdfast.index.facts.literal_context import (
    SHORT,
    defines_function,
    indexed_type,
    is_exported,
    is_function_key,
    key_context,
    short_context,
)
from holdfast.index.facts.mention_kinds import Kind, Short
from holdfast.index.facts.mention_places import (
    CALL,
    MEMBER,
    TAGS,
    called_by,
    error_ranges,
    holds,
    inside,
    is_field,
    is_import,
    is_member,
    is_module,
    is_taken_out,
    is_within,
    names_no_value,
    place,
)
from holdfast.index.facts.parse import TooHardError, parse
from holdfast.index.facts.python_scopes import TOP, UNKNOWN, PythonScopes
from holdfast.index.facts.script_scopes import WORDS, ScriptScopes

if TYPE_CHECKING:
    import tree_sitter

    from holdfast.index.facts.walk import Language

MENTIONS_MAX = 5_000
"""The maximum number of mentions examined in a file."""
CLIMB_MAX = 60
PATH_MAX = 200
"""Longer strings are not a name or a path of names."""
TOO_HARD = "too hard to parse"


class Mention(msgspec.Struct, frozen=True, gc=False, array_like=True):
    """One mention. `receiver` is a chain as in `facts.model.Call`; `local` means bound nearby.

    `keyed`: a key of an object literal; the receiver is the type that the literal has to have. In
    Python the module of `from cart import total`, which is a file.
    `short`: in `{ total }` one word is a key and a variable; which of them this mention is.
    `holder`: what binds the name: in Python where the function or class starts (`python_scopes`),
    in scripts where the declaration is (`script_scopes`).
    `before`: where the same word was last written before it or its declaration, -1 if nowhere.
    `scope`: in scripts, where the scope of the declaration starts.
    `unsure`: in scripts, whether it is in a part that could not be parsed.
    `required`: whether the declaration is `const Cart = require("./cart")`.
    """

    name: str
    receiver: str
    kind: Kind
    line: int
    start: int
    local: bool = False
    keyed: bool = False
    short: Short = ""
    holder: int = UNKNOWN
    before: int = -1
    scope: int = UNKNOWN
    required: bool = False
    unsure: bool = False


class Mentions(msgspec.Struct, frozen=True, array_like=True):
    """The mentions of one file. `why` says why some may be missing: not parsed, or too many."""

    found: tuple[Mention, ...] = ()
    why: str = ""
    quoted: tuple[int, ...] = ()
    """Where a string is one of the names, or a path with it; such a string is not a mention."""
    taken: tuple[int, ...] = ()
    """In scripts, where a pattern takes a name out of an object whose type is not written there."""
    keys: tuple[int, ...] = ()
    """Those of `quoted` that are a key: `cart["total"]` reads the member in any file."""
    spoken: tuple[int, ...] = ()
    """Where one of the names is a word of a longer string, which may be code or a format."""


def find_mentions(path: str, source: bytes, names: Iterable[str]) -> Mentions:
    """The mentions of these names in a file. Never raises."""
    language = languages.parsed(languages.language_of(path, source))
    if language is None:
        return Mentions(why="no grammar")
    wanted = sorted({name.encode() for name in names if name}, key=len, reverse=True)
    pattern = re.compile(rb"(?<![\w$])(?:" + b"|".join(map(re.escape, wanted)) + rb")(?![\w$])")
    places = [match.span() for match in pattern.finditer(source)]
    if not places or not wanted:
        return Mentions()
    try:
        tree = parse(language.grammar, source, language.query)
    except TooHardError:
        return Mentions(why=TOO_HARD)
    file = _File(language, source, tree)
    for start, end in places[:MENTIONS_MAX]:
        file.look(start, end)
    why = "too many mentions" if len(places) > MENTIONS_MAX else ""
    return Mentions(
        file.mentions(),
        why,
        tuple(file.quoted),
        tuple(file.taken),
        tuple(file.keys),
        tuple(file.spoken),
    )


_TEXT = re.compile(r"comment|string|char_|heredoc|regex|jsx_text|^text$|^content$")
_NAMED_CALL = frozenset({
    "method_invocation", "call", "member_call_expression", "scoped_call_expression",
    "nullsafe_member_call_expression", "method_call",
})  # fmt: skip
"""Calls with the receiver and the name as direct children, next to the arguments."""
_FUNCTION = re.compile(
    r"function|lambda|method|arrow|closure|constructor_d|init_declaration|func_literal|"
    r"comprehension|generator_expression|do_block|^block$|statement_block|for_statement|"
    r"for_in_statement|catch_clause|compound_statement|if_statement|let_condition|match_arm"
)
_WHOLE_FUNCTION = re.compile(
    r"function|lambda|method|arrow|closure|constructor_d|init_declaration|func_literal|"
    r"comprehension|generator_expression"
)
_BOUND_THROUGH = frozenset({"name", "declarator", "pattern", "left", "parameter", "alias"})
_GROUP = frozenset({
    "pattern_list", "tuple_pattern", "list_pattern", "expression_list", "array_pattern",
    "object_pattern", "list_splat_pattern", "dictionary_splat_pattern", "rest_pattern",
    "tuple_struct_pattern", "pair_pattern", "object_assignment_pattern", "assignment_pattern",
    "as_pattern_target", "typed_parameter", "default_parameter", "typed_default_parameter",
    "pointer_declarator", "reference_declarator", "init_declarator", "array_declarator",
    "simple_parameter", "variable_name", "splat_parameter", "optional_parameter",
    "required_parameter", "captured_pattern", "mut_pattern", "variable_declaration", "tuple",
})  # fmt: skip
_PARAMETERS = re.compile(r"^(?:.*_)?parameters?$|parameter_list|parameter_declaration|block_params")
_WRITES = frozenset({
    "assignment", "assignment_expression", "augmented_assignment", "update_expression",
    "augmented_assignment_expression", "assignment_statement", "compound_assignment_expr",
    "operator_assignment", "inc_statement", "dec_statement", "reassignment", "named_expression",
})  # fmt: skip
_BINDS = re.compile(
    r"short_var_declaration|variable_declarator|let_declaration|var_spec|const_spec|for_statement|"
    r"for_in_statement|for_in_clause|range_clause|with_item|as_pattern|except_clause|catch_clause|"
    r"local_variable|declaration$|property_declaration|val_definition|var_definition|arrow_function|"
    r"for_range_loop|enhanced_for|foreach|let_condition|match_arm|lambda"
)
_NAMES_NOTHING = frozenset(
    {"keyword_argument", "pair", "pair_pattern", "label_name", "labeled_statement"}
)
_PATH = re.compile(rb"[\w$]+(?:[.:#/]+[\w$]+)*\Z")
_SEPARATOR = re.compile(r"\s*(?:\?\.|!!\.|!\.|&\.|\?->|->|::|\.|\\|:)\s*\Z")
_REQUIRED = re.compile(r"""require\(\s*["']([^"'\s]+)["']\s*\)\Z""")
_GLOBAL = re.compile(rb"\b(?:global|nonlocal)\b[ \t]+([\w, \t]+)")


class _File:
    def __init__(self, language: Language, source: bytes, tree: tree_sitter.Tree) -> None:
        self._language, self._source, self._tree = language, source, tree
        self._mentions: list[Mention] = []
        self.quoted: list[int] = []
        self.taken: list[int] = []
        self.keys: list[int] = []
        self.spoken: list[int] = []
        self._bound: dict[str, list[tuple[int, int]]] = {}
        """The byte ranges in which a name is local."""
        self._globals: dict[int, set[bytes]] = {}
        self._line, self._at = 1, 0
        self._before, self._last = -1, dict[str, int]()
        self._unsure = False
        self._typed = language.name in ("typescript", "tsx")
        self._scopes = PythonScopes(source) if language.name == "python" else None
        scripts = ("javascript", "typescript", "tsx")
        self._script = ScriptScopes(source) if language.name in scripts else None
        self._unparsed = [] if self._script is None else error_ranges(tree.root_node)

    def mentions(self) -> tuple[Mention, ...]:
        if self._scopes is not None:
            return self._held(self._scopes.holders())
        if self._script is not None:
            return self._declared(self._script)
        ranges = {name: _joined(bound) for name, bound in self._bound.items()}
        made = []
        for one in self._mentions:
            starts, ends = ranges.get(one.name, ((), ()))
            at = bisect_right(starts, one.start) - 1
            local = not one.receiver and at >= 0 and one.start < ends[at]
            made.append(msgspec.structs.replace(one, local=True) if local else one)
        return tuple(made)

    def _held(self, holders: dict[int, tuple[int, bool]]) -> tuple[Mention, ...]:
        made = []
        for one in self._mentions:
            holder, local = holders.get(one.start, (UNKNOWN, False))
            made.append(msgspec.structs.replace(one, local=local, holder=holder))
        return tuple(made)

    def _declared(self, script: ScriptScopes) -> tuple[Mention, ...]:
        held, made = script.held(), []
        for one in self._mentions:
            by = None if one.receiver or one.keyed else held.get(one.start)
            if by is not None:
                one = msgspec.structs.replace(
                    one,
                    holder=by.start,
                    before=by.before,
                    scope=by.scope,
                    required=by.required,
                    local=by.scope != TOP and by.start != UNKNOWN,
                )
            made.append(one)
        return tuple(made)

    def look(self, start: int, end: int) -> None:
        node = self._tree.root_node.descendant_for_byte_range(start, end)
        if node is None:
            return
        self._line += self._source.count(b"\n", self._at, start)
        self._at = start
        name = self._source[start:end].decode("utf-8", "replace")
        self._unsure = is_within(self._unparsed, start)
        self._before, self._last[name] = self._last.get(name, -1), start
        if _TEXT.search(node.type):
            self._in_text(node, name, start, end)
            return
        if node.type == "simple_symbol":  # Ruby's `before_action :check`
            self.quoted.append(start)
        if node.start_byte != start or node.end_byte != end or node.child_count:
            return
        if self._typed and (context := key_context(node, self._source, self._chain)):
            own: Kind = "definition" if defines_function(node) else "write"
            self._add(name, context, own, start, keyed=True)
            return
        if self._script is not None and is_function_key(node):
            self._add(name, "", "definition", start, keyed=True)
            return
        short: Short = ""
        wanted = self._typed and node.type in SHORT
        if wanted and (context := short_context(node, self._source, self._chain)):
            literal = node.type == SHORT[0]
            short = "value" if literal else ""
            kind: Kind = "write" if literal else "value"
            self._add(name, context, kind, start, keyed=True, short="key")
        elif self._script is not None and node.type == SHORT[0]:
            short = "" if is_exported(node, self._source) else "value"
        elif self._script is not None and is_taken_out(node):
            self.taken.append(start)
        tail, receiver, called = self._expression(node)
        found = self._kind(node, tail, called)
        if found is not None:
            module = found == "import" and is_module(node)
            self._add(name, receiver, found, start, keyed=module, short=short)
            if self._scopes is not None and (not receiver or found == "import"):
                self._scopes.note(node, start, name.encode())
            if self._script is not None and not receiver and node.type in WORDS:
                self._script.note(node, start, name, self._before)

    def _in_text(self, node: tree_sitter.Node, name: str, start: int, end: int) -> None:
        """Add a name in a string or a comment, if it refers to a symbol."""
        language, before = self._language.name, len(self._mentions)
        if language == "python" and "string" in node.type:
            kind = in_string(node, self._source, start, end)
            if inside(node, "type", 4):
                kind = "annotation"
            if kind:
                owner = dotted_owner(self._source, node.start_byte, start)
                self._add(name, owner, kind, start)
                if self._scopes is not None and not owner:
                    self._scopes.note(node, start, name.encode())
        elif self._typed and "string" in node.type:
            if receiver := indexed_type(node, self._source):
                self._add(name, receiver, "annotation", start)
        elif node.type == "comment" and language in ("javascript", "typescript", "tsx"):
            begin = node.start_byte
            text = self._source[begin : node.end_byte].decode("latin-1")
            types = language == "javascript"
            inner = in_comment(text, start - begin, end - begin, types=types)
            if inner is not None:
                self._add(name, inner, "annotation", start)
        if len(self._mentions) == before and "string" in node.type:
            content = self._source[node.start_byte : node.end_byte][:PATH_MAX].strip(b"'\"`")
            if _PATH.match(content):
                self.quoted.append(start)
                if self._script is not None and inside(node, "subscript_expression", 2):
                    self.keys.append(start)
            else:
                self.spoken.append(start)

    def _add(
        self,
        name: str,
        receiver: str,
        kind: Kind,
        start: int,
        *,
        keyed: bool = False,
        short: Short = "",
    ) -> None:
        self._mentions.append(
            Mention(
                name,
                receiver,
                kind,
                self._line,
                start,
                keyed=keyed,
                short=short,
                before=self._before,
                unsure=self._unsure,
            )
        )

    def _chain(self, text: str) -> str:
        prepare = self._language.prepare
        return chains.chain(prepare(text) if prepare else text)

    def _expression(self, node: tree_sitter.Node) -> tuple[tree_sitter.Node, str, bool]:
        """The expression that ends with this name, its receiver, and whether it is a call."""
        top, called = node, False
        for _ in range(CLIMB_MAX):
            parent = top.parent
            if parent is None or parent.type not in MEMBER or parent.end_byte != node.end_byte:
                break
            top = parent
        begin = top.start_byte
        parent = top.parent
        if parent is not None and parent.type in _NAMED_CALL and parent.type != "call":
            named = parent.child_by_field_name("name")
            if named is not None and named == top:
                begin, called = parent.start_byte, True
        elif parent is not None and parent.type == "call" and self._language.name == "ruby":
            method = parent.child_by_field_name("method")
            if method is not None and method == top:
                begin, called = parent.start_byte, True
        if node.start_byte - begin > chains.LONGEST * 4:
            return top, "?", called
        text = self._source[begin : node.start_byte].decode("utf-8", "replace")
        receiver = _SEPARATOR.sub("", text)
        if receiver == text:
            return top, "" if not text.strip() else "?", called
        if required := _REQUIRED.match(receiver):
            return top, f"'{required.group(1)}'", called
        return top, self._chain(receiver), called

    def _kind(self, node: tree_sitter.Node, top: tree_sitter.Node, called: bool) -> Kind | None:
        parent = top.parent
        if parent is None:
            return "value"
        if is_import(top):
            return "import"
        if parent.type in _NAMES_NOTHING and is_field(parent, top, ("name", "key", "label")):
            return None
        if node.type == "statement_identifier":
            return None  # a label
        if parent.type in TAGS and names_no_value(self._source, parent, top):
            return None
        if parent.type == "keyword_pattern" and parent.named_child(0) == top:
            return None  # the attribute in `case Cart(total=n)`
        if called or (parent.type in CALL and called_by(parent, top)):
            return "call"
        bound = self._binding(node, top)
        if bound is not None:
            return bound
        return place(top)

    def _binding(self, node: tree_sitter.Node, top: tree_sitter.Node) -> Kind | None:
        """ "definition" or "write" if the name is bound or written here; else None."""
        child, parent = top, top.parent
        for _ in range(6):
            if parent is None:
                return None
            kind = parent.type
            if kind == "export_specifier":
                return None
            if kind in _WRITES:
                left = parent.child_by_field_name("left") or parent.child_by_field_name("name")
                left = left or (parent.child(0) if "update" in kind or "_st" in kind else None)
                if left is None or not holds(left, child):
                    return None
                if top is node and not is_member(node) and self._makes_local(kind):
                    self._bind(node, parent, whole=True)
                return "write"
            if _PARAMETERS.search(kind) and kind not in _GROUP:
                if is_field(parent, child, ("type", "value", "default_value", "return_type")):
                    return None
                self._bind(node, parent, whole=True)
                return "definition"
            if kind in _GROUP:
                if is_field(parent, child, ("type", "value", "right", "key")):
                    return None
                child, parent = parent, parent.parent
                continue
            if _NAMED.search(kind) and is_field(parent, child, ("name",)):
                return "definition"  # a function or a class, which the facts have as a symbol
            if _BINDS.search(kind):
                if not any(
                    is_field(parent, child, (name,)) for name in _BOUND_THROUGH
                ) and kind not in ("as_pattern", "range_clause"):
                    return None
                if kind in ("as_pattern", "with_item") and child.type != "as_pattern_target":
                    return None
                self._bind(node, parent, whole=self._language.name == "python")
                return "definition"
            if is_field(parent, child, ("name", "declarator")):
                if _FUNCTION.search(kind) or _DEFINES.search(kind):
                    return "definition"
                child, parent = parent, parent.parent
                continue
            return None
        return None

    def _globals_of(self, function: tree_sitter.Node) -> set[bytes]:
        """The names that a function declares as global or nonlocal; cached."""
        known = self._globals.get(function.start_byte)
        if known is None:
            text = self._source[function.start_byte : function.end_byte]
            known = self._globals[function.start_byte] = {
                name
                for match in _GLOBAL.finditer(text)
                for name in match.group(1).replace(b",", b" ").split()
            }
        return known

    def _makes_local(self, kind: str) -> bool:
        """In Python and Ruby an assignment to a bare name makes it local to its function."""
        return self._language.name in ("python", "ruby", "julia") and kind != "update_expression"

    def _bind(self, node: tree_sitter.Node, holder: tree_sitter.Node, *, whole: bool) -> None:
        name = self._source[node.start_byte : node.end_byte]
        pattern = _WHOLE_FUNCTION if whole else _FUNCTION
        at: tree_sitter.Node | None = holder
        for _ in range(CLIMB_MAX * 4):
            if at is None:
                return  # at the top of the file: not local
            if _CLASS.search(at.type):
                return
            if pattern.search(at.type):
                break
            at = at.parent
        if at is None:
            return
        if self._language.name == "python" and name in self._globals_of(at):
            return
        ranges = self._bound.setdefault(name.decode("utf-8", "replace"), [])
        # Types and default values of parameters are evaluated outside the function.
        body = at.child_by_field_name("body") or at
        ranges += ((node.start_byte, node.end_byte), (body.start_byte, body.end_byte))


_NAMED = re.compile(
    r"function|method|class|interface|constructor|struct|enum|trait|namespace|module|type_alias"
)
_CLASS = re.compile(
    r"class_(?:body|definition|declaration)|interface_body|declaration_list|impl_item"
)
_DEFINES = re.compile(
    r"definition|declaration|_item$|_spec$|^class|^interface|^module$|^struct|^enum|^trait|"
    r"signature|^method|function_declarator|specifier$|preproc_def|preproc_function_def"
)


def _joined(ranges: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The starts and ends of ranges, with touching ranges merged."""
    starts: list[int] = []
    ends: list[int] = []
    for start, end in sorted(ranges):
        if ends and start <= ends[-1]:
            ends[-1] = max(ends[-1], end)
        else:
            starts.append(start)
            ends.append(end)
    return starts, ends
