"""A git repository whose configuration would run a program, in every way known to us.

Each vector writes a file named after itself into `proof`; a safe reader leaves it empty.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path


def git(root: Path, *arguments: str) -> None:
    who = ("-c", "user.name=t", "-c", "user.email=t@t", "-c", "commit.gpgsign=false")
    allow = ("-c", "protocol.file.allow=always")
    subprocess.run(["git", *who, *allow, "-C", root, *arguments], check=True, capture_output=True)


class HostileRepository:
    """A committed tree with one edited file, to which vectors are added."""

    def __init__(self, root: Path, proof: Path) -> None:
        self.root, self.proof = root, proof
        self.proof.mkdir(parents=True, exist_ok=True)
        root.mkdir(parents=True, exist_ok=True)
        for name in ("a.py", "b.py", "sub/c.py"):
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(f"def {Path(name).stem}():\n    return 1\n")
        git(root, "init", "-q")
        git(root, "add", ".")
        git(root, "commit", "-qm", "all")

    def edit(self) -> None:
        """Make git compare contents: one file changed, one touched."""
        (self.root / "a.py").write_text("def a():\n    return 2\n")
        (self.root / "b.py").write_text((self.root / "b.py").read_text())

    def payload(self, vector: str) -> str:
        """A shell command that leaves the proof."""
        return f"touch '{self.proof / vector}'"

    def config(self, text: str) -> None:
        with (self.root / ".git" / "config").open("a") as file:
            file.write(text)

    def executed(self) -> list[str]:
        """The vectors that ran."""
        return sorted(path.name for path in self.proof.iterdir())


def fsmonitor(repo: HostileRepository) -> None:
    repo.config(f'[core]\n\tfsmonitor = "{repo.payload("fsmonitor")}; false"\n')


def clean_filter_of_the_repository(repo: HostileRepository) -> None:
    command = repo.payload("clean")
    repo.config(f'[filter "x"]\n\tclean = "{command}; cat"\n\tsmudge = "{command}; cat"\n')
    info = repo.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "attributes").write_text("* filter=x\n")


def process_filter_of_the_tree(repo: HostileRepository) -> None:
    repo.config(f'[filter "y"]\n\tprocess = "{repo.payload("process")}"\n\trequired = true\n')
    (repo.root / ".gitattributes").write_text("*.py filter=y\n")


def hooks(repo: HostileRepository) -> None:
    folder = repo.root / "githooks"
    folder.mkdir()
    for name in ("post-index-change", "pre-commit", "post-checkout", "reference-transaction"):
        (folder / name).write_text(f"#!/bin/sh\n{repo.payload('hook-' + name)}\n")
        (folder / name).chmod(0o755)
        shutil.copy(folder / name, repo.root / ".git" / "hooks" / name)
    repo.config(f"[core]\n\thooksPath = {folder}\n")


def diff_programs(repo: HostileRepository) -> None:
    repo.config(
        f'[diff]\n\texternal = "{repo.payload("external")}"\n'
        f'[diff "z"]\n\ttextconv = "{repo.payload("textconv")}"\n'
        f'\tcommand = "{repo.payload("diff-command")}"\n'
    )
    (repo.root / ".git" / "info").mkdir(exist_ok=True)
    with (repo.root / ".git" / "info" / "attributes").open("a") as file:
        file.write("*.py diff=z\n")


def programs_around(repo: HostileRepository) -> None:
    """Every setting of git that names a program, as far as `git help config` lists them."""
    payload = repo.payload("around")
    repo.config(
        f'[core]\n\tpager = "{payload}"\n\teditor = "{payload}"\n\tsshCommand = "{payload}"\n'
        f'\taskPass = "{payload}"\n\talternateRefsCommand = "{payload}"\n'
        f'\tgitProxy = "{payload}"\n[sequence]\n\teditor = "{payload}"\n'
        f'[credential]\n\thelper = "!{payload}"\n'
        f'[credential "https://example.test"]\n\thelper = "!{payload}"\n'
        f'[pager]\n\tstatus = "{payload}"\n\tdiff = "{payload}"\n'
        f'[interactive]\n\tdiffFilter = "{payload}"\n'
        f'[gpg]\n\tprogram = "{payload}"\n[log]\n\tshowSignature = true\n'
        f'[gpg "ssh"]\n\tprogram = "{payload}"\n\tdefaultKeyCommand = "{payload}"\n'
        f'[gpg "x509"]\n\tprogram = "{payload}"\n'
        f'[merge "m"]\n\tdriver = "{payload}"\n[mergetool "t"]\n\tcmd = "{payload}"\n'
        f'[difftool "t"]\n\tcmd = "{payload}"\n[trailer "t"]\n\tcommand = "{payload}"\n'
        f'[tar "t"]\n\tcommand = "{payload}"\n[uploadpack]\n\tpackObjectsHook = "{payload}"\n'
        f'[remote "evil"]\n\turl = ext::sh -c "{payload}"\n\tvcs = ext\n'
        f'\tuploadpack = "{payload}"\n\treceivepack = "{payload}"\n'
        f'[url "ext::sh -c \\"{payload}\\" "]\n\tinsteadOf = https://\n'
        "[status]\n\tsubmoduleSummary = true\n[fetch]\n\trecurseSubmodules = true\n"
    )


def aliases(repo: HostileRepository) -> None:
    payload = repo.payload("alias")
    for name in ("status", "diff-index", "ls-files", "cat-file", "rev-parse", "st"):
        repo.config(f'[alias]\n\t{name} = "!{payload}"\n')


def attributes_of_the_user(repo: HostileRepository) -> None:
    """Attributes by way of a setting, and a filter for them."""
    command = repo.payload("attributes-file")
    places = repo.root / "attributes"
    places.write_text("* filter=u diff=u merge=u\n")
    repo.config(
        f'[core]\n\tattributesFile = {places}\n[filter "u"]\n\tclean = "{command}; cat"\n'
        f'[diff "u"]\n\ttextconv = "{command}; cat"\n[merge "u"]\n\tdriver = "{command}"\n'
    )


def config_of_the_work_tree(repo: HostileRepository) -> None:
    repo.config("[extensions]\n\tworktreeConfig = true\n[core]\n\trepositoryformatversion = 1\n")
    (repo.root / ".git" / "config.worktree").write_text(
        f'[core]\n\tfsmonitor = "{repo.payload("worktree-config")}; false"\n'
    )


def trusts_itself(repo: HostileRepository) -> None:
    """A repository that declares itself safe, which git must not believe."""
    repo.config("[safe]\n\tdirectory = *\n\tbareRepository = all\n[protocol]\n\tallow = always\n")


def included(repo: HostileRepository) -> None:
    extra = repo.root / "extra.config"
    extra.write_text(f'[core]\n\tfsmonitor = "{repo.payload("included")}; false"\n')
    repo.config(f'[include]\n\tpath = {extra}\n[includeIf "gitdir:**"]\n\tpath = {extra}\n')


def other_work_tree(repo: HostileRepository) -> None:
    repo.config(f"[core]\n\tworktree = {repo.root / 'sub'}\n")


def promised_objects(repo: HostileRepository) -> None:
    repo.config(
        "[extensions]\n\tpartialClone = origin\n[core]\n\trepositoryformatversion = 1\n"
        f'[remote "origin"]\n\turl = ext::sh -c "{repo.payload("promisor")}"\n\tpromisor = true\n'
    )
    # A blob that is missing here would have to be fetched.
    (blob,) = _objects_of(repo, "b.py")
    blob.unlink()


def submodule(repo: HostileRepository) -> None:
    inner = repo.root / "module"
    inner.mkdir()
    (inner / "m.py").write_text("m = 1\n")
    git(inner, "init", "-q")
    git(inner, "add", ".")
    git(inner, "commit", "-qm", "module")
    git(repo.root, "add", "module")
    with (inner / ".git" / "config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "{repo.payload("submodule")}; false"\n')
    (inner / "m.py").write_text("m = 2\n")
    update = repo.payload("submodule-update")
    (repo.root / ".gitmodules").write_text(
        f'[submodule "module"]\n\tpath = module\n\turl = ./module\n\tupdate = "!{update}"\n'
    )
    repo.config(f'[submodule "module"]\n\tactive = true\n\tupdate = "!{update}"\n')


def embedded_bare_repository(repo: HostileRepository) -> None:
    """A folder that git takes for a repository, as a plain clone can bring one along."""
    bare = repo.root / "fixtures"
    (bare / "objects").mkdir(parents=True)
    (bare / "refs").mkdir()
    (bare / "HEAD").write_text("ref: refs/heads/main\n")
    (bare / "config").write_text(
        "[core]\n\trepositoryformatversion = 0\n\tbare = false\n\tworktree = .\n"
        f'\tfsmonitor = "{repo.payload("bare")}; false"\n'
    )
    (bare / "inside.py").write_text("def inside():\n    return 1\n")


def submodule_that_climbs(repo: HostileRepository) -> None:
    """A submodule whose name leads out of `.git/modules`, with hooks and settings there."""
    place = repo.root / ".git" / "evil"
    (place / "hooks").mkdir(parents=True)
    (place / "hooks" / "post-checkout").write_text(f"#!/bin/sh\n{repo.payload('climbed')}\n")
    (place / "hooks" / "post-checkout").chmod(0o755)
    (place / "config").write_text(f'[core]\n\tfsmonitor = "{repo.payload("climbed")}; false"\n')
    with (repo.root / ".gitmodules").open("a") as file:
        file.write('[submodule "../evil"]\n\tpath = climbing\n\turl = -u./payload\n')
    repo.config('[submodule "../evil"]\n\tactive = true\n\turl = ext::sh -c x\n')


def newer_settings(repo: HostileRepository) -> None:
    """Settings of later releases that name programs, and scheduled maintenance."""
    payload = repo.payload("newer")
    repo.config(
        f'[hook "h"]\n\tcommand = "{payload}"\n\tevent = post-index-change\n'
        f"[trace2]\n\teventTarget = {repo.proof / 'newer-trace'}\n"
        f"[core]\n\tfsmonitorHookVersion = 2\n[feature]\n\tmanyFiles = true\n"
        f'[maintenance]\n\tauto = true\n[gc]\n\tauto = 1\n\trecentObjectsHook = "{payload}"\n'
        f'[http]\n\tcookieFile = {repo.root / "a.py"}\n\tproxy = "{payload}"\n'
        f'[browser "b"]\n\tcmd = "{payload}"\n[web]\n\tbrowser = b\n[help]\n\tbrowser = b\n'
        f'[sendemail]\n\tsendmailCmd = "{payload}"\n[instaweb]\n\thttpd = "{payload}"\n'
        f'[man "m"]\n\tcmd = "{payload}"\n[guitool "g"]\n\tcmd = "{payload}"\n'
        f'[bundle]\n\turi = ext::sh -c "{payload}"\n'
    )


def replaced_and_grafted(repo: HostileRepository) -> None:
    """Objects shown in place of others, and a history that is not the one that was committed."""
    done = subprocess.run(
        ["git", "-C", repo.root, "rev-parse", "HEAD"], check=True, capture_output=True, text=True
    )
    head = done.stdout.strip()
    replace = repo.root / ".git" / "refs" / "replace"
    replace.mkdir(parents=True)
    (replace / head).write_text(f"{head}\n")
    info = repo.root / ".git" / "info"
    info.mkdir(exist_ok=True)
    (info / "grafts").write_text(f"{head} {head}\n")
    (repo.root / ".git" / "shallow").write_text(f"{head}\n")


def _objects_of(repo: HostileRepository, path: str) -> list[Path]:
    done = subprocess.run(
        ["git", "-C", repo.root, "rev-parse", f"HEAD:{path}"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    name = done.stdout.strip()
    return [repo.root / ".git" / "objects" / name[:2] / name[2:]]


VECTORS: list[Callable[[HostileRepository], None]] = [
    submodule,
    fsmonitor,
    clean_filter_of_the_repository,
    process_filter_of_the_tree,
    hooks,
    diff_programs,
    programs_around,
    aliases,
    attributes_of_the_user,
    included,
    config_of_the_work_tree,
    trusts_itself,
    other_work_tree,
    promised_objects,
    embedded_bare_repository,
    submodule_that_climbs,
    newer_settings,
    replaced_and_grafted,
]
