"""Sixty one-line questions to a model of 135 million parameters, at three servers, over all forms.

What it answers is of no interest. Each run ends in time with a status that is true, and its record
opens and is replayed. ``make test-foreign`` asks a few of them; ``TASKS=60`` asks all.
"""

from __future__ import annotations

import json
import os
import time
from collections.abc import Sequence
from typing import NamedTuple

import pytest
from command_line import Done, Shell
from foreign.servers import Server
from foreign.test_real_servers import check_ending, events_of, make_short

from cellwright.record.events import Event, ModelReplied, ToolFinished

QUESTIONS = """
Add 17 and 25.
Make a list of the first ten squares in `squares`.
Which day of the week is 2026-11-23?
Set x to 5 and show x squared.
Count the vowels in "notebook".
Sort [3, 1, 2].
Print the numbers from 1 to 5.
What is the square root of 144?
Make a dictionary of three fruits and their colours.
Reverse the string "kernel".
Is 97 a prime number?
Convert 100 degrees Fahrenheit to Celsius.
Sum all even numbers up to 100.
Draw a line of ten stars.
Write a function that doubles a number.
What is 2 to the power of 20?
Find the longest word in "the quick brown fox".
Make a table of three people and their ages.
What is the mean of 4, 8, 15, 16, 23 and 42?
Divide one by zero and tell what happens.
Show the first 8 Fibonacci numbers.
Which Python version runs here?
How many seconds has a day?
Put "hello" into a file named hello.txt.
Read the file hello.txt.
List the files of this folder.
Import math and print pi.
Turn "a,b,c" into a list.
What is the largest of 7, 12 and 9?
Make a random number between 1 and 6.
Round 3.14159 to two places.
Join "data" and "base".
Repeat the word echo without end.
Count from 1 to 1000, one number a line.
Say nothing.
Use a tool that does not exist.
Tell me a story of a fox.
Answer in JSON with the key "answer".
Write a class with one method.
What does `len([1, 2, 3])` give?
Remove the duplicates of [1, 1, 2, 3, 3].
Is "level" a palindrome?
Show the current date.
Multiply 12 by 12, then subtract 44.
Make a set of the letters of "banana".
Which is heavier, a kilogram of iron or of wool?
Translate "good morning" to French.
Zip [1, 2] with ["a", "b"].
Raise an error on purpose.
Show the ASCII code of "A".
Plot y = x for x from 0 to 3.
Make an empty DataFrame.
Compute 10 factorial.
Flatten [[1, 2], [3]].
What is 15 % of 80?
Print "<b>bold</b>".
计算 3 加 4。
Swap the values of a and b.
Format 1234567 with thousands separators.
Stop.
""".strip().splitlines()


class Where(NamedTuple):
    """Who answers, and in which form it is asked."""

    server: str
    adapter: str


TURNS = (
    *(Where("tools_llama", "native"), Where("litellm", "native"), Where("llama", "chat")),
    *(Where("litellm", "chat"), Where("tools_llama", "native"), Where("python_llama", "native")),
    *(Where("llama", "json"), Where("litellm", "native"), Where("tools_llama", "native")),
    *(Where("llama", "xml"), Where("litellm", "xml"), Where("python_llama", "chat")),
)
"""Half at llama.cpp itself, a third behind LiteLLM, a sixth at llama-cpp-python's server."""
TASKS = int(os.environ.get("TASKS") or 12)
MINUTES = 10
"""A run that takes longer hangs: it writes three replies of 256 tokens, in a minute or two."""
LIMITS = ("--mode", "auto", "--max-output", "256", "--max-steps", "3", "--max-seconds", "240")
PATIENT = {"CELLWRIGHT_IDLE_SECONDS": "200", "CELLWRIGHT_DEADLINE_SECONDS": "240"}
"""The limit of a run counts between replies: both together stay below what is a hang."""
TRUE_ENDS = {"completed", "task limit reached", "task error", "agent context limit"}
USELESS_ENDS = {"agent validation failed", "agent invalid action"}
"""AgentBench's words for an agent whose replies were of no use, which a record can prove."""


@pytest.mark.kernel
@pytest.mark.timeout(MINUTES * 60)
@pytest.mark.parametrize("number", range(len(QUESTIONS)) if TASKS >= 60 else range(TASKS))
def test_a_small_task_ends_truly(shell: Shell, request: pytest.FixtureRequest, number: int) -> None:
    where, question = TURNS[number % len(TURNS)], QUESTIONS[number]
    server: Server = request.getfixturevalue(where.server)
    make_short(shell)
    environ = {**PATIENT, **server.environ(CELLWRIGHT_ADAPTER=where.adapter)}
    asking = Shell(shell.folder, {**shell.environ, **environ})
    started = time.monotonic()
    done = asking.run("run", question, "--json", *LIMITS)
    seconds = time.monotonic() - started
    assert done.out, done.err
    document = done.document
    events = events_of(asking, document["id"])
    told = f"{number} {where.server} {where.adapter} {seconds:.0f} s: {document['status']}"
    print(f"{told} ({document['cause']}), {document['steps']} steps, {document['cells']} cells")
    check_ending(document, events)
    assert document["status"] in TRUE_ENDS | USELESS_ENDS, document["reason"]
    if document["status"] in USELESS_ENDS:
        check_useless(events)
    if document["steps"]:  # else nothing was said that could be replayed
        check_record(asking, document["id"], document["cells"])


def check_useless(events: Sequence[Event]) -> None:
    """What the model said last could not be done: it asked for nothing, or for what was refused."""
    last = max(n for n, event in enumerate(events) if isinstance(event, ModelReplied))
    results = [event.status for event in events[last:] if isinstance(event, ToolFinished)]
    calls = next(e for e in events[last:] if isinstance(e, ModelReplied)).message.tool_calls
    assert len(results) == len(calls)
    assert "ok" not in results


def check_record(shell: Shell, run_id: str, cells: int) -> None:
    """It opens, and its code runs again."""
    shown = shell.run("show", run_id, "--json")
    assert shown.code == 0, shown.err
    again: Done = shell.run("replay", run_id, "--json")
    # A cell may differ when it is run again: a date, a random number.
    assert again.code in (0, 1), again.err
    assert "Traceback" not in again.err
    assert json.loads(again.out)["cells"] == cells
