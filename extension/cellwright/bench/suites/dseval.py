"""DSEval: questions that build on each other in one notebook. The data is a person's own checkout.

A problem set is a session. Before each question the variables are what the reference's answers to
those before it left, so that one wrong answer does not spoil the rest; the agent is shown the
cells so far. In the mode of error propagation it is shown its own instead, mistakes included.
"""

from __future__ import annotations

import fnmatch
import importlib
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from cellwright.bench.dseval_check import DsevalQuestion, state_cell
from cellwright.bench.suites import EarlierCell, Item, Suite, checked_suite
from cellwright.errors import SetupError
from cellwright.settings import Limits

# DSEAL: a Python file of blocks, each a question with its answer, or code that leads up to one.
#
# A block begins with a line ``# %%``. One that starts with a text in triple quotes is a question:
# the text is YAML (``question``, ``validator``, ``execution``, ``data``), the rest is the answer.


MARK = "# %%\n"
QUESTION = re.compile(r'r?"""(.+?)"""\n(.+)', re.DOTALL)
KEYS = frozenset({"question", "validator", "execution", "data"})
TEMPLATES: dict[str, tuple[str, ...]] = {
    "empty": (),
    "basic": ("crash",),
    "intact": ("crash", "namespace_intact"),
    "comparison": ("crash", "namespace_intact", "result"),
}
USUAL = "comparison"


@dataclass(frozen=True)
class ExampleBlock:
    """Code, and the question it answers, if it does."""

    code: str
    question: str = ""
    """Empty: the code only leads up to the next question."""
    validator: Mapping[str, Any] = field(default_factory=dict)
    """Each validator with its settings, those of the template included."""
    forbidden: tuple[str, ...] = ()
    """Variables the answer may not use."""
    limit_seconds: float = 1.0


def read_blocks(path: Path) -> tuple[ExampleBlock, ...]:
    """The blocks of a file.

    Raises:
        SetupError: It cannot be read; the message tells the block.
    """
    try:
        sections = path.read_text(encoding="utf-8").split(MARK)[1:]
    except (OSError, ValueError) as error:
        raise SetupError(f"{str(path)!r} cannot be read: {error}.", hint="It is DSEAL.") from error
    texts = [section.strip() for section in sections]
    return tuple(
        _block(text, f"{str(path)!r}, block {number}")
        for number, text in enumerate(texts, start=1)
        if text
    )


def _block(text: str, place: str) -> ExampleBlock:
    matched = QUESTION.match(text)
    if matched is None:
        return ExampleBlock(text)
    yaml: Any = importlib.import_module("yaml")
    try:
        settings = yaml.safe_load(matched[1])
    except yaml.YAMLError as error:
        raise SetupError(f"{place}: {error}.", hint="Its head is YAML.") from error
    if not isinstance(settings, Mapping) or not KEYS.issuperset(settings):
        raise SetupError(
            f"{place} holds {settings!r:.200}.", hint=f"Use {', '.join(sorted(KEYS))}."
        )
    execution = settings.get("execution") or {}
    return ExampleBlock(
        matched[2].strip(),
        str(settings.get("question") or "").strip(),
        _validator(settings.get("validator") or {}, place),
        tuple(execution.get("forbid_names") or ()),
        float(execution.get("max_time") or 1),
    )


def _validator(given: Any, place: str) -> dict[str, Any]:
    """What is asked for on top of a template."""
    template = given.get("template", USUAL) if isinstance(given, Mapping) else None
    if template not in TEMPLATES:
        raise SetupError(f"{place}: the validator is {given!r:.200}.", hint="It maps names.")
    own = {name: settings for name, settings in given.items() if name != "template"}
    return {**dict.fromkeys(TEMPLATES[template]), **own}


MANIFEST = "_manifest.yaml"
INPUTS = "_inputs"
REQUEST = (
    "{question}\n\nAnswer it in one cell that goes on from the variables that are there; where a "
    "value is asked for, it is the cell's last line. Change no other variables. Files are in the "
    "folder inputs."
)
MISSING = "raise FileNotFoundError({text!r})"
SEED = "__import__('random').seed(0); __import__('numpy').random.seed(0)"
"""The setup runs twice, for the agent and for the reference: both draw the same numbers."""
NAMED = re.compile(r"""["']inputs/([^"'\n]+)["']""")
BRACES = re.compile(r"{[^}]*}")
TIME_FACTOR = 10.0
"""The suite's limits are for a machine that does nothing else."""
ENVIRON = {"MPLBACKEND": "Agg", "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}


def load(data: Path) -> Suite:
    """The suite of a checkout, of one benchmark's folder in it, or of one DSEAL file.

    Raises:
        SetupError: There is none, or a file is wrong.
    """
    items = tuple(item for benchmark, path in _files(data) for item in _items(benchmark, path))
    return checked_suite(Suite("dseval", items, environ=ENVIRON, source=str(data), hidden=(data,)))


def load_with_errors(data: Path) -> Suite:
    """The same in the mode of error propagation.

    Raises:
        SetupError: There is none, or a file is wrong.
    """
    return replace(load(data), name="dseval-errors", is_in_order=True)


def _files(data: Path) -> Iterator[tuple[str, Path]]:
    """DSEAL files, each with the name of its benchmark."""
    if data.is_file():
        yield data.parent.name, data
    for manifest in sorted(data.glob(f"**/{MANIFEST}")):
        name = _name(manifest)
        for path in sorted(manifest.parent.glob("*.py")):
            if not path.name.startswith("_"):
                yield name, path


def _name(manifest: Path) -> str:
    yaml: Any = importlib.import_module("yaml")
    try:
        return str(yaml.safe_load(manifest.read_text(encoding="utf-8"))["name"]).lower()
    except (OSError, ValueError, TypeError, KeyError, yaml.YAMLError) as error:
        raise SetupError(
            f"{str(manifest)!r} cannot be read: {error!r}.", hint="It is YAML with a name."
        ) from error


def _items(benchmark: str, path: Path) -> Iterator[Item]:
    blocks, session = read_blocks(path), f"{benchmark}/{path.stem}"
    files = _inputs(path)
    setup: list[str] = [MISSING.format(text=text) for text in _missing(path, files)] + [SEED]
    history: list[EarlierCell] = []
    step = 0
    for block in blocks:
        if block.question:
            step += 1
            item = _item(f"{session}/{step}", block, benchmark)
            yield replace(
                item,
                family=session,
                session=session,
                step=step,
                files=files,
                history=tuple(history),
                setup=(*setup, *item.setup),
            )
        setup.append(block.code)
        history.append(EarlierCell(block.code, block.question, step if block.question else 0))


def _item(index: str, block: ExampleBlock, benchmark: str) -> Item:
    limit = block.limit_seconds * TIME_FACTOR
    check = DsevalQuestion(block.code, block.validator, block.forbidden, limit)
    usual = Limits().cell_timeout_seconds
    return Item(
        index=index,
        prompt=REQUEST.format(question=block.question),
        group=benchmark,
        setup=(state_cell(block.forbidden),),
        limits=Limits(cell_timeout_seconds=max(usual, limit)),
        checks=(check,),
        reference=(block.code,),
        is_live=True,
    )


def _inputs(path: Path) -> dict[str, Path]:
    """The files that a problem set names, from its own folder or from that of all of them."""
    shared = path.parent / INPUTS
    folder = shared / path.stem if (shared / path.stem).is_dir() else shared
    patterns = [BRACES.sub("*", name) for name in _named(path)]
    found = {}
    for file in sorted(folder.rglob("*")):
        name = file.relative_to(folder).as_posix()
        if file.is_file() and any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns):
            found[f"inputs/{name}"] = file
    return found


def _missing(path: Path, files: dict[str, Path]) -> list[str]:
    """Files that a problem set reads and that this checkout does not have."""
    names = [name for name in _named(path) if not BRACES.search(name)]
    return [f"The data has no file {n}." for n in names if f"inputs/{n}" not in files]


def _named(path: Path) -> list[str]:
    return sorted(set(NAMED.findall(path.read_text(encoding="utf-8"))))
