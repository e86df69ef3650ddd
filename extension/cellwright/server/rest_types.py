"""What the routes take and answer, as frozen types: the OpenAPI description is made of them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from cellwright.server.component_envelopes import ArgumentError, View
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
    parameters: Mapping[str, Any]
    """What was chosen to be sent with each request."""
    warnings: tuple[str, ...]


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
class ProviderRow:
    """A provider that may be chosen."""

    name: str
    base_url: str
    """Empty: it has to be named."""
    example: str
    """What its address looks like."""
    model: str
    """The usual one."""
    needs_key: bool
    has_key: bool
    is_key_set: bool
    """The environment has its key, and no other can be given."""
    port: int
    """Of a program of one's own."""
    models: tuple[str, ...] | None
    """Those of a server that runs on this machine; null: none was found."""


@dataclass(frozen=True)
class ProviderRows:
    """The providers that may be chosen."""

    providers: tuple[ProviderRow, ...]
    any_address: bool
    """Whether any other address may be named."""
    set_model: str
    """The model that the environment sets; empty: any may be chosen."""


@dataclass(frozen=True)
class Check:
    """One thing that was looked at."""

    name: str
    status: Literal["ok", "warn", "blocked"]
    text: str
    action: str
    code: str
    """Name of the error that stands for it."""


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
    run: str
    """The one that goes on; empty: none."""
    waits_for_answer: bool
    """Whether that run waits for an approval or for input of a cell."""
    branched_from: str
    prompt: str
    prompt_adds: bool
    expires_at: float
    pins: tuple[str, ...]
    """Runs whose words stay in the context, in the order in which they were pinned."""
    text_filters: tuple[str, ...]
    """Those that are on, in their order."""
    thumbs: Mapping[str, RunThumb]
    """What a person thinks of the answers, by run."""


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
class _MadeCell:
    cell_id: str
    source: str
    cell_type: str
    after: str
    outputs: tuple[Mapping[str, Any], ...]
    execution_count: int | None


@dataclass(frozen=True)
class RecordedRunCell(_MadeCell):
    """A cell that a run made or changed."""

    fate: str


@dataclass(frozen=True)
class MissingCell(_MadeCell):
    """A cell of which nothing is known."""


@dataclass(frozen=True)
class MissingCells:
    """Cells of one run."""

    run: str
    chat: str
    cells: tuple[MissingCell, ...]


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
