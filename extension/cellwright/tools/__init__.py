"""Tools the model may call: a name, a risk, a generated manifest and ``tool_eval``."""

from __future__ import annotations

import asyncio
import collections
import inspect
import math
import time
import types
import uuid
from collections.abc import Callable, Generator, Iterator, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, Literal, NoReturn, Protocol, cast

from cellwright.errors import SetupError, ToolError
from cellwright.kernels import (
    CellRequest,
    InputAsker,
    Kernel,
    KernelDescription,
    OutputSink,
    PatientKernel,
    PendingInput,
)
from cellwright.notebooks import Notebook
from cellwright.record.content import CONTEXT_MIME, ComponentOutput, Content, Metrics, metrics_of
from cellwright.record.content import content as checked_content
from cellwright.record.events import CellEvent, CellOutput
from cellwright.record.messages import (
    AssistantMessage,
    Manifest,
    TextPart,
    UserMessage,
    model_usages,
    text_of,
)
from cellwright.record.outputs import Execution
from cellwright.record.values import safe_json
from cellwright.stopping import Stop
from cellwright.tools.evaluation import (
    SYSTEM_VALUES,
    Call,
    evaluate,
    is_kernel,
    merged,
    reserved_names,
    system_values,
    trace_headers,
)
from cellwright.tools.manifest import (
    GeneratedManifests,
    component_manifests,
    is_context,
    python_names,
    wire_names,
    written_manifests,
)
from cellwright.tools.message import Message

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
class FormOption:
    """A value of a field that may be chosen."""

    value: str
    title: str


@dataclass(frozen=True)
class FormField:
    """A value that a service wants of the user."""

    name: str
    title: str
    kind: Literal["text", "number", "boolean", "choice", "choices"]
    description: str = ""
    format: str = ""
    """What a text has to be, such as ``email``; empty: anything."""
    required: bool = False
    options: tuple[FormOption, ...] = ()
    given: tuple[str, ...] = ()
    """What stands in it at first: one text, or those that are chosen."""


@dataclass(frozen=True)
class FormRequest:
    """What a service asks the user while it works: values, or to open an address."""

    server: str
    message: str
    fields: tuple[FormField, ...] = ()
    url: str = ""
    """To be opened by the user; empty: values are wanted."""
    problem: str = ""
    """Why the answer before was not taken."""


class FormAsker(Protocol):
    """Puts a form to the user; answered with JSON: ``{"action", "content": {name: [texts]}}``."""

    def __call__(self, form: FormRequest) -> PendingInput:
        """Show it; the answer comes when they have clicked."""
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
    keyboard: InputAsker | None = field(default=None, repr=False)
    """Puts a question of a service to the person; None: nobody can be asked."""
    form_asker: FormAsker | None = field(default=None, repr=False)
    """Shows it as a form; None: it is asked line by line."""
    before_cell: Callable[[], object] = field(default=lambda: None, repr=False)
    """Called right before a cell is sent to the kernel."""
    waiting: Callable[[], AbstractContextManager[None]] = field(default=nullcontext, repr=False)
    """Stops the run's clock while the person thinks."""
    left_seconds: Callable[[], float] = field(default=lambda: math.inf, repr=False)
    """How long the run may still take."""

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


class ToolEval:
    """``tool_eval`` of a component: as its author wrote it for us, and open to everybody else.

    Args:
        function: The author's; None: the component says otherwise what it does.
    """

    def __init__(self, function: Callable[..., Any] | None = None) -> None:
        self.function = function

    def __get__(self, component: Component | None, owner: type | None = None) -> Any:
        return self.function if component is None else OpenToolEval(component, self.function)


class OpenToolEval:
    """``tool_eval`` as it is called by hand: with the tool's own arguments, yielding outputs.

    A context may be among them by name. With one that comes first it is the author's function,
    and for a subclass that calls its parent's it always is.
    """

    def __init__(self, component: Component, function: Callable[..., Any] | None) -> None:
        self._component, self._function = component, function
        self.__doc__ = inspect.getdoc(function)

    @property
    def __signature__(self) -> inspect.Signature:
        """What the manifest says, and the names of the system, which are passed over."""
        schema = self._component.tool_manifests()[0].parameters
        required = schema.get("required", ())
        named = [
            inspect.Parameter(
                name,
                inspect.Parameter.KEYWORD_ONLY,
                default=inspect.Parameter.empty if name in required else told.get("default"),
            )
            for name, told in schema.get("properties", {}).items()
        ]
        more = inspect.Parameter("kwargs", inspect.Parameter.VAR_KEYWORD)
        return inspect.Signature([*named, more])

    def __call__(self, *arguments: Any, **named: Any) -> Any:
        own = self._function
        is_parents = own is not type(self._component).tool_eval
        if own and (is_parents or (arguments and isinstance(arguments[0], ToolContext))):
            return own(self._component, *arguments, **named)
        context = named.pop("context", None)
        given = {name: value for name, value in named.items() if name not in SYSTEM_VALUES}
        given |= dict(zip(inspect.signature(self).parameters, arguments, strict=False))
        return self._outputs(context, given)

    def _outputs(
        self, context: ToolContext | None, given: Mapping[str, Any]
    ) -> Iterator[ComponentOutput]:
        """What the tool says; the notebook changes as it does in a run."""
        for item in self._component.evaluate(context, **given):
            if not isinstance(item, ComponentOutput):
                if context is not None and context.notebook is not None:
                    context.notebook.apply(item)
            elif item.content:
                yield item


class Component:
    """Base of all tools.

    A subclass sets ``name``, ``risk`` and ``version`` and writes ``tool_eval(self, context,
    **arguments)``: a generator, or a function that returns its value, or either of them async.
    Its signature and Google docstring become the manifest. Or it writes ``run(self, message)``.

    Args:
        **kwargs: For makers of components that hand over more than they were asked for.
    """

    name: ClassVar[str] = ""
    version: ClassVar[str] = "v1"
    risk: ClassVar[Risk] = "read"
    asks: ClassVar[str] = ""
    """What the person is told that a call does, where its risk does not say it."""
    meta: ClassVar[Any] = None
    """A signature or a pydantic class whose fields are the tool's arguments; None: the
    signature of ``tool_eval`` says them."""
    manifests: ClassVar[Any] = GeneratedManifests()
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

    tool_eval: Any = ToolEval()

    def __init__(self, **kwargs: Any) -> None:
        pass

    def __init_subclass__(cls, **keywords: Any) -> None:
        super().__init_subclass__(**keywords)
        own = vars(cls).get("tool_eval")
        if inspect.isfunction(own):
            cls.tool_eval = ToolEval(own)

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
        function = author_function(self)
        if function is None:
            return self.run(Message(arguments)).content
        told = wire_names(self.meta)
        arguments = python_names(self.meta, arguments)
        if len(written_manifests(self)) > 1 and context is not None:
            arguments = {"name": context.tool_name, **arguments}
        return function(**bound_arguments(function, context, arguments, told))

    def run(self, *inputs: Any, **options: Any) -> Message[Any]:
        """Call it by hand.

        Args:
            *inputs: A message, or what one would hold: arguments by name, or the first of them.
            **options: ``stream``: the message holds what comes as it comes. Else arguments; those
                that the tool does not have, such as ``temperature``, are left out.

        Raises:
            ToolError: The tool could not do it.
        """
        is_streamed = bool(options.pop("stream", False))
        first = inputs[0] if inputs else None
        given = self._arguments(first.content if isinstance(first, Message) else first)
        if options:
            names = self.tool_manifests()[0].parameters.get("properties", {})
            given |= {name: value for name, value in options.items() if name in names}
        if is_streamed:
            return Message(self.tool_eval(**given), name=self.name)
        output = self.evaluate_merged(**given)
        words = [item.text.get("info") for item in output.content if item.type == "text"]
        if len(words) == len(output.content) == 1:
            return Message(words[0], name=self.name)
        return Message(output, name=self.name)

    async def arun(self, *inputs: Any, **options: Any) -> Message[Any]:
        """``run`` for code that awaits; it runs in a thread."""
        return await asyncio.to_thread(lambda: self.run(*inputs, **options))

    def batch(self, *inputs: Any, **options: Any) -> list[Message[Any]]:
        """``run`` with each input by itself."""
        return [self.run(each, **options) for each in inputs]

    async def abatch(self, *inputs: Any, **options: Any) -> list[Message[Any]]:
        """``batch`` for code that awaits; it runs in a thread."""
        return await asyncio.to_thread(lambda: self.batch(*inputs, **options))

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


def author_function(component: Component) -> Callable[..., Any] | None:
    """``tool_eval`` as the component's author wrote it; None where there is none."""
    found = inspect.getattr_static(component, "tool_eval")
    if not isinstance(found, ToolEval):
        return cast(Callable[..., Any], component.tool_eval)
    own = found.function
    return None if own is None else types.MethodType(own, component)


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


def bound_arguments(
    function: Callable[..., Any],
    context: Any,
    arguments: Mapping[str, Any],
    told: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The arguments of a call with what the system hands over, as the function wants it.

    A function that declares a context gets it, one that takes ``**kwargs`` the ``_sys_`` names;
    any other gets neither (requirements 000-10).

    Args:
        function: What is going to be called.
        context: What the system hands over; None: a person calls it by hand.
        arguments: What was written, by the function's own names.
        told: What a model calls those whose names differ.

    Raises:
        ToolError: The model wrote a system name, or arguments are missing or unknown.
    """
    spoofed = reserved_names(arguments)
    if spoofed:
        raise ToolError(f"The argument {spoofed[0]!r} is reserved.", hint="Leave it out.")
    parameters = inspect.signature(function).parameters
    given = {**arguments, **_handed_over(function, parameters, context)}
    complaints = _misfits(parameters, given, told or {})
    if complaints:
        raise ToolError(f"The call does not fit: {'; '.join(complaints)}.")
    return given


def _handed_over(
    function: Callable[..., Any], parameters: Mapping[str, inspect.Parameter], context: Any
) -> dict[str, Any]:
    for parameter in filter(is_context, parameters.values()):
        if context is not None:
            return {parameter.name: context}
        if parameter.default is inspect.Parameter.empty:
            raise SetupError(
                f"{getattr(function, '__qualname__', function)!s} needs the context of a run.",
                hint="Let the agent call it, or write "
                f"`{parameter.name}: ToolContext | None = None`.",
            )
        return {}
    takes_more = any(p.kind is p.VAR_KEYWORD for p in parameters.values())
    return system_values(context) if context is not None and takes_more else {}


def _misfits(
    parameters: Mapping[str, inspect.Parameter],
    given: Mapping[str, Any],
    told: Mapping[str, str],
) -> list[str]:
    variadic = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    needed = [
        name
        for name, parameter in parameters.items()
        if parameter.default is inspect.Parameter.empty and parameter.kind not in variadic
    ]
    missing = [f"{told.get(name, name)!r} is missing" for name in needed if name not in given]
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters.values()):
        return missing
    return missing + [f"there is no {name!r}" for name in given if name not in parameters]


# Full texts that were cut for the model, kept so that it can read on.


KEPT_CHARACTERS = 20_000_000


class Shelf:
    """Texts by name, the oldest dropped first.

    Args:
        kept_characters: How much is kept in all.
    """

    def __init__(self, kept_characters: int = KEPT_CHARACTERS) -> None:
        self._kept_characters = kept_characters
        self._texts: collections.OrderedDict[str, str] = collections.OrderedDict()

    def keep(self, name: str, text: str) -> None:
        """Keep a text under a name the model can ask for."""
        self._texts[name] = text
        self._texts.move_to_end(name)
        while len(self._texts) > 1 and self._size() > self._kept_characters:
            self._texts.popitem(last=False)

    def get(self, name: str) -> str | None:
        """The text, or None."""
        return self._texts.get(name)

    def names(self) -> tuple[str, ...]:
        """All names, oldest first."""
        return tuple(self._texts)

    def _size(self) -> int:
        return sum(len(text) for text in self._texts.values())


# What a run hands over to a tool of the live kernel, whose call is a cell.
#
# The cell holds the arguments alone, so that the notebook can be run again without the agent. The
# rest comes by a probe just before it, and the first tool that the cell calls takes it.


PLAIN_FACTS = (
    *("call_id", "sees_images", "prompt", "kernel_session", "tool_name", "run_id", "chat_id"),
    *("user_id", "instructions", "files", "variables", "model_configs", "memory", "debug"),
)
"""Fields of a context that are JSON as they are."""
HISTORY_MESSAGES = 40
HISTORY_CHARACTERS = 2_000
INTERVAL_SECONDS = 0.1
_waiting: list[Mapping[str, Any]] = []


def facts_of(context: Any) -> dict[str, Any]:
    """The fields of a context as JSON; of the history the last messages, shortened."""
    facts = {name: safe_json(getattr(context, name)) for name in PLAIN_FACTS}
    said = [message for message in context.history if message.role in ("user", "assistant")]
    turns = [
        {"role": message.role, "content": text_of(message)[:HISTORY_CHARACTERS]}
        for message in said[-HISTORY_MESSAGES:]
    ]
    return {**facts, "history": turns, "used_tools": list(context.used_tools)}


def hand_over(facts: Mapping[str, Any]) -> None:
    """Keep what was said of the next call until its tool takes it."""
    _waiting[:] = [facts]


def taken_facts() -> dict[str, Any] | None:
    """Fields for a context; none of them where a person calls; None where no cell runs at all."""
    facts = _waiting.pop() if _waiting else ({} if is_kernel() else None)
    if not facts:
        return None if facts is None else {}
    known = {name: facts[name] for name in PLAIN_FACTS if name in facts}
    known["history"] = tuple(_message(turn) for turn in facts.get("history", ()))
    return {**known, "used_tools": tuple(facts.get("used_tools", ()))}


class HereKernel:
    """Stands for the kernel we are in: what a tool wants of it, it can do by itself."""

    session = ""

    def wait_until_free(self, stop: Stop) -> None:
        """The cell that runs is the one that called us."""
        stop.check()

    def execute(
        self, request: CellRequest, stop: Stop, on_output: OutputSink
    ) -> Generator[CellOutput, None, Execution]:
        """A cell within the cell that called us is not run.

        Raises:
            ToolError: Always.
        """
        _refuse()

    def probe(self, function: str, arguments: Mapping[str, Any]) -> Any:
        """Nothing is asked of the kernel we are in.

        Raises:
            ToolError: Always.
        """
        _refuse()

    def describe(self) -> KernelDescription:
        """Nothing but the language."""
        return KernelDescription("python", "", "", "")

    def is_alive(self) -> bool:
        """Whoever can ask is alive."""
        return True

    def interrupt(self) -> None:
        """Whoever runs us interrupts us."""


def progress_display(
    clock: Callable[[], float] = time.monotonic,
) -> Callable[[str, float | None], None]:
    """Shows how far a tool is in one output of its cell, about ten times a second."""
    name, shown_at = uuid.uuid4().hex, float("-inf")

    def show(text: str, fraction: float | None) -> None:
        nonlocal shown_at
        now, is_first = clock(), shown_at == float("-inf")
        if now - shown_at < INTERVAL_SECONDS:
            return
        shown_at = now
        from IPython.display import display

        share = "" if fraction is None else f" {fraction:.0%}"
        # The model is told nothing of it.
        data = {"text/plain": f"{text}{share}", CONTEXT_MIME: ""}
        display(data, raw=True, display_id=name, update=not is_first)  # type: ignore[no-untyped-call]

    return show


def _refuse() -> NoReturn:
    raise ToolError(
        "This tool is in the kernel already.", hint="Run the code where it is wanted, as it stands."
    )


def _message(turn: Mapping[str, str]) -> AssistantMessage | UserMessage:
    if turn["role"] == "assistant":
        return AssistantMessage(turn["content"])
    return UserMessage((TextPart(turn["content"]),))
