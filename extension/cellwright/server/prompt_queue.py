"""Prompts that wait their turn in a chat."""

from __future__ import annotations

from dataclasses import dataclass, replace

from cellwright.server.frames import Ask, Attach, QueuedPrompt

PROMPTS = 50


@dataclass(frozen=True)
class Asker:
    """The page that asked."""

    nonce: str
    tab: str


@dataclass(frozen=True)
class WaitingPrompt:
    """A prompt and who asked it."""

    ask: Ask
    asker: Asker
    attach: Attach | None
    """The notebook it is about, as it was then; None: none."""
    id: str
    compacts: bool = False
    """Nothing is asked: the conversation is made shorter."""


class PromptQueue:
    """Prompts in their order; the owner holds its own lock."""

    def __init__(self) -> None:
        self.is_paused = False
        """Nothing is taken until the person says so: the last run failed or was stopped."""
        self._prompts: list[WaitingPrompt] = []
        self._next: WaitingPrompt | None = None

    def __len__(self) -> int:
        return len(self._prompts)

    @property
    def is_full(self) -> bool:
        """Whether no more prompts fit."""
        return len(self._prompts) >= PROMPTS

    @property
    def has_next(self) -> bool:
        """Whether a prompt's turn has come."""
        return self._next is not None or bool(self._prompts and not self.is_paused)

    @property
    def shown(self) -> tuple[QueuedPrompt, ...]:
        """What waits, as it is shown."""
        return tuple(QueuedPrompt(item.id, item.ask.prompt) for item in self._prompts)

    def add(self, prompt: WaitingPrompt) -> None:
        """Put a prompt at the end."""
        self._prompts.append(prompt)

    def put_first(self, prompt: WaitingPrompt) -> None:
        """Let a prompt be the next one, paused or not."""
        if self._next is not None:
            self._prompts.insert(0, self._next)
        self._next = prompt

    def take(self) -> WaitingPrompt | None:
        """The prompt whose turn it is."""
        prompt, self._next = self._next, None
        if prompt is None and self._prompts and not self.is_paused:
            prompt = self._prompts.pop(0)
        return prompt

    def pause(self) -> None:
        """Take nothing more, if anything waits."""
        self.is_paused = bool(self._prompts)

    def resume(self) -> None:
        """Go on."""
        self.is_paused = False

    def remove(self, prompt_id: str) -> WaitingPrompt | None:
        """Take a prompt out; None: it does not wait any more."""
        for prompt in self._prompts:
            if prompt.id == prompt_id:
                self._prompts.remove(prompt)
                self.is_paused = self.is_paused and bool(self._prompts)
                return prompt
        return None

    def edit(self, prompt_id: str, text: str, asker: Asker) -> bool:
        """Change a prompt's text; whoever did so is the one who asks it now."""
        for index, prompt in enumerate(self._prompts):
            if prompt.id == prompt_id:
                ask = replace(prompt.ask, prompt=text)
                self._prompts[index] = replace(prompt, ask=ask, asker=asker)
                return True
        return False

    def move(self, prompt_id: str, position: int) -> bool:
        """Put a prompt elsewhere; 0 is the first place."""
        was_paused = self.is_paused
        prompt = self.remove(prompt_id)
        if prompt is None:
            return False
        self._prompts.insert(max(0, position), prompt)
        self.is_paused = was_paused
        return True
