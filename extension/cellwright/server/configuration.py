"""What an administrator sets for the server extension, and the policy that follows from it.

``c.Cellwright.modes = ["plan", "ask"]`` in ``jupyter_server_config.py``, or
``--Cellwright.enabled=False`` on the command line.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from traitlets import Bool, Enum, Float, Int, List, TraitError, Unicode, validate
from traitlets.config import Configurable

from cellwright.errors import SetupError
from cellwright.settings import MODES, Limits, Mode

if TYPE_CHECKING:
    from traitlets import Bunch

DISABLED_VARIABLE = "CELLWRIGHT_DISABLED"
HUB_USER_VARIABLE = "JUPYTERHUB_USER"
OFF_WORDS = ("", "0", "false", "no", "off")
DEFAULT_PORTS = {"http": 80, "https": 443}
WILDCARDS = "*?["


class Cellwright(Configurable):
    """What cellwright may do on this server."""

    enabled = Bool(
        True, help="Whether anything of cellwright answers; the variable CELLWRIGHT_DISABLED too."
    ).tag(config=True)
    modes: List[str] = List(
        Enum(MODES), list(MODES), minlen=1, help="Modes that may be used: plan, ask, edits, auto."
    ).tag(config=True)
    models: List[str] = List(
        Unicode(), help="Models that may be used, as names or patterns (gpt-5*); empty: all."
    ).tag(config=True)
    endpoints: List[str] = List(
        Unicode(), help="Addresses under which model services may be used; empty: all."
    ).tag(config=True)
    owners: List[str] = List(
        Unicode(),
        help="Names or patterns of those whose server it is; everybody else is a guest. Empty: the"
        " user of the hub, else everybody who may log in.",
    ).tag(config=True)
    components: List[str] = List(
        Unicode(), help="Components that can be called by hand, as module:name."
    ).tag(config=True)
    project_files = Bool(
        True, help="Whether AGENTS.md and skills are read where the person agreed to them."
    ).tag(config=True)
    home = Unicode(
        help="Folder of the record, the files and the key; empty: CELLWRIGHT_HOME or ~/.cellwright."
    ).tag(config=True)
    kernel_idle_seconds = Float(
        1_800.0,
        min=0.0,
        help="So long the kernel of a chat without a notebook may do nothing before it is ended;"
        " 0: it stays until the server stops.",
    ).tag(config=True)
    step_limit = Int(None, allow_none=True, min=1, help="Most steps of a run.").tag(config=True)
    wall_seconds = Float(
        None, allow_none=True, min=1.0, help="Longest time a run takes, in seconds."
    ).tag(config=True)
    token_limit = Int(None, allow_none=True, min=1, help="Most tokens of a run.").tag(config=True)
    cost_limit_dollars = Float(
        None, allow_none=True, min=0.0, help="Most dollars a run may cost, where prices are known."
    ).tag(config=True)

    @validate("endpoints")
    def _addresses(self, proposal: Bunch) -> list[str]:
        wrong = [url for url in proposal["value"] if not _Address.of(url).is_whole]
        if wrong:
            names = ", ".join(repr(url) for url in wrong)
            raise TraitError(f"Cellwright.endpoints holds {names}: write https://host/path.")
        return list(proposal["value"])

    @property
    def is_enabled(self) -> bool:
        """Whether cellwright may work here."""
        switched_off = os.environ.get(DISABLED_VARIABLE, "").strip().lower() not in OFF_WORDS
        return bool(self.enabled) and not switched_off

    @property
    def people(self) -> tuple[str, ...]:
        """Those who are no guests; empty: everybody."""
        hub_user = os.environ.get(HUB_USER_VARIABLE, "")
        return tuple(self.owners) or ((hub_user,) if hub_user else ())

    @property
    def allowed_modes(self) -> tuple[Mode, ...]:
        """The modes that may be used, from the most careful on."""
        return tuple(mode for mode in MODES if mode in self.modes)

    @property
    def named_model(self) -> str:
        """The first allowed model that is a name and no pattern; empty: there is none."""
        names = (name for name in self.models if not set(name) & set(WILDCARDS))
        return next(names, "")

    def check_mode(self, mode: str) -> None:
        """Refuse a mode that may not be used.

        Raises:
            SetupError: The administrator does not allow it.
        """
        if mode not in self.modes:
            hint = f"Use one of: {', '.join(self.allowed_modes)}."
            raise SetupError(f"Mode {mode!r} is not allowed on this server.", hint=hint)

    def check_model(self, model: str) -> None:
        """Refuse a model that may not be used; empty is the set one, which was checked before.

        Raises:
            SetupError: The administrator does not allow it.
        """
        if model and self.models and not any(fnmatchcase(model, name) for name in self.models):
            hint = f"Use one that is named {' or '.join(self.models)}."
            raise SetupError(f"The model {model!r} is not allowed on this server.", hint=hint)

    def check_endpoint(self, url: str) -> None:
        """Refuse a service that may not be used; empty is none.

        Raises:
            SetupError: The administrator does not allow it.
        """
        if not url or not self.endpoints:
            return
        address = _Address.of(url)
        if not any(address.is_below(_Address.of(allowed)) for allowed in self.endpoints):
            hint = f"Use one of: {', '.join(self.endpoints)}."
            raise SetupError(f"The endpoint {url!r} is not allowed on this server.", hint=hint)

    def home_folder(self, otherwise: Path) -> Path:
        """The folder of the record."""
        return Path(self.home).expanduser() if self.home else otherwise

    def limits(self, otherwise: Limits) -> Limits:
        """The limits of a run, with those that are set here."""
        set_here: Mapping[str, Any] = {
            "step_limit": self.step_limit,
            "wall_seconds": self.wall_seconds,
            "token_limit": self.token_limit,
            "cost_limit_dollars": self.cost_limit_dollars,
        }
        return replace(
            otherwise, **{name: value for name, value in set_here.items() if value is not None}
        )


@dataclass(frozen=True)
class _Address:
    """The parts of a URL that say where a request goes."""

    scheme: str
    host: str
    port: int
    path: tuple[str, ...]
    is_plain: bool
    """It has no name, password, query or way back up, behind which another place could hide."""

    @classmethod
    def of(cls, url: str) -> _Address:
        try:
            parts = urlsplit(url.strip())
            port = parts.port or DEFAULT_PORTS.get(parts.scheme, 0)
        except ValueError:
            return cls("", "", 0, (), is_plain=False)
        path = tuple(step for step in parts.path.split("/") if step)
        hidden = "@" in parts.netloc or set(url) & set("\\%?#")
        is_plain = not hidden and ".." not in path and "." not in path
        return cls(parts.scheme, (parts.hostname or "").rstrip("."), port, path, is_plain)

    @property
    def is_whole(self) -> bool:
        return bool(self.scheme in DEFAULT_PORTS and self.host and self.is_plain)

    def is_below(self, other: _Address) -> bool:
        same = (self.scheme, self.host, self.port) == (other.scheme, other.host, other.port)
        return same and self.is_whole and self.path[: len(other.path)] == other.path
