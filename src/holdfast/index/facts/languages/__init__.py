"""One module per language; the language is found by a file's name or first line."""

from __future__ import annotations

import re
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING

from holdfast.files import policy
from holdfast.patterns import lazy_pattern

if TYPE_CHECKING:
    from holdfast.index.facts.walk import Language

PARSED = {
    ".py": "python", ".pyi": "python", ".pyw": "python",
    ".js": "javascript", ".jsx": "javascript", ".mjs": "javascript", ".cjs": "javascript",
    ".ts": "typescript", ".mts": "typescript", ".cts": "typescript", ".tsx": "tsx",
    ".go": "go", ".rs": "rust", ".java": "java",
    ".c": "c", ".h": "c",
    ".cc": "cpp", ".cpp": "cpp", ".cxx": "cpp", ".c++": "cpp", ".hh": "cpp", ".hpp": "cpp",
    ".hxx": "cpp", ".ipp": "cpp", ".inl": "cpp", ".cu": "cpp", ".cuh": "cpp",
    ".cs": "csharp",
    ".rb": "ruby", ".rake": "ruby", ".gemspec": "ruby",
    ".php": "php", ".kt": "kotlin", ".kts": "kotlin", ".swift": "swift",
    ".scala": "scala", ".sc": "scala",
    ".sh": "bash", ".bash": "bash", ".zsh": "bash", ".bats": "bash",
    ".lua": "lua",
    ".ex": "elixir", ".exs": "elixir", ".zig": "zig", ".jl": "julia",
}  # fmt: skip
OPTIONAL = {
    "elixir": "tree_sitter_elixir",
    "julia": "tree_sitter_julia",
    "scala": "tree_sitter_scala",
    "zig": "tree_sitter_zig",
}
"""Languages whose grammars are in the extra `languages`; without it their outlines are guessed."""
DOCUMENTS = {
    ".md": "markdown", ".markdown": "markdown", ".mdx": "markdown",
    ".ipynb": "notebook",
    ".json": "json", ".jsonc": "json", ".json5": "json", ".webmanifest": "json",
    ".toml": "toml", ".yaml": "yaml", ".yml": "yaml",
    ".ini": "ini", ".cfg": "ini", ".conf": "ini", ".properties": "ini", ".editorconfig": "ini",
    ".mod": "gomod",
}  # fmt: skip
NAMES = {
    "Rakefile": "ruby", "Gemfile": "ruby", "Vagrantfile": "ruby", "Podfile": "ruby",
    ".bashrc": "bash", ".profile": "bash", ".zshrc": "bash", ".bash_profile": "bash",
    "go.mod": "gomod", ".editorconfig": "ini", "setup.cfg": "ini",
    "Pipfile": "toml", "Cargo.lock": "toml", "poetry.lock": "toml", "uv.lock": "toml",
    "composer.lock": "json", ".babelrc": "json", ".eslintrc": "json", ".prettierrc": "json",
}  # fmt: skip
FAMILIES = {
    "python": "python", "notebook": "python",
    "javascript": "js", "typescript": "js", "tsx": "js",
    "go": "go", "rust": "rust", "java": "jvm", "kotlin": "jvm", "scala": "jvm",
    "c": "c", "cpp": "c", "csharp": "csharp", "ruby": "ruby", "php": "php", "swift": "swift",
    "bash": "bash", "lua": "lua",
}  # fmt: skip
"""Languages with call extraction, and the family within which names are shared."""
_INTERPRETERS = {"python": "python", "node": "javascript", "ruby": "ruby", "php": "php",
                 "bash": "bash", "sh": "bash", "zsh": "bash", "lua": "lua", "deno": "typescript",
                 "swift": "swift", "scala": "scala", "kotlin": "kotlin"}  # fmt: skip
_NAMED_BY_SHEBANG = frozenset(_INTERPRETERS.values()) & frozenset(OPTIONAL)
_SHEBANG = lazy_pattern(rb"#![^\n]*?(?:/|env\s+(?:-S\s+)?)([a-z]+)[\d.]*(?:\s|$)")
_CPP_HEADER = lazy_pattern(
    rb"^[ \t]*(?:namespace\s+\w|template\s*<|class\s+\w+[^;]*$|using\s+\w|public:|private:"
    rb"|protected:)"
    rb"|\bstd::|^[ \t]*#include\s*<(?:string|vector|memory|map|iostream|cstd\w+)>",
    re.MULTILINE,
)


def language_of(path: str, source: bytes) -> str:
    """The language of a file; "text" when it is unknown."""
    name = path.rpartition("/")[2]
    if name in NAMES:
        return NAMES[name]
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    found = PARSED.get(suffix) or DOCUMENTS.get(suffix)
    if suffix == ".mod":
        found = None
    if found == "c" and suffix == ".h" and _CPP_HEADER.search(source[:200_000]):
        return "cpp"
    if found:
        return found
    shebang = _SHEBANG.match(source[:200])
    if shebang:
        return _INTERPRETERS.get(shebang.group(1).decode(), "text")
    unnamed = not suffix and name.lower() not in policy.NAMES
    if unnamed and policy.is_shell(source[: policy.SNIFF_BYTES]):
        return "bash"
    named = policy.language_of(path)  # extensions that are not in this table, such as `.ksh`
    return named if named not in DOCUMENTS.values() else "text"


@lru_cache(maxsize=64)
def parsed(name: str) -> Language | None:
    """The definition of a language with a grammar; its module is imported on first use."""
    if name not in PARSED.values() or lacks_grammar(name):
        return None
    file, table = ("typescript", "TSX") if name == "tsx" else (name, "LANGUAGE")
    made: Language = getattr(import_module(f"holdfast.index.facts.languages.{file}"), table)
    return made


@lru_cache(maxsize=64)
def lacks_grammar(name: str) -> bool:
    """Whether a language could be parsed only with the extra `languages` installed."""
    return name in OPTIONAL and find_spec(OPTIONAL[name]) is None


def made_without_grammar(path: str) -> bool:
    """Whether this machine may lack a grammar for the file that other machines have.

    True for every file whose first line may name such a language: its facts are then made once
    more, instead of being shared.
    """
    name = path.rpartition("/")[2]
    suffix = "." + name.rpartition(".")[2].lower() if "." in name else ""
    if name in NAMES or suffix in DOCUMENTS:
        return False
    if suffix in PARSED:
        return lacks_grammar(PARSED[suffix])
    return lacks_grammar(policy.language_of(path)) or any(map(lacks_grammar, _NAMED_BY_SHEBANG))
