"""Which files of a tree are indexed: file types by name, sizes, and default exclusions.

Names are checked before any system call on a file, so a tree full of images costs little. Default
exclusions are ordinary ignore rules with the lowest precedence: a tree's own rules can include a
path again with `!`. Only version-control directories are always excluded.
"""

from __future__ import annotations

import re

import msgspec

from holdfast.patterns import lazy_pattern

LANGUAGES: dict[str, str] = {
    **dict.fromkeys((".py", ".pyi", ".pyw"), "python"),
    **dict.fromkeys((".js", ".jsx", ".mjs", ".cjs"), "javascript"),
    **dict.fromkeys((".ts", ".mts", ".cts"), "typescript"),
    ".tsx": "tsx",
    ".go": "go",
    ".rs": "rust",
    ".java": "java",
    **dict.fromkeys((".c", ".h"), "c"),
    **dict.fromkeys((".cc", ".cpp", ".cxx", ".c++", ".hh", ".hpp", ".hxx", ".ipp", ".tpp"), "cpp"),
    ".cs": "csharp",
    **dict.fromkeys((".rb", ".rake", ".gemspec"), "ruby"),
    **dict.fromkeys((".php", ".phtml"), "php"),
    **dict.fromkeys((".kt", ".kts"), "kotlin"),
    ".swift": "swift",
    **dict.fromkeys((".scala", ".sc", ".sbt"), "scala"),
    **dict.fromkeys((".sh", ".bash", ".zsh", ".ksh"), "bash"),
    ".lua": "lua",
    **dict.fromkeys((".m", ".mm"), "objc"),
    **dict.fromkeys((".ex", ".exs"), "elixir"),
    **dict.fromkeys((".erl", ".hrl"), "erlang"),
    ".hs": "haskell",
    **dict.fromkeys((".ml", ".mli"), "ocaml"),
    **dict.fromkeys((".fs", ".fsi", ".fsx"), "fsharp"),
    **dict.fromkeys((".clj", ".cljs", ".cljc", ".edn"), "clojure"),
    ".dart": "dart",
    ".zig": "zig",
    ".nim": "nim",
    ".jl": "julia",
    ".r": "r",
    **dict.fromkeys((".pl", ".pm"), "perl"),
    **dict.fromkeys((".groovy", ".gradle"), "groovy"),
    **dict.fromkeys((".vue", ".svelte", ".astro"), "html"),
    **dict.fromkeys((".html", ".htm", ".xhtml"), "html"),
    **dict.fromkeys((".css", ".scss", ".sass", ".less"), "css"),
    **dict.fromkeys((".sql", ".psql"), "sql"),
    **dict.fromkeys((".graphql", ".gql"), "graphql"),
    ".proto": "proto",
    **dict.fromkeys((".tf", ".tfvars", ".hcl"), "hcl"),
    **dict.fromkeys((".fish", ".ps1", ".bat", ".cmd", ".awk"), "shell"),
    **dict.fromkeys((".vim", ".el", ".lisp", ".scm", ".rkt"), "lisp"),
    **dict.fromkeys((".asm", ".s"), "asm"),
    **dict.fromkeys((".cu", ".cuh"), "cpp"),
    **dict.fromkeys((".sol", ".vy"), "solidity"),
    **dict.fromkeys((".v", ".sv", ".vhd", ".vhdl"), "hdl"),
    **dict.fromkeys((".pyx", ".pxd"), "cython"),
    **dict.fromkeys((".md", ".markdown", ".mdx"), "markdown"),
    **dict.fromkeys((".rst", ".txt", ".adoc", ".org", ".tex"), "text"),
    ".ipynb": "notebook",
    **dict.fromkeys((".json", ".jsonc", ".json5"), "json"),
    **dict.fromkeys((".yaml", ".yml"), "yaml"),
    ".toml": "toml",
    **dict.fromkeys((".ini", ".cfg", ".conf", ".properties", ".editorconfig"), "ini"),
    **dict.fromkeys((".xml", ".xsd", ".xsl", ".plist", ".csproj", ".props", ".targets"), "xml"),
    **dict.fromkeys((".cmake", ".mk", ".bzl", ".bazel", ".nix"), "build"),
}
"""Extension -> language. Extensions are compared in lower case."""

NAMES: dict[str, str] = {
    **dict.fromkeys(("dockerfile", "containerfile"), "dockerfile"),
    **dict.fromkeys(("makefile", "gnumakefile", "justfile", "procfile"), "build"),
    **dict.fromkeys(("cmakelists.txt", "build", "workspace", "jenkinsfile"), "build"),
    **dict.fromkeys(("rakefile", "gemfile", "vagrantfile"), "ruby"),
    **dict.fromkeys((".gitignore", ".holdfastignore", ".dockerignore"), "ini"),
    **dict.fromkeys(("license", "readme", "changelog", "codeowners", "authors"), "text"),
}
"""Whole file names, in lower case, without a telling extension."""

STEMS = {"dockerfile": "dockerfile", "containerfile": "dockerfile", "makefile": "build"}
"""First parts of names such as `Dockerfile.dev`."""

ALWAYS_EXCLUDED = frozenset({".git", ".hg", ".svn", ".jj", ".bzr", "CVS", "_darcs"})

DEFAULT_EXCLUSIONS = """
node_modules/
bower_components/
jspm_packages/
vendor/bundle/
__pycache__/
.venv/
venv/
.tox/
.nox/
.eggs/
*.egg-info/
site-packages/
.mypy_cache/
.ruff_cache/
.pytest_cache/
.hypothesis/
.ipynb_checkpoints/
.cache/
.parcel-cache/
.next/
.nuxt/
.svelte-kit/
.turbo/
.gradle/
.idea/
.vscode/
.vs/
.terraform/
.serverless/
.aws-sam/
DerivedData/
Pods/
bin/Debug/
bin/Release/
htmlcov/
.nyc_output/
.holdfast/
*.log
*.min.js
*.min.css
*.min.mjs
*.bundle.js
*.chunk.js
*.map
*.lock
*.snap
package-lock.json
npm-shrinkwrap.json
pnpm-lock.yaml
go.sum
*.local
""".strip().splitlines()

OUTPUT_FOLDERS = frozenset(
    ("dist", "build", "out", "target", "obj", "coverage", "tmp", "temp", "logs")
)
"""Folders of generated files, unless they are among sources."""

ALWAYS_OUTPUT = frozenset(("dist",))
"""Generated files that are often committed."""

SOURCE_FOLDERS = frozenset(
    ("src", "source", "sources", "lib", "libs", "internal", "pkg", "cmd", "app", "apps", "main")
)
"""Below one of these, a folder called `build` contains source code."""

SCRIPT_FOLDERS = frozenset(
    (
        "",
        "bin",
        "sbin",
        "script",
        "scripts",
        "libexec",
        "tools",
        "hack",
        "hooks",
        "functions",
        "lib",
        "completion",
        "completions",
        "bash-completion",
        "bash_completion.d",
        "contrib",
        "plugins",
        "helpers",
        "include",
        "includes",
        "inc",
        "libs",
        "modules",
        "commands",
        "common",
        "share",
        "src",
        "tasks",
        "utils",
        "init.d",
    )
)
"""Folders in which a file without an extension may be a script without being executable."""

SIZE_BYTES_MAX = 1024 * 1024
SNIFF_BYTES = 8192
MINIFIED_LINE_AVERAGE = 500
MINIFIED_BYTES_MIN = 5000


class Policy(msgspec.Struct, frozen=True):
    """What is indexed of a tree. Snapshots can be compared only under the same policy."""

    size_bytes_max: int = SIZE_BYTES_MAX
    custom_extensions: tuple[str, ...] = ()
    ignore_patterns: tuple[str, ...] = ()

    def extensions(self) -> frozenset[str]:
        own = (e.lower() if e.startswith(".") else f".{e.lower()}" for e in self.custom_extensions)
        return frozenset(LANGUAGES) | frozenset(own)


class Outputs:
    """The rules with the lowest precedence: excludes folders of generated files.

    A tree's own rules override it. In a tree with rules for git these name the generated folders,
    so a folder called `coverage` or `logs` that they include is source.
    """

    def __init__(self, ruled: bool = False) -> None:
        self._names = ALWAYS_OUTPUT if ruled else OUTPUT_FOLDERS
        self.digest = b"outputs, ruled" if ruled else b"outputs"

    def __bool__(self) -> bool:
        return True

    def verdict(self, path: str, name: str, directory: bool) -> bool | None:
        """True excludes the path, None means no rule matches."""
        if not directory or name not in self._names:
            return None
        return None if SOURCE_FOLDERS.intersection(path.split("/")[:-1]) else True


_FUNCTION = lazy_pattern(rb"^(?:function\s+)?[A-Za-z_][\w-]*\s*\(\)\s*\{?", re.MULTILINE)


_MODE_LINE = lazy_pattern(
    rb"\A(?:[^\n]*\n)?#[^\n]*(?:-\*-\s*(?:mode:\s*)?(?:shell-script|sh|bash)\b[^\n]*-\*-"
    rb"|\bvim?:[^\n]*\b(?:ft|filetype)=(?:sh|bash)\b|shellcheck shell=)"
)


def is_script(head: bytes) -> bool:
    """Whether a file without an extension starts like a script: it names an interpreter, or it is
    shell code."""
    return head.startswith(b"#!") or is_shell(head)


def is_shell(head: bytes) -> bool:
    """Whether a text is shell code: an editor's mode line in the first two lines says so, or it
    defines shell functions."""
    if b"\0" in head:
        return False
    return _MODE_LINE.match(head) is not None or _FUNCTION.search(head) is not None


def language_of(path: str) -> str:
    """The language of a file by its name; "text" when that is unknown."""
    name = path.rsplit("/", 1)[-1].lower()
    if name in NAMES:
        return NAMES[name]
    dot = name.rfind(".")
    if dot > 0 and name[dot:] in LANGUAGES:
        return LANGUAGES[name[dot:]]
    return STEMS.get(name.split(".", 1)[0], "text")


def unfit(source: bytes) -> str | None:
    """Why the content of a file is not indexed; None when it is."""
    if b"\0" in source[:SNIFF_BYTES]:
        return "binary"
    if len(source) >= MINIFIED_BYTES_MIN:
        lines = source.count(b"\n") + 1
        if len(source) / lines > MINIFIED_LINE_AVERAGE:
            return "minified"
    return None
