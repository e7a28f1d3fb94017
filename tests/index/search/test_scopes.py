"""What each scope takes in, by path."""

from __future__ import annotations

import pytest

from holdfast.index.search.scopes import in_scope


@pytest.mark.parametrize(
    ("path", "runtime", "docs"),
    [
        ("src/app.py", True, False),
        ("README.md", False, True),
        ("docs/guide.html", False, True),
        ("docs/conf.py", True, False),
        ("internal/docs/server.go", True, False),
        ("dist/app.js", False, False),
        ("packages/x/build/out.js", False, False),
        ("packages/x/build/plan.py", True, False),
        ("packages/x/dist/out.js", False, False),
        ("build/report.html", False, False),
        ("src/build/compiler.ts", True, False),
        ("internal/generated/api.go", False, False),
        ("web/app.min.js", False, False),
        ("coverage/data.py", True, False),
        ("coverage/index.html", False, False),
        ("pkg/coverage/profile.go", True, False),
        ("tests/test_app.py", True, False),
    ],
)
def test_a_scope_takes_in_what_it_says(path: str, runtime: bool, docs: bool) -> None:
    assert (in_scope(path, "runtime"), in_scope(path, "docs")) == (runtime, docs)
    assert in_scope(path, "mixed")
