"""AppBuilder's checker of components, over every tool of ours and over one made with ``@tool``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from foreign.servers import BIN, HERE

ENVIRONMENT = BIN.parent / "appbuilder"
"""Its own, for it wants old releases of what the others want new ones of."""
PACKAGES = ("appbuilder-sdk==1.1.5", "datamodel-code-generator==0.25.8")
"""Its checker needs the second one, which is said for another extra of it."""
BEHIND = """
import runpy, sys
script, packages = sys.argv[1:]
# Its schemas have a name where a URI belongs, which jsonschema sees where one of these is
# installed: in our environment one is, in AppBuilder's own none.
sys.modules.update(dict.fromkeys(("rfc3987", "rfc3986_validator", "rfc3987_syntax")))
sys.path.append(packages)
runpy.run_path(script, run_name="__main__")
"""
RULES = {
    "ManifestValidRule",
    "MainfestMatchToolEvalRule",
    "ToolEvalInputNameRule",
    "ToolEvalOutputJsonRule",
    "InitKwargsRule",
    "ToolEvalKwargsRule",
}


@pytest.fixture(scope="module")
def packages() -> Path:
    """The folder of its packages; installed where it is not there yet."""
    python = ENVIRONMENT / "bin" / "python"
    if not (ENVIRONMENT / "installed").exists():
        subprocess.run([sys.executable, "-m", "venv", ENVIRONMENT], check=True)
        words = [
            str(python),
            "-m",
            "pip",
            "install",
            "-q",
            "--disable-pip-version-check",
            *PACKAGES,
        ]
        subprocess.run(words, check=True, timeout=900)
        (ENVIRONMENT / "installed").touch()
    ask = "import sysconfig; print(sysconfig.get_path('purelib'))"
    return Path(subprocess.check_output([python, "-c", ask], text=True).strip())


def test_each_of_its_six_rules_passes_for_each_tool(packages: Path, tmp_path: Path) -> None:
    words = [sys.executable, "-c", BEHIND, str(HERE / "appbuilder_rules.py"), str(packages)]
    environ = {**os.environ, "PYTHONPATH": str(HERE.parent), "CELLWRIGHT_HOME": str(tmp_path)}
    ran = subprocess.run(words, capture_output=True, text=True, env=environ, timeout=300)
    assert ran.returncode == 0, ran.stderr[-2_000:]
    found = json.loads(ran.stdout)
    assert len(found) >= 24
    for name, said in found.items():
        assert said == dict.fromkeys(RULES, ""), name
