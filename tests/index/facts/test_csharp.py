"""What we know of C#, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a method of the same class": """
        // --- Cart.cs
        namespace Shop {
            // ^ defines namespace Shop
            public class Cart {
                // ^ defines class Shop.Cart
                int Price() { return 1; }
                int Total() { return Price() + this.Price(); }
                // ^ calls Shop.Cart.Price
            }
        }
        """,
    "a class of the same namespace": """
        // --- Util.cs
        namespace Shop;
        public static class Util { public static void Help() {} }
        // --- Cart.cs
        namespace Shop { class Cart { void Go() { Util.Help(); } } }
        // ^ calls Shop.Util.Help
        """,
    "a namespace that is used": """
        // --- Util.cs
        namespace Shop.Core;
        public static class Util { public static void Help() {} }
        // --- Cart.cs
        using Shop.Core;
        // ^ imports Shop.Core:*
        namespace Web;
        class Cart { void Go() { Util.Help(); } }
        // ^ calls Shop.Core.Util.Help by wildcard import
        """,
    "an alias": """
        // --- Util.cs
        namespace Shop.Core;
        public static class Util { public static void Help() {} }
        // --- Cart.cs
        using U = Shop.Core.Util;
        // ^ imports Shop.Core:Util as U
        namespace Web;
        class Cart { void Go() { U.Help(); } }
        // ^ calls Shop.Core.Util.Help by alias
        """,
    "an inherited method and base": """
        // --- Cart.cs
        namespace Shop;
        class Base { public Base(int n) {} public virtual int Price() { return 1; } }
        class Cart : Base, IThing {
            // ^ inherits Base
            // ^ inherits IThing
            public Cart() : base(1) {}
            // ^ calls Shop.Base.Base
            public override int Price() { return base.Price(); }
            // ^ calls Shop.Base.Price by super
        }
        """,
    "declared fields, properties and locals": """
        // --- Cart.cs
        namespace Shop;
        class Repo { public void Store() {} }
        class Cart {
            private readonly Repo _repo;
            public Repo Other { get; set; }
            // ^ defines property Cart.Other
            void Save(Repo given) {
                _repo.Store();
                // ^ calls Shop.Repo.Store
                Other.Store();
                // ^ calls Shop.Repo.Store
                given?.Store();
                // ^ calls Shop.Repo.Store
                var made = new Repo();
                made.Store();
                // ^ calls Shop.Repo.Store by assigned from a call
            }
        }
        """,
    "kinds": """
        // --- Cart.cs
        namespace Shop;
        interface IThing { void Go(); }
        // ^ defines interface IThing
        struct Point { }
        // ^ defines struct Point
        enum Colour { Red }
        // ^ defines enum Colour
        record Line(int N);
        // ^ defines class Line
        delegate void Handler(int n);
        // ^ defines type Handler
        """,
    "overloads by the number of arguments": """
        // --- Cart.cs
        namespace Shop;
        class Cart {
            void Add(int a) {}
            void Add(int a, int b) {}
            void Go() { Add(1); }
            // ^ calls Shop.Cart.Add
        }
        """,
    "comments in front": """
        // --- Cart.cs
        namespace Shop;
        /// <summary>A basket.</summary>
        [Serializable]
        // ^ doc <summary>A basket.</summary>
        class Cart {
            private void Secret() {}
            // ^ hidden
        }
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-CSHARP")
def test_csharp(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
