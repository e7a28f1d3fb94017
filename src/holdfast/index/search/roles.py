"""What part a file plays in its tree, told from its path.

A query is nearly always about code that runs. Tests, examples, generated and vendored files
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
    "data",
]

_RULES: tuple[tuple[Role, re.Pattern[str]], ...] = (
    (
        "vendored",
        re.compile(
            r"(?:^|/)(?i:vendor|vendored|_vendor|third[_-]?party|node_modules|external|deps|"
            r"bower_components|Pods|Carthage)/"
        ),
    ),
    (
        "generated",
        re.compile(
            # `Build/` is as likely to be written by hand.
            r"(?:^|/)(?:dist|coverage|\.next|(?i:generated|__generated__|autogen))/"
            r"|^(?:build|out|gen)/|\.min\.(?:js|css)\Z|\.bundle\.js\Z"
            r"|[._-](?:pb2?|gen|(?i:generated|designer))\.\w+\Z|_pb2(?:_grpc)?\.py\Z"
            r"|\.g(?:\.i)?\.(?:cs|dart|ts|kt|py)\Z"
            r"|(?:^|/)(?:zz_generated|moc_|qrc_|ui_)[^/]*\.\w+\Z"
            # What autotools leave behind.
            r"|(?:^|/)(?:configure|aclocal\.m4|ltmain\.sh|libtool|missing|depcomp|install-sh|"
            r"mkinstalldirs|config\.(?:guess|sub)|test-driver|ylwrap|compile|Makefile\.in)\Z"
        ),
    ),
    (
        "test",
        re.compile(
            r"(?:^|/)(?i:tests?|__tests__|spec|specs|testing|testdata|fixtures?|__mocks__|mocks?|"
            r"__snapshots__|e2e|cypress|unittests?|[\w.-]*[._-]tests?|"
            r"test[_-]?(?:data|utils?|helpers?|support|cases?|files|suites?|kit|lib|examples?))/"
            r"|(?:^|/)[\w.-]*[a-z]Tests?/|(?:^|/)src/\w*Test\w*/|^t/"
            r"|(?:^|/)(?:test[_-]|conftest\.)[^/]*\Z|[._-](?i:test|tests|spec|e2e)\.\w+\Z"
            r"|(?:Tests?|Spec|IT|TestCase)\.(?:java|kt|scala|cs|swift|php|groovy|hs|cpp|cc|m)\Z"
            r"|\.(?:test|snap)\Z"
        ),
    ),
    (
        "benchmark",
        re.compile(
            r"(?:^|/)(?i:bench|benches|benchmarks?|perf|jmh)/|[._-](?i:bench(?:mark)?s?)\.\w+\Z"
        ),
    ),
    (
        "example",
        re.compile(
            r"(?:^|/)(?i:examples?|_examples?|samples?|demos?|tutorials?|docs_src|playground|"
            r"sandbox|cookbook|recipes|snippets)/|\.stories\.\w+\Z"
        ),
    ),
    (
        "document",
        re.compile(
            r"(?:^|/)(?i:docs?|documentation|guides?)/|^(?:website|site|man|[\w.-]+-site)/"
            r"|(?:^|/)src/site/"
            r"|\.(?i:md|mdx|markdown|rst|adoc|txt|org|[1-8]|pod|texi(?:nfo)?)\Z"
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
            r"^(?:\.github|\.circleci|ci|scripts?|tools?|cmake|docker|packaging|hack|debian)/"
            r"|(?:^|/)(?:setup\.(?:py|cfg)|Makefile|CMakeLists\.txt|Dockerfile|Rakefile|"
            r"gulpfile|Gruntfile|build\.\w+|[\w.-]+\.(?:config|conf)\.[cm]?[jt]s|"
            r"package\.json|tsconfig[\w.]*\.json|pyproject\.toml|Cargo\.toml|pom\.xml)\Z"
            r"|(?:^|/)project/\w+\.scala\Z"
            r"|\.(?:ya?ml|toml|json|lock|ini|cfg|gradle(?:\.kts)?|cmake|sbt|m4|ac|am|in|"
            r"csproj|vcxproj|vcproj|sln|props|targets|podspec|gemspec|cabal|rockspec|spec)\Z"
        ),
    ),
    (
        "data",
        re.compile(
            r"(?:^|/)(?i:locales?|translations?)/"
            r"|\.(?i:xml|xsd|xsl|resx|xlf|xliff|po|pot|strings|plist|svg|csv|tsv|map|filters)\Z"
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
