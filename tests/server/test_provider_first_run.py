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
        wanted = {"base_url": played.base_url, "api_key": "the-key-of-a-test"}
        listed = (await client.call("POST", "models", wanted)).json["models"]
        assert len(listed) == bool(provider.models_path)
        chosen = {**wanted, "model": listed[0] if listed else "typed-by-hand"}
        checks = (await client.call("POST", "service/test", {**chosen, "send": True})).json
        assert [check for check in checks if check["status"] == "blocked"] == []
        state = (await client.call("PUT", "service", chosen)).json
    assert (state["model"], state["has_key"], state["is_demo"]) == (chosen["model"], True, False)
    prove(provider, "first run")
