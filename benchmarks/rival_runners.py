"""The same samples with inspect_ai and nbclient, for `runner.py`."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

from measured_samples import ANSWER, CELLS, TURNS, WORKERS, Setting, own_seconds, spent, timed


def run_inspect(count: int, folder: Path, turns: int = 0) -> None:
    from inspect_ai import Task, eval
    from inspect_ai.dataset import MemoryDataset, Sample
    from inspect_ai.model import ModelOutput, ModelUsage, get_model
    from inspect_ai.scorer import includes
    from inspect_ai.solver import generate, use_tools
    from inspect_ai.tool import tool

    @tool
    def run_cell() -> Any:
        async def execute(code: str) -> str:
            """Run code.

            Args:
                code: The code.
            """
            return str(len(code))

        return execute

    def answer(messages: list[Any], *_: Any) -> ModelOutput:
        done = sum(message.role == "tool" for message in messages)
        if done < turns:
            made = ModelOutput.for_tool_call("mockllm", "run_cell", {"code": f"x = {done}"})
        else:
            made = ModelOutput.from_content("mockllm", ANSWER)
        made.usage = ModelUsage(input_tokens=100, output_tokens=10, total_tokens=110)
        return made

    samples = [Sample(id=n + 1, input="What is it?", target="42") for n in range(count)]
    solver = [use_tools(run_cell()), generate()] if turns else [generate()]
    task = Task(MemoryDataset(samples), solver=solver, scorer=includes())
    model = get_model("mockllm/model", custom_outputs=answer)
    (log,) = eval(task, model=model, log_dir=str(folder), display="none", max_samples=1)
    if log.status != "success":
        raise SystemExit(f"inspect_ai failed: {log.error}")


def inspect_trivial(setting: Setting) -> dict[str, float]:
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run_inspect(10, Path(folder, "first"))
        with spent(own_seconds, found):
            run_inspect(setting.samples, Path(folder, "second"))
        size = sum(file.stat().st_size for file in Path(folder, "second").iterdir())
    return {
        "trivial_ms": 1000 * found[0] / setting.samples,
        "record_bytes": size / setting.samples,
    }


def inspect_turns(setting: Setting) -> dict[str, float]:
    count = max(2, setting.samples // 20)
    found: list[float] = []
    with tempfile.TemporaryDirectory() as folder:
        run_inspect(2, Path(folder, "first"), TURNS)
        for turns in (1, TURNS):
            with spent(own_seconds, found):
                run_inspect(count, Path(folder, str(turns)), turns)
    return {"turn_ms": 1000 * (found[1] - found[0]) / (count * (TURNS - 1))}


def nbclient_cells(setting: Setting) -> dict[str, float]:
    import nbformat
    from nbclient import NotebookClient

    cells = [nbformat.v4.new_code_cell(f"x = {number}") for number in range(CELLS)]
    count = max(WORKERS, setting.samples // 25)

    def run(number: int) -> None:
        notebook = nbformat.v4.new_notebook(cells=cells)
        NotebookClient(notebook, kernel_name="python3").execute()

    return timed(run, count, "fresh")
