"""The public names of every package of ours, as a module to compare with the held list.

Run as a script it prints the list that ``public_names.toml`` should hold.
"""

from __future__ import annotations

import importlib
import json
from pathlib import Path

from layer_table import module_name, source_files

HELD = Path(__file__).with_suffix(".toml")


def packages() -> list[str]:
    """Every importable package: each folder with an ``__init__.py``."""
    return [module_name(file) for file in source_files() if file.endswith("__init__.py")]


def public_names() -> dict[str, list[str]]:
    """What each package says is public; packages that offer nothing are left out."""
    modules = map(importlib.import_module, packages())
    names = {module.__name__: sorted(getattr(module, "__all__", [])) for module in modules}
    return {name: public for name, public in names.items() if public}


def as_toml(names: dict[str, list[str]]) -> str:
    """Format the names for ``public_names.toml``."""
    lines = ["# What others may build on. `python tests/public_names.py > tests/public_names.toml`"]
    for package, public in names.items():
        lines += [f'"{package}" = [', *(f"  {json.dumps(name)}," for name in public), "]"]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    print(as_toml(public_names()), end="")
