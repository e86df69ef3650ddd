"""A small DSEval of our own: one benchmark, two problem sets, made in a folder."""

from __future__ import annotations

from pathlib import Path

MANIFEST = "name: Shop\nversion: 1\n"
ORDERS = '''A text before the first block is not read.

# %%
import pandas as pd
import numpy as np

# %%
"""
question: Read inputs/orders.csv into `orders`.

validator:
  namespace_check:
    orders:

data:
  orders.csv: somewhere
"""

orders = pd.read_csv("inputs/orders.csv")

# %%
"""
question: What is the mean price?
"""

orders.price.mean()

# %%
limit = 10

# %%
"""
question: Add a column `is_dear` for prices above `limit`.

validator:
  template: intact
  namespace_check:
    orders:

execution:
  max_time: 30
  forbid_names: [limit_again]
"""

orders["is_dear"] = orders.price > limit
'''
ROUNDING = '''# %%
"""
question: Write a function `halved(table)` that halves the column `n`.

validator:
  table_test:
    function_name: halved
    test_cases:
    - - "`pd.DataFrame({'n': [2, 4]})`"
"""

def halved(table):
    return table.assign(n=table.n / 2)
'''
BROKEN = '# %%\n"""\nquestion: Divide.\n"""\n\n1 / 0\n'
ABSENT = '# %%\n"""\nquestion: Read it.\n"""\n\nopen("inputs/absent.csv").read()\n'


def write_dseval(root: Path) -> Path:
    """A checkout as small as can be."""
    folder = root / "benchmarks" / "shop"
    own = folder / "_inputs" / "orders"
    own.mkdir(parents=True)
    (folder / "_manifest.yaml").write_text(MANIFEST)
    (folder / "orders.py").write_text(ORDERS)
    (folder / "rounding.py").write_text(ROUNDING)
    (folder / "absent.py").write_text(ABSENT)
    (folder / "broken.py").write_text(BROKEN)
    (folder / "_draft.py").write_text("this is no problem set")
    (own / "orders.csv").write_text("item,price\npen,2\nbook,20\n")
    return root
