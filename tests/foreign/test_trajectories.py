"""Harbor's own models read the trajectories that we write."""

from __future__ import annotations

import base64
import subprocess
import sys
from pathlib import Path

import pytest
from foreign.servers import BIN
from recorded_runs import SYSTEM, analysis_run, called, record_of, replied, started, user

from cellwright.exports.formats import write_run
from cellwright.record.events import Event, ModelAsked
from cellwright.record.messages import AssistantMessage, ImagePart, TextPart, ToolMessage
from cellwright.text.redaction import Redactor

PNG = base64.b64encode(b"\x89PNG picture").decode()
READ = """
import json, sys
wheel, *paths = sys.argv[1:]
sys.path.insert(0, wheel)
from harbor.models.trajectories import Trajectory
for path in paths:
    found = Trajectory.model_validate(json.load(open(path)))
    print(len(found.steps), found.has_multimodal_content(), found.final_metrics.total_steps)
"""


def test_harbors_models_read_what_we_write(tmp_path: Path) -> None:
    wheels = sorted((BIN.parent / "harbor").glob("harbor-*.whl"))
    if not wheels:
        pytest.skip("make test-foreign downloads harbor")
    seen = ToolMessage("c1", "run_cell", (TextPart("a plot"), ImagePart("image/png", PNG)))
    looked: list[Event] = [
        started(),
        ModelAsked(1, (SYSTEM, user("Look"))),
        replied(called("c1")),
        ModelAsked(2, (seen,)),
        replied(AssistantMessage("Done.")),
    ]
    records = {"run": record_of(analysis_run()), "seen": record_of(looked)}
    paths = [
        str(write_run(record, "atif", tmp_path / f"{name}.json", Redactor({}))[0])
        for name, record in records.items()
    ]
    words = [sys.executable, "-c", READ, str(wheels[-1]), *paths]
    told = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (told.returncode, told.stdout) == (0, "6 False 6\n4 True 4\n"), told.stderr
