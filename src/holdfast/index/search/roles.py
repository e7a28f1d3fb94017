"""What part a file plays in its tree, told from its path.

A question is nearly always about code that runs. Tests, examples, generated and vendored files
repeat that code's words, so they are held back unless they are asked for.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import Literal

Role = Literal[
    "source",
    "test",
    "example",
    "document",
    "generated",
    "vendored",
    "legacy",
    "benchmark",
    "declaration",
    "barrel",
    "build",
]

_RULES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "vendored",
        re.compile(
            r"(?:^|/)(?:vendor|vendored|_vendor|third[_-]?party|node_modules|external|deps)/"
        ),
    ),
    (
        "generated",
        re.compile(
            r"(?:^|/)(?:dist|coverage|\.next|generated|__generated__)/|^(?:build|out|gen)/"
            r"|\.min\.(?:js|css)\Z|[._-](?:pb2?|generated|gen|g)\.\w+\Z|_pb2(?:_grpc)?\.py\Z"
        ),
    ),
    (
        "test",
        re.compile(
            r"(?:^|/)(?:tests?|__tests__|spec|specs|testing|testdata|test_data|fixtures?|__mocks__|"
            r"mocks?|e2e|unittests?|[\w.-]*[._-]tests?|[A-Z]\w*Tests?)/"
            r"|(?:^|/)(?:test_|conftest\.)[^/]*\Z|[._-](?:test|tests|spec|e2e)\.\w+\Z"
            r"|(?:Tests?|Spec|IT|TestCase)\.(?:java|kt|scala|cs|swift|php|groovy|hs|cpp|cc|m)\Z"
            r"|(?:^|/)(?:src/)?(?:test|androidTest|commonTest|jvmTest)/"
        ),
    ),
    (
        "benchmark",
        re.compile(r"(?:^|/)(?:bench|benches|benchmarks?|perf)/|[._-]bench(?:mark)?s?\.\w+\Z"),
    ),
    (
        "example",
        re.compile(
            r"(?:^|/)(?:examples?|_examples?|samples?|demos?|tutorials?|docs_src|playground|"
            r"sandbox|cookbook|recipes|snippets)/"
        ),
    ),
    (
        "document",
        re.compile(
            r"(?:^|/)(?:docs?|documentation|guides?)/|^(?:website|site|man)/"
            r"|\.(?:md|mdx|markdown|rst|adoc|txt|org)\Z"
            r"|(?:^|/)(?i:readme|changelog|changes|news|licen[sc]e|authors|copying|contributors)\Z",
        ),
    ),
    (
        "legacy",
        re.compile(
            r"(?:^|/)(?:_?compat|legacy|deprecated|_?deprecations?|polyfills?|obsolete|attic)"
            r"(?:/|\.\w+\Z)|(?:^|/)\w*(?:[_-]compat|[_-]legacy|[_-]deprecated)\w*\.\w+\Z"
        ),
    ),
    ("declaration", re.compile(r"\.d\.[cm]?ts\Z|\.pyi\Z")),
    (
        "build",
        re.compile(
            r"^(?:\.github|\.circleci|ci|scripts?|tools?|cmake|docker|packaging|hack)/"
            r"|(?:^|/)(?:setup\.(?:py|cfg)|Makefile|CMakeLists\.txt|Dockerfile|Rakefile|"
            r"gulpfile|Gruntfile|build\.\w+|[\w.-]+\.(?:config|conf)\.[cm]?[jt]s|"
            r"package\.json|tsconfig[\w.]*\.json|pyproject\.toml|Cargo\.toml|pom\.xml)\Z"
            r"|\.(?:ya?ml|toml|json|lock|ini|cfg|gradle(?:\.kts)?|cmake)\Z"
        ),
    ),
    (
        "barrel",
        re.compile(r"(?:^|/)(?:__init__\.py|package-info\.java|mod\.rs|index\.(?:[cm]?[jt]sx?))\Z"),
    ),
)


@lru_cache(maxsize=65536)
def role_of(path: str) -> Role:
    """The first role whose marks the path bears; source when it bears none."""
    for role, pattern in _RULES:
        if pattern.search(path):
            return role
    return "source"
