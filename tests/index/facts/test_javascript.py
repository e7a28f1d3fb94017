"""What we know of JavaScript, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function that is assigned to an element, and a value of a prototype": """
        // --- shop.js
        makers[1] = function makeOne() { total(); };
        // ^ defines function makeOne
        function total() {}
        function Cart() {}
        Cart.prototype.last = Cart.prototype.first;
        // ^ defines property Cart.last
        """,
    "a function of the same file": """
        // --- shop.js
        function total() {}
        // ^ defines function total
        function checkout() { total(); }
        // ^ calls shop.total by same file
        """,
    "a named import": """
        // --- shop.js
        export function total() {}
        // --- main.js
        import { total } from './shop';
        // ^ imports ./shop:total
        total();
        // ^ calls shop.total by import
        """,
    "a named import under another name": """
        // --- shop.js
        export function total() {}
        // --- main.js
        import { total as sumUp } from './shop.js';
        // ^ imports ./shop.js:total as sumUp
        sumUp();
        // ^ calls shop.total by alias
        """,
    "a namespace import": """
        // --- lib/shop.js
        export function total() {}
        // --- main.js
        import * as shop from './lib/shop';
        // ^ imports ./lib/shop as shop
        shop.total();
        // ^ calls lib.shop.total
        """,
    "a default export that has a name": """
        // --- shop.js
        export default function total() {}
        // --- main.js
        import anything from './shop';
        // ^ imports ./shop:default as anything
        anything();
        // ^ calls shop.total
        """,
    "a default export without a name": """
        // --- shop.js
        export default () => 1;
        // ^ defines function default
        // --- main.js
        import anything from './shop';
        anything();
        // ^ calls shop.default
        """,
    "a default export of something defined above": """
        // --- shop.js
        class Cart { total() {} }
        export default Cart;
        // --- main.js
        import Basket from './shop';
        new Basket().total();
        // ^ calls shop.Cart
        // ^ calls shop.Cart.total
        """,
    "an export under another name": """
        // --- shop.js
        function total() {}
        export { total as sum };
        // --- main.js
        import { sum } from './shop';
        sum();
        // ^ calls shop.total
        """,
    "a re-export by name": """
        // --- lib/shop.js
        export function total() {}
        // --- lib/index.js
        export { total as sum } from './shop';
        // ^ imports ./shop:total as sum
        // --- main.js
        import { sum } from './lib';
        sum();
        // ^ calls lib.shop.total by re-export
        """,
    "a re-export of everything": """
        // --- lib/shop.js
        export function total() {}
        // --- lib/index.js
        export * from './shop';
        // ^ imports ./shop:*
        // --- main.js
        import { total } from './lib';
        total();
        // ^ calls lib.shop.total by re-export
        """,
    "a re-export of everything under one name": """
        // --- lib/shop.js
        export function total() {}
        // --- lib/index.js
        export * as shop from './shop';
        // --- main.js
        import { shop } from './lib';
        shop.total();
        // ^ calls lib.shop.total
        """,
    "an imported name exported again": """
        // --- lib/shop.js
        export function total() {}
        // --- lib/index.js
        import { total } from './shop';
        export { total };
        // --- main.js
        import { total } from './lib/index.js';
        total();
        // ^ calls lib.shop.total by re-export
        """,
    "require": """
        // --- shop.js
        exports.total = function () {};
        // ^ defines function total
        // --- main.js
        const shop = require('./shop');
        // ^ imports ./shop as shop
        shop.total();
        // ^ calls shop.total
        """,
    "require taken apart": """
        // --- shop.js
        function total() {}
        module.exports = { total, sum: total };
        // --- main.js
        const { total, sum: add } = require('./shop');
        // ^ imports ./shop:total
        // ^ imports ./shop:sum as add
        total();
        // ^ calls shop.total
        add();
        // ^ calls shop.total
        """,
    "module.exports is one class": """
        // --- cart.js
        class Cart { total() {} }
        module.exports = Cart;
        // --- main.js
        const Cart = require('./cart');
        const cart = new Cart();
        // ^ calls cart.Cart
        cart.total();
        // ^ calls cart.Cart.total by assigned from a call
        """,
    "a package is external": """
        // --- main.js
        import express, { Router } from 'express';
        // ^ imports express:default as express
        express();
        // ^ external express.default
        Router();
        // ^ external express.Router
        """,
    "a package of the same workspace": """
        // --- packages/shop/package.json
        {"name": "@acme/shop"}
        // --- packages/shop/src/index.js
        export function total() {}
        // --- packages/web/main.js
        import { total } from '@acme/shop';
        total();
        // ^ calls packages.shop.src.total
        """,
    "an arrow function": """
        // --- shop.js
        export const total = async (a) => a;
        // ^ defines function total
        const go = () => total(1);
        // ^ calls shop.total
        """,
    "methods, accessors and fields of a class": """
        // --- shop.js
        class Cart {
          // ^ defines class Cart
          constructor(x) {}
          // ^ defines constructor Cart.constructor
          get size() { return 1; }
          // ^ defines property Cart.size
          static make() {}
          // ^ defines method Cart.make
          run = () => {};
          // ^ defines method Cart.run
          #secret() {}
          // ^ hidden
        }
        """,
    "this reaches the class": """
        // --- shop.js
        class Cart {
          price() {}
          total() { return this.price(); }
          // ^ calls shop.Cart.price by this
        }
        """,
    "an inherited method": """
        // --- base.js
        export class Base { price() {} }
        // --- shop.js
        import { Base } from './base';
        class Cart extends Base {
          // ^ inherits Base
          total() { this.price(); }
          // ^ calls base.Base.price by inherited
        }
        """,
    "super goes above": """
        // --- shop.js
        class A { constructor() {} price() {} }
        class B extends A {
          constructor() { super(); }
          // ^ calls shop.A.constructor by super
          price() { return super.price(); }
          // ^ calls shop.A.price by super
        }
        """,
    "new reaches the constructor": """
        // --- shop.js
        class Cart { constructor() {} }
        new Cart();
        // ^ calls shop.Cart.constructor
        """,
    "a variable that was constructed": """
        // --- shop.js
        class Cart { total() {} }
        function go() {
          const cart = new Cart();
          cart.total();
          // ^ calls shop.Cart.total by assigned from a call
        }
        """,
    "a field that was constructed": """
        // --- shop.js
        class Repo { store() {} }
        class Cart {
          repo = new Repo();
          constructor() { this.other = new Repo(); }
          // ^ calls shop.Repo
          save() { this.repo.store(); }
          // ^ calls shop.Repo.store by field type
          keep() { this.other.store(); }
          // ^ calls shop.Repo.store by field type
        }
        """,
    "an object with methods": """
        // --- shop.js
        export const shop = {
          // ^ defines object shop
          total() { return this.price(); },
          // ^ calls shop.shop.price
          price: () => 1,
          // ^ defines method shop.price
        };
        // --- main.js
        import { shop } from './shop';
        shop.total();
        // ^ calls shop.shop.total
        """,
    "a method put on the prototype": """
        // --- shop.js
        function Cart() {}
        Cart.prototype.total = function () {};
        // ^ defines method Cart.total
        """,
    "an optional call and a chain through one": """
        // --- shop.js
        class Cart { total() {} }
        function go() {
          const cart = new Cart();
          cart?.total?.();
          // ^ calls shop.Cart.total
        }
        """,
    "a component in JSX": """
        // --- shop.jsx
        function Price() { return <b/>; }
        function Cart() { return <Price a={1} />; }
        // ^ calls shop.Price
        """,
    "a nested function shadows the outer one": """
        // --- shop.js
        function total() {}
        function go() {
          function total() {}
          total();
          // ^ calls shop.go.total by same scope
        }
        """,
    "a parameter shadows a function": """
        // --- shop.js
        function total() {}
        function go(total) {
          total();
          // ^ unresolved
        }
        """,
    "a callback parameter is not guessed": """
        // --- shop.js
        function next() {}
        const go = (req, res, next) => {
          next();
          // ^ unresolved
        };
        """,
    "comments in front": """
        // --- shop.js
        /**
         * Adds it up.
         * @returns {number}
         */
        export function total() {}
        // ^ doc Adds it up.

        // Counts.
        const count = () => 1;
        // ^ doc Counts.
        """,
    "signatures": """
        // --- shop.js
        async function total(a, b = 3) { }
        // ^ signature async function total(a, b = 3)
        class Cart extends Base { }
        // ^ signature class Cart extends Base
        """,
    "methods of unknown receivers are leads, not answers": """
        // --- shop.js
        class A { settle() {} }
        class B { settle() {} }
        function go(x) { x.settle(); }
        // ^ ambiguous shop.A.settle, shop.B.settle
        """,
    "side effects and generators": """
        // --- main.js
        import './setup';
        // ^ imports ./setup
        function* items() {}
        // ^ defines function items
        items();
        // ^ calls main.items
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-JAVASCRIPT")
def test_javascript(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
