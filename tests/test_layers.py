"""The direction of imports, read from ``layers.toml``."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from functools import cache

import pytest
from layer_table import LAYERS, ROOTS, TABLE, Import, imports, module_name, source_files

FILES = source_files()
FILE_OF = {module_name(file): file for file in FILES}


@cache
def imports_of(file: str) -> list[Import]:
    return list(imports(file, FILES[file].read_text("utf-8"), frozenset(FILE_OF)))


def is_ours(target: str) -> bool:
    return target.partition(".")[0] in ROOTS


def upward(file: str) -> Iterator[str]:
    for found in imports_of(file):
        if not is_ours(found.target) or (found.function and file in TABLE["deferred"]):
            continue
        imported = FILE_OF.get(found.target)
        if imported is None:
            yield f"{file}:{found.line} imports {found.target!r}, which does not exist"
        elif LAYERS.get(imported, 0) >= LAYERS.get(file, 99):
            yield (
                f"{file}:{found.line} (layer {LAYERS.get(file)}) imports {imported} "
                f"(layer {LAYERS.get(imported)})"
            )


def test_every_file_has_a_layer() -> None:
    missing = sorted(set(FILES) - set(LAYERS))
    assert not missing, f"add these to [layers] in tests/layers.toml: {missing}"


def test_no_row_is_left_of_a_file_that_is_gone() -> None:
    gone = sorted(set(LAYERS) - set(FILES))
    assert not gone, f"remove these from [layers] in tests/layers.toml: {gone}"


@pytest.mark.parametrize("file", FILES)
def test_imports_point_down(file: str) -> None:
    wrong = list(upward(file))
    assert not wrong, "move the file or the import:\n" + "\n".join(wrong)


@pytest.mark.parametrize("file", sorted(set(FILES) - set(TABLE["deferred"])))
def test_our_own_imports_stand_at_the_top(file: str) -> None:
    inside = [f"{file}:{i.line}" for i in imports_of(file) if i.function and is_ours(i.target)]
    assert not inside, f"move to the top of the file: {inside}"


@pytest.mark.parametrize(("library", "folder"), TABLE["only_in"].items())
def test_only_the_server_imports_server_libraries(library: str, folder: str) -> None:
    found = [
        f"{file}:{found.line}"
        for file in FILES
        if not file.startswith(folder)
        for found in imports_of(file)
        if found.target.partition(".")[0] == library
    ]
    assert not found, f"only {folder} may import {library}: {found}"


def modules_after(code: str) -> set[str]:
    command = [sys.executable, "-c", f"{code}\nimport sys; print(*sys.modules)"]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return set(done.stdout.split())


def test_importing_the_magics_brings_no_costly_library_into_a_kernel() -> None:
    kernel = "import IPython, ipykernel.ipkernel"
    added = modules_after(f"{kernel}, cellwright_magics") - modules_after(kernel)
    assert not added & set(TABLE["costly"]["libraries"]), "import it on first use instead"


def test_an_import_upwards_is_found() -> None:
    source = "from .. import agent\ndef later():\n    import cellwright.cli\n"
    found = list(imports("cellwright/lm/openai.py", source, frozenset({"cellwright.agent"})))
    assert found == [Import("cellwright.agent", 1, ""), Import("cellwright.cli", 3, "later")]
