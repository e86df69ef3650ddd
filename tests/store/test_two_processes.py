"""Two processes on one record lose nothing; ``benchmarks/two_processes.py`` goes on longer."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

SCRIPT = Path(__file__).parents[2] / "benchmarks" / "two_processes.py"


def loaded() -> ModuleType:
    spec = importlib.util.spec_from_file_location("two_processes", SCRIPT)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module  # dataclasses look their module up
    spec.loader.exec_module(module)
    return module


def test_a_kernel_and_a_server_write_one_record_and_nothing_is_lost(tmp_path: Path) -> None:
    found = loaded().measure(tmp_path, 1.5)
    assert found["problems"] == []
    assert found["missing"] == []
    assert found["runs"] > 4
    assert found["turns_in_the_shared_chat"] > 0
