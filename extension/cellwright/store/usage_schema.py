"""The tables of what models have cost, and how much a month may cost."""

from __future__ import annotations

import contextlib
import sqlite3

BACKFILL = """
INSERT OR IGNORE INTO usage_calls
SELECT runs.run_id, events.sequence, 0, events.time,
    strftime('%Y-%m', events.time, 'unixepoch'), runs.model,
    COALESCE(json_extract(began.data, '$.assistant'), ''),
    COALESCE(chat_runs.chat_id, runs.run_id), '', 'replied',
    COALESCE(json_extract(events.data, '$.usage.prompt_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.cached_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.completion_tokens'), 0),
    COALESCE(json_extract(events.data, '$.usage.estimated'), 0),
    json_extract(events.data, '$.cost_dollars')
FROM events
JOIN runs ON runs.run_id = events.run_id
LEFT JOIN chat_runs ON chat_runs.run_id = events.run_id
LEFT JOIN events AS began
    ON began.run_id = events.run_id AND began.kind = 'run_started' AND json_valid(began.data)
WHERE events.kind = 'model_replied' AND runs.lane != 'replay' AND json_valid(events.data)
"""


def m005_usage(connection: sqlite3.Connection) -> None:
    """Every call of a model with its tokens and cost; and what a month may cost."""
    connection.execute(
        """CREATE TABLE usage_calls (
            run_id TEXT NOT NULL,
            call INTEGER NOT NULL,
            part INTEGER NOT NULL,
            at REAL NOT NULL,
            month TEXT NOT NULL,
            model TEXT NOT NULL,
            assistant TEXT NOT NULL,
            chat_id TEXT NOT NULL,
            tool TEXT NOT NULL,
            state TEXT NOT NULL,
            input_tokens INTEGER NOT NULL,
            cached_tokens INTEGER NOT NULL,
            output_tokens INTEGER NOT NULL,
            estimated INTEGER NOT NULL,
            cost_dollars REAL,
            PRIMARY KEY (run_id, call, part)
        )"""
    )
    connection.execute("CREATE INDEX usage_calls_by_month ON usage_calls (month)")
    connection.execute("CREATE TABLE usage_budgets (name TEXT PRIMARY KEY, amount REAL NOT NULL)")
    # An SQLite without JSON begins to count now.
    with contextlib.suppress(sqlite3.OperationalError):
        connection.execute(BACKFILL)
