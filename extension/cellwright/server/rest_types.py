"""What the routes take and answer, as frozen types: the OpenAPI description is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.kernels.going_back import ChangedFiles
from cellwright.record.outputs import CellType
from cellwright.server.component_envelopes import ArgumentError, View
from cellwright.server.service_choice import ProviderOffer
from cellwright.settings import Mode
from cellwright.store.runs import Fate


@dataclass(frozen=True)
class Problem:
    """An answer that is an error."""

    message: str
    hint: str
    code: str = ""
    risk: str = ""
    errors: tuple[ArgumentError, ...] = ()


@dataclass(frozen=True)
class Nothing:
    """There is nothing to say."""


@dataclass(frozen=True)
class Health:
    """That cellwright is there."""

    version: str
    enabled: bool = True
    """False: cellwright is switched off here."""


@dataclass(frozen=True)
class ServiceState:
    """The model service that runs use, and what an administrator allows."""

    model: str
    base_url: str
    has_key: bool
    key_source: str
    is_demo: bool
    notice: str
    mode: Mode
    modes: tuple[Mode, ...]
    models_allowed: tuple[str, ...]
    endpoints_locked: bool
    recording: bool
    warnings: tuple[str, ...]
    parameters: Mapping[str, Any] = field(default_factory=dict)
    """What was chosen to be sent with each request."""


@dataclass(frozen=True)
class WantedService:
    """Another model, endpoint or key, or other parameters; what is missing stays."""

    model: str = ""
    base_url: str = ""
    api_key: str = ""
    parameters: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class ServiceTest(WantedService):
    """How a service is tried, before it is chosen."""

    send: bool = False


@dataclass(frozen=True)
class ProviderList:
    """The providers that may be chosen."""

    providers: tuple[ProviderOffer, ...]
    any_address: bool
    """Whether any other address may be named."""
    set_model: str
    """The model that the environment sets; empty: any may be chosen."""
    new_key_place: str
    """Where a key that is given would be kept: ``keyring`` or ``file``."""


@dataclass(frozen=True)
class ServiceCheck:
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "warn", "blocked"]
    text: str
    action: str
    code: str = ""
    """Name of the error that stands for it; empty: none does."""


@dataclass(frozen=True)
class Models:
    """Names of models."""

    models: tuple[str, ...]


@dataclass(frozen=True)
class RunThumb:
    """Whether a person finds an answer good."""

    is_up: bool
    comment: str = ""


@dataclass(frozen=True)
class ChatSummary:
    """A chat in one line."""

    id: str
    title: str
    notebook_path: str
    updated_at: float
    runs: int
    run: str = ""
    """The one that goes on; empty: none."""
    waits_for_answer: bool = False
    """Whether that run waits for an approval or for input of a cell."""
    branched_from: str = ""
    prompt: str = ""
    """Instructions of its own; empty: the assistant's count."""
    prompt_adds: bool = False
    expires_at: float = 0.0
    pins: tuple[str, ...] = ()
    """Runs whose words stay in the context, in the order in which they were pinned."""
    text_filters: tuple[str, ...] = ()
    """Those that are on, in their order."""
    thumbs: Mapping[str, RunThumb] = field(default_factory=dict)
    """What a person thinks of the answers, by run."""
    undone: Mapping[str, int] = field(default_factory=dict)
    """From which cell on runs were undone, counted from 1, by run; 0: all of the run."""


@dataclass(frozen=True)
class ChatBeginning:
    """A chat to begin."""

    notebook_path: str = ""


@dataclass(frozen=True)
class ChatChange:
    """What is to change of a chat."""

    title: str = ""
    notebook_path: str = ""
    prompt: str = ""
    prompt_adds: bool = False
    expires_at: float = 0.0
    text_filters: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChatBranching:
    """Where a branch of a chat begins."""

    run: str = ""


@dataclass(frozen=True)
class OneVariable:
    """What a model would be told of a variable."""

    text: str


@dataclass(frozen=True)
class WantedFiles:
    """A run whose files are to be as before it."""

    run: str = ""
    """Empty: the last undo is to be undone."""
    step: int = 0
    """From which of the run's cells on, counted from 1; 0: all of the run."""


@dataclass(frozen=True)
class WantedUndo(WantedFiles):
    """A run that is to be undone in a kernel."""

    restarted: bool = False
    """The kernel was restarted and is there already: what ran before has run again."""
    redone: bool = False
    """The run's cells are back, and the kernel does not hold what they did until they run again."""


@dataclass(frozen=True)
class UndoneRun:
    """Which run's variables were taken back, or brought forth again."""

    run: str
    is_undone: bool
    step: int
    """From which of the run's cells on, counted from 1; 0: all of the run."""
    taken_at: float
    """When the state was taken that the kernel is in now; seconds since the epoch."""
    files: ChangedFiles
    """Those that ``POST kernels/{kernel_id}/files`` puts back, or forth, and those that stay."""


@dataclass(frozen=True)
class AgentCell:
    """A cell that an agent made or changed, as its run left it."""

    cell_id: str
    source: str
    cell_type: CellType
    after: str
    """Id of the cell that it follows; empty: at the end."""
    outputs: tuple[Mapping[str, Any], ...]
    execution_count: int | None


@dataclass(frozen=True)
class EarlierCells:
    """Source of the cells that ran in the kernel before a place in a run, in order."""

    cells: tuple[str, ...]


@dataclass(frozen=True)
class RecordedRunCell(AgentCell):
    """Such a cell, and what became of it."""

    fate: Fate | Literal[""]
    """Empty: nothing is known."""


@dataclass(frozen=True)
class MissingCells:
    """Cells of one run that a notebook lacks."""

    run: str
    chat: str
    cells: tuple[AgentCell, ...]


@dataclass(frozen=True)
class CellFates:
    """What became of cells, by their ids."""

    fates: Mapping[str, Fate] = field(default_factory=dict)


@dataclass(frozen=True)
class ManifestSummary:
    """One tool that a component is."""

    name: str
    description: str
    parameters: Mapping[str, Any]
    """JSON Schema (draft 2020-12) of an object."""


@dataclass(frozen=True)
class ComponentSummary:
    """One component."""

    name: str
    version: str
    source: str
    """The package it is of; ``cellwright``, ``settings`` or ``kernel``."""
    risk: str
    spec: int
    manifests: tuple[ManifestSummary, ...]


@dataclass(frozen=True)
class ComponentList:
    """All components, and why others are not among them."""

    components: tuple[ComponentSummary, ...]
    reports: tuple[str, ...]


@dataclass(frozen=True)
class Evaluation:
    """A call of a component; all may be missing."""

    arguments: Mapping[str, Any] = field(default_factory=dict)
    tool: str = ""
    confirm: bool = False
    mode: Mode = "ask"
    scope: View = "user"
    stream: bool = False
