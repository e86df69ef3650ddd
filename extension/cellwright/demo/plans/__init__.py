"""What the demo model can do: one file a kind of task, each a generator of steps."""

from __future__ import annotations
