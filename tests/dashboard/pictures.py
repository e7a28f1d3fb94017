"""The two pictures of the README, made anew: `python -m tests.dashboard.pictures`."""

import tempfile
from pathlib import Path

from playwright.sync_api import expect

from tests.dashboard.browser import Dashboarded, Visit, running_browser
from tests.dashboard.demo import fill

IMAGES = Path(__file__).resolve().parents[2] / "docs" / "images"
SIZE_BYTES_MAX = 200_000


def main() -> None:
    IMAGES.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder, running_browser() as browser:
        demo = fill(Path(folder) / "home", Path(folder))
        server = Dashboarded(demo.home)
        try:
            size = {"width": 1240, "height": 760}
            light = Visit(browser, server, viewport=size, color_scheme="light")
            light.live()
            light.go("")
            light.page.screenshot(path=IMAGES / "dashboard-overview.png", animations="disabled")
            size = {"width": 1240, "height": 900}
            dark = Visit(browser, server, viewport=size, color_scheme="dark")
            page = dark.go("sessions/refactor-pricing")
            page.locator("[data-file$='app/pricing.py']").click()
            expect(page.locator(".lines .r.new")).to_have_count(2)
            page.mouse.move(0, 0)
            page.screenshot(path=IMAGES / "dashboard-context.png", animations="disabled")
        finally:
            server.stop()
    for picture in IMAGES.glob("dashboard-*.png"):
        size_bytes = picture.stat().st_size
        assert size_bytes < SIZE_BYTES_MAX, f"{picture.name} has {size_bytes} bytes"
        print(f"{picture}: {size_bytes:,} bytes")


if __name__ == "__main__":
    main()
