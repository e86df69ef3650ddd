"""Files of assistants on the disk: made, replaced and removed whole, never where a link leads to.

What this does not protect against: somebody who writes the same file in the moment between our
last look at it and its replacement.
"""

from __future__ import annotations

import errno
import os
import re
import secrets
import shutil
import unicodedata
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from cellwright.assistants.files import FOLDER, read_assistant
from cellwright.errors import ConflictError, SetupError

RESERVED = re.compile(r"(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³])(?:\..*)?", re.IGNORECASE)
"""Names that mean devices on Windows."""
FILE_NAME_LIMIT_BYTES = 250


def text_version(text: str) -> str:
    """What changes whenever the text of a file does."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:32]


def check_new_name(folder: Path, name: str, but: Path | None = None) -> None:
    """Make sure that a new file of this name can stand in a folder of assistants.

    Args:
        folder: The folder.
        name: Of the assistant.
        but: The file that is to have the name.

    Raises:
        SetupError: The name cannot be the name of a file everywhere.
        ConflictError: There is one of that name, or one that differs in nothing but case.
    """
    if RESERVED.fullmatch(name) or name != name.rstrip(". "):
        raise SetupError(f"The name {name!r} cannot be used on Windows.", hint="Choose another.")
    if len(f"{name}.toml".encode("utf-8", "replace")) > FILE_NAME_LIMIT_BYTES:
        raise SetupError(f"The name {name!r} is too long for a file.", hint="Choose a shorter one.")
    wanted = _folded(name)
    for path, its_name in _names(folder):
        if path != but and wanted in (_folded(path.stem), _folded(its_name)):
            hint = f"Change {path}, or choose another name."
            raise ConflictError(
                f"There is an assistant {its_name!r} already.", hint=hint, code="exists"
            )


def is_writable(folder: Path) -> bool:
    """Whether files can be made in this folder of assistants, or the folder itself can be."""
    try:
        _check_folder(folder)
        there = next(place for place in (folder, *folder.parents) if place.exists())
        return there.is_dir() and os.access(there, os.W_OK | os.X_OK)
    except (OSError, SetupError):
        return False


def create_file(path: Path, text: str) -> None:
    """Write a file that is not there yet.

    Raises:
        SetupError: It cannot be written.
        ConflictError: There is one.
    """
    _check_folder(path.parent)
    with _told(path, "written"):
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = _beside(path, text)
        try:
            path.open("x").close()
            _fill(path, beside)
        except FileExistsError as error:
            message = f"There is a file {path.name!r} already."
            raise ConflictError(message, hint="Choose another name.", code="exists") from error
        finally:
            beside.unlink(missing_ok=True)


def replace_file(path: Path, text: str, seen: str) -> None:
    """Give a file another text.

    Args:
        path: The file.
        text: The new text.
        seen: The text that was changed.

    Raises:
        SetupError: It cannot be written.
        ConflictError: It has another text by now.
    """
    target = _target(path)
    with _told(path, "written"):
        beside = _beside(target, text)
        try:
            shutil.copymode(target, beside)
            if target.read_bytes() != seen.encode():
                raise changed_meanwhile(path)
            beside.replace(target)
        finally:
            beside.unlink(missing_ok=True)


def rename_file(path: Path, to: Path, text: str, seen: str) -> None:
    """Give a file another name and text; nothing that is there is written over.

    Raises:
        SetupError: It cannot be written.
        ConflictError: There is a file of that name, or this one has another text by now.
    """
    with _told(path, "renamed"):
        if to.exists() and to.samefile(path):
            replace_file(path, text, seen)
            path.rename(to)
            return
        target = _target(path)
        mode = target.stat().st_mode
        if target.read_bytes() != seen.encode():
            raise changed_meanwhile(path)
        create_file(to, text)
        to.chmod(mode)
        path.unlink()


def remove_file(path: Path) -> None:
    """Remove a file; of a link nothing but the link.

    Raises:
        SetupError: It cannot be removed.
    """
    _check_folder(path.parent)
    with _told(path, "deleted"):
        if not path.is_symlink():
            _check_rights(path)
        path.unlink()


def changed_meanwhile(path: Path) -> ConflictError:
    """The error of a file that is not as it was read."""
    return ConflictError(
        f"{path.name} was changed by somebody else meanwhile.",
        hint="Load it again, then make your change.",
        code="changed",
    )


def _names(folder: Path) -> Iterator[tuple[Path, str]]:
    """The files of a folder with the names of their assistants."""
    for path in sorted(folder.glob("*.toml")):
        try:
            yield path, read_assistant(path).name
        except SetupError:
            yield path, path.stem


def _fill(path: Path, beside: Path) -> None:
    """Put a new file in the place of the empty one that keeps it free."""
    try:
        beside.replace(path)
    except OSError:
        path.unlink(missing_ok=True)
        raise


def _folded(name: str) -> str:
    return unicodedata.normalize("NFKC", name).casefold()


def _target(path: Path) -> Path:
    """The file that is written: a link may lead to another one beside it, and nowhere else."""
    _check_folder(path.parent)
    with _told(path, "written"):
        target = path.resolve()
        if target.parent != path.parent.resolve():
            raise SetupError(
                f"{path} is a link that leads out of its folder, to {target}.",
                hint="Change that file by hand.",
            )
        _check_rights(target)
        return target


def _check_rights(path: Path) -> None:
    """Keep off a read-only file, which could be replaced where its folder can be written to."""
    if path.exists() and not os.access(path, os.W_OK):
        raise PermissionError(errno.EACCES, "it is read-only")


def _check_folder(folder: Path) -> None:
    """Make sure that a project's folder of assistants is in that project."""
    if folder.parts[-len(FOLDER.parts) :] != FOLDER.parts:
        return
    base = folder.parents[len(FOLDER.parts) - 1]
    if not folder.resolve().is_relative_to(base.resolve()):
        raise SetupError(
            f"{folder} is a link that leads out of its project, to {folder.resolve()}.",
            hint="Make it a folder.",
        )


def _beside(path: Path, text: str) -> Path:
    """A new file with this text, in the same folder."""
    beside = path.with_name(f".{secrets.token_hex(8)}.new")
    try:
        with beside.open("xb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        beside.unlink(missing_ok=True)
        raise
    return beside


@contextmanager
def _told(path: Path, done: str) -> Iterator[None]:
    """Tell what the system refuses, and what to do about it."""
    try:
        yield
    except PermissionError as error:
        hint = f"Allow writing to it and to {path.parent}, or use another folder."
        raise SetupError(f"{path} cannot be {done}: {error.strerror}.", hint=hint) from error
    except OSError as error:
        hint = f"Look at {path.parent}."
        raise SetupError(f"{path} cannot be {done}: {error.strerror}.", hint=hint) from error
