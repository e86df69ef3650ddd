"""The next reply: a plan is chosen by the prompt's words and run as far as results are known."""

from __future__ import annotations

import keyword
import re
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import Any

from cellwright.agent.typed_answers import TypedAnswers, typed_answers_in
from cellwright.demo.answers import Work, answer, listing, result_name
from cellwright.demo.columns import Column, TableColumns
from cellwright.demo.fixing import fix_last_cell, run_snippet
from cellwright.demo.grammar import read_query
from cellwright.demo.lexicon import answering, is_foreign, lexicon, phrase_of, say
from cellwright.demo.loading import convert, find_values, load
from cellwright.demo.mending import closest
from cellwright.demo.own_tools import answer_from_library, asked_call, asks_library
from cellwright.demo.phrases import SOFT, fits_unit
from cellwright.demo.query import Query, UnclearError
from cellwright.demo.reading import (
    Vocabulary,
    Word,
    correct_spelling,
    read_spans,
    unknown_words,
    vocabulary,
    without_asides,
)
from cellwright.demo.sources import (
    FILE,
    MENTIONED,
    USED_FILE,
    file_names,
    find_source,
    with_quoted_files,
)
from cellwright.demo.steps import CannotGoOnError, DemoCall, Steps
from cellwright.demo.text_parts import with_text_parts
from cellwright.demo.transcript import DemoConversation, read_conversation, without_footer
from cellwright.demo.typed import results_in

REFERRING = re.compile(
    r"(?<!\w)(?:their|them|they|those|these|its|it)(?!\w)|其|它们|他们|她们|那些"
    r"|^按.{1,20}(?:算|计|求和)"
)
"""Words for what a sentence before was about."""
CLAUSE = re.compile(
    r"[,，-]?\s*\band (?=(?:how|what|(?:(?:on|in|with|for|at) )?which|who|when"
    r"|its|their|his|her)\b)"
    r"|[,，]\s*(?=how|what|which|who|when|.*(?:多少|什么|谁|哪))"
    r"|\bwith (?=(?:their|its|his|her)\b|[\w ]+s$)|\b(?:along|together) with\b"
    r"|[:：]|\s[-–]\s|[,，]",
    re.I,
)
"""Where a question may end, and another about what was found begin."""
SECOND = re.compile(r"[,，]?\s*\band (?=(?:how many|what)\b)|[,，?？]\s*(?=.*(?:多少|几))", re.I)
"""Where a second question may begin that asks something else."""
IN_TOTAL = re.compile(
    r"(?:,|\band\b)(?:(?!\band\b)[^,])*\b(?:in (?:total|all)|altogether|overall|of what|in what)\b"
    r"|[,，]\s*(?:一共|总共|共|合计|总计)(?:是|有)?(?:多少|几).*",
    re.I,
)
"""A second question, after what all of it together is."""
YES_OR_NO = re.compile(
    r"\band (?:is|was|are|were|does|do|did|has|have) (?:he|she|it|they|that|this|his|her|its)\b.*"
    r"|[,，]\s*(?:他|她|它)?(?:是否|有没有).*|是不是.*"
    r"|^(?:did|do|does|has|have) .*\b(?:fall|fell|fallen)\b.*",
    re.I,
)
"""Asks whether what was found has something, or whether something fell: no condition of rows."""
EVERY = re.compile(
    r"^(?:are|is|do|does|did|were|was|have|has) (?:all|every|each)\b|\bhave all\b"
    r"|\b(?:have|has|had|makes?|sells?|offers?|found|lives?|occurs?|sold|seen) only\b"
    r"|\b(?:all|any|every)\b[^,.;]*\bbut\b|\bexactly (?:one|two|three|\d+) missing\b"
    r"|\bhow many times (?:more|bigger|larger|higher|as)\b"
    r"|都(?:是|在|有|超过|大于|小于|低于|高于|不)(?!几|多少|哪|什么|谁).*",
    re.I,
)
"""Of groups in which all rows, or only some, are alike: rules know rows only."""
HANGS = re.compile(r"\b(?:that|this|such|same|his|her|he|she|ones?)\b|这|那|该|其", re.I)
"""Words by which a second question is about what the first one found."""
WHOLE_ROW = re.compile(
    r"\b(?:(?:whole|entire) (?:row|record|entry|line)s?|(?:full|complete) (?:row|record|entry))\b"
    r"|\ball (?:(?:of )?(?:the|its|his|her) )?(?:details|information)\b"
    r"|^(?:show|list|give)(?: me)? (?:that|this|the) (?:row|record)$"
    r"|^把?[这那该]一?[行条](?:数据|记录)?列出来?$"
    r"|整行|整条记录|完整(?:的)?(?:记录|信息)|(?:全部|所有)(?:的)?信息",
    re.I,
)
"""Asks for every column of the rows that are found."""
ASKED_BESIDE = ("count", "distinct", "number", "missing", "duplicates")
"""Tasks that may be asked two at a time."""
ASKING = frozenset(["ask", "many", "who", "when", "which", "fits", "unitword", "names", "yesno"])
NAMING = frozenset(["what", "which", "list"])
"""Words that ask for the values that were counted."""
BOTH = re.compile(r"^(?:please )?(?:give|show|tell)(?: me)? both\b", re.I)
"""Asks for what the table of the sentence before shows anyway."""
GREETING = re.compile(r"^\s*(?:hi|hello|hey)\b(?: there)?[ ,!.]*", re.I)
_AXIS = r" ?(?:on|for|as) (?:the )?{}(?:[- ]?axis)?\b"
_ON_AXIS = r"(?:[:,]|\b(?:with|put(?:ting)?|have|having|using|of))\s*(?:the )?"
SAID_OTHERWISE = {
    re.compile(
        rf"{_ON_AXIS}(?P<x>[^,:;]+?){_AXIS.format('x')}(?:,| and|, and)\s*(?:the )?"
        rf"(?P<y>[^,:;]+?){_AXIS.format('y')}",
        re.I,
    ): r" \g<y> against \g<x> ",
    re.compile(
        rf"{_ON_AXIS}(?P<y>[^,:;]+?){_AXIS.format('y')}(?:,| and|, and)\s*(?:the )?"
        rf"(?P<x>[^,:;]+?){_AXIS.format('x')}",
        re.I,
    ): r" \g<y> against \g<x> ",
    re.compile(
        r"(?:以)?横轴?(?:是|为|用|放|取|：)?(?P<x>[^、，,；和纵横轴]+)[、，,；和 ]*"
        r"纵轴(?:是|为|用|放|取|：)?(?P<y>[^、，,；纵横轴画的做作]+)"
    ): r" \g<y> against \g<x> ",
    re.compile(r"(\S+) \(y\) (?:against|vs\.?|versus) (\S+) \(x\)?", re.I): r"\1 against \2",
    re.compile(r"(\S+) \(x\) (?:against|vs\.?|versus|and) (\S+) \(y\)?", re.I): r"\2 against \1",
    re.compile(r"(\w+)\s*[（(]横轴[)）]\s*[和与、,，]\s*(\w+)\s*[（(]纵轴[)）]?"): r"\2 against \1",
    re.compile(
        r"(\b(?:against|versus|vs) (.+?))(?: as a scatter(?: ?plot)?)?,?"
        r" (?:with )?\2 on the x[- ]axis",
        re.I,
    ): r"\1",
    re.compile(r",? (?:all|taken) (?:(?:of )?(?:the )?\w+ )?together\b", re.I): " ",
    re.compile(
        r"((?:之后|以后|之前|以前|大于|超过|小于|低于|高于|不到)[^（(]{0,8})[（(]不含[^）)]*(?:[)）]|$)"
    ): r"\1",
    re.compile(r",? (?:one|a) (?:dot|point|marker) (?:per|for (?:each|every)) \w+", re.I): " ",
    re.compile(r"([\d三五十])\s*个(?:数值|数|值)(?!量)"): r"\1 行",
    re.compile(r"\s*\((?:the )?25[^()]*percentiles?\)", re.I): " ",
    re.compile(r",? and what (?:was|is) (?:it|that) (?=in )", re.I): " and ",
    re.compile(r"^\s*(is|was) it (?=\w)", re.I): r"\1 ",
    re.compile(
        r"\band what (?:was|is) (?:the|that) (?:total|sum|number|value|figure)(?=\W*$)", re.I
    ): "and how much",
    re.compile(
        r",? (?:along |together )?with (?:the|their|its) (?:value|figure|number)s?(?=\W*$)", re.I
    ): " ",
    re.compile(r"\b(?:the )?quartiles\b", re.I): "25th, 50th and 75th percentile",
}
"""What a question may say in more words, or at more places, and how it is read."""
_RULE = r"(?:[- ]?(?:rule|criterion|method|threshold))?(?:的?(?:规则|法则|方法|准则|标准|法))?"
OUTLIER_RULES = {
    re.compile(
        r"(?:\b(?:under|with|per|following) )?(?:\bthe )?(?:\b(?:usual|standard|classic) )?"
        r"(?:(?<![\d.])1\.5 ?(?:x|×|\*|times|倍的?)? ?(?:the )?)?"
        r"(?:(?<![a-z_])iqr(?![a-z_])|interquartile(?: range)?|四分位(?:间)?距|四分位法)"
        r"(?:\s*[（(]iqr[)）])?"
        rf"(?:的? ?1\.5 ?倍)?{_RULE}(?:算|来算)?",
        re.I,
    ): " iqr ",
    re.compile(
        r"(?:(?:more than|over|beyond|outside) )?(?:the )?(?:rule of )?(?:(?<![\d.])3|\bthree)[- ]?"
        r"(?:standard[- ]deviations?|sigmas?)(?: away)?(?: from (?:the |its )?(?:mean|average))?"
        + _RULE,
        re.I,
    ): " 3 standard deviations ",
    re.compile(
        r"(?:距离|离|与|距|超出)?(?:平均值|均值)?(?:超过|大于)?[±]?(?:(?<![\d.])3|三) ?倍?个?标准差"
        + _RULE
    ): " 3倍标准差 ",
}
"""Rules by which values are outliers, and the names by which ``words.txt`` knows them."""
COUNTED = ("count", "distinct", "duplicates", "missing", "outliers")
"""Tasks whose answer says how many there are."""
QUESTION_LIMIT = 2_000
"""Characters of a question about a table; looking for what it says takes the square of them."""
STEP_LIMIT = 14
HAND_IN = "hand_in"
FENCE = re.compile(r"```(?:python|py)?[ \t]*\n(.*?)```", re.S)
FIX = re.compile(
    r"(?<![A-Za-z])(?:fix|repair|debug|mend|correct (?:the|my|this)|solve)\b.{0,300}"
    r"\b(?:error|exception|cell|bug|code|traceback|it|this)|what went wrong|why this cell fails"
    r"|(?:修复|修正|改正|修|解决).{0,300}(?:错|单元|代码)|(?:错|单元).{0,300}修复|为什么.{0,300}报错",
    re.I | re.S,
)
GREET = re.compile(
    r"^\W*(?:please )?(?:say )?(?:hi|hello|hey|good (?:morning|day|evening)|thanks?|thank you"
    r"|你好|您好|谢谢)(?![A-Za-z])\W*(?:again|there)?\W*$",
    re.I,
)
HELP = re.compile(
    r"what can you do|what do you do|who are you|what are you|^\W*help\W*$|你能做什么|你是谁|帮助",
    re.I,
)
_SAVE = r"(?<![A-Za-z])(?:,? and )?(?:leave|put|store|save|keep|assign)\b[^.;!?\n]*?"
_INTO = r"\b(?:in|into|to|as|called|named)\s+"
_NO_NAME = "a|an|the|it|this|that|file|disk|csv|excel|plot|chart|order|place|mind"
TARGETS = (
    re.compile(_SAVE + _INTO + r"[^.;!?\n`]{0,24}`(\w+)`", re.I),
    re.compile(
        _SAVE + _INTO + r"(?:(?:a|the|new|variable|dataframe|name|called|named)\s+)*"
        rf"(?!(?:{_NO_NAME})\b)(\w+)",
        re.I,
    ),
    re.compile(
        r"(?:,? and )?(?<![A-Za-z])(?:call|name) (?:it|this|the (?:table|result)) `?(\w+)`?", re.I
    ),
    re.compile(
        r"[，,并且]*(?:把?结果|把?表格?|将结果)?(?:存[到入为在]|保存[到为在]|放[到进在入]|赋值给|赋给|留在|命名为)"
        r"\s*(?:变量)?\s*`?([A-Za-z_]\w*)`?(?:里|中)?",
        re.A,
    ),
)
SENTENCES = re.compile(
    r"[?!;。？！；\n]+|(?<!\bDr)(?<!\bMr)(?<!\bMs)(?<!\bvs)(?<!\bSt)(?<!\bMrs)(?<!\bProf)\.(?=\s|$)"
    r"|,? (?:and )?then (?=plot|draw)|, and (?=plot\b|draw\b)"
    r"|，?(?:然后|并)(?=画|绘)"
)


@dataclass(frozen=True)
class DemoReply:
    """A reply: words, and perhaps one tool call."""

    text: str
    call: DemoCall | None = None


def next_answer(
    messages: Sequence[Mapping[str, Any]], tools: Collection[str], forced_tool: str = ""
) -> DemoReply:
    """What the demo model says next.

    Args:
        messages: The conversation, in OpenAI's shape.
        tools: Names of the tools the request offers, or their schemas by name.
        forced_tool: A tool the request wants called, whatever the words.
    """
    conversation = read_conversation(messages, can_call=bool(tools))
    wanted = typed_answers_in(conversation.prompt) if HAND_IN in tools else None
    asked = conversation.prompt if wanted is None else wanted.body
    with answering(FILE.sub(" ", asked[:QUESTION_LIMIT])):
        reply = _reply(conversation, tools, forced_tool, wanted)
        if not conversation.is_first_reply:
            return reply
        return DemoReply(f"{say('notice')}\n\n{reply.text}".strip(), reply.call)


def _reply(
    conversation: DemoConversation,
    tools: Collection[str],
    forced_tool: str,
    wanted: TypedAnswers | None,
) -> DemoReply:
    if forced_tool:
        return DemoReply("", DemoCall("", forced_tool, {}))
    if wanted is None:
        plan = _plan(conversation, tools)
    else:
        plan = _typed(replace(conversation, prompt=wanted.body), tools, wanted)
    try:
        call = next(plan)
        for exchange in conversation.exchanges:
            call = plan.send(exchange.result)
    except StopIteration as stopped:
        return DemoReply(str(stopped.value))
    except CannotGoOnError as ended:
        return DemoReply(str(ended))
    if len(conversation.exchanges) >= STEP_LIMIT:
        return DemoReply(say("step_limit", limit=STEP_LIMIT))
    if call.tool not in tools:
        return DemoReply(_unfinished(conversation, call))
    return DemoReply(call.text, call)


def _unfinished(conversation: DemoConversation, call: DemoCall) -> str:
    steps = len(conversation.exchanges)
    if not steps:
        return say("no_tool")
    return say("unfinished_one" if steps == 1 else "unfinished", steps=steps, next=call.text)


def _typed(
    conversation: DemoConversation, tools: Collection[str], wanted: TypedAnswers
) -> Steps[str]:
    """The same work, and what came of it as typed results."""
    answer = yield from _plan(conversation, tools)
    told = [each.result for each in conversation.exchanges]
    results = results_in(answer, wanted.outputs, told, conversation.prompt)
    if results.missing:
        names = ", ".join(f"`{field.name}: {field.type_name}`" for field in results.missing)
        return f"{answer}\n\n{say('typed_missing', names=names)}"
    refused = yield DemoCall(say("hand_in"), HAND_IN, {"values": results.values})
    return say("not_taken", refused=refused)


def _plan(conversation: DemoConversation, offered: Collection[str]) -> Steps[str]:
    prompt, tools = conversation.prompt, frozenset(offered)
    asked = asked_call(prompt, offered)
    if asked is not None and asked.name == HAND_IN:
        return say("typed_only")  # reminded of what it said it cannot fill
    if asked is not None:
        if asked.missing:
            names = ", ".join(f"`{name}`" for name in asked.missing)
            written = f"`{asked.name}({asked.missing[0]}=…)`"
            return say("call_needs", tool=asked.name, names=names, written=written)
        result = yield DemoCall(say("call", tool=asked.name), asked.name, asked.arguments)
        return say("called", tool=asked.name, result=without_footer(result))
    if "search_library" in tools and asks_library(prompt):
        return (yield from answer_from_library(prompt))
    if snippet := FENCE.search(prompt):
        return (yield from run_snippet(snippet[1].strip(), tools))
    if FIX.search(prompt):
        return (yield from fix_last_cell(tools))
    if GREET.search(prompt):
        return say("greeting")
    if HELP.search(prompt) or not prompt:
        return say("abilities")
    if len(prompt) > QUESTION_LIMIT:
        return say("too_long", signs=len(prompt), limit=QUESTION_LIMIT)
    prompt = with_quoted_files(conversation)
    conversation = replace(conversation, prompt=prompt)
    return (yield from _about_data(conversation, read_request(prompt), tools))


@dataclass(frozen=True)
class TableRequest:
    """A prompt's sentences, and where the result is to be left."""

    sentences: tuple[str, ...]
    target: str = ""


def read_request(prompt: str) -> TableRequest:
    """What a prompt says, without the names of files and of the result."""
    words = FILE.sub(" ", USED_FILE.sub(" ", GREETING.sub("", prompt)))
    for said, plain in (*OUTLIER_RULES.items(), *SAID_OTHERWISE.items()):
        words = said.sub(plain, words)
    target = ""
    for pattern in TARGETS:
        found = pattern.search(words)
        if found and found[1].isidentifier() and not keyword.iskeyword(found[1]):
            target = found[1]
            words = f"{words[: found.start()]} . {words[found.end() :]}"
            break
    words = MENTIONED.sub(" ", words)
    parts = tuple(part.strip(" \t,，.()（）") for part in SENTENCES.split(words))
    return TableRequest(tuple(part for part in parts if part), target)


def _about_data(
    conversation: DemoConversation, request: TableRequest, tools: frozenset[str]
) -> Steps[str]:
    names = file_names(conversation.prompt)
    if len(names) > 1:
        raise CannotGoOnError(say("one_table", names=", ".join(f"`{name}`" for name in names)))
    if refused := _nothing_known(conversation, request, names):
        return _refusal(refused, request)
    source = yield from find_source(conversation, tools)
    frame = yield from load(source, tools, conversation.holding)
    sampled = (say("sampled", path=source.path, rows=frame.rows),) if source.is_large else ()
    parts = []
    try:
        queries, read_as = yield from _queries(request, frame)
        table = yield from convert(frame, _needed(queries, frame), copy=not source.path)
        for place, query in enumerate(queries):
            query = _with_columns(query, table.frame)
            name = request.target if not place and request.target else result_name(query, frame)
            work = Work(query, table.frame, tools, name)
            parts.append((yield from answer(work)))
    except UnclearError as refused:
        return "\n\n".join([*parts, _refusal(refused, request, frame)])
    return "\n\n".join([*parts, *(f"- {note}" for note in (*read_as, *sampled, *table.notes))])


def _nothing_known(
    conversation: DemoConversation, request: TableRequest, names: Sequence[str]
) -> UnclearError | None:
    """A question without a word that is understood, where no table is named, needs no table."""
    if (
        conversation.files
        or conversation.variables
        or names
        or MENTIONED.search(conversation.prompt)
    ):
        return None
    nothing = vocabulary(TableColumns("", 0, ()))
    spans = [span for sentence in request.sentences for span in read_spans(sentence, nothing)]
    plain = ("fill", "be", "verb", "with", "in", "of", "and", "comma", "what", "num")
    if any(span.meanings and span.meanings[0].kind not in plain for span in spans):
        return None
    return UnclearError(unknown_words(spans) or [conversation.prompt])


def _queries(request: TableRequest, frame: TableColumns) -> Steps[tuple[list[Query], list[str]]]:
    """What the sentences ask, and how slips were read."""
    whole = [found[0] for s in request.sentences for found in WHOLE_ROW.finditer(s)]
    said = map(_for_rows, request.sentences) if whole else request.sentences
    sentences = tuple(said) or ("describe",)
    words = yield from _words_for(sentences, frame)
    queries: list[Query] = []
    notes: list[str] = []
    for raw in sentences:
        sentence, slips = correct_spelling(without_asides(raw, words), words)
        notes += [say("slip", slip=slip, word=word) for slip, word in slips]
        spans = [s for s in read_spans(sentence, words) if s.text not in ("they", "them")]
        first = [word for span in spans for word in span.meanings[:1]]
        kinds = {word.kind for word in first}
        is_known = all(span.meanings for span in spans)
        if is_known and kinds <= {*SOFT, "row", "telling", "names", "column"}:
            if len(sentences) == 1 and "names" not in kinds and "column" not in kinds:
                queries.append(Query("describe"))
                continue
            asks = any(word.kind in NAMING for span in spans for word in span.meanings)
            if "telling" in kinds or (queries and not asks):
                continue
        before = queries[-1] if queries else None
        if before is not None and before.by and BOTH.match(raw):
            continue
        more = _asked_again(before, first) if before is not None and is_known else None
        if before is not None and more is None:
            more = _asked_of(before, sentence, words)
        if more is not None:
            queries[-1] = more
            continue
        part = _share_of(before, kinds) if is_known else None
        asked = [part] if part is not None else _read(sentence, words, before)
        if before is not None and REFERRING.search(sentence) and asked[0].task != "chart":
            raise UnclearError([REFERRING.findall(sentence)[0]], "refers")
        queries += asked
    if whole and queries:
        queries[-1] = _with_whole_rows(queries[-1], whole)
    # What is only a remark beside a profile is part of it.
    return queries or [Query("describe")], notes


def _words_for(sentences: Sequence[str], frame: TableColumns) -> Steps[Vocabulary]:
    """What words mean for the table; looks for values that were not shown."""
    words = with_text_parts(vocabulary(frame), sentences)
    unknown = [
        w for s in sentences for run in unknown_words(read_spans(s, words)) for w in run.split()
    ]
    capitals = _capitals(sentences, words)
    if not unknown and not capitals:
        return words
    groups = [group for group in lexicon().same if _is_named(group, unknown, sentences)]
    same = [max(phrase, key=len) for group in groups for phrase in group]
    unknown = [u for u in unknown if not correct_spelling(u, words)[1]]
    found = yield from find_values(frame, list(dict.fromkeys([*unknown, *same, *capitals])))
    words = with_text_parts(vocabulary(frame, tuple(found)), sentences)
    if missing := [word for word in _capitals(sentences, words) if _is_filling(word)]:
        raise UnclearError(missing)
    return words


def _is_named(
    group: Sequence[Sequence[str]], unknown: Sequence[str], sentences: Sequence[str]
) -> bool:
    """Whether unknown words are one of the names, or a part of a Chinese one that is said."""
    names = ["".join(phrase) for phrase in group]
    return any(
        name in unknown
        or (
            not name.isascii()
            and any(word in name for word in unknown)
            and any(name in sentence for sentence in sentences)
        )
        for name in names
    )


def _for_rows(sentence: str) -> str:
    """A sentence where whole rows are asked for: who has no name in the table has a row."""
    return re.sub(r"(?i)^who\b", "which row", WHOLE_ROW.sub(" row ", sentence))


def _with_whole_rows(query: Query, said: Sequence[str]) -> Query:
    """The query, showing every column of the rows that it finds.

    Raises:
        UnclearError: It finds no rows.
    """
    query = _row_of_end(query)
    if query.task not in ("extreme", "rows"):
        raise UnclearError(said)
    return replace(query, whole_rows=True)


def _row_of_end(query: Query) -> Query:
    """The row that has the highest or lowest value, where only the value was asked for."""
    if query.task != "number" or query.functions not in (("max",), ("min",)):
        return query
    is_low = query.functions == ("min",)
    return replace(query, task="extreme", functions=(), lowest=is_low)


def _capitals(sentences: Sequence[str], words: Vocabulary) -> list[str]:
    """Pairs of capitals that are no value yet: "in ME" may be a state that the look left out."""
    found = [w for s in sentences if not s.isupper() for w in re.findall(r"\b[A-Z]{2}\b", s)]
    return [
        word
        for word in found
        if all(
            known.kind not in ("val", "weakval", "col")
            for known in words.index.get(phrase_of(word), ())
        )
    ]


def _is_filling(word: str) -> bool:
    return any(sense.kind == "fill" for sense in lexicon().senses.get(phrase_of(word), ()))


def _read(sentence: str, words: Vocabulary, before: Query | None) -> list[Query]:
    """What a sentence asks; where it is not understood, what it does without its last clause."""
    if found := YES_OR_NO.search(sentence) or EVERY.search(sentence):
        raise UnclearError([found[0].strip(" ,，")])
    _check_total(sentence, words, before)
    try:
        return [read_query(sentence, words, before)]
    except UnclearError:
        for clause in CLAUSE.finditer(sentence):
            spans = read_spans(sentence[: clause.start()], words)
            is_list = any(w.kind == "col" for span in spans[-1:] for w in span.meanings[:1])
            if clause[0].strip() in (",", "，") and is_list:
                continue  # the highest price, weight and height
            with suppress(UnclearError):
                query = read_query(sentence[: clause.start()], words, before)
                more = _asked_of(query, sentence[clause.start() :], words)
                if more is not None:
                    return [more]
        for second in SECOND.finditer(sentence):
            with suppress(UnclearError):
                return _both(sentence[: second.start()], sentence[second.end() :], words)
        raise


def _check_total(sentence: str, words: Vocabulary, before: Query | None) -> None:
    """Refuse a second question after a total that would change nothing of the first one's answer.

    Raises:
        UnclearError: It would be left unanswered.
    """
    if (found := IN_TOTAL.search(sentence)) is None:
        return
    queries = []
    for part in (sentence[: found.start()], sentence):
        with suppress(UnclearError):
            queries.append(read_query(part, words, before))
    if queries and queries[0] == queries[-1]:
        raise UnclearError([found[0].strip(" ,，")])


def _both(first: str, second: str, words: Vocabulary) -> list[Query]:
    """Two questions in one sentence, where nothing said of the one is meant of the other.

    Raises:
        UnclearError: One of them is not understood, or they hang together.
    """
    one, other = read_query(first, words), read_query(second, words)
    columns = [{each.column for each in query.filters} for query in (one, other)]
    is_row = one.functions in (("max",), ("min",))  # "and how many rooms" may be of that row
    hangs = is_row or one.by or not columns[0] <= columns[1] or HANGS.search(second)
    nouns = [w for span in read_spans(second, words) for w in span.meanings if w.kind == "row"]
    is_bare = other.task == "count" != one.task and not nouns  # "and how many in Madrid"
    if (
        hangs
        or is_bare
        or REFERRING.search(second)
        or not {one.task, other.task} <= {*ASKED_BESIDE}
    ):
        raise UnclearError([second], "refers")
    return [one, other]


def _asked_again(before: Query, words: Sequence[Word]) -> Query | None:
    """The query before, where a sentence has no words of its own: "Which are they?"."""
    kinds = {word.kind for word in words}
    if before.task == "distinct" and kinds <= SOFT | NAMING:
        return replace(before, task="values")
    if kinds <= {*SOFT, "many"} and before.task in COUNTED:
        return before  # "Are there duplicates? How many?"
    if kinds <= {*SOFT, "which"} and before.having is not None:
        return before  # "Are there names that occur twice? Which ones?"
    if before.task == "correlation" and kinds <= {*SOFT, "corr"}:
        return before  # "How strongly are they related? Give me the correlation."
    if before.difference and kinds <= {*SOFT, "difference", "unitword", "row", "bymuch"}:
        return before  # "Show both averages and the gap in dollars."
    rules = [str(word.value) for word in words if word.kind == "rule"]
    plain = {*SOFT, "rule", "using", "by", "thiscol", "many", "fits"}
    if before.task == "outliers" and len(rules) == 1 and kinds <= plain:
        return replace(before, rule=rules[0])  # "Are there outliers? Use the IQR rule."
    return None


def _share_of(before: Query | None, kinds: AbstractSet[str]) -> Query | None:
    """How large a part those are that were counted: "What percentage of the rows is that?"."""
    if before is None or before.by or "share" not in kinds:
        return None
    if not kinds <= {*SOFT, "share", "row", "fits", "holds"}:
        return None
    if before.task == "missing" and before.rule == "count" and before.measures:
        return replace(before, rule="share")
    return replace(before, task="share") if before.task == "count" and before.filters else None


def _asked_of(query: Query, text: str, words: Vocabulary) -> Query | None:
    """A query with what else is asked of what it finds; None: the text asks something else."""
    spans = read_spans(text, words)
    first = [span.meanings[0] for span in spans if span.meanings]
    kinds = {word.kind for word in first}
    columns = tuple(w.column for w in first if w.kind == "col" and w.column is not None)
    if len(first) < len(spans) or not first:
        return None
    # "Which village has the most rows, and how many?": rows are what is counted there.
    counted = {"row", "clf"} if query.measure is None and query.task == "best" else set()
    if not kinds <= {*SOFT, *ASKING, "col", *counted}:
        return None
    if columns or "who" in kinds:
        query = _row_of_end(query)
    known = [*query.measures, *([query.subject.column] if query.subject else [])]
    if query.task not in ("best", "extreme", "agree", "rows"):
        return None
    if "who" in kinds and query.task in ("best", "agree"):
        return None  # who in the best department earns it?
    units = [str(word.value) for word in first if word.kind == "unitword"]
    if any(query.measure is None or not fits_unit(query.measure, unit) for unit in units):
        return None
    counted_in = columns or ((query.measure,) if query.measure else ())
    if "many" in kinds and not all(c.dtype.startswith("int") for c in counted_in):
        return None  # how many there are is not how much it has
    if not columns:
        return query if kinds & {"many", "ask", "who"} and query.task != "rows" else None
    if set(columns) <= set(known):
        return query
    return replace(query, details=columns) if query.task in ("extreme", "rows") else None


def _needed(queries: list[Query], frame: TableColumns) -> tuple[Column, ...]:
    """The columns whose text has to be read as numbers or dates."""
    if any(query.task in ("describe", "clean") for query in queries):
        return frame.columns
    raw = ("missing", "duplicates", "columns", "head")
    needed = [column for query in queries if query.task not in raw for column in query.columns]
    return tuple(dict.fromkeys(needed))


def _with_columns(query: Query, frame: TableColumns) -> Query:
    """The query in terms of the converted columns."""
    now = {column.name: column for column in frame.columns}

    def group(old: Any) -> Any:
        return replace(old, column=now[old.column.name])

    return replace(
        query,
        measures=tuple(now[column.name] for column in query.measures),
        by=tuple(map(group, query.by)),
        subject=group(query.subject) if query.subject else None,
        filters=tuple(
            replace(group(f), value=now[f.value.name]) if isinstance(f.value, Column) else group(f)
            for f in query.filters
        ),
        base=tuple(map(group, query.base)),
        details=tuple(now[column.name] for column in query.details),
    )


def _refusal(
    refused: UnclearError, request: TableRequest, frame: TableColumns | None = None
) -> str:
    """Which words cannot be done, what is there, and what can be done."""
    words = say("list_comma").join(f"“{word}”" for word in refused.words)
    foreign = not refused.reason and is_foreign(" ".join(request.sentences))
    kind = "language" if foreign else refused.reason or "unknown"
    reason = say(kind, words=words)
    if refused.columns:
        reason += f" ({listing(refused.columns)})"
    names = [str(column.name) for column in frame.columns] if frame else []
    similar = dict.fromkeys(filter(None, (closest(word, names) for word in refused.words)))
    if similar and kind == "unknown":
        near = ", ".join(f"`{name}`" for name in similar)
        reason += say("did_you_mean", near=near)
    parts = [say("refusal", reason=reason)]
    if frame is not None:
        parts.append(say("table_has", name=frame.name, columns=listing(frame.columns)))
    return "\n\n".join([*parts, say("abilities")])
