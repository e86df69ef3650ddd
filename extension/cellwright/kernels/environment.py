"""The part of an environment that a kernel for other people's tasks is given.

What is not on the list is left out: of variables that nobody has heard of, some hold keys. What
is on it and is called a secret, or is an address with a password, is left out too.

What this does not protect against: a kernel runs with the rights of the person who started it. It
can read their files, and on Linux the environment that the programs above it were started with
(``/proc/PID/environ``).
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping

PASSED_ON = (
    r"(?i:"
    # The system: where things are, and in which language it speaks.
    r"PATH|HOME|USER|LOGNAME|SHELL|TERM|COLUMNS|LINES|LANG|LANGUAGE|LC_\w+|TZ|TMPDIR|TMP|TEMP"
    r"|(?:LD|DYLD|XDG)_\w+|SYSTEM(?:ROOT|DRIVE)|WINDIR|COMSPEC|PATHEXT|(?:LOCAL)?APPDATA"
    r"|USERPROFILE|HOMEDRIVE|HOMEPATH|PROGRAM(?:DATA|FILES)|NUMBER_OF_PROCESSORS|PROCESSOR_\w+"
    # Python, its environments, and Jupyter.
    r"|PYTHON\w*|VIRTUAL_ENV|CONDA_\w+|JUPYTER_\w+|IPYTHON\w*|KERNEL_\w+|COVERAGE_\w+"
    r"|JPY_(?:PARENT_PID|SESSION_NAME|INTERRUPT_EVENT)"
    # What libraries compute and draw with.
    r"|(?:ARROW|BLIS|CUDA|GOTO|HIP|KMP|MALLOC|MKL|MPL|NPY|NUMBA|NUMEXPR|NUMPY|NVIDIA|OMP|OPENBLAS"
    r"|PANDAS|POLARS|RAYON|ROCR|TF|TORCH|VECLIB)_\w+|MPLBACKEND|MPLCONFIGDIR|JAVA_HOME|R_HOME"
    # How the network is reached.
    r"|(?:HTTPS?|ALL|NO|FTP)_PROXY|SSL_CERT_(?:FILE|DIR)|(?:REQUESTS|CURL)_CA_BUNDLE"
    r")"
)
"""Names that are passed on, as a regular expression for the whole name."""
HELD_BACK = (
    r"(?i:(?:^|_)(?:PASS|PASSWD|PASSWORD|PASSPHRASE|PWD|SECRETS?|TOKENS?|(?:API)?KEYS?|DSN|AUTH"
    r"|PAT|COOKIE|CREDENTIALS?)(?:_|$))"
)
"""Finds the names among them that are held back all the same."""
HAS_PASSWORD = re.compile(r"://[^/\s]*@")


def select_environment(
    environ: Mapping[str, str] | None = None, named: Iterable[str] = ()
) -> dict[str, str]:
    """What a kernel is given of an environment.

    Args:
        environ: The whole; ours by default.
        named: Names that the person wants passed on whatever they are.
    """
    wanted = frozenset(named)
    found = os.environ if environ is None else environ
    return {
        name: value for name, value in found.items() if name in wanted or _is_plain(name, value)
    }


def _is_plain(name: str, value: str) -> bool:
    return (
        re.fullmatch(PASSED_ON, name) is not None
        and re.search(HELD_BACK, name) is None
        and HAS_PASSWORD.search(value) is None
    )
