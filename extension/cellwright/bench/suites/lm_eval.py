"""Tasks of EleutherAI's lm-evaluation-harness whose data is local: its YAML files, read here.

A document's question is asked as a whole and answered in words, so a task of several choices is
asked with letters: its score is not the one that the harness takes of likelihoods. Of what a task
says are kept: text, target and choices, examples (the first of their split), filters and
``exact_match``; a task that wants something else is refused.

What this does not protect against: functions that a task names (``!function``) run here.
"""

from __future__ import annotations

import ast
import csv
import glob
import importlib
import json
import re
import runpy
import string
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from cellwright.bench.checks import Check, FinishedRun, Scorer
from cellwright.bench.suites import UNSEEN, Item, Suite, checked_suite
from cellwright.bench.suites.choices import ask_choices, find_choices, name_choices
from cellwright.bench.suites.json_lines import read_json_lines
from cellwright.errors import SetupError
from cellwright.exports.sample import Score

JSON = dict[str, Any]
ENDINGS = (".yaml", ".yml")
ASKED = ("generate_until", "multiple_choice")
METRICS = {"generate_until": ("exact_match",), "multiple_choice": ("acc", "acc_norm")}


class Documents(list[JSON]):
    """The documents of a split, with what functions of tasks call of ``datasets``."""

    def map(self, function: Callable[[JSON], JSON]) -> Documents:
        """Each with what the function says of it."""
        return Documents({**doc, **function(doc)} for doc in self)

    def filter(self, function: Callable[[JSON], bool]) -> Documents:
        """Those that the function wants."""
        return Documents(doc for doc in self if function(doc))


@dataclass(frozen=True)
class RightChoice:
    """Whether an answer names one choice, and that is the right one."""

    place: int
    name: str = "acc"
    """As the harness calls it."""

    @property
    def __name__(self) -> str:
        """What its score is called."""
        return self.name

    def __call__(self, run: FinishedRun) -> Score:
        """Look for the letter."""
        chosen, right = find_choices(run.answer), name_choices([self.place])
        is_right = chosen == (self.place,)
        said = f"it says {name_choices(chosen)!r}" if chosen else "it names no choice"
        why = "" if is_right else f"{said}, not {right!r}"
        return Score(self.name, float(is_right), is_right, why)


@dataclass(frozen=True)
class ExactMatch:
    """The harness's ``exact_match`` of what its filters take out of an answer."""

    target: str
    filters: tuple[Mapping[str, Any], ...] = ()
    options: Mapping[str, Any] = field(default_factory=dict)
    name: str = "exact_match"

    @property
    def __name__(self) -> str:
        """What its score is called."""
        return self.name

    def __call__(self, run: FinishedRun) -> Score:
        """Whether they are the same."""
        found = self._normal(self._filtered(run.answer))
        is_same = found == self._normal(self.target)
        why = "" if is_same else f"it is {found!r}, not {self.target!r}"
        return Score(self.name, float(is_same), is_same, why)

    def _filtered(self, text: str) -> str:
        for one in self.filters:
            if one["function"] == "regex":
                text = _first_match(one, text)
            elif one["function"] == "remove_whitespace":
                text = text.lstrip()
            elif one["function"] in ("lowercase", "uppercase"):
                text = getattr(text, str(one["function"]).removesuffix("case"))()
        return text

    def _normal(self, text: str) -> str:
        options = dict(self.options)
        for pattern in options.get("regexes_to_ignore") or ():
            text = re.sub(pattern, "", text)
        if options.get("ignore_case"):
            text = text.lower()
        dropped = string.punctuation if options.get("ignore_punctuation") else ""
        dropped += string.digits if options.get("ignore_numbers") else ""
        return text.translate(str.maketrans("", "", dropped)).strip()


FILTERS = ("regex", "take_first", "remove_whitespace", "lowercase", "uppercase")


def _first_match(one: Mapping[str, Any], text: str) -> str:
    found = re.findall(one.get("regex_pattern", r"#### (\-?[0-9\.\,]+)"), text)
    if not found:
        return str(one.get("fallback", "[invalid]"))
    chosen = found[int(one.get("group_select", 0))]
    if isinstance(chosen, tuple):
        chosen = next((part for part in chosen if part), "")
    return str(chosen).strip()


def load(path: Path) -> Suite:
    """The suite of a task's YAML file, or of a folder of them.

    A task of a folder that cannot be asked here is one sample that cannot be run, after the others.

    Raises:
        SetupError: There is no task, or none that can be asked here.
    """
    files = [path] if path.is_file() else sorted(p for e in ENDINGS for p in path.rglob(f"*{e}"))
    found = _FoundTasks()
    for file in files:
        found.add(file, path)
    if not found.tasks and not found.left_out:
        raise SetupError(f"There is no task in {str(path)!r}.", hint="Name a file with `task:`.")
    is_one_of_many = len(found.tasks) + len(found.left_out) > 1
    items: list[Item] = []
    hidden = {file for file, _ in found.tasks.values()}
    for name, (file, task) in found.tasks.items():
        try:
            items += _read_items(file, task, is_one_of_many=is_one_of_many)
        except SetupError as error:
            found.left_out[name] = str(error)
        else:
            hidden |= set(_data_paths(file, task))
    if not items:
        raise _refuse(path, found.left_out)
    items += [
        Item(name, "", group=name, setup=(UNSEEN.format(why=why),), reference_answer=why)
        for name, why in found.left_out.items()
    ]
    name = path.resolve().name if is_one_of_many else next(iter(found.tasks))
    return checked_suite(Suite(name, tuple(items), source=str(path), hidden=tuple(sorted(hidden))))


def _refuse(path: Path, left_out: Mapping[str, str]) -> SetupError:
    if len(left_out) == 1:
        return SetupError(*left_out.values())
    each = " ".join(f"{name}: {why}" for name, why in left_out.items())
    return SetupError(f"No task in {str(path)!r} can be asked here. {each}")


@dataclass
class _FoundTasks:
    """The tasks of a folder by their names."""

    tasks: dict[str, tuple[Path, JSON]] = field(default_factory=dict)
    left_out: dict[str, str] = field(default_factory=dict)
    """Why, by the name of the task or of its file."""

    def add(self, file: Path, root: Path) -> None:
        """What a file below ``root`` says."""
        place = file.relative_to(root).as_posix() if file != root else file.name
        try:
            task = _read(file)
        except SetupError as error:
            self.left_out[place] = str(error)
            return
        name = task.get("task")
        if "class" in task:
            self.left_out[str(name or place)] = f"{str(file)!r} is a class in Python."
        elif isinstance(name, list) and file == root:
            hint = "Name the folder that holds its tasks."
            self.left_out[place] = f"{str(file)!r} is a group. {hint}"
        elif isinstance(name, list):
            for changed in _changed_members(name):
                why = f"The group {str(file)!r} changes its settings, which is not read."
                self.left_out[f"{file.stem}/{changed}"] = why
        elif isinstance(name, str) and name in self.tasks:
            first = str(self.tasks[name][0])
            self.left_out[place] = f"Its name, {name!r}, is that of {first!r}, too."
        elif isinstance(name, str):
            self.tasks[name] = (file, task)


def _changed_members(members: list[Any]) -> Iterator[str]:
    """The tasks of a group, and of groups in it, that are not asked as their own files say."""
    for member in members:
        inner = member.get("task") if isinstance(member, Mapping) else None
        if isinstance(inner, list):
            yield from _changed_members(inner)
        elif inner is not None:
            yield str(inner)


def _read(path: Path) -> JSON:
    """A file with what it includes."""
    yaml: Any = importlib.import_module("yaml")

    class Loader(yaml.SafeLoader):  # type: ignore[misc]  # yaml has no types here
        """Knows ``!function``."""

    def function(loader: Any, node: Any) -> Any:
        module, _, name = str(node.value).rpartition(".")
        return runpy.run_path(str(path.parent / f"{module}.py"))[name]

    Loader.add_constructor("!function", function)
    try:
        task = yaml.load(path.read_text(encoding="utf-8"), Loader)
    except Exception as error:  # whatever a task's own code raises
        is_missing = isinstance(error, ImportError)
        hint = "Its functions need that package." if is_missing else "It is YAML."
        raise SetupError(f"{str(path)!r} cannot be read: {error}.", hint=hint) from error
    if not isinstance(task, dict):
        return {}
    named = task.pop("include", None) or []
    included: JSON = {}
    for name in reversed([named] if isinstance(named, str) else named):  # the first counts most
        included |= _read(path.parent / name)
    return {**included, **task}


def _kind(task: JSON) -> str:
    """What is asked; the harness's own default where the task does not say."""
    return str(task.get("output_type", "generate_until"))


def _read_items(path: Path, task: JSON, *, is_one_of_many: bool) -> list[Item]:
    """The samples of a task.

    Raises:
        SetupError: It cannot be asked here.
    """
    try:
        items = list(_items(path, task, is_one_of_many=is_one_of_many))
    except SetupError:
        raise
    except Exception as error:  # whatever templates and functions of a task raise
        raise SetupError(f"{str(path)!r} cannot be asked: {error!r}.") from error
    if not items:
        raise SetupError(f"The data of {str(path)!r} has no documents.")
    return items


def _items(path: Path, task: JSON, *, is_one_of_many: bool) -> Iterator[Item]:
    kind, name = _kind(task), str(task["task"])
    if kind not in ASKED:
        raise SetupError(f"{str(path)!r} wants {kind!r}.", hint=f"Asked are {', '.join(ASKED)}.")
    split = task.get("test_split") or task.get("validation_split")
    docs = _documents(path, task, split)
    before = _examples(path, task)
    for number, doc in enumerate(docs):
        asked = before + _filled(task["doc_to_text"], doc)
        target = _filled(task["doc_to_target"], doc)
        more, answer = "", str(target)
        if kind == "multiple_choice":
            choices = _choices(task, doc)
            place = _place(target, choices)
            more, answer = ask_choices(choices), name_choices([place])
            checks: list[Check] = [Scorer(RightChoice(place))]
        else:
            checks = list(_exact_checks(path, task, answer))
        yield Item(
            f"{name}-{number}" if is_one_of_many else number,
            asked.strip() + more,
            group=name,
            checks=tuple(checks),
            reference_answer=answer,
        )


def _exact_checks(path: Path, task: JSON, target: str) -> Iterator[Check]:
    metrics = task.get("metric_list") or [{"metric": "exact_match"}]
    named = [metric for metric in metrics if metric["metric"] in METRICS[_kind(task)]]
    if not named:
        wanted = ", ".join(str(metric["metric"]) for metric in metrics)
        raise SetupError(f"{str(path)!r} wants {wanted}.", hint="Made here is exact_match.")
    for metric in named:
        options = {k: v for k, v in metric.items() if k.startswith(("ignore", "regexes"))}
        for pipeline in task.get("filter_list") or [{"name": "", "filter": []}]:
            filters = tuple(pipeline["filter"])
            strange = [f["function"] for f in filters if f["function"] not in FILTERS]
            if strange:
                raise SetupError(f"{str(path)!r} wants the filter {strange[0]!r}.")
            name = ",".join(filter(None, (metric["metric"], pipeline["name"])))
            yield Scorer(ExactMatch(target, filters, options, name))


def _examples(path: Path, task: JSON) -> str:
    """What stands before each question."""
    text, count = str(task.get("description") or ""), int(task.get("num_fewshot") or 0)
    given = (task.get("fewshot_config") or {}).get("samples")
    split = task.get("fewshot_split") or task.get("training_split")
    docs = given if isinstance(given, list) else _documents(path, task, split) if count else []
    between = str(task.get("fewshot_delimiter", "\n\n"))
    for doc in docs[:count]:
        target = _filled(task["doc_to_target"], doc)
        if _kind(task) == "multiple_choice":
            choices = _choices(task, doc)
            target = choices[_place(target, choices)]
        said = str(task.get("target_delimiter", " ")) + str(target)
        text += _filled(task["doc_to_text"], doc) + said + between
    return text


def _filled(wanted: Any, doc: JSON) -> Any:
    """A field, a template or a function of a document."""
    if callable(wanted):
        return wanted(doc)
    if not isinstance(wanted, str):
        return wanted
    if wanted in doc:
        return doc[wanted]
    jinja: Any = importlib.import_module("jinja2")
    environment = jinja.Environment(undefined=jinja.StrictUndefined, keep_trailing_newline=True)
    environment.filters["regex_replace"] = lambda text, old, new="": re.sub(old, new, text)
    return environment.from_string(wanted).render(**doc)


def _choices(task: JSON, doc: JSON) -> list[str]:
    wanted = task.get("doc_to_choice")
    found = wanted if isinstance(wanted, list) else _filled(wanted, doc)
    found = ast.literal_eval(found) if isinstance(found, str) else found
    return [str(choice) for choice in (found.values() if isinstance(found, dict) else found)]


def _place(target: Any, choices: list[str]) -> int:
    text = str(target)
    return int(text) if text.isdigit() else choices.index(text)


# The data: files beside the task, or where its command is run.


def _documents(path: Path, task: JSON, split: str | None) -> Documents:
    paths = _split_paths(path, task, split)
    read = READERS.get(str(task.get("dataset_path")))
    if read is None or not paths:
        raise SetupError(
            f"The data of {str(path)!r} is not local: {task.get('dataset_path')!r}.",
            hint="Download it and name it: dataset_path: json, dataset_kwargs: {data_files: …}",
        )
    docs = Documents(row for file in paths for row in read(file))
    process = task.get("process_docs")
    return Documents(process(docs)) if callable(process) else docs


def _data_paths(path: Path, task: JSON) -> Iterator[Path]:
    named = (task.get("dataset_kwargs") or {}).get("data_files")
    for split in named if isinstance(named, dict) else [None]:
        yield from _split_paths(path, task, split)


def _split_paths(path: Path, task: JSON, split: str | None) -> list[Path]:
    named = (task.get("dataset_kwargs") or {}).get("data_files") or []
    if isinstance(named, dict):
        named = named.get(split) or []
    names = [named] if isinstance(named, str) else named
    return [file for name in names for file in _found(path.parent, str(name))]


def _found(folder: Path, name: str) -> Iterable[Path]:
    for root in (folder, Path()):
        paths = sorted(glob.glob(str(root / name)))
        if paths:
            return map(Path, paths)
    return []


def _read_csv(path: Path) -> list[JSON]:
    with path.open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def _read_json(path: Path) -> list[JSON]:
    if path.suffix != ".json":
        return read_json_lines(path)
    try:
        rows = json.loads(path.read_text(encoding="utf-8"))
    except ValueError:  # lines of it
        return read_json_lines(path)
    return rows if isinstance(rows, list) else [rows]


def _read_parquet(path: Path) -> list[JSON]:
    pandas: Any = importlib.import_module("pandas")
    rows: list[JSON] = pandas.read_parquet(path).to_dict("records")
    return rows


READERS: dict[str, Callable[[Path], list[JSON]]] = {
    "json": _read_json,
    "csv": _read_csv,
    "parquet": _read_parquet,
}
