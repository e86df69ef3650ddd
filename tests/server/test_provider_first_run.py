"""The panel's first run with each provider: its models, a test of the service, and it is chosen."""

from __future__ import annotations

import pytest
from fake_providers import calls
from provider_proofs import prove, simulated
from server_client import Client

from cellwright.providers import PROVIDERS, Provider

pytestmark = pytest.mark.server


@pytest.mark.parametrize("provider", PROVIDERS, ids=lambda provider: provider.name)
async def test_the_panels_first_run(
    client: Client, provider: Provider, monkeypatch: pytest.MonkeyPatch
) -> None:
    offered = (await client.call("GET", "providers")).json["providers"]
    assert provider.name in [row["name"] for row in offered]
    with simulated(provider, [[calls("ping", {"word": "hello"})]]) as played:
        monkeypatch.setenv("CELLWRIGHT_API", played.settings.api)
        first = await client.first_run(played.base_url, "the-key-of-a-test")
    assert len(first.models) == bool(provider.models_path)
    assert [check for check in first.checks if check["status"] == "blocked"] == []
    assert first.state["model"] == first.chosen["model"]
    assert (first.state["has_key"], first.state["is_demo"]) == (True, False)
    prove(provider.name, "first run")
