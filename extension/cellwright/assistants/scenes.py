"""Scenes: more instructions of an assistant for one kind of situation, chosen by rules.

No model is asked. A scene says itself when it fits, or bears the name of a situation that is known
here (``data``, ``plot``, ``debug``), or its label is a word of the prompt.

What this does not protect against: a pattern of an assistant's file with many repeats one behind
the other. One that repeats what can match in several ways is refused; texts are cut before they are
searched.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from cellwright.text.cleaning import is_quick

LABEL_LIMIT = 20
PROMPT_LIMIT = 512
SCENE_LIMIT = 10
PATTERN_LIMIT = 200
SEARCHED_CHARACTERS = 2_000
THRESHOLD = 0.7
"""A scene that fits less well is not chosen."""
SCENE_KEYS = ("label", "prompt", "when")
WHEN_TEXTS = ("prompt", "error")
WHEN_LISTS = ("imports", "types")
IMPORT = re.compile(r"^[ \t]*(?:import|from)[ \t]+([\w.]+(?:[ \t]*,[ \t]*[\w.]+)*)", re.MULTILINE)


@dataclass(frozen=True)
class When:
    """What has to be so for a scene to fit; what is empty does not count."""

    prompt: str = ""
    """A regular expression that is found in the prompt, whatever its case."""
    imports: tuple[str, ...] = ()
    """One of these packages was imported."""
    types: tuple[str, ...] = ()
    """A variable is of one of these types."""
    error: str = ""
    """A regular expression that is found in what the last cell failed with."""

    @property
    def row(self) -> dict[str, Any]:
        """What of it counts, as a file has it."""
        keys = (*WHEN_TEXTS, *WHEN_LISTS)
        values = {key: getattr(self, key) for key in keys if getattr(self, key)}
        return {k: v if isinstance(v, str) else list(v) for k, v in values.items()}

    @property
    def words(self) -> str:
        """All of it in words."""
        parts = (
            ("prompt says", self.prompt),
            ("imported:", " or ".join(self.imports)),
            ("variable of type", " or ".join(self.types)),
            ("error says", self.error),
        )
        return ", ".join(f"{words} {value}" for words, value in parts if value)


@dataclass(frozen=True)
class Scene:
    """More instructions for one kind of situation."""

    label: str
    prompt: str
    when: When | None = None
    """None: the label says it."""

    @property
    def row(self) -> dict[str, Any]:
        """The scene as a file has it."""
        row: dict[str, Any] = {"label": self.label, "prompt": self.prompt}
        return row if self.when is None else {**row, "when": self.when.row}

    @property
    def when_words(self) -> str:
        """When it is chosen, in words."""
        if self.when is None:
            known = _known(self.label)
            return known.told if known is not None else f"the prompt says {self.label!r}"
        return self.when.words


@dataclass(frozen=True)
class Situation:
    """What a question is asked in."""

    prompt: str
    last_error: str = ""
    types: tuple[str, ...] = ()
    """Of the kernel's variables."""
    imports: tuple[str, ...] = ()
    """Packages that cells of this kernel have imported."""


@dataclass(frozen=True)
class ChosenScene:
    """A scene that fits, and why."""

    scene: Scene
    reason: str
    confidence: float


@dataclass(frozen=True)
class _KnownScene:
    """A situation that is known here."""

    start: str
    """How labels of it begin."""
    words: re.Pattern[str]
    wanted: float
    """How well it fits when the prompt has such words."""
    told: str
    """When it is chosen, for people."""


def _words(english: str, chinese: str) -> re.Pattern[str]:
    return re.compile(rf"\b(?:{english})|{chinese}", re.IGNORECASE)


KNOWN = (
    _KnownScene(
        "debug",
        _words(r"(?:errors?|exception|traceback|fail\w*|bugs?|debug\w*|fix|crash\w*)\b",
               "报错|错误|异常|调试"),
        0.95,
        "the prompt speaks of errors, or the last cell failed",
    ),
    _KnownScene("plot", _words(r"(?:plot|chart|graph|histogram|scatter|draw|visuali[sz])",
                          "画图|绘制|图表|可视化"), 0.9,
           "the prompt speaks of plots, or a plotting package is imported"),
    _KnownScene("data", _words(r"(?:data|table|column|csv|missing|duplicate|group|average|mean)",
                          "数据|表格|缺失|统计"), 0.85,
           "the prompt speaks of data, or there is a table"),
)  # fmt: skip
PLOTTING = ("matplotlib", "seaborn", "plotly", "altair", "bokeh")
TABLES = ("DataFrame", "Series", "LazyFrame", "ndarray")
AMBIENT = {"debug": 0.8, "plot": 0.75, "data": 0.7}
"""How well a situation fits by what is there, without a word of it in the prompt."""
LABEL_SAID = 0.8


def choose_scene(
    scenes: Iterable[Scene], situation: Situation, *, threshold: float = THRESHOLD
) -> ChosenScene | None:
    """The scene that fits best, of several that fit as well the first; None: none fits."""
    fitting = [found for scene in scenes if (found := _fit(scene, situation)) is not None]
    best = max(fitting, key=lambda found: found.confidence, default=None)
    return best if best is not None and best.confidence >= threshold else None


def imported_names(sources: Iterable[str]) -> tuple[str, ...]:
    """The top packages that these cells import, each once."""
    found: dict[str, None] = {}
    for source in sources:
        for match in IMPORT.finditer(source):
            for name in match[1].split(","):
                found[name.strip().partition(".")[0]] = None
    return tuple(found)


def read_scenes(rows: Sequence[Mapping[str, Any]]) -> tuple[Scene, ...]:
    """The scenes of a file that has been checked."""
    return tuple(Scene(row["label"], row["prompt"], _when(row.get("when"))) for row in rows)


def scene_complaints(rows: Any) -> Iterator[str]:
    """What is wrong with the scenes of a file."""
    if not isinstance(rows, list) or not all(isinstance(row, Mapping) for row in rows):
        yield "they are written as [[scenes]] with a label and a prompt each"
        return
    if len(rows) > SCENE_LIMIT:
        yield f"there are {len(rows)}, at most {SCENE_LIMIT} are allowed"
    labels = [row.get("label") for row in rows]
    for number, row in enumerate(rows):
        yield from (f"{_title(row, number)} {words}" for words in _complaints(row))
        if isinstance(row.get("label"), str) and labels.index(row["label"]) < number:
            yield f"there are two with the label {row['label']!r}"


def _fit(scene: Scene, situation: Situation) -> ChosenScene | None:
    if scene.when is not None:
        reason = _fits_when(scene.when, situation)
        return ChosenScene(scene, reason, 1.0) if reason else None
    known = _known(scene.label)
    prompt = situation.prompt[:SEARCHED_CHARACTERS]
    if known is not None:
        if match := known.words.search(prompt):
            return ChosenScene(scene, f"the prompt says {match[0]!r}", known.wanted)
        there = _there(known.start, situation)
        return ChosenScene(scene, there, AMBIENT[known.start]) if there else None
    if re.search(rf"(?<!\w){re.escape(scene.label)}", prompt, re.IGNORECASE):
        return ChosenScene(scene, f"the prompt says {scene.label!r}", LABEL_SAID)
    return None


def _known(label: str) -> _KnownScene | None:
    return next((known for known in KNOWN if label.casefold().startswith(known.start)), None)


def _there(start: str, situation: Situation) -> str:
    """What of a known situation is there; empty: nothing."""
    if start == "debug":
        return "the last cell failed" if situation.last_error else ""
    if start == "plot":
        package = _first(PLOTTING, situation.imports)
        return f"{package} is imported" if package else ""
    kind = _first(TABLES, situation.types)
    return f"there is a {kind}" if kind else ""


def _fits_when(when: When, situation: Situation) -> str:
    """Why all of it is so; empty: something is not."""
    reasons = []
    for pattern, text, words in (
        (when.prompt, situation.prompt, "the prompt says"),
        (when.error, situation.last_error, "the last cell failed with"),
    ):
        if pattern:
            match = re.search(pattern, text[:SEARCHED_CHARACTERS], re.IGNORECASE)
            if match is None:
                return ""
            reasons.append(f"{words} {match[0]!r}")
    for wanted, there, words in (
        (when.imports, situation.imports, "is imported"),
        (when.types, situation.types, "is there"),
    ):
        if wanted:
            found = _first(wanted, there)
            if not found:
                return ""
            reasons.append(f"{found} {words}")
    return ", ".join(reasons)


def _first(wanted: Iterable[str], there: Iterable[str]) -> str:
    known = set(there)
    return next((name for name in wanted if name in known), "")


def _when(row: Mapping[str, Any] | None) -> When | None:
    if row is None:
        return None
    return When(
        prompt=row.get("prompt", ""),
        imports=tuple(row.get("imports", ())),
        types=tuple(row.get("types", ())),
        error=row.get("error", ""),
    )


def _title(row: Mapping[str, Any], number: int) -> str:
    label = row.get("label")
    return repr(label) if isinstance(label, str) and label else f"number {number + 1}"


def _complaints(row: Mapping[str, Any]) -> Iterator[str]:
    for key in row:
        if key not in SCENE_KEYS:
            yield f"has {key!r}; it takes {', '.join(SCENE_KEYS)}"
    for key, limit in (("label", LABEL_LIMIT), ("prompt", PROMPT_LIMIT)):
        value = row.get(key)
        if not isinstance(value, str) or not value.strip():
            yield f"has no {key}"
        elif len(value) > limit:
            yield f"has a {key} of {len(value)} characters, at most {limit} are allowed"
    if "when" in row:
        yield from (f"when: {words}" for words in _when_complaints(row["when"]))


def _when_complaints(when: Any) -> Iterator[str]:
    if not isinstance(when, Mapping) or not when:
        yield f"it takes {', '.join((*WHEN_TEXTS, *WHEN_LISTS))}, at least one of them"
        return
    for key, value in when.items():
        if key in WHEN_TEXTS:
            problem = _pattern_problem(value)
            if problem:
                yield f"{key} {value!r} {problem}"
        elif key not in WHEN_LISTS:
            yield f"{key!r} is not known"
        elif not (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
            yield f"{key} {value!r} is not a list of names"


def _pattern_problem(pattern: Any) -> str:
    if not isinstance(pattern, str) or not pattern:
        return "is not a text"
    if len(pattern) > PATTERN_LIMIT:
        return f"has more than {PATTERN_LIMIT} characters"
    try:
        re.compile(pattern)
    except re.error as error:
        return f"is no regular expression: {error}"
    return (
        "" if is_quick(pattern) else "repeats what can match in several ways: it can take for ever"
    )
