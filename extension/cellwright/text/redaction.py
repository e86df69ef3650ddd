"""Secrets out of text, once, before the model, the record and any export see it.

What is found: values of environment variables whose names speak of secrets, the configured key,
each also URL-encoded, escaped or in base64; keys that show themselves by their shape; private
keys; passwords in addresses, and the keys in the query of the base URL; bearer tokens.

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
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import fields, is_dataclass, replace
from typing import Any, NamedTuple, TypeVar
from urllib.parse import quote, quote_plus

from cellwright.text import GIVEN_SECRETS, SHORTEST_SECRET
from cellwright.text.secret_shapes import (
    CONTEXT_CHARACTERS,
    FoundShape,
    find_open_shape,
    find_passwords,
    find_query_secrets,
    find_shapes,
    is_environment_secret,
)

T = TypeVar("T")
BASE_URLS = ("CELLWRIGHT_BASE_URL", "OPENAI_BASE_URL")
LONGEST_SCHEME = 10
"""In ``Basic …`` or ``Bearer …`` the first word is no secret."""
PASSES = 3
REMEMBERED, REMEMBERED_CHARACTERS = 2_000, 2_000
PLACEHOLDER = re.compile(r"«redacted:[a-z0-9_]+:[0-9a-f]{4}»")
"""What stands in the place of a secret."""
BINARY_MIMES = ("image/", "audio/", "video/")
STEM_CHARACTERS = 3
LOOKS_AT_ONCE, LOOKS_A_SECOND, CHARACTERS_A_LOOK = 1_000, 200.0, 2_048
"""How often a stream is looked at: each piece as it comes, but a flood of single letters only some
letters at a time."""
MUCH_HELD = 4_096
"""Where so much waits, as much again has to come before it is looked at again."""


class Cut(NamedTuple):
    """How much of a text that goes on can be shown."""

    position: int
    is_clean: bool
    """Whether there is no secret in it."""


class _KnownSecrets:
    """Secrets in all their forms, and what they begin with."""

    def __init__(self, secrets: Mapping[str, str]) -> None:
        known = [
            (form, _placeholder(_kind(name), value))
            for name, value in secrets.items()
            for form in _forms(value)
        ]
        # A secret such as "redacted" would be found in its own placeholder for ever.
        placeholders = " ".join(placeholder for _, placeholder in known)
        usable = [item for item in known if item[0] not in placeholders]
        self.forms = sorted(usable, key=lambda item: len(item[0]), reverse=True)
        self._longest = max((len(form) for form, _ in known), default=0)
        self._by_stem: dict[str, list[str]] = {}
        for form, _ in self.forms:
            self._by_stem.setdefault(form[:STEM_CHARACTERS], []).append(form)
        self._stem_beginnings = frozenset(stem[:size] for stem in self._by_stem for size in (1, 2))
        stems = "|".join(map(re.escape, self._by_stem))
        self._stems = re.compile(stems) if stems else None

    def find_open(self, text: str) -> int:
        """Where at the end of ``text`` a known secret may begin."""
        position = max(0, len(text) - self._longest)
        while self._stems is not None:
            found = self._stems.search(text, position)
            if found is None:
                break
            begin = found.start()
            rest = text[begin:]
            if any(form.startswith(rest) for form in self._by_stem[found.group()]):
                return begin
            position = begin + 1
        for size in range(STEM_CHARACTERS - 1, 0, -1):
            if text[-size:] in self._stem_beginnings:
                return len(text) - size
        return len(text)


class Redactor:
    """Replaces secrets by a placeholder that names their kind.

    The same secret always gets the same placeholder, so that "are these two equal?" can still be
    answered. Redacting twice changes nothing more.

    Args:
        secrets: Known secrets, by the name the placeholder is to show.
    """

    def __init__(self, secrets: Mapping[str, str]) -> None:
        self._secrets = dict(secrets)
        self._given: tuple[str, ...] = ()
        self._known = _KnownSecrets(self._secrets)
        self._clean: set[str] = set()
        # Texts without secrets: what the tools are for is said again in every run.

    @classmethod
    def from_environment(
        cls, environ: Mapping[str, str], key: str = "", tokens: Mapping[str, str] | None = None
    ) -> Redactor:
        """A redactor that knows the secrets of an environment, the configured key and tokens."""
        secrets = {
            name: value.strip()
            for name, value in environ.items()
            if is_environment_secret(name, value.strip())
        }
        for number, value in enumerate(_secret_headers(environ.get("CELLWRIGHT_HEADERS", ""))):
            secrets[f"header_{number}_token"] = value
        for name, value in environ.items():
            for number, password in enumerate(find_passwords(value.strip())):
                if len(password) >= SHORTEST_SECRET:
                    secrets[f"{name}_password_{number}"] = password
        for address in BASE_URLS:
            for number, value in enumerate(find_query_secrets(environ.get(address, "").strip())):
                if len(value) >= SHORTEST_SECRET:
                    secrets[f"{address}_key_{number}"] = value
        if len(key.strip()) >= SHORTEST_SECRET and key.strip() not in secrets.values():
            secrets["api_key"] = key.strip()
        return cls({**secrets, **(tokens or {})})

    def text(self, text: str) -> str:
        """``text`` without its secrets; the same object when it has none."""
        is_short = len(text) <= REMEMBERED_CHARACTERS
        self._known_now()
        if is_short and text in self._clean:
            return text
        redacted = self.redact(text)
        if is_short and redacted is text:
            if len(self._clean) >= REMEMBERED:
                self._clean.clear()
            self._clean.add(text)
        return redacted

    def redact(self, text: str) -> str:
        """``text`` without its secrets; not remembered."""
        return self._without_secrets(text, None)

    def _known_now(self) -> _KnownSecrets:
        """The secrets, with those that the process was given since."""
        given = GIVEN_SECRETS.values
        if given is not self._given:
            others = [value for value in given if value not in self._secrets.values()]
            # Underscores at the end of a name are not part of the kind that a placeholder shows.
            more = {f"api_key{'_' * place}": value for place, value in enumerate(others, 1)}
            self._known = _KnownSecrets({**more, **self._secrets})
            self._given = given
            self._clean.clear()
        return self._known

    def _without_secrets(self, text: str, found: list[FoundShape] | None) -> str:
        """``text`` without its secrets; ``found`` are its shapes where they were looked for."""
        for form, placeholder in self._known_now().forms:
            if form in text:
                text, found = text.replace(form, placeholder), None
        # Taking one secret out may bring the beginning of another one to light.
        for _ in range(PASSES):
            found = find_shapes(text) if found is None else found
            if not found:
                break
            text, found = _without_shapes(text, found), None
        return text

    def value(self, value: T) -> T:
        """A JSON-like value without secrets; the same object when it has none."""
        return self._walked(value)  # type: ignore[no-any-return]

    def event(self, event: T) -> T:
        """An event, message or record without secrets; the same object when it has none."""
        return self._walked(event)  # type: ignore[no-any-return]

    def find_cut(self, text: str) -> Cut:
        """Find how much of a text that goes on can be shown, whatever comes next.

        Behind that place something stands, or may begin, that is a secret once more text comes.
        """
        masked, known = text, self._known_now()
        for form, placeholder in known.forms:
            if form in masked:
                # What follows it follows its placeholder later, and so may begin a word.
                masked = masked.replace(form, placeholder[-1] * len(form))
        position = min(find_open_shape(masked), known.find_open(text))
        shapes = find_shapes(text)
        if position < len(text):
            # Where a known secret takes the place of what follows, a key may end here.
            ended = [shape for shape in find_shapes(text[:position]) if shape.end == position]
            position = min([position, *(shape.start for shape in ended)])
        redacted = self._without_secrets(text, shapes)
        if redacted is text:
            return Cut(position, is_clean=True)
        # A secret that is taken out may bring the beginning of the next one to light.
        end = redacted[find_open_shape(redacted) :]
        if text.endswith(end):
            position = min(position, len(text) - len(end))
        return Cut(self._before_secret(text, position, shapes), is_clean=False)

    def _before_secret(self, text: str, cut: int, shapes: list[FoundShape]) -> int:
        """The cut, or where the secret begins that it would part."""
        spans = [(shape.start, shape.end) for shape in shapes]
        for form, _ in self._known.forms:
            start = text.find(form)
            while start >= 0:
                spans.append((start, start + len(form)))
                start = text.find(form, start + len(form))
        for start, end in sorted(spans, reverse=True):
            if start < cut < end:
                cut = start
        return cut

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

    What more text could make a secret is held back until that is decided, or ``flush`` is called;
    all else is shown at once. The pieces together are what ``Redactor.text`` makes of the whole.

    Not covered: a word and what it says of the next one with more than 150 characters between.

    Args:
        redactor: Knows the secrets.
        clock: Seconds, for the pace: what comes letter by letter is looked at some letters at a
            time.
    """

    def __init__(self, redactor: Redactor, clock: Callable[[], float] = time.monotonic) -> None:
        self._redactor = redactor
        self._clock = clock
        self._shown = ""
        """The end of what was shown: it may say of the next word that it is a secret."""
        self._held = ""
        self._pieces: list[str] = []
        self._waiting = self._enough = 0
        self._looks = float(LOOKS_AT_ONCE)
        self._fed_at = clock()

    def feed(self, text: str) -> str:
        """The text that is safe to show now."""
        self._pieces.append(text)
        self._waiting += len(text)
        if self._waiting < self._enough:
            return ""
        now = self._clock()
        earned = (now - self._fed_at) * LOOKS_A_SECOND + len(text) / CHARACTERS_A_LOOK
        self._fed_at = now
        self._looks = min(LOOKS_AT_ONCE, self._looks + earned)
        if self._looks < 1:
            return ""
        self._looks -= 1
        return self.settle()

    def settle(self) -> str:
        """What of the text that came is safe to show, however little it is."""
        if not self._waiting:
            return ""
        self._take_pieces()
        cut = self._redactor.find_cut(self._shown + self._held)
        return self._show(max(0, cut.position - len(self._shown)), is_clean=cut.is_clean)

    def flush(self) -> str:
        """What was held back; the text ends here."""
        self._take_pieces()
        ready = self._show(len(self._held), is_clean=False)
        self._shown = ""
        return ready

    def _take_pieces(self) -> None:
        self._held += "".join(self._pieces)
        self._pieces.clear()
        self._waiting = 0

    def _show(self, size: int, *, is_clean: bool) -> str:
        ready, self._held = self._held[:size], self._held[size:]
        # Looking again costs as much as is held: the more that is, the more has to come first.
        self._enough = max(len(self._held) // 4, len(self._held) - MUCH_HELD)
        if ready and not is_clean:
            redacted = self._redactor.redact(self._shown + ready)
            if redacted.startswith(self._shown):
                ready = redacted[len(self._shown) :]
            else:
                ready = self._redactor.redact(ready)
        self._shown = (self._shown + ready)[-CONTEXT_CHARACTERS:]
        return ready


def _without_shapes(text: str, found: list[FoundShape]) -> str:
    pieces, end = [], 0
    placeholders: dict[tuple[str, str], str] = {}
    for shape in found:
        secret = shape.kind, text[shape.start : shape.end]
        if secret not in placeholders:
            placeholders[secret] = _placeholder(*secret)
        pieces += [text[end : shape.start], placeholders[secret]]
        end = shape.end
    return "".join([*pieces, text[end:]])


def _secret_headers(text: str) -> Iterator[str]:
    """The values of headers that let somebody in."""
    try:
        headers = dict(json.loads(text or "{}"))
    except (ValueError, TypeError):
        return
    for name, value in headers.items():
        if re.search("auth|cookie|key|secret|token", name, re.I) and isinstance(value, str):
            if len(value) >= SHORTEST_SECRET:
                yield value
            yield from (word for word in value.split() if len(word) >= LONGEST_SCHEME)


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
    return tuple(f.name for f in fields(cls) if f.init and not f.metadata.get("is_binary"))


def _is_binary(key: Any) -> bool:
    if not isinstance(key, str):
        return False
    return key == "base64" or (key.startswith(BINARY_MIMES) and key != "image/svg+xml")


def _kind(name: str) -> str:
    return re.sub(r"[^a-z0-9]+", "_", name.lower()).strip("_") or "secret"


def _placeholder(kind: str, secret: str) -> str:
    tail = hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()[:4]
    return f"«redacted:{kind}:{tail}»"
