"""Secrets that show themselves by their shape, found in linear time.

Every pattern begins with fixed characters and its repetitions are bounded or end at a character
that no later match can begin in, so that no text makes it slow.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

__all__ = ["FoundShape", "find_shapes"]


class FoundShape(NamedTuple):
    """Where a secret stands, and what kind it is."""

    start: int
    end: int
    kind: str


class _Shape(NamedTuple):
    kind: str
    marks: tuple[str, ...]
    """One of these is in every text that has such a secret; looked for first, being quick."""
    pattern: re.Pattern[str]
    """The secret is the group, or the whole match where there is no group."""


def _key(kind: str, mark: str, rest: str) -> _Shape:
    """A key that begins with ``mark``, at the start of a word."""
    # The look-behind comes after the mark: a pattern that begins with fixed characters is
    # searched for many times faster.
    fixed = re.escape(mark)
    return _Shape(kind, (mark,), re.compile(rf"{fixed}(?<![A-Za-z0-9_]{fixed}){rest}"))


def _after(kind: str, mark: str, rest: str) -> _Shape:
    """A secret that follows ``mark``."""
    return _Shape(kind, (mark,), re.compile(re.escape(mark) + rest))


BEARER_REST = r" {0,3}([A-Za-z0-9._~+/-]{16,}=*)"
AUTHORIZATION_REST = r"[\"']? {0,4}[:=] {0,4}[\"']?(?i:basic|token) {1,4}([A-Za-z0-9._~+/-]{8,}=*)"
SHAPES = (
    _key("api_key", "sk-", r"(?:[A-Za-z0-9]{20,}|[A-Za-z]{2,8}-[A-Za-z0-9_-]{16,})"),
    _key("huggingface_token", "hf_", r"[A-Za-z0-9]{20,}"),
    _key("groq_key", "gsk_", r"[A-Za-z0-9]{20,}"),
    _key("xai_key", "xai-", r"[A-Za-z0-9]{20,}"),
    *(_key("github_token", f"gh{letter}_", r"[A-Za-z0-9]{20,}") for letter in "pousr"),
    _key("github_token", "github_pat_", r"[A-Za-z0-9_]{20,}"),
    _key("gitlab_token", "glpat-", r"[A-Za-z0-9_.-]{16,}"),
    *(_key("slack_token", f"xox{letter}-", r"[A-Za-z0-9-]{10,}") for letter in "abprs"),
    _key("aws_key", "AKIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("aws_key", "ASIA", r"[A-Z0-9]{16}(?![A-Za-z0-9])"),
    _key("google_key", "AIza", r"[A-Za-z0-9_-]{30,}"),
    _key("stripe_key", "sk_live_", r"[A-Za-z0-9]{16,}"),
    _key("pypi_token", "pypi-AgEI", r"[A-Za-z0-9_-]{30,}"),
    _key("npm_token", "npm_", r"[A-Za-z0-9]{30,}"),
    _Shape(
        "jwt",
        (".eyJ",),
        re.compile(
            r"eyJ(?<![A-Za-z0-9_.-]eyJ)[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}"
            r"(?:\.[A-Za-z0-9_-]*)?"
        ),
    ),
    _after("url_password", "://", r"[^\s/:@'\"<>«]{0,128}:([^\s/@'\"<>«]{1,256})@"),
    _after("bearer_token", "earer ", BEARER_REST),
    _after("bearer_token", "EARER ", BEARER_REST),
    _after("basic_credentials", "uthorization", AUTHORIZATION_REST),
    _after("basic_credentials", "UTHORIZATION", AUTHORIZATION_REST),
    _Shape(
        "url_token",
        ("oken=", "key=", "Key=", "ecret=", "assword=", "ignature=", "sig="),
        re.compile(
            r"[?&;](?i:token|access_token|auth_token|id_token|api_?key|key|client_secret|secret"
            r"|password|sig|signature|x-amz-signature|x-amz-security-token|x-goog-signature)="
            r"([^\s&;\"'<>#«\\]{6,})"
        ),
    ),
)
SERVICES = {
    "sk-ant-": "anthropic_key",
    "sk-or-": "openrouter_key",
    "sk-proj-": "openai_key",
    "sk-svcacct-": "openai_key",
    "sk-admin-": "openai_key",
}
DIGIT = re.compile("[0-9]")
WITH_DIGITS = ("api_key", "bearer_token")
"""Kinds that words could be taken for; a real one has a digit."""


def _by_character() -> dict[str, list[_Shape]]:
    grouped: dict[str, list[_Shape]] = {}
    for shape in SHAPES:
        common = set.intersection(*(set(mark) for mark in shape.marks))
        character = next((rare for rare in "_-=:. " if rare in common), "")
        grouped.setdefault(character, []).append(shape)
    return grouped


SHAPES_BY_CHARACTER = _by_character()
"""One look for a character saves looking for each mark that has it."""
BEGIN_PRIVATE_KEY = re.compile(r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
END_PRIVATE_KEY = re.compile(r"-----END [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----")
PRIVATE_KEY_BODY = re.compile(r"[A-Za-z0-9+/=\s\\:,-]*")


def find_shapes(text: str) -> list[FoundShape]:
    """Every secret that its shape gives away, in order, without overlaps."""
    found: list[FoundShape] = []
    for character, shapes in SHAPES_BY_CHARACTER.items():
        if character in text:
            for shape in shapes:
                if any(mark in text for mark in shape.marks):
                    found += _matches(shape, text)
    if "PRIVATE KEY" in text:
        found += _private_keys(text)
    return _without_overlaps(found) if found else found


def _matches(shape: _Shape, text: str) -> Iterator[FoundShape]:
    group = shape.pattern.groups
    for match in shape.pattern.finditer(text):
        kind = _kind(shape.kind, match.group(group))
        if kind:
            yield FoundShape(match.start(group), match.end(group), kind)


def _kind(kind: str, secret: str) -> str:
    """Whose secret it is; empty for words that only look like one, such as a CSS class."""
    if kind == "api_key":
        kind = next((whose for mark, whose in SERVICES.items() if secret.startswith(mark)), kind)
    return kind if kind not in WITH_DIGITS or DIGIT.search(secret) else ""


def _private_keys(text: str) -> Iterator[FoundShape]:
    position = 0
    while (begin := BEGIN_PRIVATE_KEY.search(text, position)) is not None:
        end = END_PRIVATE_KEY.search(text, begin.end())
        stop = end.end() if end else begin.end()
        if end is None and (body := PRIVATE_KEY_BODY.match(text, begin.end())) is not None:
            stop = body.end()
        yield FoundShape(begin.start(), stop, "private_key")
        position = stop


def _without_overlaps(found: list[FoundShape]) -> list[FoundShape]:
    kept: list[FoundShape] = []
    for shape in sorted(found, key=lambda item: (item.start, -item.end)):
        if not kept or shape.start >= kept[-1].end:
            kept.append(shape)
        elif shape.end > kept[-1].end:
            kept[-1] = kept[-1]._replace(end=shape.end)
    return kept
