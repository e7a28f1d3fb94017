"""What we know of Lua, by source files that say what is true of them."""

import pytest

from tests.index.claims import check

CASES = {
    "a local function": """
        -- --- shop.lua
        local function total(a) return a end
        -- ^ defines function total
        -- ^ hidden
        total(1)
        -- ^ calls shop.total
        """,
    "a module that returns its table": """
        -- --- shop.lua
        local M = {}
        -- ^ defines object M
        function M.total(a) return a end
        -- ^ defines method M.total
        -- ^ inside M
        return M
        -- --- main.lua
        local shop = require("shop")
        -- ^ imports shop
        shop.total(1)
        -- ^ calls shop.M.total
        """,
    "a module in a folder": """
        -- --- lib/cart/init.lua
        local M = {}
        function M.total() end
        return M
        -- --- main.lua
        local cart = require "lib.cart"
        -- ^ imports lib.cart as cart
        cart.total()
        -- ^ calls cart.M.total
        """,
    "methods of self": """
        -- --- shop.lua
        local Cart = {}
        function Cart:price() return 1 end
        -- ^ defines method Cart.price
        function Cart:total() return self:price() end
        -- ^ calls shop.Cart.price by self
        """,
    "a constructor by convention": """
        -- --- shop.lua
        local Cart = {}
        function Cart.new() return setmetatable({}, Cart) end
        function Cart:total() end
        local cart = Cart.new()
        cart:total()
        -- ^ calls shop.Cart.total by assigned from a call
        """,
    "a table that inherits": """
        -- --- shop.lua
        local Base = {}
        function Base:price() end
        local Cart = setmetatable({}, { __index = Base })
        -- ^ inherits Base
        function Cart:total() self:price() end
        -- ^ calls shop.Base.price
        """,
    "functions as values": """
        -- --- shop.lua
        local M = {
          help = function() end,
          -- ^ defines method M.help
        }
        M.total = function(a) M.help() end
        -- ^ defines method M.total
        -- ^ calls shop.M.help
        """,
    "a library is open": """
        -- --- shop.lua
        local json = require("cjson")
        json.encode(1)
        -- ^ external cjson.encode
        print(1)
        -- ^ unresolved
        """,
    "comments in front": """
        -- --- shop.lua
        --- Adds it up.
        function total() end
        -- ^ doc Adds it up.
        """,
}


@pytest.mark.parametrize("promise", CASES)
@pytest.mark.shows("FACT-LUA")
def test_lua(promise: str) -> None:
    check(CASES[promise])


def test_there_are_enough_cases() -> None:
    assert len(CASES) >= 8
