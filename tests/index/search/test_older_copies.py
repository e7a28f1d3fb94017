"""Which file is an older copy of another, from their paths alone."""

from __future__ import annotations

import pytest

from holdfast.index.search.older_copies import superseded

API = ["api/apps/v1/types.go", "api/apps/v1beta2/types.go", "api/apps/v1alpha1/types.go"]


def older(paths: list[str], query: str) -> set[str]:
    return {path for path, old in zip(paths, superseded(paths, query), strict=True) if old}


@pytest.mark.shows("SEARCH-SIGNAL-OLDER")
@pytest.mark.parametrize(
    ("paths", "query", "expected"),
    [
        (API, "DeploymentSpec", set(API[1:])),
        (API, "DeploymentSpec of v1beta2", {API[2]}),
        (API[1:], "DeploymentSpec", {API[2]}),
        (["hue/v1/light.py", "hue/v2/light.py"], "hue lights", {"hue/v1/light.py"}),
        (["v1/light.py", "v10/light.py", "v9/light.py"], "lights", {"v1/light.py", "v9/light.py"}),
        (["hue/v1/light.py", "hue/v2/sensor.py"], "hue lights", set()),
        (["hue/v2/light.py", "hue/v3alpha1/light.py"], "lights", {"hue/v3alpha1/light.py"}),
        (["uuid/v1.js", "uuid/v4.js"], "random uuid", set()),
        (["a/parser_old.py", "a/parser.py"], "parse a file", {"a/parser_old.py"}),
        (["a/parser.orig.py", "a/parser.py"], "parse a file", {"a/parser.orig.py"}),
        (["a/parser_old.py", "b/parser.py"], "parse a file", set()),
        (["a/old/parser.py", "a/parser.py"], "parse a file", {"a/old/parser.py"}),
        (["backup/parser.py", "parser.py"], "parse a file", {"backup/parser.py"}),
        (["a/old/parser.py", "a/lexer.py"], "parse a file", set()),
        (["a/threshold/parser.py", "a/parser.py"], "parse a file", set()),
        (["a/parser_old.py", "a/parser.py"], "the old parser", set()),
        (["a/threshold.py", "a/thresh.py"], "limits", set()),
        ([], "anything", set()),
    ],
)
def test_a_copy_is_older_if_a_newer_one_is_beside_it(
    paths: list[str], query: str, expected: set[str]
) -> None:
    assert older(paths, query) == expected
