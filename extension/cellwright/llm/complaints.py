"""What a service says of an error, out of the many shapes it is said in."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

SHOWN_CHARACTERS = 500
TITLE = re.compile(r"<title[^>]*>(.*?)</title>", re.IGNORECASE | re.DOTALL)
TAGS = re.compile(r"<(script|style)\b.*?</\1>|<[^>]+>", re.IGNORECASE | re.DOTALL)


@dataclass(frozen=True)
class Complaint:
    """An error in the service's own words."""

    message: str
    type: str = ""
    code: str = ""
    parameter: str = ""

    @property
    def words(self) -> str:
        """Everything that can be searched for a wording, in lower case."""
        return f"{self.message} {self.type} {self.code}".lower()


def read_complaint(body: Any) -> Complaint:
    """The complaint in a body: text, or JSON that was read already."""
    if isinstance(body, str):
        body = _json_or_text(body)
    if isinstance(body, list) and body and isinstance(body[0], Mapping):
        body = body[0]  # Google's endpoint sends a list of one
    if not isinstance(body, Mapping):
        return Complaint(_shown(str(body or "")))
    for name in ("error", "detail"):
        inner = body.get(name)
        if isinstance(inner, Mapping):
            return read_complaint(inner)
        if isinstance(inner, str):
            return Complaint(_shown(inner), *_tags(body))
        if isinstance(inner, list):
            return _from_validation(inner)
    message = body.get("message") or json.dumps(body, ensure_ascii=False)
    return Complaint(_shown(str(message)), *_tags(body))


def _json_or_text(text: str) -> Any:
    try:
        return json.loads(text)
    except ValueError:
        pass
    if "<html" not in text[:1000].lower():
        return text
    title = TITLE.search(text)
    return " ".join((title[1] if title else TAGS.sub(" ", text)).split())


def _tags(body: Mapping[str, Any]) -> tuple[str, str, str]:
    kind, code, parameter = (body.get(name) for name in ("type", "code", "param"))
    return str(kind or ""), str(code or ""), str(parameter or "")


def _from_validation(problems: list[Any]) -> Complaint:
    """What FastAPI says of a body that does not fit: where, and what is wrong there."""
    places, words = [], []
    for problem in problems:
        if isinstance(problem, Mapping):
            places.append([str(step) for step in problem.get("loc") or () if step != "body"])
            words.append(f"{'.'.join(places[-1])}: {problem.get('msg', '')}")
    parameter = next((place[0] for place in places if place), "")
    return Complaint(_shown("; ".join(words)), parameter=parameter)


def _shown(text: str) -> str:
    return text if len(text) <= SHOWN_CHARACTERS else text[:SHOWN_CHARACTERS] + " …"
