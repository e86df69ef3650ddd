"""Whether a prompt may be asked in a chat, said before it waits its turn."""

from __future__ import annotations

import json
import secrets
from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING

from cellwright.errors import SetupError
from cellwright.record.values import from_dict, to_dict
from cellwright.server.access import check_kernels
from cellwright.server.frames import ContextItem
from cellwright.server.prompt_queue import Asker, Prompt
from cellwright.server.refusals import RefusedError
from cellwright.server.tab import Tab
from cellwright.server.tab_frames import Ask
from cellwright.store.chat_owners import is_guest

if TYPE_CHECKING:
    from cellwright.server.answering import Workplace

GUEST_MODES = ("plan", "ask")


def checked_prompt(workplace: Workplace, tab: Tab, ask: Ask) -> Prompt:
    """The prompt, ready to wait its turn.

    Raises:
        RefusedError: It may not be asked.
    """
    _check_choices(workplace, tab, ask)
    ask = _with_what_stood_beside(workplace, ask)
    if not ask.prompt.strip() and not ask.context:
        raise RefusedError("empty", "The prompt is empty.", hint="Write what you want.")
    attach = tab.attached.get(ask.notebook) if ask.notebook else None
    if ask.notebook and attach is None:
        raise RefusedError(
            "no_notebook", "That notebook is not open in this tab.", hint="Open it, ask again."
        )
    if attach is None:
        _check_has_no_notebook(workplace, ask)
    return Prompt(ask, Asker(tab.nonce, tab.name), attach, secrets.token_hex(6))


def _check_has_no_notebook(workplace: Workplace, ask: Ask) -> None:
    """Return if the chat works without a notebook: in a closed one nobody would see what runs.

    Raises:
        RefusedError: Its notebook is not open in the page that asks.
    """
    path = workplace.chats.get(ask.chat).notebook_path
    if path:
        raise RefusedError(
            "notebook_closed",
            f"The notebook of this chat, {path!r}, is not open.",
            hint="Open it and ask again, or begin a new chat.",
        )


def format_context(context: tuple[ContextItem, ...]) -> str:
    """What stood beside a prompt, as a text to keep."""
    return json.dumps(to_dict(context), ensure_ascii=False) if context else ""


def _with_what_stood_beside(workplace: Workplace, ask: Ask) -> Ask:
    """The prompt; what takes the place of another is asked with what stood beside that."""
    if not ask.supersedes:
        return ask
    runs = {run.run_id: run for run in workplace.chats.runs(ask.chat) if not run.superseded_by}
    if ask.supersedes not in runs:
        raise RefusedError(
            "gone", "That question was replaced already.", hint="Ask the newest one again."
        )
    beside = runs[ask.supersedes].beside
    with suppress(ValueError, TypeError):
        if beside and not ask.context:
            return replace(ask, context=from_dict(tuple[ContextItem, ...], json.loads(beside)))
    return ask


def _check_choices(workplace: Workplace, tab: Tab, ask: Ask) -> None:
    configuration = workplace.configuration
    try:
        configuration.check_mode(ask.mode)
        configuration.check_model(ask.model)
    except SetupError as error:
        raise RefusedError("not_allowed", error.message, hint=error.hint) from error
    check_kernels(tab.person)
    if is_guest(tab.owner) and ask.mode not in GUEST_MODES:
        raise RefusedError(
            "not_allowed",
            f"Mode {ask.mode!r} is not for guests of this server.",
            hint=f"Use one of: {', '.join(GUEST_MODES)}.",
        )
