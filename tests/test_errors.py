import inspect

import pytest

from cellwright import errors
from cellwright.errors import (
    CellwrightError,
    LMError,
    LMRateLimitError,
    LMRequestError,
    RunCancelled,
)

DEFINED = dict(inspect.getmembers(errors, inspect.isclass))
CLASSES = [cls for name, cls in DEFINED.items() if name != "RunCancelled"]


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_every_error_names_the_culprit_and_says_what_to_do(cls: type[CellwrightError]) -> None:
    error = cls("The value 'x' is wrong.", hint="Use another.")
    assert isinstance(error, CellwrightError)
    assert str(error) == "The value 'x' is wrong. Use another."
    assert (error.message, error.hint) == ("The value 'x' is wrong.", "Use another.")


def test_the_tree_on_top_of_the_file_names_every_class() -> None:
    tree = errors.__doc__ or ""
    assert [name for name in DEFINED if name not in tree] == []


@pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)
def test_a_hint_is_optional(cls: type[CellwrightError]) -> None:
    assert str(cls("Failed.")) == "Failed."


def test_service_errors_say_whether_trying_again_can_help() -> None:
    retryable = {c.__name__ for c in CLASSES if issubclass(c, LMError) and c.retryable}
    assert retryable == {
        "LMConnectionError",
        "LMStreamError",
        "LMTimeoutError",
        "LMRateLimitError",
        "LMServerError",
    }


def test_details_of_the_service_are_kept() -> None:
    assert LMRateLimitError("Wait.", retry_after_seconds=3).retry_after_seconds == 3
    assert LMRateLimitError("Wait.").status == 429
    assert LMRequestError("No.", parameter="temperature").parameter == "temperature"
    assert RunCancelled().reason == "stopped by the user"
