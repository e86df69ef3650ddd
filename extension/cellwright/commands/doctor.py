"""Is everything there that a run needs? Every check that fails names the next action."""

from __future__ import annotations

import socket
import sqlite3
import sys
from collections.abc import Callable, Generator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal
from urllib.parse import urlsplit

from cellwright.errors import (
    LMConnectionError,
    LMError,
    LMNotFoundError,
    LMToolsUnsupportedError,
    SetupError,
    StoreError,
)
from cellwright.installation import GROUPS, find_distributions, list_entry_points, load_plugins
from cellwright.llm import LM, LMEvent
from cellwright.llm.capabilities import is_listed, list_models, template_takes_tools
from cellwright.llm.faults import HOST_HINT
from cellwright.llm.keys import KEY_FILE
from cellwright.llm.openai import TOOLS_LOST, TOOLS_LOST_HINT
from cellwright.providers import PROVIDERS, find_provider, shown_url, signer_of
from cellwright.record.messages import (
    Manifest,
    Parameters,
    Prompt,
    Reply,
    SystemMessage,
    TextPart,
    UserMessage,
)
from cellwright.session.services import Service, open_service
from cellwright.settings import Settings
from cellwright.stopping import Stop
from cellwright.store.database import open_database
from cellwright.store.salvage import Salvage, list_set_aside, repair

CheckStatus = Literal["ok", "warning", "failed", "skipped"]
CONNECT_SECONDS = 3.0
KEY_VARIABLES = " or ".join(p.key_variable for p in PROVIDERS if p.key_variable)
KEY_PLACES = {"keyring": "in the system's keyring", "file": f"in the file {KEY_FILE}"}
NO_TOOLS = LMToolsUnsupportedError.__name__
IN_WORDS = "Until then it is talked with in words (adapter chat)."
PING = Manifest(
    "ping",
    "Answer that tool calling works.",
    {"type": "object", "properties": {"word": {"type": "string"}}, "required": ["word"]},
)
PING_PROMPT = "Call the tool ping with the word 'hello'."


@dataclass(frozen=True)
class DoctorCheck:
    """One thing that was looked at."""

    name: str
    status: CheckStatus
    text: str
    action: str = ""
    """What to do next; never empty where the status is ``failed``."""
    code: str = ""
    """Name of the class of error that stands for it; empty: none does."""


def checks(settings: Settings, *, send: bool = False) -> tuple[DoctorCheck, ...]:
    """Look at key, endpoint, model, tool calling, kernel and store.

    Args:
        settings: What is set.
        send: Send one small request to see whether the model calls tools. It may cost a
            fraction of a cent; nothing is sent without it.
    """
    try:
        service = open_service(settings)
    except SetupError as error:
        code = type(error.__cause__).__name__ if isinstance(error.__cause__, LMError) else ""
        return (
            DoctorCheck("service", "failed", error.message, error.hint, code),
            *_machine(settings),
        )
    try:
        found = [_key(settings, service), _endpoint(service), _model(settings, service)]
        found.append(_tool_calling(settings, service, send))
    finally:
        service.close()
    return (*found, *_machine(settings))


def _machine(settings: Settings) -> tuple[DoctorCheck, ...]:
    return (
        _python(),
        *_distributions(),
        *_plugins(),
        _store(settings),
        *_vectors(settings),
    )


def repair_record(settings: Settings, source: Path | None = None) -> tuple[DoctorCheck, ...]:
    """Read back into the record what damaged ones hold.

    Args:
        settings: Where the record is.
        source: A file to read; None: the record itself, and what was set aside before.
    """
    path = settings.home / "runs.sqlite"
    if source is not None and not source.is_file():
        text = f"There is no file {str(source)!r}."
        return (DoctorCheck("repair", "failed", text, "Name a record, or none for the usual one."),)
    try:
        found = repair(path, source)
    except (OSError, StoreError, sqlite3.Error) as error:
        action = "Close what uses it, see that the disk has room, and try again."
        return (DoctorCheck("repair", "failed", f"{str(path)!r}: {error}.", action),)
    if not found:
        return (DoctorCheck("repair", "ok", f"{path} is sound, and nothing was set aside."),)
    return tuple(_repaired(done, is_kept=source is None) for done in found)


def _repaired(done: Salvage, *, is_kept: bool) -> DoctorCheck:
    kept = f"The damaged file is kept: {done.source}." if is_kept else ""
    status: CheckStatus = "ok" if done.runs and done.whole == done.runs else "warning"
    return DoctorCheck("repair", status, str(done), kept)


def _key(settings: Settings, service: Service) -> DoctorCheck:
    if service.is_demo:
        action = f"Set {KEY_VARIABLES}, or CELLWRIGHT_BASE_URL and CELLWRIGHT_MODEL."
        return DoctorCheck("key", "warning", "No key is set: the demo model answers.", action)
    origin = settings.source.get("api_key", "default")
    if signer_of(service.base_url, settings.service.api_key):
        return DoctorCheck("key", "ok", "No key: each request is signed with your credentials.")
    if not settings.service.api_key:
        return DoctorCheck("key", "ok", f"No key; {shown_url(service.base_url)} may not need one.")
    return DoctorCheck("key", "ok", f"A key is set ({KEY_PLACES.get(origin, origin)}).")


def _endpoint(service: Service) -> DoctorCheck:
    provider, parts = find_provider(service.base_url), urlsplit(service.base_url)
    host, port = parts.hostname or "", parts.port or (443 if parts.scheme == "https" else 80)
    try:
        socket.create_connection((host, port), CONNECT_SECONDS).close()
    except OSError as error:
        text = f"{host}:{port} does not answer: {error.strerror or error}."
        own = provider.start_hint or "Check CELLWRIGHT_BASE_URL, or start the server."
        action = HOST_HINT if provider.hosts else own
        return DoctorCheck("endpoint", "failed", text, action, LMConnectionError.__name__)
    name, shown = provider.name, shown_url(service.base_url)
    shown = f"{shown} ({name})" if name and not service.is_demo else shown
    return DoctorCheck("endpoint", "ok", f"{shown} answers.")


def _model(settings: Settings, service: Service) -> DoctorCheck:
    if service.is_demo:
        return DoctorCheck("model", "ok", service.model)
    try:
        names = list_models(settings.service)
    except LMError as error:
        text = f"The models of {shown_url(service.base_url)} cannot be listed: {error.message}"
        return DoctorCheck(
            "model",
            "warning",
            text,
            error.hint or f"{service.model!r} may still work.",
            type(error).__name__,
        )
    if not names or is_listed(service.model, names):
        return DoctorCheck("model", "ok", service.model)
    shown = ", ".join(sorted(names)[:5])
    text = f"{service.model!r} is not among the models there, such as {shown}."
    action = "Choose another with -m or CELLWRIGHT_MODEL."
    return DoctorCheck("model", "failed", text, action, LMNotFoundError.__name__)


def _tool_calling(settings: Settings, service: Service, send: bool) -> DoctorCheck:
    is_own = not (service.is_demo or find_provider(service.base_url).hosts)
    if (
        is_own
        and template_takes_tools(replace(settings.service, base_url=service.base_url)) is False
    ):
        text = TOOLS_LOST.format(service.model)
        action = f"{TOOLS_LOST_HINT} {IN_WORDS}"
        return DoctorCheck("tool calling", "warning", text, action, NO_TOOLS)
    if not (send or service.is_demo):
        text = "Not tried: it sends one small request."
        return DoctorCheck("tool calling", "skipped", text, "Try it with: %agent doctor --send")
    return _asked(service.lm, service.model)


def _asked(lm: LM, model: str) -> DoctorCheck:
    messages = (SystemMessage("You test tools."), UserMessage((TextPart(PING_PROMPT),)))
    stream = lm.stream(Prompt(messages, (PING,), Parameters(model)), Stop())
    try:
        called = bool(_reply_of(stream).message.tool_calls)
    except LMToolsUnsupportedError as error:
        action = f"{error.hint} {IN_WORDS}"
        return DoctorCheck("tool calling", "warning", error.message, action, NO_TOOLS)
    except LMError as error:
        action = error.hint or "Choose a model that calls tools."
        code = type(error).__name__
        return DoctorCheck("tool calling", "failed", error.message, action, code)
    if called:
        return DoctorCheck("tool calling", "ok", f"{model} calls tools.")
    text = f"{model} answered without calling the tool it was asked to call."
    action = "Choose a model that calls tools."
    return DoctorCheck("tool calling", "warning", text, action, NO_TOOLS)


def _reply_of(stream: Generator[LMEvent, None, Reply]) -> Reply:
    while True:
        try:
            next(stream)
        except StopIteration as finished:
            reply: Reply = finished.value
            return reply


def _python() -> DoctorCheck:
    version = ".".join(str(part) for part in sys.version_info[:3])
    missing = _missing(("ipykernel", "jupyter_client"))
    if missing:
        text = f"Python {version} lacks {', '.join(missing)}."
        return DoctorCheck("kernel", "failed", text, f"Run: pip install {' '.join(missing)}")
    return DoctorCheck("kernel", "ok", f"Python {version} at {sys.prefix}.")


def _distributions() -> tuple[DoctorCheck, ...]:
    found = find_distributions()
    if len(found) < 2:
        return ()
    text = f"{' and '.join(found)} are both installed; each overwrites files of the other."
    action = f"Run: pip uninstall --yes {' '.join(found)}. Then install the one that you want."
    return (DoctorCheck("installation", "failed", text, action),)


def _plugins() -> tuple[DoctorCheck, ...]:
    found = load_plugins(list_entry_points(*GROUPS))
    if found.problems:
        text, action = " ".join(found.problems), "Update or uninstall the package."
        return (DoctorCheck("plug-ins", "failed", text, action),)
    if not found.loaded:
        return ()
    packages = sorted({plugin.package for plugin in found.loaded})
    text = f"{len(found.loaded)} of {', '.join(packages)} can be loaded."
    return (DoctorCheck("plug-ins", "ok", text),)


def _missing(names: tuple[str, ...]) -> list[str]:
    import importlib.util

    find: Callable[[str], object] = importlib.util.find_spec
    return [name for name in names if find(name) is None]


def _store(settings: Settings) -> DoctorCheck:
    path = settings.home / "runs.sqlite"
    database = open_database(path)
    damage = database.find_damage()
    notices = database.take_notices()
    database.close()
    if damage:
        text = f"{path} is damaged ({damage}): what is missing in it counts as never recorded."
        return DoctorCheck("record", "failed", text, "Run: cellwright doctor --repair")
    if notices:
        action = notices[0].action or "Set CELLWRIGHT_HOME to another folder."
        return DoctorCheck("record", "warning", notices[0].text, action)
    aside = list_set_aside(path)
    if aside:
        text = f"{path} can be written. {len(aside)} damaged ones were set aside and not read back."
        return DoctorCheck("record", "warning", text, "Run: cellwright doctor --repair")
    return DoctorCheck("record", "ok", f"{path} can be written.")


def _vectors(settings: Settings) -> tuple[DoctorCheck, ...]:
    if not settings.embedding_model:
        return ()
    text = (
        f"The library's vectors are kept in memory up to {settings.vector_memory_bytes >> 20} MB; "
        "a larger library is read for each question."
    )
    return (DoctorCheck("vectors", "ok", text),)
