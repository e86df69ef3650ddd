"""The demo model: a set of rules, not a language model, behind a real OpenAI-compatible server.

It does cellwright's main job where there is no key and no network. It knows nothing but the
messages of a request: the prompt's words, and what tool results told it. ``server`` speaks HTTP,
``wire`` OpenAI's shapes, ``analyst`` decides the next reply. A question about a table is read by
``words`` (what each word can mean) and ``grammar`` (what they ask together), run by ``cells`` and
told by ``answers``; a question with a word that plays no part is refused.
"""

from __future__ import annotations
