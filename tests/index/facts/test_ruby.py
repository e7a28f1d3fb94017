"""What we know of Ruby, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a method of the same class": """
        # --- cart.rb
        class Cart
          # ^ defines class Cart
          def price; end
          # ^ defines method Cart.price
          def total
            price
            # ^ calls Cart.price
            self.price
            # ^ calls Cart.price by self
            price()
            # ^ calls Cart.price
          end
        end
        """,
    "modules and nesting": """
        # --- shop.rb
        module Shop
          # ^ defines namespace Shop
          class Cart
            # ^ defines class Shop.Cart
            def self.make(n)
              # ^ defines method Shop.Cart.make
              # ^ signature def self.make(n)
              new
            end
          end
        end
        Shop::Cart.make(1)
        # ^ calls Shop.Cart.make
        """,
    "a constructor": """
        # --- cart.rb
        class Cart
          def initialize(n); end
          # ^ defines constructor Cart.initialize
        end
        Cart.new(1)
        # ^ calls Cart.initialize
        """,
    "an inherited method and super": """
        # --- base.rb
        class Base
          def price; end
          def tax; end
        end
        # --- cart.rb
        require_relative 'base'
        # ^ imports ./base:*
        class Cart < Base
          # ^ inherits Base
          def total
            self.tax
            # ^ calls Base.tax by inherited
            tax
            # ^ calls Base.tax by inherited
          end
          def price
            super
            # ^ calls Base.price by super
          end
        end
        """,
    "a mixed-in method": """
        # --- cart.rb
        module Priced
          def price; end
        end
        class Cart
          include Priced
          # ^ inherits Priced
          def total
            self.price
            # ^ calls Priced.price
          end
        end
        """,
    "a variable and a field that were constructed": """
        # --- cart.rb
        class Repo
          def store; end
        end
        class Cart
          def initialize
            @repo = Repo.new
            # ^ calls Repo
          end
          def save
            @repo.store
            # ^ calls Repo.store
            other = Repo.new
            other.store
            # ^ calls Repo.store
          end
        end
        """,
    "a function of the file": """
        # --- run.rb
        def help(a)
          # ^ defines function help
        end
        help 1
        # ^ calls help
        """,
    "constants and attributes": """
        # --- cart.rb
        class Cart
          LIMIT = 3
          # ^ defines constant Cart.LIMIT
          attr_reader :size
          # ^ defines property Cart.size
        end
        """,
    "comments in front": """
        # --- cart.rb
        # A basket.
        class Cart
          # ^ doc A basket.
        end
        """,
    "a class reopened in another file": """
        # --- a.rb
        class Cart
          def price; end
        end
        # --- b.rb
        class Cart
          def total
            price
            # ^ calls Cart.price
          end
        end
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-RUBY")
def test_ruby(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
