"""A chat as a value and as a row: what its fields may be, whose it is, what was chosen for it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from cellwright.context.normalise import STANDARD_FILTERS, checked_filters
from cellwright.errors import SetupError
from cellwright.store.database import Statement

# Whose a chat is: of everybody with the token, of a person with an account, of a guest.
#
# A guest is whoever may work here and is not the person whose record this is.


GUEST = "guest:"
GUEST_SECONDS = 86_400.0
"""So long a guest's chat is kept."""
GUEST_LIMIT_CHARACTERS = 32


def guest_owner(name: str) -> str:
    """The name that a guest's chats are kept under."""
    if len(name) > GUEST_LIMIT_CHARACTERS:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
        name = digest[:GUEST_LIMIT_CHARACTERS]
    return GUEST + name


def is_guest(owner: str) -> bool:
    """Whether it is a guest's name."""
    return owner.startswith(GUEST)


def may_open(person: str, owner: str) -> bool:
    """Whether a person may open a chat of this owner; a guest only their own."""
    return owner == person or (owner == "" and not is_guest(person))


TITLE_LIMIT_CHARACTERS = 60
"""Of a title that a person writes."""
AUTOMATIC_TITLE_CHARACTERS = 30
"""Of a title that is the start of a prompt (requirements 002-04)."""
PROMPT_LIMIT_CHARACTERS = 1_024
LATEST_EXPIRY = 2_145_916_800.0
"""2038-01-01, from which on some systems cannot tell the time."""
FIELDS = (
    "chat_id",
    "title",
    "root",
    "notebook_path",
    "owner",
    "created_at",
    "updated_at",
    "settings",
    "prompt",
    "expires_at",
    "branched_from",
    "prompt_adds",
)
COLUMNS = ", ".join(FIELDS)
INSERT = f"INSERT INTO chats ({COLUMNS}) VALUES ({', '.join('?' * len(FIELDS))})"


@dataclass(frozen=True)
class Chat:
    """A conversation; its runs are in the store of runs."""

    chat_id: str
    title: str
    """The person's own, else the start of the first prompt; empty: nothing was asked yet."""
    notebook_path: str
    """Below the root; empty: a chat of its own."""
    owner: str
    """Who began it (see ``may_open``); empty: whoever uses the server."""
    created_at: float
    """Seconds since the epoch."""
    updated_at: float
    run_count: int = 0
    """How many of its runs count: those that nothing took the place of."""
    is_named: bool = False
    """Whether the title is the person's own."""
    settings: Mapping[str, Any] = field(default_factory=dict)
    root: str = ""
    """The folder that the notebook's path starts from; empty: not one of this machine."""
    prompt: str = ""
    """Instructions of its own, in place of the assistant's; empty: none."""
    prompt_adds: bool = False
    """They stand beside the assistant's, not in their place."""
    expires_at: float = 0.0
    """From when on it is gone; 0: never."""
    branched_from: str = ""
    """The chat it goes on from; empty: it began by itself."""
    pins: tuple[str, ...] = ()
    """Those of its runs whose words stay in the context, in the order in which they were pinned."""

    @property
    def is_guest(self) -> bool:
        """Whether a guest began it."""
        return is_guest(self.owner)


def automatic_title(prompt: str, limit_characters: int = AUTOMATIC_TITLE_CHARACTERS) -> str:
    """The start of a prompt as a title: one line, whole words where they fit."""
    line = " ".join(prompt.split())
    if len(line) <= limit_characters:
        return line
    head = line[: limit_characters - 1]
    before, space, _ = head.rpartition(" ")
    # Chinese has no spaces, and a long path is no reason to keep one word of a sentence.
    return (before if space and len(before) > len(head) // 2 else head).rstrip() + "…"


def checked_title(title: str) -> str:
    """A title as it is kept: one line.

    Raises:
        SetupError: It is too long.
    """
    line = " ".join(title.split())
    if len(line) > TITLE_LIMIT_CHARACTERS:
        raise SetupError(
            f"The title {line[:20]!r}… has {len(line)} characters.",
            hint=f"Use at most {TITLE_LIMIT_CHARACTERS}.",
        )
    return line


def checked_prompt(prompt: str) -> str:
    """A chat's instructions as they are kept.

    Raises:
        SetupError: They are too long.
    """
    text = prompt.strip()
    if len(text) > PROMPT_LIMIT_CHARACTERS:
        raise SetupError(
            f"The chat's instructions {text[:20]!r}… have {len(text)} characters.",
            hint=f"Use at most {PROMPT_LIMIT_CHARACTERS}, or make an assistant of them.",
        )
    return text


def checked_expiry(moment: float, now: float) -> float:
    """When a chat goes, in seconds since the epoch; 0: never.

    Raises:
        SetupError: That is past, or after 2037.
    """
    if moment and not now < moment < LATEST_EXPIRY:
        raise SetupError(
            f"A chat cannot expire at {moment!r}.", hint="Use a time to come, before 2038-01-01."
        )
    return moment


def inserted(chat: Chat) -> Statement:
    """What writes a new chat."""
    return Statement(INSERT, _row_of(chat))


def written(chat: Chat, *fields: str) -> Statement:
    """What writes these fields of a chat and leaves what others changed meanwhile."""
    changes = ", ".join(f"{name} = excluded.{name}" for name in fields)
    # While the file is locked the row is not in memory: then all of it is written there.
    return Statement(f"{INSERT} ON CONFLICT (chat_id) DO UPDATE SET {changes}", _row_of(chat))


def chat_of_row(
    row: Sequence[Any],
    runs: Sequence[str],
    prompts: Mapping[str, str],
    pins: Sequence[str] = (),
) -> Chat:
    """The chat of a row of ``FIELDS``.

    Args:
        row: The row.
        runs: Those of its runs that count.
        prompts: What was asked, of the first run at least.
        pins: Runs that were pinned.
    """
    values = dict(zip(FIELDS, row, strict=True))
    title = values.pop("title")
    automatic = automatic_title(prompts.get(runs[0], "")) if runs and not title else ""
    settings = json.loads(values.pop("settings"))
    prompt_adds = bool(values.pop("prompt_adds"))
    return Chat(
        **values,
        prompt_adds=prompt_adds,
        title=title or automatic,
        run_count=len(runs),
        is_named=bool(title),
        settings=settings,
        pins=tuple(run for run in pins if run in runs),
    )


def _row_of(chat: Chat) -> tuple[Any, ...]:
    values = {
        **{name: getattr(chat, name) for name in FIELDS},
        "title": chat.title if chat.is_named else "",
        "settings": json.dumps(dict(chat.settings), ensure_ascii=False),
        "prompt_adds": int(chat.prompt_adds),
    }
    return tuple(values[name] for name in FIELDS)


# What was chosen for a chat, as its ``settings`` keep it: which text filters are on.


TEXT_FILTERS = "text_filters"


def filters_of(settings: Mapping[str, Any]) -> tuple[str, ...] | None:
    """The names of the chat's text filters, in order; None: the standard ones.

    Another version may have written names that there are not here.
    """
    names = settings.get(TEXT_FILTERS)
    if not isinstance(names, list):
        return None
    return tuple(name for name in names if isinstance(name, str))


def with_filters(settings: Mapping[str, Any], names: Iterable[str] | None) -> dict[str, Any]:
    """The settings with other text filters; all else stays.

    Args:
        settings: As they are.
        names: Those that are on, in order; None: the standard ones.

    Raises:
        SetupError: There is no filter of a name.
    """
    others = {name: value for name, value in settings.items() if name != TEXT_FILTERS}
    chosen = STANDARD_FILTERS if names is None else checked_filters(names)
    if chosen == STANDARD_FILTERS:
        return others
    return {**others, TEXT_FILTERS: list(chosen)}
