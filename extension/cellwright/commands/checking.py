"""``doctor``: is everything there that a run needs?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cellwright.commands import COMPLETED, NOT_COMPLETED, VerbContext
from cellwright.commands import doctor as doctor_checks
from cellwright.commands.doctor_probes import probe_provider
from cellwright.commands.results import Result
from cellwright.commands.terminal import one_line

MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "skipped": "-"}


def doctor(context: VerbContext) -> Result:
    """Show every check with what to do next; with ``--repair``, what was read back.

    With ``--provider``, show what a service was seen to do.
    """
    if context.options.provider is not None:
        return probe_provider(context)
    repair, prefix = context.options.repair, context.prefix
    if repair is None:
        found = doctor_checks.checks(context.settings, send=context.options.send)
    else:
        source = Path(repair).expanduser() if repair else None
        found = doctor_checks.repair_record(context.settings, source)
    rows, lines = [], []
    for check in found:
        # The checks name the magic.
        text, action = (
            one_line(words).replace("%agent doctor", f"{prefix}doctor")
            for words in (check.text, check.action)
        )
        rows.append((MARKS[check.status], check.name, text, action))
        lines += [f"{MARKS[check.status]} {check.name}: {text}", *([f"  {action}"] * bool(action))]
    failed = any(check.status == "failed" for check in found)
    return Result(
        headings=("", "check", "found", "what to do"),
        rows=rows,
        items=found,
        document={"ok": not failed, "checks": [asdict(check) for check in found]},
        plain="\n".join(lines),
        exit_code=NOT_COMPLETED if failed else COMPLETED,
    )
