"""What an installation consists of, from the metadata of what is installed here."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass
from importlib import metadata

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

USER_EXTRAS = ("serve", "mcp", "postgres", "identity", "images", "fast", "languages")
ACCEPTED = re.compile(
    r"\b(MIT|BSD|Apache|ISC|PSF|Python-2\.0|0BSD|Zlib|Unlicense|MPL|HPND|any-OSI|CNRI-Python)\b",
    re.IGNORECASE,
)
WEAK_COPYLEFT = re.compile(r"LGPL|Lesser General Public", re.IGNORECASE)
BY_EXTRA_ONLY = frozenset({"psycopg", "psycopg-binary"})
"""Weak copyleft is accepted only in optional extras, used unmodified."""


@dataclass(frozen=True, order=True)
class Component:
    """One distribution that an installation brings along."""

    name: str
    version: str
    licence: str

    @property
    def purl(self) -> str:
        return f"pkg:pypi/{self.name}@{self.version}"


def components(name: str, extras: Iterable[str]) -> list[Component]:
    """The distributions that installing `name` with these extras brings, without `name` itself."""
    found: dict[str, Component] = {}
    waiting: list[tuple[str, frozenset[str]]] = [(name, frozenset(extras))]
    seen: set[tuple[str, frozenset[str]]] = set()
    while waiting:
        item = waiting.pop()
        if item in seen:
            continue
        seen.add(item)
        at, wanted = item
        about = metadata.distribution(at)
        if at != name:
            found[at] = Component(at, about.version, _licence(about))
        for line in about.requires or ():
            needed = Requirement(line)
            if needed.marker is None or any(
                needed.marker.evaluate({"extra": extra}) for extra in ("", *wanted)
            ):
                waiting.append((canonicalize_name(needed.name), frozenset(needed.extras)))
    return sorted(found.values())


def accepted(component: Component) -> bool:
    """Whether its licence is permissive, or weak copyleft behind an extra."""
    if WEAK_COPYLEFT.search(component.licence):
        return component.name in BY_EXTRA_ONLY
    return bool(ACCEPTED.search(component.licence))


def cyclonedx(found: list[Component], version: str) -> str:
    """The bill of materials as CycloneDX 1.6, without times and random ids."""
    described = {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {
            "component": {
                "type": "application",
                "bom-ref": f"pkg:pypi/holdfast@{version}",
                "name": "holdfast",
                "version": version,
                "licenses": [{"license": {"id": "MIT"}}],
            }
        },
        "components": [
            {
                "type": "library",
                "bom-ref": one.purl,
                "name": one.name,
                "version": one.version,
                "purl": one.purl,
                "licenses": [{"license": {"name": one.licence}}],
            }
            for one in found
        ],
    }
    return json.dumps(described, indent=1) + "\n"


def _licence(about: metadata.Distribution) -> str:
    stated = "; ".join(_field(about, "License-Expression"))
    if not stated:
        classifiers = [
            line for line in _field(about, "Classifier") if line.startswith("License ::")
        ]
        stated = "; ".join(line.rpartition(" :: ")[2] for line in classifiers)
    if not stated or stated == "OSI Approved":
        stated = "".join(_field(about, "License")).strip().split("\n")[0]
    return stated or "not stated"


def _field(about: metadata.Distribution, name: str) -> list[str]:
    return about.metadata.get_all(name) or []
