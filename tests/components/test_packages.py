"""Import names, distribution names and what installers print."""

from __future__ import annotations

import pytest

from cellwright.agent.policy import Policy
from cellwright.errors import ToolError
from cellwright.record.outputs import ErrorOutput
from cellwright.settings import MODES, from_env
from cellwright.tools.cell_running import SeenCells
from cellwright.tools.packages import (
    checked_requirement,
    distribution_of,
    install_failure,
    installed_version,
    is_installable,
    missing_module_hint,
)
from cellwright.tools.standard import InstallPackage


@pytest.mark.parametrize(
    ("module", "distribution"),
    [
        ("sklearn", "scikit-learn"),
        ("sklearn.linear_model", "scikit-learn"),
        ("cv2", "opencv-python-headless"),
        ("PIL", "Pillow"),
        ("yaml", "PyYAML"),
        ("bs4", "beautifulsoup4"),
        ("skimage", "scikit-image"),
        ("dateutil", "python-dateutil"),
        ("google.protobuf.text_format", "protobuf"),
        ("polars", "polars"),
        ("polars.io", "polars"),
    ],
)
def test_a_module_is_known_by_the_distribution_that_has_it(module: str, distribution: str) -> None:
    assert distribution_of(module) == distribution


@pytest.mark.parametrize(
    ("module", "hint"),
    [
        ("sklearn", 'install_package("scikit-learn") would add it.'),
        ("polars", 'install_package("polars") would add it, if that is the package meant.'),
        ("google.protobuf", 'install_package("protobuf") would add it.'),
        ("pandas.nosuch", "pandas is there, but has no 'pandas.nosuch'"),
        ("utils", "Is 'utils' a file of this project?"),
        ("utils.text", "Is 'utils' a file of this project?"),
        ("_private", "Is '_private' a file of this project?"),
        ("distutils", 'distutils was removed from newer Pythons. install_package("setuptools")'),
        ("imp", "imp was removed from newer Pythons."),
        ("sqlite3", ""),
    ],
)
def test_a_missing_module_gets_a_hint_that_fits(module: str, hint: str) -> None:
    said = missing_module_hint(ErrorOutput("ModuleNotFoundError", f"No module named {module!r}"))
    assert said.startswith(hint)
    assert bool(said) == bool(hint)


def test_a_module_that_shadows_a_package_gets_no_advice_to_install() -> None:
    error = ErrorOutput(
        "ModuleNotFoundError", "No module named 'pandas.core'; 'pandas' is not a package"
    )
    assert "install_package" not in missing_module_hint(error)


@pytest.mark.parametrize(
    "error",
    [
        ErrorOutput("ImportError", "attempted relative import with no known parent package"),
        ErrorOutput("ModuleNotFoundError", "something else"),
        ErrorOutput("NameError", "No module named 'x'"),
    ],
)
def test_other_errors_get_no_hint(error: ErrorOutput) -> None:
    assert missing_module_hint(error) == ""


@pytest.mark.parametrize(
    ("asked", "given"),
    [
        ("sklearn", "scikit-learn"),
        (" pandas ", "pandas"),
        ("pandas>=2.2,<3", "pandas>=2.2,<3"),
        ("yaml==6.0", "PyYAML==6.0"),
        ("uvicorn[standard]", "uvicorn[standard]"),
    ],
)
def test_a_package_is_asked_for_by_either_name(asked: str, given: str) -> None:
    assert checked_requirement(asked) == given


@pytest.mark.parametrize(
    "asked",
    [
        "",
        "--index-url=http://x y",
        "-r requirements.txt",
        "git+https://host/x",
        "./local",
        "a b",
        "x; rm -rf ~",
        'x"$(id)',
        "pandas @ file:///x",
    ],
)
def test_options_paths_addresses_and_commands_are_no_package_names(asked: str) -> None:
    with pytest.raises(ToolError, match="is not a package name"):
        checked_requirement(asked)


@pytest.mark.parametrize(
    ("printed", "installed"),
    [
        (
            "Collecting x\nSuccessfully installed joblib-1.4 scikit_learn-1.5.2\n",
            "scikit_learn 1.5.2",
        ),
        ("Requirement already satisfied: scikit-learn in /x/lib (1.5.2)\n", "scikit-learn 1.5.2"),
        ("Requirement already satisfied: scikit-learn>=1 in /x/lib (1.5.2)", "scikit-learn 1.5.2"),
        ("Installed 1 package in 3ms\n + scikit-learn==1.5.2\n", "scikit-learn 1.5.2"),
        ("Audited 1 package in 3ms", "scikit-learn"),
        ("Successfully installed joblib-1.4", ""),
        ("ERROR: no", ""),
    ],
)
def test_what_was_installed_is_read_from_pip_and_from_uv(printed: str, installed: str) -> None:
    assert installed_version("scikit-learn>=1", printed) == installed


@pytest.mark.parametrize(
    ("printed", "reason"),
    [
        ("error: externally-managed-environment", "PEP 668"),
        ("/usr/bin/python: No module named pip", "has no pip"),
        (
            "WARNING: Retrying ... NewConnectionError('Temporary failure in name resolution')\n"
            "ERROR: No matching distribution found for x",
            "is there a network?",
        ),
        ("ERROR: No matching distribution found for nosuch", "no such package"),
        ("ERROR: [Errno 13] Permission denied: '/usr'", "read-only"),
        ("ERROR: ResolutionImpossible", "conflict"),
        ("ERROR: something new", "see its output"),
        ("all good", ""),
    ],
)
def test_a_failed_installation_says_why_and_what_to_do(printed: str, reason: str) -> None:
    said = install_failure(printed)
    assert reason in said
    assert bool(said) == bool(reason)


@pytest.mark.parametrize(
    ("name", "is_listed"),
    [
        ("pandas", True),
        ("Pandas >= 2.2", True),
        ("sklearn", True),
        ("scikit_learn", True),
        ("pandas[excel]", False),
        ("dask[dataframe]", True),
        ("dask", False),
        ("numpy", False),
        ("numpy>=2", True),
        ("numpy>=1", False),
        ("pandas-profiling", False),
        ("pandas --index-url http://evil.test", False),
        ("git+https://evil.test/pandas", False),
        ("", False),
    ],
)
def test_a_package_is_on_a_list_by_its_name_or_as_it_stands_there(
    name: str, *, is_listed: bool
) -> None:
    allowed = ("pandas", "scikit-learn", "dask[dataframe]", "numpy>=2")
    assert is_installable(name, allowed) is is_listed


def test_only_mode_auto_installs_unasked_and_only_what_is_listed() -> None:
    tool = InstallPackage(SeenCells())
    given = {"name": "pandas"}
    kinds = {mode: Policy(mode, installable=("pandas",)).decide(tool, given).kind for mode in MODES}
    assert kinds == {"plan": "refuse", "ask": "refuse", "edits": "refuse", "auto": "allow"}
    refused = Policy("auto", installable=("pandas",)).decide(tool, {"name": "left-pad"})
    assert (refused.kind, "may install: pandas." in refused.reason) == ("refuse", True)
    assert Policy("auto").decide(tool, given).kind == "refuse"
    assert from_env({"CELLWRIGHT_ALLOW_INSTALL": " pandas  numpy>=2 "}).installable == (
        "pandas",
        "numpy>=2",
    )
    assert not is_installable("pandas", ("-r evil.txt",))
    # What is no package takes nothing away from the others, and no other mode names the list.
    assert is_installable("pandas", ("a,b", "pandas"))
    elsewhere = Policy("edits", installable=("pandas",)).decide(tool, given)
    assert "may install" not in elsewhere.reason
