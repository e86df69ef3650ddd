"""How long a prompt is in tokens, roughly; and whether the service saw all of it."""

from __future__ import annotations

import json
import re

from cellwright.llm.faults import Endpoint
from cellwright.llm.provider_items import sent_beside
from cellwright.providers import find_provider
from cellwright.record.messages import AssistantMessage, Prompt, text_of
from cellwright.text.truncation import CHARACTERS_PER_TOKEN, estimate_tokens

SMALLEST_SEEN = 0.7
"""Fewer than this part of the tokens that were to be expected is no estimation error."""
SHORTEST_TOOLS = 0.4
"""Templates write tools shorter than they are sent, but hardly shorter than this part."""
SHORTEST_TOKENS = 1_000
"""Shorter prompts are not judged: the estimate is too rough, and no window is that small."""
RUNS = re.compile(r"(\s)\s+|(\S)\2{3,}")


def estimated_prompt_tokens(prompt: Prompt) -> int:
    """Of its texts and tools; pictures are not counted."""
    return estimate_tokens(_text(prompt))


def looks_cut(prompt: Prompt, counted_tokens: int) -> int:
    """The tokens to be expected where the service counted far fewer, else 0 (fault M42)."""
    text = _text(prompt)
    if not _is_short(text, counted_tokens):
        return 0
    # Blanks and rules of dashes are few tokens; only now is it worth looking for them.
    squeezed = RUNS.sub(r"\1\2\2", text)
    return _fewest_tokens(squeezed) if _is_short(squeezed, counted_tokens) else 0


def tools_look_dropped(prompt: Prompt, counted_tokens: int) -> bool:
    """Whether a service counted so few tokens that the tools cannot be among them.

    Nearly always a prompt that was cut to a window is longer than that.
    """
    tools = _fewest_tokens(_tools_text(prompt))
    return bool(looks_cut(prompt, counted_tokens)) and counted_tokens < SHORTEST_TOOLS * tools


def window_advice(endpoint: Endpoint) -> str:
    """How the service is made to read longer prompts."""
    own = find_provider(endpoint.base_url).window_hint
    return own or "Start the service with a larger context window."


def _is_short(text: str, counted_tokens: int) -> bool:
    expected = _fewest_tokens(text)
    return expected >= SHORTEST_TOKENS and counted_tokens < SMALLEST_SEEN * expected


def _fewest_tokens(text: str) -> int:
    """Less than an estimate outside of ASCII: tokenizers differ most there, and this accuses."""
    return -(-len(text) // CHARACTERS_PER_TOKEN)


def _tools_text(prompt: Prompt) -> str:
    return "".join(
        tool.name + tool.description + json.dumps(dict(tool.parameters)) for tool in prompt.tools
    )


def _text(prompt: Prompt) -> str:
    said = [text_of(message) for message in prompt.messages]
    said += [sent_beside(m) for m in prompt.messages if isinstance(m, AssistantMessage)]
    calls = [
        call.name + call.arguments
        for message in prompt.messages
        if isinstance(message, AssistantMessage)
        for call in message.tool_calls
    ]
    return "".join((_tools_text(prompt), *said, *calls))
