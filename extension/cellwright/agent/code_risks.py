"""Signs in code that it does more than compute: deletes, installs, sends, touches guarded files.

What deletes and installs is looked for in the syntax tree (``python_risks``), the rest, and what
is no Python, by patterns in the text. Signs can be hidden and they can be wrong, so they only
ever raise what is asked about, never lower it.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache

from cellwright.agent.command_risks import DELETES_FILES, INSTALLS, RUNS_DOWNLOADS, CodeRisk
from cellwright.agent.python_risks import python_risks

SIGN_LIMIT = 5


@dataclass(frozen=True)
class _Sign:
    pattern: re.Pattern[str]
    found: CodeRisk


def _sign(pattern: str, risk: CodeRisk) -> _Sign:
    return _Sign(re.compile(pattern, re.IGNORECASE | re.MULTILINE), risk)


DELETES_ROWS = CodeRisk("destroy", "deletes from a database")
SENDS = CodeRisk("destroy", "publishes or sends something")
STOPS = CodeRisk("destroy", "ends processes")
AS_ADMINISTRATOR = CodeRisk("destroy", "acts as administrator")
SHELL = CodeRisk("execute", "runs a shell command")
GUARDED = CodeRisk("destroy", "touches Jupyter's or cellwright's own files", always_ask=True)
MEMORY = CodeRisk("destroy", "changes what is kept for later conversations", always_ask=True)
OWN_SERVER = CodeRisk("destroy", "reads the Jupyter server's token", always_ask=True)

# Repeats are bounded and stay on their line, so that no code makes the search slow.
LINE_START = r"^[ \t]*(?:\w[\w, ]{0,80}=[ \t]*)?"
SHELL_LINE = LINE_START + r"(?:!|%(?:sx|system)\b)|^%%(?:bash|sh|script|cmd)\b"
COMMAND = rf"(?:{SHELL_LINE}|[\"'`;|&(]|^)[ \t]*"
SIGNS = (
    _sign(r"\bshutil\s{0,9}\.\s{0,9}rmtree\b|\brmtree\s{0,9}\(", DELETES_FILES),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:remove|unlink|rmdir|removedirs|truncate)\b", DELETES_FILES),
    _sign(r"\.\s{0,9}(?:unlink|rmdir)\s{0,9}\(|\bsend2trash\b", DELETES_FILES),
    _sign(
        COMMAND
        + r"(?:sudo[ \t]+)?(?:rm|rmdir|shred|mkfs\.?\w{0,9}|dd)(?:[\"'],)?[ \t]+(?![-+*/]?=)\S",
        DELETES_FILES,
    ),
    # At the start of a line and after a semicolon it is Python's own statement.
    _sign(rf"(?:{SHELL_LINE}|[\"'`|&])[ \t]*del(?:[\"'],)?[ \t]+\S", DELETES_FILES),
    _sign(r"\A\s{0,99}%%(?:script|cmd)\b[\s\S]{0,9999}?^[ \t]*del[ \t]+\S", DELETES_FILES),
    _sign(
        r"\bgit\s{1,9}(?:reset\s{1,9}--hard|clean\s{1,9}-|push\b.{0,99}--force|checkout\s{1,9}--)",
        DELETES_FILES,
    ),
    _sign(
        r"\b(?:drop\s{1,9}(?:table|database|schema|view|index)|truncate\s{1,9}table"
        r"|delete\s{1,9}from)\s",
        DELETES_ROWS,
    ),
    _sign(
        r"\b(?:pip3?|uv|conda|mamba|apt(?:-get)?|brew|npm|yum|dnf)\b[\"', \t]{1,9}"
        r"(?:pip[\"', \t]{1,9})?(?:-\S{1,40}[ \t]{1,9}){0,5}(?:un)?(?:install|add|remove|sync)\b",
        INSTALLS,
    ),
    _sign(r"\bensurepip\b|\bmicropip\s{0,9}\.\s{0,9}install\b", INSTALLS),
    _sign(r"\bgit\s{1,9}push\b|\btwine\s{1,9}upload\b|\bsmtplib\b|\bsendmail\b", SENDS),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:kill|killpg|abort|_exit)\b|\bpkill\b|\bkillall\b", STOPS),
    _sign(r"\bshutdown\s{1,9}(?:-|now|/)|\breboot\b", STOPS),
    _sign(r"\bsudo\s{1,9}\S|\bch(?:mod|own)\s{1,9}-R\b", AS_ADMINISTRATOR),
    _sign(r"\b(?:curl|wget)\b.{0,300}\|[ \t]*(?:sudo[ \t]+)?(?:ba|z|da)?sh\b", RUNS_DOWNLOADS),
    _sign(
        r"(?:^|[\s/\\\"'~(])\.(?:jupyter|ipython|cellwright|ssh|bashrc|profile|zshrc)\b", GUARDED
    ),
    _sign(r"\bkernelspec|\bkernels?[/\\].{0,200}kernel\.json|\bjupyter_\w{0,40}config\b", GUARDED),
    _sign(r"\bsitecustomize\b|\busercustomize\b|\bipython_\w{0,40}config\b", GUARDED),
    _sign(r"(?-i:\bCELLWRIGHT_[A-Z])", GUARDED),
    _sign(r"\b(?:agent|cellwright)[\"', \t\n/]{1,9}memory\b|\bcellwright/v1/memor", MEMORY),
    _sign(r"\bcellwright\s{0,9}\.\s{0,9}(?:knowledge|memory|store)\b|\bruns\.sqlite\b", MEMORY),
    _sign(r"\bcellwright\s{1,9}import\s{1,9}(?:knowledge|memory|store)\b", MEMORY),
    _sign(r"\bJUPYTERHUB_API_TOKEN\b|\bjpserver-|\bJPY_API_TOKEN\b", OWN_SERVER),
    _sign(SHELL_LINE, SHELL),
    _sign(r"\bos\s{0,9}\.\s{0,9}(?:system|popen|exec\w+|spawn\w+)\b|\bsubprocess\b", SHELL),
)


@lru_cache(maxsize=16)
def code_risks(code: str) -> tuple[CodeRisk, ...]:
    """The signs in a piece of code, each once, the five that matter most."""
    found = dict.fromkeys(sign.found for sign in SIGNS if sign.pattern.search(code))
    found.update(dict.fromkeys(python_risks(code)))
    most_first = sorted(found, key=lambda sign: (not sign.always_ask, sign.risk == "execute"))
    return tuple(most_first[:SIGN_LIMIT])
