"""What `make audit` says of known vulnerabilities, and of what it could not check."""

from __future__ import annotations

import json

import pytest

from release.advisories import assess, command

CHECKED: dict[str, object] = {"name": "numpy", "version": "2.4.6", "vulns": []}
SKIPPED: dict[str, object] = {"name": "regex", "skip_reason": "Dependency not found on PyPI"}
KNOWN: dict[str, object] = {
    "name": "mcp",
    "version": "2.3.0",
    "vulns": [{"id": "PYSEC-2026-1", "fix_versions": ["2.3.1"], "aliases": []}],
}


def report(*packages: dict[str, object]) -> str:
    return json.dumps({"dependencies": packages, "fixes": []})


@pytest.mark.shows("PKG-AUDIT")
def test_a_known_vulnerability_is_named_and_fails() -> None:
    assessment = assess(report(CHECKED, KNOWN), ignored=())
    assert "mcp 2.3.0: PYSEC-2026-1, fixed in 2.3.1" in assessment.lines()
    assert assessment.exit_code(strict=False) == 1


@pytest.mark.shows("PKG-AUDIT")
def test_a_package_that_was_not_checked_is_not_called_sound() -> None:
    """pip-audit said *no known vulnerabilities* where the service knew no package at all."""
    assessment = assess(report(SKIPPED), ignored=())
    assert assessment.lines() == [
        "0 packages checked, 0 advisories",
        "NOT CHECKED, the advisory service does not know them here: regex",
    ]
    assert (assessment.exit_code(strict=False), assessment.exit_code(strict=True)) == (0, 1)


def test_a_long_list_of_unchecked_packages_is_counted() -> None:
    skipped = [SKIPPED | {"name": f"package{number}"} for number in range(7)]
    assert assess(report(*skipped), ignored=()).lines()[-1].endswith("package4 and 2 more")


def test_the_project_itself_is_not_expected_in_the_registry() -> None:
    itself: dict[str, object] = {
        "name": "holdfast",
        "skip_reason": "distribution marked as editable",
    }
    assessment = assess(report(itself, CHECKED), ignored={"holdfast"})
    assert (assessment.checked, assessment.unchecked) == (1, ())
    assert assessment.exit_code(strict=True) == 0


def test_the_audit_is_not_asked_for_two_environments_at_once() -> None:
    """`make audit` failed: pip-audit does not combine --path with --local."""
    words = command("uv", "/packages")
    assert words[-2:] == ["--path", "/packages"]
    assert "--local" not in words
