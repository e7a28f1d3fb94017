"""Markdown sections, notebooks and configuration files."""

import json

import pytest

from holdfast.index.calls.resolve import Resolver
from holdfast.index.facts.extract import extract
from holdfast.index.facts.model import MODULE
from tests.index.claims import resolved


def symbols(path: str, text: str) -> list[tuple[str, int, int]]:
    return [
        (s.qualified, s.span.first_line, s.span.last_line)
        for s in extract(path, text.encode()).symbols
    ]


@pytest.mark.shows("FACT-MARKDOWN")
class TestMarkdown:
    def test_a_section_ends_where_the_next_of_its_level_starts(self) -> None:
        text = "# A\ntext\n## B\nmore\n### C\n## D\n# E\n"
        assert symbols("a.md", text) == [
            ("A", 1, 6), ("A.B", 3, 5), ("A.B.C", 5, 5), ("A.D", 6, 6), ("E", 7, 7),
        ]  # fmt: skip

    def test_headings_in_fences_are_code(self) -> None:
        text = "# A\n```sh\n# not this\n```\n~~~\n# nor this\n```\n~~~\n## B\n"
        assert [name for name, *_ in symbols("a.md", text)] == ["A", "A.B"]

    def test_underlined_headings(self) -> None:
        assert symbols("a.md", "One\n===\n\ntext\n\nTwo\n---\n") == [
            ("One", 1, 7),
            ("One.Two", 6, 7),
        ]

    def test_front_matter_is_no_heading(self) -> None:
        assert symbols("a.md", "---\ntitle: x\n---\n# A\n") == [("A", 4, 4)]

    def test_a_table_or_a_list_over_dashes_is_no_heading(self) -> None:
        assert symbols("a.md", "| a |\n---\n- item\n---\n") == []

    def test_closing_marks_are_not_part_of_the_title(self) -> None:
        assert symbols("a.md", "## A ##\n") == [("A", 1, 1)]

    def test_two_sections_of_one_name_have_two_ids(self) -> None:
        found = extract("a.md", b"# A\n# A\n").symbols
        assert found[0].id != found[1].id

    def test_chunks_follow_sections(self) -> None:
        found = extract("a.md", b"intro\n\n# A\ntext\n## B\nmore\n")
        owners = [c.owner for c in found.chunks]
        assert owners == [MODULE, 0, 1]


NOTEBOOK = {
    "cells": [
        {"cell_type": "markdown", "source": ["# Title\n", "def no(): pass"]},
        {
            "cell_type": "code",
            "source": ["%load_ext x\n", "from shop import total\n", "def go(x):\n", "    total(x)"],
        },
        {"cell_type": "code", "source": "go(1)\n!ls\n"},
    ],
    "metadata": {"language_info": {"name": "python"}},
}


@pytest.mark.shows("FACT-NOTEBOOK")
class TestNotebook:
    def test_cells_and_the_code_in_them(self) -> None:
        text = json.dumps(NOTEBOOK, indent=1)
        found = extract("a.ipynb", text.encode())
        names = [(s.kind, s.qualified) for s in found.symbols]
        assert names == [
            ("cell", "cell 1"), ("cell", "cell 2"), ("function", "go"), ("cell", "cell 3"),
        ]  # fmt: skip
        go = found.symbols[2]
        lines = text.split("\n")
        assert "def go" in lines[go.span.first_line - 1]
        assert "total(x)" in lines[go.span.last_line - 1]
        assert found.problems == ()

    def test_calls_stand_on_the_line_of_their_string(self) -> None:
        text = json.dumps(NOTEBOOK, indent=1)
        found = extract("a.ipynb", text.encode())
        for call in found.calls:
            assert call.name + "(" in text.split("\n")[call.line - 1]

    def test_calls_reach_modules_and_other_cells(self) -> None:
        book = extract("a.ipynb", json.dumps(NOTEBOOK, indent=1).encode())
        shop = extract("shop.py", b"def total(x): ...\n")
        edges, _ = resolved(Resolver([book, shop]), "a.ipynb")
        assert {e.callee for e in edges} == {shop.symbols[0].id, book.symbols[2].id}

    def test_one_line_notebooks_have_cells(self) -> None:
        found = extract("a.ipynb", json.dumps(NOTEBOOK).encode())
        assert [s.name for s in found.symbols if s.kind == "cell"] == ["cell 1", "cell 2", "cell 3"]

    def test_other_languages_have_cells_only(self) -> None:
        other = {**NOTEBOOK, "metadata": {"kernelspec": {"language": "julia"}}}
        found = extract("a.ipynb", json.dumps(other, indent=1).encode())
        assert {s.kind for s in found.symbols} == {"cell"}

    def test_json_that_is_no_notebook_is_said(self) -> None:
        assert [p.code for p in extract("a.ipynb", b'{"a": 1}').problems] == ["malformed"]

    def test_a_notebook_cut_short_keeps_its_whole_cells(self) -> None:
        text = json.dumps(NOTEBOOK, indent=1)
        cut = text[: text.index('"go(1)')]
        names = [s.name for s in extract("a.ipynb", cut.encode()).symbols]
        assert names[:2] == ["cell 1", "cell 2"]

    def test_source_that_is_no_text_is_passed_over(self) -> None:
        odd = {"cells": [{"cell_type": "code", "source": [1, None, {"a": 2}, "x()"]}]}
        found = extract("a.ipynb", json.dumps(odd, indent=1).encode())
        assert [c.name for c in found.calls] == ["x"]


@pytest.mark.shows("FACT-CONFIG")
class TestConfiguration:
    def test_json_keys_of_the_top(self) -> None:
        text = '{\n "a": {"b": 1},\n "c": [\n  {"d": 2}\n ]\n}\n'
        assert symbols("a.json", text) == [("a", 2, 2), ("c", 3, 5)]

    def test_json_with_comments_and_brackets_in_strings(self) -> None:
        text = '{ // "no": 1\n "a": "}{", /* "b": 2 */ "c": "\\"d\\": 1"}\n'
        assert [name for name, *_ in symbols("a.jsonc", text)] == ["a", "c"]

    def test_an_array_has_no_keys(self) -> None:
        assert symbols("a.json", '[{"a": 1}]') == []

    def test_toml_tables_and_the_keys_before_them(self) -> None:
        text = 'a = 1\n\n[b.c]\nd = """\n[no]\n"""\n[[e]]\nf = 2\n'
        assert symbols("a.toml", text) == [("a", 1, 2), ("b.c", 3, 6), ("e", 7, 8)]

    def test_yaml_keys_of_the_top(self) -> None:
        text = '# note\na: 1\nb:\n  c: 2\n"d e": x\n- f: 1\nurl: http://x\n'
        assert [name for name, *_ in symbols("a.yml", text)] == ["a", "b", "d e", "url"]

    def test_ini_sections(self) -> None:
        assert symbols("setup.cfg", "[a]\nb = 1\n[c]\n") == [("a", 1, 2), ("c", 3, 3)]

    def test_a_go_module_says_its_name(self) -> None:
        assert extract("go.mod", b"// x\nmodule example.com/a\n").module == "example.com/a"

    def test_a_package_says_its_name(self) -> None:
        assert extract("p/package.json", b'{"name": "@a/b", "x": 1}').module == "@a/b"
