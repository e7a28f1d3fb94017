"""What we know of Scala, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a method of the same object": """
        // --- shop.scala
        package shop
        object Shop {
          // ^ defines object Shop
          def total(a: Int): Int = a
          // ^ defines method Shop.total
          def go(): Int = total(1)
          // ^ calls shop.Shop.total
        }
        """,
    "imports with a rename": """
        // --- a.scala
        package core
        object Util { def help(): Unit = {} }
        // --- b.scala
        package web
        import core.{Util => U, Other}
        // ^ imports core:Util as U
        // ^ imports core:Other
        object Main { def go(): Unit = U.help() }
        // ^ calls core.Util.help by alias
        """,
    "everything from a package": """
        // --- a.scala
        package core
        object Util { def help(): Unit = {} }
        // --- b.scala
        package web
        import core._
        // ^ imports core:*
        object Main { def go(): Unit = Util.help() }
        // ^ calls core.Util.help by wildcard import
        """,
    "inherited methods, traits and super": """
        // --- cart.scala
        package shop
        class Base { def price(): Int = 1; def tax(): Int = 1 }
        trait Named { def name(): String = "a" }
        // ^ defines trait Named
        class Cart extends Base with Named {
          // ^ inherits Base
          // ^ inherits Named
          def total(): Int = this.tax()
          // ^ calls shop.Base.tax
          def show(): String = name()
          // ^ calls shop.Named.name
          override def price(): Int = super.price()
          // ^ calls shop.Base.price by super
        }
        """,
    "a parameter of the class": """
        // --- cart.scala
        package shop
        class Repo { def store(): Unit = {} }
        class Cart(val repo: Repo, n: Int) {
          def save(): Unit = repo.store()
          // ^ calls shop.Repo.store
        }
        """,
    "new and values": """
        // --- cart.scala
        package shop
        class Item(n: Int) { def price(): Int = 1 }
        object Main {
          def go(): Int = {
            val item = new Item(1)
            // ^ calls shop.Item
            item.price()
            // ^ calls shop.Item.price by assigned from a call
          }
        }
        """,
    "a declared parameter and a declared result": """
        // --- cart.scala
        package shop
        class Item { def price(): Int = 1 }
        object Main {
          def make(n: Int): Item = null
          def go(item: Item): Int = item.price()
          // ^ calls shop.Item.price by declared type
          def more(): Int = make(1).price()
          // ^ calls shop.Main.make
          // ^ calls shop.Item.price
        }
        """,
    "kinds and comments": """
        // --- cart.scala
        package shop
        /** A line. */
        case class Line(n: Int)
        // ^ defines class Line
        // ^ doc A line.
        object Names {
          type Name = String
          // ^ defines type Names.Name
          val limit = 3
          // ^ defines property Names.limit
        }
        """,
    "Java and Scala see each other": """
        // --- Util.java
        package core;
        public class Util { public static void help() {} }
        // --- main.scala
        package web
        import core.Util
        object Main { def go(): Unit = Util.help() }
        // ^ calls core.Util.help
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-SCALA")
def test_scala(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
