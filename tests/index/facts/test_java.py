"""What we know of Java, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a method of the same class": """
        // --- Cart.java
        package shop;
        class Cart {
            // ^ defines class Cart
            int price() { return 1; }
            // ^ defines method Cart.price
            int total() { return price(); }
            // ^ calls shop.Cart.price
        }
        """,
    "this": """
        // --- Cart.java
        package shop;
        class Cart {
            int price() { return 1; }
            int total() { return this.price(); }
            // ^ calls shop.Cart.price by this
        }
        """,
    "a class of the same package": """
        // --- shop/Util.java
        package shop;
        class Util { static void help() {} }
        // --- shop/Cart.java
        package shop;
        class Cart { void go() { Util.help(); } }
        // ^ calls shop.Util.help by same package
        """,
    "an imported class": """
        // --- a/Util.java
        package a;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        import a.Util;
        // ^ imports a:Util
        class Cart { void go() { Util.help(); } }
        // ^ calls a.Util.help by import
        """,
    "everything from a package": """
        // --- a/Util.java
        package a;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        import a.*;
        // ^ imports a:*
        class Cart { void go() { Util.help(); } }
        // ^ calls a.Util.help by wildcard import
        """,
    "a static import": """
        // --- a/Util.java
        package a;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        import static a.Util.help;
        // ^ imports a.Util:help
        class Cart { void go() { help(); } }
        // ^ calls a.Util.help by import
        """,
    "everything static from a class": """
        // --- a/Util.java
        package a;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        import static a.Util.*;
        class Cart { void go() { help(); } }
        // ^ calls a.Util.help by wildcard import
        """,
    "a full name": """
        // --- a/Util.java
        package a.deep;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        class Cart { void go() { a.deep.Util.help(); } }
        // ^ calls a.deep.Util.help by full name
        """,
    "the platform is external": """
        // --- Cart.java
        package shop;
        import java.util.List;
        class Cart { void go() { List.of(1); } }
        // ^ external java.util.List.of
        """,
    "a class of another package is not seen": """
        // --- a/Util.java
        package a;
        public class Util { public static void help() {} }
        // --- b/Cart.java
        package b;
        class Cart { void go() { Util.help(); } }
        // ^ calls a.Util.help by only method of that name
        """,
    "a constructor": """
        // --- Cart.java
        package shop;
        class Item { Item(int n) {} }
        // ^ defines constructor Item.Item
        class Cart { Item make() { return new Item(1); } }
        // ^ calls shop.Item.Item
        """,
    "a class without a constructor": """
        // --- Cart.java
        package shop;
        class Item {}
        class Cart { Item make() { return new Item(); } }
        // ^ calls shop.Item
        """,
    "overloads by the number of arguments": """
        // --- Cart.java
        package shop;
        class Cart {
            void add(int a) {}
            void add(int a, int b) {}
            void go() { add(1, 2); }
            // ^ calls shop.Cart.add
        }
        """,
    "overloads of one length are ambiguous": """
        // --- Cart.java
        package shop;
        class Cart {
            void add(int a) {}
            void add(String a) {}
            void go() { add(x); }
            // ^ ambiguous shop.Cart.add, shop.Cart.add
        }
        """,
    "an inherited method": """
        // --- Base.java
        package shop;
        class Base { int price() { return 1; } }
        // --- Cart.java
        package shop;
        class Cart extends Base {
            // ^ inherits Base
            int total() { return price() + this.price(); }
            // ^ calls shop.Base.price by inherited
        }
        """,
    "an inherited method from an imported class": """
        // --- a/Base.java
        package a;
        public class Base { protected int price() { return 1; } }
        // --- b/Cart.java
        package b;
        import a.Base;
        class Cart extends Base { int total() { return price(); } }
        // ^ calls a.Base.price
        """,
    "super": """
        // --- Cart.java
        package shop;
        class Base { Base(int n) {} int price() { return 1; } }
        class Cart extends Base {
            Cart() { super(1); }
            // ^ calls shop.Base.Base by super
            int price() { return super.price(); }
            // ^ calls shop.Base.price by super
        }
        """,
    "a default method of an interface": """
        // --- Cart.java
        package shop;
        interface Priced { default int price() { return 1; } }
        // ^ defines interface Priced
        class Cart implements Priced { int total() { return price(); } }
        // ^ inherits Priced
        // ^ calls shop.Priced.price
        """,
    "interfaces above interfaces": """
        // --- Cart.java
        package shop;
        interface A { void a(); }
        interface B extends A {}
        // ^ inherits A
        class Cart { void go(B b) { b.a(); } }
        // ^ calls shop.A.a
        """,
    "a declared field": """
        // --- Cart.java
        package shop;
        class Repo { void store() {} }
        class Cart {
            private final Repo repo;
            void save() { repo.store(); this.repo.store(); }
            // ^ calls shop.Repo.store by field type
        }
        """,
    "an inherited field": """
        // --- Cart.java
        package shop;
        class Repo { void store() {} }
        class Base { protected Repo repo; }
        class Cart extends Base { void save() { repo.store(); } }
        // ^ calls shop.Repo.store
        """,
    "a declared parameter": """
        // --- Cart.java
        package shop;
        class Item { int price() { return 1; } }
        class Cart { int total(final Item item, int n) { return item.price(); } }
        // ^ calls shop.Item.price by declared type
        """,
    "a declared local": """
        // --- Cart.java
        package shop;
        class Item { int price() { return 1; } }
        class Cart { void go() {
            Item item = find();
            item.price();
            // ^ calls shop.Item.price by declared type
        } }
        """,
    "var takes the type of its value": """
        // --- Cart.java
        package shop;
        class Item { int price() { return 1; } }
        class Cart { void go() {
            var item = new Item();
            item.price();
            // ^ calls shop.Item.price by assigned from a call
        } }
        """,
    "a loop variable": """
        // --- Cart.java
        package shop;
        class Item { int price() { return 1; } }
        class Cart { void go(java.util.List<Item> items) {
            for (Item item : items) { item.price(); }
            // ^ calls shop.Item.price
        } }
        """,
    "a resource": """
        // --- Cart.java
        package shop;
        class Conn { void ping() {} }
        class Cart { void go() {
            try (Conn conn = open()) { conn.ping(); }
            // ^ unresolved
            // ^ calls shop.Conn.ping
        } }
        """,
    "the declared result of a method": """
        // --- Cart.java
        package shop;
        class Item { Item next() { return this; } int price() { return 1; } }
        class Cart { int go(Item a) { return a.next().next().price(); } }
        // ^ calls shop.Item.next
        // ^ calls shop.Item.price
        """,
    "a builder": """
        // --- Cart.java
        package shop;
        class Cart {
            static Builder builder() { return new Builder(); }
            // ^ calls shop.Cart.Builder
            static class Builder {
                // ^ defines class Cart.Builder
                Builder size(int n) { return this; }
                Cart build() { return null; }
            }
        }
        class Main { void go() { Cart.builder().size(1).build(); } }
        // ^ calls shop.Cart.builder
        // ^ calls shop.Cart.Builder.size
        // ^ calls shop.Cart.Builder.build
        """,
    "an inner class sees the outer one": """
        // --- Cart.java
        package shop;
        class Cart {
            void help() {}
            class Line { void go() { help(); } }
            // ^ calls shop.Cart.help
        }
        """,
    "a method reference": """
        // --- Cart.java
        package shop;
        class Cart {
            static void help() {}
            void go() { run(Cart::help, this::go); }
            // ^ calls shop.Cart.help
            // ^ calls shop.Cart.go
        }
        """,
    "records": """
        // --- Cart.java
        package shop;
        class Item { int price() { return 1; } }
        record Line(Item item, int n) { int total() { return item.price(); } }
        // ^ defines class Line
        // ^ calls shop.Item.price
        """,
    "enums, constants and annotations": """
        // --- Cart.java
        package shop;
        enum Colour { RED; void paint() {} }
        // ^ defines enum Colour
        @interface Marked {}
        // ^ defines interface Marked
        class Cart { public static final int LIMIT = 3; }
        // ^ defines constant Cart.LIMIT
        """,
    "comments in front and visibility": """
        // --- Cart.java
        package shop;
        /**
         * A basket.
         */
        @Service
        // ^ doc A basket.
        public class Cart {
            private void secret() {}
            // ^ hidden
        }
        """,
    "signatures": """
        // --- Cart.java
        package shop;
        class Cart<T> extends Base<T> implements A, b.B {
            // ^ signature class Cart<T> extends Base<T> implements A, b.B
            // ^ inherits Base
            // ^ inherits b.B
            public <R> R map(Function<T, R> f, int... n) throws E { return null; }
            // ^ signature public <R> R map(Function<T, R> f, int... n) throws E
        }
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-JAVA")
def test_java(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
