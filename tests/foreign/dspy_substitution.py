"""A pytest plugin within dspy's environment: our adapters wherever dspy has its own.

Every module of dspy that is loaded gets them under the names that it knows, before its tests are
collected; the error of a reply that cannot be read is ours, too.
"""

from __future__ import annotations

import sys
from typing import Any

import dspy
import dspy.streaming
import dspy.utils.exceptions
import litellm
from dspy.adapters import base, chat_adapter, json_adapter, two_step_adapter, xml_adapter

from cellwright.llm.adapters.chat import ChatAdapter
from cellwright.llm.adapters.json import JSONAdapter
from cellwright.llm.adapters.signature_adapter import AdapterParseError, SignatureAdapter
from cellwright.llm.adapters.two_step import TwoStepAdapter
from cellwright.llm.adapters.xml import XMLAdapter

RETIRED = "anthropic/claude-3-7-sonnet-20250219"
"""A model that two tests name and litellm's table has no more."""
OURS: dict[Any, Any] = {
    base.Adapter: SignatureAdapter,
    chat_adapter.ChatAdapter: ChatAdapter,
    json_adapter.JSONAdapter: JSONAdapter,
    xml_adapter.XMLAdapter: XMLAdapter,
    two_step_adapter.TwoStepAdapter: TwoStepAdapter,
    dspy.utils.exceptions.AdapterParseError: AdapterParseError,
}


def pytest_configure() -> None:
    """Put ours in place of theirs."""
    litellm.register_model({RETIRED: {"supports_reasoning": True, "litellm_provider": "anthropic"}})
    for name, module in list(sys.modules.items()):
        if name == "dspy" or name.startswith("dspy."):
            for attribute, value in list(vars(module).items()):
                if isinstance(value, type) and value in OURS:
                    setattr(module, attribute, OURS[value])
