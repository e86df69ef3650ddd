"""Dates cut to units of time that suit how far they reach."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import date

from cellwright.demo.columns import Column, Frame
from cellwright.demo.matching import Group, Query
from cellwright.demo.pandas_code import pick
from cellwright.demo.reading import labelled
from cellwright.demo.steps import Steps, run_code
from cellwright.demo.vocabulary import Bucket

FEW_DATES = 12
DAY = re.compile(r"(\d{4})-(\d{2})-(\d{2})")


def cut_dates(frame: Frame, query: Query) -> Steps[Query]:
    """The query with a unit of time for each date that has none; asks the kernel for the range."""
    cut = []
    for group in query.by:
        column = group.column
        if group.bucket or column.reads_as != "date" or 0 < column.unique <= FEW_DATES:
            cut.append(group)
        else:
            cut.append(Group(column, (yield from _bucket(frame, column))))
    return replace(query, by=tuple(cut))


def _bucket(frame: Frame, column: Column) -> Steps[Bucket]:
    place = pick(frame.name, column)
    code = f'print("from:", {place}.min())\nprint("to:", {place}.max())'
    done = yield from run_code(f"I look how far `{column.name}` reaches.", code)
    first, last = _day(labelled(done.text, "from")), _day(labelled(done.text, "to"))
    if first is None or last is None:
        return "month"
    days = (last - first).days
    limits: tuple[tuple[int, Bucket], ...] = ((4000, "year"), (70, "month"), (3, "day"))
    return next((bucket for limit, bucket in limits if days >= limit), "hour")


def _day(text: str) -> date | None:
    found = DAY.search(text)
    return date(*map(int, found.groups())) if found else None
