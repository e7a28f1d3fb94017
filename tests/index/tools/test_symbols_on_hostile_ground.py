"""References, explore, impact and edits over secrets, links that leave, pipes and huge files."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

from holdfast.errors import UsageError
from holdfast.files.journaled_edits import JournaledEdits
from holdfast.index.code_index import CodeIndex, open_index, run_here
from holdfast.index.embedding.hashed import HashedEmbedding
from holdfast.index.tools.explore import explore
from holdfast.index.tools.references import references
from holdfast.index.tools.symbol_edits import edit_symbol
from holdfast.index.tools.text_edits import Action, Edit
from tests.index.wire import manage_index

SECRET = "ghp_" + "abcdefghijklmnopqrstuvwxyz0123456789"
OUTSIDE = "only-outside-of-the-tree"
FILES = {
    "src/a.py": f"""\
def target_fn(x):
    token = "{SECRET}"
    return x


def other():
    taken = target_fn("{SECRET}")
    return taken
""",
    "src/b.py": "from src.a import target_fn\n\n\ndef use():\n    return target_fn(1)\n",
    ".env": "TARGET=target_fn\n",
}


class Ground(NamedTuple):
    """A tree with what must not be read or followed, beside a folder outside of it."""

    root: Path
    outside: Path
    code: CodeIndex
    edits: JournaledEdits

    def edit(self, action: Action, text: str, token: str = "") -> str:
        """The answer as text."""
        asked = Edit(action, "target_fn", text, "", frozenset(), frozenset(), token)
        return str(edit_symbol(self.code, str(self.root), asked, self.edits).to_wire())

    def token(self, action: Action, text: str) -> str:
        asked = Edit(action, "target_fn", text, "", frozenset(), frozenset())
        return edit_symbol(self.code, str(self.root), asked, self.edits).token

    def answers(self) -> str:
        """Everything that the tools say about the symbol."""
        root = str(self.root)
        found = [references(self.code, root, "target_fn"), explore(self.code, root, "target_fn")]
        edits = [self.edit("rename", "renamed"), self.edit("rename", "taken")]
        return "\n".join([*(str(one.to_wire()) for one in found), *edits])


@pytest.fixture
def ground(tmp_path: Path) -> Iterator[Ground]:
    root, outside = (tmp_path / "tree").resolve(), (tmp_path / "outside").resolve()
    for name, text in FILES.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    outside.mkdir()
    (outside / "o.py").write_text(f'from src.a import target_fn\n\ntarget_fn("{OUTSIDE}")\n')
    (root / "src" / "link.py").symlink_to(outside / "o.py")
    (root / "linked").symlink_to(outside)
    os.mkfifo(root / "src" / "pipe.py")
    with (root / "src" / "huge.py").open("wb") as file:
        file.truncate(8 << 30)
    code = open_index(tmp_path / "home", HashedEmbedding())
    code.start = run_here
    assert manage_index(code, "create", str(root))["status"] == "ok"
    yield Ground(root, outside, code, JournaledEdits(tmp_path / "home" / "edits"))
    code.close()


@pytest.mark.shows("SEC-SYMBOL-TOOLS")
def test_secrets_and_what_is_outside_are_in_no_answer(ground: Ground) -> None:
    """A rename to a name that a line with a secret has showed that line as it is."""
    said = ground.answers()
    assert "src/b.py" in said
    assert "taken is used here already" in said
    assert "*" * len(SECRET) in said
    assert SECRET not in said
    assert OUTSIDE not in said
    assert "link.py" not in said


@pytest.mark.shows("SEC-SYMBOL-TOOLS")
def test_a_text_made_from_what_is_shown_does_not_replace_a_secret_by_stars(ground: Ground) -> None:
    """The preview was empty, and applying it wrote the stars into the file."""
    stars = "*" * len(SECRET)
    with pytest.raises(UsageError, match=r"src/a.py:2 has a secret"):
        ground.edit("replace", f'def target_fn(x):\n    token = "{stars}"\n    return x + 1\n')
    assert "return x + 1" in ground.edit("replace", "def target_fn(x):\n    return x + 1\n")
    assert SECRET in (ground.root / "src" / "a.py").read_text()


@pytest.mark.shows("SEC-SYMBOL-TOOLS")
@pytest.mark.parametrize("harm", ["link", "folder", "pipe"])
def test_nothing_is_written_through_what_came_in_place_of_a_file(ground: Ground, harm: str) -> None:
    """Between the preview and its application the file becomes a link that leaves, or a pipe."""
    token = ground.token("rename", "renamed")
    source, target = ground.root / "src" / "b.py", ground.outside / "b.py"
    target.write_text(FILES["src/b.py"])
    if harm == "folder":
        (ground.outside / "a.py").write_text(FILES["src/a.py"])
        (ground.root / "src").rename(ground.root / "moved")
        (ground.root / "src").symlink_to(ground.outside)
    else:
        source.unlink()
        if harm == "link":
            source.symlink_to(target)
        else:
            os.mkfifo(source)
    said = ground.edit("rename", "renamed", token)
    assert "nothing was written" in said
    assert target.read_text() == FILES["src/b.py"]
    assert OUTSIDE not in said
