"""A small MCP server for tests, on the SDK's own: ``python mcp_sample_server.py stdio|http PORT``.

Runs on versions 1 and 2 of the SDK.
"""

from __future__ import annotations

import base64
import importlib
import os
import sys
from typing import Any

import mcp.types as types

try:
    sdk: Any = importlib.import_module("mcp.server.mcpserver")
except ImportError:  # version 1
    sdk = importlib.import_module("mcp.server.fastmcp")
Context: Any = sdk.Context
MCPServer: Any = getattr(sdk, "MCPServer", None) or sdk.FastMCP

PNG = base64.b64encode(
    base64.b64decode(
        "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E"
        "rkJggg=="
    )
).decode()


def image(data: str) -> Any:
    """A picture; the field has another name in each version, the wire's works in both."""
    return types.ImageContent.model_validate(
        {"type": "image", "data": data, "mimeType": "image/png"}
    )


def text(words: str, *audience: str) -> Any:
    annotations = {"audience": list(audience)} if audience else None
    return types.TextContent.model_validate(
        {"type": "text", "text": words, "annotations": annotations}
    )


def resource(uri: str, words: str) -> Any:
    inner = {"uri": uri, "mimeType": "text/plain", "text": words}
    return types.EmbeddedResource.model_validate({"type": "resource", "resource": inner})


def hints(**given: bool) -> Any:
    return types.ToolAnnotations.model_validate(given)


def make(**options: Any) -> Any:
    """The server; ``options`` are the SDK's."""
    server = MCPServer("sample", **options)

    @server.tool(annotations=hints(readOnlyHint=True), structured_output=False)
    def add(a: int, b: int) -> str:
        """Add two numbers."""
        return str(a + b)

    @server.tool(structured_output=False)
    def parts() -> list[Any]:
        """Say things of every kind."""
        return [
            text("for all"),
            text("for the person", "user"),
            text("for the model", "assistant"),
            image(PNG),
            resource("note://1", "a note"),
        ]

    @server.tool()
    def measure() -> dict[str, float]:
        """Measure."""
        return {"width": 2.5}

    @server.tool(annotations=hints(destructiveHint=True), structured_output=False)
    def fail(words: str) -> str:
        """Fail."""
        raise ValueError(words)

    @server.tool(structured_output=False)
    def variable(name: str) -> str:
        """An environment variable."""
        return os.environ.get(name, "not set")

    @server.tool(structured_output=False)
    def die() -> str:
        """End the server."""
        print("going down", file=sys.stderr, flush=True)
        os._exit(3)

    @server.tool(structured_output=False)
    async def slow(ctx: Context) -> str:
        """Take long."""
        import anyio

        await ctx.report_progress(1, 4, "a quarter")
        await anyio.sleep(30)
        return "done"

    @server.tool(structured_output=False)
    async def grow(ctx: Context) -> str:
        """Get one more tool."""

        def later() -> str:
            """Came later."""
            return "later"

        server.add_tool(later, structured_output=False)
        await ctx.session.send_tool_list_changed()
        return "grown"

    return server


def main() -> None:
    how = sys.argv[1]
    if how == "stdio":
        make().run("stdio")
        return
    import uvicorn

    app = make().streamable_http_app()
    uvicorn.run(app, host="127.0.0.1", port=int(sys.argv[2]), log_level="error")


if __name__ == "__main__":
    main()
