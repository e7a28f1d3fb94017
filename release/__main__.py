"""`python -m release STEP`: the steps of a release, each by itself."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

from release import advisories, building, components, smoke, versions

ROOT = Path(__file__).resolve().parent.parent
DIST = ROOT / "dist"


def main(argv: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="python -m release", description=__doc__)
    steps = parser.add_subparsers(dest="step", required=True)
    steps.add_parser("build", help="build wheel and sdist twice and compare their bytes")
    trial = steps.add_parser("smoke", help="install the wheel in empty environments and use it")
    trial.add_argument("--python", action="append", metavar="VERSION", help="3.11, 3.12 or 3.13")
    trial.add_argument("--uv", action="store_true", help="also by `uv tool install` and `uvx`")
    steps.add_parser("sbom", help="write the components of the base install as CycloneDX")
    steps.add_parser("licences", help="check the licence of every dependency")
    steps.add_parser("advisories", help="look for known vulnerabilities of what is installed")
    steps.add_parser("upgrade", help="write the newest versions of what tests run with")
    options = parser.parse_args(argv)
    match options.step:
        case "build":
            return _build()
        case "smoke":
            return smoke.run(DIST, options.python or smoke.VERSIONS, with_uv=options.uv)
        case "sbom":
            return _sbom()
        case "advisories":
            return _advisories()
        case "upgrade":
            print(f"{versions.upgrade(ROOT)} versions: constraints.txt")
            return 0
        case _:
            return _licences()


def _build() -> int:
    first, second = building.build_twice(ROOT, DIST)
    for name in sorted(first):
        print(f"{name}  sha256:{first[name]}")
    if first != second:
        print("the second build has other bytes", file=sys.stderr)
        return 1
    print("built twice, same bytes")
    return 0


def _sbom() -> int:
    DIST.mkdir(exist_ok=True)
    written = DIST / f"holdfast-{building.version(ROOT)}.cdx.json"
    found = components.components("holdfast", extras=())
    written.write_text(components.cyclonedx(found, building.version(ROOT)), encoding="utf-8")
    print(f"{len(found)} components: {written.relative_to(ROOT)}")
    return 0


def _licences() -> int:
    found = components.components("holdfast", extras=components.USER_EXTRAS)
    refused = [one for one in found if not components.accepted(one)]
    for one in found:
        print(f"{one.name} {one.version}: {one.licence}{'' if one not in refused else '  REFUSED'}")
    if refused:
        print(f"licences that are not accepted: {len(refused)}", file=sys.stderr)
    return 1 if refused else 0


def _advisories() -> int:
    try:
        return advisories.run(strict=bool(os.environ.get("CI")))
    except advisories.NoReport as error:
        print(f"pip-audit made no report: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
