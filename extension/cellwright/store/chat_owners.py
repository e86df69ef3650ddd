"""Whose a chat is: of everybody with the token, of a person with an account, of a guest.

A guest is whoever may work here and is not the person whose record this is.
"""

from __future__ import annotations

import hashlib

GUEST = "guest:"
GUEST_SECONDS = 86_400.0
"""So long a guest's chat is kept."""
GUEST_LIMIT_CHARACTERS = 32


def guest_owner(name: str) -> str:
    """The name that a guest's chats are kept under."""
    if len(name) > GUEST_LIMIT_CHARACTERS:
        digest = hashlib.sha256(name.encode("utf-8", "replace")).hexdigest()
        name = digest[:GUEST_LIMIT_CHARACTERS]
    return GUEST + name


def is_guest(owner: str) -> bool:
    """Whether it is a guest's name."""
    return owner.startswith(GUEST)


def may_open(person: str, owner: str) -> bool:
    """Whether a person may open a chat of this owner; a guest only their own."""
    return owner == person or (owner == "" and not is_guest(person))
