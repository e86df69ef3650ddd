"""Commands of installed packages: ``cellwright NAME WORD…`` and ``%agent /NAME WORD…``.

A plug-in is a function of a ``PluginCall``; what it returns is shown. It is written once and
serves both.
"""

from __future__ import annotations

from dataclasses import dataclass

from cellwright.commands import COMPLETED, Invocation
from cellwright.errors import SetupError
from cellwright.installation import COMMANDS, find_plugin
from cellwright.settings import Settings


@dataclass(frozen=True)
class PluginCall:
    """One call of a package's command."""

    words: tuple[str, ...]
    """What was written after its name."""
    settings: Settings
    """What is set, such as ``home``, the folder of the record."""


def call_command(name: str, call: PluginCall) -> object:
    """Run a package's command; what it returns.

    Raises:
        SetupError: It cannot be loaded, or it failed.
    """
    plugin = find_plugin(COMMANDS, name)
    if plugin is None:
        raise SetupError(f"No installed package has a command {name!r}.")
    return plugin.call(call)


def run_plugin(invocation: Invocation) -> int:
    """Run it from a command line."""
    options = invocation.options
    result = call_command(options.command, PluginCall(tuple(options.words), invocation.settings))
    invocation.console.result({"command": options.command, "result": result}, str(result))
    return COMPLETED
