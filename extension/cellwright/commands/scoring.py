"""``score``: what a run is worth, by a person's word or by checks that run its code again.

What a check does not protect against: the run's code runs again with your rights, in a folder of
its own that holds the run's files.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from cellwright.bench.checks import Assertion
from cellwright.bench.environments import Rooms
from cellwright.bench.runner import rescored
from cellwright.bench.saving import code_of, find_files, write_assertion
from cellwright.bench.suites import Item
from cellwright.commands import VerbContext
from cellwright.commands.listing import score_lines
from cellwright.commands.records import make_redactor
from cellwright.commands.results import Result
from cellwright.commands.verbs import SCORE
from cellwright.errors import KernelError, SetupError
from cellwright.exports.notebook import asks_agent, assertion_cell
from cellwright.exports.sample import SampleCell
from cellwright.exports.sampling import sample_of
from cellwright.record.run_record import THUMB, RunRecord, Score, make_thumb
from cellwright.record.values import to_dict
from cellwright.stopping import Stop
from cellwright.store.runs import RunStore

THUMBS = ("up", "down")
NAME_CHARACTERS = 80
PASSED_FROM = 0.5
"""A number passes from this share of its points on."""


def score(context: VerbContext) -> Result:
    """Keep what is said of a run, and show all that it was found worth."""
    *named, last = context.words
    word = last if SCORE.fits(last) else ""
    name = named[0] if named else "last" if word else last
    with context.open_store() as store:
        record = store.record(store.resolve(name))
        _change(context, store, record, word)
        scores = store.scores.of(record.run_id)
    lines = score_lines(scores) if scores else ["It has no scores."]
    document = {"id": record.run_id, "scores": [to_dict(each) for each in scores]}
    return Result("\n".join([f"Run {record.run_id}", *lines]), document=document)


def _change(context: VerbContext, store: RunStore, record: RunRecord, word: str) -> None:
    options = context.options
    if options.remove:
        store.scores.withdraw(record.run_id, options.name or (THUMB if word in THUMBS else ""))
        return
    given = _say(context, word) if word or options.comment and not options.check else []
    given += make_checks(context, record, options.check)
    if given:
        store.scores.give(record.run_id, *given)


def _say(context: VerbContext, word: str) -> list[Score]:
    """The score that a person's word is.

    Raises:
        SetupError: More points are given than there are.
    """
    options, points = context.options, float(context.options.points)
    redactor = make_redactor(context.settings)
    comment = redactor.text(options.comment)
    if word in THUMBS:
        said = make_thumb(comment, is_up=word == "up")
    elif not word:
        said, points = Score("comment", None, passed=True, explanation=comment), 0.0
    else:
        value = float(word) / points
        if value > 1:
            most = max(10, math.ceil(float(word)))
            raise SetupError(
                f"{word} are more points than {points:g}.",
                hint=f"Say of how many: {context.prefix}score {word} --points {most:g}",
            )
        said = Score("score", value, passed=value >= PASSED_FROM, explanation=comment)
    return [replace(said, name=redactor.text(options.name) or said.name, points=points)]


def make_checks(context: VerbContext, record: RunRecord, checks: Sequence[str]) -> list[Score]:
    """Run the cells of a run again in a fresh kernel, and check what is true then.

    Raises:
        SetupError: A check is no Python, a file is not what the run had, or no kernel starts.
    """
    if not checks:
        return []
    options, redactor = context.options, make_redactor(context.settings)
    codes = [write_assertion(check) for check in checks]
    before = tuple(code for code in record.start_executed if not asks_agent(code))
    files = find_files(record, (*before, *code_of(record)), redactor)
    item = Item(
        record.run_id, record.prompt, files=files, checks=tuple(Assertion(c) for c in codes)
    )
    sample = sample_of(record, record.run_id)
    setup = tuple(SampleCell(f"setup-{n}", "setup", code) for n, code in enumerate(before, 1))
    context.note("Its cells run again in a fresh kernel.")
    try:
        made = rescored(
            replace(sample, cells=setup + sample.cells, scores=()), item, Rooms({}), Stop()
        )
    except KernelError as error:
        raise SetupError(f"The run cannot be checked: {error}") from error
    scores = []
    for check, code, found in zip(checks, codes, made.scores, strict=True):
        name = options.name if options.name and len(checks) == 1 else check
        named = " ".join(name.split())[:NAME_CHARACTERS]
        said = replace(found, name=named, points=options.points)
        if options.comment and not said.explanation:
            said = replace(said, explanation=options.comment)
        scores.append(redactor.event(assertion_cell(said, code)))
    return scores
