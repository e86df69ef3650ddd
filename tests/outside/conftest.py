"""What tests of outside tools share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from outside.http_service import HttpService, http_service


@pytest.fixture
def service() -> Iterator[HttpService]:
    with http_service() as running:
        yield running
