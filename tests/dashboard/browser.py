"""A real Chromium, a real server and a page that complains about nothing."""

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, expect, sync_playwright

from tests.sync.processes import WAIT_S, Served

expect.set_options(timeout=WAIT_S * 1000)

ARTIFACTS = Path(os.environ.get("HOLDFAST_ARTIFACTS", "ci-artifacts"))
"""Where screenshots go."""

DESK = {"width": 1280, "height": 860}
PHONE = {"width": 360, "height": 740}


def chromium() -> str:
    """The browser of this machine; without one these tests fail, and say what to do."""
    named = os.environ.get("HOLDFAST_CHROMIUM")
    for name in [named] if named else ["chromium", "chromium-browser", "google-chrome"]:
        found = shutil.which(name)
        if found:
            return found
    raise AssertionError("there is no Chromium here: make browser installs one")


@contextmanager
def running_browser() -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(
            executable_path=chromium(), args=["--no-sandbox", "--disable-dev-shm-usage"]
        )
        try:
            yield browser
        finally:
            browser.close()


class Visit:
    """One visitor: a page, and everything it complained about."""

    def __init__(self, browser: Browser, served: "Dashboarded", **options: Any) -> None:
        self._context = browser.new_context(**{"viewport": DESK, **options})
        self._context.set_default_timeout(WAIT_S * 1000)
        self.page: Page = self._context.new_page()
        self.complaints: list[str] = []
        self.page.on(
            "console",
            lambda said: (
                self.complaints.append(f"{said.type}: {said.text}")
                if said.type in ("error", "warning")
                else None
            ),
        )
        self.page.on("pageerror", lambda error: self.complaints.append(f"uncaught: {error}"))
        # A violation of the policy is an event of the document; none may go unseen.
        self.page.add_init_script(
            "document.addEventListener('securitypolicyviolation', (event) => "
            "console.error('policy: ' + event.violatedDirective + ' ' + event.blockedURI))"
        )
        self.base = served.base
        self.page.goto(served.door)
        expect(self.page.locator(".rail .wire, .top .wire").first).to_be_attached()

    def go(self, place: str) -> Page:
        """Another page, without loading anything anew."""
        self.page.goto(f"{self.base}/#/{place}")
        expect(self.page.locator("main h1")).to_be_visible()
        expect(self.page.locator("[aria-busy]")).to_have_count(0)
        return self.page

    def live(self) -> None:
        expect(self.page.locator(".wire.connected").first).to_be_attached()

    def picture(self, name: str, **options: Any) -> Path:
        ARTIFACTS.mkdir(parents=True, exist_ok=True)
        path = ARTIFACTS / f"{re.sub(r'[^a-z0-9-]+', '-', name)}.png"
        self.page.screenshot(path=path, animations="disabled", **options)
        return path

    def close(self) -> None:
        self._context.close()


class Dashboarded(Served):
    """A server of a home, and the address that lets a browser in."""

    def __init__(self, home: Path, *options: str) -> None:
        super().__init__(str(home / "spaces"), "--show-token", *options, home=str(home))
        self.home = home
        self.base = self.url.replace("ws://", "http://").removesuffix("/sync")
        token = (home / "token").read_text(encoding="utf-8").strip()
        self.door = f"{self.base}/?token={token}"

    @property
    def port(self) -> int:
        return int(self.base.rpartition(":")[2])

    @property
    def complaints(self) -> str:
        return "".join(self._errors)
