"""What part a file plays, told from its path."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.index.search import roles, scopes
from holdfast.index.search.roles import Role, role_of
from holdfast.index.search.scopes import in_scope


@pytest.mark.shows("SEARCH-SIGNAL-ROLE-OF")
@pytest.mark.parametrize(
    ("path", "role"),
    [
        ("src/app/session.py", "source"),
        ("src/index/tools/search.py", "source"),
        ("lib/history.js", "source"),
        ("lib/std/Build/Step.zig", "source"),
        ("contest/latest.go", "source"),
        ("tests/test_app.py", "test"),
        ("src/app.test.ts", "test"),
        ("pkg/store/store_test.go", "test"),
        ("src/test/java/AppTest.java", "test"),
        ("src/testFixtures/java/Demo.java", "test"),
        ("spec/models/user_spec.rb", "test"),
        ("app/FooTests.cs", "test"),
        ("src/Shop.Tests/CartFixture.cs", "test"),
        ("Tests/Shop/cart.swift", "test"),
        ("unitTests/main.cpp", "test"),
        ("src/integrationTest/kotlin/A.kt", "test"),
        ("parsing/test-examples/rule1.py", "test"),
        ("src/protest/march.go", "source"),
        ("src/latest.cs", "source"),
        ("Samples/Basic/Main.cs", "example"),
        ("Benchmarks/Sort.swift", "benchmark"),
        ("Resources/Texts.Generated.cs", "generated"),
        ("Forms/Main.Designer.cs", "generated"),
        ("configure", "generated"),
        ("src/configure.ts", "source"),
        ("liealgebras/type_g.py", "source"),
        ("project/Build.scala", "build"),
        ("libshop.pc.in", "build"),
        ("Translation/DefaultText.xml", "data"),
        ("locale/de/LC_MESSAGES/shop.po", "data"),
        ("src/news.py", "source"),
        ("examples/basic/main.go", "example"),
        ("docs_src/tutorial.py", "example"),
        ("docs/guide.md", "document"),
        ("ChangeLog", "document"),
        ("shop-site/src/pages/manual.html", "document"),
        ("core/src/site/apt/usage.apt", "document"),
        ("src/website.py", "source"),
        ("README", "document"),
        ("benches/sort.rs", "benchmark"),
        ("vendor/lib/zlib.c", "vendored"),
        ("third_party/x/y.h", "vendored"),
        ("dist/app.js", "generated"),
        ("api/types_pb2.py", "generated"),
        ("web/app.min.js", "generated"),
        ("api/v1/generated.proto", "generated"),
        ("light/translations/en.json", "data"),
        ("light/strings.json", "build"),
        ("src/_compat.py", "legacy"),
        ("types/index.d.ts", "declaration"),
        ("pkg/__init__.py", "barrel"),
        ("src/index.ts", "barrel"),
        ("setup.py", "build"),
        ("scripts/release.sh", "build"),
        (".github/workflows/ci.yml", "build"),
    ],
)
def test_the_role_of_a_path(path: str, role: Role) -> None:
    assert role_of(path) == role


@pytest.mark.shows("SEARCH-SIGNAL-ROLE-OF")
def test_what_runs_is_in_scope_whatever_its_letters() -> None:
    assert in_scope("lib/std/Build/Step.zig", "runtime")
    assert not in_scope("build/out.js", "runtime")
    assert not in_scope("docs/guide.md", "runtime")
    assert in_scope("docs/guide.md", "docs")


WORDS = (
    "src", "main", "vendor", "third_party", "dist", "generated", "build", "out", "gen", "test",
    "Tests", "unitTests", "myTest", "testdata", "foo_test", "foo-tests", "t", "e2e", "bench",
    "examples", "docs", "website", "x-site", "site", "compat", "_compat", "legacy", "locale",
    ".github", "ci", "scripts", "project", "package", "Pods", "perf", "man", "a.b", "guide",
)  # fmt: skip
NAMES = (
    "a.go", "b.scala", "aIT.java", "a_compat.go", "a.gen.go", "ui_a.py", "a.conf.js", "a.py",
    "test_a.py", "a_test.go", "ATest.java", "a.spec.ts", "conftest.py", "a.min.js",
    "a_pb2.py", "a.pb.go", "zz_generated.deepcopy.go", "generated.go", "configure", "Makefile",
    "Makefile.in", "a.bench.ts", "README", "readme.md", "a.1", "compat.py", "legacy.js",
    "x_compat.c", "a.d.ts", "a.pyi", "setup.py", "build.sbt", "Build.scala", "a.yaml", "a.svg",
    "__init__.py", "index.ts", "mod.rs", "a.stories.tsx", "a.test", "vendor", "test", "project",
)  # fmt: skip


@pytest.mark.shows("SEARCH-SIGNAL-ROLE-OF")
@given(st.lists(st.sampled_from(WORDS), max_size=4), st.sampled_from(NAMES))
def test_a_role_is_the_first_pattern_that_matches_anywhere(folders: list[str], name: str) -> None:
    path = "/".join([*folders, name])
    found = (role for role, pattern in roles._RULES if pattern.search(path))
    assert roles.role_of(path) == next(found, "source")


@pytest.mark.shows("SEARCH-SIGNAL-ROLE-OF")
@pytest.mark.parametrize("depth", [roles.DEPTH_MAX, 3_000])
def test_a_path_of_many_directories_has_a_role(depth: int) -> None:
    assert role_of("a/" * depth + "vendor/a.py") == "vendored"
    assert role_of("a/" * depth + "b.py") == "source"


@pytest.mark.shows("SEARCH-SIGNAL-ROLE-OF")
@given(
    st.lists(st.sampled_from([*WORDS, ".next", "coverage", "lib"]), max_size=4),
    st.sampled_from(NAMES),
)
def test_a_scope_is_decided_by_the_patterns_alone(folders: list[str], name: str) -> None:
    path = "/".join([*folders, name])
    document = scopes._DOCUMENT.search(path) or (
        scopes._AMONG_DOCUMENTS.search(path) and not scopes._CODE.search(path)
    )
    assert in_scope(path, "docs") == bool(document)
    assert in_scope(path, "runtime") == (not document and not scopes._GENERATED.search(path))
