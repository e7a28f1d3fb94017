"""`python -m bench.retrieval.fetch`: fetch the repositories of a set from package registries.

Only names, versions and digests are in git; the code is downloaded with the registries' own tools
(`apt-get source`, `npm pack`, `pip download`), verified, and unpacked into a cache directory that
git ignores. A `git` package is this project itself at a fixed commit, from its own history. A
repository that cannot be fetched is reported and left out.

The indexed copy may differ from the package in one way: doc comments that serve as questions are
blanked line by line, so that every other line keeps its number.
"""

from __future__ import annotations

import argparse
import hashlib
import io
import json
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

HERE = Path(__file__).parent
REPOSITORIES = HERE / "repositories.json"
CACHE = HERE.parent / "corpora" / "retrieval"
KINDS = ("debian", "debian-source", "npm", "pypi", "git")

Lines = tuple[int, int]


class CannotFetch(Exception):
    """Raised when a package cannot be downloaded, or differs from the labelled one."""


@dataclass(frozen=True)
class Package:
    """A package by name and version, and which part of it is the repository."""

    kind: str
    name: str
    version: str = ""
    sha256: str = ""
    subdir: str = ""
    leave_out: tuple[str, ...] = ()

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Package:
        kind = str(fields.get("kind", ""))
        if kind not in KINDS:
            raise CannotFetch(f"unknown package kind {kind!r}; expected one of {', '.join(KINDS)}")
        return cls(
            kind,
            str(fields["name"]),
            str(fields.get("version", "")),
            str(fields.get("sha256", "")),
            str(fields.get("subdir", "")),
            tuple(fields.get("leave_out", ())),
        )

    def __str__(self) -> str:
        return f"{self.kind} {self.name} {self.version}".rstrip()


@dataclass
class Fetcher:
    """Fetches into `cache`; `sources` is the git repository of a `git` package."""

    cache: Path = CACHE
    sources: Path = HERE.parent.parent
    environment: Mapping[str, str] = field(default_factory=lambda: dict(os.environ))

    def tree(self, package: Package, blanked: Mapping[str, Sequence[Lines]] | None = None) -> Path:
        """The unpacked repository, with some lines blanked; unpacked once and then reused."""
        blanked = blanked or {}
        told = json.dumps(
            [str(package), package.sha256, package.subdir, package.leave_out, blanked],
            sort_keys=True,
        )
        name = package.name.replace("/", "-").replace("@", "")
        tree = self.cache / "trees" / f"{name}-{hashlib.sha256(told.encode()).hexdigest()[:12]}"
        if tree.is_dir():
            return tree
        tree.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=tree.parent) as directory:
            unpacked = Path(directory) / "unpacked"
            self._unpack(package, unpacked)
            top = unpacked if package.kind == "debian" else _single(unpacked)
            root = _below(top, package.subdir)
            for pattern in package.leave_out:
                for path in sorted(root.glob(pattern), reverse=True):
                    shutil.rmtree(path) if path.is_dir() else path.unlink()
            for path_name, ranges in blanked.items():
                blank(root / path_name, ranges)
            os.replace(root, tree)
        return tree

    def archive(self, package: Package) -> Path:
        """The package's archive from the registry, verified."""
        folder = self.cache / "packages" / package.kind / package.name.replace("/", "+")
        # A download that was killed leaves its directory here.
        files = [p for p in folder.glob("*") if p.is_file()] if folder.is_dir() else []
        kept = [p for p in files if digest(p) == package.sha256]
        if kept:
            return kept[0]
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder) as directory:
            found = self._download(package, Path(directory))
            if package.sha256 and digest(found) != package.sha256:
                raise CannotFetch(
                    f"{package}: {found.name} is not the labelled version (sha256 {digest(found)})"
                )
            return Path(shutil.move(found, folder / found.name))

    def _unpack(self, package: Package, into: Path) -> None:
        into.mkdir()
        if package.kind == "git":
            archive = into.with_suffix(".tar")
            call(["git", "-C", str(self.sources), "archive", "-o", str(archive), package.version])
            (into / "tree").mkdir()
            unpack(archive, into / "tree")
            archive.unlink()
        else:
            unpack(self.archive(package), into)

    def _download(self, package: Package, into: Path) -> Path:
        if package.kind == "npm":
            call(["npm", "pack", "--silent", f"{package.name}@{package.version}"], into)
        elif package.kind == "pypi":
            # Wheels only: building a source distribution would run its code.
            call(
                [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
                 "--only-binary", ":all:", "--dest", str(into),
                 f"{package.name}=={package.version}"], into,
            )  # fmt: skip
        elif package.kind == "debian":
            wanted = f"{package.name}={package.version}" if package.version else package.name
            call(["apt-get", "-o", "APT::Sandbox::User=root", "download", wanted], into)
        else:
            # With separate apt lists, because systems often have none for source packages.
            call(
                ["apt-get", *self._apt(), "source", "--download-only", "--tar-only", package.name],
                into,
            )
        found = [p for p in into.iterdir() if ".orig" in p.name or package.kind != "debian-source"]
        found = [p for p in found if p.suffix != ".asc"]
        native = [p for p in into.iterdir() if ".tar." in p.name and ".debian." not in p.name]
        if not (found := found or native):
            raise CannotFetch(f"{package}: the registry gave no source archive")
        return max(found, key=lambda path: path.stat().st_size)

    def _apt(self) -> list[str]:
        state = (self.cache / "apt").resolve()
        lists = state / "lists"
        options = []
        for key, value in {
            "Dir::Etc::sourcelist": state / "sources" / "all.sources",
            "Dir::Etc::sourceparts": state / "none",
            "Dir::State::lists": lists,
            "Dir::Cache": state / "cache",
            "APT::Sandbox::User": "root",
        }.items():
            options += ["-o", f"{key}={value}"]
        if not (state / "updated").exists():
            for folder in (lists / "partial", state / "cache/archives/partial", state / "sources"):
                folder.mkdir(parents=True, exist_ok=True)
            found = sorted(Path("/etc/apt").glob("sources.list.d/*.sources"))
            stanzas = [
                path.read_text().replace("Types: deb\n", "Types: deb-src\n") for path in found
            ]
            if not stanzas:
                raise CannotFetch("no Debian archive is configured on this system")
            (state / "sources" / "all.sources").write_text("\n".join(stanzas))
            call(["apt-get", *options, "update"], state)
            (state / "updated").touch()
        return options


def digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def call(command: list[str], directory: Path | None = None) -> None:
    try:
        done = subprocess.run(
            command, cwd=directory, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=900,
        )  # fmt: skip
    except (OSError, subprocess.TimeoutExpired) as error:
        raise CannotFetch(f"{command[0]} did not run: {error}") from error
    if done.returncode:
        said = (done.stderr.strip() or done.stdout.strip()).splitlines()
        raise CannotFetch(f"{' '.join(command[:2])} failed: {said[-1] if said else 'no output'}")


def unpack(archive: Path, into: Path) -> None:
    """Unpack plain files only: no links, no devices, nothing outside `into`."""
    if archive.suffix in (".whl", ".zip"):
        with zipfile.ZipFile(archive) as bundle:
            for entry in bundle.infolist():
                if not entry.is_dir():
                    _place(into, entry.filename, bundle.read(entry))
        return
    if archive.suffix == ".deb":
        data = _member(archive.read_bytes(), "data.tar")
    else:
        data = archive.read_bytes()
    with tarfile.open(fileobj=io.BytesIO(data)) as bundle:
        for member in bundle:
            if member.isfile() and (file := bundle.extractfile(member)) is not None:
                _place(into, member.name, file.read())


def _member(data: bytes, prefix: str) -> bytes:
    """A member of an `ar` archive: a header of 60 bytes, then the content, padded to two bytes."""
    at = 8
    while at + 60 <= len(data):
        name, size = data[at : at + 16].decode().strip(), int(data[at + 48 : at + 58])
        if name.startswith(prefix):
            return data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise CannotFetch(f"there is no {prefix} in the package")


def _place(into: Path, name: str, data: bytes) -> None:
    parts = PurePosixPath(name).parts
    if not parts or ".." in parts or parts[0] == "/":
        return
    path = into.joinpath(*parts)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data)


def _single(directory: Path) -> Path:
    """The top folder, if the archive has only one."""
    inside = list(directory.iterdir())
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else directory


def _below(root: Path, subdir: str) -> Path:
    below = root / subdir if subdir else root
    if not below.is_dir():
        raise CannotFetch(f"there is no {subdir} in the package")
    return below


def blank(path: Path, ranges: Sequence[Lines]) -> None:
    """Blank these lines, 1-based and inclusive; every other line keeps its number."""
    lines = path.read_bytes().split(b"\n")
    for first, last in ranges:
        if not 1 <= first <= last <= len(lines):
            raise CannotFetch(f"{path.name} has no lines {first}-{last}")
        lines[first - 1 : last] = [b""] * (last - first + 1)
    path.write_bytes(b"\n".join(lines))


def main(argv: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m bench.retrieval.fetch", description=__doc__)
    parser.add_argument("--list", type=Path, default=REPOSITORIES, help="the list of packages")
    parser.add_argument("--into", type=Path, default=CACHE, help="the cache directory")
    parser.add_argument("--repos", default="", help="only these ids, comma-separated")
    parser.add_argument("--record", action="store_true", help="record missing digests")
    args = parser.parse_args(argv)
    listed = json.loads(args.list.read_text())
    wanted = set(filter(None, args.repos.split(",")))
    fetcher, missing = Fetcher(args.into.resolve()), 0
    for entry in listed["repositories"]:
        if wanted and entry["id"] not in wanted:
            continue
        try:
            package = Package.of(entry["package"])
            if package.kind != "git" and not package.sha256:
                if not args.record:
                    raise CannotFetch(f"{package} has no digest to verify")
                entry["package"]["sha256"] = digest(fetcher.archive(package))
                package = Package.of(entry["package"])
            tree = fetcher.tree(package)
            print(f"{entry['id']:<24} {sum(p.is_file() for p in tree.rglob('*')):>6} files  {tree}")
        except CannotFetch as error:
            missing += 1
            print(f"{entry['id']:<24} cannot be fetched: {error}", file=sys.stderr)
    if args.record:
        args.list.write_text(json.dumps(listed, indent=1) + "\n")
    return 1 if missing else 0


if __name__ == "__main__":
    raise SystemExit(main())
