"""``cellwright demo-server``: the demo model for any OpenAI client on this machine."""

from __future__ import annotations

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.terminal import stopping
from cellwright.demo.server import DemoServer
from cellwright.errors import RunCancelled, SetupError
from cellwright.session.services import DEMO_MODEL
from cellwright.stopping import Stop

WAIT_SECONDS = 3_600.0


def demo_server(invocation: Invocation) -> int:
    """Serve until Ctrl-C."""
    options, stop = invocation.options, Stop()
    server = DemoServer(port=options.port, delay_seconds=options.delay)
    with stopping(stop):
        try:
            url = server.start()
        except (OSError, OverflowError) as error:
            raise SetupError(
                f"Port {options.port!r} cannot be used: {error}.", hint="Choose another --port."
            ) from error
        try:
            _say(invocation, url)
            while True:
                stop.wait(WAIT_SECONDS)
        except RunCancelled:
            return COMPLETED
        finally:
            server.close()


def _say(invocation: Invocation, url: str) -> None:
    text = (
        f"{url} answers as {DEMO_MODEL}: rules, not a language model. Ctrl-C stops it.\n"
        f"OPENAI_BASE_URL={url} OPENAI_API_KEY=demo"
    )
    invocation.console.result({"base_url": url, "model": DEMO_MODEL}, text)
