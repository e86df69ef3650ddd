"""The ``%agent`` magics: ``%load_ext cellwright_magics``."""

from __future__ import annotations

import atexit
from typing import TYPE_CHECKING

from cellwright_magics.magics import AgentMagics, keep_question_marks

if TYPE_CHECKING:
    from IPython.core.interactiveshell import InteractiveShell

NAME = "AgentMagics"


def load_ipython_extension(ipython: InteractiveShell) -> None:
    """Register the magics with the running IPython; twice does no more than once."""
    if NAME in ipython.magics_manager.registry:
        return
    magics = AgentMagics(ipython)
    ipython.register_magics(magics)
    magics.install_completion()
    ipython.input_transformers_cleanup.append(keep_question_marks)
    ipython.input_transformers_cleanup.append(magics.easels.leave_out_replaced)
    magics.easels.listen(ipython)
    atexit.register(magics.close)


def unload_ipython_extension(ipython: InteractiveShell) -> None:
    """Take the magics out again and close what they opened."""
    magics = ipython.magics_manager.registry.pop(NAME, None)
    if magics is None:
        return
    for kind in ("line", "cell"):
        ipython.magics_manager.magics[kind].pop("agent", None)
    magics.uninstall_completion()
    for transform in (keep_question_marks, magics.easels.leave_out_replaced):
        ipython.input_transformers_cleanup.remove(transform)
    atexit.unregister(magics.close)
    magics.close()
