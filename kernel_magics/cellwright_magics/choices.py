"""Which setting counts: an option, the cell's metadata, ``%config``, the environment, a default.

A notebook can come from anybody, so its metadata may choose the model and tighten limits, and
never the endpoint or the mode (attack A24).
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from cellwright.settings import Limits, Mode, Settings, checked_mode
from cellwright_magics.arguments import Options


@dataclass(frozen=True)
class Configured:
    """What ``%config AgentMagics`` or a configuration file says; empty and None: nothing."""

    model: str = ""
    mode: str = ""
    max_steps: int | None = None
    max_seconds: float | None = None
    max_tokens: int | None = None
    budget: float | None = None
    timeout_seconds: float | None = None
    show_code: bool = True
    short_errors: bool = True
    paint: bool = True
    """Whether code becomes cells under the calling cell, where the front end can do that."""
    demos: str = ""
    """The folder of results whose good runs are examples for typed questions."""
    message_times: bool | None = None
    """Whether the model is told when each question was sent."""


@dataclass(frozen=True)
class CellSettings:
    """What the metadata of the calling cell says."""

    model: str = ""
    max_steps: int | None = None
    timeout_seconds: float | None = None
    ignored: tuple[str, ...] = ()
    """Names it may not set, or whose values cannot be used."""


@dataclass(frozen=True)
class Choices:
    """What a run uses."""

    model: str = ""
    mode: Mode = "ask"
    limits: Limits = field(default_factory=Limits)
    temperature: float | None = None
    given: Mapping[str, str] = field(default_factory=dict)
    """What is put into prompts and told to tools, by name."""
    assistant: str = ""
    """Named for this prompt; empty: none was."""
    is_model_named: bool = False
    """The model was named for this prompt, so it counts more than an assistant's."""
    tells_time: bool = False
    """The model is told when the question was sent."""


READERS: dict[str, Callable[[Any], bool]] = {
    "model": lambda value: isinstance(value, str) and 0 < len(value) <= 200,
    "max_steps": lambda value: type(value) is int and value > 0,
    "timeout_seconds": lambda value: type(value) in (int, float) and value > 0,
}


def cell_settings(metadata: Mapping[str, Any]) -> CellSettings:
    """Read the ``cellwright`` part of a cell's metadata.

    A cell that the agent wrote carries its own history there, which sets nothing.
    """
    part = metadata.get("cellwright")
    if not isinstance(part, Mapping) or "run" in part:
        return CellSettings()
    good = {
        name: part[name] for name, usable in READERS.items() if name in part and usable(part[name])
    }
    return CellSettings(
        **good, ignored=tuple(sorted(str(name) for name in part if name not in good))
    )


def choose(
    options: Options, cell: CellSettings, configured: Configured, settings: Settings
) -> Choices:
    """The value that counts for each setting.

    Raises:
        SetupError: There is no such mode.
    """
    usual = settings.limits
    steps = _first(options.max_steps, cell.max_steps, configured.max_steps, usual.step_limit)
    limits = replace(
        usual,
        step_limit=steps,
        wall_seconds=_first(options.max_seconds, configured.max_seconds, usual.wall_seconds),
        token_limit=_first(options.max_tokens, configured.max_tokens, usual.token_limit),
        cost_limit_dollars=_first(options.budget, configured.budget, usual.cost_limit_dollars),
        cell_timeout_seconds=_first(
            options.timeout,
            cell.timeout_seconds,
            configured.timeout_seconds,
            usual.cell_timeout_seconds,
        ),
    )
    mode = options.mode or configured.mode or settings.mode
    return Choices(
        model=options.model or cell.model or configured.model,
        mode=checked_mode(mode, "The mode"),
        limits=limits,
        temperature=options.temperature,
        given=dict(options.var),
        assistant=options.assistant or "",
        is_model_named=bool(options.model),
        tells_time=_first(configured.message_times, settings.message_times),
    )


def _first(*values: Any) -> Any:
    """The first that was given."""
    return next((value for value in values if value is not None), None)
