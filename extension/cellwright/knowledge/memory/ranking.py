"""Which memories a question needs: words of texts, how alike they are, a rank for each."""

from __future__ import annotations

import functools
import hashlib
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence

from cellwright.knowledge.memory import Memory
from cellwright.text.truncation import estimate_tokens

# The words of a short text, in European languages and in Chinese, and how alike two texts are.


WORD = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]+|[^\W_]+")
WIDE = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uf900-\ufaff\uac00-\ud7af]")
WIDE_STOPS = re.compile(
    "我们|你们|他们|什么|怎么|时候|多少|总是|不要|不再|不用|记住|忘记|忘掉|以后|今后|请问|一下|都用|的事"
    "|[的了是我你他她它们请在把会用都要也就和与从以很更吗呢吧啊这那哪个里有不别再]"
)
"""Parts of Chinese sentences that say nothing of what they are about."""
STOP_WORDS = (
    "column columns field fields table tables "
    "a about all also always am an and any anymore are as at be because but by can could do "
    "does doesn don for forget from go had has have how i if in into is isn it its just keep "
    "let like longer make may me more must my never no not now of off on only or our out own "
    "please prefer preferred prefers rather remember s shall should show so some stop such t "
    "than that the their them then there these they this those to too up us use used uses "
    "using usually want was we were what when where which while who why will with would you "
    "your"
)
STOPS = frozenset(STOP_WORDS.split())
EDGES = " \t\n.,;:!?'\"“”‘’«»()[]。，；：！？（）【】、"
REMEMBERED = 8_192


def tidy(text: str) -> str:
    """The text on one line, as it is kept: no odd blanks, no signs that cannot be seen."""
    if not text.isprintable():
        text = "".join(c if unicodedata.category(c)[0] != "C" else " " for c in text)
    return " ".join(text.split())


@functools.lru_cache(maxsize=REMEMBERED)
def fingerprint(text: str) -> str:
    """The same for texts that differ in case, blanks, width or the signs at their ends alone."""
    plain = tidy(unicodedata.normalize("NFKC", text)).casefold().strip(EDGES)
    return hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest()[:32]


@functools.lru_cache(maxsize=REMEMBERED)
def words_of(text: str) -> frozenset[str]:
    """What a text is about: its words without endings; of Chinese each two neighbours."""
    return frozenset(_in_order(text))


def same_subject(first: str, second: str) -> bool:
    """Whether each text names what the other one begins with, so that both say something of it."""
    subjects = [next(_in_order(text), "") for text in (first, second)]
    both = words_of(first) & words_of(second)
    return all(subject in both for subject in subjects)


def likeness(first: str, second: str) -> float:
    """From 0, nothing in common, to 1, the same words."""
    one, other = words_of(first), words_of(second)
    return len(one & other) / len(one | other) if one or other else 0.0


def covered(part: str, whole: str) -> float:
    """How much of the one text is said in the other, from 0 to 1."""
    wanted = words_of(part)
    return len(wanted & words_of(whole)) / len(wanted) if wanted else 0.0


def _in_order(text: str) -> Iterator[str]:
    for run in WORD.findall(unicodedata.normalize("NFKC", text).casefold()):
        if WIDE.match(run):
            for piece in WIDE_STOPS.split(run):
                yield from _pairs(piece)
        elif run not in STOPS:
            yield _stem(run)


def _pairs(piece: str) -> list[str]:
    return [piece[at : at + 2] for at in range(max(1, len(piece) - 1))] if piece else []


def _stem(word: str) -> str:
    if len(word) > 4 and word.endswith("ies"):
        return f"{word[:-3]}y"
    return word[:-1] if len(word) > 3 and word.endswith("s") and word[-2] != "s" else word


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
    return estimate_tokens(memory.text) + LINE_TOKENS
