"""Packages become trees: verified, plain files only, line numbers kept."""

import hashlib
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from bench.retrieval.fetch import CannotFetch, Fetcher, Package, blank, digest, unpack


def tar_of(members: dict[str, bytes], links: dict[str, str] | None = None) -> bytes:
    made = io.BytesIO()
    with tarfile.open(fileobj=made, mode="w:gz") as bundle:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            bundle.addfile(info, io.BytesIO(data))
        for name, target in (links or {}).items():
            info = tarfile.TarInfo(name)
            info.type, info.linkname = tarfile.SYMTYPE, target
            bundle.addfile(info)
    return made.getvalue()


@pytest.mark.shows("RETR-FETCH")
def test_blanked_lines_are_empty_and_the_others_keep_their_numbers(tmp_path: Path) -> None:
    file = tmp_path / "a.py"
    file.write_bytes(b"one\r\ntwo\nthree\nfour\n")
    blank(file, [(2, 3)])
    assert file.read_bytes() == b"one\r\n\n\nfour\n"
    with pytest.raises(CannotFetch, match="no lines 9-9"):
        blank(file, [(9, 9)])


@pytest.mark.shows("RETR-FETCH")
def test_an_archive_cannot_write_elsewhere_or_bring_links(tmp_path: Path) -> None:
    archive = tmp_path / "x.tar.gz"
    members = {"x/a.py": b"a", "x/../../evil": b"no", "/etc/evil": b"no"}
    archive.write_bytes(tar_of(members, {"x/link": "/etc/passwd"}))
    unpack(archive, tmp_path / "in")
    found = [p.relative_to(tmp_path).as_posix() for p in tmp_path.rglob("*") if p.is_file()]
    assert sorted(found) == ["in/x/a.py", "x.tar.gz"]


@pytest.mark.shows("RETR-FETCH")
def test_wheels_and_debian_packages_are_unpacked(tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "x.whl", "w") as bundle:
        bundle.writestr("pkg/a.py", "a")
    unpack(tmp_path / "x.whl", tmp_path / "wheel")
    data = tar_of({"./usr/b.c": b"b"})
    members = (("debian-binary", b"2.0\n"), ("control.tar.gz", b"xyz"), ("data.tar.gz", data))
    deb = b"!<arch>\n"
    for name, content in members:
        deb += f"{name:<16}{0:<12}{0:<6}{0:<6}{644:<8}{len(content):<10}`\n".encode()
        deb += content + b"\n" * (len(content) % 2)
    (tmp_path / "x.deb").write_bytes(deb)
    unpack(tmp_path / "x.deb", tmp_path / "deb")
    assert (tmp_path / "wheel/pkg/a.py").read_text() == "a"
    assert (tmp_path / "deb/usr/b.c").read_text() == "b"


@pytest.mark.shows("RETR-FETCH")
def test_a_package_with_another_digest_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = tar_of({"package/index.js": b"1\n2\n3\n", "package/dist/x.js": b"x"})

    def download(_self: Fetcher, _package: Package, into: Path) -> Path:
        (into / "p.tgz").write_bytes(made)
        return into / "p.tgz"

    monkeypatch.setattr(Fetcher, "_download", download)
    fetcher = Fetcher(tmp_path / "cache")
    with pytest.raises(CannotFetch, match="not the labelled version"):
        fetcher.archive(Package("npm", "p", "1", "0" * 64))
    (tmp_path / "known").write_bytes(made)
    package = Package("npm", "p", "1", digest(tmp_path / "known"), leave_out=("dist",))
    tree = fetcher.tree(package, {"index.js": [(2, 2)]})
    assert [p.name for p in tree.iterdir()] == ["index.js"]
    assert (tree / "index.js").read_bytes() == b"1\n\n3\n"
    assert fetcher.tree(package, {"index.js": [(2, 2)]}) == tree
    assert (fetcher.tree(package) / "index.js").read_bytes() == b"1\n2\n3\n"


def test_a_download_that_was_killed_does_not_stop_the_next_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its directory was left among the archives, and every later fetch failed to open it."""

    def download(_self: Fetcher, _package: Package, into: Path) -> Path:
        (into / "p.tgz").write_bytes(b"whole")
        return into / "p.tgz"

    monkeypatch.setattr(Fetcher, "_download", download)
    (tmp_path / "packages/npm/p/tmpleft").mkdir(parents=True)
    (tmp_path / "packages/npm/p/tmpleft/p.tgz").write_bytes(b"who")
    package = Package("npm", "p", "1", hashlib.sha256(b"whole").hexdigest())
    assert Fetcher(tmp_path).archive(package).read_bytes() == b"whole"
    assert Fetcher(tmp_path).archive(package).read_bytes() == b"whole"


@pytest.mark.shows("RETR-FETCH")
def test_a_commit_of_a_repository_is_a_tree(tmp_path: Path) -> None:
    work = tmp_path / "work"
    work.mkdir()
    for command in (
        ["init", "--quiet"],
        [
            "-c",
            "user.name=n",
            "-c",
            "user.email=e",
            "commit",
            "--quiet",
            "--allow-empty",
            "-m",
            "m",
        ],
    ):
        subprocess.run(["git", "-C", str(work), *command], check=True)
    (work / "a.py").write_text("a")
    subprocess.run(["git", "-C", str(work), "add", "a.py"], check=True)
    subprocess.run(
        ["git", "-C", str(work), "-c", "user.name=n", "-c", "user.email=e", "commit", "-qm", "a"],
        check=True,
    )
    tree = Fetcher(tmp_path / "cache", sources=work).tree(Package("git", "work", "HEAD"))
    assert [p.name for p in tree.iterdir()] == ["a.py"]
    with pytest.raises(CannotFetch):
        Fetcher(tmp_path / "cache", sources=work).tree(Package("git", "work", "nowhere"))
