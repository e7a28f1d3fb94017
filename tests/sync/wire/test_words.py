"""The protocol's constants, and the words both halves share."""

import pytest

from holdfast.ids import MAIN
from holdfast.store import pointer
from holdfast.store.graph.links import source_of
from holdfast.store.graph.schemas import FALSE
from holdfast.store.graph.selectors import place_of
from holdfast.sync.wire import messages
from holdfast.sync.wire.messages import Flags


@pytest.mark.shows("T1")
def test_the_protocol_names_itself_and_its_default_branch_has_no_name() -> None:
    assert messages.PROTOCOL == "memory/v2"
    assert MAIN == ""


@pytest.mark.shows("T3")
def test_a_document_path_starts_at_the_root_of_the_document() -> None:
    assert pointer.ROOT == ()
    assert pointer.parse("") == pointer.ROOT


@pytest.mark.shows("T4")
def test_a_value_path_goes_through_the_value() -> None:
    place = place_of("of:a", ("items", "0"), FALSE)
    assert place.selector == (("value", "items", "0"), FALSE)


@pytest.mark.shows("T5")
@pytest.mark.parametrize(
    ("source", "target"),
    [
        ({"/": "origin"}, "of:origin"),
        ({"/": {"link@1": {}}}, None),
        ({}, None),
        ({"/": "origin", "more": 1}, None),
        ("origin", None),
    ],
)
def test_a_source_link_is_one_member_with_a_text(source: object, target: str | None) -> None:
    assert source_of({"value": 1, "source": source}) == target


@pytest.mark.shows("T7")
@pytest.mark.parametrize(
    ("option", "flag"),
    [
        ("rich_storable_values", "richStorableValues"),
        ("unified_json_encoding", "unifiedJsonEncoding"),
        ("canonical_hashing", "canonicalHashing"),
        ("modern_schema_hash", "modernSchemaHash"),
    ],
)
def test_an_option_switches_its_flag_in_the_hello(option: str, flag: str) -> None:
    off, on = messages.to_wire(Flags()), messages.to_wire(Flags(**{option: True}))
    assert not any(off.values())
    assert [name for name, is_on in on.items() if is_on] == [flag]
    # And they are what a client says first.
    hello = messages.Hello(protocol=messages.PROTOCOL, flags=on)
    assert messages.to_wire(hello)["flags"] == on
