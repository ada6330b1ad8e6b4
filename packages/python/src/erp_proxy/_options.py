"""The options of a client and of a call, and what the methods return."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Callable, Dict, Generic, List, Mapping, NamedTuple, Optional, Sequence, Tuple, TypedDict
from typing import TypeVar, Union

#: A domain as in Odoo: conditions such as `("name", "ilike", "azure")`, and the connectors `&`, `|` and `!`.
Domain = Sequence[Union[str, Sequence[Any]]]

#: Odoo's context: `lang`, `tz`, `allowed_company_ids`, `active_test` and others.
Context = Mapping[str, Any]

#: Called with the number of records that were read so far.
Progress = Callable[[int], object]

#: A record, as it is read.
R = TypeVar("R")
#: The values of a new record.
C = TypeVar("C")
#: The values with which records are updated.
U = TypeVar("U")
#: The names of the fields.
F = TypeVar("F", bound=str)


class CallOptions(TypedDict, total=False):
    """Options of one call: keyword arguments of each method."""

    #: Time limit of the call including its retries, in seconds.
    timeout: Optional[float]
    #: The key under which the call runs at most once. Default: a new one for each write.
    idempotency_key: Optional[str]
    #: The `approval` of an error `approval_required`, after an administrator has approved it. For a batch: those of
    #: its calls.
    approval: Union[str, Sequence[str], None]
    #: Context that is added to that of the client.
    context: Optional[Context]


class ExecuteCall(TypedDict, total=False):
    """A call in the form of the execute route, without its instance. `action` and `model_id` are required."""

    id: Union[str, int, None]
    action: str
    model_id: str
    fn_name: Optional[str]
    params: Optional[Sequence[Any]]
    keyword: Optional[Mapping[str, Any]]


class NamedCall(NamedTuple):
    """A call as hooks see it."""

    model: str
    action: str


@dataclass(frozen=True)
class RequestInfo:
    """What `on_request` gets."""

    #: The call, or all calls of a batch.
    calls: Tuple[NamedCall, ...]
    #: Number of the attempt, from 1.
    attempt: int
    #: Sent as `x-request-id`, by which the proxy's log names the request.
    request_id: str
    #: Headers that the hook adds here are sent, such as `traceparent`.
    headers: Dict[str, str]


@dataclass(frozen=True)
class ResponseInfo:
    """What `on_response` gets."""

    calls: Tuple[NamedCall, ...]
    attempt: int
    request_id: str
    #: Seconds until the answer was there. For an export and a download: until its head was there.
    duration: float
    #: HTTP status; 0 if there was no answer.
    status: int
    #: The header `server-timing`: the time of Odoo, the wait for Odoo, and the time of the proxy.
    timing: Optional[str]
    #: Why the attempt failed; None if it succeeded. For a batch, the first error.
    error: Optional[Exception]


@dataclass(frozen=True)
class RetryInfo:
    """What `on_retry` gets."""

    calls: Tuple[NamedCall, ...]
    attempt: int
    request_id: str
    #: Seconds until the next attempt.
    delay: float
    error: Exception


@dataclass(frozen=True)
class Hooks:
    """Functions for logging and tracing. They get no values, results or keys, and their errors are ignored."""

    #: Called before each attempt.
    on_request: Optional[Callable[[RequestInfo], object]] = None
    #: Called after each attempt, whether it succeeded or not.
    on_response: Optional[Callable[[ResponseInfo], object]] = None
    #: Called before the wait for another attempt.
    on_retry: Optional[Callable[[RetryInfo], object]] = None


class UpsertResult(NamedTuple):
    id: int
    is_created: bool


@dataclass(frozen=True)
class Change(Generic[R]):
    """A record that was created or changed since the cursor."""

    #: `upsert`: the record matches the domain. `left`: it does not, and may never have matched.
    change: str
    id: int
    #: The record's `write_date`, such as `2026-10-21T01:31:00Z`.
    at: Optional[str]
    #: None for `left`.
    record: Optional[R]


@dataclass(frozen=True)
class ChangesPage(Generic[R]):
    changes: List[Change[R]]
    #: The cursor for the next call. Store it together with the effects of the changes.
    cursor: str
    #: True if there are more changes now.
    more: bool


class ModelType(Generic[R, C, U, F]):
    """The name of a model with the types of its records, which `erp-proxy types --language python` writes."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name

    def __repr__(self) -> str:
        return f"ModelType({self.name!r})"
