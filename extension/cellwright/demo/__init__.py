"""The demo model: a set of rules, not a language model, behind a real OpenAI-compatible server.

It does cellwright's main job where there is no key and no network. It knows nothing but the
messages of a request: the prompt's words, and what tool results told it. ``server`` speaks HTTP,
``wire`` OpenAI's shapes, ``analyst`` decides the next reply. A question about a table goes from
``reading`` (what each span can mean there) over ``phrases`` (spans put together) to ``grammar``
(the question's shape, a ``query``); ``cells`` writes its cell and ``answers`` says what it found.
A question with a word that plays no part, or that can be read in two ways, is refused.
"""

from __future__ import annotations
