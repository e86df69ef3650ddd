"""``%agent filters``: what is done to a person's words before they are sent, and in which order."""

from __future__ import annotations

from collections.abc import Sequence

from cellwright.context.text_filters import (
    STANDARD_FILTERS,
    TEXT_FILTERS,
    checked_filters,
    known_filters,
)
from cellwright_magics.chat_words import ChatWords
from cellwright_magics.reports import Table


class FilterTable(Table):
    """The text filters: those that are on in their order, then the others.

    Args:
        names: Those that are on, in their order; None: all, in the standard order.
    """

    headings = ("order", "filter", "", "what it does")

    def __init__(self, names: Sequence[str] | None) -> None:
        self.on = known_filters(names)

    def rows(self) -> list[tuple[str, ...]]:
        """One row a filter."""
        on = [(str(n), item.name, "on", item.does) for n, item in enumerate(self.on, start=1)]
        off = [("–", item.name, "off", item.does) for item in TEXT_FILTERS if item not in self.on]
        return [*on, *off]


def filters_command(words: Sequence[str], own: ChatWords) -> FilterTable:
    """Do what the words after ``filters`` say; how it is then.

    Args:
        words: The words.
        own: Where the conversation keeps its choice.

    Raises:
        SetupError: There is no filter of a name.
    """
    match list(words):
        case []:
            pass
        case ["reset"]:
            own.choose_filters(None)
        case ["off"]:
            own.choose_filters(())
        case [name, "on" | "off" as switch]:
            checked_filters((name,))
            others = [item.name for item in known_filters(own.text_filters) if item.name != name]
            own.choose_filters(_with(others, name) if switch == "on" else others)
        case names:
            own.choose_filters(names)
    return FilterTable(own.text_filters)


def _with(names: Sequence[str], name: str) -> list[str]:
    """The names with one more, after those that stand before it where all are on."""
    earlier = STANDARD_FILTERS[: STANDARD_FILTERS.index(name)]
    place = max((number for number, other in enumerate(names, 1) if other in earlier), default=0)
    return [*names[:place], name, *names[place:]]
