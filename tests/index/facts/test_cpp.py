"""What we know of C++, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a method of the same class": """
        // --- cart.cpp
        class Cart {
            // ^ defines class Cart
          public:
            int price() { return 1; }
            int total() { return price() + this->price(); }
            // ^ calls Cart.price
        };
        """,
    "a method defined outside its class": """
        // --- cart.hpp
        namespace shop {
        class Cart {
          public:
            int total() const;
            int price() const;
        };
        }
        // --- cart.cpp
        #include "cart.hpp"
        using namespace shop;
        int Cart::price() const { return 1; }
        // ^ defines method Cart.price
        int Cart::total() const { return price(); }
        // ^ calls shop.Cart.price
        """,
    "a namespace": """
        // --- cart.cpp
        namespace shop {
        // ^ defines namespace shop
        int help() { return 1; }
        // ^ defines function shop.help
        int run() { return help(); }
        // ^ calls shop.help
        }
        int main() { return shop::help(); }
        // ^ calls shop.help
        """,
    "an inherited method": """
        // --- cart.cpp
        class Base { public: int price() { return 1; } };
        class Cart : public Base {
            // ^ inherits Base
            int total() { return price(); }
            // ^ calls Base.price
            int more() { return Base::price(); }
            // ^ calls Base.price
        };
        """,
    "a declared local, a pointer and a smart pointer": """
        // --- cart.cpp
        class Repo { public: void store() {} };
        void run() {
            Repo a;
            a.store();
            // ^ calls Repo.store by declared type
            Repo* b = new Repo();
            // ^ calls Repo
            b->store();
            // ^ calls Repo.store
            auto c = std::make_unique<Repo>();
            c->store();
            // ^ calls Repo.store
        }
        """,
    "a declared field": """
        // --- cart.cpp
        class Repo { public: void store() {} };
        class Cart {
            std::unique_ptr<Repo> repo_;
            void save() { repo_->store(); }
            // ^ calls Repo.store
        };
        """,
    "a reference parameter": """
        // --- cart.cpp
        struct Item { int price() const { return 1; } };
        // ^ defines struct Item
        int total(const Item& item) { return item.price(); }
        // ^ calls Item.price by declared type
        """,
    "a template": """
        // --- cart.cpp
        template <typename T> T pick(T a) { return a; }
        // ^ defines function pick
        int run() { return pick<int>(1); }
        // ^ calls pick
        """,
    "constructors and destructors": """
        // --- cart.cpp
        class Cart {
          public:
            Cart(int n) {}
            // ^ defines constructor Cart.Cart
            ~Cart() {}
            // ^ defines method Cart.~Cart
        };
        Cart* make() { return new Cart(1); }
        // ^ calls Cart.Cart
        """,
    "an alias of a type": """
        // --- cart.cpp
        struct Item { int price() { return 1; } };
        using Thing = Item;
        // ^ defines type Thing
        int run(Thing t) { return t.price(); }
        // ^ calls Item.price
        """,
    "a header that is C++ by its content": """
        // --- cart.h
        namespace shop { int help(); }
        // ^ defines function shop.help
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-CPP")
def test_cpp(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
