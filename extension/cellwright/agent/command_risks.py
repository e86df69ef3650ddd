"""Signs in a shell's text that it deletes, overwrites, installs or runs what nobody can read.

What this does not see: what a script or a program does that the text only names, and what a
variable of the shell holds, unless it stands where the command should.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import takewhile
from typing import Literal


@dataclass(frozen=True)
class CodeRisk:
    """One sign."""

    risk: Literal["execute", "install", "destroy"]
    reason: str
    """What the code does, in words for people."""
    always_ask: bool = False
    """Asked about in every mode, whatever was allowed before."""


DELETES_FILES = CodeRisk("destroy", "deletes files")
MOVES_FILES = CodeRisk("destroy", "moves files, which may overwrite others")
INSTALLS = CodeRisk("install", "installs packages")
RUNS_DOWNLOADS = CodeRisk("destroy", "runs what it downloads")
HIDDEN = CodeRisk("destroy", "runs something that cannot be read beforehand, which may delete")

UNKNOWN = "\0"
"""Stands for a part of a command that only the running code knows."""
PACKAGE_MAGICS = frozenset({"pip", "conda", "mamba", "micromamba", "uv"})
DELETING = frozenset(
    {"rm", "rmdir", "unlink", "shred", "dd", "truncate", "del", "erase", "rd", "trash", "srm"}
    | {"Remove-Item"}
)
MOVING = frozenset({"mv", "move", "ren", "rename", "Move-Item"})
OTHER_LANGUAGES = frozenset({"perl", "ruby", "node", "php", "Rscript", "lua"})
SHELLS = frozenset({"sh", "bash", "zsh", "dash", "ksh", "fish", "cmd", "powershell", "pwsh"})
INSTALLERS = frozenset(
    {*PACKAGE_MAGICS, "apt", "apt-get", "aptitude", "brew", "npm", "yarn", "pnpm", "yum", "dnf"}
    | {"apk", "zypper", "snap", "flatpak", "pipx", "poetry", "pdm", "pixi", "hatch", "rye", "gem"}
    | {"cargo", "go", "dpkg", "rpm", "pacman", "port", "choco", "winget", "scoop", "jupyter"}
    | {"spacy", "easy_install", "ensurepip", "uvx", "npx"}
)
INSTALLING = frozenset(
    {"install", "uninstall", "add", "remove", "sync", "create", "update", "upgrade", "purge"}
    | {"autoremove", "dist-upgrade", "reinstall"}
)
"""What most of them call it."""
INSTALLING_TOO = {
    "apk": {"del"},
    "dpkg": {"-i", "-r", "-P"},
    "go": {"get"},
    "npm": {"ci", "i"},
    "pacman": {"-S", "-Sy", "-Syu", "-R", "-U"},
    "pipx": {"inject", "run"},
    "rpm": {"-i", "-U", "-e", "-ivh", "-Uvh"},
    "spacy": {"download"},
    "uv": {"--with"},
}
INSTALLING_ALONE = frozenset({"easy_install", "ensurepip", "uvx", "npx"})
BEFORE = frozenset(
    {"sudo", "env", "nohup", "time", "exec", "command", "nice", "ionice", "setsid", "stdbuf"}
    | {"builtin", "doas", "xargs", "parallel", "watch", "timeout", "busybox", "start", "call"}
)
"""Programs that run the command after their own options."""
KEYWORDS = frozenset({"do", "then", "else", "elif", "if", "while", "until", "!", "{", "(", "case"})
ASSIGNED = re.compile(r"\w+=")
SUBSTITUTED = re.compile(r"\$\(([^()]*)\)|`([^`]*)`|<\(([^()]*)\)")
SEPARATORS = re.compile(r"^[;&|()\n]+$")
VERSION = re.compile(r"[\d.]+$")
LINES = re.compile(r"\\\n")
SHELL_VALUES = frozenset({"-o", "+o", "-O", "+O", "--rcfile", "--init-file"})
"""Options of a shell that take the next word."""
GIVEN_CODE = re.compile(r"-[A-Za-z0-9]*[eEr]$|-p$|--(?:eval|print|run)\b")
"""Options of other languages in front of code: ``perl -ne``, ``node --eval``."""
EXACTLY = frozenset({"-e", "-r", "-E"})
"""Those of them that are seen behind values of other options, too."""
SMALL = 60
"""So many words of one command are looked at."""
DEPTH_LIMIT = 4


@dataclass(frozen=True)
class ShellCommand:
    """What one command shows."""

    risks: tuple[CodeRisk, ...] = ()
    python: tuple[str, ...] = ()
    """Python code that it runs (``python -c``), to be read in its turn."""


def read_commands(text: str, depth: int = 0) -> ShellCommand:
    """What the commands of a shell's text show, those inside others too."""
    risks: dict[CodeRisk, None] = {}
    python: list[str] = []
    if depth > DEPTH_LIMIT:
        return ShellCommand((HIDDEN,))
    text = LINES.sub(" ", text)
    inner = [next(filter(None, found), "") for found in SUBSTITUTED.findall(text)]
    for part in inner:
        _add(read_commands(part, depth + 1), risks, python)
    for words in _commands(SUBSTITUTED.sub(" substituted ", text)):
        _add(_read(words, depth), risks, python)
    return ShellCommand(tuple(risks), tuple(python))


def _add(found: ShellCommand, risks: dict[CodeRisk, None], python: list[str]) -> None:
    risks.update(dict.fromkeys(found.risks))
    python += found.python


def _commands(text: str) -> Iterator[list[str]]:
    """The words of each command."""
    words: list[str] = []
    for word in _words(text):
        if SEPARATORS.match(word):
            if words:
                yield words
            words = []
        else:
            words.append(word)
    if words:
        yield words


def _words(text: str) -> list[str]:
    lexer = shlex.shlex(text.replace("\n", " \n "), posix=True, punctuation_chars=";&|()\n")
    lexer.whitespace = " \t\r"
    lexer.whitespace_split = True
    lexer.commenters = ""
    try:
        return list(lexer)
    except ValueError:  # a quote without its other one, such as that of a word in a comment
        spaced = re.sub(r"([;&|()\n]+)", r" \1 ", text.replace('"', " ").replace("'", " "))
        return re.findall(r"[;&|()\n]+|[^\s;&|()]+", spaced)


def _read(words: list[str], depth: int) -> ShellCommand:
    """What one command shows; a word behind an option may be its value or the command itself."""
    risks: dict[CodeRisk, None] = {}
    python: list[str] = []
    for command in _without_prefix(words[:SMALL]):
        _add(_read_program(command, depth), risks, python)
    return ShellCommand(tuple(risks), tuple(python))


def _read_program(words: list[str], depth: int) -> ShellCommand:
    name = _program(words[0])
    if name is None:
        return ShellCommand((HIDDEN,))
    if name in SHELLS:
        return _read_shell(words, depth)
    if name.startswith(("python", "pypy")) or name == "py":
        return _read_python(words, depth)
    return ShellCommand(tuple(_risks_of(name, words[1:])))


def _without_prefix(words: list[str]) -> Iterator[list[str]]:
    """The commands it may be, behind variables, keywords of the shell and programs that run it."""
    behind = is_option = False
    for place, word in enumerate(words):
        if _program(word) in BEFORE:
            behind = True
        elif ASSIGNED.match(word) or word in KEYWORDS:
            continue
        elif behind and (word.startswith("-") or VERSION.match(word[:-1] or word)):
            is_option = word.startswith("-")
            continue  # an option of the program in front, or its number of seconds
        else:
            yield words[place:]
            if not is_option:
                return
        is_option = False


def _program(word: str) -> str | None:
    """The name of a program without folder, version and ending; None: it is not known."""
    name = re.split(r"[/\\]", word)[-1]
    if not name or UNKNOWN in name or name.startswith(("$", "{")) or name == "substituted":
        return None
    if name.lower().endswith(".exe"):
        name = name[:-4]
    return VERSION.sub("", name) or name


def _read_shell(words: list[str], depth: int) -> ShellCommand:
    for place, word in enumerate(words[1:], start=1):
        if word.startswith("<<<"):
            return read_commands(word[3:] or " ".join(words[place + 1 : place + 2]), depth + 1)
        if re.fullmatch(r"-\w*c|/c|-Command", word):
            rest = (
                words[place + 1 :] if word in ("/c", "-Command") else words[place + 1 : place + 2]
            )
            return read_commands(" ".join(rest) or UNKNOWN, depth + 1)
        if not word.startswith(("-", "/", "+")) and words[place - 1] not in SHELL_VALUES:
            return ShellCommand()  # a script: a file that the text only names
    return ShellCommand((HIDDEN,))  # it reads its commands from somewhere else


def _read_python(words: list[str], depth: int) -> ShellCommand:
    for place, word in enumerate(words[1:], start=1):
        if re.fullmatch("-[A-Za-z]*c", word):
            code = words[place + 1 : place + 2]
            known = bool(code) and code[0] != UNKNOWN
            return ShellCommand(python=tuple(code)) if known else ShellCommand((HIDDEN,))
        if word == "-m":
            return _read(words[place + 1 :], depth)
        if not word.startswith("-") and words[place - 1] not in ("-W", "-X"):
            if word.endswith("setup.py") and words[place + 1 : place + 2] in (
                ["install"],
                ["develop"],
            ):
                return ShellCommand((INSTALLS,))
            break
    return ShellCommand((HIDDEN,)) if words[1:2] == ["-"] else ShellCommand()


def _risks_of(name: str, arguments: list[str]) -> Iterator[CodeRisk]:
    if name in DELETING or name.startswith("mkfs") or _deletes(name, arguments):
        yield DELETES_FILES
    elif name in MOVING:
        yield MOVES_FILES
    elif name in INSTALLERS and _installs(name, arguments):
        yield INSTALLS
    elif _is_hidden(name, arguments):
        yield HIDDEN


def _is_hidden(name: str, arguments: list[str]) -> bool:
    """Whether the command runs a text that is not a shell's."""
    if name in OTHER_LANGUAGES:
        options = takewhile(lambda word: word.startswith("-"), arguments)
        return any(map(GIVEN_CODE.match, options)) or not EXACTLY.isdisjoint(arguments)
    return name in ("eval", "source", ".") or (name == "ssh" and len(arguments) > 1)


def _installs(name: str, arguments: list[str]) -> bool:
    wanted = INSTALLING | INSTALLING_TOO.get(name, set())
    return (
        name in INSTALLING_ALONE
        or not wanted.isdisjoint(arguments)
        or UNKNOWN in "".join(arguments[:1])
    )


def _deletes(name: str, arguments: list[str]) -> bool:
    if name == "find":
        return _finds_to_delete(arguments)
    if name == "git":
        return _git_deletes(set(arguments))
    return name == "rsync" and any(word.startswith(("--delete", "--remove")) for word in arguments)


def _finds_to_delete(arguments: list[str]) -> bool:
    for place, word in enumerate(arguments):
        if word == "-delete":
            return True
        if word in ("-exec", "-execdir", "-ok") and _read(arguments[place + 1 :], 0).risks:
            return True
    return False


def _git_deletes(words: set[str]) -> bool:
    return (
        {"reset", "--hard"} <= words
        or {"checkout", "--"} <= words
        or not words.isdisjoint({"clean", "rm", "mv", "restore"})
    )
