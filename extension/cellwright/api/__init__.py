"""What ``import cellwright`` offers to programs; ``docs/reference/api.md`` describes it.

The names are in ``cellwright/__init__.py``, which loads a file of this room on first use.
"""
