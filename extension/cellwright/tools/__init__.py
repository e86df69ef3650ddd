"""Tools the model may call: a name, a risk, a generated manifest and ``tool_eval``."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, Protocol

from cellwright.kernels import Kernel, OutputSink
from cellwright.kernels.background_cell import PatientKernel
from cellwright.notebooks import Notebook
from cellwright.record.content import ComponentOutput, Content, Metrics, metrics_of
from cellwright.record.content import content as checked_content
from cellwright.record.events import CellEvent
from cellwright.record.messages import Manifest
from cellwright.record.usage import model_usages
from cellwright.stopping import Stop
from cellwright.tools.evaluation import Call, bound_arguments, evaluate, merged
from cellwright.tools.kernel_context import HereKernel, progress_display, taken_facts
from cellwright.tools.manifest import component_manifests, python_names, wire_names
from cellwright.tools.message import Message
from cellwright.tools.output_store import Shelf
from cellwright.tools.tracing import trace_headers

Risk = Literal["read", "edit", "execute", "install", "destroy"]
"""``read`` never asks; ``edit`` changes cells; ``execute`` runs code; the others always ask."""

ToolYield = ComponentOutput | CellEvent


@dataclass(frozen=True)
class ToolLimits:
    """How much one call may take."""

    cell_timeout_seconds: float = 120.0
    soft_wait_seconds: float | None = None
    """After this time the model is told what a cell has shown so far; None: at its end."""
    output_tokens: int = 2_000
    """What the model is given of one output at most."""
    step_tokens: int = 6_000
    """What the model is given of one call at most."""
    images: int = 2
    """Pictures sent of one call at most."""


UNLIMITED = ToolLimits(output_tokens=10**9, step_tokens=10**9)
"""For a call within a cell: whoever runs the cell cuts what it shows."""


class OutputShelf(Protocol):
    """The full texts that were cut for the model, kept for ``read_output``."""

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name the model can ask for."""
        ...

    def get(self, name: str) -> str | None:
        """The text, or None."""
        ...

    def names(self) -> tuple[str, ...]:
        """All names, oldest first."""
        ...


@dataclass(frozen=True)
class ToolContext:
    """What a tool may use; never a key, never the model."""

    kernel: Kernel
    notebook: Notebook | None
    shelf: OutputShelf
    stop: Stop
    on_output: OutputSink
    """Handed to ``kernel.execute``: redacts and records each output at capture."""
    new_cell_id: Callable[[], str]
    call_id: str = ""
    limits: ToolLimits = field(default_factory=ToolLimits)
    sees_images: bool = False
    prompt: str = ""
    """What the person asked for."""
    kernel_session: str = ""
    """The kernel's ``session`` when the run began; empty: it is not looked at."""
    tool_name: str = ""
    """What the model called; a component may be several tools."""
    run_id: str = ""
    chat_id: str = ""
    user_id: str = ""
    instructions: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    """Paths of the files the person gave, by name."""
    history: tuple[Any, ...] = ()
    """What was said so far, as messages."""
    used_tools: tuple[str, ...] = ()
    """Names of the tools the model called in this run before."""
    variables: Mapping[str, Any] = field(default_factory=dict)
    """What the person set for the run."""
    model_configs: Mapping[str, Any] = field(default_factory=dict)
    """Settings of the model that runs; never its key."""
    memory: Mapping[str, Any] = field(default_factory=dict)
    debug: bool = False
    patient: PatientKernel | None = None
    """Set where a cell may go on while the model is asked again."""
    on_progress: Callable[[str, float | None], None] | None = field(default=None, repr=False)

    @property
    def file_names(self) -> tuple[str, ...]:
        """Names of the files the person gave."""
        return tuple(self.files)

    @property
    def current_time(self) -> str:
        """Now, with the time zone."""
        return time.strftime("%Y-%m-%dT%H:%M:%S%z")

    def headers(self) -> dict[str, str]:
        """What a request to another service says of the run; empty where nothing is traced."""
        traced = trace_headers()
        return {**traced, "X-Request-Id": self.run_id} if traced and self.run_id else traced

    def notify(self, text: str, fraction: float | None = None) -> None:
        """Tell the person at once how far a long tool is; the model is told nothing.

        Args:
            text: In a few words.
            fraction: From 0 to 1, where it is known.
        """
        if self.on_progress is not None:
            self.on_progress(text, None if fraction is None else min(1.0, max(0.0, fraction)))


class Component:
    """Base of all tools.

    A subclass sets ``name``, ``risk`` and ``version`` and writes ``tool_eval(self, context,
    **arguments)``: a generator, or a function that returns its value, or either of them async.
    Its signature and Google docstring become the manifest. Or it writes ``run(self, message)``.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"
    asks: ClassVar[str] = ""
    """What the person is told that a call does, where its risk does not say it."""
    meta: ClassVar[Any] = None
    """A signature or a pydantic class whose fields are the tool's arguments; None: the
    signature of ``tool_eval`` says them."""
    manifests: ClassVar[tuple[Any, ...] | list[Any]] = ()
    """Written by hand instead: several make several tools, each called with its ``name``."""
    requires: ClassVar[Mapping[str, Any]] = {}
    """``{"env": [...]}``: variables that have to be set when it is called."""

    def label(self, **arguments: object) -> str:
        """What a call with these arguments does, in words for people."""
        return self.name.replace("_", " ")

    def risk_for(self, **arguments: object) -> Risk:
        """The risk of a call with these arguments, before its code is looked at."""
        return self.risk

    def code_for(self, **arguments: object) -> str:
        """Code that a call with these arguments runs or writes; the policy reads it."""
        return ""

    def markdown_for(self, notebook: Notebook | None, /, **arguments: object) -> str:
        """Markdown that a call puts before the person; the policy reads what it would load."""
        return ""

    def check_call(self, notebook: Notebook | None, /, **arguments: object) -> None:
        """Return if a call can be made as things are; looked at before a person is asked.

        Raises:
            ToolError: It cannot; the person is not asked.
        """

    tool_eval: Callable[..., Any]

    def tool_manifests(self) -> tuple[Manifest, ...]:
        """What a model is told of it: one manifest for each tool it is.

        Raises:
            SetupError: One cannot be made; all complaints at once.
        """
        return component_manifests(self)

    def evaluate(
        self, context: ToolContext | None = None, /, **arguments: Any
    ) -> Iterator[ToolYield]:
        """Call it; yield its outputs as they come, the last one with what all of it took.

        Raises:
            ToolError: It could not do it; what it had said was yielded before.
        """
        context = context or _context_here(self.name)
        name = (context.tool_name if context is not None else "") or self.name
        return evaluate(
            Call(
                name,
                self.version,
                arguments,
                context,
                lambda: self.begin(context, **arguments),
                self.requires,
            )
        )

    def evaluate_merged(
        self, context: ToolContext | None = None, /, **arguments: Any
    ) -> ComponentOutput:
        """Call it; all it says as one output, an error as the last content."""
        return merged(self.evaluate(context, **arguments))

    def begin(self, context: ToolContext | None, /, **arguments: Any) -> Any:
        """Start the tool: its value, or something that yields its values."""
        function: Callable[..., Any] | None = getattr(self, "tool_eval", None)
        if function is None:
            return self.run(Message(arguments)).content
        told = wire_names(self.meta)
        arguments = python_names(self.meta, arguments)
        if len(self.manifests) > 1 and context is not None:
            arguments = {"name": context.tool_name, **arguments}
        return function(**bound_arguments(function, context, arguments, told))

    def run(self, message: Message[Any]) -> Message[Any]:
        """Call it by hand.

        Args:
            message: Its arguments by name, or the first of them.

        Raises:
            ToolError: The tool could not do it.
        """
        output = self.evaluate_merged(**self._arguments(message.content))
        words = [item.text.get("info") for item in output.content if item.type == "text"]
        if len(words) == len(output.content) == 1:
            return Message(words[0], name=self.name)
        return Message(output, name=self.name)

    def __call__(self, message: Message[Any] | None = None, /, **arguments: Any) -> Message[Any]:
        """``run``, with a message or with the arguments themselves."""
        return self.run(Message(arguments) if message is None else message)

    def create_output(
        self,
        type: str = "text",  # noqa: A002 (the contract's name)
        text: object = "",
        role: Literal["tool", "user", "assistant"] = "tool",
        **options: Any,
    ) -> ComponentOutput:
        """An output of one content, checked.

        Args:
            type: One of the content types.
            text: Its fields, or a plain string for the main one.
            role: ``assistant`` for what is the agent's answer.
            **options: ``name``, ``visible_scope``, ``raw_data``, ``usage`` and ``metrics``.

        Raises:
            ToolError: A field, the scope or an option is wrong.
        """
        return _created(ComponentOutput((), role), (type, text), **options)

    def _arguments(self, content: Any) -> dict[str, Any]:
        if isinstance(content, Mapping):
            return dict(content)
        if content is None:
            return {}
        names = list(self.tool_manifests()[0].parameters.get("properties", {}))
        return {names[0]: content} if names else {}


def _context_here(name: str) -> ToolContext | None:
    """The context of a call that is a cell of this kernel; None where this is no kernel."""
    facts = taken_facts()
    if facts is None:
        return None
    return ToolContext(
        kernel=HereKernel(),
        notebook=None,
        shelf=Shelf(),
        stop=Stop(),
        on_output=lambda output: output,
        new_cell_id=lambda: uuid.uuid4().hex[:8],
        limits=UNLIMITED,
        on_progress=progress_display(),
        **{"tool_name": name, **facts},
    )


def _created(
    empty: ComponentOutput,
    said: tuple[str, object],
    *,
    name: str = "",
    visible_scope: str = "all",
    **details: Any,
) -> ComponentOutput:
    made = checked_content(
        *said, name=name, scope=visible_scope, raw_data=details.pop("raw_data", None)
    )
    usage = model_usages(details.pop("usage", None))
    metrics: Metrics | None = metrics_of(details.pop("metrics", None))
    if details:
        raise TypeError(f"create_output takes no {next(iter(details))!r}.")
    whole: Content = replace(made, usage=usage, metrics=metrics)
    return replace(empty, content=(whole,))
