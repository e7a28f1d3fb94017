"""Answers are frozen types with one JSON form, and no surface handles one as free JSON."""

from __future__ import annotations

import ast
import inspect
from pathlib import Path

import msgspec
import pytest
from jsonschema import Draft202012Validator

from holdfast.answers import Part
from holdfast.index import answers
from holdfast.index.facts.model import FileFacts, Span, Symbol, symbol_id
from holdfast.index.facts.naming import names_symbol, symbols_named
from holdfast.mcp.tools import TOOLS
from holdfast.mcp.tools.common import schema_of

SOURCE = Path(__file__).parents[1] / "src" / "holdfast"

SURFACES = [
    *(
        f"cli/{name}.py"
        for name in (
            "index",
            "search",
            "outline",
            "calls",
            "references",
            "explore",
            "impact",
            "edit",
        )
    ),
    *(f"cli/{name}.py" for name in ("terminal", "read", "context", "locate", "clones")),
    *(f"cli/{name}.py" for name in ("session", "readcache", "status", "sequence")),
    *("cli/memory", "mcp/tools", "mcp/resources.py", "dashboard"),
]
LOOSE = ("Any", "dict[str, Any]", "Mapping[str, Any]", "list[Any]", "list[dict[str, Any]]")

REQUESTS = {"a", "args", "arguments", "operation", "one"}
"""Parameters with the arguments of a call, which were checked against its schema."""
FREE_JSON = {
    "value",  # any JSON: a member of a document
    "document",  # a document of memory
    "schema",  # a JSON Schema
    "data",
}
FREE_RESULTS = {
    "to_wire",  # the JSON form itself
    "continued",  # the call that continues an answer, in that form
    "json_argument",  # a value that was typed
    "json_or_text",  # the same, or plain text
    "_operation",  # one write of a commit
    "digested",  # a document with digests in its links
    "_current_arguments",  # arguments of a call
    "_progress",  # a callback
    *("_set", "_edit", "_put", "code"),  # documents of the demo
    "listed",  # resources, in the form of the protocol
}


def functions(path: Path) -> list[ast.FunctionDef | ast.AsyncFunctionDef]:
    nodes = ast.walk(ast.parse(path.read_text(encoding="utf-8")))
    return [n for n in nodes if isinstance(n, ast.FunctionDef | ast.AsyncFunctionDef)]


@pytest.mark.shows("ARCH-ANSWERS")
@pytest.mark.parametrize("place", SURFACES)
def test_no_surface_takes_or_returns_an_answer_as_free_json(place: str) -> None:
    paths = (
        sorted((SOURCE / place).rglob("*.py")) if (SOURCE / place).is_dir() else [SOURCE / place]
    )
    loose = []
    for path in paths:
        for function in functions(path):
            given = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
            names = [
                one.arg
                for one in given
                if one.annotation is not None and ast.unparse(one.annotation) in LOOSE
            ]
            if function.returns is not None and ast.unparse(function.returns) in LOOSE:
                names += [] if function.name in FREE_RESULTS else ["return"]
            wrong = set(names) - REQUESTS - FREE_JSON
            loose += [f"{path.relative_to(SOURCE)}:{function.name}: {name}" for name in wrong]
    assert loose == []


@pytest.mark.shows("ARCH-ANSWERS")
def test_the_schema_of_every_tool_is_derived_from_a_type() -> None:
    """Six tools described their answers by hand, beside the code that made them."""
    calls = [
        node
        for path in (SOURCE / "mcp" / "tools").rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and ast.unparse(node.func) == "Tool"
    ]
    schemas = [
        ast.unparse(word.value) for one in calls for word in one.keywords if word.arg == "output"
    ]
    assert len(schemas) == len(TOOLS)
    assert [schema for schema in schemas if not schema.startswith("schema_of(")] == []


def answer_types() -> list[type[Part]]:
    members = inspect.getmembers(answers, inspect.isclass)
    return [kind for _, kind in members if issubclass(kind, Part) and kind is not Part]


@pytest.mark.shows("ARCH-ANSWERS")
@pytest.mark.parametrize("kind", answer_types(), ids=lambda kind: kind.__name__)
def test_an_answer_is_frozen_and_has_a_schema(kind: type[Part]) -> None:
    assert kind.__struct_config__.frozen
    Draft202012Validator.check_schema(msgspec.json.schema(kind))


def test_a_field_that_does_not_apply_is_left_out_and_a_null_is_kept() -> None:
    outline = answers.OutlineAnswer(
        status="not_found", path="/t", file="a.py", outline=None, has_more=False
    )
    assert outline.to_wire() == {
        "status": "not_found",
        "path": "/t",
        "file": "a.py",
        "outline": None,
        "hasMore": False,
    }


def test_a_derived_schema_accepts_answers_and_failures() -> None:
    schema = schema_of(answers.CallGraphAnswer)
    validator = Draft202012Validator(schema)
    edge = answers.CallEdge("sym_a", "sym_b", "call", answers.CallSite("a.py", 3), 0.9, "same file")
    graph = answers.CallGraphAnswer(
        status="ok",
        supported=True,
        path="/t",
        symbol_ref=answers.SymbolRef("a.py", "sym_a"),
        direction="both",
        depth=1,
        limit=20,
        nodes=(),
        edges=(edge,),
        notes=(),
    )
    validator.validate(graph.to_wire())
    validator.validate({"status": "error", "message": "the symbol is not named"})
    wrong = graph.to_wire()
    del wrong["edges"][0]["site"]
    assert not validator.is_valid(wrong)


@pytest.mark.shows("INDEX-NAMING")
@pytest.mark.parametrize("name", ["total", "Cart.total", "shop.Cart.total", "src.shop.Cart.total"])
def test_a_symbol_is_named_by_the_end_of_its_full_name(name: str) -> None:
    assert names_symbol(name, "Cart.total", "src/shop.py")
    assert names_symbol(name, "Cart.total", "src/shop/__init__.py")
    assert not names_symbol(f"x{name}", "Cart.total", "src/shop.py")


@pytest.mark.shows("INDEX-NAMING")
def test_a_whole_name_wins_over_the_end_of_one() -> None:
    span = Span(0, 1, 1, 1)
    symbols = tuple(
        Symbol(symbol_id("shop.py", name, "function", 0), name.split(".")[-1], name, "function",
               -1, 0, span, "")
        for name in ("total", "Cart.total")
    )  # fmt: skip
    facts = FileFacts("shop.py", "python", "shop", 2, 2, symbols)
    assert [s.qualified for s in symbols_named(facts, "total")] == ["total"]
    assert [s.qualified for s in symbols_named(facts, "shop.Cart.total")] == ["Cart.total"]
    assert symbols_named(facts, "Bill.total") == []
