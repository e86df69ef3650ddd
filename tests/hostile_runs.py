"""What somebody may put into a run so that a reader's browser acts (faults A9 to A12)."""

from __future__ import annotations

from collections.abc import Iterator

from recorded_runs import called, cell_run, record_of, replied, result

from cellwright.record.events import (
    CellAdded,
    ModelAsked,
    Notice,
    RunFinished,
    RunStarted,
    StateCaptured,
    ToolFinished,
    ToolStarted,
)
from cellwright.record.messages import (
    AssistantMessage,
    Parameters,
    TextPart,
    ToolCall,
    ToolMessage,
    UserMessage,
)
from cellwright.record.outputs import Cell, DisplayData, ErrorOutput, StreamOutput
from cellwright.record.run_record import RunRecord

MARKED = "document.documentElement.setAttribute('hacked','1')"


def payloads(sink: str) -> Iterator[str]:
    """Pieces of text that load something from ``sink`` or run a script where they are believed."""
    load = f"fetch('{sink}/script')"
    yield f"<script>{load};{MARKED}</script>"
    yield f'<img src=x onerror="{MARKED}">'
    yield f"<img src='{sink}/img.png'>"
    yield f"<img srcset='{sink}/set.png 1x'>"
    yield f"![x]({sink}/markdown.png)"
    yield f"![x][r]\n\n[r]: {sink}/reference.png"
    yield f"<{sink}/auto.png>"
    yield f"<svg onload=\"{MARKED}\"><image href='{sink}/svg.png'/></svg>"
    yield f"<svg/onload={MARKED}>"
    yield f"<svg><script>{MARKED}</script><style>@import '{sink}/svg.css'</style></svg>"
    yield f'<div style="background:url({sink}/css.png)">x</div>'
    yield f"<style>body{{background:url({sink}/style.png)}} @import '{sink}/i.css';</style>"
    yield f"<link rel=stylesheet href='{sink}/link.css'><base href='{sink}/'>"
    yield f"<link rel=prefetch href='{sink}/prefetch'><link rel=dns-prefetch href='{sink}'>"
    yield f'<meta http-equiv=refresh content="0;url={sink}/refresh">'
    yield f"<iframe src='{sink}/frame'></iframe><iframe srcdoc='<script>{load}</script>'></iframe>"
    yield f"<object data='{sink}/object'></object><embed src='{sink}/embed'>"
    yield f"<video src='{sink}/v.mp4' poster='{sink}/poster.png' autoplay></video>"
    yield f"<audio src='{sink}/a.mp3' autoplay></audio>"
    yield f"<input type=image src='{sink}/input.png'><form action='{sink}/form'><button>x</button>"
    yield f"<table background='{sink}/table.png'><tr><td onclick='{MARKED}'>x</td></tr></table>"
    yield f"<body onload=\"{MARKED}\" background='{sink}/body.png'>"
    yield '<a href="javascript:alert(1)">x</a> [x](javascript:alert(1))'
    yield "<a href='data:text/html,<script>1</script>'>x</a>"
    yield "<button data-commandlinker-command='terminal:create-new'>x</button>"
    yield "$\\href{javascript:alert(1)}{x}$"
    yield f"```mermaid\ngraph TD; A[\"<img src='{sink}/mermaid.png'>\"]\n```"
    yield f"</title></style></pre></script><img src='{sink}/closed.png'>"
    yield f"--><img src='{sink}/comment.png'><!--"
    yield f"<math><mtext><img src='{sink}/math.png' onerror={MARKED}></mtext></math>"
    yield f"<noscript><p title=\"</noscript><img src='{sink}/noscript.png'>\">"
    yield f"<template><img src='{sink}/template.png'></template>"
    yield f"<xmp><img src='{sink}/xmp.png'></xmp><plaintext>"
    yield f"<a id=x name=x ping='{sink}/ping' href='{sink}/a'>x</a>"
    yield "\x1b]52;c;cm0gLXJm\x07\x1b]8;;http://evil.example\x07link\x1b]8;;\x07\u202etxt.exe"
    yield f'" onmouseover="{MARKED}" x="'
    yield f"' autofocus onfocus='{MARKED}' x='"


def hostile_run(payload: str) -> RunRecord:
    """A run with the same text in every place that can hold one."""
    bundle = {
        "text/html": payload,
        "text/plain": payload,
        "text/markdown": payload,
        "image/svg+xml": payload,
        "image/png": payload,
        "application/json": {payload: payload},
        "application/javascript": payload,
    }
    kinds = [DisplayData({mime: value, "text/plain": "x"}) for mime, value in bundle.items()]
    reply = AssistantMessage(payload, (ToolCall("c0", payload, payload),), payload, payload)
    return record_of(
        [
            RunStarted(
                prompt=payload,
                lane=payload,
                mode=payload,
                parameters=Parameters(payload),
                base_url=payload,
                files=(payload,),
                limits={payload: payload},
                source_run=payload,
                continues=payload,
                version=payload,
            ),
            StateCaptured(
                (Cell(payload, "code", payload),),
                (payload,),
                {payload: payload},
                {payload: payload},
                payload,
                {payload: payload},
                payload,
            ),
            ModelAsked(1, (UserMessage((TextPart(payload),)),)),
            replied(reply),
            ToolStarted("c0", payload, {payload: payload}, payload),
            ToolFinished(
                "c0", payload, ToolMessage("c0", payload, (TextPart(payload),)), "refused"
            ),
            ModelAsked(2, (reply, result("c0", payload))),
            replied(called("c1")),
            *cell_run(
                "c1",
                payload,
                payload,
                StreamOutput("stdout", payload),
                StreamOutput(payload, payload),
                DisplayData(bundle, {payload: payload}),
                *kinds,
                ErrorOutput(payload, payload, (payload,)),
                status="error",
            ),
            CellAdded("m", payload, "markdown"),
            CellAdded("n", payload, "code"),
            Notice("info", payload, payload),
            RunFinished("completed", payload + " ", payload, payload),
        ]
    )
