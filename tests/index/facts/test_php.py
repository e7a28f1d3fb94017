"""What we know of PHP, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a function of the same file": """
        // --- shop.php
        <?php
        function total(int $a): int { return $a; }
        // ^ defines function total
        // ^ signature function total(int $a): int
        total(1);
        // ^ calls total
        """,
    "methods of this, self and static": """
        // --- Cart.php
        <?php
        namespace Shop;
        class Cart {
            // ^ defines class Cart
            private function price() {}
            // ^ hidden
            public function total() {
                $this->price();
                // ^ calls Shop.Cart.price by this
                self::make();
                // ^ calls Shop.Cart.make
                static::make();
                // ^ calls Shop.Cart.make
            }
            public static function make() {}
        }
        """,
    "a used class": """
        // --- a/Util.php
        <?php
        namespace App\\Core;
        class Util { public static function help() {} }
        // --- b/Cart.php
        <?php
        namespace App\\Web;
        use App\\Core\\Util;
        // ^ imports App.Core:Util
        class Cart { function go() { Util::help(); } }
        // ^ calls App.Core.Util.help by import
        """,
    "a used class under another name, in a group": """
        // --- a/Util.php
        <?php
        namespace App\\Core;
        class Util { public static function help() {} }
        // --- b/Cart.php
        <?php
        namespace App\\Web;
        use App\\Core\\{Util as U, Other};
        // ^ imports App.Core:Util as U
        // ^ imports App.Core:Other
        class Cart { function go() { U::help(); } }
        // ^ calls App.Core.Util.help by alias
        """,
    "a used function": """
        // --- a/util.php
        <?php
        namespace App;
        function help() {}
        // --- b/cart.php
        <?php
        use function App\\help;
        // ^ imports App:help
        help();
        // ^ calls App.help
        """,
    "an inherited method and parent": """
        // --- Cart.php
        <?php
        class Base { public function __construct() {} public function price() {} }
        class Cart extends Base implements Thing {
            // ^ inherits Base
            // ^ inherits Thing
            public function __construct() { parent::__construct(); }
            // ^ calls Base.__construct by super
            public function total() { return $this->price(); }
            // ^ calls Base.price
        }
        """,
    "a trait": """
        // --- Cart.php
        <?php
        trait Priced { public function price() {} }
        // ^ defines trait Priced
        class Cart {
            use Priced;
            // ^ inherits Priced
            public function total() { $this->price(); }
            // ^ calls Priced.price
        }
        """,
    "declared properties, promoted and assigned": """
        // --- Cart.php
        <?php
        class Repo { public function store() {} }
        class Cart {
            private Repo $repo;
            public function __construct(private ?Repo $other) { $this->made = new Repo(); }
            // ^ calls Repo
            public function save(Repo $given) {
                $this->repo->store();
                // ^ calls Repo.store
                $this->other->store();
                // ^ calls Repo.store
                $this->made->store();
                // ^ calls Repo.store
                $given->store();
                // ^ calls Repo.store by declared type
                $x = new Repo();
                $x?->store();
                // ^ calls Repo.store by assigned from a call
            }
        }
        """,
    "kinds and comments": """
        // --- Cart.php
        <?php
        /** A thing. */
        interface Thing {}
        // ^ defines interface Thing
        // ^ doc A thing.
        enum Colour: string { case Red = 'r'; }
        // ^ defines enum Colour
        class Cart { const LIMIT = 3; }
        // ^ defines constant Cart.LIMIT
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-PHP")
def test_php(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
