"""Edits one place of a JSON file and leaves every other byte as it is.

Settings files belong to their users: order, spacing, comments and trailing commas stay. So the text
is not parsed into values and printed again; it is scanned for the positions of its parts, and an
edit cuts or inserts there. Comments (`//`, `/* */`) and trailing commas are accepted, because some
agents allow them.

`remove` undoes `put` and `append` exactly, with one exception: white space inside an empty
`{ }` or `[ ]` is lost.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from holdfast.agents.errors import BadSettingsFile

DEPTH_MAX = 200
_WHITE = " \t\r\n\ufeff"


@dataclass(slots=True)
class Node:
    """A value in the text: its position and, for a container, its members or items."""

    kind: str
    """`object`, `array`, or `plain`."""
    start: int
    end: int
    members: list[tuple[str, int, Node]] = field(default_factory=list)
    """For an object: key, start of the key, value."""
    items: list[Node] = field(default_factory=list)

    def member(self, key: str) -> tuple[int, Node] | None:
        # If a key occurs twice the last one counts, as in common JSON parsers.
        for name, start, node in reversed(self.members):
            if name == key:
                return start, node
        return None

    def spans(self) -> list[tuple[int, int]]:
        """Start and end of each member or item, without commas."""
        if self.kind == "object":
            return [(start, node.end) for _, start, node in self.members]
        return [(node.start, node.end) for node in self.items]


class _Scanner:
    def __init__(self, text: str, name: str) -> None:
        self.text, self.name, self.at = text, name, 0

    def fail(self, what: str) -> BadSettingsFile:
        line = self.text.count("\n", 0, self.at) + 1
        return BadSettingsFile(self.name, f"line {line}: {what}")

    def skip(self) -> None:
        """Skip white space and comments."""
        text = self.text
        while self.at < len(text):
            if text[self.at] in _WHITE:
                self.at += 1
            elif text.startswith("//", self.at):
                end = text.find("\n", self.at)
                self.at = len(text) if end < 0 else end
            elif text.startswith("/*", self.at):
                end = text.find("*/", self.at)
                if end < 0:
                    raise self.fail("a comment does not end")
                self.at = end + 2
            else:
                return

    def peek(self) -> str:
        return self.text[self.at : self.at + 1]

    def value(self, depth: int = 0) -> Node:
        if depth > DEPTH_MAX:
            raise self.fail("nested too deeply")
        self.skip()
        start = self.at
        match self.peek():
            case "{":
                return self._object(start, depth)
            case "[":
                return self._array(start, depth)
            case '"':
                self.string()
                return Node("plain", start, self.at)
            case "":
                raise self.fail("a value is missing")
            case _:
                pass
        while self.peek() and self.peek() not in _WHITE + ",]}/":
            self.at += 1
        word = self.text[start : self.at]
        try:
            json.loads(word)
        except ValueError:
            raise self.fail(f"{word or self.peek()!r} is not a JSON value") from None
        return Node("plain", start, self.at)

    def string(self) -> str:
        start = self.at
        if self.peek() != '"':
            raise self.fail("a name in quotes is expected")
        self.at += 1
        while self.peek() != '"':
            if self.peek() in ("", "\n"):
                raise self.fail("a string does not end")
            self.at += 2 if self.peek() == "\\" else 1
        self.at += 1
        try:
            return str(json.loads(self.text[start : self.at], strict=False))
        except ValueError:
            raise self.fail("a string is not one") from None

    def _object(self, start: int, depth: int) -> Node:
        node = Node("object", start, start)

        def member() -> None:
            begin = self.at
            key = self.string()
            self.skip()
            if self.peek() != ":":
                raise self.fail("a colon is expected")
            self.at += 1
            node.members.append((key, begin, self.value(depth + 1)))

        self._elements(member, "}")
        node.end = self.at
        return node

    def _array(self, start: int, depth: int) -> Node:
        node = Node("array", start, start)
        self._elements(lambda: node.items.append(self.value(depth + 1)), "]")
        node.end = self.at
        return node

    def _elements(self, one: Callable[[], None], close: str) -> None:
        self.at += 1
        while True:
            self.skip()
            if self.peek() == close:
                self.at += 1
                return
            one()
            self.skip()
            if self.peek() == ",":
                self.at += 1
            elif self.peek() != close:
                raise self.fail(f"a comma or {close} is expected")


def scan(text: str, name: str = "settings") -> Node:
    """The nodes, with their positions, in the text of one JSON value."""
    scanner = _Scanner(text, name)
    node = scanner.value()
    scanner.skip()
    if scanner.at != len(text):
        raise scanner.fail("something stands after the end")
    return node


def value_of(text: str, node: Node) -> Any:
    """The value of a node."""
    if node.kind == "object":
        return {key: value_of(text, member) for key, _, member in node.members}
    if node.kind == "array":
        return [value_of(text, item) for item in node.items]
    return json.loads(text[node.start : node.end], strict=False)


def loads(text: str, name: str = "settings") -> Any:
    """The value of a whole text; a blank text is an empty object."""
    return {} if blank(text) else value_of(text, scan(text, name))


def blank(text: str) -> bool:
    """Whether a text has only white space."""
    return not text.strip(_WHITE)


def find(root: Node, path: tuple[str, ...]) -> Node | None:
    """The node at a path of keys, or None."""
    for key in path:
        node = root.member(key) if root.kind == "object" else None
        if node is None:
            return None
        root = node[1]
    return root


def put(text: str, path: tuple[str, ...], value: Any, name: str = "settings") -> str:
    """The text with this value at this path of keys; missing objects are created."""
    if blank(text):
        return _printed(_nested(path, value), "  ", "") + "\n"
    root = scan(text, name)
    for done, key in enumerate(path):
        if root.kind != "object":
            place = ".".join(path[:done]) or "the file"
            raise BadSettingsFile(name, f"{place} must be an object")
        node = root.member(key)
        if node is None:
            rest = _nested(path[done + 1 :], value)
            return _inserted(text, root, f"{json.dumps(key, ensure_ascii=False)}: ", rest)
        root = node[1]
    if value_of(text, root) == value:
        return text
    indent = _line_indent(text, root.start)
    printed = _printed(value, _unit(text), indent).replace("\n", _eol(text))
    return text[: root.start] + printed + text[root.end :]


def append(text: str, path: tuple[str, ...], value: Any, name: str = "settings") -> str:
    """The text with a value added to the array at this path, which is created if missing."""
    root = None if blank(text) else scan(text, name)
    node = None if root is None else find(root, path)
    if node is None:
        return put(text, path, [value], name)
    if node.kind != "array":
        raise BadSettingsFile(name, f"{'.'.join(path)} must be a list")
    return _inserted(text, node, "", value)


def remove(text: str, path: tuple[str, ...], name: str = "settings") -> str:
    """The text without the member at this path; unchanged if there is none."""
    parent = None if blank(text) else find(scan(text, name), path[:-1])
    if parent is None or parent.kind != "object":
        return text
    numbers = [n for n, member in enumerate(parent.members) if member[0] == path[-1]]
    return _cut(text, parent, numbers)


def remove_items(
    text: str, path: tuple[str, ...], matches: Callable[[Any], bool], name: str = "settings"
) -> str:
    """The text without the items of the array at this path for which `matches` is true."""
    node = None if blank(text) else find(scan(text, name), path)
    if node is None or node.kind != "array":
        return text
    numbers = [n for n, item in enumerate(node.items) if matches(value_of(text, item))]
    return _cut(text, node, numbers)


def _nested(path: tuple[str, ...], value: Any) -> Any:
    for key in reversed(path):
        value = {key: value}
    return value


def _printed(value: Any, unit: str, indent: str) -> str:
    lines = json.dumps(value, indent=unit, ensure_ascii=False).split("\n")
    return ("\n" + indent).join(lines)


def _unit(text: str) -> str:
    """One level of the file's indentation."""
    for line in text.split("\n")[1:]:
        white = line[: len(line) - len(line.lstrip(" \t"))]
        if white and line.strip():
            return "\t" if white.startswith("\t") else white[:8]
    return "  "


def _eol(text: str) -> str:
    return "\r\n" if "\r\n" in text else "\n"


def _line_indent(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip(" \t"))]


def _inserted(text: str, parent: Node, prefix: str, value: Any) -> str:
    """The text with a member or item added at the end of a container."""
    spans = parent.spans()
    unit = _unit(text)
    eol = _eol(text)
    outer = _line_indent(text, parent.start)
    inner = outer + unit
    if spans and "\n" not in text[parent.start : spans[0][0]]:
        # The container is on one line, so the new member goes on that line too.
        member = prefix + json.dumps(value, ensure_ascii=False)
        at = spans[-1][1]
        return f"{text[:at]}, {member}{text[at:]}"
    if spans:
        inner = _line_indent(text, spans[-1][0])
        member = prefix + _printed(value, unit, inner).replace("\n", eol)
        at = spans[-1][1]
        # A comment after the last member stays on its line.
        behind = at + len(_remark(text[at : parent.end - 1]))
        return f"{text[:at]},{text[at:behind]}{eol}{inner}{member}{text[behind:]}"
    member = prefix + _printed(value, unit, inner).replace("\n", eol)
    inside = text[parent.start + 1 : parent.end - 1]
    if inside.strip(_WHITE):
        # Comments stay where they are; the new member comes after them.
        at = parent.end - 1 - (len(inside) - len(inside.rstrip(_WHITE)))
        return f"{text[:at]}{eol}{inner}{member}{text[at:]}"
    return f"{text[: parent.start + 1]}{eol}{inner}{member}{eol}{outer}{text[parent.end - 1 :]}"


_REMARK = re.compile(r"[ \t]*(?://[^\r\n]*|/\*(?:(?!\*/)[^\r\n])*\*/[ \t]*)(?=\r?\n)")


def _remark(rest: str) -> str:
    """The comment at the end of the line, with the blanks before it; empty if there is none."""
    match = _REMARK.match(rest)
    return match[0] if match else ""


def _cut(text: str, parent: Node, numbers: list[int]) -> str:
    """The text without these members or items and their commas."""
    spans = parent.spans()
    for number in sorted(numbers, reverse=True):
        start, end = spans[number]
        if number > 0:
            # Cut from the end of the previous one, including its comma and white space.
            before = spans[number - 1][1]
            remark = _remark(text[before + 1 : start]) if text[before] == "," else ""
            if remark and text[before + 1 + len(remark) : start].strip(_WHITE) == "":
                text = text[:before] + remark + text[end:]
                spans = _spans_at(text, parent.start)
                continue
            start = before
        elif len(spans) > 1:
            end = spans[1][0]
        else:
            start, end = _alone(text, parent, start, end)
        text = text[:start] + text[end:]
        spans = _spans_at(text, parent.start)
    return text


def _alone(text: str, parent: Node, start: int, end: int) -> tuple[int, int]:
    """The range to cut for the only member of a container, including its line."""
    close = _spans_end(text, parent.start) - 1
    before, after = text[parent.start + 1 : start], text[end:close]
    if not before.strip(_WHITE):
        start = parent.start + 1
    else:
        start -= len(before) - len(before.rstrip(_WHITE))
    rest = after.strip(_WHITE)
    if rest == ",":
        end += after.index(",") + 1
        after = text[end:close]
        rest = ""
    indent = _line_indent(text, parent.start)
    if not rest and start == parent.start + 1 and after in ("\n" + indent, "\r\n" + indent):
        end = close
    return start, end


def _spans_at(text: str, start: int) -> list[tuple[int, int]]:
    """The spans of the container that starts here, after the text was cut."""
    scanner = _Scanner(text, "settings")
    scanner.at = start
    return scanner.value().spans()


def _spans_end(text: str, start: int) -> int:
    scanner = _Scanner(text, "settings")
    scanner.at = start
    return scanner.value().end
