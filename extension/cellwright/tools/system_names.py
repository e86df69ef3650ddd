"""The names the contract reserves for what the system hands to a tool (requirements 000-13).

A tool that declares a context gets all of it typed; one that takes ``**kwargs`` gets these names.
The gateway and its token are left out: a tool never receives the model's key.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from cellwright.errors import SetupError
from cellwright.record.messages import text_of

K = TypeVar("K", list[Any], dict[Any, Any])

RESERVED_PREFIX = "_sys_"
SYSTEM_NAMES: Mapping[str, str] = {
    "_sys_name": "tool_name",
    "_sys_origin_query": "prompt",
    "_sys_user_instruction": "instructions",
    "_sys_file_names": "file_names",
    "_sys_file_urls": "files",
    "_sys_current_time": "current_time",
    "_sys_chat_history": "history",
    "_sys_used_tool": "used_tools",
    "_sys_uid": "user_id",
    "_sys_traceid": "run_id",
    "_sys_conversation_id": "chat_id",
    "_sys_debug": "debug",
    "_sys_custom_variables": "variables",
    "_sys_thought_model_config": "model_configs",
    "_sys_rag_model_config": "model_configs",
    "_sys_parent_span_id": "run_id",
    "_sys_span_id": "call_id",
    "_sys_memory": "memory",
    "_sys_code_execution_endpoint": "kernel",
    "_sys_session_id": "kernel_session",
}
"""Which attribute of the context each name is."""
LEFT_OUT = ("_sys_gateway_endpoint", "_sys_appbuiler_token")
INSTRUCTIONS = "_sys_user_instruction"
FILE_NAMES = "_sys_file_names"
FILE_URLS = "_sys_file_urls"
CUSTOM_VARIABLES = "_sys_custom_variables"
SETTABLE = frozenset({INSTRUCTIONS, FILE_NAMES, FILE_URLS, CUSTOM_VARIABLES})
"""What a person may set for a run."""
EXAMPLES = {
    FILE_NAMES: '["a.csv"]',
    FILE_URLS: '{"a.csv": "data/a.csv"}',
    CUSTOM_VARIABLES: '{"name": "value"}',
}


@dataclass(frozen=True)
class Settable:
    """What a person may set for the tools of a run."""

    instructions: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, Any] = field(default_factory=dict)


def system_values(context: Any) -> dict[str, Any]:
    """What a tool with ``**kwargs`` is given: plain values, as the contract has them."""
    values = {name: getattr(context, attribute) for name, attribute in SYSTEM_NAMES.items()}
    plain = {name: _plain(value) for name, value in values.items()}
    plain["_sys_chat_history"] = [_turn(message) for message in context.history]
    return {**plain, "model_configs": dict(context.model_configs)}


def reserved_names(names: Any) -> list[str]:
    """Those of the names that are the system's."""
    return [name for name in names if str(name).startswith(RESERVED_PREFIX)]


def check_settable(name: str) -> None:
    """Refuse a system name that a person wants to set and may not (requirements 000-12).

    Raises:
        SetupError: It is the system's own.
    """
    if name.startswith(RESERVED_PREFIX) and name not in SETTABLE:
        raise SetupError(
            f"The variable {name!r} is set by the system.",
            hint=f"Use another name, or one of {', '.join(sorted(SETTABLE))}.",
        )


def settable_values(given: Mapping[str, str]) -> Settable:
    """What a person set, each under what it is; other names are variables of their own.

    Raises:
        SetupError: A name is the system's own, or a value that has to be JSON is none.
    """
    for name in given:
        check_settable(name)
    own = {name: value for name, value in given.items() if name not in SETTABLE}
    names = _json(given, FILE_NAMES, list)
    paths = {str(k): str(v) for k, v in _json(given, FILE_URLS, dict).items()}
    return Settable(
        given.get(INSTRUCTIONS, ""),
        {**{str(name): str(name) for name in names}, **paths},
        {**_json(given, CUSTOM_VARIABLES, dict), **own},
    )


def _json(given: Mapping[str, str], name: str, kind: type[K]) -> K:
    if name not in given:
        return kind()
    try:
        value = json.loads(given[name])
    except ValueError:
        value = None
    if isinstance(value, kind):
        return value
    raise SetupError(
        f"The variable {name!r} is {given[name]!r}.", hint=f"It is JSON: {EXAMPLES[name]}."
    )


def _plain(value: Any) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return dict(value) if isinstance(value, Mapping) else value


def _turn(message: Any) -> dict[str, str]:
    return {"role": message.role, "content": text_of(message)}
