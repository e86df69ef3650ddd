"""What was chosen for a chat, as its ``settings`` keep it: which text filters are on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from cellwright.context.text_filters import STANDARD_FILTERS, checked_filters

TEXT_FILTERS = "text_filters"


def filters_of(settings: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names of the chat's text filters, in order; None: the standard ones.

    Another version may have written names that there are not here.
    """
    names = settings.get(TEXT_FILTERS)
    if not isinstance(names, list):
        return None
    return tuple(name for name in names if isinstance(name, str))


def with_filters(settings: Mapping[str, Any], names: Iterable[str] | None) -> dict[str, Any]:
    """The settings with other text filters; all else stays.

    Args:
        settings: As they are.
        names: Those that are on, in order; None: the standard ones.

    Raises:
        SetupError: There is no filter of a name.
    """
    others = {name: value for name, value in settings.items() if name != TEXT_FILTERS}
    chosen = STANDARD_FILTERS if names is None else checked_filters(names)
    if chosen == STANDARD_FILTERS:
        return others
    return {**others, TEXT_FILTERS: list(chosen)}
