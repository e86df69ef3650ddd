"""``cellwright mcp``: the notebook's tools for Claude Code, Codex, Cursor and the like."""

from __future__ import annotations

import argparse
import os
import signal
import sys
from pathlib import Path
from typing import BinaryIO

from cellwright.commands import COMPLETED, Invocation
from cellwright.commands.mcp_room import FileRoom, RoomParts
from cellwright.commands.records import make_redactor, open_store
from cellwright.mcp_server.bridge import Bridge, address_of
from cellwright.mcp_server.conversing import own_sources
from cellwright.mcp_server.session import Session
from cellwright.mcp_server.stdio import serve, writer
from cellwright.session.standard_sources import Sources


def mcp(invocation: Invocation) -> int:
    """Serve one client over stdin and stdout until it closes them."""
    options = invocation.options
    # A client that ends us ends us in order: the run, then the kernel.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    if options.kernel_of:
        _bridge(invocation, options)
    else:
        _serve(invocation, options)
    return COMPLETED


def _bridge(invocation: Invocation, options: argparse.Namespace) -> None:
    """Hand all on to a Jupyter server, where the notebook is open."""
    token = os.environ.get(options.token_env, "")
    parameters = {"notebook": options.notebook, "mode": options.mode or ""}
    address = address_of(options.kernel_of, token, parameters)
    if not token:
        invocation.console.note(f"cellwright: {options.token_env} is not set, so no token is sent.")
    inp, out = own_streams()
    bridge = Bridge(address, writer(out))
    try:
        serve(inp, bridge.receive)
    finally:
        bridge.close()


def _serve(invocation: Invocation, options: argparse.Namespace) -> None:
    """Work here: in a file, with a kernel of our own."""
    settings = invocation.settings
    with open_store(invocation) as store:
        parts = RoomParts(
            settings,
            options.mode or settings.mode,
            store,
            make_redactor(settings),
            own_sources(Sources().of(store.database, settings)),
            options.kernel,
        )
        session = Session(FileRoom(_path(options.notebook), parts))
        inp, out = own_streams()
        send = writer(out)
        try:
            serve(inp, lambda line: session.receive(line, send))
        finally:
            session.close()


def own_streams() -> tuple[BinaryIO, BinaryIO]:
    """Stdin and stdout for the protocol alone: what else is printed goes to stderr."""
    inp = os.fdopen(os.dup(sys.stdin.fileno()), "rb")
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(sys.stderr.fileno(), sys.stdout.fileno())
    with open(os.devnull, "rb") as nothing:
        os.dup2(nothing.fileno(), sys.stdin.fileno())
    return inp, out


def _path(name: str) -> Path | None:
    return Path(name).expanduser() if name else None
