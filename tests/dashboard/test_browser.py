"""The dashboard as a person meets it: in a real browser, against a real server, live."""

import json
import re
import shlex
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Route, expect

from holdfast.index.generations.record import Indexing, Record
from holdfast.index.generations.registry import Registry
from tests import nodejs
from tests.dashboard.browser import PHONE, Dashboarded, Visit, running_browser
from tests.dashboard.demo import DRAFT, Demo, fill
from tests.replay.home import write_session

pytestmark = pytest.mark.service("browser")

PLACES = {
    "overview": "",
    "codebases": "codebases",
    "codebase": "codebases",
    "search": "search?q=round%20prices",
    "sessions": "sessions",
    "session": "sessions/refactor-pricing",
    "tree": "sessions/refactor-pricing?view=tree",
    "savings": "savings",
    "memory": "memory/local?id=note%3Aplan",
    "branches": "memory/local?view=branches",
    "links": "memory/local?view=drift",
    "clones": "clones?minimum=25",
    "health": "health",
}


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with running_browser() as running:
        yield running


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    base = tmp_path_factory.mktemp("demo")
    return fill(base / "home", base)


@pytest.fixture(scope="module")
def served(demo: Demo) -> Iterator[Dashboarded]:
    server = Dashboarded(demo.home)
    yield server
    server.stop()
    assert server.complaints == ""


@pytest.fixture
def visit(browser: Browser, served: Dashboarded) -> Iterator[Visit]:
    visitor = Visit(browser, served)
    yield visitor
    visitor.close()
    assert visitor.complaints == []


@pytest.fixture
def own(browser: Browser, tmp_path: Path) -> Iterator[tuple[Visit, Dashboarded, Demo]]:
    """A home of the test's own, to be changed."""
    made = fill(tmp_path / "home", tmp_path, days=2)
    server = Dashboarded(made.home)
    visitor = Visit(browser, server)
    yield visitor, server, made
    visitor.close()
    server.stop()
    assert visitor.complaints == []
    assert server.complaints == ""


def holdfast(home: Path, *words: str) -> str:
    """Another program of the same home."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli.main", *words],
        capture_output=True,
        text=True,
        check=True,
        env={"HOLDFAST_HOME": str(home), "PATH": "", "HOME": str(home)},
    )
    return done.stdout


# every page


def choose(name: str, page: Page) -> None:
    """Open what a page shows only when it is chosen."""
    if name == "search":
        page.locator("[data-result=round_money]").click()
        expect(page.locator("[data-graph]")).to_be_visible()
    if name == "codebase":
        page.get_by_role("link", name="tidewater").first.click()
        expect(page.get_by_role("button", name="Sync now")).to_be_visible()
        expect(page.locator("main")).to_contain_text("Index on disk")


@pytest.mark.shows("DASH-PAGES", "DASH-CLEAN", "DASH-THEMES", "DASH-ARTIFACTS")
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_every_page_renders_without_a_complaint(
    browser: Browser, served: Dashboarded, colours: str
) -> None:
    visit = Visit(browser, served, color_scheme=colours)
    visit.live()
    for name, place in PLACES.items():
        page = visit.go(place)
        choose(name, page)
        expect(page.locator("main")).not_to_contain_text("undefined")
        expect(page.locator("main")).not_to_contain_text("[object Object]")
        expect(page.locator(".state.bad")).to_have_count(0)
        assert visit.picture(f"{name}-{colours}", full_page=True).stat().st_size > 5_000
    ground = visit.page.evaluate("getComputedStyle(document.body).backgroundColor")
    dark = sum(int(part) for part in ground[4:-1].split(",")) < 3 * 100
    assert dark == (colours == "dark")
    visit.close()
    assert visit.complaints == []


@pytest.mark.shows("DASH-PHONE")
def test_nothing_is_wider_than_a_phone(browser: Browser, served: Dashboarded) -> None:
    visit = Visit(browser, served, viewport=PHONE, has_touch=True, is_mobile=True)
    visit.live()
    for name, place in PLACES.items():
        page = visit.go(place)
        choose(name, page)
        if name == "branches":
            page.get_by_role("button", name="Merge into default branch").click()
            expect(page.locator("[data-clash]").first).to_be_visible()
        assert page.evaluate("document.documentElement.scrollWidth") <= PHONE["width"], name
        visit.picture(f"{name}-phone", full_page=True)
    page = visit.page
    page.get_by_role("button", name="Menu").click()
    page.get_by_role("navigation", name="Pages").get_by_role("link", name="Codebases").click()
    expect(page.get_by_role("heading", name="Codebases", level=1)).to_be_visible()
    visit.close()
    assert visit.complaints == []


@pytest.mark.shows("DASH-NAMES")
def test_every_control_has_a_name(visit: Visit) -> None:
    unnamed = """() => [...document.querySelectorAll(
        'button, a[href], input, select, textarea, [role=button], [role=radio], svg[role]'
      )].filter((one) => {
        const label = one.labels && [...one.labels].map((each) => each.innerText).join('');
        const text = one.getAttribute('aria-label') || label || one.innerText || one.textContent
          || one.title || one.alt;
        return !text || !text.trim();
      }).map((one) => one.outerHTML.slice(0, 120))"""
    for place in PLACES.values():
        assert visit.go(place).evaluate(unnamed) == [], place


@pytest.mark.shows("DASH-CODEBASES")
def test_a_codebase_says_its_state_its_proof_and_why(visit: Visit) -> None:
    page = visit.go("codebases")
    proven = page.locator("[data-codebase=tidewater]")
    expect(proven).to_contain_text("Ready")
    expect(proven).to_contain_text("2 files changed since")
    lost = page.locator("[data-codebase=harbor-scripts]")
    expect(lost).to_contain_text("Not proven")
    expect(lost).to_contain_text("its completion marker is missing")
    expect(lost.locator(".command")).to_contain_text("holdfast index create")
    proven.get_by_role("link", name="tidewater").click()
    expect(page.get_by_text("Proven", exact=True)).to_have_count(1)  # it was said three times
    expect(page.get_by_text("Index on disk")).to_be_visible()
    expect(page.locator("main")).to_contain_text("python")


# questions


@pytest.mark.shows("DASH-SEARCH", "DASH-CALLS")
def test_search_shows_results_an_outline_and_a_drawn_call_graph(visit: Visit) -> None:
    page = visit.go("search")
    page.get_by_label("Query").fill("round money")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("[data-result=round_money]").click()
    graph = page.locator("[data-graph] svg")
    expect(graph.get_by_role("button", name="Cart.total")).to_be_visible()
    expect(graph.locator(".edge")).to_have_count(2)
    expect(page.locator(".outline")).to_contain_text("money_text")
    graph.get_by_role("button", name="Cart.total").click()
    expect(page.locator("[data-graph] .node.focus")).to_contain_text("Cart.total")
    expect(page.locator(".outline")).to_contain_text("goods")
    page.get_by_label("Mark what a session holds").select_option("refactor-pricing")
    expect(page.locator("[data-result=round_money]")).to_contain_text("In context")


@pytest.mark.shows("DASH-REFERENCES")
def test_the_mentions_of_a_symbol_are_listed_by_kind(visit: Visit) -> None:
    page = visit.go("search")
    page.get_by_label("Query").fill("round money")
    page.get_by_role("button", name="Search", exact=True).click()
    page.locator("[data-result=round_money]").click()
    mentions = page.locator("[data-references]")
    expect(mentions).to_contain_text("import (")
    expect(mentions).to_contain_text("call (")
    mentions.get_by_role("button", name="app/cart.py:").last.click()
    expect(page.locator(".outline")).to_contain_text("goods")


@pytest.mark.shows("DASH-SEARCH")
def test_every_hit_shows_code_and_all_trees_are_searched_by_default(visit: Visit) -> None:
    page = visit.go("search?q=round+money")
    expect(page.get_by_label("Codebase")).to_have_value("*")
    hits = page.locator("[data-result]")
    expect(hits.first).to_be_visible()
    expect(page.locator(".glimpse")).to_have_count(hits.count())
    expect(page.locator(".glimpse").first).not_to_be_empty()


@pytest.mark.shows("DASH-AXE")
@pytest.mark.parametrize("size", ["desk", "phone"])
def test_no_page_breaks_a_rule_of_axe(browser: Browser, served: Dashboarded, size: str) -> None:
    """axe-core checks names, roles, contrast and order as screen readers need them."""
    nodejs.install()
    axe = (nodejs.TARGET / "node_modules" / "axe-core" / "axe.min.js").read_text(encoding="utf-8")
    options = {"viewport": PHONE} if size == "phone" else {}
    for colours in ("light", "dark"):
        visit = Visit(browser, served, color_scheme=colours, **options)
        visit.live()
        visit.page.evaluate(axe)
        broken = []
        for name, place in {**PLACES, "results": "search?q=round+money"}.items():
            found = visit.go(place).evaluate(
                "() => axe.run(document, {runOnly: ['wcag2a', 'wcag2aa', 'wcag21aa']})"
                ".then((all) => all.violations.map((one) => [one.id, one.nodes[0].html]))"
            )
            broken += [(name, colours, *one) for one in found]
        visit.close()
        assert broken == []


@pytest.mark.shows("DASH-SEARCH")
def test_what_is_wrong_with_an_outline_stands_above_it(visit: Visit) -> None:
    def guessed(route: Route) -> None:
        answer = route.fetch()
        words = "OUTLINE_GUESSED:no_grammar guessed from single lines"
        route.fulfill(response=answer, json={**answer.json(), "warnings": [words]})

    visit.page.route("**/api/outline**", guessed)
    page = visit.go("search?q=round%20money")
    page.locator("[data-result=round_money]").click()
    outline = page.locator("section", has=page.get_by_role("heading", name="Outline", exact=True))
    expect(outline).to_contain_text("guessed from single lines")
    expect(outline).not_to_contain_text("OUTLINE_GUESSED")
    expect(outline).to_contain_text("round_money")
    page.unroute("**/api/outline**")


@pytest.mark.shows("DASH-ADDRESS")
def test_the_overview_has_an_address_with_its_name(visit: Visit) -> None:
    page = visit.go("overview")
    expect(page.get_by_role("heading", name="Overview", level=1)).to_be_visible()
    expect(page.locator(".legend").first).to_contain_text("Sent")


@pytest.mark.shows("DASH-PALETTE")
def test_the_palette_finds_files_and_symbols(visit: Visit) -> None:
    page = visit.go("")
    page.keyboard.press("Control+k")
    page.get_by_role("combobox", name="Go to").fill("round_money")
    option = page.get_by_role("option").filter(has_text="symbol in").first
    expect(option).to_contain_text("round_money")
    option.click()
    expect(page.locator(".outline")).to_contain_text("round_money")


@pytest.mark.shows("DASH-NOTES")
def test_a_note_is_written_shown_with_its_code_and_edited(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, server, _ = own
    page = visit.go("memory/local")
    page.get_by_role("button", name="New note").click()
    page.get_by_label("Note", exact=True).fill("rounds half up, not to even")
    page.get_by_label("About code").fill("nowhere.py:f")
    page.get_by_role("button", name="Save").click()
    expect(page.locator(".notice.bad")).to_contain_text("no tracked tree has nowhere.py")
    visit.complaints.clear()  # the browser logs the refusal
    page.get_by_label("About code").fill("app/money.py:round_money")
    page.get_by_role("button", name="Save").click()
    opened = page.locator("[data-open='note:rounds-half-up-not-to-even']")
    expect(opened).to_contain_text("rounds half up")
    about = page.get_by_role("link", name="round_money")
    expect(about).to_contain_text("Current")
    opened.get_by_role("button", name="Edit").click()
    page.get_by_label("Text", exact=True).fill("rounds half to even")
    page.get_by_role("button", name="Save").click()
    expect(opened.locator(".value")).to_contain_text("rounds half to even")
    expect(page.get_by_text("by dashboard").first).to_be_visible()  # it was the id of a session
    visit.picture("note")
    assert "rounds half to even" in holdfast(server.home, "memory", "find", "rounding")


@pytest.mark.shows("DASH-SYNC-BUTTON")
def test_a_tree_is_synced_by_a_button_and_only_by_a_post(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, _, _ = own
    page = visit.go("codebases")
    page.locator("[data-codebase=tidewater]").get_by_role("link", name="tidewater").click()
    expect(page.locator("main")).to_contain_text("2 files changed since")
    refused = page.evaluate("fetch('/api/sync').then((answer) => answer.status)")
    assert refused == 405
    visit.complaints.clear()  # the browser logs the status
    page.get_by_role("button", name="Sync now").click()
    expect(page.locator("main")).to_contain_text("Up to date")


@pytest.mark.shows("DASH-LOCATE")
def test_locate_says_how_far_a_snippet_matches(visit: Visit) -> None:
    page = visit.go("search?mode=locate")
    page.get_by_label("Snippet").fill("gross = item.price * count\ndiscount = discount_of(item)")
    page.get_by_role("button", name="Locate", exact=True).click()
    answer = page.locator("section", has_text="Answer")
    expect(answer).to_contain_text("9 of 13 tokens")
    expect(answer).to_contain_text("discount_of")
    expect(answer).to_contain_text("discount_for")


@pytest.mark.shows("DASH-CLONES")
def test_clones_show_the_block_and_its_places(visit: Visit) -> None:
    page = visit.go("clones?minimum=25")
    block = page.get_by_role("button", name="2 copies")
    expect(block).to_contain_text("app/orders.py")
    block.click()
    expect(page.locator(".code")).to_contain_text("line.item.title")


@pytest.mark.shows("DASH-CLONES")
def test_a_tree_without_repeated_blocks_has_a_share_of_nothing(visit: Visit) -> None:
    """It was `NaN %`: the answer leaves out a count of 0."""
    page = visit.go("clones?minimum=200")
    expect(page.locator("main")).to_contain_text("No repeated block")
    expect(page.locator("main")).to_contain_text("0 %")
    expect(page.locator("main")).not_to_contain_text("NaN")


@pytest.mark.shows("DASH-SESSIONS", "DASH-CONTEXT")
def test_a_session_shows_its_tree_and_what_the_agent_holds(visit: Visit) -> None:
    page = visit.go("sessions/refactor-pricing?view=tree")
    expect(page.locator("[data-kind=compaction]")).to_have_count(1)
    expect(page.locator(".tree .e.off")).to_have_count(3)
    expect(page.locator(".tree circle.leaf")).to_have_count(1)
    page.get_by_role("tab", name="Context map").click()
    pricing = page.locator("[data-file$='app/pricing.py']")
    expect(pricing).to_contain_text("Changed since")
    expect(page.get_by_text("Taken away by the latest compaction")).to_be_visible()
    pricing.click()
    expect(page.locator(".lines .r.gone.held")).to_have_count(2)
    expect(page.locator(".lines .r.new")).to_have_count(2)
    expect(page.locator(".lines .r.new").last).to_contain_text("return gross * (1 - discount)")


@pytest.mark.shows("DASH-SAVINGS")
def test_savings_are_drawn_over_time(visit: Visit) -> None:
    page = visit.go("savings")
    expect(page.locator(".chart rect.saved").first).to_be_attached()
    assert page.locator(".chart rect.saved").count() >= 8
    page.get_by_role("button", name="By hour").click()
    expect(page.locator(".chart rect.saved").first).to_be_attached()


@pytest.mark.shows("SAVINGS-OWN")
@pytest.mark.parametrize("colours", ["light", "dark"])
def test_own_sessions_are_played_again_when_asked(
    browser: Browser, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, colours: str
) -> None:
    monkeypatch.setenv("HOME", str(tmp_path / "user"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME", "XDG_DATA_HOME"):
        monkeypatch.delenv(name, raising=False)
    write_session(tmp_path / "user")
    (tmp_path / "home").mkdir()
    server = Dashboarded(tmp_path / "home")
    small = {"viewport": PHONE, "has_touch": True, "is_mobile": True} if colours == "dark" else {}
    visit = Visit(browser, server, color_scheme=colours, **small)
    visit.live()
    page = visit.go("savings")
    page.get_by_role("button", name="Look at my sessions").click()
    row = page.locator("[data-agent=claude-code]")
    expect(row).to_contain_text("1 context, 3 reads")
    expect(row).to_contain_text("too few long first reads")
    expect(row.locator(".shares .again")).to_be_attached()
    width = page.evaluate("document.documentElement.scrollWidth")
    assert width <= page.evaluate("innerWidth")
    visit.picture(f"own-savings-{colours}", full_page=True)
    visit.close()
    server.stop()
    assert visit.complaints == []


@pytest.mark.shows("DASH-HEALTH")
def test_health_says_what_is_wrong_and_the_doctor_looks_when_asked(visit: Visit) -> None:
    page = visit.go("health")
    expect(page.locator("main")).to_contain_text("1 tree cannot be searched: harbor-scripts")
    page.get_by_role("button", name="Run all checks").click()
    expect(page.locator("[data-finding=ok]").first).to_be_visible()
    expect(page.locator("[data-finding]", has_text="store").first).to_be_visible()


# memory


@pytest.mark.shows("DASH-HISTORY")
def test_the_slider_shows_a_document_as_it_was(visit: Visit) -> None:
    page = visit.go("memory/local?id=note%3Aplan")
    card = page.locator("[data-open='note:plan']")
    expect(card).to_contain_text("Round prices once, at the till")
    page.get_by_label("Time").focus()
    page.keyboard.press("Home")
    expect(card).to_contain_text("Prices that survive the summer sale")
    expect(page.locator("[data-document]")).to_have_count(1)
    page.get_by_role("button", name="Now", exact=True).click()
    expect(card).to_contain_text("Round prices once, at the till")
    page.get_by_role("combobox", name="Branch").select_option(DRAFT)
    expect(card).to_contain_text("One place that rounds prices")


@pytest.mark.shows("DASH-DRIFT")
def test_links_whose_code_changed_are_reported(visit: Visit) -> None:
    page = visit.go("memory/local?view=drift")
    expect(page.locator("[data-link=drifted]")).to_contain_text("price_of")
    expect(page.locator("[data-link=current]")).to_have_count(3)


@pytest.mark.shows("DASH-MERGE", "DASH-DIFF")
def test_a_merge_conflict_is_resolved_by_clicks(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, server, _ = own
    page = visit.go("memory/local?view=branches")
    page.locator(f"[data-branch='{DRAFT}']").click()
    expect(page.get_by_text("property test: sum of parts")).to_be_visible()
    page.get_by_role("button", name="Merge into default branch").click()
    merge = page.get_by_role("button", name="Merge", exact=True)
    expect(page.locator("[data-clash]")).to_have_count(2)
    expect(merge).to_be_disabled()
    title = page.locator("[data-clash^='note:plan']")
    title.get_by_role("radio", name=DRAFT).click()
    expect(title).to_contain_text("Resolved")
    expect(merge).to_be_disabled()
    limit = page.locator("[data-clash^='decision:discounts']")
    limit.get_by_text("Enter another value").click()
    limit.get_by_label("Value, as JSON").fill("0.38")
    limit.get_by_role("button", name="Use this").click()
    expect(limit.get_by_text("Kept: 0.38")).to_be_visible()
    visit.picture("merge-settled")
    merge.click()
    expect(page.locator(".notice")).to_contain_text("Merged")
    plan = json.loads(holdfast(server.home, "memory", "get", "note:plan"))["value"]
    assert plan["title"] == "One place that rounds prices"
    assert plan["due"] == "Thursday", "what only the other side changed stays"
    assert plan["steps"][-1] == "property test: sum of parts"
    limits = json.loads(holdfast(server.home, "memory", "get", "decision:discounts"))["value"]
    assert limits["limit"] == 0.38
    expect(page.locator(f"[data-branch='{DRAFT}']")).to_have_count(0)  # a merged branch is closed
    assert "merged" in holdfast(server.home, "memory", "branch", "list")
    assert "dashboard" in holdfast(server.home, "memory", "log")


# live


@pytest.mark.shows("DASH-LIVE", "LIVE-SPACES")
def test_a_commit_of_another_program_shows_without_a_reload(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, server, _ = own
    page = visit.go("memory/local?id=note%3Aplan")
    page.evaluate("window.stillHere = true")
    edit = {"op": "replace", "path": "/value/owner", "value": "grace"}
    holdfast(server.home, "memory", "patch", "note:plan", json.dumps(edit))
    expect(page.locator("[data-open='note:plan']")).to_contain_text("grace")
    markup = "<img src=x onerror=alert(1)> made elsewhere"
    holdfast(server.home, "memory", "set", "note:new", json.dumps({"title": markup}))
    expect(page.locator("[data-document='note:new']")).to_contain_text(markup)
    expect(page.locator("main img")).to_have_count(0)
    holdfast(server.home, "memory", "branch", "create", "later")
    expect(page.get_by_role("tab", name="Branches (3)")).to_be_visible()
    assert page.evaluate("window.stillHere") is True


@pytest.mark.shows("DASH-LIVE", "LIVE-CODEBASES")
def test_index_progress_moves(own: tuple[Visit, Dashboarded, Demo]) -> None:
    visit, server, demo = own
    page = visit.go("codebases")
    registry = Registry(server.home / "index" / "registry.json")
    root = str((demo.project.parent / "harbor-scripts").resolve())

    def at(pct: float) -> None:
        def advance(record: Record | None) -> Record | None:
            assert record is not None
            state = Indexing("run-of-the-test", pct, "extracting")
            return Record(root, state, record.last_updated, record.fingerprint)

        registry.change(root, advance)

    bar = page.locator("[data-codebase=harbor-scripts] [role=progressbar]")
    for pct in (12.5, 61.0, 88.0):
        at(pct)
        expect(bar).to_have_attribute("aria-valuenow", json.dumps(pct).removesuffix(".0"))
    registry.change(root, lambda _: None)
    expect(bar).to_have_count(0)
    holdfast(server.home, "index", "create", root)
    expect(page.locator("[data-codebase=harbor-scripts]")).to_contain_text("Ready")


@pytest.mark.shows("DASH-LIVE", "LIVE-FRESHNESS", "LIVE-SESSIONS")
def test_an_edit_and_a_read_show_by_themselves(own: tuple[Visit, Dashboarded, Demo]) -> None:
    visit, server, demo = own
    page = visit.go("codebases")
    codebase = page.locator("[data-codebase=tidewater]")
    expect(codebase).to_contain_text("2 files changed since")
    (demo.project / "app" / "extra.py").write_text("def extra():\n    return 1\n")
    expect(codebase).to_contain_text("3 files changed since")
    visit.go("sessions")
    holdfast(server.home, "read", str(demo.project / "README.md"), "--session", "fresh")
    expect(page.locator("[data-session=fresh]")).to_contain_text("1 read")


@pytest.mark.shows("DASH-RECONNECT", "DASH-STATES")
def test_a_lost_connection_is_said_and_comes_back(browser: Browser, tmp_path: Path) -> None:
    demo = fill(tmp_path / "home", tmp_path, days=1)
    server = Dashboarded(demo.home)
    visit = Visit(browser, server)
    page = visit.go("memory/local?id=note%3Aplan")
    port = server.port
    server.kill()
    expect(page.get_by_role("alert")).to_contain_text("lost")
    visit.picture("disconnected")
    edit = {"op": "replace", "path": "/value/owner", "value": "meanwhile"}
    holdfast(demo.home, "memory", "patch", "note:plan", json.dumps(edit))
    again = Dashboarded(demo.home, "--port", str(port))
    try:
        expect(page.locator("[data-open='note:plan']")).to_contain_text("meanwhile")
        expect(page.get_by_role("alert")).to_have_count(0)
    finally:
        visit.close()
        again.stop()
    # The browser itself notes each failed attempt to connect; nothing else may be wrong.
    expected = re.compile("ERR_CONNECTION_|ERR_EMPTY_RESPONSE|WebSocket connection to ")
    assert [said for said in visit.complaints if not expected.search(said)] == []


@pytest.mark.shows("DASH-STATES")
def test_an_empty_home_says_what_to_do_first(browser: Browser, tmp_path: Path) -> None:
    server = Dashboarded(tmp_path / "home")
    visit = Visit(browser, server)
    try:
        for place, words in {
            "": "Nothing read yet",
            "codebases": "No trees are tracked",
            "sessions": "No sessions yet",
            "savings": "Nothing read yet",
            "memory": "No documents",
            "search": "Nothing to search",
            "clones": "No trees are tracked",
            "nowhere": "There is no page at this address",
        }.items():
            page = visit.page
            page.goto(f"{visit.base}/#/{place}")
            expect(page.locator("main")).to_contain_text(words)
            if not place:
                expect(page.locator(".tiles")).to_contain_text("none tracked yet")
                expect(page.locator(".tiles")).not_to_contain_text("proven")
                # A list without entries is a number, and was printed as one.
                chart = page.locator("section", has=page.get_by_text("Tokens saved by day"))
                expect(chart.locator(".inner")).to_have_text(re.compile("^Nothing read yet"))
            if place == "sessions":
                command = page.locator("main code")
                expect(command).to_have_text("holdfast read FILE --session NAME")
        visit.picture("empty")
    finally:
        visit.close()
        server.stop()
    assert visit.complaints == []


@pytest.mark.shows("DASH-STATES")
def test_a_question_that_waits_or_fails_says_so_and_can_be_asked_again(
    browser: Browser, served: Dashboarded
) -> None:
    visit = Visit(browser, served)
    page = visit.page
    waiting: list[Route] = []
    page.route("**/api/search**", lambda route: waiting.append(route))
    with page.expect_request("**/api/search**"):
        page.goto(f"{visit.base}/#/search?q=round%20money")
    results = page.locator("section", has=page.get_by_role("heading", name="Results"))
    expect(results.locator("[aria-busy]")).to_be_visible()
    body = json.dumps({"error": "the index is away", "hint": "look at its disk"})
    waiting.pop().fulfill(status=500, content_type="application/json", body=body)
    expect(page.get_by_role("alert")).to_contain_text("The index is away.Look at its disk.")
    visit.picture("failed")
    page.unroute("**/api/search**")
    page.get_by_role("button", name="Try again").click()
    expect(page.locator("[data-result=round_money]")).to_be_visible()
    visit.close()
    # The browser itself notes the status; nothing else may be wrong.
    assert [said for said in visit.complaints if "status of 500" not in said] == []


@pytest.mark.shows("DASH-STATES", "DASH-SIGNED")
def test_a_server_that_asks_for_signatures_says_so(browser: Browser, tmp_path: Path) -> None:
    server = Dashboarded(tmp_path / "home", "--require-signature")
    visit = Visit(browser, server)
    try:
        expect(visit.page.locator("main")).to_contain_text("No permission")
    finally:
        visit.close()
        server.stop()
    assert visit.complaints == []


# keyboard


@pytest.mark.shows("DASH-KEYBOARD")
def test_everything_can_be_reached_with_the_keyboard_alone(visit: Visit) -> None:
    page = visit.go("")
    page.keyboard.press("Tab")
    expect(page.locator(".skip")).to_be_focused()
    page.keyboard.press("Control+k")
    field = page.get_by_role("combobox", name="Go to")
    expect(field).to_be_focused()
    page.keyboard.type("refactor")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="refactor-pricing")).to_be_visible()
    page.keyboard.press("Escape")
    page.keyboard.press("g")
    page.keyboard.press("s")
    expect(page.get_by_role("heading", name="Search", level=1)).to_be_visible()
    page.keyboard.press("/")
    expect(page.get_by_label("Query")).to_be_focused()
    page.keyboard.type("reserve stock")
    page.keyboard.press("Enter")
    result = page.locator("[data-result='Stock.reserve']")
    expect(result).to_be_visible()
    _tab_to(page, "[data-result='Stock.reserve']")
    ring = "(one) => getComputedStyle(one).outlineStyle + getComputedStyle(one).outlineWidth"
    assert result.evaluate(ring) == "solid2px", "where the focus is can be seen"
    page.keyboard.press("Enter")
    expect(page.locator("[data-graph]")).to_be_visible()
    _tab_to(page, ".graph .node:not(.focus)")
    page.keyboard.press("Enter")
    expect(page.locator("[data-graph] .node.focus")).not_to_contain_text("Stock.reserve")


@pytest.mark.shows("DASH-KEYBOARD", "DASH-THEMES")
def test_shortcuts_choose_colours_and_show_themselves(visit: Visit) -> None:
    page = visit.go("health")
    page.keyboard.press("t")
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.reload()
    expect(page.locator("html")).to_have_attribute("data-theme", "dark")
    page.keyboard.press("?")
    expect(page.get_by_role("dialog", name="Keyboard shortcuts")).to_be_visible()
    page.keyboard.press("Escape")
    expect(page.get_by_role("dialog")).to_have_count(0)
    page.get_by_role("button", name="As the system").click()
    expect(page.locator("html")).not_to_have_attribute("data-theme", "dark")


def _tab_to(page: Page, selector: str) -> None:
    for _ in range(80):
        page.keyboard.press("Tab")
        if page.evaluate("(wanted) => document.activeElement.matches(wanted)", selector):
            return
    raise AssertionError(f"{selector} cannot be reached with Tab")


# the protocol, spoken by the page's own client


def run(page: Page, program: str, argument: Any = None) -> Any:
    """Run a program that uses the page's modules."""
    return page.evaluate(
        "async (given) => { const {Sync} = await import('/assets/sync.js');"
        f" const url = location.origin.replace('http', 'ws') + '/sync'; {program} }}",
        argument,
    )


@pytest.mark.shows("DASH-SYNC")
def test_the_client_commits_watches_and_hears_of_conflicts(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, _, _ = own
    found = run(
        visit.page,
        """
        const one = new Sync(url), other = new Sync(url);
        const mine = one.space('plain'), theirs = other.space('plain');
        const set = (id, value) => [{op: 'set', id, value: {value}}];
        const first = await mine.transact(set('a', 1));
        await theirs.ready;
        await theirs.watch('w', ['a', 'b']);
        const seen = [theirs.get('a').value, theirs.get('b')];
        const heard = new Promise((done) => theirs.listen((ids) => ids.includes('b') && done()));
        await mine.transact(set('b', 2));
        await heard;
        seen.push(theirs.get('b').value);
        const stale = [{id: 'a', path: [], seq: 0}];
        const late = theirs.transact(set('a', 3), {confirmed: stale});
        const {name, conflicts} = await late.catch((error) => error);
        one.close();
        other.close();
        return {seq: first.seq, seen, name, who: conflicts?.length, a: theirs.get('a').value};
        """,
    )
    assert found == {"seq": 1, "seen": [1, None, 2], "name": "ConflictError", "who": 1, "a": 1}


@pytest.mark.shows("DASH-SYNC", "DASH-RECONNECT")
def test_the_client_resumes_and_a_commit_lands_once(
    own: tuple[Visit, Dashboarded, Demo],
) -> None:
    visit, _, _ = own
    found = run(
        visit.page,
        """
        const sockets = [];
        const dial = (to) => sockets[sockets.push(new WebSocket(to)) - 1];
        const cut = new Sync(url, () => {}, dial);
        const calm = new Sync(url);
        const space = cut.space('cut'), other = calm.space('cut');
        await space.ready;
        await other.ready;
        await space.watch('w', ['n', 'x']);
        const edit = {op: 'increment', path: '/value', by: 1};
        const more = () => [{op: 'patch', id: 'n', patches: [edit]}];
        const landed = [];
        for (let turn = 0; turn < 6; turn += 1) {
          const waiting = space.transact(more());
          sockets.at(-1).close();
          await other.transact([{op: 'set', id: 'x', value: {value: turn}}]);
          landed.push((await waiting).seq);
        }
        await space.ask('session.ack', {seenSeq: space.seq});
        await new Promise((resolve) => {
          const all = () => space.get('x')?.value === 5 && space.get('n')?.value === 6;
          const check = () => all() && resolve();
          space.listen(check);
          check();
        });
        const dialled = sockets.length;
        cut.close();
        calm.close();
        return {n: space.get('n').value, dialled, once: new Set(landed).size};
        """,
    )
    assert found["n"] == 6, "each commit landed once"
    assert found["once"] == 6
    assert found["dialled"] >= 6


@pytest.mark.shows("DASH-STATES", "DASH-CLEAN")
def test_an_address_that_is_none_is_a_page_that_says_so(visit: Visit) -> None:
    """A half escape in an address threw on every draw, and the page stayed as it was."""
    page = visit.go("savings")
    page.goto(f"{visit.base}/#/memory%E0%A4%A")
    expect(page.get_by_role("heading", name="Page not found")).to_be_visible()
    page.goto(f"{visit.base}/#/memory/local?at=noon")
    expect(page.locator(".badge", has_text="Now")).to_be_visible()
    expect(page.locator("[data-document='note:plan']")).to_be_visible()


@pytest.mark.shows("DASH-STATES", "DASH-HISTORY")
def test_documents_of_one_moment_are_not_shown_as_those_of_another(
    browser: Browser, served: Dashboarded
) -> None:
    """When the server did not answer for a moment of the past, the list of the moment before
    stood under its name."""
    visit = Visit(browser, served)
    page = visit.go("memory/local")
    expect(page.locator("[data-document='note:plan']")).to_be_visible()
    body = json.dumps({"error": "the disk is away"})
    page.route(
        "**/api/memory/documents**at=1*",
        lambda route: route.fulfill(status=500, content_type="application/json", body=body),
    )
    page.goto(f"{visit.base}/#/memory/local?at=1")
    expect(page.get_by_role("alert")).to_contain_text("The disk is away.")
    expect(page.locator("[data-document]")).to_have_count(0)
    visit.close()
    assert [said for said in visit.complaints if "status of 500" not in said] == []


@pytest.mark.shows("DASH-CODEBASES")
def test_a_command_can_be_pasted_whatever_a_tree_is_called(visit: Visit) -> None:
    """A tree called `$(rm -rf x)` was a command inside the command."""
    shown = visit.page.evaluate(
        "async (names) => (await import('/assets/parts.js')).quoted && names.map("
        "(await import('/assets/parts.js')).quoted)",
        names := ["/a/plain-name_1.2", "/a b", "/it's", "/$(touch x)", "/\n", ""],
    )
    assert shown == [shlex.quote(name) for name in names]
