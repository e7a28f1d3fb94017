"""The documentation site: complete, made from the code, no broken link, nothing from elsewhere."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from holdfast.cli.main import COMMANDS
from holdfast.index.facts.model import FACTS_VERSION
from holdfast.mcp.tools import TOOLS
from holdfast.sync.wire.messages import PROTOCOL_VERSION
from release.drawing import imports, layers
from release.site import SIGNATURE_WIDTH, formats_page, python_page, relinked, with_bars

ROOT = Path(__file__).resolve().parent.parent.parent
NEEDED = ("docs", "release", "src", "mkdocs.yml", *(path.name for path in ROOT.glob("*.md")))


def build(root: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--strict"],
        cwd=root,
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1", "PYTHONPATH": str(root)},
        capture_output=True,
        text=True,
    )


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("site")
    for name in NEEDED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, place / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copyfile(source, place / name)
    built = build(place)
    assert built.returncode == 0, built.stdout + built.stderr
    return place


@pytest.mark.long
@pytest.mark.shows("DOCS-SITE")
def test_the_reference_has_every_command_and_every_tool(copy: Path) -> None:
    site = copy / "build" / "site"
    commands = (site / "reference" / "commands.html").read_text(encoding="utf-8")
    tools = (site / "reference" / "tools.html").read_text(encoding="utf-8")
    assert [name for name in COMMANDS if f'id="{name}"' not in commands] == []
    assert [name for name in TOOLS if f'id="{name}"' not in tools] == []
    assert 'id="open_space"' in (site / "reference" / "python.html").read_text(encoding="utf-8")


@pytest.mark.long
@pytest.mark.shows("DOCS-SITE")
def test_a_command_in_a_table_is_shown_as_it_is_typed(copy: Path) -> None:
    """The site showed `sym:add\\|total`, which finds nothing."""
    site = copy / "build" / "site"
    assert "<code>sym:add|total</code>" in (site / "find.html").read_text(encoding="utf-8")
    assert with_bars(r"| `a\|b` \| c | `d` |") == r"| `a|b` \| c | `d` |"
    assert with_bars(r"in a text `a\|b`") == r"in a text `a\|b`"


@pytest.mark.shows("DOCS-SITE")
def test_signatures_keep_their_defaults_and_fit_the_page() -> None:
    """A default of '' was shown as nothing, a function by its address, and lines were cut off."""
    page = python_page()
    assert "branch(self, name: str, parent: str = '') -> Branch" in page
    assert " = ," not in page
    assert " at 0x" not in page
    assert "reach: Reach = Reach.LEAF" in page
    assert [line for line in _code_of(page) if len(line) > SIGNATURE_WIDTH] == []


def _code_of(page: str) -> list[str]:
    blocks = page.split("```python\n")[1:]
    return [line for block in blocks for line in block.partition("```")[0].splitlines()]


@pytest.mark.shows("DOCS-SITE")
def test_the_reference_has_every_format_with_its_history() -> None:
    page = formats_page(ROOT / "src" / "holdfast")
    facts = page.partition("## holdfast.index.facts.model.FACTS_VERSION\n")[2]
    assert facts.startswith(f"\nVersion `{FACTS_VERSION}`.")
    assert "1: first version." in facts.partition("\n## ")[0]
    assert f"holdfast.sync.wire.messages.PROTOCOL_VERSION\n\nVersion `{PROTOCOL_VERSION}`." in page
    assert "_OLDEST_FORMAT" not in page


@pytest.mark.long
@pytest.mark.shows("DOCS-SITE")
def test_no_page_loads_anything_from_elsewhere(copy: Path) -> None:
    loads = re.compile(r"""<(?:script|img|iframe)[^>]+src="https?:|<link[^>]+href="https?:""")
    for page in (copy / "build" / "site").rglob("*.html"):
        assert not loads.search(page.read_text(encoding="utf-8")), page.name


@pytest.mark.long
@pytest.mark.shows("DOCS-SITE")
def test_the_ledger_of_requirements_is_not_among_the_pages(copy: Path) -> None:
    assert not (copy / "build" / "site" / "requirements.html").exists()
    assert (copy / "build" / "site" / "index.html").exists()


@pytest.mark.long
@pytest.mark.shows("DOCS-SITE")
def test_a_broken_link_fails_the_build(copy: Path) -> None:
    page = copy / "docs" / "faq.md"
    whole = page.read_text(encoding="utf-8")
    page.write_text(whole + "\n[gone](no-such-page.md)\n", encoding="utf-8")
    try:
        assert build(copy).returncode != 0
    finally:
        page.write_text(whole, encoding="utf-8")


@pytest.mark.shows("DOCS-SITE")
def test_links_out_of_the_docs_lead_to_their_page_or_keep_their_words() -> None:
    text = "[a](../SECURITY.md#x) [b](search.md) [c](../bench/store.py) [d](requirements.md) [e](https://x.y)"
    assert relinked(text, "docs") == (
        "[a](security-policy.md#x) [b](search.md) c d [e](https://x.y)"
    )
    assert relinked("![p](docs/images/a.png)", "") == "![p](images/a.png)"


@pytest.mark.long
@pytest.mark.shows("DOCS-ARCHITECTURE-PICTURE")
def test_the_picture_has_every_package_and_what_is_imported_below(tmp_path: Path) -> None:
    for name, text in {
        "low.py": "import os\n",
        "middle/__init__.py": "",
        "middle/part.py": "from holdfast.low import x\n",
        "high.py": "from holdfast import middle\nimport holdfast.low\n",
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text(text)
    graph = imports(tmp_path)
    assert {user: set(used) for user, used in graph.items()} == {
        "low": set(),
        "middle": {"low"},
        "high": {"middle", "low"},
    }
    assert layers(graph) == [["low"], ["middle"], ["high"]]
    real = imports(ROOT / "src" / "holdfast")
    assert sum(map(len, layers(real))) == len(real)
