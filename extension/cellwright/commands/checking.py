"""``cellwright doctor``: is everything there that a run needs?"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from cellwright.commands import COMPLETED, NOT_COMPLETED, Invocation
from cellwright.commands import doctor as doctor_checks
from cellwright.commands.terminal import one_line

MARKS = {"ok": "✓", "warning": "!", "failed": "✗", "skipped": "-"}


def doctor(invocation: Invocation) -> int:
    """Show every check with what to do next; with ``--repair``, what was read back."""
    options = invocation.options
    if options.repair is None:
        found = doctor_checks.checks(invocation.settings, send=options.send)
    else:
        source = Path(options.repair).expanduser() if options.repair else None
        found = doctor_checks.repair_record(invocation.settings, source)
    lines = []
    for check in found:
        lines.append(f"{MARKS[check.status]} {check.name}: {_words(check.text)}")
        if check.action:
            lines.append(f"  {_words(check.action)}")
    failed = any(check.status == "failed" for check in found)
    document = {"ok": not failed, "checks": [asdict(check) for check in found]}
    invocation.console.result(document, "\n".join(lines))
    return NOT_COMPLETED if failed else COMPLETED


def _words(text: str) -> str:
    # The checks name the magic; here the same command is typed without the sign.
    return one_line(text).replace("%agent doctor", "cellwright doctor")
