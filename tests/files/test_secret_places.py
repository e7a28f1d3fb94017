"""No part keeps a secret: not the index, not its cache, not the token segments, not the reader."""

from __future__ import annotations

from pathlib import Path

import pytest

from holdfast.cli.main import main
from holdfast.files import disk
from holdfast.files.policy import Policy
from tests.files.test_secrets import PLANTED, WORD, drawn

VALUE = drawn(WORD, 40)
FILES = {
    ".env": f"KEY={VALUE}\n",
    "service-account.json": f'{{"private_key_id": "{VALUE}"}}\n',
    "k8s/secret.yaml": f"data:\n  password: {VALUE}\n",
    "terraform.tfvars": f'db_password = "{VALUE}"\n',
    ".docker/config.json": f'{{"auths": {{"x": {{"auth": "{VALUE}"}}}}}}\n',
    "secrets.toml": f'token = "{VALUE}"\n',
    "pip.conf": f"[global]\nindex-url = https://u:{VALUE}@index.test/simple\n",
    "wp-config.php": f"<?php define('AUTH_KEY', '{VALUE}');\n",
}
"""Secret by name or place: the whole file."""


@pytest.fixture
def tree(tmp_path: Path) -> Path:
    root = tmp_path / "tree"
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    for number, text in enumerate(PLANTED.values()):
        lines = "\n".join(f"# {line}" for line in text.split("\n"))
        (root / f"module_{number}.py").write_text(
            f"def ordinary_{number}():\n    pass\n\n{lines}\n"
        )
        wide = "utf-16" if number % 2 else "utf-32"
        (root / f"wide_{number}.py").write_text(f"kept = '''{text}'''\n", wide)
    return root


def planted() -> list[bytes]:
    """A piece of each secret that nothing else contains."""
    pieces = [VALUE.encode()]
    for kind, text in PLANTED.items():
        words = text.split("\n")[1] if kind == "private key" else max(text.split(), key=len)
        pieces.append(words.encode()[-20:-3])
    return pieces


@pytest.mark.shows("SEC-SECRET-KEPT-NOWHERE")
def test_no_file_of_the_home_has_a_planted_secret(
    tree: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """13 of 25 planted secrets reached the index, its cache and the segments."""
    home = tmp_path / "home"
    monkeypatch.setenv("HOLDFAST_HOME", str(home))
    monkeypatch.chdir(tree)
    assert main(["index", "create"]) == 0
    assert main(["search", "ordinary"]) == 0
    assert main(["locate", "def ordinary_1"]) == 0
    for path in sorted(tree.rglob("*")):
        if path.is_file():
            main(["read", str(path), "--session", "s"])
    capsys.readouterr()
    kept = b"".join(path.read_bytes() for path in home.rglob("*") if path.is_file())
    assert b"ordinary_1" in kept
    assert [piece for piece in planted() if piece in kept] == []


@pytest.mark.shows("SEC-SECRET-NAMES")
def test_rules_of_a_repository_do_not_bring_a_secret_back(tree: Path) -> None:
    (tree / ".gitignore").write_text("!.env\n!*\n")
    (tree / ".holdfastignore").write_text("!secrets.toml\n")
    assert set(FILES).isdisjoint(disk.walk(str(tree)).stats)


@pytest.mark.shows("SEC-SECRET-NAMES")
def test_the_user_can_bring_a_secret_back(tree: Path) -> None:
    policy = Policy(ignore_patterns=("!secrets.toml",))
    assert set(FILES) & set(disk.walk(str(tree), policy).stats) == {"secrets.toml"}


@pytest.mark.shows("SEC-SECRET-CONTENT")
@pytest.mark.parametrize(
    "query", [r"re:[\w-]{16,}", r"re:ghp_", '"ordinary_1"', r"sym:ordinary re:.+", "token password"]
)
def test_no_search_shows_a_planted_secret(
    tree: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    query: str,
) -> None:
    """A search for patterns read the lines outside of chunks as they are in the file."""
    monkeypatch.setenv("HOLDFAST_HOME", str(tmp_path / "home"))
    monkeypatch.chdir(tree)
    assert main(["index", "create"]) == 0
    (tree / "module_2.py").write_text("# " + PLANTED["assigned secret"] + "\n" * 3 + "x = 1\n")
    main(["search", query, "--limit", "50"])
    shown = capsys.readouterr().out.encode()
    assert [piece for piece in planted() if piece in shown] == []
