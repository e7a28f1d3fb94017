"""A hook of the documentation site: pages made from the code, and pages from outside docs/.

The reference of commands, tools, formats and the Python API is written when the site is built, so
it cannot differ from the program. The picture of the architecture is drawn from the real imports.
"""

from __future__ import annotations

import argparse
import ast
import inspect
import json
import re
from enum import Enum
from importlib import import_module
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

from release.drawing import EVERYWHERE, architecture

ROOT = Path(__file__).resolve().parent.parent
FROM_ABOVE = {
    "ARCHITECTURE.md": "architecture.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security-policy.md",
}
"""Pages at the root of the repository -> their names on the site."""

PICTURE = (
    "Each box is a package. A line leads down to a package that it imports, thicker if more of "
    "its modules do. Lines to packages that nearly all others import are left out: "
    + ", ".join(f"`{name}`" for name in sorted(EVERYWHERE))
    + ".\n\n![packages](architecture.svg)"
)
"""What the site adds to the page about the architecture."""

SIGNATURE_WIDTH = 80
"""A longer signature has a line for each parameter; the page would cut it off."""

FORMAT = re.compile(r"(?:[A-Z]+_)*(?:VERSION|FORMAT)")
"""The names of constants that are the version of a format."""
TABLE_ROW = re.compile(r"^\|.*$", re.MULTILINE)
CODE = re.compile(r"`[^`]+`")
LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)\s#]+)(#[^)\s]*)?\)")


def on_files(files: Files, *, config: Any) -> Files:
    """Add what is not in docs/ (called by mkdocs)."""
    pages = {
        "reference/commands.md": commands_page(),
        "reference/tools.md": tools_page(),
        "reference/python.md": python_page(),
        "reference/formats.md": formats_page(ROOT / "src" / "holdfast"),
        "architecture.svg": architecture(ROOT / "src" / "holdfast"),
    }
    for above, name in FROM_ABOVE.items():
        pages[name] = relinked((ROOT / above).read_text(encoding="utf-8"), "")
    pages["architecture.md"] += f"\n\n## Drawn from the imports\n\n{PICTURE}\n"
    for name, text in pages.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, *, page: Any, **_: Any) -> str:
    """Lead links out of docs/ to where their target is on the site (called by mkdocs)."""
    if page.file.src_uri.startswith("reference/"):
        return markdown
    if page.file.src_uri not in FROM_ABOVE.values():
        markdown = relinked(markdown, "docs")
    return with_bars(markdown)


def with_bars(markdown: str) -> str:
    """The text with `|` in code of tables as this site reads it.

    There other readers of Markdown need a backslash before it, and the site would show it.
    """

    def code(match: re.Match[str]) -> str:
        return match[0].replace("\\|", "|")

    return TABLE_ROW.sub(lambda row: CODE.sub(code, row[0]), markdown)


def relinked(markdown: str, folder: str) -> str:
    """The text with links as they must be on the site; what is not on it keeps only its words."""

    def link(match: re.Match[str]) -> str:
        picture, words, target, anchor = match[1], match[2], match[3], match[4] or ""
        path = (ROOT / folder / target).resolve()
        inside = path.relative_to(ROOT).as_posix() if path.is_relative_to(ROOT) else target
        if inside in FROM_ABOVE:
            return f"[{words}]({FROM_ABOVE[inside]}{anchor})"
        if inside == "docs/requirements.md" or not inside.startswith("docs/"):
            return words
        return f"{picture}[{words}]({inside.removeprefix('docs/')}{anchor})"

    return LINK.sub(link, markdown)


def commands_page() -> str:
    """Every command with its help, as the program prints it at 100 columns."""
    from holdfast.cli.main import COMMANDS
    from holdfast.cli.parsing import Parser

    parts = ["# Commands\n\nWhat `holdfast COMMAND --help` prints.\n"]
    for name, (module, line) in COMMANDS.items():
        parser = Parser(prog=f"holdfast {name}", description=line)
        import_module(module).configure(parser)
        parts.append(f"\n## {name}\n\n{_help(parser)}")
        for verb, below in _verbs(parser):
            parts.append(f"\n### {name} {verb}\n\n{_help(below)}")
    return "".join(parts)


def _help(parser: argparse.ArgumentParser) -> str:
    return f"```text\n{parser.format_help().rstrip()}\n```\n"


def _verbs(parser: argparse.ArgumentParser) -> list[tuple[str, argparse.ArgumentParser]]:
    for action in parser._actions:
        if isinstance(action, argparse._SubParsersAction):
            return list(action.choices.items())
    return []


def tools_page() -> str:
    """Every MCP tool: what its description says, and the schema of its arguments."""
    from holdfast.mcp.tools import TOOLS

    parts = ["# Tool schemas\n\nWhat `tools/list` says of each tool.\n"]
    for name, tool in TOOLS.items():
        schema = json.dumps(tool.input, indent=1)
        parts.append(f"\n## {name}\n\n{tool.description}\n\n```json\n{schema}\n```\n")
    return "".join(parts)


def python_page() -> str:
    """The public names of the package with their signatures and docstrings."""
    import holdfast

    parts = ["# Python\n\n```text\n", (holdfast.__doc__ or "").strip(), "\n```\n"]
    for name in holdfast.__all__:
        thing = getattr(holdfast, name)
        if callable(thing):
            parts.append(f"\n## {name}\n\n{_described(name, thing)}")
            if inspect.isclass(thing):
                parts.extend(
                    f"\n### {name}.{method}\n\n{_described(method, function)}"
                    for method, function in inspect.getmembers(thing, inspect.isfunction)
                    if not method.startswith("_")
                )
    return "".join(parts)


def formats_page(package: Path) -> str:
    """Every version of a stored or sent format, with the history beside it in the code."""
    parts = [
        "# Formats\n\nEvery format that Holdfast stores or sends has a version. What is stored in "
        "an older version is migrated or made again; a newer version is refused and left alone.\n"
    ]
    for path in sorted(package.rglob("*.py")):
        module = path.relative_to(package.parent).with_suffix("").as_posix().replace("/", ".")
        body = ast.parse(path.read_text(encoding="utf-8")).body
        for node, after in zip(body, [*body[1:], None], strict=True):
            match node:
                case (
                    ast.Assign(targets=[ast.Name(name)], value=ast.Constant(value))
                    | ast.AnnAssign(target=ast.Name(name), value=ast.Constant(value))
                ) if FORMAT.fullmatch(name):
                    history = _text(after)
                    shown = f"\n```text\n{history}\n```\n" if history else ""
                    parts.append(f"\n## {module}.{name}\n\nVersion `{value!s}`.\n{shown}")
                case _:
                    continue
    return "".join(parts)


def _text(node: ast.stmt | None) -> str:
    """The docstring of the constant above it."""
    match node:
        case ast.Expr(ast.Constant(str(text))):
            return inspect.cleandoc(text)
        case _:
            return ""


def _described(name: str, thing: Any) -> str:
    documented = inspect.getdoc(thing) or ""
    return f"```python\n{shown_signature(name, inspect.signature(thing))}\n```\n\n{documented}\n"


def shown_signature(name: str, signature: inspect.Signature) -> str:
    """The signature on one line if it is short, else with a line for each parameter."""
    parameters, bare_star = [], False
    for parameter in signature.parameters.values():
        if parameter.kind is parameter.KEYWORD_ONLY and not bare_star:
            parameters.append("*")
        bare_star = bare_star or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.KEYWORD_ONLY,
        )
        parameters.append(_parameter(parameter))
    returned = signature.return_annotation
    after = "" if returned is signature.empty else f" -> {_annotation(returned)}"
    line = f"{name}({', '.join(parameters)}){after}"
    if len(line) <= SIGNATURE_WIDTH:
        return line
    return "\n".join([f"{name}(", *(f"    {each}," for each in parameters), f"){after}"])


def _parameter(parameter: inspect.Parameter) -> str:
    text = parameter.name
    if parameter.kind is parameter.VAR_POSITIONAL:
        text = f"*{text}"
    elif parameter.kind is parameter.VAR_KEYWORD:
        text = f"**{text}"
    if parameter.annotation is not parameter.empty:
        text += f": {_annotation(parameter.annotation)}"
    if parameter.default is not parameter.empty:
        text += f" = {_value(parameter.default)}"
    return text


def _value(default: object) -> str:
    if isinstance(default, Enum):
        return str(default)
    return "…" if callable(default) else repr(default)  # a function's text has its address


def _annotation(annotation: object) -> str:
    return annotation if isinstance(annotation, str) else str(inspect.formatannotation(annotation))
