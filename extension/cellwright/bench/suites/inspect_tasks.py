"""Tasks of Inspect as suites: a Python file with ``@task`` functions, whose samples are local.

Its samples are asked as they are, by our agent and in place of the task's solver and sandbox, and
scored by the task's own scorers, which run here, in Inspect's classes. A sample with choices is
asked with letters, as Inspect's ``multiple_choice`` asks it.

What this does not protect against: the file's code, its scorers too, runs here with your rights.
"""

from __future__ import annotations

import asyncio
import importlib
import runpy
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.bench.checks import STOPS, FinishedRun, Scorer
from cellwright.bench.suites import Item, Suite, checked_suite
from cellwright.bench.suites.choices import ask_choices, find_choices
from cellwright.bench.suites.inspect_logs import worth_of
from cellwright.errors import SetupError
from cellwright.exports.sample import Score

NAME = "@"
"""Between a file and the task that is meant, where it has several."""
REGISTERED = "__registry_info__"
WRITE = "import pathlib\np = pathlib.Path({name!r})\np.parent.mkdir(parents=True, exist_ok=True)\n"
WRITE_TEXT = WRITE + "p.write_text({text!r})"
RUN_SCRIPT = "import subprocess\nsubprocess.run(['bash', '-c', {script!r}], check=True)"
MODEL = "none/none"


@dataclass(frozen=True)
class InspectScorer:
    """One of a task's scorers, for one sample."""

    scorer: Callable[[Any, Any], Any]
    sample: Any
    name: str

    @property
    def __name__(self) -> str:
        """What its score is called."""
        return self.name

    def __call__(self, run: FinishedRun) -> Score:
        """What it says of an answer.

        Raises:
            ValueError: It gives no score.
        """
        target = _load("inspect_ai.scorer").Target(self.sample.target)
        found = asyncio.run(self.scorer(self._state(run.answer, target), target))
        value = None if found is None else worth_of(found.value)
        if value is None:
            raise ValueError(f"{self.name} says {getattr(found, 'value', None)!r}")
        return Score(self.name, value, value >= 1.0, str(found.explanation or ""))

    def _state(self, answer: str, target: Any) -> Any:
        """The end of a conversation, as scorers look at it."""
        solver, model = _load("inspect_ai.solver"), _load("inspect_ai.model")
        output = model.ModelOutput.from_content(MODEL, answer)
        given = self.sample.input
        asked = [model.ChatMessageUser(content=given)] if isinstance(given, str) else list(given)
        state = solver.TaskState(
            model=model.ModelName(MODEL),
            sample_id=self.sample.id or 1,
            epoch=1,
            input=given,
            messages=[*asked, output.message],
            target=target,
            choices=self.sample.choices,
            output=output,
            completed=True,
            metadata=self.sample.metadata or {},
        )
        chosen = find_choices(answer) if self.sample.choices else ()
        for place in range(len(self.sample.choices)) if chosen else ():
            state.choices.mark_choice(place, place in chosen)
        return state


def load(path: Path) -> Suite:
    """The suite of a task.

    Args:
        path: The file, with ``@NAME`` where it has several tasks.

    Raises:
        SetupError: Inspect is not installed, or the file has no such task.
    """
    file, _, name = str(path).partition(".py" + NAME)
    file = f"{file.removesuffix('.py')}.py"
    _load("inspect_ai")
    try:
        found = dict(_tasks(runpy.run_path(file)))
        if name not in found and (name or len(found) != 1):
            lacks = f"no task {name!r}" if name or not found else "several tasks"
            raise SetupError(
                f"{file!r} has {lacks}.",
                hint=f"It has {', '.join(found) or 'none'}: name one, inspect:{file}@NAME",
            )
        name = name or next(iter(found))
        task = found[name]()
        items = tuple(_item(s, n, task, Path(file).parent) for n, s in enumerate(task.dataset, 1))
    except (SetupError, *STOPS):
        raise
    except BaseException as error:  # whatever the file's own code raises
        raise SetupError(f"{file!r} cannot be run: {error!r}.", hint="Mend it.") from error
    return checked_suite(Suite(name, items, source=file, hidden=(Path(file),)))


def _tasks(names: Mapping[str, Any]) -> Iterator[tuple[str, Callable[[], Any]]]:
    for value in names.values():
        info: Any = getattr(value, REGISTERED, None)
        if callable(value) and getattr(info, "type", "") == "task":
            yield str(info.name).rpartition("/")[2], value


def _load(name: str) -> Any:
    try:
        return importlib.import_module(name)
    except ImportError as error:
        raise SetupError(
            f"A task of Inspect needs the package inspect_ai: {error}.",
            hint="pip install inspect_ai",
        ) from error


def _item(sample: Any, number: int, task: Any, folder: Path) -> Item:
    asked = sample.input
    if not isinstance(asked, str):
        asked = "\n\n".join(message.text for message in asked if message.role in ("system", "user"))
    targets = sample.target if isinstance(sample.target, list) else [sample.target]
    answer = str(targets[0])
    if sample.choices:
        asked += ask_choices(sample.choices)
        answer = f"ANSWER: {', '.join(map(str, targets))}"
    files, setup = {}, []
    for name, given in (sample.files or {}).items():
        path = Path(given) if Path(given).is_absolute() else folder / given
        if len(given) < 1_000 and path.is_file():
            files[name] = path
        else:
            setup.append(WRITE_TEXT.format(name=name, text=given))
    setup += [RUN_SCRIPT.format(script=sample.setup)] if sample.setup else []
    scorers = list(task.scorer or ())
    return Item(
        sample.id if sample.id is not None else number,
        asked,
        setup=tuple(setup),
        files=files,
        checks=tuple(Scorer(InspectScorer(one, sample, _name_of(one))) for one in scorers),
        reference_answer=answer,
        metadata=sample.metadata or {},
    )


def _name_of(scorer: Any) -> str:
    return str(getattr(getattr(scorer, REGISTERED, None), "name", "scorer")).rpartition("/")[2]
