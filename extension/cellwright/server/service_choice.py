"""Which service, model and key a run uses: the environment, then what the person chose here.

A notebook has no say in it, nor in the mode (fault A24).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from cellwright.errors import SetupError
from cellwright.llm.keys import (
    KEY_FILE,
    KeyPlaces,
    KeySource,
    clean_key,
    key_hint,
    key_in,
    origin_of,
)
from cellwright.providers import (
    OLLAMA,
    OPENAI,
    PROVIDERS,
    VARIABLE,
    Provider,
    fill_in,
    find_provider,
    has_credentials,
    shown_url,
    usual_model,
)
from cellwright.server.configuration import Cellwright
from cellwright.settings import (
    ServiceSettings,
    Settings,
    check_parameters,
    from_env,
    normalise_base_url,
)


@dataclass(frozen=True)
class ServiceChoice:
    """The service that is used, and where the choice comes from."""

    model: str
    """Empty: whatever is found, the demo model at last."""
    base_url: str
    api_key: str = field(repr=False)
    key_source: KeySource = ""
    warnings: tuple[str, ...] = ()


@dataclass(frozen=True)
class ServiceChange:
    """What the person wants to be different; None: left as it is."""

    model: str | None = None
    base_url: str | None = None
    api_key: str | None = field(default=None, repr=False)
    """Empty: forget it."""
    parameters: Mapping[str, Any] | None = None
    """Sent with each request, in place of all that were before."""


@dataclass(frozen=True)
class ProviderOffer:
    """A provider that the person may choose here."""

    name: str
    base_url: str
    """Empty: the person has to name it."""
    example: str
    """What its address looks like."""
    model: str
    """The usual one; empty: there is none."""
    needs_key: bool
    has_key: bool
    is_key_set: bool
    """The environment has its key, so that no other can be given here."""
    port: int
    """On which it listens where it is a program of one's own; 0: it is none."""
    models: tuple[str, ...] | None = None
    """Those of a server that runs on this machine; null: none was found."""
    has_credentials: bool = False
    """Its requests are signed with credentials that were found here, so it needs no key."""


NO_CHANGE = ServiceChange()


class ServiceChooser:
    """Merges environment, administrator and person.

    Args:
        configuration: What the administrator set.
        environ: The server's environment.
        keys: Where keys are kept; None: in the home folder, or the keyring.
    """

    def __init__(
        self,
        configuration: Cellwright,
        environ: Mapping[str, str] | None = None,
        keys: KeyPlaces | None = None,
    ) -> None:
        self._configuration = configuration
        self.environ = os.environ if environ is None else environ
        self.keys = keys or KeyPlaces(self.home() / KEY_FILE)

    def home(self) -> Path:
        """The folder of the record, whatever else the environment says."""
        named = self.environ.get("CELLWRIGHT_HOME")
        otherwise = Path(named).expanduser() if named else Settings().home
        return self._configuration.home_folder(otherwise)

    def settings(self, change: ServiceChange = NO_CHANGE) -> Settings:
        """Everything that a run of this server uses.

        Args:
            change: What is to be different, without being kept.

        Raises:
            SetupError: The environment or the change cannot be used, or an administrator forbids
                what is set.
        """
        found = from_env(self.environ)
        choice = self._changed(found, change)
        for check, value in self._checks(choice):
            check(value)
        return self._with(found, choice, change.parameters)

    def offers(self) -> tuple[ProviderOffer, ...]:
        """The providers that may be chosen here, in the order of the table.

        Raises:
            SetupError: The environment cannot be used.
        """
        found = from_env(self.environ)
        urls = {provider.name: fill_in(provider.base_url, self.environ) for provider in PROVIDERS}
        if found.ollama_url:
            urls[OLLAMA.name] = f"{found.ollama_url}/v1"
        offers = [
            self._offer(found, provider, urls[provider.name])
            for provider in PROVIDERS
            if self._may_choose(found, urls[provider.name])
        ]
        chosen = self._chosen(found).base_url
        others = {} if any(offer.base_url == chosen for offer in offers) else {chosen: None}
        for endpoint in map(normalise_base_url, self._configuration.endpoints):
            if not any(offer.base_url.startswith(endpoint.removesuffix("/v1")) for offer in offers):
                others[endpoint] = None
        named = [self._offer(found, find_provider(url), url) for url in others if url]
        return (*offers, *named)

    @property
    def may_name_any(self) -> bool:
        """Whether any address may be chosen, and not only those that are offered.

        Raises:
            SetupError: The environment cannot be used.
        """
        found = from_env(self.environ)
        is_set = found.source.get("base_url", "default") != "default"
        return not (is_set or self._configuration.endpoints)

    @property
    def set_model(self) -> str:
        """The model that the environment sets, so that no other can be chosen; empty: none.

        Raises:
            SetupError: The environment cannot be used.
        """
        found = from_env(self.environ)
        is_set = found.source.get("model", "default") != "default"
        return found.service.model if is_set else ""

    @property
    def may_look_around(self) -> bool:
        """Whether servers of models on this machine may be looked for.

        Raises:
            SetupError: The environment cannot be used.
        """
        return bool(from_env(self.environ).ollama_url)

    def choice(self) -> ServiceChoice:
        """What would be used, with all that is wrong with it in words."""
        try:
            found = from_env(self.environ)
        except SetupError as error:
            return ServiceChoice("", "", "", warnings=(str(error),))
        choice = self._chosen(found)
        warnings = [*choice.warnings, *self._refusals(choice)]
        both = sorted(set(self.keys.parameters()) & set(found.service.parameters))
        if both:
            names = ", ".join(both)
            warnings.append(
                f"Whoever started this server set {names}; the choice here is not used."
            )
        if self.keys.complaint():
            warnings.append(self.keys.complaint())
        hint = key_hint(choice.api_key, choice.base_url)
        return replace(choice, warnings=tuple([*warnings, hint] if hint else warnings))

    def unchecked_settings(self) -> Settings:
        """Settings for what needs no service, such as mode and limits; never fails."""
        try:
            found = from_env(self.environ)
        except SetupError:
            found = Settings()
        return self._with(found, ServiceChoice("", "", ""), {})

    def change(self, change: ServiceChange) -> None:
        """Keep what the person chose.

        Raises:
            SetupError: It cannot be used, or the environment has decided already.
            StoreError: It cannot be kept.
        """
        found = from_env(self.environ)
        choices: dict[str, str | Mapping[str, Any]] = {}
        if change.parameters is not None:
            choices["parameters"] = check_parameters(change.parameters)
        if change.base_url is not None:
            choices["base_url"] = self._wanted_url(found, change.base_url)
        if change.model is not None:
            choices["model"] = self._wanted_model(found, change.model)
        key = None if change.api_key is None else clean_key(change.api_key)
        if key is None:
            if choices:
                self.keys.choose(**choices)
            return
        wanted = str(choices.get("base_url", ""))
        base_url = wanted or self._chosen(found).base_url or OPENAI.base_url
        _check_address(base_url)
        self._configuration.check_endpoint(base_url)
        self._check_key_is_ours(found, base_url, key)
        self.keys.keep_key(origin_of(base_url), key)
        if choices:
            self.keys.choose(**choices)

    def _changed(self, found: Settings, change: ServiceChange) -> ServiceChoice:
        """What would be used after a change."""
        choice = self._chosen(found)
        base_url, key, source, model = (
            choice.base_url,
            choice.api_key,
            choice.key_source,
            choice.model,
        )
        if change.base_url is not None:
            base_url = self._wanted_url(found, change.base_url)
        if base_url != choice.base_url:
            model = usual_model(base_url)
        if origin_of(base_url) != origin_of(choice.base_url):
            key, source = self._key(found, base_url, [])
        if change.api_key is not None:
            key, source = clean_key(change.api_key), ""
            self._check_key_is_ours(found, base_url, key)
        if change.model is not None:
            model = self._wanted_model(found, change.model)
        return ServiceChoice(model, base_url, key, source)

    def _may_choose(self, found: Settings, base_url: str) -> bool:
        try:
            self._wanted_url(found, base_url)
        except SetupError:
            return False
        return bool(base_url) or self.may_name_any

    def _offer(self, found: Settings, provider: Provider, base_url: str) -> ProviderOffer:
        origin = origin_of(base_url)
        is_key_set = bool(origin) and bool(self._set_key(found, base_url))
        return ProviderOffer(
            name=provider.name or urlsplit(shown_url(base_url)).netloc,
            base_url=shown_url(base_url),
            example=VARIABLE.sub("…", provider.base_url),
            model=self._allowed(fill_in(provider.model, self.environ)),
            needs_key=bool(provider.hosts),
            has_key=is_key_set or self.keys.has_key(origin),
            is_key_set=is_key_set,
            port=provider.port,
            has_credentials=has_credentials(provider, self.environ, Path.home()),
        )

    def _set_key(self, found: Settings, base_url: str) -> str:
        """The key that the environment has for an address; empty: none."""
        is_named = origin_of(base_url) == origin_of(found.service.base_url)
        return (found.service.api_key if is_named else "") or key_in(self.environ, base_url)

    def _allowed(self, model: str) -> str:
        try:
            self._configuration.check_model(model)
        except SetupError:
            return ""
        return model

    def _chosen(self, found: Settings) -> ServiceChoice:
        warnings: list[str] = []
        stored_url = self._stored_url(warnings)
        by_environment = found.source.get("base_url", "default") != "default"
        base_url = found.service.base_url if by_environment else stored_url
        if by_environment and stored_url and stored_url != base_url:
            warnings.append(
                f"Whoever started this server set the address {shown_url(base_url)!r}; "
                f"it wins over {shown_url(stored_url)!r}, which was chosen here."
            )
        if not base_url:
            base_url = found.service.base_url or self._official_if_keyed()
        key, source = self._key(found, base_url, warnings)
        model = self._model(found, base_url, warnings)
        return ServiceChoice(model, base_url, key, source, tuple(warnings))

    def _stored_url(self, warnings: list[str]) -> str:
        try:
            return normalise_base_url(self.keys.choice("base_url"))
        except SetupError as error:
            warnings.append(str(error))
            return ""

    def _official_if_keyed(self) -> str:
        return OPENAI.base_url if self.keys.has_key(origin_of(OPENAI.base_url)) else ""

    def _key(self, found: Settings, base_url: str, warnings: list[str]) -> tuple[str, KeySource]:
        if not origin_of(base_url):
            return "", ""
        if key := self._set_key(found, base_url):
            return key, "environment"
        if found.service.api_key:
            place = origin_of(found.service.base_url)
            warnings.append(
                f"The key of this server is for {place} and is not sent to "
                f"{shown_url(base_url)!r}; give one for it in Model settings."
            )
        return self.keys.key(origin_of(base_url))

    def _model(self, found: Settings, base_url: str, warnings: list[str]) -> str:
        stored = self.keys.choice("model")
        by_environment = found.source.get("model", "default") != "default"
        if by_environment and stored and stored != found.service.model:
            warnings.append(
                f"Whoever started this server set the model {found.service.model!r}; it wins over "
                f"{stored!r}, which was chosen here."
            )
        if by_environment or stored:
            return found.service.model if by_environment else stored
        if not base_url:
            return ""
        return self._allowed(usual_model(base_url)) or self._configuration.named_model

    def _checks(self, choice: ServiceChoice) -> tuple[tuple[Callable[[str], None], str], ...]:
        return (
            (_check_address, choice.base_url),
            (self._configuration.check_endpoint, choice.base_url),
            (self._configuration.check_model, choice.model),
            (self.keys.check_key, "" if choice.api_key else origin_of(choice.base_url)),
        )

    def _refusals(self, choice: ServiceChoice) -> list[str]:
        refusals = []
        for check, value in self._checks(choice):
            try:
                check(value)
            except SetupError as error:
                refusals.append(str(error))
        return refusals

    def _with(
        self, found: Settings, choice: ServiceChoice, parameters: Mapping[str, Any] | None
    ) -> Settings:
        configuration = self._configuration
        wanted = self.keys.parameters() if parameters is None else check_parameters(parameters)
        service: ServiceSettings = replace(
            found.service,
            base_url=choice.base_url,
            api_key=choice.api_key,
            model=choice.model,
            parameters={**wanted, **found.service.parameters},
        )
        modes = configuration.allowed_modes
        sources = {
            "api_key": choice.key_source or "default",
            "base_url": found.source.get("base_url", "default"),
            "model": found.source.get("model", "default"),
        }
        return replace(
            found,
            service=service,
            mode=found.mode if found.mode in modes else modes[0],
            limits=configuration.limits(found.limits),
            project_files=found.project_files and configuration.project_files,
            home=self.home(),
            ollama_url=self._ollama(found.ollama_url),
            source={**found.source, **sources},
            found_key=found.found_key if choice.base_url == found.service.base_url else "",
        )

    def _ollama(self, url: str) -> str:
        try:
            self._configuration.check_endpoint(f"{url}/v1" if url else "")
        except SetupError:
            return ""
        return url

    def _wanted_url(self, found: Settings, text: str) -> str:
        url = normalise_base_url(text)
        _check_address(url)
        parts = urlsplit(url)
        has_parameters = {name for name, _ in parse_qsl(parts.query)} - {"api-version"}
        if "@" in parts.netloc or has_parameters or parts.fragment:
            raise SetupError(
                "The endpoint carries a password or parameters.",
                hint="Give the address alone; the key has a field of its own.",
            )
        self._configuration.check_endpoint(url)
        is_set = found.source.get("base_url", "default") != "default"
        if is_set and url != found.service.base_url:
            raise SetupError(
                "The endpoint was set when this server was started.",
                hint="Leave it as it is here, or have the server started without it.",
            )
        return url

    def _wanted_model(self, found: Settings, text: str) -> str:
        model = text.strip()
        self._configuration.check_model(model)
        is_set = found.source.get("model", "default") != "default"
        if is_set and model != found.service.model:
            raise SetupError(
                "The model was set when this server was started.",
                hint="Leave it as it is here, or have the server started without it.",
            )
        return model

    def _check_key_is_ours(self, found: Settings, base_url: str, key: str) -> None:
        set_outside = self._set_key(found, base_url)
        if set_outside and key != set_outside:
            raise SetupError(
                f"The key for {origin_of(base_url)} was set when this server was started.",
                hint="Leave the field empty to use it, or have the server started without it.",
            )


def _check_address(url: str) -> None:
    if url and not origin_of(url):
        raise SetupError(
            f"The endpoint {url!r} names no host, or no port that can be.",
            hint="It looks like https://host/v1 or http://host:8000/v1.",
        )
