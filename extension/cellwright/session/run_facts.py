"""What a tool is told of the run it works in (requirements 000-12 to 000-14)."""

from __future__ import annotations

import uuid
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from cellwright.context.normalise import normalise, orphans
from cellwright.context.text_filters import known_filters
from cellwright.record.events import Notice, RunFinished
from cellwright.record.messages import AssistantMessage, Message, Parameters, SystemMessage
from cellwright.session.questions import RunRequest
from cellwright.tools import ToolContext, ToolLimits
from cellwright.tools.evaluation import settable_values


def with_run_facts(context: ToolContext, question: RunRequest, folder: Path) -> ToolContext:
    """The context with what the person gave and set, and with the settings of the model.

    Args:
        context: What the run itself hands to tools.
        question: What is asked.
        folder: Where the named files are looked for.

    Raises:
        SetupError: The person set what only the system sets.
    """
    settable = settable_values(question.given)
    names = question.file_names or question.files
    paths = [str(folder / Path(path).expanduser()) for path in question.files]
    named = dict(zip(names, paths, strict=False))
    return replace(
        context,
        prompt=question.prompt,
        instructions=settable.instructions or question.assistant.instructions,
        files={**named, **settable.files},
        variables=settable.variables,
        model_configs=model_configs(question.parameters, question.base_url),
    )


def ended_early(error: BaseException) -> RunFinished:
    """The end of a run that stopped or failed before the model was asked."""
    if isinstance(error, Exception):
        reason = f"cellwright failed: {error!r}"
        return RunFinished("task error", reason=reason, cause="internal")
    return RunFinished("cancelled", reason="Run stopped by the user.", cause="stopped")


def ids_for_cells(given: tuple[str, ...]) -> Iterator[str]:
    """Ids for new cells: those that are given, then others."""
    yield from given
    while True:
        yield uuid.uuid4().hex[:8]


def last_answer(messages: Sequence[Message]) -> str:
    """What the model said last in words; empty: nothing."""
    said = (m.text for m in reversed(messages) if isinstance(m, AssistantMessage))
    return next(filter(str.strip, said), "")


def results_left_out(messages: Sequence[Message], known: set[str]) -> tuple[Notice, ...]:
    """What the person is told of results whose calls are not there: once of each (002-53).

    Args:
        messages: What was said.
        known: Those that were told of; added to.
    """
    lost = [call_id for call_id in orphans(messages) if call_id not in known]
    known.update(lost)
    if not lost:
        return ()
    names = ", ".join(lost)
    text = f"Results of tools whose calls are gone are left out for the model: {names}."
    return (Notice("warning", text, code="results_left_out"),)


def filters_left_out(question: RunRequest) -> tuple[Notice, ...]:
    """What the person is told of text filters that were chosen and are not here (002-47)."""
    known = {item.name for item in known_filters(question.text_filters)}
    unknown = [repr(name) for name in question.text_filters or () if name not in known]
    if not unknown:
        return ()
    text = f"There is no text filter {', '.join(unknown)} in this version; it is left out."
    return (Notice("warning", text, code="text_filter_left_out"),)


def limits_of(question: RunRequest) -> ToolLimits:
    """How much one call may take."""
    limits = question.limits
    return ToolLimits(limits.cell_timeout_seconds, soft_wait_seconds=limits.soft_wait_seconds)


def model_configs(parameters: Parameters, base_url: str = "") -> dict[str, Any]:
    """Settings of the model that runs, by their usual names; what is not set is left out.

    There is no key among them: a tool that asks a model brings its own.
    """
    settings = {
        "model": parameters.model,
        "base_url": base_url,
        "temperature": parameters.temperature,
        "max_tokens": parameters.max_output_tokens,
    }
    known = {name: value for name, value in settings.items() if value not in (None, "")}
    return {**parameters.extra, **known}


def said_so_far(
    messages: Sequence[Message], text_filters: Sequence[str] | None = None
) -> tuple[Message, ...]:
    """What was said before the reply whose calls are being made, without our instructions.

    Args:
        messages: What was said.
        text_filters: Names of those that the run's requests have; None: the standard ones.
    """
    said = list(messages)
    if said and isinstance(said[-1], AssistantMessage):
        said.pop()
    ours = (message for message in said if not isinstance(message, SystemMessage))
    return normalise(ours, text_filters=text_filters)
