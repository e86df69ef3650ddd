"""What the kernels of a benchmark know of the environment that it was started in."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest
from bench.test_gateway_samples import TOKEN, served
from command_line import COMMAND

from cellwright.bench.results import samples_in
from cellwright.kernels.fresh import select_environment

HIDDEN = "swordfish"
"""Begins every value that no kernel may have."""
KEYS = {
    **{
        name: f"{HIDDEN}-{number:02d}-abcdefgh"
        for number, name in enumerate(
            (
                *("OPENAI_API_KEY", "CELLWRIGHT_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"),
                *("AZURE_OPENAI_API_KEY", "HF_TOKEN", "WANDB_API_KEY", "KAGGLE_KEY", "PGPASSWORD"),
                *("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN", "SENTRY_DSN"),
                *("GITHUB_TOKEN", "SLACK_BOT_TOKEN", "JUPYTERHUB_API_TOKEN", "JUPYTER_TOKEN"),
                *("CONDA_TOKEN", "SSH_AUTH_SOCK", "MY_OWN_THING", "XDG_COOKIE", "TF_API_KEY"),
            )
        )
    },
    "DATABASE_URL": f"postgres://me:{HIDDEN}-db@localhost/x",
    "HTTPS_PROXY": f"http://me:{HIDDEN}-proxy@127.0.0.1:9",
    "PIP_INDEX_URL": f"https://me:{HIDDEN}-pip@127.0.0.1:9/simple",
}
PLAIN = {"OMP_NUM_THREADS": "3", "LC_ALL": "C.UTF-8", "MPLBACKEND": "agg"}
LOOK = """
import json, os

def names(text):
    return sorted(part.partition("=")[0] for part in text.split("\\0") if "swordfish" in part)

def started_with(process_id):
    with open(f"/proc/{process_id}/environ", errors="replace") as environ:
        return names(environ.read())

own = "\\0".join(f"{name}={value}" for name, value in os.environ.items())
print(json.dumps({
    "environ": names(own),
    "own": started_with("self"),
    "parent": started_with(os.getppid()),
    "plain": {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "LC_ALL", "PATH")},
    "child": names(os.popen("env -0").read()),
}))
"""


def look(folder: Path, *options: str, environ: Mapping[str, str] | None = None) -> dict[str, Any]:
    """Run a benchmark whose one sample says what it finds."""
    suite = folder / "suite"
    suite.mkdir()
    sample = {"prompt": "Look.", "reference": [LOOK], "checks": [{"assert": "True"}]}
    (suite / "look.yaml").write_text(json.dumps(sample), encoding="utf-8")
    done = subprocess.run(
        [COMMAND, "bench", "run", suite, "--agent", "oracle", "-o", folder / "out", *options],
        env={**os.environ, **KEYS, **PLAIN, **(environ or {})},
        capture_output=True,
        text=True,
        check=False,
        timeout=110,
    )
    assert done.returncode == 0, done.stderr
    (recorded,) = samples_in(folder / "out" / "oracle" / "suite" / "runs.jsonl")
    found: dict[str, Any] = json.loads(recorded.cells[0].outputs[0]["text"])
    return found


@pytest.fixture
def cluster(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A Dask cluster whose worker was started with all the keys."""
    distributed = pytest.importorskip("distributed")
    for name, value in {**KEYS, **PLAIN}.items():
        monkeypatch.setenv(name, value)
    with distributed.LocalCluster(
        n_workers=1,
        threads_per_worker=1,
        processes=True,
        host="127.0.0.1",
        dashboard_address="127.0.0.1:0",
        worker_dashboard_address="127.0.0.1:0",
        silence_logs=50,
    ) as made:
        yield made.scheduler_address


@pytest.mark.kernel
@pytest.mark.parametrize("way", ["fresh", "fork"])
def test_a_kernel_here_has_none_of_the_keys(way: str, tmp_path: Path) -> None:
    found = look(tmp_path, "--kernels", way)
    assert (found["environ"], found["own"], found["child"]) == ([], [], [])
    if way == "fork":
        assert found["parent"] == [], "the warmed process was started with keys"
    assert found["plain"] == {
        "OMP_NUM_THREADS": "3",
        "LC_ALL": "C.UTF-8",
        "PATH": os.environ["PATH"],
    }


@pytest.mark.kernel
def test_a_kernel_on_a_worker_of_a_cluster_has_none_of_the_keys(
    cluster: str, tmp_path: Path
) -> None:
    found = look(tmp_path, "--executor", "dask", "--scheduler", cluster)
    assert (found["environ"], found["own"], found["child"]) == ([], [], [])
    assert found["plain"]["OMP_NUM_THREADS"] == "3"


@pytest.mark.kernel
def test_a_kernel_behind_a_gateway_forgets_the_gateways_keys(tmp_path: Path) -> None:
    with served(tmp_path, {**KEYS, **PLAIN}) as gateway:
        found = look(
            tmp_path,
            *("--gateway-url", gateway.url, "--env", "MY_OWN_THING"),
            environ={"CELLWRIGHT_GATEWAY_TOKEN": TOKEN},
        )
    assert (found["environ"], found["child"]) == (["MY_OWN_THING"], ["MY_OWN_THING"])
    assert found["plain"]["OMP_NUM_THREADS"] == "3"


@pytest.mark.kernel
def test_a_variable_that_the_person_names_is_passed_on_by_its_name_alone(tmp_path: Path) -> None:
    found = look(tmp_path, "--env", "MY_OWN_THING", "--env", "HF_TOKEN")
    assert found["environ"] == found["child"] == ["HF_TOKEN", "MY_OWN_THING"]
    plan = (tmp_path / "out" / "config.yaml").read_text()
    assert "MY_OWN_THING" in plan
    assert HIDDEN not in plan


def test_what_kernels_need_is_passed_on() -> None:
    needed = {
        **{"PATH": "/bin", "Path": "C:\\Windows", "HOME": "/home/me", "TMPDIR": "/tmp"},
        **{"SystemRoot": "C:\\Windows", "http_proxy": "http://127.0.0.1:3128", "LANG": "C"},
        **{"VIRTUAL_ENV": "/venv", "CONDA_PREFIX": "/conda", "PYTHONPATH": "/x"},
        **{"JUPYTER_PATH": "/share", "CUDA_VISIBLE_DEVICES": "0", "LD_LIBRARY_PATH": "/lib"},
        **{"SSL_CERT_FILE": "/certs", "NO_PROXY": "localhost", "LC_CTYPE": "C", "TZ": "UTC"},
    }
    assert select_environment({**needed, **KEYS}) == needed
