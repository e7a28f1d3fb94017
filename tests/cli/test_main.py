"""Commands that do not exist: what is offered instead."""

import pytest

from holdfast.cli.main import COMMANDS, OTHER_NAMES, main


@pytest.mark.parametrize(
    ("typed", "offered"),
    [
        ("dashboard", "serve"),
        ("note", "memory note"),
        ("serach", "search"),
        ("init", "index create"),
    ],
)
def test_a_command_by_another_name_is_answered_with_ours(
    typed: str, offered: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main([typed]) == 2
    assert f"did you mean holdfast {offered}?" in capsys.readouterr().err


def test_what_is_offered_for_another_name_is_a_command() -> None:
    for name, offered in OTHER_NAMES.items():
        assert name not in COMMANDS
        assert offered.split()[0] in COMMANDS
