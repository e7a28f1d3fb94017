"""What we know of Go, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        // --- shop/cart.go
        package shop
        func Total() int { return 1 }
        // ^ defines function Total
        func Checkout() { Total() }
        // ^ calls shop.Total by same file
        """,
    "a function of another file of the package": """
        // --- shop/cart.go
        package shop
        func total() int { return 1 }
        // ^ hidden
        // --- shop/checkout.go
        package shop
        func Checkout() { total() }
        // ^ calls shop.total by same package
        """,
    "a package by the path of its module": """
        // --- go.mod
        module example.com/acme

        go 1.22
        // --- shop/cart.go
        package shop
        func Total() int { return 1 }
        // --- main.go
        package main
        import "example.com/acme/shop"
        // ^ imports example.com/acme/shop as shop
        func main() { shop.Total() }
        // ^ calls shop.Total by import
        """,
    "a package under another name": """
        // --- go.mod
        module acme
        // --- shop/cart.go
        package shop
        func Total() int { return 1 }
        // --- main.go
        package main
        import basket "acme/shop"
        // ^ imports acme/shop as basket
        func main() { basket.Total() }
        // ^ calls shop.Total
        """,
    "a package without a module file": """
        // --- shop/cart.go
        package shop
        func Total() int { return 1 }
        // --- main.go
        package main
        import "example.com/acme/shop"
        func main() { shop.Total() }
        // ^ calls shop.Total
        """,
    "the standard library is external": """
        // --- http/http.go
        package http
        func Get() {}
        // --- main.go
        package main
        import "net/http"
        func main() { http.Get() }
        // ^ external net/http.Get
        """,
    "a dot import": """
        // --- go.mod
        module acme
        // --- shop/cart.go
        package shop
        func Total() int { return 1 }
        // --- main.go
        package main
        import . "acme/shop"
        // ^ imports acme/shop:*
        func main() { Total() }
        // ^ calls shop.Total by wildcard import
        """,
    "a major version is not the name": """
        // --- main.go
        package main
        import "github.com/acme/shop/v2"
        // ^ imports github.com/acme/shop/v2 as shop
        func main() { shop.Total() }
        // ^ external github.com/acme/shop/v2.Total
        """,
    "a blank import has no name": """
        // --- main.go
        package main
        import _ "embed"
        // ^ imports embed
        """,
    "a group of imports": """
        // --- main.go
        package main
        import (
            "fmt"
            // ^ imports fmt
            str "strings"
            // ^ imports strings as str
        )
        func main() { fmt.Println(str.ToUpper("a")) }
        // ^ external fmt.Println
        // ^ external strings.ToUpper
        """,
    "a method and its type": """
        // --- shop/cart.go
        package shop
        type Cart struct { n int }
        // ^ defines struct Cart
        func (c *Cart) Total() int { return c.n }
        // ^ defines method Cart.Total
        // ^ inside Cart
        """,
    "a method of the receiver": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func (c *Cart) Price() int { return 1 }
        func (c *Cart) Total() int { return c.Price() }
        // ^ calls shop.Cart.Price by declared type
        """,
    "a method defined in another file": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        // --- shop/price.go
        package shop
        func (c Cart) Price() int { return 1 }
        // --- shop/total.go
        package shop
        func Sum(c Cart) { c.Price() }
        // ^ calls shop.Cart.Price by declared type
        """,
    "a field with a type": """
        // --- shop/cart.go
        package shop
        type Repo struct{}
        func (r *Repo) Store() {}
        type Cart struct { repo *Repo }
        func (c *Cart) Save() { c.repo.Store() }
        // ^ calls shop.Repo.Store by field type
        """,
    "a field with a type of another package": """
        // --- go.mod
        module acme
        // --- db/repo.go
        package db
        type Repo struct{}
        func (r *Repo) Store() {}
        // --- shop/cart.go
        package shop
        import "acme/db"
        type Cart struct { repo *db.Repo }
        func (c *Cart) Save() { c.repo.Store() }
        // ^ calls db.Repo.Store
        """,
    "an embedded struct lends its methods": """
        // --- shop/cart.go
        package shop
        type Base struct{}
        func (b *Base) Price() int { return 1 }
        type Cart struct {
            Base
            // ^ inherits Base
        }
        func (c *Cart) Total() int { return c.Price() }
        // ^ calls shop.Base.Price by declared type, inherited
        """,
    "an embedded struct by name": """
        // --- shop/cart.go
        package shop
        type Base struct{}
        func (b *Base) Price() int { return 1 }
        type Cart struct { *Base }
        func (c *Cart) Total() int { return c.Base.Price() }
        // ^ calls shop.Base.Price
        """,
    "a literal of a struct": """
        // --- shop/cart.go
        package shop
        type Cart struct{ n int }
        func (c *Cart) Total() int { return 1 }
        func run() {
            cart := &Cart{n: 1}
            cart.Total()
            // ^ calls shop.Cart.Total by assigned from a call
        }
        """,
    "the result of a constructor function": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func NewCart(n int) *Cart { return nil }
        func (c *Cart) Total() int { return 1 }
        func run() {
            cart := NewCart(1)
            cart.Total()
            // ^ calls shop.Cart.Total by assigned from a call
            NewCart(2).Total()
            // ^ calls shop.NewCart
            // ^ calls shop.Cart.Total
        }
        """,
    "the first of several results": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func Load() (*Cart, error) { return nil, nil }
        func (c *Cart) Total() int { return 1 }
        func run() {
            cart, err := Load()
            cart.Total()
            // ^ calls shop.Cart.Total
            _ = err
        }
        """,
    "a declared variable": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func (c *Cart) Total() int { return 1 }
        func run() {
            var cart *Cart
            cart.Total()
            // ^ calls shop.Cart.Total by declared type
        }
        """,
    "parameters that share a type": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func (c *Cart) Total() int { return 1 }
        func run(a, b *Cart, n int) { b.Total() }
        // ^ calls shop.Cart.Total
        """,
    "a package-level variable": """
        // --- shop/cart.go
        package shop
        type Cart struct{}
        func (c *Cart) Total() int { return 1 }
        var Default = &Cart{}
        // ^ defines variable Default
        // --- shop/run.go
        package shop
        func run() { Default.Total() }
        // ^ calls shop.Cart.Total
        """,
    "a method through an interface": """
        // --- shop/cart.go
        package shop
        type Store interface {
            // ^ defines interface Store
            Keep(a int) error
            // ^ defines method Store.Keep
        }
        func run(s Store) { s.Keep(1) }
        // ^ calls shop.Store.Keep
        """,
    "an interface within an interface": """
        // --- shop/cart.go
        package shop
        type Reader interface { Read() }
        type Store interface {
            Reader
            // ^ inherits Reader
        }
        func run(s Store) { s.Read() }
        // ^ calls shop.Reader.Read
        """,
    "a generic function": """
        // --- shop/cart.go
        package shop
        func Max[T any](a T) T { return a }
        func run() {
            Max[int](1)
            // ^ calls shop.Max
            Max(1)
            // ^ calls shop.Max
        }
        """,
    "go and defer are calls": """
        // --- shop/cart.go
        package shop
        func work() {}
        func run() {
            go work()
            // ^ calls shop.work
            defer work()
            // ^ calls shop.work
        }
        """,
    "a parameter shadows a function": """
        // --- shop/cart.go
        package shop
        func work() {}
        func run(work func()) {
            work()
            // ^ unresolved
        }
        """,
    "a call inside a function literal belongs to the function": """
        // --- shop/cart.go
        package shop
        func work() {}
        func run() {
            f := func() {
                work()
                // ^ calls shop.work
            }
            f()
        }
        """,
    "constants, variables and types": """
        // --- shop/cart.go
        package shop
        const Limit = 3
        // ^ defines constant Limit
        const (
            a = 1
            // ^ hidden
        )
        type Name = string
        // ^ defines type Name
        type Count int
        // ^ defines type Count
        """,
    "comments in front": """
        // --- shop/cart.go
        package shop

        // Total adds it up.
        // All of it.
        func Total() int { return 1 }
        // ^ doc Total adds it up.

        /* Cart is a basket. */
        type Cart struct{}
        // ^ doc Cart is a basket.
        """,
    "signatures": """
        // --- shop/cart.go
        package shop
        func (c *Cart) Total(a, b int, f func(int) error) (int, error) { return 1, nil }
        // ^ signature func (c *Cart) Total(a, b int, f func(int) error) (int, error)
        """,
    "two packages with one function name": """
        // --- go.mod
        module acme
        // --- a/a.go
        package a
        func Run() {}
        // --- b/b.go
        package b
        func Run() {}
        // --- main.go
        package main
        import "acme/b"
        func main() { b.Run() }
        // ^ calls b.Run
        """,
    "a parameter of an external type": """
        // --- a.go
        package a
        import "testing"
        type Log struct{}
        func (l Log) Fatalf() {}
        func TestRun(t *testing.T) { t.Fatalf("x") }
        // ^ external testing.T.Fatalf
        """,
    "methods of unknown receivers are leads, not answers": """
        // --- a.go
        package a
        type A struct{}
        func (a A) Settle() {}
        type B struct{}
        func (b B) Settle() {}
        func run(x any) { x.(Thing).Settle() }
        // ^ ambiguous a.A.Settle, a.B.Settle
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-GO")
def test_go(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 30
