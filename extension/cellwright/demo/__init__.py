"""The demo model: a set of rules, not a language model, behind a real OpenAI-compatible server.

It does cellwright's main job where there is no key and no network. It knows nothing but the
messages of a request: the prompt's words, and what tool results told it. ``server`` speaks HTTP,
``wire`` OpenAI's shapes, ``analyst`` decides the next reply, ``plans`` hold what it can do.
"""

from __future__ import annotations
