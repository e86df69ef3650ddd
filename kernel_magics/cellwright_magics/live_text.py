"""Text that is still being written: updated about ten times a second, finished parts left alone."""

from __future__ import annotations

import re
import time
from collections.abc import Callable

from cellwright.text.safe_markdown import plain_text, safe_markdown
from cellwright_magics.screen import Bundle, Screen

INTERVAL_SECONDS = 0.11
SLOW_INTERVAL_SECONDS = 0.25
LARGE_CHARACTERS = 20_000
FENCE_LINE = re.compile(r"^\s*(?:```|~~~)", re.MULTILINE)


class LiveText:
    """One reply of the model on the screen.

    Only what changes is sent again: past 20,000 characters the finished paragraphs become a
    display of their own.

    Args:
        screen: Where it is shown.
        clock: Seconds, for the pace.
    """

    def __init__(self, screen: Screen, clock: Callable[[], float] = time.monotonic) -> None:
        self._screen = screen
        self._clock = clock
        self._name = ""
        self._sealed: list[str] = []
        self._sealed_text = ""
        self._text = ""
        self._note = ""
        self._updated_at = float("-inf")

    @property
    def has_text(self) -> bool:
        """Whether something of the reply is shown."""
        return bool(self._sealed_text.strip() or self._text.strip())

    @property
    def is_shown(self) -> bool:
        """Whether it has a place on the screen."""
        return bool(self._name)

    def add(self, text: str) -> None:
        """More of the reply."""
        self._text += text
        self._note = ""
        large = len(self._text) > LARGE_CHARACTERS
        interval = SLOW_INTERVAL_SECONDS if large else INTERVAL_SECONDS
        if self._clock() - self._updated_at < interval:
            return
        if large:
            # Here and not with each piece: it looks through the whole text.
            self._seal()
        if self._text.strip():
            self._draw()

    def wait(self, note: str) -> None:
        """Say for the moment what is waited for; the next text takes its place."""
        if note != self._note:
            self._note = note
            self._draw()

    def void(self, note: str) -> None:
        """Take back what was shown: the reply is asked for anew."""
        self._withdraw_sealed()
        self._text = ""
        self.wait(note)

    def finish(self, text: str) -> None:
        """The whole reply is there."""
        self._note = ""
        if text.startswith(self._sealed_text):
            self._text = text[len(self._sealed_text) :]
        else:
            self._withdraw_sealed()
            self._text = text
        if self._text.strip() or self._name:
            self._draw()

    def replace(self, bundle: Bundle) -> str:
        """Give the place on the screen to something else; its name."""
        if self._name:
            self._screen.update(self._name, bundle)
            return self._name
        return self._screen.show(bundle)

    def _seal(self) -> None:
        cut = self._text.rfind("\n\n", 0, len(self._text) - 1)
        if cut < 0 or len(FENCE_LINE.findall(self._text, 0, cut)) % 2:
            return
        done, self._text = self._text[: cut + 2], self._text[cut + 2 :]
        self._sealed.append(self.replace(_bundle(done)))
        self._sealed_text += done
        self._name = ""

    def _withdraw_sealed(self) -> None:
        for name in self._sealed:
            self._screen.update(name, Bundle("", ""))
        self._sealed, self._sealed_text = [], ""

    def _draw(self) -> None:
        self._name = self.replace(_bundle(self._text, self._note))
        self._updated_at = self._clock()


def _bundle(text: str, note: str = "") -> Bundle:
    markdown, plain = safe_markdown(text.strip("\n")), plain_text(text.strip("\n"))
    if not note:
        return Bundle(markdown, plain)
    shown = f"*{note}*"
    return Bundle(
        "\n\n".join(filter(None, (markdown, shown))), "\n\n".join(filter(None, (plain, note)))
    )
