"""Turns of long ago, found again by what they say.

A block is one run: what was asked, the cells that ran with what came of them, the answer. Those
that fit a question are shown beside it when their turns are no longer in the window.
"""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Protocol

from cellwright.record.outputs import Output
from cellwright.record.run_record import RecordedExecution, RunRecord

RECALLED = 7
"""At most so many are shown beside a question (requirements 002-63)."""
QUESTION_CHARACTERS, ANSWER_CHARACTERS = 2_000, 1_500
CODE_CHARACTERS, OUTPUT_CHARACTERS = 400, 240
TEXT_CHARACTERS = 8_192
CELLS_TOLD = 12
FLOOR = 0.2
"""A block that holds less of what a question says, by weight, is not like it."""
TERMS = 40
WORD = re.compile(r"[^\W_]+(?:_[^\W_]+)*|[^\W\d_]+", re.UNICODE)
WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]+")
COMMON_WORDS = """
a an and are as at be but by can could did do does for from give had has have he her his
how i if in into is it its let me my no not now of on one or our out please say she so
some tell than that the their them then there these they this those to up us use was we
were what when where which who why will with would you your
"""
COMMON = frozenset(COMMON_WORDS.split())


@dataclass(frozen=True)
class Block:
    """One turn as it can be found again."""

    run_id: str
    opening: str
    """Of its question; see ``turns.opening_of``."""
    text: str

    def hash_in(self, chat_id: str) -> str:
        """What tells it from other blocks of the same chat (requirements 002-62)."""
        return hashlib.sha256(f"{chat_id}\0{self.text}".encode("utf-8", "replace")).hexdigest()


@dataclass(frozen=True)
class Recalled:
    """What was found for a question."""

    blocks: tuple[Block, ...] = ()
    """Those that are most like it, oldest first, at most ``RECALLED``."""
    problem: str = ""
    """Why not all was looked at."""


class BlockShelf(Protocol):
    """Where the blocks of all chats are."""

    def keep(self, chat_id: str, block: Block) -> None:
        """Keep a block; one with the same text is kept once a chat."""
        ...

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        """The blocks of a chat that are most like a query.

        Args:
            chat_id: Whose blocks.
            query: The person's words.
            without: Openings of turns that are still in the window.
        """
        ...


class MemoryBlocks:
    """Blocks for as long as this object lives."""

    def __init__(self) -> None:
        self._blocks: dict[str, dict[str, Block]] = {}

    def keep(self, chat_id: str, block: Block) -> None:
        """Keep a block."""
        self._blocks.setdefault(chat_id, {}).setdefault(block.hash_in(chat_id), block)

    def find(self, chat_id: str, query: str, without: Collection[str]) -> Recalled:
        """The blocks that are most like a query."""
        kept = self._blocks.get(chat_id, {}).values()
        blocks = [block for block in kept if block.opening not in without]
        best = best_of([block.text for block in blocks], terms_of(query))[:RECALLED]
        return Recalled(tuple(blocks[place] for place in sorted(best)))


def block_of(record: RunRecord, opening: str) -> Block | None:
    """A run as a block; None where nothing came of it (requirements 002-61)."""
    if not (record.answer.strip() or record.executions):
        return None
    told = [_ran(execution) for execution in record.executions[-CELLS_TOLD:]]
    pieces = [f"asked: {_cut(record.prompt, QUESTION_CHARACTERS)}", *told]
    if record.answer.strip():
        pieces.append(f"answered: {_cut(record.answer, ANSWER_CHARACTERS)}")
    return Block(record.run_id, opening, "\n".join(pieces)[:TEXT_CHARACTERS])


def terms_of(query: str) -> tuple[str, ...]:
    """What to look for: words that say something, and pairs of signs where no blanks part words."""
    found: list[str] = []
    for word in WORD.findall(query.casefold()):
        wide = WIDE.findall(word)
        for run in wide:
            found += [run[i : i + 2] for i in range(len(run) - 1)] or [run]
        rest = WIDE.sub("", word)
        if rest and rest not in COMMON and (len(rest) > 1 or rest.isdigit()):
            found.append(rest)
    return tuple(dict.fromkeys(found))[:TERMS]


def best_of(blocks: Sequence[str], terms: Sequence[str]) -> tuple[int, ...]:
    """Places of the texts that hold most of the terms, rare ones counting more; the best first.

    Args:
        blocks: The texts, oldest first; of two that are as good the newer one counts.
        terms: What is looked for.
    """
    texts = [text.casefold() for text in blocks]
    holding = {term: sum(term in text for text in texts) for term in terms}
    weights = {t: math.log(1 + len(texts) / (0.5 + n)) for t, n in holding.items() if n}
    scores = [sum(weight for term, weight in weights.items() if term in text) for text in texts]
    order = sorted(range(len(blocks)), key=lambda place: (-scores[place], -place))
    floor = FLOOR * sum(weights.values())
    return tuple(place for place in order if scores[place] > floor)


def _ran(execution: RecordedExecution) -> str:
    ended = execution.execution
    error = f"{ended.error.ename}: {ended.error.evalue}" if ended and ended.error else ""
    shown = error or (ended.result_summary if ended else "") or _outputs(execution.outputs)
    code = _cut(execution.source, CODE_CHARACTERS)
    told = f"\n  -> {_cut(shown, OUTPUT_CHARACTERS)}" if shown.strip() else ""
    return f"cell {execution.cell_id}: {code}{told}"


def _outputs(outputs: Iterable[Output]) -> str:
    texts = []
    for output in outputs:
        data = getattr(output, "data", {})
        texts.append(str(getattr(output, "text", "") or data.get("text/plain", "")))
    return "\n".join(filter(None, texts))


def _cut(text: str, limit: int) -> str:
    text = text.strip()
    return text if len(text) <= limit else f"{text[: limit - 1].rstrip()}…"
