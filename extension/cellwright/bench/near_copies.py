"""Samples that are nearly the same as another, or that stand in a text which an agent may know.

Both make a score look surer, or better, than it is. Texts are held together by their runs of words,
as Brown et al. 2020 (arXiv 2005.14165, appendix C) look for test data in training data; questions
are short, so runs are, too: of five words, so that one other word of fifteen leaves half of them.
A character of Chinese counts as a word.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cellwright.exports.sample import CANARY

WORDS = 5
LEAST_SHARE = 0.5
"""Of the shorter text's runs, so many are in the other."""
LARGEST_BYTES = 20_000_000
TEXT_SUFFIXES = frozenset(
    (".txt", ".md", ".rst", ".py", ".ipynb", ".json", ".jsonl", ".yaml", ".yml", ".csv", ".html")
)
_WORD = re.compile(r"[\u3040-\u9fff\uac00-\ud7a3]|[^\W_\u3040-\u9fff\uac00-\ud7a3]+")


@dataclass(frozen=True)
class NearCopy:
    """Two texts that are nearly the same."""

    sample: str
    other: str
    """Another sample, or a file."""
    share: float
    """Of the sample's runs of words, how many are in the other, from 0 to 1."""


def runs_of(text: str) -> frozenset[str]:
    """The runs of five words of a text; of a shorter text, the whole."""
    words = _WORD.findall(text.casefold())
    if len(words) <= WORDS:
        return frozenset([" ".join(words)] if words else ())
    return frozenset(" ".join(words[at : at + WORDS]) for at in range(len(words) - WORDS + 1))


def near_copies(texts: Mapping[str, str], places: Iterable[Path] = ()) -> Iterator[NearCopy]:
    """Pairs of samples, then samples and files, that share at least half of the sample's runs.

    Args:
        texts: What each sample asks, by its name.
        places: Files and folders of texts that an agent may know, such as documents of its library.
    """
    runs = {name: runs_of(text) for name, text in texts.items()}
    for name, other, count in _shared_counts(runs):
        # A pair is told once, with the shorter of the two as the copy.
        size = len(runs[name])
        if (size, name) <= (len(runs[other]), other) and count >= LEAST_SHARE * size:
            yield NearCopy(name, other, count / size)
    for path in _text_files(places):
        known = runs_of(path.read_text(encoding="utf-8", errors="replace"))
        for name, some in runs.items():
            if some and len(some & known) >= LEAST_SHARE * len(some):
                yield NearCopy(name, str(path), len(some & known) / len(some))


def list_marked(places: Iterable[Path]) -> Iterator[Path]:
    """Files that say of themselves that they hold samples: the canary stands in them."""
    for path in _text_files(places):
        if CANARY in path.read_text(encoding="utf-8", errors="replace"):
            yield path


def _shared_counts(runs: Mapping[str, frozenset[str]]) -> Iterator[tuple[str, str, int]]:
    """Of each two that share runs, in both orders, how many."""
    holders: dict[str, list[str]] = {}
    for name, some in runs.items():
        for run in some:
            holders.setdefault(run, []).append(name)
    for name, some in runs.items():
        others = Counter(other for run in some for other in holders[run] if other != name)
        for other, count in others.items():
            yield name, other, count


def _text_files(places: Iterable[Path]) -> Iterator[Path]:
    for place in places:
        for path in sorted(place.rglob("*")) if place.is_dir() else [place]:
            is_text = path.suffix.casefold() in TEXT_SUFFIXES and path.is_file()
            if is_text and path.stat().st_size <= LARGEST_BYTES:
                yield path
