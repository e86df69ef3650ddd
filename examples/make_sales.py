"""Make the demo's sales table: synthetic orders with the flaws that real exports have.

Standard library only and a fixed seed, so that every run writes the same bytes:

    python examples/make_sales.py extension/cellwright/demo/data/sales.csv
"""

from __future__ import annotations

import csv
import random
import sys
from datetime import date, timedelta
from pathlib import Path

SEED = 20260117
ROWS = 360
FIRST_DAY = date(2025, 1, 1)
REGIONS = {"North": 1.0, "South": 1.25, "East": 0.85, "West": 1.1}
PRODUCTS = {"Desk lamp": 34.5, "Office chair": 189.0, "Standing desk": 459.0, "Monitor arm": 79.9}
SEASON = (0.8, 0.85, 0.95, 1.0, 1.05, 1.1, 0.9, 0.8, 1.1, 1.2, 1.45, 1.6)
HEADER = ("order_id", "order_date", "region", "product", "units", "unit_price", "revenue")


def main() -> None:
    """Write the table to the path given."""
    path = Path(sys.argv[1])
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(HEADER)
        writer.writerows(orders(random.Random(SEED)))


def orders(chance: random.Random) -> list[tuple[str, ...]]:
    """Every order of the year, oldest first."""
    days = sorted(chance.randrange(365) for _ in range(ROWS))
    return [order(chance, number, day) for number, day in enumerate(days, start=1)]


def order(chance: random.Random, number: int, day: int) -> tuple[str, ...]:
    """One order, with a flaw now and then; the first rows have none."""
    ordered = FIRST_DAY + timedelta(days=day)
    region = chance.choice(list(REGIONS))
    product = chance.choice(list(PRODUCTS))
    units = 1 + int(chance.expovariate(0.25) * REGIONS[region] * SEASON[ordered.month - 1])
    price = round(PRODUCTS[product] * chance.uniform(0.92, 1.05), 2)
    flaw = chance.random() if number > 10 else 1.0
    return (
        f"S-{number:04}",
        ordered.strftime("%d %b %Y") if 0.10 < flaw < 0.13 else ordered.isoformat(),
        "" if flaw < 0.02 else region,
        product,
        "" if 0.02 < flaw < 0.05 else str(units),
        f"{price:.2f}",
        revenue(units * price, flaw),
    )


def revenue(amount: float, flaw: float) -> str:
    """An amount as people type it: sometimes missing, not settled yet, or with a comma."""
    if 0.05 < flaw < 0.08:
        return "n/a" if flaw < 0.065 else ""
    if 0.08 < flaw < 0.09:
        return "pending"
    return f"{amount:,.2f}" if 0.13 < flaw < 0.30 else f"{amount:.2f}"


if __name__ == "__main__":
    main()
