"""``search_library``: the model asks the documents of this project."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar

from cellwright.knowledge.library import HIT_LIMIT, Hit
from cellwright.knowledge.library.libraries import Libraries
from cellwright.knowledge.library.numbering import ChatNumbers, Numbering
from cellwright.knowledge.library.references import DATA_NOTE, place_words, reference
from cellwright.knowledge.library.searching import Scope
from cellwright.record.content import ComponentOutput, text
from cellwright.tools import Component, Risk, ToolContext, ToolYield

TOKEN_LIMIT = 2_000
CHARACTERS_PER_TOKEN = 4
HEAD = f"[{DATA_NOTE}; cite what you use with its number, such as [{{first}}]]"
NOTHING = "The library has nothing about {query!r}. Try other words, or answer without it."
EMPTY = "No library is open to this run. The person can add one: %agent library add FOLDER."


class SearchLibrary(Component):
    """Searches the documents that the person has added.

    Args:
        libraries: Where they are.
        numbering: Numbers of what was found, and where runs may look.
    """

    name: ClassVar[str] = "search_library"
    risk: ClassVar[Risk] = "read"

    def __init__(self, libraries: Libraries, numbering: Numbering) -> None:
        self._libraries = libraries
        self._numbering = numbering

    def label(self, **arguments: object) -> str:
        """For people."""
        return f"look in the library for {arguments.get('query')}"

    def tool_eval(self, context: ToolContext, query: str) -> Iterator[ToolYield]:
        """Search the person's documents: guides, data dictionaries, notebooks, papers.

        Cite what you use in the answer as [number].

        Args:
            query: A few telling words, or a question.
        """
        scope = self._scope(context)
        if not scope.libraries:
            yield text(EMPTY, scope="llm")
            return
        results = self._libraries.searcher.search(scope, query, HIT_LIMIT)
        hits = within_tokens(results.hits)
        if not hits:
            yield text(NOTHING.format(query=query), scope="llm")
            return
        numbers = self._numbering.of(context.chat_id)
        yield text(_told(hits, numbers), scope="llm")
        shown = tuple(reference(numbers.number_of(hit), hit) for hit in hits)
        yield ComponentOutput(shown)

    def _scope(self, context: ToolContext) -> Scope:
        allowed = self._numbering.scope(context.run_id)
        if allowed is not None:
            return allowed
        # called by hand: whoever calls works in this kernel
        folder = context.kernel.describe().cwd or str(Path.cwd())
        return Scope(self._libraries.defaults(folder))


def within_tokens(hits: tuple[Hit, ...], limit: int = TOKEN_LIMIT) -> tuple[Hit, ...]:
    """The first hits that fit into so many tokens, at least one."""
    kept: list[Hit] = []
    room = limit
    for hit in hits:
        room -= _tokens(hit.text) + _tokens(hit.heading)
        if room < 0 and kept:
            break
        kept.append(hit)
    return tuple(kept)


def _tokens(words: str) -> int:
    """About how many tokens a text costs; a Chinese sign is one."""
    wide = sum(sign > "\u2e7f" for sign in words)
    return wide + (len(words) - wide) // CHARACTERS_PER_TOKEN + 1


def _told(hits: tuple[Hit, ...], numbers: ChatNumbers) -> str:
    blocks = [HEAD.format(first=numbers.number_of(hits[0]))]
    for hit in hits:
        blocks.append(f"[{numbers.number_of(hit)}] {place_words(hit)}\n{hit.text}")
    return "\n\n".join(blocks)
