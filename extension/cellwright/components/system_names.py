"""The names the contract reserves for what the system hands to a tool (requirements 000-13).

A tool that declares a context gets all of it typed; one that takes ``**kwargs`` gets these names.
The gateway and its token are left out: a tool never receives the model's key.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from cellwright.errors import SetupError

__all__ = ["RESERVED_PREFIX", "SYSTEM_NAMES", "check_settable", "reserved_names", "system_values"]

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
SETTABLE = frozenset(
    {"_sys_user_instruction", "_sys_file_names", "_sys_file_urls", "_sys_custom_variables"}
)
"""What a person may set for a run."""


def system_values(context: Any) -> dict[str, Any]:
    """What a tool with ``**kwargs`` is given."""
    values = {name: getattr(context, attribute) for name, attribute in SYSTEM_NAMES.items()}
    return {**values, "model_configs": context.model_configs}


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
