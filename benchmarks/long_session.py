"""Whether a long conversation keeps what was said at its start, and what that costs.

    python benchmarks/long_session.py [--turns 300] [--context TOKENS] [--json]

Turn 3 tells facts: a name, a rule, a number, and a cell that computes something. Every other turn
runs a cell with a long output. The last turns ask for the facts. The model knows nothing but the
request it is sent: it looks for the answer in its text. Requests are measured as they would go
over the wire, tools first; "reuse" is the part of a request that the one before began with, which
a provider's prompt cache keeps.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tempfile
from collections.abc import Generator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.kernels import CellRequest
from cellwright.kernels.fresh import FreshKernel, start_kernel
from cellwright.llm import Capabilities, LMEvent
from cellwright.llm.openai_format import ChatForm, parameters_of
from cellwright.notebooks.memory import MemoryNotebook
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    Prompt,
    Reply,
    ToolCall,
    ToolMessage,
    Usage,
    UserMessage,
    text_of,
)
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import Limits
from cellwright.stopping import Stop
from cellwright.store.blocks import BlockStore
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor

__all__ = ["FACTS", "FACT_TURN", "Fact", "Measured", "ReadingLM", "code_of", "talk"]

FACT_TURN = 3
WORDS = (
    *("alder", "birch", "cedar", "delta", "ember", "fjord", "grove", "haven", "inlet", "jetty"),
    *("knoll", "ledge", "marsh", "north", "orbit", "plain", "quartz", "ridge", "shore", "tundra"),
)
TOPICS = ("prices", "delivery times", "returns", "stock", "visits", "complaints", "库存", "退货")
KNOWN_NUMBERS = 40


@dataclass(frozen=True)
class Fact:
    """Something that is said once and asked for at the end."""

    told: str
    asked: str
    found: str
    """A pattern whose group is the answer."""
    answer: str = ""
    """Empty: only the run knows it."""


FACTS = (
    Fact(
        "Our table of customers is called kunden_stamm.",
        "What is our table of customers called?",
        r"table of customers is called (\w+)",
        "kunden_stamm",
    ),
    Fact(
        "Rows from before 2019-04-01 must never be used: the audit found errors in them.",
        "Which rows must never be used because of the audit?",
        r"Rows from before (\S+) must never be used",
        "2019-04-01",
    ),
    Fact(
        "客户表里的负责人是林晓梅。",
        "客户表里的负责人是谁？",
        r"客户表里的负责人是(\w{3})。",
        "林晓梅",
    ),
    Fact(
        "Compute churn_rate in a cell.",
        "In which cell was churn_rate computed, and what was it?",
        r"cell ([\w-]+): churn_rate = 0\.173",
    ),
)


def question_of(turn: int, turns: int) -> str:
    """What is asked in a turn, counted from 1."""
    if turn == FACT_TURN:
        return " ".join(fact.told for fact in FACTS)
    asked = turn - (turns - len(FACTS)) - 1
    if asked >= 0:
        return FACTS[asked].asked
    topic = TOPICS[turn % len(TOPICS)]
    return f"Part {turn}: look at {topic} of week {turn} and say what stands out."


def code_of(turn: int) -> str:
    """The cell of a turn."""
    if turn == FACT_TURN:
        return "churn_rate = 0.173\nchurn_rate"
    return f"week_{turn % KNOWN_NUMBERS} = {turn}\nprint(report({turn}))"


def report(turn: int) -> str:
    """What the cell of a turn prints: about a thousand tokens, always the same."""
    chosen = random.Random(turn)
    return "\n".join(" ".join(chosen.choices(WORDS, k=12)) for _ in range(55))


REPORT_SOURCE = f"""import random
WORDS = {WORDS!r}
def report(turn):
    chosen = random.Random(turn)
    return "\\n".join(" ".join(chosen.choices(WORDS, k=12)) for _ in range(55))
"""


@dataclass
class Measured:
    """What was sent."""

    tokens: list[int] = field(default_factory=list)
    """Of each request."""
    shared_bytes: int = 0
    all_bytes: int = 0
    answers: list[str] = field(default_factory=list)

    @property
    def reuse(self) -> float:
        """The part of all requests that the request before had begun with."""
        return self.shared_bytes / self.all_bytes if self.all_bytes else 1.0


class ReadingLM:
    """A model that runs a cell a turn and answers from the text of its request alone.

    Args:
        context_tokens: Its window; None: it is not known.
    """

    def __init__(self, context_tokens: int | None = None) -> None:
        self._context_tokens = context_tokens
        self._before = b""
        self._calls = 0
        self.measured = Measured()

    def capabilities(self, model: str) -> Capabilities:
        """A model that calls functions."""
        return Capabilities(context_tokens=self._context_tokens)

    def stream(self, prompt: Prompt, stop: Stop) -> Generator[LMEvent, None, Reply]:
        """Yield nothing and return the whole reply."""
        stop.check()
        yield from ()
        tokens = self._measure(prompt)
        usage = Usage(tokens, 20)
        newest = next(m for m in reversed(prompt.messages) if isinstance(m, UserMessage))
        words = text_of(newest)
        for fact in FACTS:
            if fact.asked in words:
                return _says(self._read(prompt, fact), usage)
        if isinstance(prompt.messages[-1], ToolMessage):
            return _says("Nothing stands out.", usage)
        return self._call(words, usage)

    def _call(self, words: str, usage: Usage) -> Reply:
        part = re.findall(r"Part (\d+):", words)
        self._calls += 1
        arguments = json.dumps({"code": code_of(int(part[-1]) if part else FACT_TURN)})
        call = ToolCall(f"call_{self._calls}", "run_cell", arguments)
        return Reply(AssistantMessage(tool_calls=(call,)), "tool_calls", usage, "reading")

    def _read(self, prompt: Prompt, fact: Fact) -> str:
        text = "\n".join(text_of(message) for message in prompt.messages)
        found = re.findall(fact.found, text)
        answer = found[-1] if found else "I do not know."
        self.measured.answers.append(answer)
        return str(answer)

    def _measure(self, prompt: Prompt) -> int:
        body = parameters_of(prompt, ChatForm(vision=False))
        parts = [body.get("tools", []), *body["messages"]]
        sent = "".join(json.dumps(part, ensure_ascii=False) for part in parts).encode()
        measured = self.measured
        if self._before:
            measured.shared_bytes += len(os.path.commonprefix([self._before, sent]))
            measured.all_bytes += len(sent)
        self._before = sent
        measured.tokens.append(-(-len(sent) // 4))
        return measured.tokens[-1]


def _says(text: str, usage: Usage) -> Reply:
    return Reply(AssistantMessage(text), "stop", usage, "reading")


def talk(conversation: Conversation, model: ReadingLM, turns: int) -> str:
    """Have the conversation; the id of the cell that the last fact asks for."""
    cell_id = ""
    for turn in range(1, turns + 1):
        question = RunRequest(
            question_of(turn, turns), Parameters("reading"), mode="auto", limits=Limits(10)
        )
        for _ in conversation.ask(question, model):
            pass
        if turn == FACT_TURN:
            record = conversation.place.store.record(conversation.last_run_id)
            cell_id = record.executions[-1].cell_id
    return cell_id


def wanted(cell_id: str) -> list[str]:
    """The right answers, in the order in which they are asked for."""
    return [fact.answer or cell_id for fact in FACTS]


def measure(turns: int, context_tokens: int | None) -> dict[str, Any]:
    """Have the conversation in a kernel of its own and say what it cost."""
    model = ReadingLM(context_tokens)
    with tempfile.TemporaryDirectory() as folder:
        database = open_database(Path(folder) / "runs.sqlite")
        kernel = start_kernel(cwd=folder)
        try:
            place = RunContext(
                kernel,
                RunStore(database),
                Redactor({}),
                "bench",
                notebook=MemoryNotebook(),
                blocks=BlockStore(database),
            )
            _prepare(kernel)
            cell_id = talk(Conversation(place), model, turns)
        finally:
            kernel.close()
            database.close()
    right = [a == b for a, b in zip(model.measured.answers, wanted(cell_id), strict=True)]
    return {
        "turns": turns,
        "requests": len(model.measured.tokens),
        "facts_answered": sum(right),
        "facts": len(FACTS),
        "largest_request_tokens": max(model.measured.tokens),
        "mean_request_tokens": round(sum(model.measured.tokens) / len(model.measured.tokens)),
        "prefix_reuse": round(model.measured.reuse, 4),
    }


def _prepare(kernel: FreshKernel) -> None:
    list(kernel.execute(CellRequest("prepare", REPORT_SOURCE), Stop(), lambda output: output))


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("--turns", type=int, default=300)
    parser.add_argument("--context", type=int, default=None, help="the model's window in tokens")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args(words)
    found = measure(options.turns, options.context)
    if options.json:
        print(json.dumps(found))
    else:
        print("\n".join(f"{name:<24} {value:>10,}" for name, value in found.items()))
    return 0 if found["facts_answered"] == found["facts"] else 1


if __name__ == "__main__":
    sys.exit(main())
