"""``cellwright tools``: services whose functions the agent may call."""

from __future__ import annotations

from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands.records import open_store
from cellwright.commands.terminal import one_line
from cellwright.external.commands import order, parse
from cellwright.external.source import open_outside
from cellwright.record.values import to_dict


def tools(invocation: Invocation) -> int:
    """Do what the action says, for the current folder."""
    given = invocation.options
    options = parse([given.action, *given.words])
    invocation.console.as_json = invocation.console.as_json or options.json
    with open_store(invocation) as store:
        outside = open_outside(store.database, invocation.settings)
        try:
            lines = [_worded(line) for line in order(options, outside)]
            rows = [to_dict(row) for row in outside.rows()]
        finally:
            outside.close()
    failed = any(line.startswith("✗") for line in lines)
    document = {"ok": not failed, "lines": lines, "tools": rows}
    invocation.console.result(document, "\n".join(lines))
    return NOT_COMPLETED if failed else COMPLETED


def _worded(line: str) -> str:
    # what is said of the magic is typed without the sign here
    indent = line[: len(line) - len(line.lstrip())]
    return indent + one_line(line).replace("%agent tool", "cellwright tools")
