"""Training pairs about whole files and types, and how batches are made of them."""

from __future__ import annotations

from pathlib import Path

import msgspec
import numpy as np

from holdfast.index.embedding.pieces import Vocabulary
from models.train import encode, train
from models.train.fetch import Package, apt_sources
from models.train.pairs import FILE_KINDS, Pair, pairs_of

SOURCE = b'''# Copyright 2020 Some Body and others, all rights reserved.
"""Sends parcels to customers by several carriers."""

import os


class ParcelLabel:
    def printed(self, printer):
        for line in self.lines:
            printer.feed(line, width=self.width, margin=self.margin, border=self.border)
        printer.cut(after=len(self.lines), mark=self.mark, sound=self.sound)
        return printer.pages


def dispatch(parcel, carrier):
    return carrier.take(parcel)


def delivery_route(parcel):
    return parcel.stops
'''


def pairs_of_kind(kind: str, path: str = "shop/mail/delivery_route.py") -> list[Pair]:
    package = Package("pypi", "shop", "1", "MIT", "", [(path, SOURCE)])
    return [pair for pair in pairs_of(package) if pair.kind == kind]


def test_a_header_comment_asks_for_the_names_of_its_file() -> None:
    (pair,) = pairs_of_kind("file")
    assert pair.question == "Sends parcels to customers by several carriers."
    assert pair.path == "shop/mail/delivery_route.py"
    assert "ParcelLabel.printed" in pair.code


def test_the_name_of_a_file_asks_for_what_is_in_it_without_that_name() -> None:
    (pair,) = pairs_of_kind("stem")
    assert pair.question == "delivery route"
    assert (pair.path, pair.file) == ("shop/mail", "shop/mail/delivery_route.py")
    assert "delivery_route" not in pair.code
    assert "dispatch" in pair.code


def test_one_word_is_asked_with_its_folder_and_a_name_that_says_nothing_is_not_asked() -> None:
    (pair,) = pairs_of_kind("stem", "shop/mail/carrier.py")
    assert pair.question == "mail carrier"
    assert pairs_of_kind("stem", "shop/mail/utils.py") == []
    assert pairs_of_kind("stem", "src/carrier.py") == []


def test_the_name_of_a_type_asks_for_its_text_without_that_name() -> None:
    (pair,) = pairs_of_kind("type")
    assert pair.question == "parcel label"
    assert "ParcelLabel" not in pair.code
    assert "printer.feed" in pair.code


def encoded(pairs: list[Pair]) -> encode.Encoded:
    return encode.encode(pairs, Vocabulary(["parse", "http", "file", "a", "b"]))


def pair(kind: str, path: str, question: str, file: str = "") -> Pair:
    return Pair(kind, "python", "p", path, "", question, "", f"parse {question}", file)


def test_only_the_kinds_of_the_plan_are_learned_from(tmp_path: Path) -> None:
    made = pairs_of(Package("pypi", "shop", "1", "MIT", "", [("shop/carrier.py", SOURCE)]))
    (tmp_path / "pairs").mkdir()
    (tmp_path / "pairs" / "pypi__shop.msgpack").write_bytes(msgspec.msgpack.encode(made))
    found = encode.training_pairs(tmp_path, 100, ["stem", "type"])
    assert {pair.kind for pair in found} == {"stem", "type"}
    plain = encode.training_pairs(tmp_path, 100, train.Plan().kinds.split(","))
    assert not {pair.kind for pair in plain} & FILE_KINDS


def test_the_rest_of_a_file_is_no_wrong_answer_to_what_asks_for_the_file() -> None:
    data = encoded(
        [
            pair("stem", "x", "http file", "x/a.py"),
            pair("doc", "x/a.py", "parse a"),
            pair("doc", "x/a.py", "parse b"),
            pair("doc", "x/b.py", "file b"),
        ]
    )
    plan = train.Plan(drop=0.0)
    _, batch = train.make_batch(data, np.arange(4), plan, np.random.default_rng(1))
    assert batch.same[0].tolist() == [False, True, True, False]
    assert batch.same[:, 0].tolist() == [False, True, True, False]
    assert not batch.same[1:, 1:].any(), "functions of one file still compete"


def test_blocks_of_siblings_hold_whole_folders() -> None:
    packages = [f"p{i % 2}" for i in range(64)]
    folders = np.array([i % 8 for i in range(64)])
    plan = train.Plan(block=8)
    order = train.package_order(packages, plan, np.random.default_rng(1), folders)
    assert sorted(order.tolist()) == list(range(64))
    for at in range(0, 64, 8):
        assert len(set(folders[order[at : at + 8]].tolist())) == 1


def test_apt_may_leave_the_key_of_an_archive_without_a_name() -> None:
    """A variable that apt did not replace was written into the list, which apt then refused."""
    assert apt_sources("http://a.example/debian stable /usr/key.gpg\n") == (
        "deb [signed-by=/usr/key.gpg] http://a.example/debian stable main\n"
        "deb-src [signed-by=/usr/key.gpg] http://a.example/debian stable main\n"
    )
    assert apt_sources("short\nhttp://a.example/debian stable $(SIGNED_BY)\n") == (
        "deb http://a.example/debian stable main\ndeb-src http://a.example/debian stable main\n"
    )
