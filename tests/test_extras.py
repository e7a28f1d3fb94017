"""The command for an extra fits the tool that installed the program."""

import json
from pathlib import Path

import pytest

from holdfast.extras import install_command, upgrade_command

UV = """[tool]
requirements = [{ name = "holdfast", extras = ["agents"] }]
entrypoints = [{ name = "holdfast", install-path = "/h/bin/holdfast", from = "holdfast" }]
"""


@pytest.mark.shows("PKG-EXTRA-COMMAND")
def test_an_environment_of_pip_gets_the_command_of_pip(tmp_path: Path) -> None:
    assert install_command("fast", str(tmp_path)) == "pip install 'holdfast[fast]'"
    assert upgrade_command(str(tmp_path)) == "pip install --upgrade holdfast"


@pytest.mark.shows("PKG-EXTRA-COMMAND")
def test_uv_is_told_the_extras_that_are_there_too(tmp_path: Path) -> None:
    """`uv tool install 'holdfast[fast]'` would take out the extra `agents`."""
    receipt = tmp_path / "uv-receipt.toml"
    receipt.write_text(UV)
    assert install_command("fast", str(tmp_path)) == "uv tool install 'holdfast[agents,fast]'"
    assert install_command("agents", str(tmp_path)) == "uv tool install 'holdfast[agents]'"
    assert upgrade_command(str(tmp_path)) == "uv tool upgrade holdfast"
    receipt.write_text(UV.replace(', extras = ["agents"]', ', path = "/dist/holdfast.whl"'))
    expected = "uv tool install '/dist/holdfast.whl[fast]'"
    assert install_command("fast", str(tmp_path)) == expected


@pytest.mark.shows("PKG-EXTRA-COMMAND")
@pytest.mark.parametrize(
    ("installed", "extras"),
    [("holdfast", "fast"), ("holdfast[agents, images]", "agents,images,fast")],
)
def test_pipx_is_told_the_extras_that_are_there_too(
    tmp_path: Path, installed: str, extras: str
) -> None:
    metadata = {"main_package": {"package": "holdfast", "package_or_url": installed}}
    (tmp_path / "pipx_metadata.json").write_text(json.dumps(metadata))
    expected = f"pipx install --force 'holdfast[{extras}]'"
    assert install_command("fast", str(tmp_path)) == expected
    assert upgrade_command(str(tmp_path)) == "pipx upgrade holdfast"


@pytest.mark.shows("PKG-EXTRA-COMMAND")
@pytest.mark.parametrize("text", ["", "[tool]\n", "= =", "[tool]\nrequirements = [1]\n"])
def test_a_receipt_of_another_shape_is_not_an_error(tmp_path: Path, text: str) -> None:
    (tmp_path / "uv-receipt.toml").write_text(text)
    assert install_command("fast", str(tmp_path)) == "pip install 'holdfast[fast]'"
