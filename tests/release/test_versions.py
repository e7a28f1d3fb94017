"""Why it exists: a release of one tool failed the type check of every new environment."""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterator
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

from release import versions

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
PINNED = (ROOT / "constraints.txt").read_text(encoding="utf-8")


def _pins() -> dict[str, str]:
    lines = [line for line in PINNED.splitlines() if not line.startswith("#")]
    found = [re.fullmatch(r"([\w.-]+)==([\w.+!-]+)", line) for line in lines]
    assert all(found), "each line pins one version"
    return {canonicalize_name(pin[1]): pin[2] for pin in found if pin}


def _required() -> Iterator[Requirement]:
    """What `.[dev]` asks for, by itself and by the extras that it names."""
    for line in PROJECT["dependencies"]:
        yield Requirement(line)
    for lines in PROJECT["optional-dependencies"].values():
        for line in lines:
            if not line.startswith("holdfast["):
                yield Requirement(line)


@pytest.mark.shows("PKG-VERSIONS")
def test_every_dependency_is_tested_in_one_version_that_users_may_get() -> None:
    pins = _pins()
    for required in _required():
        version = pins[canonicalize_name(required.name)]
        assert required.specifier.contains(version, prereleases=True), f"{required}: {version}"


@pytest.mark.shows("PKG-VERSIONS")
def test_a_new_environment_takes_these_versions() -> None:
    assert PINNED.startswith(versions.HEADER)
    assert "--constraint constraints.txt" in (ROOT / "Makefile").read_text(encoding="utf-8")
