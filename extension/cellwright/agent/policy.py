"""Which calls run at once, which the person is asked about, and which nobody can allow.

What this does not protect against: code is read, not understood. A call can do what its text
does not show (scripts that it runs, a library's own files, variables of earlier cells), so signs
in the code only ever raise a call's risk, and in mode ``auto`` code runs that nobody has looked at.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal, Protocol

from cellwright.agent.code_risks import code_risks
from cellwright.agent.command_risks import CodeRisk
from cellwright.notebooks import Notebook
from cellwright.record.asked_calls import ASKED_ALONE
from cellwright.record.events import ToolStarted
from cellwright.settings import Mode
from cellwright.text.browser_loads import browser_loads
from cellwright.tools import Component, Risk
from cellwright.tools.packages import is_installable

RISKS: tuple[Risk, ...] = ("read", "edit", "execute", "install", "destroy")
"""From the least to the greatest."""
ALLOWED: Mapping[Mode, frozenset[Risk]] = {
    "plan": frozenset({"read"}),
    "ask": frozenset({"read"}),
    "edits": frozenset({"read", "edit"}),
    "auto": frozenset({"read", "edit", "execute"}),
}
LOADS = "your browser would load"
WORDS: Mapping[Risk, str] = {
    "read": "only looks",
    "edit": "changes cells",
    "execute": "runs code",
    "install": "installs software",
    "destroy": "deletes or changes things for good",
}


@dataclass(frozen=True)
class ApprovalAnswer:
    """What the person said."""

    allowed: bool
    by: str = "person"
    """``person``, or ``batch`` where nobody can be asked."""
    reason: str = ""
    for_session: bool = False
    """Calls of this tool need not be asked about again, unless their risk is greater. Of what is
    asked about alone it allows no more than this call."""
    previewed: bool = False
    """The call was tried in a copy of the kernel before."""
    adopted: bool = False
    """The result of that takes the place of running its code again."""


class Approver(Protocol):
    """Asks the person; implemented where a person can be reached."""

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """Whether the call may run.

        Raises:
            RunCancelled: The person stopped the run instead.
        """
        ...


@dataclass(frozen=True)
class Assessment:
    """How risky a call is and what gives it away."""

    risk: Risk
    signs: tuple[CodeRisk, ...] = ()
    does: str = ""
    """What the tool says that it does; empty: as the risk says."""

    @property
    def reason(self) -> str:
        """In words for people."""
        words = dict.fromkeys(sign.reason for sign in self.signs)
        return f"It {self.does or WORDS[self.risk]}" + (f": {', '.join(words)}." if words else ".")


@dataclass(frozen=True)
class PolicyDecision:
    """What happens to a call."""

    kind: Literal["allow", "ask", "refuse"]
    reason: str = ""


def assess(
    component: Component, arguments: Mapping[str, Any], notebook: Notebook | None = None
) -> Assessment:
    """The risk of a call: the tool's own, raised by what its code and its Markdown show."""
    loads = _loads(component.markdown_for(notebook, **arguments))
    if loads:
        return Assessment("destroy", loads, component.asks or WORDS["edit"])
    risk = component.risk_for(**arguments)
    signs = code_risks(component.code_for(**arguments))
    if risk in ("read", "edit"):
        # Code that is only written does nothing yet, but must not get into guarded files.
        signs = tuple(sign for sign in signs if sign.always_ask)
    greatest = max([risk, *(sign.risk for sign in signs)], key=RISKS.index)
    return Assessment(greatest, signs, component.asks)


def _loads(markdown: str) -> tuple[CodeRisk, ...]:
    """What the browser would load to draw it: asked about in every mode, as it cannot be undone."""
    addresses = ", ".join(f'"{address}"' for address in browser_loads(markdown))
    return (CodeRisk("destroy", f"{LOADS} {addresses}", always_ask=True),) if addresses else ()


def decide(
    mode: Mode, assessment: Assessment, *, trusted: bool = False, someone: bool = True
) -> PolicyDecision:
    """Whether a call runs at once.

    Args:
        mode: What the person chose.
        assessment: The call's risk.
        trusted: The person allowed this tool for the session.
        someone: A person can be asked; otherwise what needs asking is refused.
    """
    risk = assessment.risk
    always = any(sign.always_ask for sign in assessment.signs)
    if mode == "plan":
        return _planned(assessment, always)
    free = risk in ALLOWED[mode] or (trusted and risk in ("edit", "execute"))
    if free and not always:
        return PolicyDecision("allow")
    if someone:
        return PolicyDecision("ask", assessment.reason)
    return PolicyDecision(
        "refuse",
        f"{assessment.reason} Nobody can be asked here and mode {mode!r} does not allow it. "
        "Do it another way, or tell the person.",
    )


def _planned(assessment: Assessment, always: bool) -> PolicyDecision:
    """Nobody is asked: a plan is what the person wants, and it may only look."""
    if assessment.risk in ALLOWED["plan"] and not always:
        return PolicyDecision("allow")
    return PolicyDecision(
        "refuse",
        f"{assessment.reason} Mode 'plan' only looks: nothing runs and nothing changes. "
        "Describe in your answer what you would do, step by step.",
    )


def _trusted_as(name: str, risk: str) -> str:
    """What is noted of a tool: who allowed its edits has not allowed it to run anything."""
    return f"{name} (edit)" if risk == "edit" else name


@dataclass
class Policy:
    """Decides about the calls of one run and asks where it has to."""

    mode: Mode
    approver: Approver | None = None
    """None: nobody can be asked."""
    trusted: set[str] = field(default_factory=set)
    """Names of tools the person allowed for the session; hand on the same set to the next run."""
    installable: tuple[str, ...] = ()
    """Packages that mode ``auto`` installs without asking."""

    def risk_of(
        self,
        component: Component,
        arguments: Mapping[str, Any],
        notebook: Notebook | None = None,
    ) -> Risk:
        """How risky the call is."""
        return assess(component, arguments, notebook).risk

    def decide(
        self,
        component: Component,
        arguments: Mapping[str, Any],
        notebook: Notebook | None = None,
    ) -> PolicyDecision:
        """Whether the call runs, is asked about or is refused."""
        assessment = assess(component, arguments, notebook)
        if self._may_install(component, arguments, assessment):
            return PolicyDecision("allow")
        decision = decide(
            self.mode,
            assessment,
            trusted=not self.trusted.isdisjoint(
                (component.name, _trusted_as(component.name, assessment.risk))
            ),
            someone=self.approver is not None,
        )
        is_refused = decision.kind == "refuse" and assessment.risk == "install"
        if is_refused and self.installable and self.mode == "auto":
            told = f"install_package may install: {', '.join(self.installable)}."
            return replace(decision, reason=f"{decision.reason} {told}")
        return decision

    def _may_install(
        self, component: Component, arguments: Mapping[str, Any], assessment: Assessment
    ) -> bool:
        """Whether it installs a package of the list, and nothing else."""
        if self.mode != "auto" or assessment.risk != "install" or assessment.signs:
            return False
        is_ours = component.name == "install_package" and set(arguments) == {"name"}
        return is_ours and is_installable(str(arguments["name"]), self.installable)

    def ask(self, call: ToolStarted, reason: str) -> ApprovalAnswer:
        """What the person says of a call.

        Raises:
            RunCancelled: They stopped the run instead.
        """
        if self.approver is None:
            return ApprovalAnswer(False, "batch", "Nobody can be asked here.")
        answer = self.approver.ask(call, reason)
        if answer.allowed and answer.for_session and call.risk not in ASKED_ALONE:
            self.trusted.add(_trusted_as(call.name, call.risk))
        return answer
