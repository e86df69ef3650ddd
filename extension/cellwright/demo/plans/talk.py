"""Answers that need no tool."""

from __future__ import annotations

NOTICE = (
    "I am cellwright's demo model, a set of rules, not a language model: set OPENAI_API_KEY or "
    "CELLWRIGHT_BASE_URL for a real one."
)
GREETING = "Hello! I can work on tables for you; ask what I can do."
ABILITIES = """\
I only know a few kinds of requests, about a CSV file or a DataFrame:

- `profile sales.csv`
- `plot revenue by month`, also as bars, a histogram or a scatter plot
- `what is the mean of units by region`, also sum, max, min, median, count, top 5
- `which month had the best revenue, by region`
- `clean missing values`
- `fix the error in my last cell`

Add "leave the table in `name`" to choose the variable. For anything else you need a real model."""
NO_TOOL = "I work by running cells, and this request offers no `run_cell` tool."
