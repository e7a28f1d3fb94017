"""The documentation is true: it runs, it is complete, and the code has the shape it describes."""

import ast
import re
from pathlib import Path

import pytest

from holdfast.cli.main import COMMANDS
from tests.docs_runner import blocks, run_page

ROOT = Path(__file__).resolve().parent.parent
SOURCE = ROOT / "src" / "holdfast"
PAGES = [
    ROOT / "README.md",
    ROOT / "ARCHITECTURE.md",
    ROOT / "CONTRIBUTING.md",
    ROOT / "CHANGELOG.md",
]
PAGES += sorted((ROOT / "docs").glob("*.md"))


@pytest.mark.shows("DOCS-RUN")
@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_what_a_page_shows_is_what_happens(
    page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run_page(page, tmp_path, monkeypatch)


def test_the_readme_has_something_to_run() -> None:
    languages = [language for language, _ in blocks(ROOT / "README.md")]
    assert "console" in languages
    assert "python" in languages


@pytest.mark.shows("DOCS-COMPLETE")
def test_every_command_is_documented() -> None:
    text = "\n".join(page.read_text(encoding="utf-8") for page in PAGES)
    missing = [name for name in COMMANDS if f"holdfast {name}" not in text]
    assert missing == []


@pytest.mark.shows("DOCS-COMPLETE")
def test_every_memory_verb_is_documented() -> None:
    source = (SOURCE / "cli" / "memory" / "__init__.py").read_text(encoding="utf-8")
    verbs = re.findall(r'verb\(\s*"(\w+)"', source)
    text = "".join((ROOT / "docs" / name).read_text("utf-8") for name in ("store.md", "sync.md"))
    assert [verb for verb in verbs if f"holdfast memory {verb}" not in text] == []


def test_links_between_pages_lead_somewhere() -> None:
    link = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")
    links = [(page, to) for page in PAGES for to in link.findall(page.read_text("utf-8"))]
    assert [f"{page.name}: {to}" for page, to in links if not (page.parent / to).exists()] == []


# The arrows: what each package may import of ours. `app` and the surfaces know everyone.
LEAVES = {"answers", "ids", "errors", "text", "postgresql", "touched"}
ARROWS: dict[str, set[str]] = {
    "answers": set(),
    "ids": set(),
    "errors": set(),
    "text": set(),
    "postgresql": set(),
    "touched": set(),
    "files": LEAVES,
    "store": LEAVES,
    "sync": LEAVES | {"store"},
    "index": LEAVES | {"files"},
    "sequence": LEAVES | {"files"},
    "reading": LEAVES | {"files"},
}
SURFACES = {
    *("app", "links", "sessions", "trees", "repeats", "live", "observed", "agents"),
    *("cli", "mcp", "dashboard", "web"),
}


def imports_of(path: Path) -> set[str]:
    """The packages of ours that a module imports, wherever in it."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module]
            if node.module == "holdfast":
                names = [f"holdfast.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        else:
            continue
        found.update(name.split(".")[1] for name in names if name.startswith("holdfast."))
    return found


@pytest.mark.shows("ARCH-ARROWS")
def test_imports_follow_the_arrows() -> None:
    wrong = []
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        if package in SURFACES | {"__init__", "__main__"}:
            continue
        assert package in ARROWS, f"{package} is not in the picture: see ARCHITECTURE.md"
        extra = imports_of(path) - ARROWS[package] - {package, "__version__"}
        wrong += [f"{path.relative_to(SOURCE)} imports {name}" for name in sorted(extra)]
    assert wrong == []


@pytest.mark.shows("ARCH-SQL")
def test_only_these_files_contain_sql() -> None:
    allowed = {"store/tables.py", "store/sqlite.py", "store/postgres.py"}
    sql = re.compile(r"\b(SELECT .+ FROM|INSERT INTO|DELETE FROM|UPDATE \w+ SET|CREATE TABLE)\b")
    store = [p for p in (SOURCE / "store").rglob("*.py") if sql.search(p.read_text("utf-8"))]
    assert {path.relative_to(SOURCE).as_posix() for path in store} == allowed


@pytest.mark.shows("ARCH-START")
def test_starting_up_imports_nothing_heavy() -> None:
    import subprocess
    import sys

    program = "import sys, holdfast.cli.main; print(*sorted(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = set(done.stdout.split())
    heavy = {"apsw", "msgspec", "psycopg", "numpy", "asyncio", "rich", "cryptography", "sqlite3"}
    assert loaded & heavy == set()


def test_nothing_speaks_of_where_it_was_made() -> None:
    """No machine paths in what we ship."""
    suspicious = re.compile(r"/work/|/root/|\.\./shared")
    found = [
        str(path.relative_to(ROOT))
        for folder in ("src", "docs", "examples", "bench")
        for path in (ROOT / folder).rglob("*")
        # What `bench.retrieval.fetch` brings is other people's, and may be in any encoding.
        if "corpora" not in path.parts
        and path.suffix in {".py", ".md", ".toml"}
        and suspicious.search(path.read_text("utf-8"))
    ]
    assert found == []
