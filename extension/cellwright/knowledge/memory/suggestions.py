"""What of a user's own message is worth keeping, by rules and no model, and what is never kept.

Only what the person typed is read: no code in it, no lines they quote, never what a tool, a file
or the model said. What is found is a suggestion; nothing is kept because of it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from cellwright.errors import SetupError
from cellwright.knowledge.memory import Scope
from cellwright.knowledge.memory.ranking import tidy, words_of
from cellwright.text.secret_shapes import find_shapes

SUGGESTION_LIMIT = 3
"""Of one message."""
READ_CHARACTERS = 4_000
SENTENCE_CHARACTERS = 200
"""Longer ones are a story, not a fact."""


@dataclass(frozen=True)
class Suggestion:
    """Something to keep, or something that does not hold any more."""

    kind: Literal["keep", "forget"]
    text: str
    reason: str
    scope: Scope = "user"


@dataclass(frozen=True)
class _Rule:
    source: str
    kind: Literal["keep", "forget"]
    reason: str
    takes: str = ""
    """The group that is kept; empty: the whole sentence."""

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """Made when the first message is read: making all of them takes as long as the import."""
        return re.compile(self.source, re.IGNORECASE)


def _rule(
    pattern: str, reason: str, kind: Literal["keep", "forget"] = "keep", takes: str = ""
) -> _Rule:
    # Sentences are short, so that no pattern can be slow.
    return _Rule(pattern, kind, reason, takes)


SAID_SO = "You asked to remember it."
WISH = "It sounds like a lasting wish."
FACT = "It sounds like a lasting fact."
NO_LONGER = "You said that it does not hold any more."
REMEMBER = (
    r"(?:remember|keep in mind|bear in mind|make a note|note down|don['’]t forget|do not forget)"
)
POLITE = r"^(?:(?:and|also|but|so|ok|okay|well|hi|hello|please|pls)[ ,]+){0,3}"
OURS = (
    r"(?:our|my|the company['’]s|the team['’]s|this (?:project|data|dataset|table|notebook)['’]s)"
)
RULES = (
    # what does not hold any more comes first: it holds the words of what did
    _rule(POLITE + r"(?:forget|disregard) (?:that |about |what I said about )?(?P<text>.+)",
          NO_LONGER, "forget", "text"),
    _rule(POLITE + r"stop (?:using|calling|writing|answering|rounding)\b", NO_LONGER, "forget"),
    _rule(r"\bno longer\b|(?:n['’]t|\bnot|\bnever)\b.{1,60}\bany ?(?:more|longer)\b", NO_LONGER,
          "forget"),
    _rule(r"^(?:请|麻烦)?(?:忘记|忘掉|忘了)(?:关于)?[：:， ]*(?P<text>.+)", NO_LONGER, "forget",
          "text"),
    _rule(r"不再|再也不|(?:不用|别|不要)再", NO_LONGER, "forget"),
    # what they ask to keep
    _rule(POLITE + REMEMBER + r"\b[ ,:：]*(?:that\b|this\b|to\b)?[ ,:：]*(?P<text>.+)", SAID_SO,
          "keep", "text"),
    _rule(r"^(?:请|麻烦)?(?:你|帮我)?(?:记住|记得|牢记|记下来?|记一下|别忘了|不要忘记)[了：:，, ]*"
          r"(?P<text>.+)", SAID_SO, "keep", "text"),
    # wishes
    _rule(POLITE + r"(?:you (?:should|must) |I want you to |I(?:['’]d| would) like you to )?"
          r"(?:always|never)\s+\w", WISH),
    _rule(POLITE + r"(?:from now on|in (?:the )?future|going forward|by default)\b", WISH),
    _rule(r"\b(?:from now on|going forward)$", WISH),
    _rule(r"\bI (?:(?:always|generally|usually|really|much|strongly) )?prefer\b", WISH),
    _rule(r"\bI(?:['’]d| would) (?:always )?rather (?:you|have)\b", WISH),
    _rule(POLITE + r"(?:I|we) (?:always|never|usually|generally)\s+"
          r"(?!(?:get|got|see|saw|have|had|forget|end|fail|need|know|knew)\b)\w", WISH),
    _rule(r"\bmy (?:preferred|favou?rite)\b.+\b(?:is|are)\b", WISH),
    _rule(POLITE + r"(?:(?:you can )?call me|my name is)\s+\w", FACT),
    _rule(r"^(?:请)?(?:以后|今后|从现在起|从今以后|往后)[，, ]?.*\w", WISH),
    _rule(r"^(?:请|你要|你应该)?(?:总是|始终|永远|一律|每次都)\w", WISH),
    _rule(r"我(?:更|比较|还是)?(?:喜欢|偏好|偏爱|倾向于?|习惯)\w", WISH),
    _rule(r"^我们?(?:总是|一般都?|通常|从来不|从不)\w", WISH),
    _rule(r"^(?:叫我|请叫我|你可以叫我|我叫|我的名字[是叫])\w", FACT),
    # facts
    _rule(POLITE + OURS + r" .{1,60}?\b(?:starts?|begins?|ends?|means?|stands? for|is called"
          r"|is named|(?:is|are) (?:always |never )?(?:measured|stored|kept|reported|defined"
          r"|counted|written) (?:in|as|on|at|by)|lives? in|refers? to)\b", FACT),
    _rule(POLITE + r"our .{1,40}?\b(?:is|are) (?:in|on|at|called|the|an?|always|never)\b", FACT),
    _rule(POLITE + r"(?:at our company,? |here,? )?we (?:use|call|define|measure|report|count"
          r"|round)\s+\w", FACT),
    _rule(POLITE + r"(?:in (?:this|the|my|our) \w+,? )?(?:the )?columns? .{1,60}?\b(?:means?"
          r"|stands? for|holds?|contains?|(?:is|are) (?:measured |given |stored )?in|refers? to)\b",
          FACT),
    _rule(POLITE + r"I (?:work|am based|live) (?:as|at|in|for|with)\s+\w", FACT),
    _rule(r"^(?:我们的?|本公司的?|我们?公司的?|我司的?|我的).{1,20}?(?:是从|开始于|从|始于|叫做?|指的?是"
          r"|表示|代表|存放?在|单位是|按照?|使用|用)\w", FACT),
    _rule(r"^(?:.{0,10}[的中里])?(?:列|字段).{1,20}?(?:是指|指的?是|表示|代表|单位是|的意思是)\w",
          FACT),
)  # fmt: skip
QUESTION = re.compile(
    r"[?？]\s*$|[吗呢]\s*$|^(?:how|what|why|who|when|where|which|whose|can|could|would|will|shall"
    r"|should|is|are|am|was|were|does?|did|do (?:you|we|I|they)|has|have|had|if)\b"
    r"|^(?:为什么|怎么|如何|什么|哪|是否|能不能|可不可以|如果)",
    re.IGNORECASE,
)
PASSING = re.compile(
    r"\b(?:this time|for now|just (?:this|here|now|once)|today|right now|this (?:plot|chart|cell"
    r"|figure|question|answer|one|error|run))\b|这次|这一次|今天|暂时|这张图|这个图|这个单元格|刚才",
    re.IGNORECASE,
)
ABOUT_PROJECT = re.compile(
    r"\bcolumns?\b|\b(?:this|these) (?:project|data|dataset|table|notebook|folder|files?)\b"
    r"|\bin (?:here|this (?:project|folder|notebook))\b"
    r"|\w\.(?:csv|tsv|parquet|feather|xlsx?|json|db|sqlite|ipynb|py)\b"
    r"|列|字段|这个?(?:项目|数据|表|笔记本|文件夹)",
    re.IGNORECASE,
)
CODE = re.compile(r"```.*?(?:```|\Z)|~~~.*?(?:~~~|\Z)", re.DOTALL)
NOT_SAID = re.compile(r"^\s*(?:>|%|!|\||#|In \[|Out\[|Traceback)")
SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
CONTINUED = re.compile(
    r"^(?:(?:and|also|but|so|ok|okay|well|please|pls)\b|并且|而且|另外|还有)[ ,，]*", re.IGNORECASE
)


def suggestions(message: str) -> tuple[Suggestion, ...]:
    """What a person's message says that is worth keeping; the first three.

    Args:
        message: As they typed it.
    """
    found: dict[str, Suggestion] = {}
    for sentence in _sentences(message):
        suggestion = _suggestion(sentence)
        if suggestion is not None:
            found.setdefault(suggestion.text, suggestion)
    return tuple(found.values())[:SUGGESTION_LIMIT]


def _sentences(message: str) -> list[str]:
    prose = CODE.sub("\n", message[:READ_CHARACTERS])
    lines = [line for line in prose.split("\n") if not NOT_SAID.match(line)]
    sentences = (tidy(piece) for piece in SENTENCE_END.split("\n".join(lines)) if piece)
    return [sentence for sentence in sentences if 3 < len(sentence) <= SENTENCE_CHARACTERS]


def _suggestion(sentence: str) -> Suggestion | None:
    if QUESTION.search(sentence):
        return None
    plain = sentence.rstrip(" .。!！;；")
    for rule in RULES:
        found = rule.pattern.search(plain)
        if found is None:
            continue
        if rule.reason not in (SAID_SO, NO_LONGER) and PASSING.search(plain):
            return None
        text = _as_kept(found.group(rule.takes) if rule.takes else plain)
        scope: Scope = "project" if ABOUT_PROJECT.search(text) else "user"
        return Suggestion(rule.kind, text, rule.reason, scope) if words_of(text) else None
    return None


def _as_kept(text: str) -> str:
    text = CONTINUED.sub("", text.strip(" .。,，:：\"'“”")).strip()
    return text[:1].upper() + text[1:]


# What is never kept: keys, passwords, e-mail addresses, and texts that are too long or too short.
#
# Found by shape, as ``redaction`` does; a secret in plain words that no pattern knows is not found.


TEXT_LIMIT_CHARACTERS = 500
MAIL = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}\.[\w.-]{2,63}")
PASSWORD = re.compile(
    r"\b(?:pass(?:word|wd|phrase|code)|pin|api[ _-]?key|secret(?: key)?|(?:access |auth )?token"
    r"|credentials?)\b[^.;\n]{0,30}?(?:\bis\b|\bare\b|=|:|：)\s*\S"
    r"|(?:密码|口令|密钥|令牌)[^。；\n]{0,10}?(?:是|为|=|:|：)\s*\S",
    re.IGNORECASE,
)
REDACTED = "«redacted:"


def complaint(text: str) -> str:
    """Why a text is not kept, as the end of a sentence; empty: it may be."""
    if not text:
        return "it is empty"
    if len(text) > TEXT_LIMIT_CHARACTERS:
        return f"it has {len(text)} characters, more than {TEXT_LIMIT_CHARACTERS}"
    if REDACTED in text or find_shapes(text) or PASSWORD.search(text):
        return "it holds a key or a password"
    if MAIL.search(text):
        return "it holds an e-mail address"
    return "" if words_of(text) else "it says nothing"


def screened(text: str) -> str:
    """The text as it is kept, on one line.

    Raises:
        SetupError: It is not to be kept; nothing of the text is repeated.
    """
    clean = tidy(text)
    why = complaint(clean)
    if why:
        raise SetupError(f"This is not kept: {why}.", hint="Say it without that, in a sentence.")
    return clean
