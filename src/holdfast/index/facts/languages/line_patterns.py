"""Patterns for lines with definitions, for languages without a grammar.

There is one conservative pattern for each language, anchored to the start of a line. White space,
which may cross lines, and repetitions are bounded when a pattern is compiled, so that no file can
make one slow.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property

from holdfast.index.facts.model import Kind

SPACE_MAX = 40
TIMES_MAX = 64


@dataclass(frozen=True)
class Lines:
    """The pattern of definitions in a language.

    `text` is a pattern that is tried at the start of every line: its group `word` says what is
    defined, `name` is its name. `kinds` maps the word, in lower case, to a kind; "" stands for a
    line without a word.
    """

    text: str
    kinds: dict[str, Kind]
    flags: int = 0

    @cached_property
    def pattern(self) -> re.Pattern[bytes]:
        """The compiled pattern, cached."""
        text = self.text.replace(r"\s+", rf"\s{{1,{SPACE_MAX}}}")
        text = text.replace(r"\s*", rf"\s{{0,{SPACE_MAX}}}")
        text = re.sub(r"(?<!\\)\)\*", f"){{0,{TIMES_MAX}}}", text)
        whole = rf"^(?P<indent>[ \t]*)(?:{text})"
        return re.compile(whole.encode(), re.MULTILINE | re.VERBOSE | self.flags)


def _of(kind: Kind, words: str) -> dict[str, Kind]:
    return dict.fromkeys(words.split(), kind)


_SCRIPT = Lines(
    r"""(?:<(?P<tag>script|template|style)\b)
    |(?:export\s+)?(?:default\s+)?(?:async\s+)?(?:abstract\s+)?
     (?:(?P<word>function\*?|class|interface|enum|type)\s+(?P<name>[\w$]+)
       |(?:const|let|var)\s+(?P<held>[\w$]+)\s*(?::[^=\n]+)?=\s*(?:async\s*)?
        (?:function\b|\([^()\n]*\)\s*(?::[^=\n]+)?=>|[\w$]+\s*=>))""",
    _of("function", "function function*") | _of("class", "class") | _of("interface", "interface")
    | _of("enum", "enum") | _of("type", "type") | {"": "function"},
)  # fmt: skip
_LISP = Lines(
    r"""\((?P<word>ns|def[\w*+!?-]*|define[\w*+!?-]*|cl-def\w+)\s+(?:\^\S+\s+)*\(?'?
    (?P<name>[^\s()\[\]{}"';]+)""",
    _of("namespace", "ns defpackage")
    | _of("macro", "defmacro define-macro define-syntax cl-defmacro")
    | _of("interface", "defprotocol") | _of("struct", "defrecord deftype defstruct cl-defstruct")
    | _of("class", "defclass") | _of("variable", "def defvar defparameter defcustom defonce")
    | _of("constant", "defconst defconstant") | {"": "function"},
)  # fmt: skip

TABLE: dict[str, Lines] = {
    "erlang": Lines(
        r"""(?P<name>(?!when\b|if\b|case\b|fun\b|receive\b|try\b|end\b)[a-z][\w@]*)\((?=[^\n]*(?:->|[,)]))
        |-(?P<word>module|record|define|type|opaque)\(?\s*(?P<held>\w+)""",
        _of("namespace", "module") | _of("struct", "record") | _of("macro", "define")
        | _of("type", "type opaque") | {"": "function"},
    ),
    "haskell": Lines(
        r"""(?P<word>module|data(?:\s+(?:family|instance))?|newtype|type(?:\s+(?:family|instance))?
        |class|instance|pattern)\s+(?:\([^)\n]*\)[ \t]*=>\s*|[\w ']{1,80}=>\s*)?
        (?P<name>[A-Z][\w.']*(?:(?<=[\w'])\s+\(?[A-Z][\w']*)?)
        |(?P<held>[a-z_][\w']*|\([^\w\s()]+\))(?:\s*,\s*[\w']+)*+\s*::""",
        _of("namespace", "module") | _of("struct", "data newtype") | _of("interface", "class")
        | _of("object", "instance") | _of("type", "type pattern") | {"": "function"},
    ),
    "ocaml": Lines(
        r"""(?P<word>let(?:\s+rec)?|and|module(?:\s+type)?(?:\s+rec)?|type(?:\s+nonrec)?|class
        |exception|external|val|method!?)\s+(?:\([^)\n]*\)\s+|'\w+\s+)?(?P<name>[\w']+)""",
        _of("namespace", "module") | _of("type", "type exception") | _of("class", "class")
        | {"": "function"},
    ),
    "fsharp": Lines(
        r"""(?P<word>let(?:\s+(?:rec|inline|private|mutable|internal))*|module(?:\s+rec)?|namespace
        |type|and|exception)\s+(?P<name>``[^`\n]+``|[\w.']+)
        |(?P<shape>member|static|abstract|override)(?:\s+(?:member|private|inline))*\s+(?:\w+\.)?
         (?P<held>\w+)""",
        _of("namespace", "module namespace") | _of("type", "type and exception")
        | _of("method", "member static abstract override") | {"": "function"},
    ),
    "dart": Lines(
        r"""(?:(?:abstract|base|final|sealed|interface|static|external|const|factory|late)\s+)*+
        (?:(?P<word>class|mixin(?:\s+class)?|extension(?:\s+type)?|enum|typedef)\s+(?P<name>\w+)
        |(?!(?:if|for|while|switch|return|catch|else|assert|await|throw|new|do|case|super|this)\b)
         (?:[\w<>?,\[\].]+[ \t]+){0,6}(?:get\s+|set\s+)?(?P<held>[\w.]+)\s*
         (?:\([^;{}]{0,400}\)|(?<=\w)(?=\s*=>))\s*(?:async\*?|sync\*)?\s*(?:\{|=>))""",
        _of("class", "class") | _of("trait", "mixin extension") | _of("enum", "enum")
        | _of("type", "typedef") | {"": "function"},
    ),
    "r": Lines(
        r"""(?P<name>[\w.]+)\s*(?:<-|<<-|=)\s*(?:function\s*\(|\\\()
        |(?P<word>setClass|setRefClass|setGeneric|setMethod|R6Class)\(\s*["'](?P<text>[^"'\n]+)
        |(?P<held>[\w.]+)\s*<-\s*(?:R6::)?(?P<shape>R6Class|setRefClass)\(""",
        _of("class", "setclass setrefclass r6class") | {"": "function"},
    ),
    "perl": Lines(
        r"(?P<word>sub|package|class|method|role)\s+(?P<name>[\w:]+)",
        _of("namespace", "package") | _of("class", "class role") | _of("method", "method")
        | {"": "function"},
    ),
    "julia": Lines(
        r"""(?:@\w+\s+)*(?:(?P<word>function|macro|module|baremodule|struct|mutable\s+struct
        |abstract\s+type|primitive\s+type)\s+(?:\w+\.)*(?P<name>[\w!]+)
        |(?P<held>[\w!]+)\([^()\n]*\)\s*(?:::\s*[\w{}.]+\s*)?=(?!=))""",
        _of("macro", "macro") | _of("namespace", "module baremodule")
        | {"struct": "struct", "mutable struct": "struct", "abstract type": "type",
           "primitive type": "type", "": "function", "function": "function"},
    ),
    "scala": Lines(
        r"""(?:@[\w.]+(?:\([^()\n]*\))?[ \t]+)*+
        (?:(?:private|protected)(?:\[\w+\])?\s+
          |(?:override|final|sealed|abstract|implicit|lazy|case|inline|opaque|open|transparent
            |infix)\s+)*+
        (?P<word>class|object|trait|enum|def|type|given|package\s+object)\s+
        (?P<name>`[^`\n]+`|[\w$]+(?:_[^\w\s(\[{:=]+)?|[^\w\s()\[\]{}"'`.;,:]+)(?!\s*=>)""",
        _of("class", "class") | _of("object", "object given") | {"package object": "object"}
        | _of("trait", "trait") | _of("enum", "enum") | _of("type", "type") | {"": "function"},
    ),
    "elixir": Lines(
        r"""(?P<word>defmodule|defprotocol|defimpl|def|defp|defmacro|defmacrop|defguard|defguardp
        |defdelegate)\s+(?P<name>[\w.]+[!?]?)""",
        _of("namespace", "defmodule") | _of("interface", "defprotocol") | _of("object", "defimpl")
        | _of("macro", "defmacro defmacrop defguard defguardp") | {"": "function"},
    ),
    "zig": Lines(
        r"""(?:pub\s+)?(?:(?:(?:export|inline|noinline)\s+|extern\s+(?:"\w*"\s+)?)?
        (?P<word>fn)\s+(?P<name>\w+)
        |const\s+(?P<held>\w+)\s*=\s*(?:packed\s+|extern\s+)?
         (?P<shape>struct|enum|union|opaque)\b)
        |test\s+"(?P<text>[^"\n]+)"\s*\{""",
        _of("struct", "struct opaque") | _of("enum", "enum") | _of("union", "union")
        | {"": "function"},
    ),
    "nim": Lines(
        r"""(?P<word>proc|func|method|iterator|template|macro|converter)\s+(?P<name>\w+|`[^`\n]+`)
        |(?P<held>[A-Z]\w*)\*?\s*(?:\[[^\]\n]*\])?\s*(?:\{\.[^\n]*\.\})?\s*=\s*(?:ref\s+|ptr\s+)?(?P<shape>object|enum|tuple|concept)\b""",
        _of("macro", "template macro") | _of("method", "method") | _of("struct", "object tuple")
        | _of("enum", "enum") | _of("interface", "concept") | {"": "function"},
    ),
    "clojure": _LISP,
    "lisp": _LISP,
    "vim": Lines(
        r"(?P<word>function|command)!?\s+(?:-\S+\s+)*(?P<name>[\w:.#<>]+)", {"": "function"}
    ),
    "sql": Lines(
        r"""CREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:(?:GLOBAL|LOCAL|TEMP|TEMPORARY|UNIQUE|UNLOGGED|MATERIALIZED
        |RECURSIVE|CONCURRENTLY|VIRTUAL|EXTERNAL)\s+)*
        (?P<word>TABLE|VIEW|FUNCTION|PROCEDURE|TRIGGER|INDEX|TYPE|SCHEMA|SEQUENCE|DOMAIN|EXTENSION|POLICY)\s+
        (?:IF\s+NOT\s+EXISTS\s+)?(?P<name>[\w.$"`\[\]]+)""",
        _of("struct", "table") | _of("object", "view sequence index extension policy")
        | _of("type", "type domain") | _of("namespace", "schema") | {"": "function"},
        re.IGNORECASE,
    ),
    "proto": Lines(
        r"(?P<word>message|service|enum|rpc|extend|package)\s+(?P<name>[\w.]+)",
        _of("struct", "message extend") | _of("interface", "service") | _of("enum", "enum")
        | _of("namespace", "package") | _of("method", "rpc"),
    ),
    "graphql": Lines(
        r"""(?:extend\s+)?(?P<word>type|interface|enum|input|union|scalar|directive|query|mutation
        |subscription|fragment)\s+@?(?P<name>\w+)""",
        _of("struct", "type input") | _of("interface", "interface") | _of("enum", "enum")
        | _of("union", "union") | _of("type", "scalar") | {"": "function"},
    ),
    "hcl": Lines(
        r"""(?P<word>resource|data|module|variable|output|provider|locals|terraform|moved|import|check
        |job|group|task|source|build)\b(?:\s*"(?P<text>[^"\n]+)")?(?:\s*"(?P<more>[^"\n]+)")?\s*\{""",
        _of("variable", "variable output locals") | _of("namespace", "module terraform provider")
        | {"": "object"},
    ),
    "solidity": Lines(
        r"""(?:abstract\s+)?(?P<word>contract|interface|library|function|modifier|event|error|struct|enum
        |constructor|def)\b\s*(?P<name>\w*)""",
        _of("class", "contract library") | _of("interface", "interface") | _of("struct", "struct")
        | _of("enum", "enum") | _of("type", "event error") | _of("constructor", "constructor")
        | {"": "function"},
    ),
    "objc": Lines(
        r"""@(?P<word>interface|implementation|protocol)\s+(?P<name>\w+)
        |[-+]\s*\([^)\n]*\)\s*(?P<held>\w+)
        |(?!(?:if|for|while|switch|return|else|do)\b)(?:\w+[ \t*]+){1,6}
         (?P<c>\w+)\([^;{]{0,400}\)\s*\{""",
        _of("class", "interface implementation") | _of("interface", "protocol")
        | {"": "method"},
    ),
    "groovy": Lines(
        r"""(?:(?:public|private|protected|static|final|abstract)\s+)*+
        (?:(?P<word>class|interface|trait|enum|def|void|task)\s+(?P<name>\w+)(?=[\s({<])(?!\s*=)
        |(?P<held>tasks\.(?:register|named)\(['"][\w-]+))""",
        _of("class", "class") | _of("interface", "interface") | _of("trait", "trait")
        | _of("enum", "enum") | {"": "function"},
    ),
    "powershell": Lines(
        r"(?P<word>function|filter|class|enum|workflow|configuration)\s+(?:global:|script:)?(?P<name>[\w:-]+)",
        _of("class", "class") | _of("enum", "enum") | {"": "function"}, re.IGNORECASE,
    ),
    "fish": Lines(r"(?P<word>function)\s+(?P<name>[\w.:-]+)", {"": "function"}),
    "awk": Lines(r"(?P<word>function|func)\s+(?P<name>\w+)", {"": "function"}),
    "batch": Lines(r":(?P<name>[A-Za-z_][\w.-]*)\s*$", {"": "function"}),
    "asm": Lines(r"(?P<name>[A-Za-z_.$][\w.$@]*):(?!:)", {"": "function"}),
    "hdl": Lines(
        r"""(?:function|task|procedure)\s+(?:[\w\[\]:]+[ \t]+){0,4}(?P<held>\w+)\s*(?=[(;]|is\b)
        |(?:virtual\s+)?(?P<word>module|entity|architecture|package(?:\s+body)?|interface|class|program
        |component)\s+(?P<name>\w+)""",
        _of("class", "module entity class") | _of("namespace", "package architecture program")
        | _of("interface", "interface component") | {"": "function"}, re.IGNORECASE,
    ),
    "cython": Lines(
        r"""(?P<word>def|cpdef|cdef|class)\s+(?:(?:inline|public|readonly|api|extern)\s+)*
        (?:(?P<shape>class|struct|enum)\s+)?(?:[\w\[\],.]+[ \t]+\**){0,6}
        (?P<name>\w+)\s*(?=[(:])""",
        _of("class", "class") | {"": "function"},
    ),
    "html": _SCRIPT,
    "css": Lines(
        r"@(?P<word>mixin|function|keyframes|layer|container)\s+(?P<name>[\w-]+)", {"": "function"}
    ),
    "dockerfile": Lines(
        r"(?P<word>FROM)\s+(?:--\S+\s+)*(?P<name>\S+)(?:\s+AS\s+(?P<held>\S+))?",
        {"": "section"}, re.IGNORECASE,
    ),
    "make": Lines(
        r"""(?P<name>(?!\.[A-Z])[\w./%$()-]+)(?:[ \t]+[\w./%$()-]+)*[ \t]*::?(?![=:])
        |define\s+(?P<held>\S+)""",
        {"": "function"},
    ),
    "cmake": Lines(
        r"(?P<word>function|macro|add_library|add_executable|add_custom_target)\s*\(\s*(?P<name>[\w:${}.-]+)",
        _of("macro", "macro") | _of("object", "add_library add_executable add_custom_target")
        | {"": "function"}, re.IGNORECASE,
    ),
    "starlark": Lines(r"(?P<word>def)\s+(?P<name>\w+)", {"": "function"}),
    "nix": Lines(r"(?P<name>[\w.'-]+)\s*=\s*(?:\{[^}\n]*\}|[\w]+)\s*:", {"": "function"}),
    "just": Lines(r"@?(?P<name>[\w-]+)(?:\s+[^:\n=]*)?:(?!=)", {"": "function"}),
    "asciidoc": Lines(r"(?P<word>={1,6})\s+(?P<name>\S[^\n]*)", {"": "section"}),
    "org": Lines(r"(?P<word>\*{1,8})\s+(?P<name>\S[^\n]*)", {"": "section"}),
    "tex": Lines(
        r"\\(?P<word>part|chapter|(?:sub){0,2}section|paragraph)\*?\{(?P<name>[^}\n]+)",
        {"": "section"},
    ),
    "rst": Lines(
        r"(?P<name>\S[^\n]*)\n(?P<under>[=\-~^\"'`#*+:.])(?P=under){2,}[ \t]*$", {"": "section"}
    ),
}  # fmt: skip
SUFFIXES = {
    ".ps1": "powershell", ".fish": "fish", ".awk": "awk", ".bat": "batch", ".cmd": "batch",
    ".vim": "vim", ".mk": "make", ".cmake": "cmake", ".bzl": "starlark", ".bazel": "starlark",
    ".nix": "nix", ".adoc": "asciidoc", ".org": "org", ".tex": "tex", ".rst": "rst",
}  # fmt: skip
NAMES = {
    "makefile": "make", "gnumakefile": "make", "justfile": "just", "cmakelists.txt": "cmake",
    "build": "starlark", "workspace": "starlark", "jenkinsfile": "groovy",
}  # fmt: skip
HEADS = frozenset({"ocaml", "fsharp", "erlang", "haskell", "asm", "make", "just", "rst"})
"""Languages in which only unindented lines are definitions; nested ones are local."""
NESTED = {
    "ocaml": ("module", "type", "val", "method"),
    "fsharp": ("module", "type", "member", "static", "abstract", "override"),
}
"""Words that define something at any depth in these languages."""
CONTAINERS = frozenset(
    {"namespace", "class", "interface", "trait", "struct", "object", "enum", "type"}
)
