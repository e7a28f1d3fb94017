"""What we know of Kotlin, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        // --- shop.kt
        package shop
        fun total(a: Int): Int = a
        // ^ defines function total
        // ^ signature fun total(a: Int): Int
        fun go() {
            total(1)
            // ^ calls shop.total
        }
        """,
    "a function of the same package": """
        // --- a.kt
        package shop
        fun help() {}
        // --- b.kt
        package shop
        fun go() {
            help()
            // ^ calls shop.help by same package
        }
        """,
    "imports": """
        // --- a.kt
        package shop.core
        fun help() {}
        class Util
        // --- b.kt
        package web
        import shop.core.help as aid
        // ^ imports shop.core:help as aid
        import shop.core.*
        // ^ imports shop.core:*
        fun go() {
            aid()
            // ^ calls shop.core.help by alias
            Util()
            // ^ calls shop.core.Util by wildcard import
        }
        """,
    "methods, this and super": """
        // --- Cart.kt
        package shop
        open class Base(n: Int) {
            open fun price(): Int = 1
        }
        class Cart(n: Int) : Base(n), Thing {
            // ^ inherits Base
            // ^ inherits Thing
            fun total(): Int {
                return price()
                // ^ calls shop.Cart.price
            }
            override fun price(): Int = super.price()
            // ^ calls shop.Base.price by super
        }
        """,
    "a property of the constructor": """
        // --- Cart.kt
        package shop
        class Repo {
            fun store() {}
        }
        class Cart(private val repo: Repo) {
            fun save() {
                repo.store()
                // ^ calls shop.Repo.store
                this.repo.store()
                // ^ calls shop.Repo.store
            }
        }
        """,
    "declared and inferred values": """
        // --- Cart.kt
        package shop
        class Item {
            fun price() = 1
        }
        fun go(given: Item?) {
            given?.price()
            // ^ calls shop.Item.price by declared type
            val made = Item()
            made.price()
            // ^ calls shop.Item.price by assigned from a call
        }
        """,
    "a companion and an object": """
        // --- Cart.kt
        package shop
        class Cart {
            companion object {
                // ^ defines object Cart.Companion
                fun of(): Cart = Cart()
            }
            fun total() {}
        }
        object Shop {
            // ^ defines object Shop
            fun open() {}
        }
        fun go() {
            Cart.of().total()
            // ^ calls shop.Cart.Companion.of
            // ^ calls shop.Cart.total
            Shop.open()
            // ^ calls shop.Shop.open
        }
        """,
    "an extension function": """
        // --- Cart.kt
        package shop
        class Cart
        fun Cart.total(n: Int): Int = n
        // ^ defines method Cart.total
        fun go(cart: Cart) {
            cart.total(1)
            // ^ calls shop.Cart.total
        }
        """,
    "kinds and comments": """
        // --- Cart.kt
        package shop
        /** A thing. */
        interface Thing {
            // ^ defines interface Thing
            // ^ doc A thing.
            fun go()
        }
        enum class Colour { RED, BLUE }
        // ^ defines enum Colour
        typealias Name = String
        // ^ defines type Name
        const val LIMIT = 3
        // ^ defines constant LIMIT
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-KOTLIN")
def test_kotlin(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
