"""Where keys and tokens are kept: the system's keyring, or a file of the person's own.

A key belongs to one origin (scheme, host and port) and is handed out for that alone, so that a
changed address never gets the key of another service. What this does not protect against: code
that runs as the same person can read the file, and ask the keyring, as this module does.

The panel writes here, and whatever else runs as the same person reads here (``load_settings``): the
magics in a kernel, the command line, Python. So a key is given once, and no server hands it on.
"""

from __future__ import annotations

import importlib
import json
import os
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from types import MappingProxyType
from typing import Any, Generic, Literal, Protocol, TypeVar
from urllib.parse import urlsplit

from cellwright.errors import SetupError, StoreError
from cellwright.providers import (
    OPENAI,
    UNKNOWN,
    find_provider,
    keys_in,
    provider_of_key,
    usual_model,
)
from cellwright.settings import Settings, check_parameters, from_env, normalise_base_url
from cellwright.stopping import WorkerThread

try:
    from fcntl import LOCK_EX, flock
except ImportError:
    LOCKABLE = False  # Windows: of two processes that save at once one may lose what it saved
else:
    LOCKABLE = True

T = TypeVar("T")
KeySource = Literal["environment", "keyring", "file", ""]
KEY_FILE = "service.json"
SIGN_IN_FILE = "sign-ins.json"
KEYRING_NAME = "cellwright"
KEYRING_SECONDS = 3.0
"""A keyring that asks for its password on a screen nobody sees would wait for ever."""
LOCK_SECONDS = 5.0
"""A file system whose locks hang must not keep anybody from saving."""
REAL_KEYRING_PRIORITY = 1.0
"""Backends that keep nothing, or keep it in plain text, say that they are worth less."""
LOCKED = "is locked"
KEY_LIMIT_CHARACTERS = 4_096


class Keyring(Protocol):
    """What the ``keyring`` package offers."""

    def get_password(self, service_name: str, username: str) -> str | None:
        """The secret of that name."""
        ...

    def set_password(self, service_name: str, username: str, password: str) -> None:
        """Keep a secret."""
        ...

    def delete_password(self, service_name: str, username: str) -> None:
        """Forget a secret."""
        ...


def clean_key(text: str) -> str:
    """A key as it was meant: without the quotes, spaces and line ends that came with it.

    Raises:
        SetupError: It holds what no key holds; the text does not repeat it.
    """
    key = "".join(text.split()).removeprefix("Bearer").strip("'\"“”‘’`")
    if len(key) > KEY_LIMIT_CHARACTERS or not key.isascii() or not (key.isprintable() or not key):
        raise SetupError(
            "The key is too long, or has characters that no key has.",
            hint="Copy it again from the page of the service.",
        )
    return key


def key_hint(key: str, base_url: str) -> str:
    """What is odd about a key at an address; empty: nothing. Never holds the key."""
    host = urlsplit(origin_of(base_url)).hostname or ""
    owner = provider_of_key(key)
    is_here = not host or host in ("localhost", "127.0.0.1", "::1")
    if is_here or owner in (UNKNOWN, find_provider(base_url)):
        return ""
    home = urlsplit(owner.base_url).hostname
    return f"The key looks like one of {owner.name} ({home}), but the endpoint is {host}."


def origin_of(base_url: str) -> str:
    """Scheme, host and port of an address: the place a key belongs to; empty: it has none."""
    try:
        parts = urlsplit(base_url)
        port = parts.port or {"http": 80, "https": 443}.get(parts.scheme, 0)
    except ValueError:
        return ""
    return f"{parts.scheme}://{parts.hostname}:{port}" if parts.hostname else ""


def open_keyring() -> Keyring | None:
    """The system's keyring; None: there is none that keeps anything safe."""
    try:
        package: Any = importlib.import_module("keyring")
        backend = package.get_keyring()
        # A chain asks each of its keyrings in turn, also those that want a password typed.
        best = next(iter(getattr(backend, "backends", ())), backend)
        if float(best.priority) >= REAL_KEYRING_PRIORITY:
            found: Keyring = best
            return found
    # A keyring is an option; the many ways in which one can be broken all mean "no".
    except Exception:
        return None
    return None


class KeyPlaces:
    """The file of what the person chose, and the keyring; safe to use from any thread.

    Args:
        path: The file, made on first use, readable by its owner alone.
        open_keyring: Finds the keyring; asked once.
        patience_seconds: How long the keyring is waited for.
    """

    def __init__(
        self,
        path: Path,
        open_keyring: Callable[[], Keyring | None] = open_keyring,
        *,
        patience_seconds: float = KEYRING_SECONDS,
    ) -> None:
        self.path = path
        self._patience_seconds = patience_seconds
        self._open_keyring = open_keyring
        self._keyring: Keyring | None = None
        self._is_opened = False
        self._known: dict[str, str] = {}
        self._known_at = 0
        """When the file was changed last, as far as what is known of the keyring goes."""
        self._refusal = ""
        """Why the keyring did not do what it was asked last; empty: it did, or there is none."""
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"KeyPlaces({str(self.path)!r})"

    def key(self, origin: str) -> tuple[str, KeySource]:
        """The key of an origin and where it was found; both empty: there is none."""
        with self._lock:
            found = self._key_in_keyring(origin)
            if found:
                return found, "keyring"
            kept = self._keys().get(origin, "")
            return kept, "file" if kept else ""

    def check_key(self, origin: str) -> None:
        """See that the keyring gives the key that it has for an origin.

        Raises:
            SetupError: It does not: it is locked, or cannot be reached.
        """
        with self._lock:
            if origin not in self.origins_in_keyring() or self.key(origin)[0]:
                return
            if origin in self._known:  # It was deleted there.
                return
            why = self._refusal or "cannot be reached from here"
            raise SetupError(
                f"The key for {origin} is in the system's keyring, which {why}.",
                hint="Unlock the keyring and try again, or give the key anew.",
            )

    def has_key(self, origin: str) -> bool:
        """Whether the file says that there is a key for an origin; the keyring is not asked."""
        return origin in self._keys() or origin in self.origins_in_keyring()

    def place_of_new_keys(self) -> KeySource:
        """Where a key would be kept."""
        with self._lock:
            return "file" if self._open() is None else "keyring"

    def keep_key(self, origin: str, key: str) -> None:
        """Keep the key of an origin; empty: forget it everywhere.

        Raises:
            StoreError: The keyring is locked, or the file cannot be written.
        """
        with self._lock:
            listed = set(self.origins_in_keyring())
            if not (key or self.has_key(origin)):
                return
            in_keyring = self._asked(lambda ring: _put(ring, origin, key))
            if in_keyring is None and key and self._refusal == LOCKED:
                hint = "Unlock it and save the key again."
                raise StoreError(f"The system's keyring {LOCKED}; the key was not kept.", hint=hint)
            if in_keyring is None and origin in listed and not key:
                hint = "Take it out with the program that shows your keyring."
                raise StoreError("The keyring does not answer; it still has the key.", hint=hint)
            with self._only_writer():
                keys, listed = self._keys(), set(self.origins_in_keyring())
                keys.pop(origin, "")
                if key and not in_keyring:
                    keys[origin] = key
                ringed = listed | {origin} if in_keyring else listed - {origin}
                # Written each time: who else has read the file sees that the key is another one.
                self._change(keys=keys, keyring=sorted(ringed))
            self._known = {**self._known, origin: key if in_keyring else ""}
            self._known_at = self._changed_at()

    def names(self) -> tuple[str, ...]:
        """All that keys are kept for; the keyring is not asked."""
        return (*self._keys(), *self.origins_in_keyring())

    def origins_in_keyring(self) -> tuple[str, ...]:
        """The origins whose keys were put into the keyring here; asking it takes long."""
        listed = self._content()[0].get("keyring", [])
        names = listed if isinstance(listed, list) else []
        return tuple(name for name in names if isinstance(name, str))

    def choice(self, name: str) -> str:
        """What the person chose (``model`` or ``base_url``); empty: nothing."""
        value = self._content()[0].get(name, "")
        return value if isinstance(value, str) else ""

    def parameters(self) -> Mapping[str, Any]:
        """What the person wants sent with each request; none where that cannot be used."""
        try:
            return check_parameters(self._content()[0].get("parameters", {}))
        except SetupError:
            return MappingProxyType({})

    def choose(self, **choices: str | Mapping[str, Any]) -> None:
        """Keep what the person chose: ``model``, ``base_url`` or ``parameters``.

        Raises:
            StoreError: The file cannot be written.
        """
        with self._lock, self._only_writer():
            self._change(**choices)

    def complaint(self) -> str:
        """What is wrong with the file; empty: nothing. The file is left as it is."""
        content, complaint = self._content()
        wrong = [
            name for name in ("model", "base_url") if not isinstance(content.get(name, ""), str)
        ]
        shapes = {"keys": dict, "keyring": list, "parameters": dict}
        wrong += [n for n, kind in shapes.items() if not isinstance(content.get(n, kind()), kind)]
        unknown = sorted(set(content) - {"model", "base_url", *shapes})
        if wrong or unknown:
            names = ", ".join(repr(name) for name in [*wrong, *unknown])
            complaint = f"has entries that are not used: {names}"
        return f"The file {str(self.path)!r} {complaint}." if complaint else ""

    def _key_in_keyring(self, origin: str) -> str:
        """The key of an origin whose key was put there; no other is asked for: it may be locked."""
        if origin not in self.origins_in_keyring():
            return ""
        if self._known_at != self._changed_at():
            self._known.clear()
            self._known_at = self._changed_at()
        if origin not in self._known:
            found = self._asked(lambda ring: _get(ring, origin))
            if found is None:
                return ""
            self._known[origin] = found
        return self._known[origin]

    def _changed_at(self) -> int:
        try:
            return self.path.stat().st_mtime_ns
        except OSError:
            return 0

    def _keys(self) -> dict[str, str]:
        keys = self._content()[0].get("keys", {})
        pairs = keys.items() if isinstance(keys, dict) else ()
        return {name: key for name, key in pairs if isinstance(key, str)}

    def _content(self) -> tuple[dict[str, Any], str]:
        try:
            if os.name == "posix" and self.path.stat().st_mode & 0o077:
                self.path.chmod(0o600)
            text = self.path.read_text("utf-8")
        except FileNotFoundError:
            return {}, ""
        except (OSError, UnicodeDecodeError):
            return {}, "cannot be read"
        try:
            content = json.loads(text)
        # The text of the error would quote what stands in the file.
        except ValueError:
            return {}, "is not JSON"
        return (content, "") if isinstance(content, dict) else ({}, "holds no object")

    @contextmanager
    def _only_writer(self) -> Iterator[None]:
        """Keep a kernel, the server and others from writing at once, where the system can."""
        with ExitStack() as opened:
            if LOCKABLE:
                with suppress(OSError):  # whoever writes says what is wrong with the folder
                    os.makedirs(self.path.parent, mode=0o700, exist_ok=True)
                    # The file itself is replaced, so it cannot be what is locked.
                    lock = opened.enter_context(
                        self.path.with_name(f"{self.path.name}.lock").open("w")
                    )
                    _in_time(lambda: flock(lock, LOCK_EX), LOCK_SECONDS)
            yield

    def _change(self, **changes: Any) -> None:
        content, complaint = self._content()
        try:
            if complaint:
                os.replace(self.path, self.path.with_name(f"{self.path.name}.unusable"))
            text = json.dumps({**content, **changes}, ensure_ascii=False, indent=1)
            _write_alone(self.path, text)
        except OSError as error:
            name, why = str(self.path), error.strerror or type(error).__name__
            raise StoreError(
                f"The file {name!r} cannot be written: {why}.",
                hint="Check that the folder can be written and the disk has room, and save again.",
            ) from None

    def _open(self) -> Keyring | None:
        if not self._is_opened:
            self._is_opened = True
            opened = _in_time(self._open_keyring, self._patience_seconds)
            self._keyring = opened.answer if opened is not None else None
        return self._keyring

    def _asked(self, question: Callable[[Keyring], T]) -> T | None:
        """What the keyring says; None: there is none, or it refuses.

        One that is silent is not asked again: each time would take as long.
        """
        ring = self._open()
        if ring is None:
            return None
        outcome = _in_time(lambda: question(ring), self._patience_seconds)
        if outcome is None:
            self._keyring, self._refusal = None, "does not answer"
            return None
        self._refusal = outcome.refusal
        return outcome.answer


@dataclass(frozen=True)
class _KeyringAnswer(Generic[T]):
    """What came of a question to the keyring."""

    answer: T | None = None
    refusal: str = ""
    """Why there is no answer; never holds what was asked for."""


def _get(ring: Keyring, origin: str) -> str:
    return ring.get_password(KEYRING_NAME, origin) or ""


def _put(ring: Keyring, origin: str, key: str) -> bool:
    if key:
        ring.set_password(KEYRING_NAME, origin, key)
        return ring.get_password(KEYRING_NAME, origin) == key
    if ring.get_password(KEYRING_NAME, origin) is not None:
        ring.delete_password(KEYRING_NAME, origin)
    return False


def _in_time(question: Callable[[], T], seconds: float) -> _KeyringAnswer[T] | None:
    """What came of it; None: nothing in time."""
    answers: list[_KeyringAnswer[T]] = []

    def ask() -> None:
        try:
            answers.append(_KeyringAnswer(question()))
        # The backends of keyrings raise what they like; a message of theirs may hold the key.
        except Exception as error:
            is_locked = "Locked" in type(error).__name__
            refusal = LOCKED if is_locked else f"fails ({type(error).__name__})"
            answers.append(_KeyringAnswer(refusal=refusal))

    asking = WorkerThread(ask, name="keyring")
    asking.start()
    asking.join(seconds)
    return answers[0] if answers else None


def _write_alone(path: Path, text: str) -> None:
    """Write a file that its owner alone can read, whole or not at all."""
    os.makedirs(path.parent, mode=0o700, exist_ok=True)
    descriptor, name = tempfile.mkstemp(dir=path.parent)  # made with the mode 0600
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            os.fsync(file.fileno())
        os.replace(name, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(name)
        raise


PLACES: dict[Path, KeyPlaces] = {}
"""One for each file, so that a keyring is asked once in a process; a server has its own."""


class SignIns:
    """The tokens of MCP servers that the user has signed in to, kept as keys are, by address.

    Args:
        home: cellwright's own folder.
    """

    def __init__(self, home: Path) -> None:
        path = home / SIGN_IN_FILE
        self._places = PLACES.setdefault(path, KeyPlaces(path))

    def load(self, url: str) -> dict[str, Any]:
        """What a sign-in at an address gave; empty: nobody is signed in there."""
        return self._read(f"mcp {url}")

    def save(self, url: str, given: Mapping[str, Any]) -> None:
        """Keep what a sign-in gave, in place of the one before.

        Raises:
            StoreError: It cannot be kept.
        """
        self._places.keep_key(f"mcp {url}", json.dumps(given))

    def forget(self, url: str) -> None:
        """Keep nothing more of an address.

        Raises:
            StoreError: The keyring or the file cannot be written.
        """
        self._places.keep_key(f"mcp {url}", "")

    def secrets(self) -> dict[str, str]:
        """What nobody may read in a record, by names for a redactor."""
        found: dict[str, str] = {}
        for number, name in enumerate(self._places.names()):
            given = self._read(name)
            values = {**(given.get("client") or {}), **(given.get("tokens") or {})}
            found |= {
                f"mcp_{kind}_{number}": str(values[kind])
                for kind in ("access_token", "refresh_token", "client_secret")
                if values.get(kind)
            }
        return found

    def _read(self, name: str) -> dict[str, Any]:
        try:
            given = json.loads(self._places.key(name)[0] or "{}")
        except ValueError:
            return {}  # it was changed by hand: whoever wants it signs in again
        return given if isinstance(given, dict) else {}


# The same choice for what does not run in the server: the magics, the command line, Python.


CHOSEN = "the choice in the panel"


def load_settings(environ: Mapping[str, str] | None = None) -> Settings:
    """Settings of the environment, then what was chosen in the panel, then the defaults.

    Raises:
        SetupError: The environment or the choice cannot be used.
    """
    settings = from_env(environ)
    path = settings.home / KEY_FILE
    places = PLACES.setdefault(path, KeyPlaces(path))
    return with_choice(settings, places, os.environ if environ is None else environ)


def key_in(environ: Mapping[str, str], base_url: str) -> str:
    """The key that an environment has for the provider at an address; empty: it has none."""
    origin = origin_of(base_url)
    return next((k.key for k in keys_in(environ) if origin_of(k.base_url) == origin), "")


def with_choice(settings: Settings, places: KeyPlaces, environ: Mapping[str, str]) -> Settings:
    """The settings, with what was chosen in the panel where the environment says nothing.

    Args:
        settings: As the environment has them.
        places: What was chosen.
        environ: May hold the key of the provider that was chosen.

    Raises:
        SetupError: The address that was chosen cannot be used, or its key is in a keyring that is
            locked.
    """
    service = settings.service
    by_environment = settings.source.get("base_url", "default") != "default"
    chosen = "" if by_environment else normalise_base_url(places.choice("base_url"))
    base_url = chosen or service.base_url
    if not base_url and places.has_key(origin_of(OPENAI.base_url)):
        base_url = OPENAI.base_url
    origin = origin_of(base_url)
    key, source = service.api_key, settings.source.get("api_key", "default")
    if not key or origin != origin_of(service.base_url):
        key, source = key_in(environ, base_url), "environment"
        if not key:
            places.check_key(origin)
            key, source = places.key(origin)
            source = source or "default"
    model = service.model
    if base_url and settings.source.get("model", "default") == "default":
        usual = service.model if base_url == service.base_url else usual_model(base_url)
        model = places.choice("model") or usual
    return replace(
        settings,
        service=replace(
            service,
            base_url=base_url,
            api_key=key,
            model=model,
            parameters={**places.parameters(), **service.parameters},
        ),
        source={**settings.source, "api_key": source},
        found_key=settings.found_key if base_url == service.base_url else CHOSEN,
    )
