"""What we know of TypeScript, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        // --- shop.ts
        export function total(a: number): number { return a; }
        // ^ signature function total(a: number): number
        total(1);
        // ^ calls shop.total
        """,
    "a named import without the extension": """
        // --- src/shop.ts
        export function total() {}
        // --- src/main.ts
        import { total } from './shop';
        total();
        // ^ calls src.shop.total
        """,
    "a named import with the extension of the output": """
        // --- src/shop.ts
        export function total() {}
        // --- src/main.ts
        import { total } from './shop.js';
        total();
        // ^ calls src.shop.total
        """,
    "a folder with an index": """
        // --- src/shop/index.ts
        export const total = (): void => {};
        // --- src/main.ts
        import { total } from './shop';
        total();
        // ^ calls src.shop.total
        """,
    "an alias for the source folder": """
        // --- src/shop/cart.ts
        export function total() {}
        // --- src/web/view.ts
        import { total } from '@/shop/cart';
        total();
        // ^ calls src.shop.cart.total
        """,
    "JavaScript and TypeScript see each other": """
        // --- shop.js
        export function total() {}
        // --- main.ts
        import { total } from './shop';
        total();
        // ^ calls shop.total
        """,
    "a type import": """
        // --- shop.ts
        export class Cart { total(): void {} }
        // --- main.ts
        import type { Cart } from './shop';
        // ^ imports ./shop:Cart
        export function go(cart: Cart) { cart.total(); }
        // ^ calls shop.Cart.total by declared type
        """,
    "an import by require": """
        // --- shop.ts
        export function total() {}
        // --- main.ts
        import shop = require('./shop');
        // ^ imports ./shop as shop
        shop.total();
        // ^ calls shop.total
        """,
    "a re-export through a barrel": """
        // --- src/cart.ts
        export class Cart { total() {} }
        // --- src/index.ts
        export { Cart } from './cart';
        // --- main.ts
        import { Cart } from './src';
        const cart: Cart = load();
        cart.total();
        // ^ calls src.cart.Cart.total by declared type
        """,
    "a barrel of barrels": """
        // --- a/b/cart.ts
        export function total() {}
        // --- a/b/index.ts
        export * from './cart';
        // --- a/index.ts
        export * from './b';
        // --- main.ts
        import { total } from './a';
        total();
        // ^ calls a.b.cart.total by re-export
        """,
    "a declared parameter property": """
        // --- shop.ts
        class Repo { store(): void {} }
        class Cart {
          constructor(private readonly repo: Repo, n: number) {}
          save() { this.repo.store(); }
          // ^ calls shop.Repo.store by field type
        }
        """,
    "a declared field": """
        // --- shop.ts
        class Repo { store(): void {} }
        class Cart {
          private repo: Repo;
          save() { this.repo.store(); }
          // ^ calls shop.Repo.store by field type
        }
        """,
    "an optional and a nullable parameter": """
        // --- shop.ts
        class Cart { total() {} }
        function a(cart?: Cart) { cart?.total(); }
        // ^ calls shop.Cart.total
        function b(cart: Cart | null | undefined) { cart!.total(); }
        // ^ calls shop.Cart.total
        """,
    "the declared result of a function": """
        // --- shop.ts
        class Cart { total() {} }
        function make(a: string): Cart { return null; }
        make('a').total();
        // ^ calls shop.make
        // ^ calls shop.Cart.total
        """,
    "a promise hands on what it promises": """
        // --- shop.ts
        class Cart { total() {} }
        async function load(): Promise<Cart> { return null; }
        async function go() {
          const cart = await load();
          cart.total();
          // ^ calls shop.Cart.total
        }
        """,
    "a method through an interface": """
        // --- shop.ts
        interface Store { keep(a: string): void; }
        // ^ defines interface Store
        function go(store: Store) { store.keep('a'); }
        // ^ calls shop.Store.keep
        """,
    "an interface that extends another": """
        // --- shop.ts
        interface Base { price(): number }
        interface Cart extends Base { total(): number }
        // ^ inherits Base
        function go(cart: Cart) { cart.price(); }
        // ^ calls shop.Base.price
        """,
    "an abstract class": """
        // --- shop.ts
        abstract class Base {
          // ^ defines class Base
          abstract price(): number;
          // ^ defines method Base.price
          total() { return this.price(); }
          // ^ calls shop.Base.price
        }
        """,
    "extends and implements": """
        // --- shop.ts
        class Cart extends Base<string> implements Store, other.Thing { }
        // ^ inherits Base
        // ^ inherits Store
        // ^ inherits other.Thing
        """,
    "super": """
        // --- shop.ts
        class A { constructor(a: string) {} go() {} }
        class B extends A {
          constructor() { super('a'); super.go(); }
          // ^ calls shop.A.constructor
          // ^ calls shop.A.go
        }
        """,
    "a generic call": """
        // --- shop.ts
        function pick<T>(a: T): T { return a; }
        pick<string>('a');
        // ^ calls shop.pick
        """,
    "a generic class": """
        // --- shop.ts
        class Box<T> { open(): T { return null; } }
        const box = new Box<string>();
        box.open();
        // ^ calls shop.Box.open
        """,
    "a namespace": """
        // --- shop.ts
        namespace Money {
          // ^ defines namespace Money
          export function add() {}
          // ^ defines function Money.add
          export function sum() { add(); }
          // ^ calls shop.Money.add
        }
        Money.add();
        // ^ calls shop.Money.add
        """,
    "kinds": """
        // --- shop.ts
        export enum Colour { Red }
        // ^ defines enum Colour
        export type Name = string;
        // ^ defines type Name
        declare function outside(a: string): void;
        // ^ defines function outside
        export const LIMIT: number = 3;
        // ^ defines constant LIMIT
        """,
    "an overloaded function is its body": """
        // --- shop.ts
        function add(a: string): void;
        function add(a: number): void;
        function add(a: any): void { }
        add(1);
        // ^ calls shop.add
        """,
    "a decorator": """
        // --- shop.ts
        function Injectable(a: any) {}
        function sealed(a: any) {}
        @Injectable({})
        // ^ calls shop.Injectable
        @sealed
        // ^ calls shop.sealed
        class Cart {}
        """,
    "a cast says what it is": """
        // --- shop.ts
        class Cart { total() {} }
        function go(x: unknown) {
          const cart: Cart = x as Cart;
          cart.total();
          // ^ calls shop.Cart.total
        }
        """,
    "a component with types": """
        // --- shop.tsx
        function Price(props: { a: number }) { return <b/>; }
        export const Cart: FC<{}> = () => <Price a={1}></Price>;
        // ^ calls shop.Price
        """,
    "an arrow function in a class": """
        // --- shop.ts
        class Cart {
          private go = (a: string): void => { this.total(); };
          // ^ defines method Cart.go
          // ^ calls shop.Cart.total
          total() {}
        }
        """,
    "a static factory": """
        // --- shop.ts
        class Cart {
          static make(): Cart { return new Cart(); }
          // ^ calls shop.Cart
          total() {}
        }
        Cart.make().total();
        // ^ calls shop.Cart.make
        // ^ calls shop.Cart.total
        """,
    "comments in front, over decorators": """
        // --- shop.ts
        /** A basket. */
        @Component({})
        // ^ doc A basket.
        export class Cart {
          /** Adds it up. */
          total() {}
          // ^ doc Adds it up.
        }
        """,
    "two classes of one name in two files": """
        // --- a.ts
        export class Cart { total() {} }
        // --- b.ts
        export class Cart { total() {} }
        // --- main.ts
        import { Cart } from './b';
        new Cart().total();
        // ^ calls b.Cart
        // ^ calls b.Cart.total
        """,
    "a constructor held in a variable": """
        // --- shop.ts
        const Failure: FailureType = build(3);
        export function go() { return new Failure(); }
        // ^ calls shop.Failure by held in a variable
        """,
    "a missing file is external": """
        // --- main.ts
        import { total } from './gone';
        total();
        // ^ external ./gone.total
        """,
    "a union of two classes is both": """
        // --- shop.ts
        class A { settle() {} }
        class B { settle() {} }
        function go(x: A | B) { x.settle(); }
        // ^ calls shop.A.settle
        // ^ calls shop.B.settle
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-TYPESCRIPT")
def test_typescript(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
