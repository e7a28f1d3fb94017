"""What we know of Swift, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of another file": """
        // --- a.swift
        func help(a: Int) -> Int { return a }
        // ^ defines function help
        // ^ signature func help(a: Int) -> Int
        // --- b.swift
        func go() { help(a: 1) }
        // ^ calls help by same package
        """,
    "methods of self": """
        // --- cart.swift
        class Cart {
            // ^ defines class Cart
            func price() -> Int { return 1 }
            // ^ defines method Cart.price
            func total() -> Int { return self.price() }
            // ^ calls Cart.price by self
            func more() -> Int { return price() }
            // ^ calls Cart.price
        }
        """,
    "an initialiser": """
        // --- cart.swift
        class Cart {
            init(n: Int) { }
            // ^ defines constructor Cart.init
        }
        func make() -> Cart { return Cart(n: 1) }
        // ^ calls Cart.init
        """,
    "an inherited method and super": """
        // --- cart.swift
        class Base {
            func price() -> Int { return 1 }
        }
        class Cart: Base {
            // ^ inherits Base
            override func price() -> Int { return super.price() }
            // ^ calls Base.price by super
        }
        """,
    "a declared property": """
        // --- cart.swift
        class Repo {
            func store() { }
        }
        class Cart {
            let repo: Repo
            // ^ defines property Cart.repo
            func save() { repo.store() }
            // ^ calls Repo.store
        }
        """,
    "parameters and values": """
        // --- cart.swift
        struct Item {
            // ^ defines struct Item
            func price() -> Int { return 1 }
        }
        func go(_ item: Item?) {
            item?.price()
            // ^ calls Item.price by declared type
            let made = Item()
            made.price()
            // ^ calls Item.price by assigned from a call
        }
        """,
    "an extension in another file": """
        // --- cart.swift
        class Cart { }
        // --- more.swift
        extension Cart: Thing {
            func total() { }
            // ^ defines method Cart.total
        }
        // --- main.swift
        func go(cart: Cart) { cart.total() }
        // ^ calls Cart.total
        """,
    "a protocol": """
        // --- cart.swift
        protocol Thing {
            // ^ defines interface Thing
            func go(a: Int)
            // ^ defines method Thing.go
        }
        func run(t: Thing) { t.go(a: 1) }
        // ^ calls Thing.go
        """,
    "kinds and comments": """
        // --- cart.swift
        /// A colour.
        enum Colour { case red }
        // ^ defines enum Colour
        // ^ doc A colour.
        typealias Name = String
        // ^ defines type Name
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-SWIFT")
def test_swift(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
