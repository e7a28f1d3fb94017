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
        ("rename", "edit rename"),
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


@pytest.mark.parametrize(
    ("words", "expected"),
    [(["help"], "index       create, update"), (["help", "search"], "usage: holdfast search")],
)
def test_help_is_a_command_too(
    words: list[str], expected: str, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main(words)
    assert ended.value.code == 0
    assert expected in capsys.readouterr().out


def test_help_of_a_command_that_does_not_exist_names_one(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["help", "rename"]) == 2
    assert "did you mean holdfast edit rename?" in capsys.readouterr().err
