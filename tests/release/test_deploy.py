"""The container recipe, checked by starting the same processes without a container engine."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from holdfast.cli.main import main
from tests.postgres import PostgresServer
from tests.sync.processes import Served

ROOT = Path(__file__).resolve().parent.parent.parent
DEPLOY = ROOT / "deploy"


def service(name: str) -> dict[str, Any]:
    composed = yaml.safe_load((DEPLOY / "compose.yaml").read_text(encoding="utf-8"))
    found = composed["services"][name]
    assert isinstance(found, dict)
    return found


def options() -> list[str]:
    """The arguments of the container without its port: the machine of a test may use it already."""
    given = list(service("holdfast")["command"])
    at = given.index("--port")
    assert given[at + 1] == "7433"
    return given[:at] + given[at + 2 :]


@pytest.mark.shows("PKG-CONTAINER")
def test_the_composed_processes_start_and_are_found_healthy(postgres: PostgresServer) -> None:
    served = Served(postgres.url, *options())
    try:
        port = served.url.rpartition(":")[2].partition("/")[0]
        check = service("holdfast")["healthcheck"]["test"]
        assert check[:3] == ["CMD", "python", "-c"]
        asked = check[3].replace("7433", port)
        assert asked != check[3]
        ran = subprocess.run([sys.executable, "-c", asked], capture_output=True, text=True)
        assert ran.returncode == 0, ran.stderr
    finally:
        served.stop()


@pytest.mark.shows("PKG-CONTAINER")
def test_the_health_check_fails_when_nothing_is_served() -> None:
    check = service("holdfast")["healthcheck"]["test"][3].replace("7433", "1")
    ran = subprocess.run([sys.executable, "-c", check], capture_output=True, env=dict(os.environ))
    assert ran.returncode != 0


@pytest.mark.shows("PKG-CONTAINER")
def test_the_image_and_the_compose_file_agree() -> None:
    image = (DEPLOY / "Containerfile").read_text(encoding="utf-8")
    assert 'ENTRYPOINT ["holdfast", "serve"]' in image
    assert "USER holdfast" in image
    assert "EXPOSE 7433" in image
    home = image.partition("HOLDFAST_HOME=")[2].split()[0]
    assert f"home:{home}" in service("holdfast")["volumes"]
    assert service("holdfast")["ports"] == ["127.0.0.1:7433:7433"], "only this machine, by default"
    assert "@database/" in service("holdfast")["environment"]["HOLDFAST_DATABASE_URL"]


@pytest.mark.shows("PKG-CONTAINER")
def test_every_option_of_the_image_exists(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        main(["serve", "--help"])
    printed = capsys.readouterr().out
    named = [word for word in service("holdfast")["command"] if word.startswith("--")]
    assert all(name in printed for name in named)
