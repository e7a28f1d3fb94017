"""The web page of `holdfast serve`: the live state, and queries about code, sessions and memory."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from holdfast.app import App
    from holdfast.dashboard.pages import Pages
    from holdfast.dashboard.service import DashboardService
    from holdfast.sync.io.endpoint import SyncService


def asgi(app: App, service: SyncService) -> Pages:
    """The dashboard of an app; it shows the spaces of `service`."""
    from holdfast.dashboard.lazy_start import Sleeper, live_space_of
    from holdfast.dashboard.pages import Pages

    def make() -> DashboardService:
        from holdfast.dashboard.service import DashboardService

        return DashboardService.beside(app, service)

    space = live_space_of(app, service.options.store)
    sleeper = Sleeper(make, lambda: space in service.server.spaces)
    return Pages(sleeper.questions, sleeper.running, sleeper.wake, space)
