"""``%agent`` and ``%%agent``: arguments in, events out.

Loading this must be cheap for every kernel that loads it, so what answers a prompt is imported
when the first one comes, and what completes a line when Tab is first pressed.
"""

from __future__ import annotations

import importlib
import re
from typing import TYPE_CHECKING

from IPython.core.completer import (
    CompletionContext,
    SimpleCompletion,
    SimpleMatcherResult,
    context_matcher,
)
from IPython.core.magic import Magics, line_cell_magic, magics_class, no_var_expand
from traitlets import Bool, Enum, Float, Int, Unicode

from cellwright.settings import MODES
from cellwright_magics.arguments import Configured, agent_arguments
from cellwright_magics.easels import Easels

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

    from cellwright_magics.answering import ShellConversation
    from cellwright_magics.commands import Offers


MATCHER = "cellwright_agent"


@magics_class
class AgentMagics(Magics):
    """The ``%agent`` magics; every setting can also be given in IPython's configuration files."""

    model = Unicode("", help="Model that answers; empty: CELLWRIGHT_MODEL.").tag(config=True)
    mode = Enum(["", *MODES], "", help="plan, ask, edits or auto; empty: CELLWRIGHT_MODE.").tag(
        config=True
    )
    max_steps = Int(None, allow_none=True, help="Replies of the model in a run.").tag(config=True)
    max_seconds = Float(None, allow_none=True, help="Seconds for a run.").tag(config=True)
    max_tokens = Int(None, allow_none=True, help="Tokens for a run.").tag(config=True)
    budget = Float(None, allow_none=True, help="Dollars for a run.").tag(config=True)
    timeout_seconds = Float(None, allow_none=True, help="Seconds for a cell.").tag(config=True)
    show_code = Bool(True, help="Show code before it runs.").tag(config=True)
    errors = Enum(["short", "full"], "short", help="How errors of the model's code are shown.").tag(
        config=True
    )
    paint = Bool(
        True, help="Put code into cells under the calling cell, where the front end can do that."
    ).tag(config=True)
    demos = Unicode(
        "", help="Folder of benchmark results whose good runs are examples for typed questions."
    ).tag(config=True)

    message_times = Bool(
        None, allow_none=True, help="Tell the model when each question was sent."
    ).tag(config=True)

    def __init__(self, shell: InteractiveShell) -> None:
        super().__init__(shell)
        self._shell = shell
        self.easels = Easels()
        self._answering: ShellConversation | None = None
        self._offers: Offers | None = None

    @no_var_expand
    @line_cell_magic
    @agent_arguments
    def agent(self, line: str, cell: str | None = None) -> object:
        """Ask a model that works in this kernel.

        %agent OPTIONS PROMPT, or %%agent OPTIONS with the prompt below it. Options come first;
        everything after them is the prompt. @name in a prompt names a variable. A line that
        begins with a slash is a command: %agent /help lists them.
        """
        return self.answering.answer(line, cell, self._configured())

    @property
    def answering(self) -> ShellConversation:
        """What answers prompts, made when the first one comes."""
        if self._answering is None:
            module = importlib.import_module("cellwright_magics.answering")
            self._answering = module.ShellConversation(self._shell, self.easels)
        return self._answering

    def install_completion(self) -> None:
        """Have the shell complete lines of ``%agent``; on them it offers nothing else."""

        def match(context: CompletionContext) -> SimpleMatcherResult:
            text = context.text_until_cursor
            found = self.offers.complete(text) if "%agent" in text else None
            if found is None or not found.offers:
                return {"completions": []}
            completions = [SimpleCompletion(text=offer, type="magic") for offer in found.offers]
            return {
                "completions": completions,
                "matched_fragment": found.word,
                "suppress": True,
                "ordered": True,
            }

        self._shell.Completer.custom_matchers.append(context_matcher(identifier=MATCHER)(match))

    def uninstall_completion(self) -> None:
        """Take that out again."""
        matchers = self._shell.Completer.custom_matchers
        matchers[:] = [m for m in matchers if getattr(m, "matcher_identifier", "") != MATCHER]

    @property
    def offers(self) -> Offers:
        """What completion offers; what it needs is imported when Tab is pressed first."""
        if self._offers is None:
            module = importlib.import_module("cellwright_magics.commands")
            self._offers = module.Offers(
                lambda: self.answering.run_ids(),
                lambda: self.answering.model_names(self.model),
                lambda: self.answering.assistant_names(),
            )
        return self._offers

    def close(self) -> None:
        """Stop what prompts have started."""
        self.easels.close()
        if self._answering is not None:
            self._answering.close()

    def _configured(self) -> Configured:
        return Configured(
            self.model,
            self.mode,
            self.max_steps,
            self.max_seconds,
            self.max_tokens,
            self.budget,
            self.timeout_seconds,
            self.show_code,
            self.errors == "short",
            self.paint,
            self.demos,
            self.message_times,
        )


# Keeps ``%agent which month was best?`` a prompt.
#
# IPython takes a line that ends with a question mark for a call for help on its last word.


LINE = re.compile(
    r"(?P<before>\s*(?:[^\n#'\"=]*=\s*)?)%agent[ \t]+(?P<prompt>\S[^\n]*\?)[ \t]*(?P<end>\n?)"
)
LONG_QUOTES = ("'''", '"""')


def keep_question_marks(lines: list[str]) -> list[str]:
    """The lines of a cell, with prompts that end so spelled as the call they stand for."""
    if not lines or lines[0].lstrip().startswith("%%"):
        return lines
    if not any("%agent" in line for line in lines):
        return lines
    return [line if _in_string(lines[:at]) else _kept(line) for at, line in enumerate(lines)]


def _kept(line: str) -> str:
    match = LINE.fullmatch(line)
    if match is None or not match["prompt"].strip("? \t"):
        return line
    call = f"get_ipython().run_line_magic('agent', {match['prompt']!r})"
    return f"{match['before']}{call}{match['end']}"


def _in_string(before: list[str]) -> bool:
    text = "".join(before)
    return any(text.count(quotes) % 2 for quotes in LONG_QUOTES)
