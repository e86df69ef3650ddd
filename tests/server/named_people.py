"""A server whose people say themselves who they are: Ada owns it, the others are guests.

Programs say it in a header, browsers in a cookie.
"""

from __future__ import annotations

from typing import Any

from jupyter_server.auth import IdentityProvider, User

__all__ = ["EVE", "WITH_GUESTS", "NamedPeople"]


class NamedPeople(IdentityProvider):
    """Believes whoever says who they are."""

    async def get_user(self, handler: Any) -> User | None:
        named = handler.request.headers.get("X-Person") or handler.get_cookie("person")
        return User(named or "ada")

    def is_token_authenticated(self, handler: Any) -> bool:
        return True


WITH_GUESTS = {
    "ServerApp": {
        "jpserver_extensions": {"cellwright": True},
        "identity_provider_class": NamedPeople,
    },
    "Cellwright": {"owners": ["ada"]},
}
EVE = {"X-Person": "eve"}
