"""What we know of Rust, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "an associated type": """
        // --- src/shop.rs
        trait Shop {
            type Cart;
            // ^ defines type Shop.Cart
        }
        """,
    "a function of the same file": """
        // --- src/main.rs
        fn total() {}
        // ^ defines function total
        fn main() { total(); }
        // ^ calls crate.total by same file
        """,
    "a module declared beside": """
        // --- src/shop.rs
        pub fn total() {}
        // --- src/main.rs
        mod shop;
        // ^ imports self.shop as shop
        fn main() { shop::total(); }
        // ^ calls shop.total
        """,
    "a path from the crate": """
        // --- src/shop/cart.rs
        pub fn total() {}
        // --- src/shop/mod.rs
        pub mod cart;
        // --- src/lib.rs
        mod shop;
        fn go() { crate::shop::cart::total(); }
        // ^ calls shop.cart.total
        """,
    "a use": """
        // --- src/shop.rs
        pub fn total() {}
        // --- src/web.rs
        use crate::shop::total;
        // ^ imports crate.shop:total
        fn go() { total(); }
        // ^ calls shop.total by import
        """,
    "a use under another name": """
        // --- src/shop.rs
        pub fn total() {}
        // --- src/web.rs
        use crate::shop::total as sum_up;
        // ^ imports crate.shop:total as sum_up
        fn go() { sum_up(); }
        // ^ calls shop.total
        """,
    "a group of uses": """
        // --- src/shop.rs
        pub fn total() {}
        pub struct Cart;
        // --- src/web.rs
        use crate::shop::{self, total, Cart as Basket};
        // ^ imports crate:shop
        // ^ imports crate.shop:total
        // ^ imports crate.shop:Cart as Basket
        fn go() { shop::total(); total(); }
        // ^ calls shop.total
        """,
    "nested groups": """
        // --- src/lib.rs
        use std::{collections::{HashMap, BTreeMap as Tree}, fmt};
        // ^ imports std.collections:HashMap
        // ^ imports std.collections:BTreeMap as Tree
        // ^ imports std:fmt
        """,
    "everything from a module": """
        // --- src/shop.rs
        pub fn total() {}
        // --- src/web.rs
        use crate::shop::*;
        // ^ imports crate.shop:*
        fn go() { total(); }
        // ^ calls shop.total by wildcard import
        """,
    "a path from the parent": """
        // --- src/shop/mod.rs
        pub fn helper() {}
        pub mod cart;
        // --- src/shop/cart.rs
        use super::helper;
        fn go() { helper(); super::helper(); }
        // ^ calls shop.helper
        """,
    "a re-export": """
        // --- src/shop/cart.rs
        pub fn total() {}
        // --- src/shop/mod.rs
        mod cart;
        pub use self::cart::total;
        // --- src/lib.rs
        mod shop;
        fn go() { shop::total(); }
        // ^ calls shop.cart.total by re-export
        """,
    "another crate of the workspace": """
        // --- crates/shop-core/src/lib.rs
        pub fn total() {}
        // --- crates/web/src/main.rs
        use shop_core::total;
        fn main() { total(); shop_core::total(); }
        // ^ calls crates.shop-core.crate.total
        """,
    "the standard library is external": """
        // --- src/main.rs
        use std::fs;
        fn main() { fs::read("a"); }
        // ^ external std.fs.read
        """,
    "a module within the file": """
        // --- src/lib.rs
        mod inner {
            // ^ defines namespace inner
            pub fn helper() {}
            // ^ defines function inner.helper
            fn go() { helper(); }
            // ^ calls crate.inner.helper
        }
        fn go() { inner::helper(); }
        // ^ calls crate.inner.helper
        """,
    "an associated function": """
        // --- src/lib.rs
        pub struct Cart;
        // ^ defines struct Cart
        impl Cart {
            pub fn new() -> Self { Cart }
            // ^ defines method Cart.new
            // ^ inside Cart
        }
        fn go() { Cart::new(); }
        // ^ calls crate.Cart.new
        """,
    "a method of self": """
        // --- src/lib.rs
        struct Cart;
        impl Cart {
            fn price(&self) {}
            fn total(&self) { self.price(); Self::price(self); }
            // ^ calls crate.Cart.price
        }
        """,
    "a variable made by new": """
        // --- src/lib.rs
        struct Cart;
        impl Cart {
            fn new() -> Self { Cart }
            fn total(&self) {}
        }
        fn go() {
            let mut cart = Cart::new();
            cart.total();
            // ^ calls crate.Cart.total by assigned from a call
        }
        """,
    "a struct literal": """
        // --- src/lib.rs
        struct Cart { n: u8 }
        impl Cart { fn total(&self) {} }
        fn go() {
            let cart = Cart { n: 1 };
            cart.total();
            // ^ calls crate.Cart.total
        }
        """,
    "a declared variable": """
        // --- src/lib.rs
        struct Cart;
        impl Cart { fn total(&self) {} }
        fn go(x: u8) {
            let cart: Cart = load(x);
            cart.total();
            // ^ calls crate.Cart.total by declared type
        }
        """,
    "a borrowed parameter": """
        // --- src/lib.rs
        struct Cart;
        impl Cart { fn total(&self) {} }
        fn a(cart: &Cart) { cart.total(); }
        // ^ calls crate.Cart.total by declared type
        fn b(cart: &mut Cart) { cart.total(); }
        // ^ calls crate.Cart.total
        fn c<'a>(cart: &'a Cart) { cart.total(); }
        // ^ calls crate.Cart.total
        """,
    "a box holds what it holds": """
        // --- src/lib.rs
        struct Cart;
        impl Cart { fn total(&self) {} }
        fn go(cart: Box<Cart>, other: Arc<Cart>) { cart.total(); other.total(); }
        // ^ calls crate.Cart.total
        """,
    "a field": """
        // --- src/lib.rs
        struct Repo;
        impl Repo { fn store(&self) {} }
        struct Cart { repo: Repo }
        impl Cart { fn save(&self) { self.repo.store(); } }
        // ^ calls crate.Repo.store by field type
        """,
    "a method defined in another file": """
        // --- src/cart.rs
        pub struct Cart;
        // --- src/price.rs
        use crate::cart::Cart;
        impl Cart { pub fn price(&self) {} }
        // --- src/lib.rs
        use crate::cart::Cart;
        fn go(cart: &Cart) { cart.price(); }
        // ^ calls price.Cart.price
        """,
    "a method that the trait gives": """
        // --- src/lib.rs
        trait Shape {
            // ^ defines trait Shape
            fn area(&self) -> f64;
            // ^ defines method Shape.area
            fn show(&self) { self.area(); }
            // ^ calls crate.Shape.area
        }
        struct Square;
        impl Shape for Square {
            // ^ inherits Shape
            fn area(&self) -> f64 { 1.0 }
            // ^ defines method Square.area
        }
        fn go(s: &Square) { s.show(); s.area(); }
        // ^ calls crate.Shape.show
        // ^ calls crate.Square.area
        """,
    "a trait object": """
        // --- src/lib.rs
        trait Shape { fn area(&self) -> f64; }
        fn go(s: &dyn Shape) { s.area(); }
        // ^ calls crate.Shape.area
        fn more(s: Box<dyn Shape>) { s.area(); }
        // ^ calls crate.Shape.area
        fn most(s: impl Shape) { s.area(); }
        // ^ calls crate.Shape.area
        """,
    "a trait above a trait": """
        // --- src/lib.rs
        trait Base { fn price(&self); }
        trait Shape: Base + Clone { fn area(&self) { self.price(); } }
        // ^ inherits Base
        // ^ calls crate.Base.price
        """,
    "the declared result of a function": """
        // --- src/lib.rs
        struct Cart;
        impl Cart { fn total(&self) {} }
        fn make(n: u8) -> Cart { Cart }
        fn go() { make(1).total(); }
        // ^ calls crate.make
        // ^ calls crate.Cart.total
        """,
    "a macro and the calls inside it": """
        // --- src/lib.rs
        macro_rules! check { () => {} }
        // ^ defines macro check
        fn total() -> u8 { 1 }
        fn go() {
            check!();
            // ^ calls crate.check
            assert_eq!(total(), 1);
            // ^ calls crate.total
        }
        """,
    "a turbofish": """
        // --- src/lib.rs
        fn pick<T>(a: T) -> T { a }
        fn go() { pick::<u8>(1); }
        // ^ calls crate.pick
        """,
    "a parameter shadows a function": """
        // --- src/lib.rs
        fn work() {}
        fn go(work: fn()) {
            work();
            // ^ unresolved
        }
        """,
    "constants, statics, aliases, enums": """
        // --- src/lib.rs
        pub const LIMIT: u8 = 1;
        // ^ defines constant LIMIT
        static NAME: &str = "a";
        // ^ defines variable NAME
        type Pair = (u8, u8);
        // ^ defines type Pair
        pub enum Colour { Red }
        // ^ defines enum Colour
        fn private() {}
        // ^ hidden
        """,
    "comments in front, over attributes": """
        // --- src/lib.rs
        /// Adds it up.
        #[inline]
        pub fn total() {}
        // ^ doc Adds it up.
        """,
    "signatures": """
        // --- src/lib.rs
        pub async fn total<T: Clone>(a: &T, n: u8) -> Result<u8, Error> { Ok(1) }
        // ^ signature pub async fn total<T: Clone>(a: &T, n: u8) -> Result<u8, Error>
        """,
    "methods of unknown receivers are leads, not answers": """
        // --- src/lib.rs
        struct A;
        impl A { fn settle(&self) {} }
        struct B;
        impl B { fn settle(&self) {} }
        fn go<T: Any>(x: T) { x.settle(); }
        // ^ ambiguous crate.A.settle, crate.B.settle
        """,
    "two modules with one function name": """
        // --- src/a.rs
        pub fn run() {}
        // --- src/b.rs
        pub fn run() {}
        // --- src/main.rs
        mod a;
        mod b;
        fn main() { b::run(); }
        // ^ calls b.run
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-RUST")
def test_rust(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
