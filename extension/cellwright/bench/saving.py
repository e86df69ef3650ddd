"""A recorded run as a sample of a folder suite: one YAML file, and the files it needs beside it.

The run's code becomes the reference and its answer the reference's answer, so that the oracle does
what the run did. Not taken along: files that code names by a computed path, and what the kernel
knew beyond the cells that are in the record. Whether the checks hold is tried by ``trial``.
"""

from __future__ import annotations

import ast
import hashlib
import importlib
import re
import shutil
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cellwright.bench.suites.folder import read_item
from cellwright.context.assemble import mentioned_names
from cellwright.errors import SetupError
from cellwright.exports.sample import CANARY
from cellwright.record.messages import text_of
from cellwright.record.run_record import RunRecord
from cellwright.text.redaction import Redactor

LARGEST_BYTES = 100_000_000
LOOKED_THROUGH_BYTES = 5_000_000
"""So much of a file is searched for secrets."""
UNSAFE = re.compile(r"[^A-Za-z0-9._-]+")


@dataclass(frozen=True)
class SavedSample:
    """What was written."""

    path: Path
    """The YAML file."""
    files: tuple[str, ...] = ()
    """Names of files that were copied beside it."""


def save_sample(
    record: RunRecord, folder: Path, checks: Iterable[str], redactor: Redactor, name: str = ""
) -> SavedSample:
    """Write a run as a sample.

    Args:
        record: The run.
        folder: The suite's; it comes into being.
        checks: Expressions that are true when the sample is solved, or assertions.
        redactor: Takes secrets out.
        name: The sample's id; empty: the run's.

    Raises:
        SetupError: There is no check, the name is a path, a file is missing, has changed or holds a
            secret, or something else of this name is in the folder.
    """
    if name and ({*name} & {*"/\\"} or not name.strip(".")):
        raise SetupError(
            f"{name!r} is a path, and no sample's id.", hint="Name the folder apart: --to FOLDER"
        )
    record = redactor.event(record)
    asserted = [{"assert": write_assertion(check)} for check in checks]
    if not asserted:
        raise SetupError(
            "A sample needs a check.", hint='Say what must be true: --check "best.shape == (12, 3)"'
        )
    path = folder / f"{UNSAFE.sub('_', name or record.run_id).strip('.') or 'sample'}.yaml"
    if path.exists():
        raise SetupError(f"{str(path)!r} is there already.", hint="Give it another name: --name ID")
    code = tuple(code_of(record))
    files = find_files(record, (*record.start_executed, *code), redactor)
    copy_files(files, folder)
    document = {
        "prompt": record.prompt,
        "setup": list(record.start_executed),
        "mentions": list(_mentioned(record)),
        "files": sorted(files),
        "checks": asserted,
        "reference": list(code),
        "answer": record.answer,
    }
    write_item(path, {key: value for key, value in document.items() if value})
    return SavedSample(path, tuple(sorted(files)))


def _mentioned(record: RunRecord) -> Iterator[str]:
    """The variables that the prompt names as ``@name`` and the model was told of."""
    told = "\n".join(text_of(message) for message in record.messages)
    for name in mentioned_names(record.prompt):
        if f"\n@{name}: " in told:
            yield name


def write_assertion(check: str) -> str:
    """The code of a check: an expression as an assertion of it.

    Raises:
        SetupError: It is no Python.
    """
    try:
        ast.parse(check.strip(), mode="eval")
    except SyntaxError:
        pass
    else:
        return f"assert {check.strip()}"
    try:
        ast.parse(check)
    except SyntaxError as error:
        raise SetupError(
            f"The check {check!r} is no Python: {error.msg}.",
            hint='Write an expression, such as --check "best.shape == (12, 3)"',
        ) from error
    return check


def code_of(record: RunRecord) -> Iterator[str]:
    """The code that ran, as far as it came, in the order in which it ran."""
    for ran in record.executions:
        if code := ran.code_done.strip("\n"):
            yield code


def find_files(record: RunRecord, sources: tuple[str, ...], redactor: Redactor) -> dict[str, Path]:
    """Find the files that the run was given or that code names, by name in the sample's folder.

    Raises:
        SetupError: One is missing, has changed or holds a secret.
    """
    root = Path(record.cwd or ".")
    made = {
        change.path
        for ran in record.executions
        if ran.execution is not None
        for change in ran.execution.files
        if change.change == "created"
    }
    found = {}
    for name, digest in record.files.items():
        found[name] = _checked(root, name, digest, redactor)
    found |= find_named_files(sources, root, redactor, {*made, *found})
    return found


def find_named_files(
    sources: Iterable[str], root: Path, redactor: Redactor, besides: Collection[str] = ()
) -> dict[str, Path]:
    """Find the files below ``root`` that code names.

    Args:
        sources: The code.
        root: The folder that it works in.
        redactor: Finds secrets.
        besides: Names that are not looked for.

    Raises:
        SetupError: One is too large, or holds a secret.
    """
    return {
        name: _checked(root, name, "", redactor)
        for name in dict.fromkeys(_named(sources))
        if name not in besides and _is_within(root / name, root) and (root / name).is_file()
    }


def _named(sources: Iterable[str]) -> Iterator[str]:
    """Texts in code that may be names of files."""
    for source in sources:
        try:
            tree = ast.parse(source)
        except SyntaxError:  # a magic; what it names is not known
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                text = node.value
                if 0 < len(text) < 200 and "\0" not in text and "\n" not in text:
                    yield text


def _is_within(path: Path, root: Path) -> bool:
    return path.resolve().is_relative_to(root.resolve())


def _checked(root: Path, name: str, digest: str, redactor: Redactor) -> Path:
    """The file, if it may be given away and is what the run had."""
    path = root / name
    if not _is_within(path, root) or Path(name).is_absolute():
        raise SetupError(
            f"The file {name!r} is outside {str(root)!r}.",
            hint="A sample's files are in the folder that the run worked in.",
        )
    try:
        if path.stat().st_size > LARGEST_BYTES:
            raise SetupError(f"The file {name!r} is larger than {LARGEST_BYTES // 10**6} MB.")
        data = path.read_bytes()
    except OSError as error:
        raise SetupError(f"The file {name!r} cannot be read: {error}.") from error
    if digest and hashlib.sha256(data).hexdigest() != digest:
        raise SetupError(
            f"The file {name!r} has changed since the run.", hint="Run it again and save that run."
        )
    text = data[:LOOKED_THROUGH_BYTES].decode("utf-8", "replace")
    if redactor.text(text) != text:
        raise SetupError(
            f"The file {name!r} holds what looks like a password or a key.",
            hint="A sample may be handed on: take it out of the file and run again.",
        )
    return path


def copy_files(files: Mapping[str, Path], folder: Path) -> None:
    """Put the files beside the sample.

    Raises:
        SetupError: Something else of one of their names is there.
    """
    for name, source in files.items():
        there = folder / name
        if there.exists() and there.read_bytes() != source.read_bytes():
            raise SetupError(
                f"{str(folder)!r} holds another {name!r}.", hint="Save to another folder: --to DIR"
            )
    for name, source in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(source, folder / name)


def write_item(path: Path, document: Mapping[str, Any]) -> None:
    """Write the YAML file of a sample.

    Raises:
        SetupError: It cannot be read as a sample; then there is none.
    """
    yaml: Any = importlib.import_module("yaml")

    class Dumper(yaml.SafeDumper):  # type: ignore[misc]  # yaml has no types here
        """Writes text of several lines as such."""

    def as_block(dumper: Any, text: str) -> Any:
        style = "|" if "\n" in text else None
        return dumper.represent_scalar("tag:yaml.org,2002:str", text, style=style)

    Dumper.add_representer(str, as_block)
    text = yaml.dump(dict(document), Dumper=Dumper, sort_keys=False, allow_unicode=True, width=100)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"# {CANARY}\n{text}", encoding="utf-8")
    try:
        read_item(path)
    except SetupError:
        path.unlink()
        raise
