"""What is asked and where: the values a conversation starts from."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace

from cellwright.agent.policy import Approver
from cellwright.agent.publishing import Listener
from cellwright.agent.typed_answers import TypedAnswers
from cellwright.assistants import NO_ASSISTANT, Assistant
from cellwright.context.assemble import Quoted
from cellwright.context.blocks import BlockShelf
from cellwright.context.few_shot import DemoSet
from cellwright.context.roles import NOTHING_TO_ANSWER
from cellwright.context.turn_sources import TurnSource
from cellwright.errors import SetupError
from cellwright.kernels import InputAsker, Kernel
from cellwright.llm.budget import Spending
from cellwright.llm.openai_format import usable_parameters
from cellwright.notebooks import Notebook
from cellwright.record.events import BranchMark, ToolProgress
from cellwright.record.messages import Parameters, Price, UserMessage
from cellwright.record.run_record import Runs
from cellwright.settings import Limits, Mode
from cellwright.text.redaction import Redactor
from cellwright.tools import Component, FormAsker
from cellwright.tools.evaluation import settable_values


@dataclass(frozen=True)
class RunContext:
    """Where a conversation happens: the lane's kernel, notebook, record and person."""

    kernel: Kernel
    store: Runs
    redactor: Redactor
    lane: str
    """``magic``, ``panel``, ``cli``, ``api``, ``replay`` or ``bench``."""
    approver: Approver | None = None
    """None: nobody can be asked."""
    notebook: Notebook | None = None
    prices: Mapping[str, Price] = field(default_factory=dict)
    spending: Spending | None = None
    """What all runs may use together; None: nobody set a limit."""
    listener: Listener | None = None
    """Told of every event right after it was recorded."""
    on_progress: Callable[[ToolProgress], None] | None = None
    """Shows at once what a tool says while it works, where no listener does."""
    chat_id: str = ""
    """The chat it belongs to; empty: the conversation's first run stands for it."""
    user_id: str = ""
    """Who asks, as the system knows them."""
    is_guest: bool = False
    """Whoever asks is not the person whose store this is."""
    blocks: BlockShelf | None = None
    """Where turns are kept that were long ago; None: with the conversation alone."""
    sources: tuple[TurnSource, ...] = ()
    """What is looked up for each question, and the tools that come with it."""
    keyboard: InputAsker | None = None
    """Puts a question of a service to the person; None: nobody can be asked."""
    form_asker: FormAsker | None = None
    """Shows it as a form; None: it is asked line by line."""
    keep_state: Callable[[str, str, int], object] | None = None
    """So that it can be undone: given the id and prompt of a run that may act, and 0 before it
    begins; or, before each of its cells but the first, the number of the cell."""


@dataclass(frozen=True)
class RunRequest:
    """What is asked, of which model, within which limits.

    A face fills in what its user said. ``session.composer`` answers with a copy in which the rest
    is chosen: that one a conversation can ask.
    """

    prompt: str
    parameters: Parameters = Parameters("")
    """``model`` is what was named for this prompt: a name, ``auto``, or nothing."""
    usual_model: str = ""
    """Asked where neither the prompt nor its assistant names one; empty: the set one."""
    base_url: str = ""
    files: tuple[str, ...] = ()
    mode: Mode = "ask"
    limits: Limits = field(default_factory=Limits)
    source_run: str = ""
    message: UserMessage | None = None
    """The question as it was once sent, for a run that is done again; nothing is added to it."""
    cell_ids: tuple[str, ...] = ()
    """Ids for the cells the run adds, in order, so that recorded edits find their cells again."""
    context: tuple[Quoted, ...] = ()
    """Cells, selections and errors that the person put beside the prompt."""
    variables: tuple[str, ...] = ()
    """Names that are summed up for the model, as if the prompt said ``@name``."""
    notice: str = ""
    """Shown at the start, such as that the demo model answers."""
    adapter: str = ""
    """How the model is talked with at first: ``native``, ``chat``, ``json`` or ``xml``; empty: as
    is set, else ``native``."""
    given: Mapping[str, str] = field(default_factory=dict)
    """What the person set for tools, by name (``--var name=value``)."""
    assistant_name: str = ""
    """Named beside the prompt (``--assistant``, the picker of the panel); empty: nobody."""
    assistant: Assistant = NO_ASSISTANT
    """Whose instructions and tools are used."""
    chat_prompt: str = ""
    """The chat's own words for the system message, in place of our advice and the assistant's."""
    chat_prompt_adds: bool = False
    """They stand in place of our advice alone; the assistant's follow."""
    text_filters: tuple[str, ...] | None = None
    """What is done to the person's words before they are sent, by name and in order; None: all."""
    file_names: tuple[str, ...] = ()
    """What the person calls the files; empty: as they are named in ``files``."""
    typed: TypedAnswers | None = None
    """Inputs that are variables and outputs that become variables; ``prompt`` is not used then."""
    demos: DemoSet = DemoSet()
    """Good runs, shown before the first question of an assistant that is asked in plain words."""
    notice_action: str = ""
    """What can be done about the notice in a notebook or shell; the panel has ways of its own."""
    tells_time: bool = False
    """The model is told when it was sent."""
    sent_at: str = ""
    """When it was sent, as the model is told; empty: it is not told."""
    reads_types: bool = False
    """A first line such as ``df, question -> answer: str`` says what goes in and comes out."""
    tools: tuple[Component, ...] = ()
    """Stand in for tools of these names that are not here, for a run that is done again."""
    reads_mentions: bool = True
    """``@name`` in the prompt is summed up as well; else ``variables`` alone."""
    installable: tuple[str, ...] = ()
    """Packages that mode ``auto`` installs without asking, beside those that are set."""
    branch: BranchMark | None = None
    """Which of several attempts it is; None: the only one."""


# A question as it can be asked.


def usable(question: RunRequest) -> RunRequest:
    """The question as it can be asked; what had to be changed is said in its notice.

    Raises:
        SetupError: The person set what only the system sets, or nothing is asked.
    """
    is_said = question.prompt.strip() or question.files or question.context
    if not (is_said or question.message or question.typed):
        raise SetupError(NOTHING_TO_ANSWER)
    settable_values(question.given)
    wanted, parameters = question.parameters.temperature, usable_parameters(question.parameters)
    if parameters is question.parameters:
        return question
    said = f"The temperature {wanted} cannot be sent; {_in_its_place(parameters.temperature)}."
    notice = f"{question.notice} {said}".strip()
    return replace(question, parameters=parameters, notice=notice)


def _in_its_place(temperature: float | None) -> str:
    return f"{temperature:g} is sent" if temperature is not None else "the provider's own counts"
