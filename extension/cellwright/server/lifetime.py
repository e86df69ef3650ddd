"""What the server asks of an extension while it runs and when it stops."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from jupyter_server.extension.application import ExtensionApp

from cellwright.server.first_request import FirstRequest

if TYPE_CHECKING:
    from jupyter_server.serverapp import ServerApp

CLOSE_SECONDS = 10.0


class Lifetime(ExtensionApp):
    """Keeps a server alive while an agent works, and lets go of everything when it stops."""

    name = "cellwright"
    routes: FirstRequest | None = None

    def current_activity(self) -> bool | None:
        """Whether an agent works; a server that stops for want of activity then waits."""
        application = self.routes.application if self.routes is not None else None
        if application is None:
            return False
        working = (application.live, application.hand_runs)
        return any(each is not None and each.is_busy for each in working)

    async def stop_extension(self) -> None:
        """Stop runs and threads, close files; a service that does not answer is not waited for."""
        application = self.routes.application if self.routes is not None else None
        if application is None:
            return
        closing = asyncio.get_running_loop().run_in_executor(None, application.close)
        try:
            await asyncio.wait_for(asyncio.shield(closing), CLOSE_SECONDS)
        except TimeoutError:
            self.log.warning("cellwright: something still runs; not waiting for it any more")


def end_with(server: ServerApp, routes: FirstRequest) -> None:
    """Let the routes be closed when the server stops."""
    lifetime = Lifetime()
    lifetime.routes = routes
    for point in server.extension_manager.extension_points.values():
        if point.module_name == __package__:
            # Only an extension that is an application is told of the end, and ours is named by
            # its module alone.
            point._app = lifetime
