"""The error that every call of the client raises, and its creation from an answer."""

from __future__ import annotations

from typing import Any, Dict, List, Mapping, Optional, cast


class ErpProxyError(Exception):
    """An error of the proxy, of Odoo, or of the client itself. `str(error)` is the message."""

    #: The type of the error: a row of docs/errors.md, or `connection_failed`, `client_timeout`, `invalid_answer`,
    #: `job_cancelled` and `usage` for an error of the client. A later proxy may send types that this client does not
    #: know.
    type: str
    message: str
    #: The code in the proxy's table of errors; 0 for an error of the client itself.
    code: int
    #: True if the same call may be sent again unchanged.
    retryable: bool
    #: Whether the call ran in Odoo: `not_sent`, `rolled_back` or `unknown`; None if the type makes that clear.
    outcome: Optional[str]
    #: HTTP status; 0 if there was no answer.
    status: int
    #: The id of the call in the log of the proxy.
    request_id: Optional[str]
    #: Seconds to wait before another attempt.
    retry_after: Optional[int]
    #: The idempotency key of the call, with which it can be sent again without running twice.
    idempotency_key: Optional[str]
    #: With `approval_required`: the id of the approval. Pass it as `approval` of the next attempt.
    approval: Optional[str]
    #: Existing names that are similar to an unknown one, if the proxy sent them.
    nearest: List[str]
    #: The remaining members of the error, such as `path`, `rule`, `name`, `arguments` and `connect_url`.
    data: Dict[str, Any]

    def __init__(
        self,
        type: str,
        message: str,
        *,
        code: int = 0,
        retryable: bool = False,
        outcome: Optional[str] = None,
        status: int = 0,
        request_id: Optional[str] = None,
        retry_after: Optional[int] = None,
        idempotency_key: Optional[str] = None,
        data: Optional[Mapping[str, Any]] = None,
    ) -> None:
        # Both are positional arguments of the exception, so that it can be pickled.
        super().__init__(type, message)
        self.type = type
        self.message = message
        self.code = code
        self.retryable = retryable
        self.outcome = outcome
        self.status = status
        self.request_id = request_id
        self.retry_after = retry_after
        self.idempotency_key = idempotency_key
        self.data = dict(data or {})
        approval = self.data.get("approval")
        self.approval = approval if isinstance(approval, str) else None
        nearest: Any = self.data.get("nearest")
        self.nearest = [str(name) for name in cast("List[object]", nearest)] if isinstance(nearest, list) else []

    def __str__(self) -> str:
        return self.message


def read_members(value: object) -> Dict[str, Any]:
    """The members of an object of JSON; none if the value is not one."""
    return cast("Dict[str, Any]", value) if isinstance(value, dict) else {}


def refuse(message: str) -> ErpProxyError:
    """Creates the error for a wrong use of the client. Nothing was sent."""
    return ErpProxyError("usage", message)


def read_error(
    error: Any,
    *,
    status: int,
    request_id: Optional[str] = None,
    retry_after: Optional[int] = None,
    idempotency_key: Optional[str] = None,
) -> ErpProxyError:
    """Creates the error of an answer. `error` is the member of that name."""
    members = read_members(error)
    data = read_members(members.get("data"))
    code: Any = members.get("code")
    kind = str(data.get("type"))
    outcome: Any = data.get("outcome", "unknown" if kind == "outcome_unknown" else None)
    return ErpProxyError(
        kind,
        str(members.get("message")),
        code=code if isinstance(code, int) else 0,
        retryable=data.get("retryable") is True,
        outcome=outcome,
        status=status,
        request_id=request_id,
        retry_after=retry_after,
        idempotency_key=idempotency_key,
        data=data,
    )
