"""Known vulnerabilities of what is installed, and what could not be checked.

pip-audit calls an environment clean if no advisory was found, also if the service answered for
no package at all. Here a package that was not checked is counted and named.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path

NAMED = 5
"""How many unchecked packages a sentence names."""


class NoReport(Exception):
    """pip-audit ended without a report."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What a report says of the packages that matter here."""

    checked: int
    unchecked: tuple[str, ...]
    found: tuple[str, ...]
    """A line for each advisory."""

    def lines(self) -> list[str]:
        said = list(self.found)
        said.append(f"{self.checked} packages checked, {len(self.found)} advisories")
        if self.unchecked:
            named = ", ".join(self.unchecked[:NAMED])
            more = len(self.unchecked) - NAMED
            named += f" and {more} more" if more > 0 else ""
            said.append(f"NOT CHECKED, the advisory service does not know them here: {named}")
        return said

    def exit_code(self, *, strict: bool) -> int:
        """1 for an advisory. With `strict`, also for a package that was not checked."""
        return 1 if self.found or (strict and self.unchecked) else 0


def assess(report: str, ignored: Collection[str]) -> Assessment:
    """Read a JSON report of pip-audit; `ignored` are packages that no registry has."""
    checked, unchecked, found = 0, [], []
    for package in json.loads(report)["dependencies"]:
        name = package["name"]
        if name in ignored:
            continue
        if "skip_reason" in package:
            unchecked.append(name)
            continue
        checked += 1
        for advisory in package["vulns"]:
            fixed = ", ".join(advisory["fix_versions"]) or "no version"
            found.append(f"{name} {package['version']}: {advisory['id']}, fixed in {fixed}")
    return Assessment(checked, tuple(unchecked), tuple(found))


def command(uv: str, packages: str) -> list[str]:
    """Audit what is installed in this directory; pip-audit itself runs elsewhere."""
    options = ["--format", "json", "--progress-spinner", "off"]
    return [uv, "tool", "run", "-q", "pip-audit", *options, "--path", packages]


def run(*, strict: bool) -> int:
    uv = str(Path(sys.executable).parent / "uv")
    audit = subprocess.run(
        command(uv, sysconfig.get_path("purelib")), capture_output=True, text=True, check=False
    )
    # It ends with 1 if there are advisories, and then there is a report, too.
    if not audit.stdout.startswith("{"):
        raise NoReport(audit.stderr.strip())
    assessment = assess(audit.stdout, ignored={"holdfast"})
    for line in assessment.lines():
        print(line)
    return assessment.exit_code(strict=strict)
