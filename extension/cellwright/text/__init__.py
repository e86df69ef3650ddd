"""Text in, text out: cleaning, redaction, truncation, Markdown."""

from __future__ import annotations

SHORTEST_SECRET = 8
GIVEN_LIMIT = 20
"""So many secrets that the process was given are known; renewed keys end."""


class GivenSecrets:
    """Secrets that this process was given while it ran; every redactor knows them at once."""

    def __init__(self) -> None:
        self.values: tuple[str, ...] = ()

    def add(self, secret: str) -> None:
        """Keep one, such as a key that was renewed while a run goes on."""
        if len(secret) >= SHORTEST_SECRET and secret not in self.values:
            self.values = (*self.values[1 - GIVEN_LIMIT :], secret)


GIVEN_SECRETS = GivenSecrets()
