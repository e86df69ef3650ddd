"""A prompt's words, English or Chinese, as a wish: what to do and where to leave the result."""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

# The words the demo model knows, English and Chinese, as patterns.


Task = Literal["fix", "run", "clean", "profile", "question", "plot", "greet", "help"]
Bucket = Literal["", "year", "quarter", "month", "week", "day", "hour"]


def _words(english: str, chinese: str, before: str = "") -> re.Pattern[str]:
    """A pattern for whole English words, or Chinese ones, which have no edges."""
    # \b sees no edge between a Chinese character and a letter.
    edges = "(?<![A-Za-z0-9_])", "(?![A-Za-z0-9_])"
    return re.compile(f"{before}(?:{edges[0]}(?:{english}){edges[1]}|{chinese})", re.I | re.S)


ENDINGS = "csv|tsv|txt|xlsx?|jsonl?|ndjson|parquet"
FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.S)
FILE = re.compile(
    rf"""["'`]([^"'`\n]+\.(?:{ENDINGS}))["'`]"""
    rf"|((?:[A-Za-z]:)?[\w./\\~:@%+-]+\.(?:{ENDINGS}))(?![A-Za-z0-9])",
    re.I,
)

_SAVE = r"(?<![A-Za-z])(?:leave|put|store|save|keep|assign|write|return)\b[^.;!?\n]*?"
_INTO = r"\b(?:in|into|to|as|called|named)\s+"
_NO_NAME = "a|an|the|it|this|that|file|disk|csv|excel|plot|chart|order|place|mind"
TARGETS = (
    re.compile(_SAVE + _INTO + r"[^.;!?\n`]{0,24}`(\w+)`", re.I),
    re.compile(
        _SAVE + _INTO + r"(?:(?:a|the|new|variable|dataframe|name|called|named)\s+)*"
        rf"(?!(?:{_NO_NAME})\b)(\w+)",
        re.I,
    ),
    re.compile(r"(?<![A-Za-z])(?:call|name) (?:it|this|the (?:table|result)) `?(\w+)`?", re.I),
    re.compile(
        r"(?:存[到入为在]|保存[到为在]|放[到进在入]|赋值给|赋给|留在|命名为)"
        r"\s*(?:变量)?\s*`?([A-Za-z_]\w*)`?",
        re.A,
    ),
)

CLEAN = _words(
    r"clean[a-z]*|imput[a-z]*|(?:fill|drop|handle|remove|replace|treat|fix|deal with)\b[^.?!]*"
    r"\b(?:missing|nans?|nulls?|empty|gaps)",
    "清洗|清理|(?:处理|填充|删除|补).*(?:缺失|空值)",
)
PROFILE = _words(
    r"profil[a-z]*|describ[a-z]*|summar[iy][a-z]*|explor[a-z]*|overview|look at|inspect|analy[sz]e"
    r"|what(?:'s| is| are) in|tell me\b.*\babout|statistics|get to know",
    "概况|概览|描述|分析|总结|探索|看看|了解",
)
GAPS = _words("missing|nans?|nulls?", "缺失|空值")
PLOT = _words(
    r"plot[a-z]*|draw[a-z]*|chart|graph|visuali[sz][a-z]*|histograms?|scatter|figure|bars|pie",
    "画|绘|图|可视化",
)
TASKS: tuple[tuple[Task, re.Pattern[str]], ...] = (
    ("clean", CLEAN),
    ("profile", PROFILE),
    ("plot", PLOT),
)
FIX = _words(
    r"(?:fix|repair|debug|mend|correct (?:the|my|this)|solve)\b.*"
    r"\b(?:error|exception|cell|bug|code|traceback|it|this)|what went wrong",
    "(?:修复|修正|改正|修|解决).*(?:错|单元|代码)|为什么.*报错",
)
GREET = _words("hi|hello|hey|good (?:morning|day|evening)|thanks?|thank you", "你好|您好|谢谢",
               r"^\W*(?:please )?(?:say )?")  # fmt: skip
HELP = _words(
    "what can you do|what do you do|who are you|what are you|help", "你能做什么|你是谁|帮助"
)
ASKS = _words(
    r"which|what|who|how (?:many|much)|top \d+|bottom \d+", r"哪|什么|多少|前\s*\d+|\?|？"
)

FUNCTIONS = (
    ("count", _words("counts?|how many|number of", "数量|计数|多少[个行条种]|几个")),
    ("median", _words("medians?", "中位")),
    ("mean", _words("means?|averages?|avg", "平均|均值")),
    ("std", _words("standard deviation|std", "标准差")),
    ("sum", _words("sum|totals?", "总和|合计|总计|总额|总量|求和")),
)
HIGHEST = _words(
    "best|highest|most|largest|biggest|greatest|top|max(?:imum)?|strongest|hottest",
    r"最高|最好|最多|最大|前\s*(?=\d)",
)
LOWEST = _words(
    "worst|lowest|least|smallest|fewest|bottom|min(?:imum)?|weakest|coldest",
    "最低|最差|最少|最小",
)
LIMIT = _words(
    r"(?:top|bottom|first|best|worst|largest|smallest)\s+(\d{1,4})"
    r"|(\d{1,4})\s+(?:best|worst|largest|smallest|highest|lowest)",
    r"前\s*(\d{1,4})",
)
SUBJECT_BEFORE = re.compile(
    r"(?:\b(?:which|what|who|best|worst|(?:top|bottom)(?: \d+)?|highest|lowest)"
    r"|哪(?:一)?个?|前\s*\d+\s*个?)\s*$",
    re.I,
)
BY = _words(
    "by|per|for each|for every|in each|of each|each|every|across|over|grouped by|versus|vs",
    "按|每|各",
)

BUCKETS: tuple[tuple[Bucket, re.Pattern[str]], ...] = (
    ("month", _words("month(?:s|ly)?", "月")),
    ("quarter", _words("quarter(?:s|ly)?", "季度")),
    ("week", _words("week(?:s|ly)?", "周")),
    ("year", _words("year(?:s|ly)?|annual(?:ly)?", "年")),
    ("hour", _words("hour(?:s|ly)?", "小时")),
    ("day", _words("days?|daily", "[每哪一]天|[每哪]日")),
)
TIME = _words("over time|trend|time series", "随时间|趋势")
CHARTS = (
    ("hist", _words("hist(?:ogram)?s?|distribution|distributed", "直方图|分布")),
    ("scatter", _words("scatter", "散点")),
    ("bar", _words("bars?|pie", "柱|条形|饼")),
    ("line", _words("lines?", "折线")),
)


Extreme = Literal["", "high", "low"]
EXTREMES: tuple[tuple[Extreme, re.Pattern[str]], ...] = (("high", HIGHEST), ("low", LOWEST))


@dataclass(frozen=True)
class PromptWish:
    """What a person asks for, before the columns are known."""

    text: str
    """Their words, without file names, code and the name of the result."""
    tasks: tuple[Task, ...]
    function: str = ""
    """``sum``, ``mean``, ``median``, ``std`` or ``count``; empty when none is named."""
    extreme: Extreme = ""
    extreme_at: int = -1
    limit: int = 0
    """The N of "top N"."""
    chart: str = ""
    target: str = ""
    """The variable the result goes to."""
    snippet: str = ""
    """Code written in the prompt."""

    @property
    def wants_time(self) -> bool:
        """Whether "over time" or a trend is asked for."""
        return bool(TIME.search(self.text))

    def by_places(self) -> tuple[int, ...]:
        """Where words such as "by" and "per" end."""
        return tuple(found.end() for found in BY.finditer(self.text))


def read_wish(prompt: str) -> PromptWish:
    """What a prompt asks for."""
    snippet = FENCE.search(prompt)
    words = FENCE.sub(" ", prompt)
    words = FILE.sub(" ", words)
    target, words = _target(words)
    extremes = [
        (found.start(), word)
        for word, pattern in EXTREMES
        if (found := pattern.search(words)) is not None
    ]
    place, extreme = min(extremes, default=(-1, ""))
    return PromptWish(
        text=words,
        tasks=_tasks(words, bool(snippet)),
        function=_first(FUNCTIONS, words),
        extreme=extreme,
        extreme_at=place,
        limit=_limit(words),
        chart=_first(CHARTS, words),
        target=target,
        snippet=snippet[1].strip() if snippet else "",
    )


def file_names(text: str) -> list[str]:
    """Data files named in ``text``, in order."""
    return list(dict.fromkeys(quoted or bare for quoted, bare in FILE.findall(text)))


def _target(words: str) -> tuple[str, str]:
    """The name to leave the result in, and the words without that clause."""
    for pattern in TARGETS:
        found = pattern.search(words)
        if found and found[1].isidentifier() and not keyword.iskeyword(found[1]):
            return found[1], f"{words[: found.start()]} {words[found.end() :]}"
    return "", words


def _tasks(words: str, has_snippet: bool) -> tuple[Task, ...]:
    places = {name: found.start() for name, p in TASKS if (found := p.search(words))}
    tasks: list[Task] = sorted(places, key=places.__getitem__)
    if FIX.search(words) and "clean" not in tasks:
        return ("fix",)
    if not tasks and GAPS.search(words):
        tasks = ["profile"]  # "how many values are missing?"
    if has_snippet:
        return ("run",)
    if _is_question(words, tasks):
        # "summarise revenue by region" is a question, "profile it; which month …?" is two tasks
        tasks = [task for task in tasks if task != "profile" or ASKS.search(words)]
        tasks.insert(tasks.index("plot") if "plot" in tasks else len(tasks), "question")
    if tasks and (tasks != ["question"] or _sums_up(words) or BY.search(words)):
        return tuple(tasks)
    if HELP.search(words):
        return ("help",)
    return ("greet",) if GREET.search(words) else tuple(tasks)


def _is_question(words: str, tasks: list[Task]) -> bool:
    """Whether a number or a table is asked for, beside or instead of the other tasks."""
    sums_up = _sums_up(words)
    if "plot" in tasks:
        return bool(ASKS.search(words) and sums_up)
    if "profile" in tasks or "clean" in tasks:
        by_groups = "profile" in tasks and bool(BY.search(words))
        return by_groups or (sums_up and not GAPS.search(words))
    return bool(sums_up or BY.search(words) or ASKS.search(words))


def _sums_up(words: str) -> bool:
    return bool(_first(FUNCTIONS, words) or _first(EXTREMES, words))


def _first(named: Iterable[tuple[str, re.Pattern[str]]], words: str) -> str:
    return next((name for name, pattern in named if pattern.search(words)), "")


def _limit(words: str) -> int:
    found = LIMIT.search(words)
    return int(next(filter(None, found.groups()))) if found else 0
