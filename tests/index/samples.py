"""One small, lively source file for each language, for the property tests to shift and to break."""

from tests.index.claims import split
from tests.index.facts import (
    test_bash,
    test_c,
    test_cpp,
    test_csharp,
    test_go,
    test_java,
    test_javascript,
    test_kotlin,
    test_lua,
    test_php,
    test_python,
    test_ruby,
    test_rust,
    test_scala,
    test_swift,
    test_typescript,
)

_MODULES = {
    "py": test_python,
    "js": test_javascript,
    "ts": test_typescript,
    "go": test_go,
    "rs": test_rust,
    "java": test_java,
    "c": test_c,
    "cpp": test_cpp,
    "cs": test_csharp,
    "rb": test_ruby,
    "php": test_php,
    "kt": test_kotlin,
    "swift": test_swift,
    "scala": test_scala,
    "sh": test_bash,
    "lua": test_lua,
}
NOTEBOOK = """{
 "cells": [
  {"cell_type": "markdown", "source": ["# Title\\n", "text"]},
  {
   "cell_type": "code",
   "source": [
    "%matplotlib inline\\n",
    "def total(x):\\n",
    "    return x"
   ]
  },
  {"cell_type": "code", "source": "total(1)\\n"}
 ],
 "metadata": {"language_info": {"name": "python"}},
 "nbformat": 4
}
"""
DOCUMENTS = {
    "md": "---\na: 1\n---\n# One\n\ntext\n\n## Two\n```\n# no\n```\nThree\n---\n\nmore\n# Four #\n",
    "json": '{"a": 1, "b": {"c": [1, 2, {}]}, // note\n "d": "e,}"}\n',
    "toml": 'a = 1\n[b]\nc = """\n[no]\n"""\n[[d.e]]\nf = 2\n',
    "yaml": "a: 1\n# note\nb:\n  c: 2\n- d\n'e f': |\n  g: h\n",
    "ini": "a = 1\n[b]\nc = 2\n; note\n[d]\n",
    "ipynb": NOTEBOOK,
    "txt": "one\n\ntwo\n",
}


def sources() -> dict[str, list[str]]:
    """The sources of every case, by extension."""
    found: dict[str, list[str]] = {}
    for suffix, module in _MODULES.items():
        texts = found.setdefault(suffix, [])
        for case in module.CASES.values():
            texts.extend(
                "\n".join(file.lines) + "\n" for file in split(case) if file.path.endswith(suffix)
            )
    found.update({suffix: [text] for suffix, text in DOCUMENTS.items()})
    return {suffix: [text for text in texts if text.strip()] for suffix, texts in found.items()}


def all_cases() -> list[str]:
    """The cases of every language, each with one file or several."""
    return [case for module in _MODULES.values() for case in module.CASES.values()]
