"""Which model ``auto`` means for a question, and what a mistyped name may have meant.

A model that was named is never switched: where it cannot do what a question needs, that is said.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from cellwright.errors import LMError, SetupError
from cellwright.llm.catalogue import list_models
from cellwright.record.messages import (
    ImagePart,
    Message,
    SystemMessage,
    ToolMessage,
    UserMessage,
    text_of,
)
from cellwright.settings import Settings
from cellwright.text.file_kinds import HEAD_BYTES, RASTER_TYPES, kind_of

AUTO = "auto"
LONG_BYTES = 100_000
TOO_LONG_BYTES = 1_000_000
SUGGESTED = 3
CATALOGUE_SECONDS = 3.0


@dataclass(frozen=True)
class Window:
    """What a model would be sent."""

    has_pictures: bool = False
    size_bytes: int = 0

    @classmethod
    def of(cls, prompt: str, files: Iterable[str], messages: Iterable[Message] = ()) -> Window:
        """The window of a question after these messages; files are paths."""
        said = [m for m in messages if not isinstance(m, SystemMessage)]
        pictures = any(isinstance(part, ImagePart) for m in said for part in _parts(m))
        size = len(prompt.encode("utf-8", "replace"))
        size += sum(len(text_of(message).encode("utf-8", "replace")) for message in said)
        return cls(pictures or any(_is_picture(file) for file in files), size)


@dataclass(frozen=True)
class ModelChoice:
    """The model that answers; empty: the set one."""

    model: str
    notice: str = ""
    """For the person, where another than the set one was chosen."""


def choose_model(wanted: str, settings: Settings, window: Window) -> ModelChoice:
    """The model for a question.

    Args:
        wanted: What was asked for: a name, ``auto``, or nothing for the set one.
        settings: Which models there are for pictures and for long conversations.
        window: What the model would be sent.

    Raises:
        SetupError: No model could take so much.
    """
    if wanted != AUTO:
        return ModelChoice(wanted)
    if window.size_bytes > TOO_LONG_BYTES:
        size = f"{window.size_bytes:,} bytes"
        hint = "Begin anew with %agent reset, or make the chat shorter."
        raise SetupError(f"The conversation has {size}, too much for any model.", hint=hint)
    usual = settings.service.model
    if window.has_pictures and not usual.startswith(settings.vision_models):
        if settings.vision_model:
            return _other(settings.vision_model, "it sees pictures")
        return ModelChoice("", "No model that sees is set; CELLWRIGHT_VISION_MODEL names one.")
    if window.size_bytes > LONG_BYTES and settings.long_model and not window.has_pictures:
        return _other(settings.long_model, "the conversation is long")
    return ModelChoice("")


def unseen_pictures(files: Iterable[str], *, sees: bool, model: str) -> str:
    """What is to be said where a model is given pictures that it does not see."""
    names = [Path(file).name for file in files if _is_picture(file)]
    if sees or not names:
        return ""
    return f"{model} does not see pictures; of {', '.join(names)} it is told that they are there."


def models_like(name: str, settings: Settings, base_url: str) -> tuple[str, ...]:
    """Names of the service's models that are close to one it does not know; none: not known."""
    service = replace(settings.service, base_url=base_url, model=name)
    try:
        known = list_models(service, timeout_seconds=CATALOGUE_SECONDS)
    except LMError:
        return ()
    return tuple(difflib.get_close_matches(name, known, n=SUGGESTED, cutoff=0.5))


def _other(model: str, reason: str) -> ModelChoice:
    return ModelChoice(model, f"{model} answers: {reason}.")


def _parts(message: Message) -> tuple[object, ...]:
    return message.parts if isinstance(message, (UserMessage, ToolMessage)) else ()


def _is_picture(file: str) -> bool:
    """What is in it counts, not its name; whoever attaches it says why it cannot be read."""
    path = Path(file).expanduser()
    try:
        if not path.is_file():
            return False  # a pipe would be waited for
        with path.open("rb") as opened:
            return kind_of(opened.read(HEAD_BYTES), file) in RASTER_TYPES
    except (OSError, ValueError):
        return False
