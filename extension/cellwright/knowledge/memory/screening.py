"""What is never kept: keys, passwords, e-mail addresses, and texts that are too long or too short.

Found by shape, as ``redaction`` does; a secret in plain words that no pattern knows is not found.
"""

from __future__ import annotations

import re

from cellwright.errors import SetupError
from cellwright.knowledge.memory.words import tidy, words_of
from cellwright.text.secret_shapes import find_shapes

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
