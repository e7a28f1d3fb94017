"""The workflow files do what CI does here, and publish only a tag that passed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

ROOT = Path(__file__).resolve().parent.parent.parent


def workflow(name: str) -> dict[Any, Any]:
    text = (ROOT / ".github" / "workflows" / name).read_text(encoding="utf-8")
    loaded = yaml.safe_load(text)
    assert isinstance(loaded, dict)
    return loaded


def commands(job: dict[str, Any]) -> list[str]:
    return [step["run"] for step in job["steps"] if "run" in step]


@pytest.mark.shows("PKG-WORKFLOW")
def test_a_push_runs_what_ci_runs() -> None:
    jobs = workflow("ci.yml")["jobs"]
    assert [commands(job) for job in jobs.values()] == [[".ci/run"]]
    versions = jobs["test"]["steps"][1]["with"]["python-version"].split()
    assert versions == ["3.11", "3.12", "3.13"]


@pytest.mark.shows("PKG-WORKFLOW")
def test_a_tag_is_published_only_after_every_check() -> None:
    described = workflow("release.yml")
    assert described[True] == {"push": {"tags": ["v*"]}}  # YAML reads the key `on` as a truth value
    build, publish = described["jobs"]["build"], described["jobs"]["publish"]
    assert commands(build)[:2] == [".ci/run", "make audit"]
    assert "GITHUB_REF_NAME" in commands(build)[2]
    assert publish["needs"] == "build"
    assert publish["permissions"] == {"id-token": "write"}


@pytest.mark.shows("PKG-WORKFLOW")
def test_ci_checks_the_package_too() -> None:
    lines = (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()
    assert "make package" in lines
