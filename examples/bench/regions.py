"""A suite in Python: a sample for each region of one table, scored by a function as well."""

import csv
from collections import Counter
from pathlib import Path

TABLE = Path(__file__).with_name("sales.csv")


def samples():
    """Ask for each region's total, and for its share of all."""
    totals = Counter()
    with TABLE.open(encoding="utf-8") as file:
        for row in csv.DictReader(file):
            totals[row["region"]] += int(row["revenue"])
    everything = sum(totals.values())
    for region, total in sorted(totals.items()):

        def is_near(run, wanted=total / everything):
            """1 where the share is right, 0.5 where it is in percent."""
            share = run.value("share")
            if abs(share - wanted) < 0.005:
                return 1.0
            return 0.5 if abs(share - 100 * wanted) < 0.5 else 0.0

        yield {
            "id": region,
            "prompt": (
                f"Put the revenue of {region} in sales.csv into `total` and its share of all "
                "revenue into `share`. Answer with @total[number]."
            ),
            "family": "regions",
            "files": ["*.csv"],
            "metadata": {"source": TABLE.name},
            "checks": [
                {"variable": "total", "equals": total, "points": 2},
                {"any_of": [{"answer": {"name": "total", "value": total}}, {"stdout": str(total)}]},
                is_near,
            ],
            "reference": (
                "import pandas as pd\n"
                "revenue = pd.read_csv('sales.csv').groupby('region').revenue.sum()\n"
                f"total = int(revenue[{region!r}])\n"
                "share = total / revenue.sum()"
            ),
            "answer": f"@total[{total}]",
        }
