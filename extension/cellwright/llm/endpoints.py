"""Where a request goes, as it may be named in a message: host and port, never the key."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from urllib.parse import quote, urlsplit

KEY_LIKE = re.compile(r"\b(?:sk|gsk|xai|hf)[-_][A-Za-z0-9_*-]{6,}")
HIDDEN = "[key]"
SHORTEST_KEY = 6
"""A placeholder such as ``none`` is no secret, and hiding it would spoil the words around it."""
OLLAMA_PORT = 11434


@dataclass(frozen=True)
class Endpoint:
    """The service and model that one request is for."""

    base_url: str
    model: str
    api_key: str = field(default="", repr=False)

    @property
    def place(self) -> str:
        """Host and port, such as ``api.openai.com:443``."""
        parts = urlsplit(self.base_url)
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return f"{parts.hostname}:{port}"

    @property
    def host(self) -> str:
        """The host alone, in lower case."""
        return (urlsplit(self.base_url).hostname or "").lower()

    @property
    def is_ollama(self) -> bool:
        """Whether the port is Ollama's own."""
        return self.place.endswith(f":{OLLAMA_PORT}")

    def without_key(self, text: str) -> str:
        """The text with the key, and whatever looks like one, taken out."""
        if len(self.api_key) >= SHORTEST_KEY:
            for form in {self.api_key, quote(self.api_key, safe="")}:
                text = text.replace(form, HIDDEN)
        return KEY_LIKE.sub(HIDDEN, text)
