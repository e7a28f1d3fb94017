"""Ignore rules: gitignore files as git reads them.

The rules of a file apply to paths below its directory. A later rule overrides an earlier one, a
deeper file a shallower one, and nothing below an excluded directory can be included again. Most
rules are about names only (`*.pyc`, `build/`), so the rules of a file are compiled into runs of one
sign: a set of plain names, a set of suffixes, one pattern for names and one for whole paths. This
keeps matching cheap compared with the system calls of a walk.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import lru_cache
from typing import Protocol

import msgspec

from holdfast.files.secrets import secret_name

JUDGED_MAX = 20_000
"""For how many names the rules of a file cache their verdict."""

PATTERN_LENGTH_MAX = 1_024
"""A longer pattern is not a rule."""

PATTERNS_MAX = 5_000
"""Of one file, rules with wildcards or directories beyond this number are not used."""

_PLAIN = re.compile(r"[^*?\[\\]+\Z")
_SUFFIX = re.compile(r"\*(\.[^*?\[\\./]+)\Z")


class Rule(msgspec.Struct, frozen=True):
    """One line of a gitignore file."""

    pattern: str
    negated: bool
    directories_only: bool
    anchored: bool


def parse_rule(line: str) -> Rule | None:
    """The rule in a line; None for a blank line, a comment or an empty pattern."""
    text = line.removesuffix("\n").removesuffix("\r")  # One of each, as git does.
    if text.startswith("#"):
        return None
    text = _without_trailing_spaces(text)
    negated = text.startswith("!")
    if negated:
        text = text[1:]
    if text.startswith(("\\#", "\\!")):
        text = text[1:]
    directories_only = text.endswith("/")
    if directories_only:
        text = text[:-1]
    if not text or text.endswith("/"):
        return None
    anchored = "/" in text
    return Rule(text.removeprefix("/"), negated, directories_only, anchored)


def _without_trailing_spaces(text: str) -> str:
    end = len(text)
    while end and text[end - 1] == " ":
        backslashes = 0
        while end - 2 - backslashes >= 0 and text[end - 2 - backslashes] == "\\":
            backslashes += 1
        if backslashes % 2:
            break
        end -= 1
    return text[:end]


class _Run(msgspec.Struct):
    """Neighbouring rules of one sign; their order among themselves does not matter."""

    negated: bool
    names: set[str] = msgspec.field(default_factory=set)
    suffixes: set[str] = msgspec.field(default_factory=set)
    directory_names: set[str] = msgspec.field(default_factory=set)
    name_patterns: list[str] = msgspec.field(default_factory=list)
    directory_name_patterns: list[str] = msgspec.field(default_factory=list)
    path_patterns: list[str] = msgspec.field(default_factory=list)
    directory_path_patterns: list[str] = msgspec.field(default_factory=list)
    _compiled: tuple[re.Pattern[str] | None, ...] = ()

    def add(self, rule: Rule) -> None:
        if rule.anchored:
            regex = _path_regex(rule.pattern)
            if regex is not None:
                into = self.directory_path_patterns if rule.directories_only else self.path_patterns
                into.append(regex)
        elif _PLAIN.match(rule.pattern):
            (self.directory_names if rule.directories_only else self.names).add(rule.pattern)
        elif (suffix := _SUFFIX.match(rule.pattern)) and not rule.directories_only:
            self.suffixes.add(suffix[1])
        else:
            regex = _name_regex(rule.pattern)
            if regex is not None:
                into = self.directory_name_patterns if rule.directories_only else self.name_patterns
                into.append(regex)

    def seal(self) -> None:
        self._compiled = tuple(
            re.compile(f"(?:{'|'.join(patterns)})\\Z", re.DOTALL) if patterns else None
            for patterns in (
                self.name_patterns,
                self.path_patterns,
                self.directory_name_patterns,
                self.directory_path_patterns,
            )
        )

    def matches(self, path: str, name: str, directory: bool) -> bool:
        if name in self.names:
            return True
        if self.suffixes:
            dot = name.rfind(".")
            if dot >= 0 and name[dot:] in self.suffixes:
                return True
        by_name, by_path, directory_by_name, directory_by_path = self._compiled
        if by_name is not None and by_name.match(name):
            return True
        if by_path is not None and by_path.match(path):
            return True
        if not directory:
            return False
        if name in self.directory_names:
            return True
        if directory_by_name is not None and directory_by_name.match(name):
            return True
        return directory_by_path is not None and directory_by_path.match(path) is not None


class Rules:
    """The rules of one file, about paths relative to its directory."""

    def __init__(self, lines: Iterable[str]) -> None:
        self._lines = tuple(lines)
        self._runs: list[_Run] | None = None
        self._files: dict[str, bool | None] | None = None
        self._directories: dict[str, bool | None] | None = None

    @property
    def digest(self) -> bytes:
        """Identifies the rules; equal for equal lines."""
        text = "\n".join(self._lines).encode("utf-8", "surrogatepass")
        return hashlib.blake2b(text, digest_size=16).digest()

    def __bool__(self) -> bool:
        """Whether a line may be a rule."""
        return any(line.strip() and not line.startswith("#") for line in self._lines)

    def verdict(self, path: str, name: str, directory: bool) -> bool | None:
        """True excludes the path, False includes it again, None means no rule matches."""
        if self._runs is None:
            self._compile()
        judged = self._directories if directory else self._files
        if judged is None:
            return self._judge(path, name, directory)
        try:
            return judged[name]
        except KeyError:
            if len(judged) >= JUDGED_MAX:
                judged.clear()
            verdict = judged[name] = self._judge(path, name, directory)
            return verdict

    def _compile(self) -> None:
        """Parse the lines. A walk that finds nothing new does not need it."""
        runs: list[_Run] = []
        patterns = 0
        for line in self._lines:
            rule = parse_rule(line if line.isascii() else _by_byte(line))
            if rule is None or len(rule.pattern) > PATTERN_LENGTH_MAX:
                continue
            if rule.anchored or not _PLAIN.match(rule.pattern):
                patterns += 1
                if patterns > PATTERNS_MAX:
                    continue
            if not runs or runs[-1].negated != rule.negated:
                runs.append(_Run(rule.negated))
            runs[-1].add(rule)
        for run in runs:
            run.seal()
        runs.reverse()
        by_path = any(run.path_patterns for run in runs)
        by_directory = any(run.directory_path_patterns for run in runs)
        # Where only the name decides, the verdict is cached.
        self._files = None if by_path else {}
        self._directories = None if by_path or by_directory else {}
        self._runs = runs  # Last, because another thread may ask meanwhile.

    def _judge(self, path: str, name: str, directory: bool) -> bool | None:
        if not path.isascii():
            path, name = _by_byte(path), _by_byte(name)
        for run in self._runs or ():
            if run.matches(path, name, directory):
                return not run.negated
        return None


def _by_byte(text: str) -> str:
    """Text with one character for each byte: in git `?` matches a byte, and `é` has two."""
    try:
        return text.encode("utf-8", "surrogateescape").decode("latin-1")
    except UnicodeEncodeError:
        return text  # Not the name of any file.


class Layer(Protocol):
    """Something with a verdict on paths."""

    @property
    def digest(self) -> bytes: ...

    def verdict(self, path: str, name: str, directory: bool) -> bool | None: ...

    def __bool__(self) -> bool: ...


class RuleStack(msgspec.Struct, frozen=True):
    """Rules from the top of a tree down to one directory, each with the length of its prefix.

    `prefix` is where the rules' directory is: rules are matched against the path after it.
    """

    layers: tuple[tuple[Layer, str, int], ...] = ()
    user: Layer | None = None
    """The user's own rules. Only they can bring back a file that holds secrets by its name."""

    def with_rules(self, rules: Layer, prefix: str = "", drop: int = 0) -> RuleStack:
        """A deeper stack. A path is `prefix` + path, without its first `drop` characters."""
        if not rules:
            return self
        return RuleStack((*self.layers, (rules, prefix, drop)), self.user)

    def digest(self) -> bytes:
        """Identifies the rules; equal for stacks of equal rules, also in another process."""
        return _digest(self)

    def excludes(self, path: str, name: str, directory: bool) -> bool:
        """Whether these rules leave a path out, given that its directory is not left out."""
        for rules, prefix, drop in reversed(self.layers):
            verdict = rules.verdict(
                (prefix + path)[drop:] if prefix or drop else path, name, directory
            )
            if verdict is not None:
                return verdict
        return False

    def is_secret(self, path: str, name: str) -> bool:
        """Whether a file holds secrets by its name or place, and the user did not allow it."""
        if not secret_name(path):
            return False
        return self.user is None or self.user.verdict(path, name, False) is not False


@lru_cache(maxsize=4096)
def _digest(stack: RuleStack) -> bytes:
    digest = hashlib.blake2b(b"" if stack.user is None else stack.user.digest, digest_size=16)
    for rules, prefix, drop in stack.layers:
        place = prefix.encode("utf-8", "surrogatepass")
        digest.update(rules.digest + drop.to_bytes(4, "little") + len(place).to_bytes(4, "little"))
        digest.update(place)
    return digest.digest()


@lru_cache(maxsize=4096)
def _name_regex(pattern: str) -> str | None:
    return _translate(pattern, path=False)


@lru_cache(maxsize=4096)
def _path_regex(pattern: str) -> str | None:
    return _translate(pattern, path=True)


def _translate(pattern: str, *, path: bool) -> str | None:
    """A gitignore pattern as a regular expression; None if it can match nothing.

    Nothing in it backtracks over more than one star. After a star the first place where the next
    fixed part fits is always the best one, so each star is an atomic group with the part behind it;
    the same holds for `**/` and the components behind it. Matching takes at most the length of the
    path times that of the pattern.
    """
    parsed = _parse(pattern, path=path)
    if parsed is None:
        return None
    blocks = _split(parsed, _ANY_DEPTH)
    regex = _block(blocks[0])
    for block in blocks[1:-1]:
        regex += f"(?>(?:[^/]*/)*?{_block(block)})"
    if len(blocks) > 1:
        regex += f"(?:[^/]*/)*?{_block(blocks[-1])}"
    return regex


_STAR, _ANY_DEPTH, _REST, _ALL = object(), object(), object(), object()
"""Parts of a pattern: `*`, `**/`, a trailing `/**` after something, and `**` alone."""


def _parse(pattern: str, *, path: bool) -> list[object] | None:
    """The parts of a pattern: stars, and regular expressions that match one character each."""
    parts: list[object] = []
    i, n = 0, len(pattern)
    while i < n:
        c = pattern[i]
        if c == "*":
            stars = i
            while i < n and pattern[i] == "*":
                i += 1
            starts = stars == 0 or pattern[stars - 1] == "/"
            ends = i == n or pattern[i] == "/"
            if not (path and i - stars >= 2 and starts and ends):
                parts.append(_STAR)
            elif i == n:
                parts.append(_REST if stars else _ALL)
            else:
                parts.append(_ANY_DEPTH)
                i += 1
            continue
        i += 1
        if c == "?":
            parts.append("[^/]")
        elif c == "[":
            cls, i = _character_class(pattern, i)
            if cls is None:
                return None
            parts.append(cls)
        elif c == "\\":
            if i == n:
                return None
            parts.append(re.escape(pattern[i]))
            i += 1
        else:
            parts.append(re.escape(c))
    return parts


def _split(parts: list[object], at: object) -> list[list[object]]:
    pieces: list[list[object]] = [[]]
    for part in parts:
        if part == at:
            pieces.append([])
        else:
            pieces[-1].append(part)
    return pieces


def _block(parts: list[object]) -> str:
    """Components without `**/` between them; each is atomic, for a star never crosses a slash."""
    components = _split(parts, "/")
    return "/".join(
        _component(component) if last else f"(?>{_component(component)}(?=/))"
        for component, last in zip(
            components, [*[False] * (len(components) - 1), True], strict=True
        )
    )


def _component(parts: list[object]) -> str:
    whole = {_REST: ".+", _ALL: ".*"}
    if len(parts) == 1 and parts[0] in whole:
        return whole[parts[0]]
    fixed = ["".join(map(str, piece)) for piece in _split(parts, _STAR)]
    if len(fixed) == 1:
        return fixed[0]
    middle = "".join(f"(?>[^/]*?{piece})" for piece in fixed[1:-1] if piece)
    return f"{fixed[0]}{middle}[^/]*{fixed[-1]}"


_POSIX = {
    "alnum": "a-zA-Z0-9",
    "alpha": "a-zA-Z",
    "blank": " \\t",
    "cntrl": "\\x00-\\x1f\\x7f",
    "digit": "0-9",
    "graph": "\\x21-\\x7e",
    "lower": "a-z",
    "print": "\\x20-\\x7e",
    "punct": "!-/:-@\\[-`{-~",
    "space": " \\t\\n\\r\\f\\v",
    "upper": "A-Z",
    "xdigit": "0-9a-fA-F",
}


def _character_class(pattern: str, i: int) -> tuple[str | None, int]:
    """The class after a `[`, and where it ends; None if it never ends."""
    n = len(pattern)
    negated = i < n and pattern[i] in "!^"
    if negated:
        i += 1
    items: list[str] = []
    first = True
    while True:
        if i >= n:
            return None, i
        c = pattern[i]
        if c == "]" and not first:
            i += 1
            break
        first = False
        if c == "[" and pattern.startswith("[:", i) and (end := pattern.find(":]", i + 2)) >= 0:
            name = pattern[i + 2 : end]
            if name not in _POSIX:
                return None, i
            items.append(_POSIX[name])
            i = end + 2
            continue
        if c == "\\":
            i += 1
            if i >= n:
                return None, i
            c = pattern[i]
        i += 1
        if i + 1 < n and pattern[i] == "-" and pattern[i + 1] != "]":
            i += 1
            last = pattern[i]
            if last == "\\":
                i += 1
                if i >= n:
                    return None, i
                last = pattern[i]
            i += 1
            # Of a range that goes backwards git still takes the letter it begins with.
            items.append(f"{re.escape(c)}-{re.escape(last)}" if c <= last else re.escape(c))
        else:
            items.append(re.escape(c))
    body = "".join(items)
    if not body:
        return ("[^/]" if negated else "(?!)"), i
    # A class never matches the slash, whatever it says.
    return f"(?!/)[{'^' if negated else ''}{body}]", i
