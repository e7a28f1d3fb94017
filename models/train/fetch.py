"""Fetch the training sources: permissively licensed packages, by name and version.

Names are in `lists/`; `packages.tsv` locks versions and licences, and a later run fetches exactly
these. The registries are those that `pip`, `npm` and `apt` are configured to use. Only the source
files of a package are kept, as one file in the cache; a package or file whose licence is not
clearly permissive is left out.
"""

from __future__ import annotations

import bz2
import concurrent.futures
import gzip
import hashlib
import io
import json
import lzma
import os
import re
import subprocess
import sys
import tarfile
import urllib.error
import urllib.parse
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from models.train.licences import DebianCopyright, of_npm, of_python, permissive

HERE = Path(__file__).parent
LOCK = HERE / "packages.tsv"
EXCLUDED = re.compile("|".join((HERE / "excluded.txt").read_text().split()), re.IGNORECASE)
"""Packages of the retrieval sets, which are never used for training."""
SOURCE = re.compile(
    r"\.(py|js|mjs|cjs|jsx|ts|mts|cts|tsx|go|rs|java|c|h|cc|cpp|cxx|hh|hpp|hxx|ipp|inl|cs|rb|php|"
    r"kt|kts|swift|scala|sh|bash|zsh|bats|lua|ex|exs|hs|zig|md)$",
    re.IGNORECASE,
)
ASIDE = re.compile(
    r"(^|/)(tests?|testdata|testing|__tests__|spec|specs|vendor|third_party|thirdparty|external|"
    r"node_modules|examples?|samples|demos?|benchmarks?|fixtures|locales?|i18n|generated|umd)/"
    r"|\.min\.|[._-](test|spec|bundle|prod)\.|(^|/)(test_|conftest)|_test\.|_pb2|\.pb\.",
    re.IGNORECASE,
)
FILE_BYTES_MAX = 250_000
PACKAGE_BYTES_MAX = 10_000_000
DEBIAN_BYTES_MAX = 40_000_000
DEBIAN_BYTES_MAX_RARE = 400_000_000
RARE = frozenset({"csharp", "kotlin", "swift", "scala", "elixir"})
"""Languages with so few packages that very large ones are used too."""


class Package(msgspec.Struct, frozen=True):
    """The sources of one package."""

    registry: str
    name: str
    version: str
    licence: str
    group: str
    files: list[tuple[str, bytes]]


@dataclass(frozen=True, slots=True)
class Wanted:
    """A package to fetch; version "" means the newest."""

    registry: str
    name: str
    version: str = ""
    group: str = ""


@dataclass(frozen=True, slots=True)
class Located:
    """The locations of a package's archives, and its licence if the registry names one."""

    wanted: Wanted
    version: str
    licence: str
    urls: tuple[str, ...]


def wanted_by_lock() -> list[Wanted]:
    rows = [line.split("\t") for line in LOCK.read_text().splitlines()[1:]]
    return [Wanted(registry, name, version, group) for registry, name, version, _, group in rows]


def wanted_by_lists() -> list[Wanted]:
    found = [Wanted("pypi", name) for name in (HERE / "lists/pypi.txt").read_text().split()]
    found += [Wanted("npm", name) for name in (HERE / "lists/npm.txt").read_text().split()]
    for line in (HERE / "lists/debian-sources.txt").read_text().splitlines():
        group, _, names = line.partition(":")
        found += [Wanted("debian-source", name, group=group) for name in names.split()]
    for line in (HERE / "lists/debian-packages.txt").read_text().splitlines():
        group, _, names = line.partition(":")
        found += [Wanted("debian", name, group=group) for name in names.split()]
    return [wanted for wanted in dict.fromkeys(found) if not EXCLUDED.search(wanted.name)]


def get(url: str) -> bytes:
    with urllib.request.urlopen(url, timeout=120) as answer:
        data: bytes = answer.read()
        return data


# -- locating ---------------------------------------------------------------------------------


def locate_pypi(wanted: list[Wanted], pip: list[str]) -> Iterator[Located]:
    """Locate wheels with pip, many at a time; a name that fails is found by bisection."""
    if not wanted:
        return
    names = [f"{w.name}=={w.version}" if w.version else w.name for w in wanted]
    command = [*pip, "install", "--quiet", "--dry-run", "--ignore-installed", "--no-deps",
               "--only-binary", ":all:", "--report", "-", *names]  # fmt: skip
    done = subprocess.run(command, capture_output=True, check=False)
    if done.returncode:
        if len(wanted) > 1:
            half = len(wanted) // 2
            yield from locate_pypi(wanted[:half], pip)
            yield from locate_pypi(wanted[half:], pip)
        return
    by_name = {_plain_name(w.name): w for w in wanted}
    for item in json.loads(done.stdout)["install"]:
        meta = item["metadata"]
        asked = by_name.get(_plain_name(meta["name"]))
        licence = of_python(meta)
        if asked and licence:
            yield Located(asked, meta["version"], licence, (item["download_info"]["url"],))


def _plain_name(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()


def locate_npm(wanted: Wanted, registry: str) -> Located | None:
    url = f"{registry}{wanted.name.replace('/', '%2f')}/{wanted.version or 'latest'}"
    try:
        meta = json.loads(get(url))
    except (OSError, ValueError):
        return None
    licence = of_npm(meta.get("license") or meta.get("licenses"))
    if not licence:
        return None
    return Located(wanted, meta["version"], licence, (meta["dist"]["tarball"],))


@dataclass(frozen=True, slots=True)
class Offer:
    """A version of a Debian package, and its files with their sizes."""

    version: str
    files: tuple[tuple[str, int], ...]


def apt_sources(shown: str) -> str:
    """Binary and source entries of the archive that apt names first: site, suite, key.

    Some versions of apt leave the name of the key as `$(SIGNED_BY)`; then it uses those it trusts.
    """
    site, suite, key = next(line.split() for line in shown.splitlines() if len(line.split()) == 3)
    signed = "" if key.startswith("$(") else f"[signed-by={key}] "
    return "".join(f"{kind} {signed}{site} {suite} main\n" for kind in ("deb", "deb-src"))


class Apt:
    """apt with separate lists, including sources, so that the system's stay unchanged."""

    def __init__(self, cache: Path) -> None:
        root = cache / "apt"
        for part in ("lists/partial", "cache/archives/partial"):
            (root / part).mkdir(parents=True, exist_ok=True)
        sources = root / "sources.list"
        if not sources.exists():
            shown = subprocess.run(
                ["apt-get", "indextargets", "--format", "$(SITE) $(CODENAME) $(SIGNED_BY)",
                 "Created-By: Packages", "Label: Debian", "Component: main"],
                capture_output=True, text=True, check=True,
            ).stdout  # fmt: skip
            sources.write_text(apt_sources(shown))
        self.options = [
            f"-oDir::Etc::sourcelist={sources}", "-oDir::Etc::sourceparts=/dev/null",
            f"-oDir::State::lists={root / 'lists'}", f"-oDir::Cache={root / 'cache'}",
        ]  # fmt: skip
        if not list((root / "lists").glob("*Sources*")):
            subprocess.run(["apt-get", *self.options, "update"], check=True, stdout=sys.stderr)

        self.base = next(word.rstrip("/") for word in sources.read_text().split() if "://" in word)
        self.binaries = self._packages(root, "Packages")
        self.sources = self._packages(root, "Sources")

    def _packages(self, root: Path, kind: str) -> dict[str, Offer]:
        """Every package of a list; one apt call for each would take seconds."""
        files = sorted(str(p) for p in (root / "lists").glob(f"*_{kind}*"))
        shown = subprocess.run(
            ["/usr/lib/apt/apt-helper", "cat-file", *files], capture_output=True, check=True
        ).stdout.decode("utf-8", "replace")
        found = {}
        for stanza in shown.split("\n\n"):
            fields = dict(re.findall(r"^(\w[\w-]*):[ \t]*(.*)$", stanza, re.MULTILINE))
            if kind == "Packages" and "Filename" in fields:
                files_of = [(fields["Filename"], int(fields["Size"]))]
            else:
                listed = re.search(r"^Checksums-Sha256:[ \t]*\n((?: .*\n?)+)", stanza, re.MULTILINE)
                rows = [line.split() for line in listed[1].splitlines()] if listed else []
                files_of = [(f"{fields['Directory']}/{row[2]}", int(row[1])) for row in rows]
            if "Package" in fields:
                found[fields["Package"]] = Offer(fields["Version"], tuple(files_of))
        return found


def locate_debian(wanted: Wanted, apt: Apt) -> Located | None:
    offers = apt.binaries if wanted.registry == "debian" else apt.sources
    offer = offers.get(wanted.name)
    if offer is None or (wanted.version and wanted.version != offer.version):
        return None
    limit = DEBIAN_BYTES_MAX_RARE if wanted.group in RARE else DEBIAN_BYTES_MAX
    if sum(size for _, size in offer.files) > limit:
        return None
    urls = [
        f"{apt.base}/{urllib.parse.quote(path)}"
        for path, _ in offer.files
        if not path.endswith((".dsc", ".asc"))
    ]
    return Located(wanted, offer.version, "", tuple(urls))


# -- unpacking --------------------------------------------------------------------------------


def unpack(located: Located) -> Package | None:
    """Fetch and unpack a package; None if nothing in it is permissive."""
    archives = []
    for url in located.urls:
        try:
            archives.append((url, get(url)))
        except urllib.error.HTTPError:
            if ".debian.tar" not in url:
                raise
            # Not every mirror has it; then the licence file of the sources is used.
    copyright_ = None
    licence = located.licence
    if located.wanted.registry.startswith("debian"):
        copyright_ = _debian_copyright(located, archives)
        if copyright_ is None:
            return None
        licence = copyright_.summary()
        if not permissive(licence):
            return None
    taken: list[tuple[str, bytes]] = []
    seen: set[bytes] = set()
    total = 0
    for url, data in archives:
        if ".debian.tar" in url:
            continue
        for path, content in members(url, data):
            if total > PACKAGE_BYTES_MAX * (4 if located.wanted.group in RARE else 1):
                break
            if not SOURCE.search(path) or ASIDE.search(path) or len(content) > FILE_BYTES_MAX:
                continue
            if b"\0" in content or content.count(b"\n") * 400 < len(content):
                continue
            path = _trimmed(path, located.wanted.registry)
            if copyright_ is not None and not permissive(copyright_.licence_of(path)):
                continue
            digest = hashlib.sha256(content).digest()
            if digest not in seen:
                seen.add(digest)
                total += len(content)
                taken.append((path, content))
    if not taken:
        return None
    wanted = located.wanted
    return Package(wanted.registry, wanted.name, located.version, licence, wanted.group, taken)


def _trimmed(path: str, registry: str) -> str:
    """The path within the package."""
    if registry == "pypi":
        return path
    if registry == "debian":
        for start in ("usr/share/gocode/src/", "usr/share/cargo/registry/", "usr/share/php/",
                      "usr/lib/ruby/vendor_ruby/", "usr/share/lua/", "usr/share/"):  # fmt: skip
            if path.startswith(start):
                path = path.removeprefix(start)
                break
        if registry == "debian" and re.match(r"[\w.+-]+-\d[\w.]*/", path):
            return path.split("/", 1)[1]
        return path
    return path.split("/", 1)[1] if "/" in path else path


def _debian_copyright(
    located: Located, archives: list[tuple[str, bytes]]
) -> DebianCopyright | None:
    for url, data in archives:
        if located.wanted.registry == "debian" or ".debian.tar" in url:
            for path, content in members(url, data, any_file=True):
                if path.endswith(("debian/copyright", f"doc/{located.wanted.name}/copyright")):
                    return DebianCopyright(content.decode("utf-8", "replace"))
    for url, data in archives:
        for path, content in members(url, data, any_file=True):
            if re.fullmatch(r"[^/]+/(?:LICEN[SC]E|COPYING)[\w.-]*", path, re.IGNORECASE):
                return DebianCopyright(content.decode("utf-8", "replace").replace("Files:", ""))
    return None


def members(url: str, data: bytes, any_file: bool = False) -> Iterator[tuple[str, bytes]]:
    """The files of an archive: wheel, tarball or Debian package."""
    if url.endswith((".whl", ".zip", ".jar")):
        with zipfile.ZipFile(io.BytesIO(data)) as zipped:
            for info in zipped.infolist():
                if info.file_size <= FILE_BYTES_MAX and SOURCE.search(info.filename):
                    yield info.filename, zipped.read(info)
        return
    if url.endswith(".deb"):
        data = _ar_member(data, b"data.tar")
    with tarfile.open(fileobj=io.BytesIO(_plain_tar(data))) as tar:
        for member in tar:
            path = member.name.removeprefix("./")
            if not member.isfile() or member.size > FILE_BYTES_MAX:
                continue
            if any_file or SOURCE.search(path):
                handle = tar.extractfile(member)
                if handle is not None:
                    yield path, handle.read()


def _plain_tar(data: bytes) -> bytes:
    if data[:2] == b"\x1f\x8b":
        return gzip.decompress(data)
    if data[:3] == b"BZh":
        return bz2.decompress(data)
    if data[:5] == b"\xfd7zXZ":
        return lzma.decompress(data)
    return data


def _ar_member(data: bytes, prefix: bytes) -> bytes:
    at = 8
    while at + 60 <= len(data):
        name, size = data[at : at + 16].strip(), int(data[at + 48 : at + 58])
        if name.startswith(prefix):
            return data[at + 60 : at + 60 + size]
        at += 60 + size + size % 2
    raise ValueError("no data in the Debian package")


# -- everything --------------------------------------------------------------------------------


def cached(cache: Path, wanted: Wanted) -> Path:
    name = re.sub(r"[^\w.+-]", "_", wanted.name)
    return cache / "packages" / f"{wanted.registry}__{name}.msgpack"


def _keep(cache: Path, located: Located) -> str:
    path = cached(cache, located.wanted)
    try:
        package = unpack(located)
    except Exception as error:
        return f"{located.wanted.name}: {type(error).__name__} {error}"
    if package is None:
        path.with_suffix(".none").touch()
        return f"{located.wanted.name}: nothing permissive"
    scratch = path.with_suffix(".tmp")
    scratch.write_bytes(msgspec.msgpack.encode(package))
    scratch.rename(path)
    return ""


def fetch(cache: Path, wanted: Iterable[Wanted], jobs: int, pip: list[str]) -> None:
    """Fetch every wanted package with a permissive licence into the cache."""
    (cache / "packages").mkdir(parents=True, exist_ok=True)
    todo = [
        w for w in wanted
        if not cached(cache, w).exists() and not cached(cache, w).with_suffix(".none").exists()
    ]  # fmt: skip
    with concurrent.futures.ProcessPoolExecutor(jobs) as pool:
        pending = []

        def start(located: Located | None) -> None:
            if located is not None:
                pending.append(pool.submit(_keep, cache, located))

        npm = [w for w in todo if w.registry == "npm"]
        if npm:
            registry = subprocess.run(
                ["npm", "config", "get", "registry"], capture_output=True, text=True, check=True
            ).stdout.strip()
            registry = registry if registry.endswith("/") else registry + "/"
            with concurrent.futures.ThreadPoolExecutor(8) as threads:
                for located in threads.map(lambda w: locate_npm(w, registry), npm):
                    start(located)
        pypi = [w for w in todo if w.registry == "pypi"]
        batches = [pypi[at : at + 10] for at in range(0, len(pypi), 10)]
        with concurrent.futures.ThreadPoolExecutor(4) as threads:
            for batch in threads.map(lambda some: list(locate_pypi(some, pip)), batches):
                for found in batch:
                    start(found)
        debian = [w for w in todo if w.registry.startswith("debian")]
        if debian:
            apt = Apt(cache)
            for w in debian:
                start(locate_debian(w, apt))
        for i, future in enumerate(concurrent.futures.as_completed(pending), 1):
            problem = future.result()
            if problem or i % 50 == 0:
                print(f"[{i}/{len(pending)}] {problem}", file=sys.stderr, flush=True)


def packages(cache: Path) -> Iterator[Package]:
    """Every package of the cache, in a fixed order."""
    for path in sorted((cache / "packages").glob("*.msgpack")):
        yield msgspec.msgpack.decode(path.read_bytes(), type=Package)


def write_lock(cache: Path) -> None:
    """Write the lock file from the cache."""
    rows = ["registry\tname\tversion\tlicence\tgroup"]
    rows += sorted(
        f"{p.registry}\t{p.name}\t{p.version}\t{' '.join(p.licence.split())}\t{p.group}"
        for p in packages(cache)
        if not EXCLUDED.search(p.name)
    )
    LOCK.write_text("\n".join(rows) + "\n")


def asked_for(cache: Path) -> frozenset[str] | None:
    """Names of the files that the last fetch stands for; None if there was none.

    A cache may hold more: packages of an older lock, or whose licence was found to be another.
    """
    noted = cache / "asked-for.txt"
    return frozenset(noted.read_text().splitlines()) if noted.exists() else None


def main(cache: Path, jobs: int, refresh: bool) -> None:
    """Fetch the locked packages, or those of the lists to make a new lock."""
    wanted = wanted_by_lists() if refresh or not LOCK.exists() else wanted_by_lock()
    pip = [sys.executable, "-m", "pip"]
    os.environ.setdefault("PIP_DISABLE_PIP_VERSION_CHECK", "1")
    fetch(cache, wanted, jobs, pip)
    if refresh or not LOCK.exists():
        write_lock(cache)
        wanted = wanted_by_lock()
    names = sorted(cached(cache, one).name for one in wanted)
    (cache / "asked-for.txt").write_text("\n".join(names) + "\n")
