"""Languages without a grammar: lines that look like definitions name chunks, and nothing else."""

from __future__ import annotations

from typing import Any

import pytest

from holdfast.index.facts.extract import extract
from holdfast.index.facts.languages import OPTIONAL
from holdfast.index.facts.languages.line_patterns import TABLE
from holdfast.index.facts.model import MODULE, decode, encode
from tests.index.wire import call_graph, file_outline, manage_index, search_code
from tests.index.world import World

SAMPLES: dict[str, tuple[str, list[str]]] = {
    "src/shop.erl": (
        """\
-module(shop).
-export([total/1]).
-record(cart, {items}).

total([]) -> 0;
total([H|T]) ->
    case H of
        x -> H + total(T)
    end.

price(X) ->
    X.
""",
        [
            "namespace shop 1-2",
            "struct cart 3-4",
            "function total 5-10",
            "function price 11-12",
        ],
    ),
    "Shop.hs": (
        """\
module Shop.Cart (total) where

data Cart = Cart { items :: [Int] }
newtype Price = Price Int
class (Eq a) => Priced a where
  price :: a -> Int
instance Priced Cart where
  price = total

-- | Adds up.
total :: Cart -> Int
total c = sum (items c)
  where sum = foldr (+) 0
""",
        [
            "namespace Shop.Cart 1-2",
            "struct Cart 3-3",
            "struct Price 4-4",
            "interface Priced 5-6",
            "object Priced Cart 7-9",
            "function total 11-13",
        ],
    ),
    "shop.ml": (
        """\
type cart = { items : int list }

(* Adds up. *)
let rec total cart =
  let sum = List.fold_left (+) 0 cart.items in
  sum

module Price = struct
  type t = int
  let of_int x = x
end
""",
        [
            "type cart 1-2",
            "function total 4-7",
            "namespace Price 8-11",
            "type Price.t 9-11",
        ],
    ),
    "Shop.fs": (
        """\
module Shop.Cart

type Cart() =
    member this.Total(x) = x

let rec total cart =
    let inner = 1
    cart
""",
        [
            "namespace Shop.Cart 1-2",
            "type Cart 3-5",
            "method Cart.Total 4-5",
            "function total 6-8",
        ],
    ),
    "shop.dart": (
        """\
import 'dart:io';

abstract class Cart extends Base {
  final List<int> items = [];

  int total(int tax) {
    if (tax > 0) {
      return 1;
    }
    for (final x in items) { print(x); }
    return 0;
  }

  Future<void> load() async => fetch();
}

void main(List<String> args) {
  print('x');
}

enum Kind { a, b }
""",
        [
            "class Cart 3-16",
            "method Cart.total 6-13",
            "method Cart.load 14-16",
            "function main 17-20",
            "enum Kind 21-21",
        ],
    ),
    "shop.R": (
        """\
# Adds up.
total <- function(cart) {
  inner <- 1
  sum(cart)
}

price = function(x) x
setClass("Cart", representation(items = "list"))
""",
        [
            "function total 2-6",
            "function price 7-7",
            "class Cart 8-8",
        ],
    ),
    "Shop.pm": (
        """\
package Shop::Cart;
use strict;

# Adds up.
sub total {
    my ($self) = @_;
    return 1;
}

sub price { 1 }
""",
        [
            "namespace Shop::Cart 1-3",
            "function total 5-9",
            "function price 10-10",
        ],
    ),
    "shop.clj": (
        """\
(ns shop.cart
  (:require [clojure.string :as s]))

(defn total
  "Adds up."
  [cart]
  (reduce + (:items cart)))

(defn- ^:private price [x] x)
(def rate 0.2)
(defprotocol Priced (price-of [this]))
""",
        [
            "namespace shop.cart 1-3",
            "function total 4-8",
            "function price 9-9",
            "variable rate 10-10",
            "interface Priced 11-11",
        ],
    ),
    "schema.sql": (
        """\
-- Carts.
CREATE TABLE IF NOT EXISTS shop.cart (
  id bigint PRIMARY KEY
);

create or replace function total(c bigint) returns bigint as $$
  select 1;
$$ language sql;

CREATE UNIQUE INDEX cart_id ON cart (id);
""",
        [
            "struct shop.cart 2-5",
            "function total 6-9",
            "object cart_id 10-10",
        ],
    ),
    "shop.proto": (
        """\
syntax = "proto3";
package shop;

// A cart.
message Cart {
  repeated int32 items = 1;
  enum Kind { A = 0; }
}

service Shop {
  rpc Total (Cart) returns (Cart);
}
""",
        [
            "namespace shop 2-3",
            "struct Cart 5-9",
            "enum Cart.Kind 7-9",
            "interface Shop 10-12",
            "method Shop.Total 11-12",
        ],
    ),
    "main.tf": (
        """\
terraform {
  required_version = ">= 1"
}

# Where carts are kept.
resource "aws_s3_bucket" "carts" {
  bucket = "carts"
}

variable "region" {
  default = "eu"
}
""",
        [
            "namespace terraform 1-4",
            "object aws_s3_bucket.carts 6-9",
            "variable region 10-12",
        ],
    ),
    "Cart.vue": (
        """\
<template>
  <div>{{ total }}</div>
</template>

<script setup lang="ts">
const total = (items: number[]): number => items.length
export async function load() {
  return 1
}
</script>
""",
        [
            "section template 1-4",
            "section script 5-5",
            "function total 6-6",
            "function load 7-10",
        ],
    ),
    "shop.fish": (
        """\
function total --description 'Adds up'
    math 1 + 1
end
""",
        [
            "function total 1-3",
        ],
    ),
    "shop.ps1": (
        """\
function Get-Total {
    param($Cart)
    1
}
class Cart { }
""",
        [
            "function Get-Total 1-4",
            "class Cart 5-5",
        ],
    ),
    "Makefile": (
        """\
CC = gcc
all: build

build: main.o
	$(CC) -o main main.o

.PHONY: all
""",
        [
            "function all 2-3",
            "function build 4-7",
        ],
    ),
    "CMakeLists.txt": (
        """\
project(shop)
function(add_cart name)
endfunction()
add_library(shop STATIC cart.c)
""",
        [
            "function add_cart 2-3",
            "object shop 4-4",
        ],
    ),
    "Dockerfile": (
        """\
FROM python:3.12 AS build
RUN pip install .

FROM python:3.12-slim
COPY --from=build /app /app
""",
        [
            "section build 1-3",
            "section python:3.12-slim 4-5",
        ],
    ),
    "shop.sol": (
        """\
contract Cart {
    event Added(uint id);
    constructor() {}
    function total(uint x) public returns (uint) { return x; }
}
""",
        [
            "class Cart 1-5",
            "type Cart.Added 2-2",
            "constructor Cart.constructor 3-3",
            "method Cart.total 4-5",
        ],
    ),
    "shop.nim": (
        """\
type
  Cart* = object
    items: seq[int]

proc total*(c: Cart): int =
  1
""",
        [
            "struct Cart 2-4",
            "function total 5-6",
        ],
    ),
    "guide.rst": (
        """\
Carts
=====

Words.

Adding up
---------

More words.
""",
        [
            "section Carts 1-5",
            "section Adding up 6-9",
        ],
    ),
    "guide.org": (
        """\
* Carts
Words.
** Adding up
More.
* Prices
""",
        [
            "section Carts 1-4",
            "section Adding up 3-4",
            "section Prices 5-5",
        ],
    ),
    "query.graphql": (
        """\
type Cart {
  items: [Int]
}

query Total($id: ID!) {
  cart(id: $id) { items }
}
""",
        [
            "struct Cart 1-4",
            "function Total 5-7",
        ],
    ),
    "Cart.m": (
        """\
@interface Cart : NSObject
- (int)total;
@end

@implementation Cart
- (int)total {
  return 1;
}
+ (instancetype)make { return nil; }
@end

static int helper(int x) {
  return x;
}
""",
        [
            "class Cart 1-1",
            "method total 2-4",
            "class Cart 5-5",
            "method total 6-8",
            "method make 9-11",
            "function helper 12-14",
        ],
    ),
    "build.gradle": (
        """\
plugins { id 'java' }
def total(x) {
    x
}
task hello {
}
""",
        [
            "function total 2-4",
            "function hello 5-6",
        ],
    ),
    "shop.sv": (
        """\
module cart #(parameter N = 1) (input clk);
  function automatic int total(int x);
    return x;
  endfunction
endmodule
""",
        [
            "class cart 1-5",
            "method cart.total 2-5",
        ],
    ),
    "shop.pyx": (
        """\
cdef class Cart:
    cpdef int total(self):
        return 1

def price(x):
    return x
""",
        [
            "class Cart 1-4",
            "method Cart.total 2-4",
            "function price 5-6",
        ],
    ),
    "shop.el": (
        """\
(defun total (cart)
  "Adds up."
  1)
(defvar rate 0.2)
""",
        [
            "function total 1-3",
            "variable rate 4-4",
        ],
    ),
    "shop.asm": (
        """\
section .text
total:
    mov eax, 1
    ret
""",
        [
            "function total 2-4",
        ],
    ),
    "notes.txt": (
        """\
def is just a word here
and class another
""",
        [],
    ),
}
"""A file of each language, and what its lines define: kind, name and lines."""


@pytest.mark.shows("FACT-LINES")
@pytest.mark.parametrize("path", SAMPLES)
def test_lines_that_define_something_are_found(path: str) -> None:
    text, truth = SAMPLES[path]
    found = extract(path, text.encode())
    assert found.guessed
    assert [
        f"{s.kind} {s.qualified} {s.span.first_line}-{s.span.last_line}" for s in found.symbols
    ] == truth
    assert decode(encode(found)) == found


@pytest.mark.shows("FACT-LINES", "FACT-CHUNKS")
@pytest.mark.parametrize("path", SAMPLES)
def test_chunks_are_cut_there_and_cover_the_file(path: str) -> None:
    source = (SAMPLES[path][0] * 40).encode()
    found = extract(path, source)
    assert b"".join(source[c.span.start : c.span.end] for c in found.chunks) == source
    if SAMPLES[path][1] and "namespace" not in SAMPLES[path][1][0]:
        assert any(c.owner != MODULE for c in found.chunks)
    for chunk in found.chunks:
        if chunk.owner != MODULE:
            owner = found.symbols[chunk.owner].span
            assert owner.first_line <= chunk.span.last_line
            assert chunk.span.first_line <= owner.last_line


@pytest.mark.shows("FACT-LINES")
def test_every_language_of_the_table_has_a_sample() -> None:
    from holdfast.index.facts.languages.by_lines import kind_of_file

    told = {kind_of_file(path) for path in SAMPLES}
    assert set(TABLE) - told <= {
        "awk",
        "batch",
        "css",
        *OPTIONAL,  # By lines only where the grammar is missing, see test_optional_grammars.py.
        "just",
        "nix",
        "starlark",
        "tex",
        "vim",
        "asciidoc",
    }


@pytest.mark.shows("FACT-LINES")
@pytest.mark.parametrize(
    ("path", "text", "name"),
    [
        ("a.awk", "function total(x) {\n}\n", "total"),
        ("a.bat", ":total\necho 1\n", "total"),
        ("a.scss", "@mixin total($x) {\n}\n", "total"),
        ("justfile", "total x:\n  echo 1\n", "total"),
        ("a.nix", "total = { lib, ... }:\n  lib\n", "total"),
        ("a.bzl", "def total(x):\n    pass\n", "total"),
        ("a.tex", "\\section{Adding up}\n", "Adding up"),
        ("a.vim", "function! Total() abort\nendfunction\n", "Total"),
        ("a.adoc", "== Adding up\n\nWords.\n", "Adding up"),
    ],
)
def test_small_languages_have_one_kind_of_line(path: str, text: str, name: str) -> None:
    assert [s.name for s in extract(path, text.encode()).symbols] == [name]


@pytest.mark.shows("FACT-LINES")
@pytest.mark.parametrize("path", SAMPLES)
@pytest.mark.parametrize(
    "text",
    ["a " * 20_000, "(" * 40_000, "*" * 40_000, "def a(\n" * 10_000, "\t" * 40_000, "\n" * 9],
)
def test_hostile_lines_are_only_text(path: str, text: str) -> None:
    """A pattern that goes back and forth would not come to an end here."""
    source = text.encode()
    found = extract(path, source)
    assert b"".join(source[c.span.start : c.span.end] for c in found.chunks) == source


@pytest.mark.shows("FACT-LINES", "INDEX-NO-FACTS")
def test_a_guess_is_found_by_its_name_and_never_taken_for_a_fact(world: World) -> None:
    world.index.extract = extract
    text, _ = SAMPLES["shop.dart"]
    body = "".join(f"    step_{number}(cart);\n" for number in range(80))
    world.write("lib/shop.dart", text.replace("    return 0;\n", body))
    world.write("notes.txt", "words about carts\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    found: Any = search_code(world.index, world.root, "step_7 shop total", result_mode="raw")
    best = found["results"][0]
    assert (best["file"], best["symbolLabel"], best["symbolId"]) == (
        "lib/shop.dart", "Cart.total", None,
    )  # fmt: skip
    assert best["language"] == "dart"
    grouped: Any = search_code(world.index, world.root, "step_7 shop total")
    assert grouped["results"][0]["symbolLabel"] == "Cart.total"
    assert grouped["results"][0]["callGraphHint"]["supported"] is False
    # Asked for by name too: a reference that call_graph refuses is none.
    by_name: Any = search_code(world.index, world.root, "sym:Cart.total")
    assert (by_name["results"][0]["symbolLabel"], by_name["results"][0]["symbolId"]) == (
        "Cart.total", None,
    )  # fmt: skip
    assert by_name["results"][0]["callGraphHint"]["supported"] is False
    for file, what in (("lib/shop.dart", "files in dart"), ("notes.txt", "plain text")):
        answer = file_outline(world.index, world.root, file)
        assert (answer["status"], answer["outline"]) == ("unsupported", None)
        assert what in answer["message"]
        graph = call_graph(world.index, world.root, {"file": file, "symbolLabel": "total"})
        assert (graph["status"], graph["supported"], graph["nodes"]) == ("unsupported", False, [])
        assert graph["reason"] == "unsupported_language"


@pytest.mark.shows("INDEX-NO-FACTS")
def test_a_document_has_an_outline_and_no_calls(world: World) -> None:
    world.index.extract = extract
    world.write("guide.md", "# Carts\n\nWords.\n")
    assert manage_index(world.index, "create", world.root)["status"] == "ok"
    answer: Any = file_outline(world.index, world.root, "guide.md")
    (section,) = answer["outline"]["symbols"]
    assert section["symbolLabel"] == "Carts"
    assert section["callGraphHint"] == {"supported": False, "reason": "unsupported_language"}
    found: Any = search_code(world.index, world.root, "sym:Carts", scope="docs")
    assert found["results"][0]["callGraphHint"] == section["callGraphHint"]
    graph = call_graph(world.index, world.root, {"file": "guide.md", "symbolLabel": "Carts"})
    assert (graph["status"], graph["reason"]) == ("unsupported", "unsupported_language")
    assert "markdown has an outline and no call graph" in graph["message"]
