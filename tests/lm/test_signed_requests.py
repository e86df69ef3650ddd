"""Requests that are signed with AWS credentials, where there is no key (Bedrock).

The signature is computed here once more of what came over the wire, as AWS documents Signature
Version 4 (IAM user guide, "reference_sigv-create-signed-request", read 2026-11-23).
"""

from __future__ import annotations

import hashlib
import hmac
import re
from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

import pytest
from asking import ask, prompt_of
from fake_providers import says
from fake_service import Request
from provider_proofs import simulated

from cellwright.commands.doctor import checks
from cellwright.errors import LMAccessError
from cellwright.llm.capabilities import list_models
from cellwright.llm.openai import OpenAILM
from cellwright.providers import PROVIDERS, signer_of
from cellwright.settings import Settings

BEDROCK = next(provider for provider in PROVIDERS if provider.signer)
OF_OPENAI = "-".join(["sk", "proj", "0123456789abcdef"])
SECRET = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY"
CREDENTIALS = {
    "AWS_ACCESS_KEY_ID": "AKIDEXAMPLE",
    "AWS_SECRET_ACCESS_KEY": SECRET,
    "AWS_SESSION_TOKEN": "a-token-of-the-session",
    "AWS_REGION": "eu-west-1",
    "AWS_EC2_METADATA_DISABLED": "true",
}


@pytest.fixture(autouse=True)
def _credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("botocore")
    for name, value in CREDENTIALS.items():
        monkeypatch.setenv(name, value)


def signature_of(request: Request, signed: str, scope: str) -> str:
    """What the signature of a request has to be."""
    parts = urlsplit(request.path)
    names = signed.split(";")
    headers = "".join(f"{name}:{' '.join(request.headers[name].split())}\n" for name in names)
    body = hashlib.sha256(request.raw).hexdigest()
    asked = "\n".join([request.method, parts.path, parts.query, headers, signed, body])
    told = hashlib.sha256(asked.encode()).hexdigest()
    text = "\n".join(["AWS4-HMAC-SHA256", request.headers["x-amz-date"], scope, told])
    key = f"AWS4{SECRET}".encode()
    for step in (*scope.split("/"), text):
        key = hmac.new(key, step.encode(), hashlib.sha256).digest()
    return key.hex()


def check(request: Request) -> None:
    """Hold a request against its signature."""
    pattern = r"AWS4-HMAC-SHA256 Credential=AKIDEXAMPLE/(\S+), SignedHeaders=(\S+), Signature=(\w+)"
    found = re.fullmatch(pattern, request.headers["authorization"])
    assert found is not None, request.headers["authorization"]
    scope, signed, signature = found.groups()
    assert scope.split("/")[1:] == ["eu-west-1", "bedrock-mantle", "aws4_request"]
    assert {"host", "x-amz-date", "x-amz-security-token"} <= set(signed.split(";"))
    assert request.headers["x-amz-security-token"] == CREDENTIALS["AWS_SESSION_TOKEN"]
    assert signature == signature_of(request, signed, scope)


@pytest.mark.parametrize("key", ["", OF_OPENAI])
def test_each_request_is_signed_where_there_is_no_key(key: str) -> None:
    """The key of another provider, which is taken where nothing else is found, is none."""
    with simulated(BEDROCK, [[says("Yes.")], [says("No.")]]) as played:
        settings = replace(played.settings, api_key=key, headers={"X-Team": "data"})
        lm = OpenAILM(settings)
        for _ in range(2):
            assert ask(lm, prompt_of("hi")).reply is not None
        lm.close()
        listed = list_models(settings)
        (told,) = [c for c in checks(Settings(service=settings)) if c.name == "key"]
    assert "signed" in told.text
    requests = [*played.service.requests, *played.service.other_requests]
    assert len(requests) > 3
    for request in requests:
        check(request)
        assert request.headers["x-team"] == "data"
        assert OF_OPENAI not in str(request.headers)
    assert listed == (settings.model,)


def test_its_own_key_goes_as_it_is() -> None:
    with simulated(BEDROCK, [[says("Yes.")]]) as played:
        lm = OpenAILM(played.settings)
        ask(lm, prompt_of("hi"))
        lm.close()
    assert played.service.requests[0].headers["authorization"] == "Bearer the-key"


def test_nobody_else_is_sent_a_signature() -> None:
    for provider in PROVIDERS:
        assert provider is BEDROCK or signer_of(provider.base_url, "") == ""
    assert signer_of("https://bedrock-runtime.us-east-1.amazonaws.com/openai/v1", "") != ""
    assert signer_of("https://amazonaws.com.example/openai/v1", "") == ""


@pytest.mark.parametrize("missing", ["AWS_SECRET_ACCESS_KEY", "AWS_REGION"])
def test_credentials_that_are_no_good_are_told_at_once(
    missing: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv(missing)
    assert_told(match="AWS")


def test_libraries_that_are_missing_are_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def find(name: str) -> Any:
        return None if name == "botocore" else real(name)

    from importlib import util

    real = util.find_spec
    monkeypatch.setattr(util, "find_spec", find)
    assert "bedrock" in assert_told(match="not installed").hint


def assert_told(match: str) -> LMAccessError:
    """The error of a request that cannot be signed; nothing is sent."""
    with simulated(BEDROCK, []) as played:
        lm = OpenAILM(replace(played.settings, api_key=""))
        with pytest.raises(LMAccessError, match=match) as caught:
            ask(lm, prompt_of("hi"))
        lm.close()
        assert played.service.requests == []
    return caught.value
