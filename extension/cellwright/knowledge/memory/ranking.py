"""Which memories a question needs: those that share its words, standing wishes, the newest."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence

from cellwright.knowledge.memory import Memory
from cellwright.knowledge.memory.words import token_estimate, words_of

TOKEN_LIMIT = 1_000
"""Of all memories that go with one question."""
MATCHING_LIMIT = 8
OTHERS_LIMIT = 4
STANDING_TOKENS = 300
"""Of wishes that count for every question, whatever its words are."""
REST_TOKENS = 150
"""Of the newest others, which a question may mean in other words."""
LINE_TOKENS = 6
"""What a line costs beside its text."""
STANDING = re.compile(
    r"\b(?:always|never|prefer\w*|favou?rite|instead of|by default|from now on|call me|my name"
    r"|answer|reply|explain|write|use|avoid|don't|do not|keep)\b"
    r"|总是|始终|永远|一律|每次|以后|今后|从不|不要|别|喜欢|偏好|习惯|倾向|叫我|我叫",
    re.IGNORECASE,
)


def is_standing(text: str) -> bool:
    """Whether it is a wish about how to work, not a fact about one thing."""
    return STANDING.search(text) is not None


def matching(memories: Sequence[Memory], question: str) -> list[Memory]:
    """Those that share words with a question, those with the rarest words first."""
    wanted = words_of(question)
    counts = Counter(word for memory in memories for word in words_of(memory.text) & wanted)
    weights = {word: math.log(1 + len(memories) / count) for word, count in counts.items()}

    def score(memory: Memory) -> float:
        words = words_of(memory.text)
        return sum(weights[word] for word in words & wanted) / math.sqrt(len(words) or 1)

    scored = [(score(memory), memory) for memory in memories]
    found = [item for item in scored if item[0] > 0]
    found.sort(key=lambda item: (-item[0], -item[1].updated_at))
    return [memory for _, memory in found]


def relevant(memories: Sequence[Memory], question: str) -> tuple[Memory, ...]:
    """What goes with a question, within 1,000 tokens; what matches it best comes first."""
    chosen: dict[str, Memory] = {}
    standing = [memory for memory in memories if is_standing(memory.text)]
    room = TOKEN_LIMIT
    for group, tokens, count in (
        (matching(memories, question), TOKEN_LIMIT - STANDING_TOKENS, MATCHING_LIMIT),
        (standing, STANDING_TOKENS, OTHERS_LIMIT),
        (memories, REST_TOKENS, OTHERS_LIMIT),
    ):
        new = (memory for memory in group if memory.memory_id not in chosen)
        for memory in _within(new, min(tokens, room), count):
            chosen[memory.memory_id] = memory
            room -= _cost(memory)
    return tuple(chosen.values())


def _within(memories: Iterable[Memory], tokens: int, count: int) -> list[Memory]:
    taken: list[Memory] = []
    for memory in memories:
        if len(taken) == count:
            break
        if _cost(memory) <= tokens:
            taken.append(memory)
            tokens -= _cost(memory)
    return taken


def _cost(memory: Memory) -> int:
    return token_estimate(memory.text) + LINE_TOKENS
