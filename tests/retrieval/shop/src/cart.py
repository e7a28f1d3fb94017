"""What a customer means to buy."""

from dataclasses import dataclass, field


@dataclass
class Cart:
    """Lines of goods, each with how many."""

    lines: dict[str, int] = field(default_factory=dict)

    def put_in(self, sku: str, how_many: int = 1) -> None:
        if how_many < 1:
            raise ValueError("a cart line needs at least one piece")
        self.lines[sku] = self.lines.get(sku, 0) + how_many

    def take_out(self, sku: str) -> None:
        self.lines.pop(sku, None)


def total_cents(cart: Cart, prices: dict[str, int], discount_percent: int = 0) -> int:
    """Sum of all lines, rounded half up after the rebate."""
    gross = sum(prices[sku] * count for sku, count in cart.lines.items())
    return (gross * (100 - discount_percent) + 50) // 100
