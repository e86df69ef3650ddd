"""The one style sheet of a report: no font, picture or rule comes from elsewhere."""

from __future__ import annotations

STYLE = """
:root {
  color-scheme: light dark;
  --paper: #fbfaf8; --card: #ffffff; --ink: #1f2328; --soft: #5b6470; --line: #e3e1dc;
  --well: #f5f4f1; --accent: #b4532a; --good: #1a7f4b; --bad: #b3261e; --wait: #8a6100;
  --blue: #1d5fb8; --violet: #7a3ea8; --cyan: #0b7285; --magenta: #a8326f; --tint: #fdf3ee;
  --mono: ui-monospace, "SF Mono", "Cascadia Code", Menlo, Consolas, "DejaVu Sans Mono", monospace;
  --sans: system-ui, -apple-system, "Segoe UI", Roboto, "Noto Sans", "DejaVu Sans", sans-serif;
}
@media (prefers-color-scheme: dark) {
  :root {
    --paper: #16181c; --card: #1e2126; --ink: #e6e4df; --soft: #9aa3ad; --line: #33373e;
    --well: #191c20; --accent: #e58b5f; --good: #5fc48d; --bad: #f28b82; --wait: #e0b44c;
    --blue: #82b1f2; --violet: #c79bea; --cyan: #6fc7d6; --magenta: #e890bd; --tint: #2a211c;
  }
}
* { box-sizing: border-box; }
body {
  margin: 0; padding: 3rem 1.25rem 4rem; background: var(--paper); color: var(--ink);
  font: 16px/1.6 var(--sans); overflow-wrap: anywhere;
}
main { max-width: 54rem; margin: 0 auto; }
.mark {
  font-size: .78rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft);
  display: flex; justify-content: space-between; gap: 1rem; flex-wrap: wrap;
}
.mark code { text-transform: none; letter-spacing: 0; background: none; padding: 0; }
h1 {
  font-size: 1.7rem; line-height: 1.3; font-weight: 650; margin: .75rem 0 1.25rem;
  white-space: pre-wrap; text-wrap: pretty;
}
h1.long { font-size: 1.15rem; font-weight: 500; line-height: 1.5; }
h2 {
  font-size: .78rem; letter-spacing: .08em; text-transform: uppercase; color: var(--soft);
  font-weight: 600; margin: 3rem 0 .75rem;
}
.status { font-weight: 650; }
.status::before { content: "●"; margin-right: .4em; font-size: .8em; vertical-align: .08em; }
.good { color: var(--good); } .bad { color: var(--bad); } .wait { color: var(--wait); }
dl.facts {
  display: flex; flex-wrap: wrap; gap: 1px; margin: 0; background: var(--line);
  border: 1px solid var(--line); border-radius: .6rem; overflow: hidden;
}
dl.facts div { background: var(--card); padding: .7rem .9rem; flex: 1 1 7.5rem; }
dl.facts dt { font-size: .75rem; color: var(--soft); }
dl.facts dd { margin: 0; font-variant-numeric: tabular-nums; line-height: 1.4; }
dl.facts dd small { display: block; color: var(--soft); font-size: .75rem; }
.reason {
  margin: 1rem 0 0; padding: .7rem .9rem; border-left: 3px solid var(--wait);
  background: var(--well); white-space: pre-wrap;
}
ol.steps { list-style: none; margin: 1.75rem 0 0; padding: 0; }
ol.steps > li {
  position: relative; padding: 0 0 1.5rem 2rem; border-left: 1px solid var(--line);
  margin-left: .4rem;
}
ol.steps > li:last-child { border-left-color: transparent; padding-bottom: 0; }
ol.steps > li::before {
  content: ""; position: absolute; left: -.36rem; top: .5rem; width: .7rem; height: .7rem;
  border-radius: 50%; background: var(--card); border: 2px solid var(--line);
}
ol.steps > li.ok::before { border-color: var(--good); background: var(--good); }
ol.steps > li.failed::before { border-color: var(--bad); background: var(--bad); }
ol.steps > li.said::before { border-color: var(--accent); }
.prose > :first-child { margin-top: 0; } .prose > :last-child { margin-bottom: 0; }
.prose h3, .prose h4, .prose h5, .prose h6 { line-height: 1.35; margin: 1.4em 0 .4em; }
.prose h3 { font-size: 1.2rem; } .prose h4 { font-size: 1.05rem; }
.prose h5, .prose h6 { font-size: 1rem; }
.prose p, .prose ul, .prose ol, .prose pre, .prose blockquote { margin: .7em 0; }
.prose ul, .prose ol { padding-left: 1.4em; }
blockquote {
  margin: 0; padding-left: 1rem; border-left: 3px solid var(--line); color: var(--soft);
}
.cell {
  background: var(--card); border: 1px solid var(--line); border-radius: .6rem; overflow: hidden;
}
.cell > header {
  display: flex; gap: .75rem; justify-content: space-between; align-items: baseline;
  padding: .4rem .9rem; border-bottom: 1px solid var(--line); font-size: .78rem;
  color: var(--soft); font-variant-numeric: tabular-nums;
}
pre, code, kbd, samp { font-family: var(--mono); font-size: .86em; }
code { background: var(--well); padding: .1em .3em; border-radius: .25em; }
pre { margin: 0; white-space: pre-wrap; line-height: 1.55; tab-size: 4; }
pre.code { background: var(--well); padding: .8rem .9rem; font-size: .84rem; }
.prose pre.code { border: 1px solid var(--line); border-radius: .5rem; }
.outputs { border-top: 1px solid var(--line); }
.outputs > * { padding: .75rem .9rem; margin: 0; }
.outputs > * + * { border-top: 1px dashed var(--line); }
.outputs pre { font-size: .82rem; } .stderr { color: var(--soft); }
.outputs .result > pre { font-size: .86rem; }
.outputs img, .prose img { max-width: 100%; height: auto; background: #fff; border-radius: .3rem; }
.outputs img { display: block; margin: 0 auto; }
details > summary { cursor: pointer; }
details.error { color: var(--bad); } details.error[open] > pre { margin-top: .6rem; }
details.error > summary { font-family: var(--mono); font-size: .84rem; font-weight: 600; }
details.error pre { color: var(--ink); }
details.more { color: var(--soft); font-size: .9rem; margin: .5rem 0; }
details.more > :not(summary) { margin-top: .5rem; }
.call { font-size: .88rem; color: var(--soft); }
.call b { color: var(--ink); font-weight: 600; font-family: var(--mono); font-size: .84rem; }
.address { color: var(--soft); font-family: var(--mono); font-size: .8em; }
.blocked {
  display: inline-block; color: var(--soft); background: var(--well); font-size: .82rem;
  border: 1px dashed var(--line); border-radius: .3rem; padding: .1rem .5rem;
}
.answer {
  background: var(--tint); border: 1px solid var(--line); border-left: 3px solid var(--accent);
  border-radius: .3rem .6rem .6rem .3rem; padding: 1rem 1.2rem;
}
.table { overflow-x: auto; }
table { border-collapse: collapse; font-size: .86rem; font-variant-numeric: tabular-nums; }
th, td {
  padding: .35rem .75rem; text-align: right; border-bottom: 1px solid var(--line);
  vertical-align: top;
}
th { font-weight: 600; color: var(--soft); } tbody tr:last-child > * { border-bottom: 0; }
thead th { border-bottom: 1px solid var(--soft); }
.prose td, .prose th { text-align: left; }
table.plain { width: 100%; } table.plain td, table.plain th { text-align: left; }
ul.notices { padding-left: 1.2rem; color: var(--soft); margin: 0; }
footer { margin-top: 3rem; color: var(--soft); font-size: .8rem; }
.c-k, .c-kn, .c-kc, .c-kd, .c-kr, .c-ow { color: var(--violet); }
.c-s, .c-s1, .c-s2, .c-sd, .c-sa, .c-sb, .c-se, .c-si { color: var(--good); }
.c-c, .c-c1, .c-cm, .c-ch { color: var(--soft); font-style: italic; }
.c-mi, .c-mf, .c-m, .c-mh { color: var(--accent); }
.c-nf, .c-nc, .c-nd, .c-fm { color: var(--blue); } .c-nb, .c-bp, .c-nn { color: var(--cyan); }
.ansi-bold { font-weight: 650; } .ansi-red { color: var(--bad); }
.ansi-green { color: var(--good); } .ansi-yellow { color: var(--wait); }
.ansi-blue { color: var(--blue); } .ansi-magenta { color: var(--magenta); }
.ansi-cyan { color: var(--cyan); } .ansi-grey { color: var(--soft); }
@media (max-width: 36rem) {
  body { padding: 1.5rem .9rem 3rem; } h1 { font-size: 1.35rem; }
  ol.steps > li { padding-left: 1.2rem; }
}
@media print {
  :root {
    --paper: #fff; --card: #fff; --ink: #000; --soft: #444; --line: #ccc; --well: #fff;
    --tint: #fff;
  }
  body { padding: 0; font-size: 11pt; } main { max-width: none; }
  details > :not(summary) { display: block; } .cell header { break-after: avoid; }
  .outputs img, tr, .answer { break-inside: avoid; }
}
"""
