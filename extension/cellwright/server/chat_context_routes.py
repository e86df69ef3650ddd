"""What is in a chat's context and what it costs; its summary, to be read and written into."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import dataclass, replace

from jupyter_server.auth.decorator import authorized
from tornado import web

from cellwright.agent.publishing import Publisher
from cellwright.context.window import WINDOW_TOKENS, context_parts, sent_at_most, summary_of
from cellwright.errors import SetupError
from cellwright.llm.capabilities import Learned
from cellwright.record.messages import AssistantMessage, Message, Usage, cost_of, price_for
from cellwright.record.run_record import RunRecord
from cellwright.record.values import to_dict
from cellwright.server.application import Application
from cellwright.server.routes import ROUTE_ID, Refusal, Route, RouteTable
from cellwright.session.compacting import summary_changed
from cellwright.session.prices import known_prices
from cellwright.session.resuming import last_record
from cellwright.stopping import retry
from cellwright.store.process_claims import ChatBusyError

LOOKED_BACK = 20
WAIT_SECONDS = 5.0
NOTHING_SAID = "Nothing was said in this chat yet."


@dataclass(frozen=True)
class ContextPiece:
    """One part of what the next request begins with."""

    name: str
    """Such as ``instructions``, ``tools``, ``questions``, ``results``."""
    pieces: int
    tokens: int


@dataclass(frozen=True)
class ChatContext:
    """What the next request begins with, before the question."""

    parts: tuple[ContextPiece, ...] = ()
    tokens: int = 0
    """About; estimated, then corrected by what the service counted last."""
    limit: int = WINDOW_TOKENS
    """At most so many are sent; less where the model's own window is small."""
    summary: str = ""
    """What stands for older turns; empty: all turns are still there."""
    words: str = ""
    """The person's own words in it, which stay however long the chat gets."""
    dollars: float | None = None
    """What so many tokens cost; null: the model's price is not known."""
    cached_dollars: float | None = None
    """The same, where the provider has them cached."""


@dataclass(frozen=True)
class WantedSummary:
    """The person's own words in the summary, as they are to be."""

    words: str = ""


def chat_context(shared: Application, chat_id: str) -> ChatContext:
    """The context as it is after the last run."""
    last, told = _last(shared, chat_id), _last_told(shared, chat_id)
    if last is None:
        return ChatContext()
    tools = told.tools if told is not None else ()
    factor = _counted_per_estimated(told) if told is not None else 1.0
    parts = tuple(
        ContextPiece(part.name, part.pieces, round(part.tokens * factor))
        for part in context_parts(last.messages, tools)
    )
    tokens = sum(part.tokens for part in parts)
    clean, summary = shared.redactor().text, summary_of(last.messages)
    whole, words = clean(summary.text.strip()), clean(summary.words)
    limit = sent_at_most(_window(shared, last))
    found = ChatContext(parts, tokens, limit, summary=whole, words=words)
    price = price_for(last.parameters.model, known_prices(shared.settings()))
    if price is None:
        return found
    return replace(
        found,
        dollars=cost_of(Usage(tokens), price),
        cached_dollars=cost_of(Usage(tokens, cached_tokens=tokens), price),
    )


def _window(shared: Application, record: RunRecord) -> int | None:
    """The window of the model that was asked; None: it is not known."""
    settings, model = shared.settings(), record.parameters.model
    service = replace(settings.service, base_url=record.base_url)
    learned = Learned(service, models=settings.models)
    if record.base_url == settings.service.base_url:  # no other service is sent the key
        learned.learn_window(model)
    return learned.capabilities(model).context_tokens


def change_summary(shared: Application, chat_id: str, text: str) -> ChatContext:
    """Put other words above the summary; recorded as a run, which asks no model.

    Raises:
        SetupError: Nothing was said yet.
        ChatBusyError: A run of the chat goes on.
    """
    with ExitStack() as stack:
        _claim(stack, shared, chat_id)
        last = _last(shared, chat_id)
        if last is None:
            raise SetupError(NOTHING_SAID, hint="Ask something first.")
        redactor = shared.redactor()
        summary = replace(summary_of(last.messages), words=redactor.text(text).strip())
        changed = summary_changed(last, last.messages, summary)
        journal = shared.runs.start()
        Publisher(journal, redactor, None, None).publish(*changed.events)
        shared.chats.add_run(chat_id, journal.run_id)
    return chat_context(shared, chat_id)


def _claim(stack: ExitStack, shared: Application, chat_id: str) -> None:
    """Work in the chat alone; a run that is over lets go of it in a moment."""
    claim = lambda: stack.enter_context(shared.chats.claims.held(chat_id))  # noqa: E731
    retry(claim, ChatBusyError, WAIT_SECONDS)


def _last(shared: Application, chat_id: str) -> RunRecord | None:
    return last_record(shared.runs, shared.chats.active_run_ids(chat_id))


def _last_told(shared: Application, chat_id: str) -> RunRecord | None:
    """The newest run in which a model was asked; None: there is none of late."""
    for run_id in reversed(shared.chats.active_run_ids(chat_id)[-LOOKED_BACK:]):
        record = last_record(shared.runs, (run_id,))
        if record is not None and record.steps:
            return record
    return None


def _counted_per_estimated(record: RunRecord) -> float:
    """How many tokens the service counted for one that is estimated here."""
    counted = record.steps[-1].usage
    sent = sum(part.tokens for part in context_parts(_asked(record), record.tools))
    if counted.estimated or not counted.prompt_tokens or not sent:
        return 1.0
    return counted.prompt_tokens / sent


def _asked(record: RunRecord) -> tuple[Message, ...]:
    """What the last request carried."""
    places = [n for n, m in enumerate(record.messages) if isinstance(m, AssistantMessage)]
    return record.messages[: places[-1]] if places else record.messages


class ChatContextRoute(Route):
    """The context of one chat."""

    guest_methods = ("GET",)

    @web.authenticated
    @authorized
    async def get(self, chat_id: str) -> None:
        """What the next request begins with, part by part, and what it costs."""

        def found(shared: Application) -> ChatContext:
            return chat_context(shared, self.chat(shared, chat_id).chat_id)

        self.send(to_dict(await self.answer(found)))

    @web.authenticated
    @authorized
    async def put(self, chat_id: str) -> None:
        """Put other words of the person's above the summary of older turns."""
        words = self.fields(words=str).get("words", "")

        def changed(shared: Application) -> ChatContext:
            chat = self.chat(shared, chat_id)
            if shared.live is not None and shared.live.running(chat.chat_id):
                raise Refusal(
                    409, "A run of this chat is going on.", "Wait for its end.", "running"
                )
            return change_summary(shared, chat.chat_id, words)

        self.send(to_dict(await self.answer(changed)))


ROUTES: RouteTable = ((f"chats/{ROUTE_ID}/context", ChatContextRoute),)
