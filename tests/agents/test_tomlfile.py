"""One table of a TOML file is added and removed; tomllib and the bytes around are the judges."""

from __future__ import annotations

import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from holdfast.agents import tomlfile
from holdfast.agents.errors import BadSettingsFile

PATH = ("mcp_servers", "holdfast")
VALUES = {"command": "/opt/hold fast/bin", "args": ["mcp"], "env": {"A.B": 'quote " and \\'}}

TEXTS = [
    "",
    'model = "x"\n',
    'model = "x"',
    "# only a comment\n",
    'a = 1\n\n[mcp_servers.other]\ncommand = "x" # why\n\n[tui]\nb = [\n  1,\n]\n',
    "text = \"\"\"\n[mcp_servers.holdfast]\n\"\"\"\n[x]\ny = '''\n[z]'''\n",
    'a = 1\r\n[b]\r\nc = "ü"\r\n',
    'a = 1\r\n[b]\r\nc = "ü"',
    "\n\n",
    "  ",
    "a = 1\n\n\n",
    "a = 1\n  ",
    'a = "x\u2028[mcp_servers.holdfast]"\n',
]


@pytest.mark.parametrize("text", TEXTS)
def test_a_table_goes_in_and_out_to_the_byte(text: str) -> None:
    put = tomlfile.put_table(text, PATH, VALUES)
    expected = tomllib.loads(text)
    expected.setdefault("mcp_servers", {})["holdfast"] = VALUES
    assert tomllib.loads(put) == expected
    assert put.startswith(text)
    assert tomlfile.put_table(put, PATH, VALUES) == put
    again = tomlfile.put_table(put, PATH, {"command": "another"})
    assert again.startswith(text)
    assert tomlfile.remove_table(put, PATH) == text
    assert tomlfile.remove_table(again, PATH) == text


lines = st.sampled_from(
    [
        "",
        "  ",
        "# [mcp_servers.holdfast]",
        "[a]",
        "[b.c]",
        "[[d]]",
        "[mcp_servers.other]",
        "\t# x\x85",
    ]
)


@given(st.lists(lines, max_size=8), st.sampled_from(["\n", "\r\n"]), st.booleans())
def test_whatever_stands_there_comes_back(parts: list[str], newline: str, ends: bool) -> None:
    """A file that did not end with a newline had one more after an uninstall."""
    text = newline.join(parts) + (newline if ends and parts else "")
    try:
        tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return  # a table that is named twice
    put = tomlfile.put_table(text, PATH, VALUES)
    assert tomlfile.remove_table(put, PATH) == text


def test_what_is_written_below_ours_stays_as_it_was_written() -> None:
    put = tomlfile.put_table('model = "x"', PATH, VALUES)
    assert not put.endswith("\n")  # as the file ended before
    grown = put + "\n\n[z]\nb = 2"
    assert tomlfile.remove_table(grown, PATH) == 'model = "x"\n\n[z]\nb = 2'


def test_a_table_in_the_middle_is_replaced_with_all_below_it() -> None:
    text = (
        'a = 1\n\n[mcp_servers.holdfast]\ncommand = "old"\n'
        '[mcp_servers.holdfast.env]\nX = "1"\n\n[z]\nb = 2\n'
    )
    put = tomlfile.put_table(text, PATH, {"command": "new"})
    assert tomllib.loads(put) == {
        "a": 1,
        "z": {"b": 2},
        "mcp_servers": {"holdfast": {"command": "new"}},
    }
    assert put.startswith("a = 1\n\n[z]\nb = 2\n\n[mcp_servers.holdfast]")


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { holdfast = { command = "x" } }\n',
        '[mcp_servers]\nholdfast = { command = "x" }\n',
        'mcp_servers.holdfast.command = "x"\n',
    ],
)
def test_a_form_that_is_no_block_of_its_own_is_left_alone(text: str) -> None:
    with pytest.raises(BadSettingsFile, match="not a table of its own"):
        tomlfile.remove_table(text, PATH)
    with pytest.raises(BadSettingsFile):
        tomlfile.put_table(text, PATH, VALUES)


def test_a_broken_file_is_said_to_be_one() -> None:
    with pytest.raises(BadSettingsFile, match=r"config\.toml cannot be edited"):
        tomlfile.put_table("a = ", PATH, VALUES, "config.toml")
