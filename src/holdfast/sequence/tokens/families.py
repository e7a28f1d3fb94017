"""How languages write comments and strings, as data.

A family is what the lexer needs to know about a group of languages. Both lexers, the regular
expression and the compiled one, are generated from these rows.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Family:
    """The comments and strings of a group of languages."""

    name: str
    line_comments: tuple[bytes, ...] = ()
    """Openers of comments that end with the line; at most three bytes each."""
    block_comments: tuple[tuple[bytes, bytes], ...] = ()
    """Openers and closers; an unclosed comment runs to the end. At most four bytes each."""
    line_quotes: bytes = b""
    """Quotes of strings that end with the line if they are not closed."""
    block_quotes: bytes = b""
    """Quotes of strings that may contain newlines; an unclosed one runs to the end."""
    char_quotes: bytes = b""
    """Quotes of one character or one escape; anything else after them is an operator."""
    triple: bool = False
    """Whether a tripled line quote opens a string that may contain newlines."""
    escapes: bool = True
    """Whether a backslash escapes the next byte in a line or tripled string."""
    block_escapes: bool = True


C = ((b"/*", b"*/"),)

FAMILIES: tuple[Family, ...] = (
    Family("plain"),
    Family("c", (b"//",), C, b'"', char_quotes=b"'"),
    Family("script", (b"//",), C, b"\"'", b"`"),
    Family("go", (b"//",), C, b'"', b"`", b"'", block_escapes=False),
    Family("php", (b"//", b"#"), C, b"\"'"),
    Family("python", (b"#",), (), b"\"'", triple=True),
    Family("hash", (b"#",), (), b"\"'"),
    Family("sql", (b"--",), C, b"\"'", escapes=False),
    Family("lua", (b"--",), ((b"--[[", b"]]"), (b"[[", b"]]")), b"\"'"),
    Family("haskell", (b"--",), ((b"{-", b"-}"),), b'"', char_quotes=b"'"),
    Family("lisp", (b";",), ((b"#|", b"|#"),), b'"'),
    Family("markup", (), ((b"<!--", b"-->"),), b'"'),
    Family("css", (), C, b"\"'"),
    Family("percent", (b"%",), (), b'"'),
    Family("ml", (), ((b"(*", b"*)"),), b'"', char_quotes=b"'"),
)

BY_NAME: dict[str, int] = {family.name: number for number, family in enumerate(FAMILIES)}

_SUFFIXES = {
    "c": "c h cc cpp cxx hpp hh hxx m mm java cs rs kt kts swift scala d zig v sv glsl hlsl cu"
    " proto dart groovy gradle vala",
    "script": "js jsx mjs cjs ts tsx mts cts vue svelte json json5 jsonc",
    "go": "go",
    "php": "php phtml",
    "python": "py pyi pyx pxd bzl",
    "hash": "sh bash zsh fish rb pl pm yaml yml toml cfg conf ini mk cmake r jl ex exs nim tf hcl"
    " ps1 dockerfile makefile tcl awk graphql properties nix",
    "sql": "sql",
    "lua": "lua",
    "haskell": "hs elm purs idr",
    "lisp": "lisp cl el clj cljs cljc scm rkt",
    "markup": "html htm xml xhtml svg xsl xsd",
    "css": "css scss less",
    "percent": "tex erl hrl m4 prolog",
    "ml": "ml mli fs fsi fsx sml",
    "plain": "md rst txt adoc org",
}

BY_SUFFIX: dict[str, int] = {
    suffix: BY_NAME[name] for name, suffixes in _SUFFIXES.items() for suffix in suffixes.split()
}

OPERATORS_3 = tuple(
    b"... === !== **= //= >>= <<= >>> <=> ..= ??= ||= &&= ->* ::= <<< |>> =~=".split()
)
OPERATORS_2 = tuple(
    b"== != <= >= && || ++ -- += -= *= /= %= &= |= ^= << >> -> => :: .. ?? ?. ** // := |> <- =~"
    b"".split()
)

KEYWORDS = frozenset(
    b"""
    abstract alias and as assert async await auto begin bool boolean break byte case catch char
    class const constexpr continue crate declare def default defer del delete do done double dyn
    elif else elsif elseif end endif ensure enum esac except explicit export extends extern
    false fi final finally float fn for foreach friend from func function global goto go if impl
    implements import in include inline instanceof int interface internal is lambda let long
    loop match mod module move mut mutable namespace native new next nil none None not null
    nullptr object of operator or out override package pass private protected pub public raise
    range readonly ref register require rescue return sealed select self Self short signed
    sizeof static struct super switch synchronized template then this throw throws trait
    transient true True False try type typedef typename typeof undefined union unless unsafe
    unsigned until use using val var virtual void volatile when where while with yield
    """.split()
)
"""Words that are not renamed when identifiers are normalised, of all languages together."""


def family_of(path: str) -> int:
    """The number of the family of a file name; plain text if it is unknown."""
    name = path.rstrip("/").rpartition("/")[2].lower()
    suffix = name.rpartition(".")[2]
    return BY_SUFFIX.get(suffix, BY_SUFFIX.get(name, 0))
