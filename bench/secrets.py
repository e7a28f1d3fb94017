"""How often the secrets policy is wrong: `python -m bench secrets [DIRECTORY …]`.

Without directories, ten packages are fetched from the package index that pip uses, as wheels, which
are only unpacked; nothing of them is run or kept. Every masked value is printed by its file and
kind, because only a person can tell a real key of a test from a mistake. A file counts as guessed
when something in it was masked that has no well-known form.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path

from bench.arguments import parser
from bench.timing import Row, report
from holdfast.files import disk
from holdfast.files.secrets import secret_name, secrets_in

PACKAGES = [
    "django==5.1.4", "requests==2.32.3", "flask==3.1.0", "sqlalchemy==2.0.36", "fastapi==0.115.6",
    "celery==5.4.0", "scrapy==2.12.0", "botocore==1.35.80",
    "twisted==24.11.0", "ansible-core==2.18.1",
]  # fmt: skip
PER_THOUSAND = 1.0
GUESSED = ("assigned secret", "password in a URL")
"""Kinds that are guessed from the look of a value; the others have a well-known form."""


def fetched(folder: Path) -> list[Path]:
    """The unpacked packages."""
    for package in PACKAGES:
        subprocess.run(
            [sys.executable, "-m", "pip", "download", "--quiet", "--no-deps",
             "--only-binary=:all:", "--dest", str(folder), package],
            check=False,
        )  # fmt: skip
    unpacked = []
    for archive in sorted(folder.iterdir()):
        target = folder / f"{archive.name}.d"
        if archive.suffix in (".whl", ".zip"):
            with zipfile.ZipFile(archive) as packed:
                packed.extractall(target)
            unpacked.append(target)
    return unpacked


def masked_in(root: Path) -> Iterator[tuple[str, str, bytes]]:
    """File, kind and start of each value that the policy would mask."""
    for path in disk.walk(str(root)).stats:
        source, _ = disk.read_file(str(root), path)
        for secret in secrets_in(source):
            yield path, secret.kind, source[secret.start : secret.start + 12]


def measure(roots: list[Path]) -> list[Row]:
    files = by_name = 0
    guessed: set[tuple[str, str]] = set()
    known: set[tuple[str, str]] = set()
    for root in roots:
        files += len(disk.walk(str(root)).stats)
        by_name += sum(
            secret_name(path.relative_to(root).as_posix())
            for path in root.rglob("*")
            if path.is_file()
        )
        for path, kind, start in masked_in(root):
            (guessed if kind in GUESSED else known).add((root.name, path))
            print(f"{root.name}: {path}: {kind}: {start!r}…")
    share = 1000 * len(guessed) / max(1, files)
    return [
        Row("repositories", len(roots), ""),
        Row("files", files, ""),
        Row("files left out by their name", by_name, ""),
        Row("files with a token of a well-known form", len(known), ""),
        Row("files with a guessed secret", len(guessed), ""),
        Row("guessed, in 1,000 files", share, "", f"{PER_THOUSAND:.0f}", share <= PER_THOUSAND),
    ]


def main() -> int:
    options = parser("secrets", __doc__)
    options.add_argument("directory", nargs="*", help="a tree to look through")
    named = [Path(name).resolve() for name in options.parse_args().directory]
    with tempfile.TemporaryDirectory(prefix="holdfast-secrets-") as folder:
        return report("secrets", measure(named or fetched(Path(folder))))


if __name__ == "__main__":
    raise SystemExit(main())
