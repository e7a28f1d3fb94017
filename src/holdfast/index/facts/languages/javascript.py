"""JavaScript, and the rules that TypeScript adds to."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.index.facts import expressions
from holdfast.index.facts.chains import LONGEST, PLAIN
from holdfast.index.facts.languages.rules import calling, definition, heritage, split_list, wrapping
from holdfast.index.facts.model import MODULE, RESULT, YIELD, Kind
from holdfast.index.facts.walk import CONTAINERS, Language, Rule, Walk, first_child, last_child

if TYPE_CHECKING:
    from tree_sitter import Node

FUNCTIONS = frozenset({"arrow_function", "function_expression", "generator_function"})
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_REQUIRE = re.compile(r"""require\(\s*['"]([^'"]+)['"]\s*\)((?:\.\w+)?)$""")
_IMPORT = re.compile(
    r"""import\s+(?:type\s+|typeof\s+)?(?:(?P<what>.*?)\s*from\s*)?['"](?P<module>[^'"]*)['"]""",
    re.DOTALL,
)
_IMPORT_EQUALS = re.compile(r"""import\s+(\w+)\s*=\s*require\(\s*['"]([^'"]+)['"]""")
_EXPORT_FROM = re.compile(
    r"""export\s+(?:type\s+)?(?P<what>\*(?:\s*as\s+[\w$]+)?|\{.*?\})\s*from\s*['"](?P<module>[^'"]*)['"]""",
    re.DOTALL,
)
_EXPORT_LIST = re.compile(r"export\s+(?:type\s+)?\{(.*?)\}\s*;?\s*$", re.DOTALL)


def specifiers(text: str) -> list[tuple[str, str]]:
    """`{a, b as c, type D}` and `{a, b: c}` as (name there, name here)."""
    found = []
    for item in split_list(text.strip().strip("{}")):
        name, _, alias = item.removeprefix("type ").partition(" as ")
        if not alias and ":" in name:
            name, _, alias = name.partition(":")
        name, alias = name.split("=")[0].strip(), alias.split("=")[0].strip()
        if name and not name.startswith("..."):
            found.append((name, alias or name))
    return found


def _import(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    text = " ".join(_COMMENT.sub("", walk.text(node, 20_000)).split())
    if equals := _IMPORT_EQUALS.match(text):
        walk.imported(line, equals.group(2), "", equals.group(1))
        return
    match = _IMPORT.match(text)
    if not match:
        return
    module, what = match.group("module"), match.group("what") or ""
    if not what:
        walk.imported(line, module, "", "")
    for item in split_list(what):
        if item.startswith("*"):
            walk.imported(line, module, "", item.partition(" as ")[2].strip())
        elif item.startswith("{"):
            for name, alias in specifiers(item):
                walk.imported(line, module, name, alias)
        else:
            walk.imported(line, module, "default", item.strip())


def _export(walk: Walk, node: Node) -> None:
    line = node.start_point[0] + 1
    if node.child_by_field_name("declaration") is not None:
        wrapping(walk, node)
        head = walk.slice(node.start_byte, node.end_byte, 200)
        named = re.match(r"export\s+default\s+(?:abstract\s+)?(?:async\s+)?"
                         r"(?:class|function\s*\*?)\s+([\w$]+)", head)  # fmt: skip
        if named:
            walk.bind(node, "default", value=named.group(1), scope=MODULE)
        return
    text = " ".join(_COMMENT.sub("", walk.text(node, 20_000)).split())
    if match := _EXPORT_FROM.match(text):
        module, what = match.group("module"), match.group("what")
        if what.startswith("*"):
            alias = what.partition(" as ")[2].strip()
            walk.imported(line, module, "" if alias else "*", alias, reexport=True)
        else:
            for name, alias in specifiers(what):
                walk.imported(line, module, name, alias, reexport=True)
    elif match := _EXPORT_LIST.match(text):
        for name, alias in specifiers(match.group(1)):
            if name != alias:
                walk.bind(node, alias, value=name, scope=MODULE)
    elif re.match(r"export\s+default\b|export\s*=", text):
        value = node.child_by_field_name("value") or first_child(node)
        if value is None:
            return
        if value.type in FUNCTIONS or value.type == "class":
            block = value.child_by_field_name("body")
            kind: Kind = "class" if value.type == "class" else "function"
            walk.define(node, "default", kind, signature_end=block.start_byte if block else None)
        elif value.type == "object":
            walk.define(node, "default", "object", signature_end=value.start_byte)
        else:
            walk.bind(node, "default", value=walk.text(value), scope=MODULE)


def _class(walk: Walk, node: Node) -> None:
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    if not name:
        return
    index = walk.define(node, name, "class", signature_end=block.start_byte if block else None)
    if index != MODULE:
        class_heritage(walk, node, index)


def class_heritage(walk: Walk, node: Node, index: int) -> None:
    for child in node.named_children:
        if child.type in ("class_heritage", "extends_type_clause"):
            heritage(walk, index, walk.text(child), node.start_point[0] + 1)


_PLACES = frozenset({"class_body", "object", "interface_body", "object_type", "object_pattern"})


def out_of_place(node: Node) -> bool:
    """Whether a method is where none can be: what the parser made of a text with errors."""
    around = node.parent
    return (
        around is not None
        and around.type not in _PLACES
        and node.type in ("method_definition", "method_signature", "abstract_method_signature")
    )


def _method(walk: Walk, node: Node) -> None:
    if out_of_place(node):
        return
    name, block = walk.field(node, "name", 120), node.child_by_field_name("body")
    kind: Kind = "method"  # also of an object literal
    if walk.inside() in CONTAINERS:
        kind = "constructor" if name == "constructor" else "method"
        head = walk.slice(node.start_byte, node.end_byte, 16).split()
        if head and head[0] in ("get", "set") and name not in ("get", "set"):
            kind = "property"
    walk.define(
        node,
        name,
        kind,
        signature_end=block.start_byte if block else None,
        exported=not name.startswith("#"),
    )


def _assigned(
    walk: Walk, node: Node, name: str, value: Node, qualified: str | None, *, member: bool = False
) -> bool:
    """Define what a function, a class or an object is assigned to. False when it is neither."""
    block = value.child_by_field_name("body")
    if value.type in FUNCTIONS:
        member = member or walk.inside() in CONTAINERS
        member = member or (qualified is not None and "." in qualified)
        index = walk.define(
            node,
            name,
            "method" if member else "function",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
        if block is not None and block.type != "statement_block" and index != MODULE:
            walk.bind(node, RESULT, expression=expressions.read_chain(walk, block))
    elif value.type == "class":
        index = walk.define(
            node,
            name,
            "class",
            signature_end=block.start_byte if block else None,
            qualified=qualified,
        )
        if index != MODULE:
            class_heritage(walk, value, index)
    else:
        return False
    return True


_LITERALS = frozenset({
    "string", "number", "true", "false", "null", "undefined", "template_string", "regex",
    "unary_expression", "update_expression", "jsx_element", "jsx_self_closing_element",
})  # fmt: skip
"""Values that say nothing about a call."""


def _declarator(walk: Walk, node: Node) -> None:
    left, value = node.child_by_field_name("name"), node.child_by_field_name("value")
    if left is None:
        return
    if walk.scopes and (value is None or value.type in _LITERALS):
        if walk.language.name == "javascript":
            return
        annotated = walk.field(node, "type")
        if annotated and left.type == "identifier":
            walk.bind(node, walk.text(left, 120), type=annotated)
        return
    annotated = walk.field(node, "type") or _documented(walk, node)
    text = walk.text(value) if value and value.end_byte - value.start_byte < 400 else ""
    if required := _REQUIRE.match(text):
        line, module, member = node.start_point[0] + 1, required.group(1), required.group(2)
        if left.type == "object_pattern":
            for name, alias in specifiers(walk.text(left)):
                walk.imported(line, module, name, alias)
        else:
            walk.imported(line, module, member[1:], walk.text(left, 100))
        return
    if left.type in ("object_pattern", "array_pattern"):
        if value is not None:
            _unpack(walk, left, expressions.read_chain(walk, value))
        return
    if left.type != "identifier":
        return
    name = walk.text(left, 120)
    if value is not None and _assigned(walk, node, name, value, None):
        return
    top = not walk.inside()
    found = ""
    if value is not None and not (top and value.type == "object"):
        found = expressions.read_chain(walk, value)
    walk.bind(node, name, type=annotated, expression=found)
    if top:
        kind: Kind = "constant" if name.isupper() else "variable"
        if value is not None and value.type == "object":
            kind = "object"
        index = walk.define(
            node,
            name,
            kind,
            opens=kind == "object",
            signature_end=value.start_byte if kind == "object" and value else None,
        )
        if kind == "object" and value is not None and index != MODULE:
            _members(walk, value, index)


def _members(walk: Walk, node: Node, index: int) -> None:
    """The members of an object that hold a value with a name; functions are symbols."""
    for each in node.named_children[:60]:
        if each.type == "shorthand_property_identifier":
            key = found = walk.text(each, 100)
        elif each.type == "pair":
            value = each.child_by_field_name("value")
            if value is None or value.type not in _NAMED_VALUES:
                continue
            key = walk.field(each, "key", 100).strip("'\"")
            found = expressions.read_chain(walk, value)
        else:
            continue
        walk.bind(each, key, expression=found, kind="field", scope=index,
                  inside=walk.symbols[index].parent)  # fmt: skip


_NAMED_VALUES = frozenset({"identifier", "member_expression", "call_expression", "new_expression"})


_DOCUMENTED = re.compile(
    rb"@type\s*\{([^{}*]{1,160})\}\s*(?:[^*]|\*(?!/)){0,200}\*/\s*(?:\w+\s+)?\Z"
)


def _documented(walk: Walk, node: Node) -> str:
    """The type in a comment before a node: `/** @type {Cart} */`."""
    start = node.start_byte
    before = walk.source[max(0, start - 300) : start]
    if b"@type" not in before:
        return ""
    found = _DOCUMENTED.search(before)
    return found.group(1).decode("utf-8", "replace").strip("!? ") if found else ""


def _unpack(walk: Walk, pattern: Node, value: str, last: int = 0) -> None:
    """`{a, b: c} = value`, `[a, b] = value`: each name is a member or an element of it."""
    if value == "?":
        return
    if "|" in value:
        value = f"({value})"
    for place, each in enumerate(pattern.named_children[:20]):
        kind, item = each.type, f"{value}[{place}]"
        name: Node | None = each
        if kind == "shorthand_property_identifier_pattern":
            item = f"{value}.{walk.text(each, 100)}"
        elif kind == "pair_pattern":
            name = each.child_by_field_name("value")
            item = f"{value}.{walk.field(each, 'key', 100)}"
        elif kind == "object_assignment_pattern":
            name = each.child_by_field_name("left")
            item = f"{value}.{walk.text(name, 100)}" if name else "?"
        elif kind not in ("identifier", "array_pattern", "object_pattern"):
            continue
        if name is None:
            continue
        if name.type in ("array_pattern", "object_pattern"):
            _unpack(walk, name, item, last)
        else:
            walk.bind(name, walk.text(name, 100), expression=item, last=last)


def _assignment(walk: Walk, node: Node) -> None:
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    kind = right.type
    if kind in _LITERALS and kind != "null":
        return
    if kind == "object" and walk.scopes:
        return
    target = walk.chain(walk.text(left, 200))
    owner, _, name = target.rpartition(".")
    if owner == "this":
        scope = walk.enclosing_class()
        if scope == MODULE:
            scope = walk.symbol()  # a function used as a constructor
        if right.type in FUNCTIONS:
            owned = walk.symbols[scope].qualified if scope != MODULE else ""
            _assigned(walk, node, name, right, f"{owned}.{name}" if owned else None)
            if owned:
                walk.symbols[-1].parent = scope
        else:
            value = expressions.read_chain(walk, right)
            annotated = _documented(walk, node)
            walk.bind(node, name, type=annotated, expression=value, kind="field", scope=scope,
                      inside=walk.symbol())  # fmt: skip
        return
    if target == "module.exports":
        if not _assigned(walk, node, "default", right, "default"):
            if right.type == "object":
                walk.define(node, "default", "object", signature_end=right.start_byte)
                for key, local in specifiers(walk.text(right, 4_000)):
                    if re.fullmatch(r"[\w$.]+", local) and key != local:
                        walk.bind(node, key, value=local, scope=MODULE)
            else:
                walk.bind(node, "default", value=walk.text(right), scope=MODULE)
        return
    if not target:
        return
    owner = owner.removesuffix(".prototype")
    if owner in ("exports", "module.exports"):
        if not _assigned(walk, node, name, right, name):
            walk.bind(node, name, value=walk.text(right), scope=MODULE)
    elif owner:
        if inner := walk.prefix():  # a member of something defined in this function
            local = f"{inner}.{owner}"
            if any(s.qualified == local for s in walk.symbols[-60:]):
                owner = local
        _assigned(walk, node, name, right, f"{owner}.{name}")
    elif right.type in FUNCTIONS:
        _assigned(walk, node, name, right, None)
    else:
        walk.bind(node, name, expression=expressions.read_chain(walk, right))


def _pair(walk: Walk, node: Node) -> None:
    value = node.child_by_field_name("value")
    if value is not None:
        name = walk.field(node, "key", 120).strip("'\"")
        _assigned(walk, node, name, value, None, member=True)


def _loop(walk: Walk, node: Node) -> None:
    """`for (const x of xs)`: the name is an element until the loop ends."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    sign = node.child_by_field_name("operator")
    if left is None or right is None or sign is None or sign.type != "of":
        return
    value = expressions.read_chain(walk, right)
    if value == "?":
        return
    value = f"({value})[*]" if "|" in value else f"{value}[*]"
    last = node.end_point[0] + 1
    if left.type == "identifier":
        walk.bind(node, walk.text(left, 100), expression=value, last=last)
    elif left.type in ("array_pattern", "object_pattern"):
        _unpack(walk, left, value, last)


def _result(walk: Walk, node: Node) -> None:
    """What a function returns or yields, when its signature does not say it."""
    value = first_child(node)
    if value is None or value.type in _LITERALS:
        return
    at = walk.symbol()
    if at == MODULE or walk.inside() in CONTAINERS or _typed(walk.symbols[at].signature):
        return
    around = node.parent
    for _ in range(12):  # a return of a callback is not a return of this function
        if around is None or around.start_byte <= walk.symbols[at].start:
            break
        if around.type in _ANONYMOUS and not _is_symbol(walk, around, at):
            return
        around = around.parent
    name = RESULT if node.type == "return_statement" else YIELD
    if value.type == "function_expression" and (named := walk.field(value, "name", 100)):
        block = value.child_by_field_name("body")
        walk.bind(node, name, expression=named)
        walk.define(value, named, "function", signature_end=block.start_byte if block else None)
        return
    walk.bind(node, name, expression=expressions.read_chain(walk, value))


_ANONYMOUS = frozenset({"arrow_function", "function_expression", "generator_function"})


def _typed(signature: str) -> bool:
    return re.search(r"\)\s*:\s*[^)]*\Z", signature) is not None


def _is_symbol(walk: Walk, function: Node, at: int) -> bool:
    """Whether a function expression is the one that the symbol is named by."""
    return function.end_byte <= walk.symbols[at].end and (
        walk.symbols[at].end - function.end_byte <= 2
    )


def _callback(walk: Walk, node: Node) -> None:
    """A function that is passed to a call: its parameters are what the callee gives it."""
    given = node.parent
    if given is None or given.type != "arguments":
        return
    call = given.parent
    if call is None:
        return
    parameters = node.child_by_field_name("parameters") or node.child_by_field_name("parameter")
    if parameters is None:
        return
    callee = call.child_by_field_name("function") or call.child_by_field_name("constructor")
    text = expressions.read_chain(walk, callee) if callee else "?"
    if text != "?" and "|" in text:
        text = f"({text})"
    few = given.named_children if given.named_child_count <= 6 else []
    place = next((i for i, c in enumerate(few) if c == node), -1)
    last = node.end_point[0] + 1
    single = parameters.type == "identifier"
    for number, each in enumerate([parameters] if single else parameters.named_children[:6]):
        name = each if single else each.child_by_field_name("pattern") or each
        annotated = "" if single else walk.field(each, "type")
        value = f"{text}^{place}^{number}" if text != "?" and place >= 0 else "?"
        if name.type == "identifier":
            walk.bind(each, walk.text(name, 100), type=annotated, expression=value, last=last)
        elif name.type in ("object_pattern", "array_pattern") and not annotated:
            _unpack(walk, name, value, last)


def _instance(walk: Walk, node: Node) -> None:
    """`x instanceof T` in a condition: x is a T where the condition holds."""
    left, right = node.child_by_field_name("left"), node.child_by_field_name("right")
    if left is None or right is None:
        return
    subject, type_ = walk.text(left, 160), walk.text(right, 160)
    if not (PLAIN.match(subject) and PLAIN.match(type_)):
        return
    negated, up = False, node.parent
    for _ in range(8):
        if up is None:
            return
        if up.type == "unary_expression":
            negated = not negated
        elif up.type == "binary_expression":
            sign = up.child_by_field_name("operator")
            if sign is None or sign.type != ("||" if negated else "&&"):
                return
        elif up.type != "parenthesized_expression":
            break
        up = up.parent
    if up is None:
        return
    last = 0
    if up.type == "if_statement":
        block = up.child_by_field_name("consequence")
        if block is None:
            return
        if not negated:
            last = block.end_point[0] + 1
        else:
            final = block if block.type in _ENDS else last_child(block)
            around = up.parent
            if final is None or around is None or final.type not in _ENDS:
                return
            walk.line = up.end_point[0] + 1
            last = around.end_point[0] + 1
    elif not negated and up.type == "ternary_expression":
        last = up.end_point[0] + 1
    if last:
        walk.bind(node, subject, type=type_, last=last)
    walk.line = node.start_point[0] + 1


_ENDS = frozenset({"return_statement", "throw_statement", "continue_statement", "break_statement"})


def field_rule(name: str) -> Rule:
    """A rule for a class field, whose name has the field `name`."""

    def rule(walk: Walk, node: Node) -> None:
        named, value = walk.field(node, name, 120), node.child_by_field_name("value")
        if value is not None and _assigned(walk, node, named, value, None):
            return
        found = expressions.read_chain(walk, value) if value else ""
        annotated = walk.field(node, "type") or _documented(walk, node)
        walk.bind(node, named, type=annotated, expression=found, kind="field")

    return rule


def _new(walk: Walk, node: Node) -> None:
    given = node.child_by_field_name("arguments")
    arity = given.named_child_count if given else 0
    walk.call(node, walk.field(node, "constructor", LONGEST), "new", arity)


def _jsx(walk: Walk, node: Node) -> None:
    name = walk.field(node, "name", LONGEST)
    if name[:1].isupper() or "." in name:
        walk.call(node, name)


def _decorator(walk: Walk, node: Node) -> None:
    what = first_child(node)
    if what and what.type in ("identifier", "member_expression"):
        walk.call(node, walk.text(what), "decorator")


def module(path: str, _package: str) -> str:
    """`src/shop.js` is `src.shop`; a folder is its `index`."""
    stem = re.sub(r"(?:\.d)?\.\w+$", "", path)
    return re.sub(r"/index$", "", stem).replace("/", ".")


RULES: dict[str, Rule] = {
    "export_statement": _export,
    "import_statement": _import,
    "function_declaration": definition("function"),
    "generator_function_declaration": definition("function"),
    "class_declaration": _class,
    "class": _class,
    "method_definition": _method,
    "variable_declarator": _declarator,
    "assignment_expression": _assignment,
    "pair": _pair,
    "for_in_statement": _loop,
    "return_statement": _result,
    "yield_expression": _result,
    "arrow_function": _callback,
    "function_expression": _callback,
    "binary_expression": _instance,
    "call_expression": calling(),
    "new_expression": _new,
    "jsx_opening_element": _jsx,
    "jsx_self_closing_element": _jsx,
    "decorator": _decorator,
}
PATTERNS = {
    "class": ("(class name: (_))",),
    "binary_expression": ('(binary_expression operator: "instanceof")',),
    "pair": ("(pair value: [(arrow_function) (function_expression)])",),
}

LANGUAGE = Language(
    name="javascript",
    grammar=("tree_sitter_javascript", "language"),
    rules={**RULES, "field_definition": field_rule("property")},
    patterns=PATTERNS,
    values=True,
    attributes=("@",),
    module=module,
)
