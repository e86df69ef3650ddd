"""Events to show, and a screen that keeps what is drawn on it."""

from __future__ import annotations

from cellwright.record.events import CellFinished, ModelReplied, ToolFinished, ToolStarted
from cellwright.record.messages import AssistantMessage, TextPart, ToolMessage, Usage
from cellwright.record.outputs import ErrorOutput, Execution
from cellwright_magics.display import Bundle

ERROR = ErrorOutput("KeyError", "'x'", ("Cell In[1], line 1", "----> 1 d['x']", "KeyError: 'x'"))


class PaperScreen:
    """Keeps every display and counts what is sent."""

    def __init__(self) -> None:
        self.shown: dict[str, Bundle] = {}
        self.sent: list[Bundle] = []

    def show(self, bundle: Bundle) -> str:
        name = f"display {len(self.shown)}"
        self.update(name, bundle)
        return name

    def update(self, name: str, bundle: Bundle) -> None:
        self.shown[name] = bundle
        self.sent.append(bundle)

    def settle(self) -> None:
        """A paper shows each change."""

    @property
    def plain(self) -> list[str]:
        """The plain text of each display, as it is now."""
        return [bundle.plain for bundle in self.shown.values()]

    @property
    def markdown(self) -> list[str]:
        """The Markdown of each display, as it is now."""
        return [bundle.markdown for bundle in self.shown.values()]


class Clock:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.now = 0.0

    def __call__(self) -> float:
        return self.now


def replied(text: str) -> ModelReplied:
    return ModelReplied(AssistantMessage(text), "stop", Usage(), "m")


def call(tool: str = "run_cell", risk: str = "execute", **arguments: object) -> ToolStarted:
    return ToolStarted("c1", tool, arguments, f"do {tool}", risk)


def done(
    name: str = "run_cell", status: str = "ok", text: str = "fine", shown: str = ""
) -> ToolFinished:
    message = ToolMessage("c1", name, (TextPart(text),), status != "ok")
    return ToolFinished("c1", name, message, status, 0.1, shown)  # type: ignore[arg-type]


def finished(status: str = "ok", error: ErrorOutput | None = None, note: str = "") -> CellFinished:
    return CellFinished("cell", Execution(status, 0.1, error, note=note))  # type: ignore[arg-type]
