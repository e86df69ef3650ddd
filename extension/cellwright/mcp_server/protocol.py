"""The Model Context Protocol as the SDK speaks it: every revision, over stdio and over HTTP.

Up to 2025-11-25 a client is asked over its connection while its call waits. From 2026-07-28 on a
call is answered with the question, and the client calls again with the answer and the name of the
call that waits.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import Any, TypeVar

import anyio
from mcp.server import Server, ServerRequestContext
from mcp.server.stdio import stdio_server
from mcp.shared.exceptions import MCPError
from mcp_types import (
    INTERNAL_ERROR,
    INVALID_PARAMS,
    CallToolRequestParams,
    CallToolResult,
    ElicitRequest,
    ElicitRequestFormParams,
    ElicitResult,
    InputRequests,
    InputRequiredResult,
    ListResourcesResult,
    ListResourceTemplatesResult,
    ListToolsResult,
    ReadResourceRequestParams,
    ReadResourceResult,
    Resource,
    TextResourceContents,
    Tool,
)

from cellwright._version import __version__
from cellwright.errors import CellwrightError
from cellwright.mcp_server import INSTRUCTIONS, ClientFacts
from cellwright.mcp_server.outside_agent import CallQuestion, OutsideCall
from cellwright.mcp_server.session import NOTEBOOK_URI, McpServerSession

Context = ServerRequestContext[Any, Any]
FindSession = Callable[[Context], McpServerSession]
"""The session of whoever asks; called in a worker thread."""
T = TypeVar("T")
log = logging.getLogger(__name__)
HEARTBEAT_SECONDS = 5.0
"""A client that hears nothing of a long cell may give it up."""
PROGRESS_SECONDS = 0.5
ANSWER_SECONDS = 900.0
"""So long a call waits for a client that was given a question and has not come back."""
QUESTION = "approval"
RESOURCE_NOT_FOUND = -32002
NAME_CHARACTERS = 60


def build_server(
    find_session: FindSession, heartbeat_seconds: float = HEARTBEAT_SECONDS
) -> Server[Any]:
    """The SDK's server over our sessions.

    Args:
        find_session: The session of whoever asks.
        heartbeat_seconds: So often a call that goes on gives a sign of life.
    """

    order = anyio.Lock()

    async def list_tools(context: Context, _: Any) -> ListToolsResult:
        listed = await _in_thread(lambda: find_session(context).list_tools())
        return ListToolsResult(tools=[Tool.model_validate(tool) for tool in listed])

    async def call_tool(
        context: Context, params: CallToolRequestParams
    ) -> CallToolResult | InputRequiredResult:
        # Calls that come at once are made in their order.
        async with order:
            session = await _in_thread(lambda: find_session(context))
            is_answer = params.request_state is not None
            call = _resumed(session, params) if is_answer else _begun(session, context, params)
        return await _Following(context, session, call, heartbeat_seconds).result()

    async def list_resources(context: Context, _: Any) -> ListResourcesResult:
        listed = await _in_thread(lambda: find_session(context).list_resources())
        return ListResourcesResult(resources=[Resource.model_validate(each) for each in listed])

    async def list_templates(_: Context, __: Any) -> ListResourceTemplatesResult:
        return ListResourceTemplatesResult(resource_templates=[])

    async def read_resource(
        context: Context, params: ReadResourceRequestParams
    ) -> ReadResourceResult:
        text = await _in_thread(lambda: find_session(context).read_resource(params.uri))
        if text is None:
            what = f"There is no resource {params.uri!r}."
            raise MCPError(RESOURCE_NOT_FOUND, what, {"uri": str(params.uri)})
        content = TextResourceContents(uri=NOTEBOOK_URI, mime_type="text/markdown", text=text)
        return ReadResourceResult(contents=[content])

    return Server(
        "cellwright",
        version=__version__,
        title="cellwright",
        instructions=INSTRUCTIONS,
        on_list_tools=list_tools,
        on_call_tool=call_tool,
        on_list_resources=list_resources,
        on_list_resource_templates=list_templates,
        on_read_resource=read_resource,
    )


async def serve_stdio(session: McpServerSession) -> None:
    """Serve one client over stdin and stdout until it closes them.

    What else is printed meanwhile goes to stderr.
    """
    server = build_server(lambda _: session)
    async with stdio_server() as (read, write):
        await server.run(read, write, server.create_initialization_options())


def describe_client(context: Context) -> ClientFacts:
    """What a client says of itself."""
    params = context.session.client_params
    info = params.client_info if params is not None else None
    if info is None:
        return ClientFacts()
    return ClientFacts(info.name[:NAME_CHARACTERS], (info.version or "")[:NAME_CHARACTERS])


def _can_ask(context: Context) -> bool:
    """Whether the client shows forms; an older one says {} for what a newer calls {"form": {}}."""
    can = context.session.client_capabilities
    asking = can.elicitation if can is not None else None
    return asking is not None and (asking.form is not None or asking.url is None)


def _begun(
    session: McpServerSession, context: Context, params: CallToolRequestParams
) -> OutsideCall:
    facts, asks = describe_client(context), _can_ask(context)
    return session.begin(params.name, params.arguments or {}, facts, asks=asks)


def _resumed(session: McpServerSession, params: CallToolRequestParams) -> OutsideCall:
    call = session.resume(params.request_state or "")
    if call is None:
        raise MCPError(INVALID_PARAMS, "No call waits for this answer any more.")
    said = (params.input_responses or {}).get(QUESTION)
    call.reply(_fields(said) if isinstance(said, ElicitResult) else None)
    return call


class _Following:
    """Tells a client what becomes of a call.

    Args:
        context: Of the request.
        session: The client's.
        call: The call.
        heartbeat_seconds: So often it gives a sign of life.
    """

    def __init__(
        self,
        context: Context,
        session: McpServerSession,
        call: OutsideCall,
        heartbeat_seconds: float,
    ) -> None:
        self._context, self._session, self._call = context, session, call
        self._heartbeat_seconds = heartbeat_seconds
        self._changed = asyncio.Event()
        self._began = self._told_at = time.monotonic()
        self._told_at -= PROGRESS_SECONDS
        self._count = 0
        self._asked: CallQuestion | None = None
        self._asking = anyio.CancelScope()

    async def result(self) -> CallToolResult | InputRequiredResult:
        """What came of it, or what the client is to ask first."""
        call, loop = self._call, asyncio.get_running_loop()

        def wake() -> None:
            with suppress(RuntimeError):  # the loop has ended
                loop.call_soon_threadsafe(self._changed.set)

        call.on_change = wake
        try:
            async with anyio.create_task_group() as group:
                while call.message is None:
                    question = call.question
                    if question is not None and not self._context.session.can_send_request:
                        return self._interrupted(question, loop)
                    if question is not self._asked:
                        self._asking.cancel()
                        self._asked = question
                        if question is not None:
                            group.start_soon(self._ask, question)
                    await self._wait()
                self._asking.cancel()
        except BaseException:
            self._session.cancel(call)
            raise
        taken = await _in_thread(lambda: self._session.take_result(call))
        return CallToolResult.model_validate(taken)

    async def _wait(self) -> None:
        """Return when something is new, or it is time for a sign of life."""
        with anyio.move_on_after(self._heartbeat_seconds) as waiting:
            await self._changed.wait()
        self._changed.clear()
        said = self._call.take_progress()
        now = time.monotonic()
        if waiting.cancelled_caught:
            said = f"{self._call.call.name} goes on, {now - self._began:.0f} s"
        if said and now - self._told_at >= PROGRESS_SECONDS:
            self._told_at, self._count = now, self._count + 1
            await self._context.session.report_progress(self._count, message=said)

    async def _ask(self, question: CallQuestion) -> None:
        """Ask over the connection."""
        with anyio.CancelScope() as self._asking:
            try:
                said = await self._context.session.elicit_form(
                    question.message, dict(question.schema), self._context.request_id
                )
            except MCPError as error:
                log.info("cellwright: the client did not ask: %s", error)
                self._call.reply(None)
                return
            self._call.reply(_fields(said))

    def _interrupted(
        self, question: CallQuestion, loop: asyncio.AbstractEventLoop
    ) -> InputRequiredResult:
        """Let the client ask and call again; a call that is forgotten is cancelled."""
        name = self._session.park(self._call)

        def forget() -> None:
            if self._session.resume(name) is not None:
                self._session.cancel(self._call)

        self._call.on_change = lambda: None
        loop.call_later(ANSWER_SECONDS, forget)
        params = ElicitRequestFormParams(
            message=question.message, requested_schema=dict(question.schema)
        )
        asked: InputRequests = {QUESTION: ElicitRequest(params=params)}
        return InputRequiredResult(input_requests=asked, request_state=name)


def _fields(said: ElicitResult) -> dict[str, Any]:
    return {"action": said.action, "content": said.content}


async def _in_thread(work: Callable[[], T]) -> T:
    """What ``work`` returns; what fails is told in our words."""

    def worked() -> T:
        try:
            return work()
        except CellwrightError as error:
            raise MCPError(INTERNAL_ERROR, str(error)) from error
        except MCPError:
            raise
        except Exception as error:
            log.exception("cellwright: an MCP request was not answered")
            raise MCPError(INTERNAL_ERROR, f"cellwright failed: {error!r}") from error

    working: Awaitable[T] = anyio.to_thread.run_sync(worked)
    return await working
