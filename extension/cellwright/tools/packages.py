"""From the name that is imported to the name that is installed, and what went wrong with it."""

from __future__ import annotations

import re
import sys
from collections.abc import Iterable, Sequence

from cellwright.errors import SetupError, ToolError
from cellwright.record.outputs import ErrorOutput

DISTRIBUTIONS = {
    "Bio": "biopython",
    "Crypto": "pycryptodome",
    "IPython": "ipython",
    "MySQLdb": "mysqlclient",
    "OpenSSL": "pyOpenSSL",
    "PIL": "Pillow",
    "PyPDF2": "PyPDF2",
    "attr": "attrs",
    "bs4": "beautifulsoup4",
    "community": "python-louvain",
    "cv2": "opencv-python-headless",
    "dateutil": "python-dateutil",
    "docx": "python-docx",
    "dotenv": "python-dotenv",
    "faiss": "faiss-cpu",
    "fitz": "PyMuPDF",
    "git": "GitPython",
    "github": "PyGithub",
    "google.cloud.bigquery": "google-cloud-bigquery",
    "google.cloud.storage": "google-cloud-storage",
    "google.protobuf": "protobuf",
    "graphviz": "graphviz",
    "igraph": "igraph",
    "jose": "python-jose",
    "jwt": "PyJWT",
    "kneed": "kneed",
    "ldap": "python-ldap",
    "magic": "python-magic",
    "mpl_toolkits.basemap": "basemap",
    "nacl": "PyNaCl",
    "osgeo": "GDAL",
    "pkg_resources": "setuptools",
    "pptx": "python-pptx",
    "psycopg2": "psycopg2-binary",
    "pywt": "PyWavelets",
    "rtree": "Rtree",
    "ruamel": "ruamel.yaml",
    "serial": "pyserial",
    "shapefile": "pyshp",
    "skimage": "scikit-image",
    "sklearn": "scikit-learn",
    "skopt": "scikit-optimize",
    "slugify": "python-slugify",
    "snappy": "python-snappy",
    "socks": "PySocks",
    "tables": "tables",
    "umap": "umap-learn",
    "usb": "pyusb",
    "websocket": "websocket-client",
    "win32com": "pywin32",
    "xgboost": "xgboost",
    "yaml": "PyYAML",
    "zmq": "pyzmq",
}
"""Where the two names differ, and where ``pip install`` of the import's name brings another or
no package (``sklearn`` fails on purpose)."""
REMOVED_FROM_PYTHON = {
    "distutils": "setuptools",
    "imp": "",
    "asyncore": "",
    "asynchat": "",
    "cgi": "",
}
OWN_NAMES = frozenset(
    ("app", "common", "config", "core", "data", "helpers", "lib", "main", "models", "my", "scripts")
    + ("settings", "src", "test", "tests", "tools", "utils")
)
"""What people call their own modules; packages of these names are not what they mean."""
MISSING = re.compile(r"^No module named '?(?P<module>[\w.]+)'?")
REQUIREMENT = re.compile(
    r"^[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?(?:\[[A-Za-z0-9._, -]+\])?"
    r"(?:\s*(?:[=!~<>]=|[<>])\s*[A-Za-z0-9.*+!_-]+(?:\s*,\s*(?:[=!~<>]=|[<>])\s*[A-Za-z0-9.*+!_-]+)*)?$"
)
FAILURES = (
    (
        re.compile(r"externally-managed-environment"),
        "This Python is managed by the system and refuses packages (PEP 668). "
        "Tell the person to use a virtual environment.",
    ),
    (
        re.compile(r"No module named pip|pip: (?:command )?not found"),
        "This Python has no pip. Tell the person to install the package.",
    ),
    (
        re.compile(
            r"NewConnectionError|Temporary failure in name resolution|Network is unreachable|"
            r"getaddrinfo failed|Failed to establish a new connection|ConnectTimeoutError|"
            r"ProxyError|Connection refused|dns error|error sending request"
        ),
        "The package index cannot be reached; is there a network? Go on without the package.",
    ),
    (
        re.compile(r"No matching distribution found|not found in the package registry"),
        "The package index has no such package for this Python, or cannot be reached. "
        "Check the name.",
    ),
    (re.compile(r"Permission denied|Access is denied"), "The environment's folder is read-only."),
    (re.compile(r"ResolutionImpossible|conflicting dependencies"), "Its requirements conflict."),
    (re.compile(r"^ERROR: |^error: |× ", re.MULTILINE), "The installer failed; see its output."),
)


def distribution_of(module: str) -> str:
    """The distribution that provides a module, by its longest name in the table."""
    parts = module.split(".")
    for length in range(len(parts), 0, -1):
        found = DISTRIBUTIONS.get(".".join(parts[:length]))
        if found:
            return found
    return parts[0]


def missing_module_hint(error: ErrorOutput) -> str:
    """What to do about a module that is not there; empty for any other error."""
    match = MISSING.match(error.evalue) if error.ename == "ModuleNotFoundError" else None
    if match is None:
        return ""
    module = match["module"]
    top = module.partition(".")[0]
    if top in REMOVED_FROM_PYTHON:
        instead = REMOVED_FROM_PYTHON[top]
        add = f' install_package("{instead}") brings it back.' if instead else ""
        return f"{top} was removed from newer Pythons.{add}"
    if top in OWN_NAMES or top.startswith("_"):
        return f"Is {top!r} a file of this project? Check the folder and sys.path."
    if module != top and module not in DISTRIBUTIONS:
        return f"{top} is there, but has no {module!r}: another version, or a file of that name?"
    if top in sys.stdlib_module_names:
        return ""
    name = distribution_of(module)
    sure = "" if module in DISTRIBUTIONS else ", if that is the package meant"
    return f'install_package("{name}") would add it{sure}.'


def checked_requirement(name: str) -> str:
    """``name`` as something the installer may be given: a package, perhaps with versions.

    Raises:
        ToolError: It is an option, a path, an address or more than one package.
    """
    wanted = name.strip()
    if not REQUIREMENT.match(wanted):
        raise ToolError(
            f"{name!r} is not a package name.",
            hint='Give one name, such as "scikit-learn" or "pandas>=2.2"; no options or addresses.',
        )
    bare = re.split(r"[\[=!~<>\s]", wanted, maxsplit=1)[0]
    return DISTRIBUTIONS.get(bare, bare) + wanted[len(bare) :]


def check_allowed(names: Sequence[str]) -> tuple[str, ...]:
    """The packages that may be installed where nobody is asked.

    Raises:
        SetupError: One is no package.
    """
    try:
        for name in names:
            checked_requirement(name)
    except ToolError as error:
        raise SetupError(error.message, hint=error.hint) from error
    return tuple(name.strip() for name in names)


def is_installable(name: str, allowed: Iterable[str]) -> bool:
    """Whether a list of packages has one: as it is written there, or in any version.

    An extra brings more packages along, so it has to stand in the list. What is no package in it
    takes nothing away from the others.
    """
    try:
        wanted = _canonical(name)
    except ToolError:
        return False
    listed = {_canonical(entry) for entry in allowed if REQUIREMENT.match(entry.strip())}
    return wanted in listed or re.split(r"[=!~<>]", wanted, maxsplit=1)[0] in listed


def _canonical(name: str) -> str:
    """A requirement as it is compared: PEP 503's name, no spaces."""
    wanted = re.sub(r"\s", "", checked_requirement(name))
    bare = re.split(r"[\[=!~<>]", wanted, maxsplit=1)[0]
    return re.sub(r"[-_.]+", "-", bare).lower() + wanted[len(bare) :]


def install_failure(output: str) -> str:
    """Why an installer failed, from what it printed; empty when it did not."""
    return next((words for pattern, words in FAILURES if pattern.search(output)), "")


def installed_version(requirement: str, output: str) -> str:
    """Name and version of the package as pip or uv report it; empty when they do not."""
    bare = re.split(r"[\[=!~<>\s]", requirement, maxsplit=1)[0]
    name = r"[-_.]+".join(map(re.escape, re.split(r"[-_.]+", bare)))
    reports = (
        rf"^Successfully installed\b.*?\s(?P<name>{name})-(?P<version>\d\S*)",
        rf"^Requirement already satisfied: (?P<name>{name})\b.* in .*\((?P<version>[^()]+)\)",
        rf"^ *[+~] (?P<name>{name})==(?P<version>\S+)",
    )
    for report in reports:
        match = re.search(report, output, re.MULTILINE | re.IGNORECASE)
        if match:
            return f"{match['name']} {match['version']}"
    return bare if re.search(r"^Audited \d+ package", output, re.MULTILINE) else ""
