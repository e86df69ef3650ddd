"""Every exception of cellwright.

CellwrightError
├── ToolError              the model reads it and goes on
│   ├── ActionRefusedError      not allowed: by policy, by the person, outside the root
│   └── SignInNeededError       a service wants the person to sign in first
├── SetupError             the person acts; the magic shows it without a traceback
│   └── ConflictError          it is there already, or somebody changed it meanwhile
├── RunFailedError         a run did not complete; the run says why
├── ChoiceError            none of several attempts could be chosen; the person decides
├── StoreError             the record could not be written or read
├── KernelError            the place where code runs
│   ├── KernelDiedError
│   │   └── KernelRestartedError
│   └── KernelNotReadyError
└── LMError                the model service
    ├── LMConnectionError      no connection, or it broke
    │   └── LMStreamError      the stream ended early or was not what was asked for
    ├── LMTimeoutError         idle too long, or past the deadline
    ├── LMRateLimitError       429; carries retry_after_seconds
    ├── LMQuotaError           429 or 402 that no retry mends
    ├── LMAccessError          401, 403
    ├── LMNotFoundError        404 and relatives: no such model or path
    ├── LMRequestError         400 and relatives: the request is not accepted
    │   ├── LMContextError         the conversation is too long for the model
    │   └── LMToolsUnsupportedError
    ├── AdapterParseError      the reply could not be read; in ``llm/adapters``
    └── LMServerError          5xx

RunCancelled (BaseException)   somebody pressed Stop; no ``except Exception`` eats it
"""

from __future__ import annotations


class CellwrightError(Exception):
    """Base of everything cellwright raises on purpose. Stability: stable.

    Args:
        message: What happened, with the culprit's value.
        hint: What to do next, one sentence.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.hint = hint

    def __str__(self) -> str:
        return f"{self.message} {self.hint}".strip()


class ToolError(CellwrightError):
    """A tool could not do what it was asked; the model reads the text and goes on."""


class ActionRefusedError(ToolError):
    """The action is not allowed: by the mode, by the person or by a rule."""


class SignInNeededError(ToolError):
    """A service does nothing before the person has signed in to it, or has done so again."""


class SetupError(CellwrightError):
    """Something the person has to set or mend before cellwright can go on. Stability: stable."""


class ConflictError(SetupError):
    """What was asked for meets something that is there already, or that was changed meanwhile.

    Args:
        message: What happened, with the culprit's value.
        hint: What to do next.
        code: A short name for programs: ``exists`` or ``changed``.
    """

    def __init__(self, message: str, *, hint: str = "", code: str = "") -> None:
        super().__init__(message, hint=hint)
        self.code = code


class RunFailedError(CellwrightError):
    """A run did not complete, or could not begin, where nobody watches. Stability: stable.

    Scripts ask for it with ``Answer.raise_for_status``. A magic raises it under nbclient and
    papermill: there it has to be an ``error`` output, which a ``UsageError`` is not.
    """

    def _render_traceback_(self) -> list[str]:
        return [f"RunFailedError: {self}"]


class ChoiceError(CellwrightError):
    """None of several attempts at a question could be chosen; nothing else is tried instead."""


class StoreError(CellwrightError):
    """The record could not be written or read."""


class KernelError(CellwrightError):
    """The kernel could not do what it was asked."""


class KernelDiedError(KernelError):
    """The kernel process is gone; its variables are lost."""


class KernelRestartedError(KernelDiedError):
    """Somebody restarted the kernel, or it ended itself; another process answers in its place."""

    def __init__(
        self,
        message: str = "The kernel was restarted, so its variables are lost.",
        *,
        hint: str = "",
    ) -> None:
        super().__init__(message, hint=hint)


class KernelNotReadyError(KernelError):
    """The kernel does not answer."""


class LMError(CellwrightError):
    """The model service failed.

    Args:
        message: What happened, with the host or the value that caused it.
        hint: What to do next.
        status: HTTP status, when there was one.
        detail: The provider's own words, cut to a readable length.
    """

    retryable = False

    def __init__(
        self, message: str, *, hint: str = "", status: int | None = None, detail: str = ""
    ) -> None:
        super().__init__(message, hint=hint)
        self.status = status
        self.detail = detail


class LMConnectionError(LMError):
    """No connection to the service, or it broke."""

    retryable = True


class LMStreamError(LMConnectionError):
    """The reply ended early, or was not what was asked for."""

    is_empty = False
    """Nothing came of it, not even an error."""


class LMTimeoutError(LMError):
    """The service sent nothing for too long, or the deadline passed."""

    retryable = True


class LMRateLimitError(LMError):
    """The service asks to wait.

    Args:
        retry_after_seconds: How long it asks for, when it says.
    """

    retryable = True

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        detail: str = "",
        retry_after_seconds: float | None = None,
    ) -> None:
        super().__init__(message, hint=hint, status=429, detail=detail)
        self.retry_after_seconds = retry_after_seconds


class LMQuotaError(LMError):
    """The account has no credit left; waiting does not help."""


class LMAccessError(LMError):
    """The key is missing, wrong or not allowed to use this model."""


class LMNotFoundError(LMError):
    """There is no such model, or no such path, at this address."""


class LMRequestError(LMError):
    """The service does not accept the request as it is.

    Args:
        parameter: The parameter the service names, when it names one.
    """

    def __init__(
        self,
        message: str,
        *,
        hint: str = "",
        status: int | None = 400,
        detail: str = "",
        parameter: str = "",
    ) -> None:
        super().__init__(message, hint=hint, status=status, detail=detail)
        self.parameter = parameter


class LMContextError(LMRequestError):
    """The conversation is too long for the model."""


class LMToolsUnsupportedError(LMRequestError):
    """The model or its server cannot call tools."""


class LMServerError(LMError):
    """The service failed on its own side."""

    retryable = True
    retry_after_seconds: float | None = None
    """How long it asks to wait, when it says."""
    is_loading = False
    """It is there, and loads its model: that takes minutes and is no failure."""


class RunCancelled(BaseException):
    """Somebody stopped the run.

    A ``BaseException``, so that a tool with a bare ``except Exception`` cannot eat it
    (requirements row 001-13).

    Args:
        reason: Why, in words.
        execution_count: The number that the kernel gave the cell in which it was stopped.
    """

    def __init__(
        self, reason: str = "stopped by the user", *, execution_count: int | None = None
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.execution_count = execution_count
