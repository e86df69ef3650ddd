"""A kernel of another language: it says what it is told (K30)."""

from __future__ import annotations

from typing import Any

from ipykernel.kernelapp import IPKernelApp
from ipykernel.kernelbase import Kernel


class EchoKernel(Kernel):
    implementation = "echo"
    implementation_version = "1"
    language = "echo"
    language_info = {"name": "echo", "version": "1.5", "mimetype": "text/plain"}
    banner = "echo"

    async def do_execute(self, code: str, silent: bool, *arguments: Any, **options: Any) -> Any:
        if not silent:
            content = {"name": "stdout", "text": code}
            self.send_response(self.iopub_socket, "stream", content)
        return {
            "status": "ok",
            "execution_count": self.execution_count,
            "payload": [{"source": "page", "data": {}}],
            "user_expressions": {},
        }


if __name__ == "__main__":
    IPKernelApp.launch_instance(kernel_class=EchoKernel)
