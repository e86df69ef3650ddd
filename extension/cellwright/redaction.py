"""Secrets out of text, once, before the model, the record and any export see it.

What is found: values of environment variables whose names speak of secrets, the configured key,
each also URL-encoded, escaped or in base64; keys that show themselves by their shape; private
keys; passwords in addresses; bearer tokens.

Not covered: a secret that code changes before showing it (reversed, cut, drawn into a picture, one
letter a line), markup inside a secret, secrets of no known shape that are in no environment
variable. Pictures are passed on as they are.
"""

from __future__ import annotations

import base64
import functools
import hashlib
import html
import json
import re
from collections.abc import Iterable, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, TypeVar
from urllib.parse import quote, quote_plus

from cellwright.messages import ImagePart
from cellwright.secret_shapes import FoundShape, find_shapes

__all__ = ["Redactor", "StreamRedactor"]

T = TypeVar("T")
SECRET_NAME = re.compile(
    r"TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|API_?KEY|ACCESS_?KEY|PRIVATE_?KEY|AUTH_?KEY",
    re.IGNORECASE,
)
NOT_SECRET_NAME = re.compile(r"(_FILE|_PATH|_DIR|_URL|_URI|_HOST|_NAME|_TOKENS)$", re.IGNORECASE)
NOT_SECRET_VALUES = frozenset(
    {
        "anonymous",
        "changeme",
        "disabled",
        "localhost",
        "password",
        "redacted",
        "required",
        "undefined",
    }
)
SHORTEST_SECRET = 8
PASSES = 3
REMEMBERED, REMEMBERED_CHARACTERS = 2_000, 2_000
HELD_BACK_CHARACTERS = 512
PRIVATE_KEY_CHARACTERS = 16_384
BINARY_MIMES = ("image/", "audio/", "video/")
OPEN_WORD = re.compile(r"[!#-&(-;=?-~]+\Z")
"""The unfinished word at the end of a chunk: ASCII without blanks, quotes and angle brackets."""


class Redactor:
    """Replaces secrets by a placeholder that names their kind.

    The same secret always gets the same placeholder, so that "are these two equal?" can still be
    answered. Redacting twice changes nothing more.

    Args:
        secrets: Known secrets, by the name the placeholder is to show.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        known = [
            (form, _placeholder(_kind(name), value))
            for name, value in secrets.items()
            for form in _forms(value)
        ]
        # A secret such as "redacted" would be found in its own placeholder for ever.
        placeholders = " ".join(placeholder for _, placeholder in known)
        usable = [item for item in known if item[0] not in placeholders]
        self._known = sorted(usable, key=lambda item: len(item[0]), reverse=True)
        self._clean: set[str] = set()
        # Texts without secrets: what the tools are for is said again in every run.

    @classmethod
    def from_environment(cls, environ: Mapping[str, str], key: str = "") -> Redactor:
        """A redactor that knows the secrets of an environment and the configured key."""
        secrets = {
            name: value.strip()
            for name, value in environ.items()
            if _is_secret(name, value.strip())
        }
        if len(key.strip()) >= SHORTEST_SECRET and key.strip() not in secrets.values():
            secrets["api_key"] = key.strip()
        return cls(secrets)

    def text(self, text: str) -> str:
        """``text`` without its secrets; the same object when it has none."""
        is_short = len(text) <= REMEMBERED_CHARACTERS
        if is_short and text in self._clean:
            return text
        redacted = self._redacted(text)
        if is_short and redacted is text:
            if len(self._clean) >= REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def _redacted(self, text: str) -> str:
        for form, placeholder in self._known:
            if form in text:
                text = text.replace(form, placeholder)
        # Taking one secret out may bring the beginning of another one to light.
        for _ in range(PASSES):
            found = find_shapes(text)
            if not found:
                break
            text = _without_shapes(text, found)
        return text

    def value(self, value: T) -> T:
        """A JSON-like value without secrets; the same object when it has none."""
        return self._walked(value)  # type: ignore[no-any-return]

    def event(self, event: T) -> T:
        """An event, message or record without secrets; the same object when it has none."""
        return self._walked(event)  # type: ignore[no-any-return]

    def safe_cut(self, text: str, cut: int) -> int:
        """The last place up to ``cut`` where ``text`` can be parted without parting a secret."""
        spans = [(shape.start, shape.end) for shape in find_shapes(text)]
        for form, _ in self._known:
            start = text.find(form)
            while start >= 0:
                spans.append((start, start + len(form)))
                start = text.find(form, start + 1)
        for start, end in sorted(spans, reverse=True):
            if start < cut < end:
                cut = start
        return cut

    def could_begin(self, text: str) -> int:
        """How many characters at the end of ``text`` a known secret may begin with."""
        longest = 0
        for form, _ in self._known:
            for size in range(min(len(form) - 1, len(text)), longest, -1):
                if text.endswith(form[:size]):
                    longest = size
                    break
        return longest

    def _walked(self, value: Any) -> Any:
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, Mapping):
            return self._mapping(value)
        if isinstance(value, (list, tuple)):
            changed = [self._walked(item) for item in value]
            same = all(new is old for new, old in zip(changed, value, strict=True))
            return value if same else type(value)(changed)
        if is_dataclass(value) and not isinstance(value, type):
            return self._dataclass(value)
        return value

    def _mapping(self, value: Mapping[Any, Any]) -> Any:
        changed = {
            self._walked(key): item if _is_binary(key) else self._walked(item)
            for key, item in value.items()
        }
        same = len(changed) == len(value) and all(
            new_key is old_key and changed[new_key] is value[old_key]
            for new_key, old_key in zip(changed, value, strict=True)
        )
        return value if same else changed

    def _dataclass(self, value: Any) -> Any:
        changes = {}
        cls: Any = type(value)
        for name in _walked_fields(cls):
            old = getattr(value, name)
            new = self._walked(old)
            if new is not old:
                changes[name] = new
        return replace(value, **changes) if changes else value


class StreamRedactor:
    """Redacts text that comes in pieces, so that a secret cut in two is still found.

    The unfinished word at the end of a piece (512 characters at most), a private key that has not
    ended and anything a known secret may begin with are held back until more text comes, or
    ``flush`` is called.

    Not covered: a secret longer than what is held back.
    """

    def __init__(self, redactor: Redactor) -> None:
        self._redactor = redactor
        self._held = ""

    def feed(self, text: str) -> str:
        """The text that is safe to show now."""
        self._held += text
        cut = self._redactor.safe_cut(self._held, len(self._held) - self._open_characters())
        ready, self._held = self._held[:cut], self._held[cut:]
        return self._redactor.text(ready)

    def flush(self) -> str:
        """What was held back; the text ends here."""
        ready, self._held = self._held, ""
        return self._redactor.text(ready)

    def _open_characters(self) -> int:
        held = self._held
        begin = held.rfind("-----BEGIN")
        if begin >= 0 and held.find("-----END", begin) < 0:
            size = len(held) - begin
            return size if size <= PRIVATE_KEY_CHARACTERS else 0
        word = OPEN_WORD.search(held[-HELD_BACK_CHARACTERS:])
        size = len(word.group()) if word else 0
        # "Bearer " and the like: the word before an open one belongs to it.
        before = held[: len(held) - size].rstrip(" ")
        if before.lower().endswith("bearer"):
            size = len(held) - len(before) + len("bearer")
        return max(size, self._redactor.could_begin(held))


def _without_shapes(text: str, found: list[FoundShape]) -> str:
    pieces, end = [], 0
    for shape in found:
        secret = text[shape.start : shape.end]
        pieces += [text[end : shape.start], _placeholder(shape.kind, secret)]
        end = shape.end
    return "".join([*pieces, text[end:]])


def _is_secret(name: str, value: str) -> bool:
    return (
        len(value) >= SHORTEST_SECRET
        and SECRET_NAME.search(name) is not None
        and NOT_SECRET_NAME.search(name) is None
        and value.casefold() not in NOT_SECRET_VALUES
    )


def _forms(value: str) -> Iterable[str]:
    """The ways a secret is written."""
    literals = [value, repr(value)[1:-1], json.dumps(value, ensure_ascii=False)[1:-1]]
    found = [*literals, quote(value, safe=""), quote_plus(value), html.escape(value)]
    found += [json.dumps(literal)[1:-1] for literal in literals]
    found += [json.dumps(literal, ensure_ascii=False)[1:-1] for literal in literals]
    data = value.encode("utf-8", "surrogatepass")
    for encode in (base64.b64encode, base64.urlsafe_b64encode):
        found += [_base64_core(data, shift, encode) for shift in range(3)]
    return dict.fromkeys(form for form in found if len(form) >= SHORTEST_SECRET)


def _base64_core(data: bytes, shift: int, encode: Any) -> str:
    """The base64 characters that ``data`` alone decides when ``shift`` bytes stand before it."""
    encoded: str = encode(b"\0" * shift + data).decode("ascii")
    first = (shift * 8 + 5) // 6
    last = (shift + len(data)) * 8 // 6
    return encoded[first:last]


@functools.cache
def _walked_fields(cls: Any) -> tuple[str, ...]:
    skipped = {"data"} if cls is ImagePart else set()
    return tuple(field.name for field in fields(cls) if field.init and field.name not in skipped)


def _is_binary(key: Any) -> bool:
    if not isinstance(key, str):
        return False
    return key == "base64" or (key.startswith(BINARY_MIMES) and key != "image/svg+xml")


def _kind(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "secret"


def _placeholder(kind: str, secret: str) -> str:
    tail = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:4]
    return f"«redacted:{kind}:{tail}»"
