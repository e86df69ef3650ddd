"""The id that a person means by what they typed: one rule for runs, chats, turns and memories."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.errors import SetupError

SHOWN = 5


def find_id(name: str, ids: Sequence[str], what: str) -> str:
    """The one id that a name means: ``last``, all of it, its start, else its end or a part.

    A part is what stands between hyphens: of ``20261123-122744-b8b06e``, which says when a run
    started, the time alone will do, and so will the time with what follows it.

    Args:
        name: What was typed.
        ids: Those there are, the newest first.
        what: What they are ids of, such as ``run``.

    Raises:
        SetupError: None is meant, or several are.
    """
    wanted = name.strip()
    if wanted in ids:
        return wanted
    if wanted == "last" and ids:
        return ids[0]
    begin = [each for each in ids if wanted and each.startswith(wanted)]
    found = begin or [each for each in ids if wanted and _has_part(wanted, each)]
    if len(found) == 1:
        return found[0]
    shown = ", ".join((found or ids)[:SHOWN])
    if found:
        which = f"The newest {SHOWN} are" if len(found) > SHOWN else "They are"
        raise SetupError(f"{name!r} fits {len(found)} ids.", hint=f"{which}: {shown}.")
    hint = f"The newest are: {shown}." if shown else f"There is no {what} yet."
    raise SetupError(f"There is no {what} {name!r}.", hint=hint)


def _has_part(wanted: str, whole: str) -> bool:
    return whole.endswith(wanted) or f"-{wanted}" in whole
