"""A whole run in a process that is going to be killed: ``python agent_to_kill.py HOME URL``.

Prints a line for each event once it has been yielded and then waits for the go-ahead.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell

from cellwright.kernels.shell import ShellKernel
from cellwright.llm.openai import OpenAILM
from cellwright.record.messages import Parameters
from cellwright.session.conversation import Conversation
from cellwright.session.questions import RunContext, RunRequest
from cellwright.settings import ServiceSettings
from cellwright.store.database import open_database
from cellwright.store.runs import RunStore
from cellwright.text.redaction import Redactor


def main(home: str, url: str) -> None:
    store = RunStore(open_database(Path(home) / "runs.sqlite"))
    kernel = ShellKernel(InteractiveShell.instance())
    place = RunContext(kernel, store, Redactor.from_environment(os.environ, ""), "cli")
    conversation = Conversation(place)
    model = OpenAILM(ServiceSettings(base_url=url, api_key="x"))
    events = conversation.ask(RunRequest("Go.", Parameters("m"), mode="auto"), model)
    for event in events:
        print(f"event {event.kind}", file=sys.__stdout__, flush=True)
        os.read(0, 1)


main(*sys.argv[1:])
