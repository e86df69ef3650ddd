"""What is installed around us: which distribution of ours, and what one feature needs.

The same packages come as ``cellwright``, with the server and the panel, and as
``cellwright-kernel``, without. An environment holds one of the two.
"""

from __future__ import annotations

from cellwright.errors import SetupError

DISTRIBUTIONS = ("cellwright", "cellwright-kernel")
"""The whole one first."""


def find_distributions() -> tuple[str, ...]:
    """Name those of our distributions that are installed; two are one too many."""
    from importlib.metadata import PackageNotFoundError, distribution

    found = []
    for name in DISTRIBUTIONS:
        try:
            distribution(name)
        except PackageNotFoundError:
            continue
        found.append(name)
    return tuple(found)


def install_hint(extra: str) -> str:
    """Say how to install what one feature needs: an extra of the distribution that is here."""
    name = (find_distributions() or DISTRIBUTIONS)[0]
    return f"Install it: pip install '{name}[{extra}]'."


def missing_extra(text: str, extra: str) -> SetupError:
    """Make the error to raise where the library of one feature is not installed.

    Args:
        text: What cannot be done without which library.
        extra: The extra that brings the library.
    """
    return SetupError(text, hint=install_hint(extra))
