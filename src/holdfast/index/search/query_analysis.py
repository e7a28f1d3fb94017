"""What a query asks for, from its text alone.

`HTTPAdapter.send` asks for a definition, `auth/session.py` for a file, `KeyError: 'no route'` for
the place that raises it, and a question in words for the code that does it, whatever its name. The
kind chooses the weights of lanes and signals. It never excludes anything, so a wrong guess affects
the order only.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import Literal

import msgspec

from holdfast.index.search.roles import Role
from holdfast.index.search.terms import WORD, compact, parts, stem
from holdfast.patterns import lazy_pattern

Kind = Literal["symbol", "path", "error", "question", "mixed"]
Style = Literal["type", ""]
"""The style of a name: `HttpServer` is written like a type, `send` and `MAX_SIZE` are not."""


class Word(msgspec.Struct, frozen=True):
    """A word of the query: its term, and synonymous terms."""

    text: str
    term: str
    others: tuple[str, ...] = ()


class Name(msgspec.Struct, frozen=True):
    """A symbol's name in compact form, with its owner's if the query has one."""

    name: str
    owner: str = ""
    style: Style = ""
    bases: tuple[str, ...] = ()
    """The owner's bases, nearest first, if the owner does not define the name itself."""


class AnalyzedQuery(msgspec.Struct, frozen=True):
    """The kind of a query, and the words, names and roles it asks for."""

    text: str
    kind: Kind
    words: tuple[Word, ...]
    joins: tuple[str, ...]
    """Neighbouring words joined, as in an identifier."""
    names: tuple[Name, ...]
    """Words written like identifiers, or the whole query."""
    stems: tuple[str, ...]
    """File names without extension, in compact form."""
    wants: frozenset[Role]
    """Roles the query asks for; these are not ranked lower."""
    mentions: frozenset[Role] = frozenset()
    """Roles the query mentions, perhaps because the program is about them; only slightly lower."""


def _table(text: str) -> dict[str, tuple[str, ...]]:
    found: dict[str, list[str]] = {}
    for line in text.strip().splitlines():
        group = line.split()
        for word in group:
            others = found.setdefault(word, [])
            others += [other for other in group if other != word and other not in others]
    return {word: tuple(others) for word, others in found.items()}


SAME = _table(
    """
    message msg
    config configuration cfg conf
    context ctx
    request req
    response resp res
    database db
    function func fn
    error err exception
    index idx
    pointer ptr
    string str
    number num
    button btn
    authentication auth authenticate authorization
    authorize auth authorization
    parameter param
    argument arg
    attribute attr
    property prop
    value val
    variable var
    temporary temp tmp
    directory dir folder
    document doc
    information info
    initialize init initialise setup
    implementation impl
    environment env
    application app
    administrator admin
    repository repo
    package pkg
    library lib
    utility util
    source src
    destination dest dst
    previous prev
    current cur
    maximum max
    minimum min
    average avg
    length len
    count cnt
    column col
    image img
    background bg
    command cmd
    buffer buf
    address addr
    connection conn
    statement stmt
    expression expr
    declaration decl
    definition def
    reference ref
    original orig
    execute exec run
    evaluate eval
    synchronize sync
    asynchronous async
    remove delete
    specification spec
    description desc
    example sample
    calculate compute calc
    generate gen
    regular regex
    expression expr
    character char
    integer int
    boolean bool
    dictionary dict
    object obj
    element elem
    process proc
    thread worker
    password passwd pwd
    user usr
    identifier id
    timestamp time
    transaction tx txn
    window win
    format fmt
    language lang
    resource res
    memory mem
    allocate alloc
    operation op
    operator op
    position pos
    coordinate coord
    rectangle rect
    vector vec
    matrix mat
    middle mid
    version ver
    certificate cert
    signature sig
    public pub
    private priv
    navigation nav
    component comp
    manager mgr
    controller ctrl
    control ctrl
    service svc
    server srv
    kubernetes k8s
    internationalization i18n
    localization l10n
    """
)
"""Synonyms and usual abbreviations."""

_ASIDE = frozenset(
    WORD.findall(
        """
    a an the and or of to in on at by for from with as is are was were be been being it its this
    that these those how where what which who whom whose when why does do did done can could should
    would will shall may might must i we you they he she there here into onto than then so if not no
    any all some each every both about via per using used uses use while
    function method implement implements implemented implementation logic
    handled happen happens responsible find show me located defined
    """
    )
)
"""Stop words."""

_NAME = lazy_pattern(r"[A-Za-z_$][\w$]*")
_QUALIFIED = lazy_pattern(
    r"[A-Za-z_$@#][\w$]*(?:(?:\.|::|->|#|\\)[A-Za-z_$][\w$]*)*[!?]?(?:\(\s*\))?"
)
_PATH = lazy_pattern(r"[\w.@~+-]*(?:/[\w.@~+-]+)+/?|[\w@+-]+\.[a-z][a-z0-9]{0,4}")
_CODE_ENDINGS = frozenset(
    WORD.findall(
        """
    py pyi js jsx ts tsx mjs cjs go rs java kt kts scala rb php c h cc cpp hpp cxx hh cs swift lua
    sh bash zsh ex exs hs zig md rst txt json yaml yml toml ini cfg xml html css scss sql proto vue
    svelte dart r jl pl clj erl ml fs gradle
    """
    )
)
_ERROR = lazy_pattern(
    r"""
    \b\w*(?:Error|Exception|Panic|Fault)\b\s*:      # ValueError: ...
    | \b(?:traceback|stack\s?trace|panicked\ at|segmentation\ fault|undefined\ reference|errno)\b
    | %[sdvr]\b | \{\}
    """,
    re.VERBOSE | re.IGNORECASE,
)
_COMPLAINT = lazy_pattern(
    r"\b(?:cannot|can't|could not|couldn't|unable to|failed to|must be|expected|invalid|unexpected|"
    r"no such|not found|is not a|missing)\b",
    re.IGNORECASE,
)
_MARK = lazy_pattern(r"[\"'`:%{]")
"""Punctuation that follows a complaint in an error message, and rarely in a question."""
_ROLES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "test",
        lazy_pattern(
            r"\b(?:unit|integration|regression|functional|end[ -]to[ -]end|e2e|property) tests?\b"
            # A type spec is not a test.
            r"|(?<!\btype )\b(?:tests?|specs?|mocks?|fixtures?|test (?:case|suite)s?)"
            r" (?:of|for|about)\b"
            r"|\btest (?:files?|helpers?|data|fixtures?)\b|\btested\b|^(?:tests?|specs?)\b"
            r"|\A\S+(?: \S+)? (?:tests?|specs?)\Z"
        ),
    ),
    (
        "example",
        lazy_pattern(
            r"\b(?:examples?|samples?|demos?) (?:of|for|how|showing|that|code|apps?|programs?)\b"
            r"|\btutorials?\b|^(?:examples?|demos?)\b|\A\S+(?: \S+)? (?:examples?|demos?)\Z"
        ),
    ),
    ("document", lazy_pattern(r"\b(?:docs|documentation|readme|changelog|guide)\b")),
    ("generated", lazy_pattern(r"\b(?:generated (?:code|files?|sources?)|minified|dist)\b")),
    ("vendored", lazy_pattern(r"\b(?:vendor(?:ed)?|third[ -]party)\b")),
    ("legacy", lazy_pattern(r"\b(?:legacy|deprecated|compat(?:ibility)?|polyfills?)\b")),
    ("benchmark", lazy_pattern(r"\b(?:bench(?:mark)?s?|performance tests?)\b")),
    ("declaration", lazy_pattern(r"\b(?:type declarations?|typings?|stubs?|\.d\.ts|pyi)\b")),
    ("data", lazy_pattern(r"\b(?:xsd|svg|csv|locales?|translations?|resource files?)\b")),
    (
        "build",
        lazy_pattern(r"\b(?:build|packag\w+|install\w*|ci|workflow|makefile|cmake|docker)\b"),
    ),
)
_MENTIONED: tuple[tuple[Role, re.Pattern[str]], ...] = (
    ("test", lazy_pattern(r"(?<!\btype )\b(?:tests?|testing|specs?|fixtures?|mocks?)\b")),
    ("example", lazy_pattern(r"\b(?:examples?|samples?|demos?)\b")),
    ("document", lazy_pattern(r"\bdoc\b")),
    ("generated", lazy_pattern(r"\b(?:generated|bundle)\b")),
    ("data", lazy_pattern(r"\bxml\b")),
)
_ROLE_MARKS = (
    "test", "spec", "mock", "fixture", "exampl", "sampl", "demo", "tutor", "doc", "readme",
    "change", "guide", "generat", "minif", "dist", "vendor", "party", "legacy", "deprec", "compat",
    "polyfill", "bench", "typ", "stub", ".d.ts", "pyi", "xsd", "svg", "csv", "locale", "transl",
    "resource", "build", "packag", "install", "ci", "workflow", "make", "bundle", "xml",
)  # fmt: skip
"""Every text that one of these patterns matches has one of these; most questions have none."""
_POSSESSIVE = lazy_pattern("(?<=\\w)['\u2019]s\\b")
JOINED_MAX = 4
SPOKEN_MAX = 500
"""At most this many words are searched for; a longer query is a pasted file."""


def analyze(query: str) -> AnalyzedQuery:
    """Analyze a query. Pure: the result depends on the text alone."""
    text = query.strip()
    tokens = text.split()
    paths = [token for token in tokens if _is_path(token.strip("\"'`,;()"))]
    names = _names(tokens)
    spoken = WORD.findall(_POSSESSIVE.sub("", text))[:SPOKEN_MAX]
    kind = _kind(text, tokens, paths, names)
    asked = tuple(dict.fromkeys(names if kind != "path" else ()))
    stems = tuple(compact(path.rstrip("/").rsplit("/", 1)[-1].split(".")[0]) for path in paths)
    lowered = text.lower()
    marked = any(map(lowered.__contains__, _ROLE_MARKS))
    wants = _roles_in(lowered, _ROLES) if marked else frozenset()
    mentions = _roles_in(lowered, _MENTIONED) if marked else frozenset()
    return AnalyzedQuery(text, kind, _words(spoken), _joins(spoken), asked, stems, wants, mentions)


def _roles_in(text: str, patterns: Iterable[tuple[Role, re.Pattern[str]]]) -> frozenset[Role]:
    return frozenset(role for role, pattern in patterns if pattern.search(text))


def _is_path(token: str) -> bool:
    if not ("/" in token or "." in token) or not _PATH.fullmatch(token):
        return False
    if "/" in token:
        return not token.startswith("//") and any(map(str.isalpha, token))
    return token.rsplit(".", 1)[1] in _CODE_ENDINGS


def _names(tokens: list[str]) -> list[Name]:
    """Names in the style of identifiers, quoted as code, or forming the whole query."""
    found = []
    for token in tokens:
        if token.isalpha() and token.islower() and len(tokens) > 1:
            continue  # Most words; nothing below takes them for a name.
        quoted = len(token) > 2 and token[0] == "`" and token.rstrip(".,;:?")[-1] == "`"
        bare = token.strip("\"'`,;?:").rstrip(".")
        if not _QUALIFIED.fullmatch(bare) or _is_path(bare):
            continue
        called = bare.endswith("()")
        bare = bare.removesuffix("()").rstrip("!?").lstrip("@#$")
        qualified = re.search(r"\.|::|->|#|\\", bare) is not None
        chain = re.split(r"\.|::|->|#|\\", bare)
        last = chain[-1]
        qualified = qualified and len(last) > 1  # not "e.g."
        named = quoted or called or qualified or _named(last) or len(tokens) == 1
        if named and _NAME.fullmatch(last):
            owner = compact(chain[-2]) if len(chain) > 1 else ""
            found.append(Name(compact(last), owner, _style(last)))
    if not found and len(tokens) == 2 and all(_NAME.fullmatch(t) for t in tokens):
        # "class Session", "Session request": a capital suggests a name.
        found = [
            Name(compact(t), style=_style(t)) for t in tokens if t[0].isupper() and not t.isupper()
        ]
    return found


def _style(name: str) -> Style:
    """The style of a name; one in capitals alone may be a constant as well as a type."""
    letters = name.lstrip("_$")
    return "type" if letters[:1].isupper() and not letters.isupper() else ""


def _named(word: str) -> bool:
    """Whether a word is written in a way that only identifiers are."""
    stripped = word.strip("_")
    if not stripped:
        return False
    if "_" in stripped or word.startswith("__"):
        return True
    if re.search(r"[a-z\d][A-Z]", stripped) or re.search(r"[A-Z]{2,}[a-z]{2,}", stripped):
        return True
    return bool(re.search(r"[A-Za-z]\d+[A-Za-z]", stripped))


def _kind(text: str, tokens: list[str], paths: list[str], names: list[Name]) -> Kind:
    if paths and len(tokens) <= 2:
        return "path"
    if len(tokens) == 1 or (names and len(names) == len(tokens) and len(tokens) <= 3):
        return "symbol" if names else "question"
    if _is_error(text):
        return "error"
    if len(tokens) == 2 and names and tokens[0].lower() in _KEYWORDS:
        return "symbol"
    return "mixed" if names or paths else "question"


def _is_error(text: str) -> bool:
    """Whether a text reads like an error message. Takes linear time."""
    if _ERROR.search(text) is not None:
        return True
    inner = text[1:-1]
    if (
        text.startswith(("'", '"'))
        and text.endswith(("'", '"'))
        and inner.count("\n") <= 1
        and _SPACE.search(inner) is not None
    ):
        return True
    for line in text.split("\n"):
        said = _COMPLAINT.search(line)
        if said is not None and _MARK.search(line, said.end()) is not None:
            return True
    return False


_SPACE = lazy_pattern(r"\s")
_KEYWORDS = frozenset(
    WORD.findall(
        "class def func function fn method struct interface trait enum type module const var let "
        "object protocol macro"
    )
)


def _words(spoken: list[str]) -> tuple[Word, ...]:
    found: dict[str, Word] = {}
    aside: dict[str, Word] = {}
    for word in spoken:
        split = parts(word)
        if len(split) > 1:
            whole = compact(word)
            found.setdefault(whole, Word(word, whole))
        for part in split:
            little = part in _ASIDE and len(split) == 1
            kept = aside if little else found
            term = stem(part)
            if term not in kept:
                others = tuple(dict.fromkeys(stem(other) for other in SAME.get(part, ())))
                kept[term] = Word(part, term, tuple(o for o in others if o != term))
    return tuple((found or aside).values())


def _joins(spoken: list[str]) -> tuple[str, ...]:
    """`web socket` may be `WebSocket`, `web_socket` or `websocket`; all are one compact term."""
    found: dict[str, None] = {}
    lowered = [compact(word) for word in spoken]
    for first in range(len(lowered)):
        for count in range(2, JOINED_MAX + 1):
            run = lowered[first : first + count]
            if len(run) == count and not (run[0] in _GLUE or run[-1] in _GLUE):
                found["".join(run)] = None
    return tuple(found)


_GLUE = frozenset(
    WORD.findall(
        """
    a an the and or of to in on at by for from with as is are was be it its this that how where
    what which who when why does do did can could should would will i we you they
    """
    )
)
