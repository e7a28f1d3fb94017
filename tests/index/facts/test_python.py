"""What we know of Python, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        # --- shop.py
        def total(): ...
        def checkout():
            total()
            # ^ calls shop.total by same file
        """,
    "a call through an alias reaches the definition": """
        # --- shop.py
        def total(): ...
        # --- main.py
        from shop import total as sum_up
        # ^ imports shop:total as sum_up
        def checkout():
            sum_up()
            # ^ calls shop.total by alias
        """,
    "a module imported by name": """
        # --- shop/cart.py
        def total(): ...
        # --- shop/__init__.py
        # --- main.py
        import shop.cart
        # ^ imports shop.cart
        shop.cart.total()
        # ^ calls shop.cart.total by import
        """,
    "a module under another name": """
        # --- shop/cart.py
        def total(): ...
        # --- main.py
        import shop.cart as basket
        # ^ imports shop.cart as basket
        basket.total()
        # ^ calls shop.cart.total
        """,
    "a submodule taken from its package": """
        # --- shop/__init__.py
        # --- shop/cart.py
        def total(): ...
        # --- main.py
        from shop import cart
        cart.total()
        # ^ calls shop.cart.total
        """,
    "a relative import": """
        # --- shop/__init__.py
        # --- shop/cart.py
        def total(): ...
        # --- shop/checkout.py
        from .cart import total
        # ^ imports .cart:total
        total()
        # ^ calls shop.cart.total
        """,
    "a relative import from two packages up": """
        # --- shop/__init__.py
        # --- shop/money.py
        def add(): ...
        # --- shop/web/__init__.py
        # --- shop/web/view.py
        from ..money import add
        add()
        # ^ calls shop.money.add
        """,
    "a re-export by the package": """
        # --- shop/__init__.py
        from .cart import total
        # --- shop/cart.py
        def total(): ...
        # --- main.py
        from shop import total
        total()
        # ^ calls shop.cart.total by re-export
        """,
    "everything imported with a star": """
        # --- shop.py
        def total(): ...
        # --- main.py
        from shop import *
        # ^ imports shop:*
        total()
        # ^ calls shop.total by wildcard import
        """,
    "an import inside a function": """
        # --- shop.py
        def total(): ...
        # --- main.py
        def checkout():
            from shop import total
            total()
            # ^ calls shop.total
        """,
    "sources under src": """
        # --- src/shop/__init__.py
        # --- src/shop/cart.py
        def total(): ...
        # --- tests/test_cart.py
        from shop.cart import total
        total()
        # ^ calls shop.cart.total
        """,
    "the standard library is external": """
        # --- main.py
        import os.path
        from json import dumps
        os.path.join("a")
        # ^ external os.path.join
        dumps(1)
        # ^ external json.dumps
        """,
    "a file that only shares the name of a library is not it": """
        # --- tools/json.py
        def dumps(): ...
        # --- app/main.py
        import json
        json.dumps()
        # ^ external json.dumps
        """,
    "a builtin is external, unless something else has its name": """
        # --- main.py
        def print(x): ...
        print(len("a"))
        # ^ calls main.print
        # ^ external len
        """,
    "a value whose type is external": """
        # --- main.py
        from pathlib import Path
        class Tree:
            def walk_up(self): ...
        def go(p: Path):
            p.walk_up()
            # ^ external pathlib.Path.walk_up
        """,
    "a callable held in a variable": """
        # --- main.py
        from functools import partial
        make = partial(dict, a=1)
        def go():
            make()
            # ^ external dict
        """,
    "a method of self": """
        # --- shop.py
        class Cart:
            def total(self):
                return self.price()
                # ^ calls shop.Cart.price by self
            def price(self): ...
        """,
    "an inherited method": """
        # --- base.py
        class Base:
            def price(self): ...
        # --- shop.py
        from base import Base
        class Cart(Base):
            # ^ inherits Base
            def total(self):
                self.price()
                # ^ calls base.Base.price by inherited
        """,
    "the nearest of two inherited methods": """
        # --- shop.py
        class A:
            def price(self): ...
        class B(A):
            def price(self): ...
        class C(B):
            def total(self):
                self.price()
                # ^ calls shop.B.price
        """,
    "super goes above the class": """
        # --- shop.py
        class A:
            def price(self): ...
        class B(A):
            def price(self):
                return super().price()
                # ^ calls shop.A.price by super
        """,
    "a constructor": """
        # --- shop.py
        class Cart:
            def __init__(self): ...
            # ^ defines constructor Cart.__init__
        def make():
            return Cart()
            # ^ calls shop.Cart.__init__
        """,
    "a class without a constructor": """
        # --- shop.py
        class Cart: ...
        Cart()
        # ^ calls shop.Cart
        """,
    "a variable that was constructed": """
        # --- shop.py
        class Cart:
            def total(self): ...
        def checkout():
            cart = Cart()
            cart.total()
            # ^ calls shop.Cart.total by assigned from a call
        """,
    "the last assignment before the call counts": """
        # --- shop.py
        class A:
            def go(self): ...
        class B:
            def go(self): ...
        def run():
            x = A()
            x.go()
            # ^ calls shop.A.go
            x = B()
            x.go()
            # ^ calls shop.B.go
        """,
    "an annotated parameter": """
        # --- shop.py
        class Cart:
            def total(self): ...
        # --- main.py
        from shop import Cart
        def checkout(cart: Cart, n: int = 1):
            cart.total()
            # ^ calls shop.Cart.total by declared type
        """,
    "an optional and a quoted annotation": """
        # --- shop.py
        from typing import Optional
        class Cart:
            def total(self): ...
        def a(cart: Optional[Cart]):
            cart.total()
            # ^ calls shop.Cart.total
        def b(cart: "Cart | None" = None):
            cart.total()
            # ^ calls shop.Cart.total
        """,
    "a list of carts is not a cart": """
        # --- shop.py
        class Cart:
            def total_price(self): ...
        class Box:
            def total_price(self): ...
        def a(carts: list[Cart]):
            carts.total_price()
            # ^ external list.total_price
        """,
    "a field that was constructed": """
        # --- shop.py
        class Repo:
            def store(self): ...
        class Cart:
            def __init__(self):
                self.repo = Repo()
            def save(self):
                self.repo.store()
                # ^ calls shop.Repo.store by field type
        """,
    "a field handed in as an annotated parameter": """
        # --- shop.py
        class Repo:
            def store(self): ...
        class Cart:
            def __init__(self, repo: Repo):
                self.repo = repo
            def save(self):
                self.repo.store()
                # ^ calls shop.Repo.store
        """,
    "an annotated class field, inherited": """
        # --- shop.py
        class Repo:
            def store(self): ...
        class Base:
            repo: Repo
        class Cart(Base):
            def save(self):
                self.repo.store()
                # ^ calls shop.Repo.store
        """,
    "the declared result of a function": """
        # --- shop.py
        class Cart:
            def total(self): ...
        def make() -> Cart: ...
        make().total()
        # ^ calls shop.make
        # ^ calls shop.Cart.total
        """,
    "a module-level instance used elsewhere": """
        # --- shop.py
        class Cart:
            def total(self): ...
        cart = Cart()
        # --- main.py
        from shop import cart
        def checkout():
            cart.total()
            # ^ calls shop.Cart.total
        """,
    "a with statement": """
        # --- shop.py
        class Cart:
            def total(self): ...
        def checkout():
            with Cart() as cart:
                cart.total()
                # ^ calls shop.Cart.total
        """,
    "a nested function shadows the outer one": """
        # --- shop.py
        def total(): ...
        def checkout():
            def total(): ...
            # ^ defines function checkout.total
            total()
            # ^ calls shop.checkout.total by same scope
        """,
    "a parameter shadows a function": """
        # --- shop.py
        def total(): ...
        def checkout(total):
            total()
            # ^ unresolved
        """,
    "the later definition replaces the earlier": """
        # --- shop.py
        def total(): ...
        def total(x): ...
        total(1)
        # ^ calls shop.total
        """,
    "a decorator is a call": """
        # --- shop.py
        def cached(f): ...
        @cached
        # ^ calls shop.cached
        def total(): ...
        """,
    "a class method through the class": """
        # --- shop.py
        class Cart:
            @classmethod
            def make(cls) -> "Cart":
                return cls()
                # ^ calls shop.Cart
            def total(self): ...
        Cart.make().total()
        # ^ calls shop.Cart.make
        # ^ calls shop.Cart.total
        """,
    "methods of unknown receivers are leads, not answers": """
        # --- shop.py
        class A:
            def settle(self): ...
        class B:
            def settle(self): ...
        def run(x):
            x.settle()
            # ^ ambiguous shop.A.settle, shop.B.settle
        """,
    "the only method of a name is a guess": """
        # --- shop.py
        class A:
            def settle(self): ...
        def run(x):
            x.settle()
            # ^ calls shop.A.settle by only method of that name
        """,
    "a function assigned to another name": """
        # --- shop.py
        def total(): ...
        sum_up = total
        def run():
            sum_up()
            # ^ calls shop.total by assigned name
        """,
    "circular imports end": """
        # --- a.py
        from b import thing
        # --- b.py
        from a import thing
        thing()
        # ^ unresolved
        """,
    "symbols, their kinds and their parents": '''
        # --- shop.py
        LIMIT = 3
        # ^ defines constant LIMIT
        names = []
        # ^ defines variable names
        class Cart:
            # ^ defines class Cart
            """A basket."""
            class Line:
                # ^ defines class Cart.Line
                # ^ inside Cart
                pass
            @property
            # ^ defines property Cart.size
            def size(self): ...
            async def load(self, x: int = 3) -> "Cart":
                # ^ defines method Cart.load
                # ^ signature async def load(self, x: int = 3) -> "Cart"
                pass
        def _hidden(): ...
        # ^ hidden
        ''',
    "docstrings": '''
        # --- shop.py
        class Cart:
            # ^ doc A basket.
            """A basket.

            More.
            """
            def total(self):
                # ^ doc Adds it up.
                r"""Adds it up."""
        ''',
    "imports of every form": """
        # --- main.py
        import a, b.c as d
        # ^ imports a
        # ^ imports b.c as d
        from .. import e
        # ^ imports ..:e
        from f import (
            # ^ imports f:g
            # ^ imports f:h as i
            g,  # a comment, with a comma
            h as i,
        )
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-PYTHON")
def test_python(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
