"""The package that people install: same bytes twice, complete, capped, with known licences."""

from __future__ import annotations

import json
import tarfile
import tomllib
import zipfile
from pathlib import Path

import pytest
from packaging.requirements import Requirement

import holdfast
from release import building, components

ROOT = Path(__file__).resolve().parent.parent.parent
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, dict[str, str], dict[str, str]]:
    into = tmp_path_factory.mktemp("built") / "dist"
    first, second = building.build_twice(ROOT, into)
    return into, first, second


@pytest.mark.long
@pytest.mark.shows("PKG-REPRODUCIBLE")
def test_a_second_build_elsewhere_has_the_same_bytes(
    built: tuple[Path, dict[str, str], dict[str, str]],
) -> None:
    _, first, second = built
    assert first == second
    assert sorted(name.rpartition(".")[2] for name in first) == ["gz", "whl"]


@pytest.mark.long
@pytest.mark.shows("PKG-CONTENT")
def test_the_wheel_holds_the_program_and_nothing_else(
    built: tuple[Path, dict[str, str], dict[str, str]],
) -> None:
    into, _, _ = built
    names = zipfile.ZipFile(next(into.glob("*.whl"))).namelist()
    tops = {name.split("/")[0] for name in names}
    assert tops == {"holdfast", f"holdfast-{holdfast.__version__}.dist-info"}
    source = ROOT / "src" / "holdfast"
    expected = {
        f"holdfast/{path.relative_to(source).as_posix()}"
        for path in source.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert {name for name in names if name.startswith("holdfast/")} == expected
    with tarfile.open(next(into.glob("*.tar.gz"))) as archive:
        sdist = archive.getnames()
    assert any(name.endswith("/tests/release/test_package.py") for name in sdist)


@pytest.mark.shows("PKG-VERSION")
def test_every_place_states_one_version() -> None:
    assert PROJECT["version"] == holdfast.__version__


@pytest.mark.shows("PKG-CAPS")
def test_every_dependency_of_a_user_has_a_lower_and_an_upper_bound() -> None:
    extras = PROJECT["optional-dependencies"]
    lines = [
        *PROJECT["dependencies"],
        *(line for name in components.USER_EXTRAS for line in extras[name]),
    ]
    for line in lines:
        operators = {part.operator for part in Requirement(line).specifier}
        assert operators == {">=", "<"}, line


@pytest.mark.shows("PKG-EXTRAS")
def test_all_means_every_extra_of_a_user_and_agents_what_an_agent_needs() -> None:
    extras = PROJECT["optional-dependencies"]
    assert set(extras) == {*components.USER_EXTRAS, "agents", "all", "dev"}
    assert Requirement(extras["all"][0]).extras == set(components.USER_EXTRAS)
    assert Requirement(extras["agents"][0]).extras == {"mcp", "serve", "languages"}
    base = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert not base & {"numba", "psycopg", "pillow", "cryptography"}


@pytest.mark.shows("PKG-LICENCES")
def test_every_licence_is_accepted_and_weak_copyleft_is_only_an_extra() -> None:
    everything = components.components("holdfast", components.USER_EXTRAS)
    assert len(everything) > 40
    assert [one for one in everything if not components.accepted(one)] == []
    base = components.components("holdfast", ())
    assert not {one.name for one in base} & components.BY_EXTRA_ONLY


@pytest.mark.parametrize(
    ("licence", "expected"),
    [
        ("MIT", True),
        ("BSD-3-Clause AND 0BSD", True),
        ("GPL-3.0-only", False),
        ("LGPL-3.0-only", False),
        ("not stated", False),
        ("Proprietary", False),
    ],
)
@pytest.mark.shows("PKG-LICENCES")
def test_which_licences_are_accepted(licence: str, expected: bool) -> None:
    assert components.accepted(components.Component("x", "1", licence)) is expected


@pytest.mark.shows("PKG-SBOM")
def test_the_bill_of_materials_names_every_component_and_is_the_same_twice() -> None:
    found = components.components("holdfast", ())
    text = components.cyclonedx(found, "1.2.3")
    assert text == components.cyclonedx(found, "1.2.3")
    described = json.loads(text)
    assert described["bomFormat"] == "CycloneDX"
    direct = {Requirement(line).name for line in PROJECT["dependencies"]}
    assert direct <= {one["name"] for one in described["components"]}
    assert all(one["purl"].startswith("pkg:pypi/") for one in described["components"])
