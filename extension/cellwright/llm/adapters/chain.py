"""From one way of talking with a model to the next, when its replies cannot be read.

The way that was chosen first, one repair turn, then each of the simpler ways, then nothing. Only
replies that cannot be read lead on: not an error of the service, not a call that fails or is
refused. Each further request is told of by a notice, so it is in the record, and counts as a step.
"""

from __future__ import annotations

from collections.abc import Mapping

from cellwright.errors import SetupError
from cellwright.llm.adapters import Adapter, ParsedReply, Recovery, ShownText
from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.native import NativeAdapter
from cellwright.llm.adapters.xml import XMLAdapter
from cellwright.record.events import Notice
from cellwright.record.messages import Manifest, Message, Parameters, Prompt, Reply

ADAPTERS: Mapping[str, type[NativeAdapter]] = {
    "native": NativeAdapter,
    "chat": ChatAdapter,
    "json": JSONAdapter,
    "xml": XMLAdapter,
}
NEXT: Mapping[str, tuple[str, ...]] = {
    "native": ("chat", "json"),
    "chat": ("json",),
    "json": (),
    "xml": ("chat", "json"),
}
REPAIR = "{error} Reply to the same request again, in the right form."
CHANGED = "{error} From now on reply as the instructions at the top say, which have changed."


class RecordedAdapter(NativeAdapter):
    """Reads the replies of a record, in which calls are calls whatever form they had."""

    def recover(self, parsed: ParsedReply) -> Recovery | None:
        """Go on with the next reply, as the recorded run did."""
        notice = Notice("info", "The recorded reply could not be read.", code="adapter_repair")
        return Recovery(REPAIR.format(error=parsed.error), notice)


class AdapterChain(Adapter):
    """An adapter that becomes another one when the model cannot be understood.

    Args:
        name: The first one: ``native``, ``chat``, ``json`` or ``xml``.

    Raises:
        SetupError: There is no such adapter.
    """

    def __init__(self, name: str = "native") -> None:
        if name not in ADAPTERS:
            raise SetupError(
                f"There is no adapter {name!r}.", hint=f"Use one of: {', '.join(ADAPTERS)}."
            )
        self.name = name
        """The one in use."""
        self._left = list(NEXT[name])
        self._adapter: Adapter = ADAPTERS[name]()
        self._repaired = False

    def format_prompt(
        self,
        messages: tuple[Message, ...],
        tools: tuple[Manifest, ...],
        parameters: Parameters,
    ) -> Prompt:
        """The request for this history."""
        return self._adapter.format_prompt(messages, tools, parameters)

    def read(self, reply: Reply, tools: tuple[Manifest, ...]) -> Reply:
        """The reply with its calls taken out of its text."""
        return self._adapter.read(reply, tools)

    def parse_reply(self, reply: Reply, tools: tuple[Manifest, ...]) -> ParsedReply:
        """What the reply says and asks for; a good one earns the next bad one its repair turn."""
        parsed = self._adapter.parse_reply(reply, tools)
        if not parsed.is_unreadable:
            self._repaired = False
        return parsed

    def shown(self, tools: tuple[Manifest, ...]) -> ShownText | None:
        """What picks the words for the person out of a reply."""
        return self._adapter.shown(tools)

    def recover(self, parsed: ParsedReply) -> Recovery | None:
        """One repair turn, then the next adapter; None when all were tried."""
        error = parsed.error or "Your reply could not be read."
        if not self._repaired:
            self._repaired = True
            text = "The reply could not be read; the model is asked once more."
            notice = Notice("info", text, code="adapter_repair")
            return Recovery(REPAIR.format(error=error), notice)
        return self._change(error, "The reply could not be read again")

    def without_functions(self) -> Recovery | None:
        """The next adapter, where the service takes no tools."""
        if self.name != "native":
            return None
        return self._change("", "The service takes no tools for this model")

    def _change(self, error: str, why: str) -> Recovery | None:
        if not self._left:
            return None
        self.name = self._left.pop(0)
        self._adapter = ADAPTERS[self.name]()
        text = f"{why}; it is asked in the {self.name!r} form from now on."
        notice = Notice("warning", text, code="adapter_fallback")
        return Recovery(CHANGED.format(error=error).strip(), notice, changes_adapter=True)
