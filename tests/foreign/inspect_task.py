"""A task of Inspect and its model, which says what it is told to: writes a log.

python inspect_task.py json|eval FOLDER
"""

import os
import sys
from typing import Any

import tiktoken

os.environ.pop("INSPECT_TELEMETRY", None)

from inspect_ai import Task, eval, task  # noqa: E402
from inspect_ai.dataset import Sample  # noqa: E402
from inspect_ai.model import ModelOutput, get_model  # noqa: E402
from inspect_ai.scorer import includes, match  # noqa: E402
from inspect_ai.solver import generate, system_message, use_tools  # noqa: E402
from inspect_ai.tool import tool  # noqa: E402

MODEL = "mockllm/model"


class Words:
    """In the place of an encoding that would be fetched from a network."""

    def encode(self, text, **options):
        return text.split()


@tool
def add():
    async def execute(x: int, y: int):
        """Add two numbers.

        Args:
            x: First number.
            y: Second number.
        """
        return x + y

    return execute


@task
def sums():
    samples = [
        Sample(id="two", input="What is 1 + 1?", target="2", metadata={"group": "small"}),
        Sample(id="many", input="What is 20 + 22? Use the tool.", target=["42", "forty-two"]),
        Sample(id="lost", input="What is 3 + 4?", target="7"),
    ]
    solver = [system_message("You add numbers."), use_tools(add()), generate()]
    return Task(dataset=samples, solver=solver, scorer=[includes(), match()])


if __name__ == "__main__":
    vars(tiktoken).update(
        dict.fromkeys(("get_encoding", "encoding_for_model"), lambda name: Words())
    )
    said = [
        ModelOutput.from_content(MODEL, "It is 2"),
        ModelOutput.for_tool_call(MODEL, "add", {"x": 20, "y": 22}),
        ModelOutput.from_content(MODEL, "The sum is 42"),
        ModelOutput.from_content(MODEL, "It is 8"),
    ]
    model = get_model(MODEL, custom_outputs=said)
    kind: Any = sys.argv[1]
    (log,) = eval(
        sums(), model=model, max_samples=1, log_format=kind, log_dir=sys.argv[2], display="none"
    )
    assert log.status == "success", log.error
