"""Sends requests with retries, within a time limit. Knows no model."""

from __future__ import annotations

import datetime
import json
import math
import random
import re
import ssl
import threading
import time
import urllib.parse
import uuid
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, NamedTuple, Optional, Sequence, Tuple, cast

from ._errors import ErpProxyError, read_error, read_members, refuse
from ._http import Connections, Network, Response, TimeOver, WrongAnswer, check_header
from ._options import CallOptions, Hooks, NamedCall, RequestInfo, ResponseInfo, RetryInfo

#: The proxy ends a call after five minutes at the latest, and an export is silent for less.
ATTEMPT_SECONDS_MAX = 310.0
#: Longest wait before a retry if the call has no time limit.
WAIT_SECONDS_MAX = 30.0
#: The proxy gets this much less time, so that its own answer, which says whether the call ran, arrives in time.
RETURN_SECONDS = 0.5
DELAY_SECONDS_MIN = 0.2
DELAY_SECONDS_MAX = 5.0
#: Statuses by which a server in front of the proxy says that it cannot reach the proxy now.
PASSING_STATUSES = (429, 502, 503, 504)

#: Headers of the connection, which hooks cannot set.
OWN_HEADERS = ("connection", "content-length", "host", "transfer-encoding")

OPTIONS = frozenset(CallOptions.__annotations__)

#: Odoo's methods that only read, and routes that do. A call of any other method counts as a write.
READING = frozenset(
    "changes document download export job read search search_read search_count search_fetch name_search name_get"
    " read_group formatted_read_group web_read web_search_read web_read_group web_name_search fields_get get_views get_metadata"
    " exists has_access check_access check_access_rights".split()
)


class RetryBudget:
    """Bounds the retries of a client, so that many callers do not double the load on a server in trouble: at most a
    tenth of the calls in the long run, and ten in a row."""

    TOKENS_MAX = 10.0
    TOKENS_PER_CALL = 0.1

    def __init__(self) -> None:
        self._tokens = self.TOKENS_MAX
        self._lock = threading.Lock()

    def count_call(self) -> None:
        with self._lock:
            self._tokens = min(self.TOKENS_MAX, self._tokens + self.TOKENS_PER_CALL)

    def take(self) -> bool:
        """Takes one retry; False if none is left."""
        with self._lock:
            if self._tokens < 1:
                return False
            self._tokens -= 1
            return True


@dataclass
class Settings:
    connections: Connections
    #: What precedes `/api/erp/` in the address of the proxy.
    path: str
    key: str = field(repr=False)
    timeout: Optional[float]
    #: True if values are exchanged in normalized form.
    is_normalized: bool
    retries: int
    idempotency_keys: bool
    hooks: Hooks
    budget: RetryBudget

    @property
    def network(self) -> Network:
        return self.connections.network


class Request(NamedTuple):
    method: str
    #: The last part of the path, such as `execute`.
    route: str
    calls: Tuple[NamedCall, ...]
    body: bytes
    #: Headers in addition to those of every request.
    headers: Dict[str, str]
    #: False if the call may have run when the connection breaks.
    is_read_only: bool
    idempotency_key: Optional[str]
    #: Whether an answer is left open for its caller. Every other answer is read whole.
    stays_open: Callable[[Response], bool]
    is_batch: bool

    @property
    def is_repeatable(self) -> bool:
        """With an idempotency key a write runs at most once, however often it is sent."""
        return self.is_read_only or self.idempotency_key is not None

    @property
    def unknown_outcome(self) -> Optional[str]:
        return None if self.is_read_only else "unknown"


class Answer(NamedTuple):
    #: None if there was no answer.
    response: Optional[Response]
    #: The parsed body, if there is no error and the answer is not left open.
    value: Any
    #: The error of the request, or the first one of a batch.
    error: Optional[ErpProxyError]
    #: True if the request as a whole has failed.
    is_refused: bool


def make_request(
    settings: Settings,
    route: str,
    calls: Sequence[NamedCall],
    body: object,
    options: CallOptions,
    *,
    method: str = "POST",
    file: Optional[bytes] = None,
    deferral: Optional[str] = None,
    stays_open: Callable[[Response], bool] = lambda _: False,
    is_normalized: Optional[bool] = None,
) -> Request:
    """`body` is sent as the same bytes in each attempt. With `file`, it is sent in a header, and the file is the
    body. `deferral`: the preference by which the request becomes a job."""
    content = encode_json(body) if method == "POST" else b""
    headers = {"content-type": "application/json"}
    if file is not None:
        headers = {"content-type": "application/octet-stream", "x-erp-call": _quote(content)}
        content = file
    is_read_only = all(call.action in READING for call in calls)
    key = options.get("idempotency_key")
    if key is None and not is_read_only and settings.idempotency_keys:
        key = str(uuid.uuid4())
    if key is not None:
        headers["idempotency-key"] = check_text("idempotency_key", key)
    approval = options.get("approval")
    if approval is not None:
        joined = approval if isinstance(approval, str) else ",".join(approval)
        headers["x-approval"] = check_text("approval", joined)
    preferences = [deferral] if deferral else []
    if settings.is_normalized if is_normalized is None else is_normalized:
        preferences.insert(0, "values=normalized")
    if preferences:
        headers["prefer"] = ", ".join(preferences)
    is_batch = isinstance(body, list)
    return Request(method, route, tuple(calls), content, headers, is_read_only, key, stays_open, is_batch)


async def send(settings: Settings, request: Request, options: CallOptions) -> Answer:
    """Raises the error that remains after the retries. An error of one call of a batch is part of the answer."""
    timeout = read_timeout(settings, options)
    ends = math.inf if timeout is None else time.monotonic() + timeout
    request_id = str(uuid.uuid4())
    settings.budget.count_call()
    attempt = 1
    while True:
        own_id = request_id if attempt == 1 else f"{request_id}.{attempt}"
        left = None if timeout is None else ends - time.monotonic()
        wait = ATTEMPT_SECONDS_MAX if left is None else min(left, ATTEMPT_SECONDS_MAX)
        answer = await try_once(settings, request, attempt, own_id, left, wait)
        error = answer.error
        if error is not None and error.retryable and attempt <= settings.retries:
            delay = choose_delay(attempt, error.retry_after)
            is_in_time = delay <= WAIT_SECONDS_MAX if timeout is None else time.monotonic() + delay < ends
            if is_in_time and settings.budget.take():
                tell(settings.hooks.on_retry, RetryInfo(request.calls, attempt, own_id, delay, error))
                await settings.network.sleep(delay)
                attempt += 1
                continue
        if error is not None and answer.is_refused:
            raise error
        return answer


async def try_once(
    settings: Settings,
    request: Request,
    attempt: int,
    request_id: str,
    seconds: Optional[float],
    wait: float,
) -> Answer:
    """Sends a request once. The proxy gets `seconds` as its time limit, and the answer must arrive within `wait`
    seconds."""
    headers: Dict[str, str] = {}
    tell(settings.hooks.on_request, RequestInfo(request.calls, attempt, request_id, headers))
    started = time.monotonic()
    sent = _complete_headers(settings, request, request_id, seconds, headers)
    deadline = started + wait
    response: Optional[Response] = None
    try:
        path = f"{settings.path}/api/erp/{request.route}"
        response = await settings.connections.request(
            request.method, path, sent, request.body, deadline, is_repeatable=request.is_repeatable
        )
        if request.stays_open(response):
            answer = Answer(response, None, None, False)
        else:
            answer = _judge(settings, request, request_id, response, await response.read(deadline))
    except TimeOver:
        answer = Answer(None, None, _explain_time(request, request_id), True)
    except (OSError, WrongAnswer) as cause:
        answer = Answer(None, None, explain_failure(settings, request, request_id, cause), True)
    duration = time.monotonic() - started
    status = answer.response.status if answer.response is not None else 0
    timing = answer.response.headers.get("server-timing") if answer.response is not None else None
    tell(
        settings.hooks.on_response,
        ResponseInfo(request.calls, attempt, request_id, duration, status, timing, answer.error),
    )
    return answer


def _complete_headers(
    settings: Settings, request: Request, request_id: str, seconds: Optional[float], added: Dict[str, str]
) -> Dict[str, str]:
    headers = {
        name.lower(): value
        for name, value in added.items()
        if check_header(name, value) and name.lower() not in OWN_HEADERS
    }
    headers.update(request.headers)
    headers["x-proxy-api"] = settings.key
    headers["x-request-id"] = request_id
    if seconds is not None:
        headers["x-request-timeout"] = str(max(1, math.floor(min(seconds, 1e9) - RETURN_SECONDS)))
    return headers


def _judge(settings: Settings, request: Request, request_id: str, response: Response, body: bytes) -> Answer:
    """Finds the error of an answer that was read whole."""
    value = parse_json(body)
    answers = _read_list(value) if request.is_batch else None
    if answers is not None:
        error = _find_batch_error(answers, response.status, request_id, request.idempotency_key)
        return Answer(response, answers, error, False)
    members = read_members(value)
    is_answer = "jsonrpc" in members
    # A job that has failed has an error, too.
    is_whole = "state" in members or (is_answer and "result" in members and "error" not in members)
    if is_whole and not request.is_batch:
        return Answer(response, members, None, False)
    seconds = response.headers.get("retry-after", "")
    retry_after = int(seconds) if re.fullmatch("[0-9]{1,9}", seconds) else None
    own_id = response.headers.get("x-request-id") or request_id
    if is_answer and "error" in members:
        error = read_error(
            members["error"],
            status=response.status,
            request_id=own_id,
            retry_after=retry_after,
            idempotency_key=request.idempotency_key,
        )
    else:
        error = ErpProxyError(
            "invalid_answer",
            f"The answer of {settings.connections.origin} (HTTP status {response.status}) is not one of erp-proxy;"
            " check the address.",
            status=response.status,
            request_id=own_id,
            retry_after=retry_after,
            idempotency_key=request.idempotency_key,
            retryable=request.is_repeatable and response.status in PASSING_STATUSES,
            outcome=request.unknown_outcome,
        )
    return Answer(response, None, error, True)


def _read_list(value: object) -> Optional[List[object]]:
    return cast("List[object]", value) if isinstance(value, list) else None


def _find_batch_error(
    answers: List[object], status: int, request_id: str, key: Optional[str]
) -> Optional[ErpProxyError]:
    """Returns the first error of a batch that a retry may remove, or else the first error. In a retry, the proxy
    repeats the answers that are final."""
    errors = [
        read_error(answer["error"], status=status, request_id=request_id, idempotency_key=key)
        for answer in map(read_members, answers)
        if answer.get("error")
    ]
    return next((error for error in errors if error.retryable), errors[0] if errors else None)


def _explain_time(request: Request, request_id: str) -> ErpProxyError:
    return ErpProxyError(
        "client_timeout",
        "The call took longer than its time limit.",
        retryable=request.is_repeatable,
        outcome=request.unknown_outcome,
        request_id=request_id,
        idempotency_key=request.idempotency_key,
    )


def explain_failure(settings: Settings, request: Request, request_id: str, cause: Exception) -> ErpProxyError:
    """The error for a request without an answer."""
    error = ErpProxyError(
        "connection_failed",
        f"No answer from {settings.connections.origin}: {_explain_cause(cause)}.",
        retryable=request.is_repeatable,
        outcome=request.unknown_outcome,
        request_id=request_id,
        idempotency_key=request.idempotency_key,
    )
    error.__cause__ = cause
    return error


def explain_form() -> ErpProxyError:
    """The error of a call whose values were not normalized although they should be."""
    message = "The values are not normalized: the proxy could not read the types of the fields, or is too old."
    return ErpProxyError("invalid_answer", message, status=200)


def _explain_cause(cause: Exception) -> str:
    if isinstance(cause, ssl.SSLCertVerificationError):
        return f"its certificate is not valid: {cause.verify_message}"
    if isinstance(cause, ssl.SSLError) and cause.reason:
        return cause.reason
    if isinstance(cause, OSError) and cause.strerror:
        return cause.strerror
    return str(cause) or "the connection failed"


def choose_delay(attempt: int, retry_after: Optional[int]) -> float:
    """The wait before a retry, in seconds. Grows with each attempt, contains a random part, and is never shorter than
    the proxy asked for."""
    most: float = min(DELAY_SECONDS_MAX, DELAY_SECONDS_MIN * 2**attempt)
    return (retry_after or 0) + most * random.uniform(0.5, 1)


def read_timeout(settings: Settings, options: CallOptions) -> Optional[float]:
    """Reads the option of a call, or else of its client."""
    given: Any = options.get("timeout")
    timeout: Any = settings.timeout if given is None else given
    if timeout is None:
        return None
    if isinstance(timeout, bool) or not isinstance(timeout, (int, float)) or not timeout > 0:
        raise refuse("`timeout` must be a number of seconds above 0.")
    return float(timeout)


def check_options(options: CallOptions) -> CallOptions:
    unknown = set(options) - OPTIONS
    if unknown:
        raise TypeError(f"unknown option {', '.join(sorted(unknown))}: use {', '.join(sorted(OPTIONS))}")
    return options


def check_text(name: str, value: str) -> str:
    if not value or not check_header("x", value) or value != value.strip():
        raise refuse(f"`{name}` must be a text without control characters and without spaces around it.")
    return value


def encode_json(value: object) -> bytes:
    try:
        text = json.dumps(
            value, ensure_ascii=False, allow_nan=False, separators=(",", ":"), default=encode_value
        )
        return text.encode()
    except (TypeError, ValueError, RecursionError) as cause:
        raise refuse(f"A value cannot be sent as JSON: {cause}.") from None


def encode_value(value: object) -> str:
    """The texts of Odoo for dates and times. A time without a zone could mean any zone."""
    if isinstance(value, datetime.datetime):
        if value.tzinfo is None:
            raise TypeError(
                "a datetime has no time zone; use `datetime.now(timezone.utc)` or a text in UTC"
            )
        return value.astimezone(datetime.timezone.utc).strftime("%Y-%m-%d %H:%M:%S")
    if isinstance(value, datetime.date):
        return value.isoformat()
    raise TypeError(f"an object of the type {type(value).__name__}")


def parse_json(data: bytes) -> Any:
    """Returns None for what is not JSON."""
    try:
        return json.loads(data.decode())
    except (ValueError, RecursionError):
        return None


def _quote(content: bytes) -> str:
    # `encodeURIComponent` of JavaScript leaves the same characters.
    return urllib.parse.quote(content, safe="-_.!~*'()")


def tell(hook: Optional[Callable[[Any], object]], info: object) -> None:
    """Calls a hook. Its error must not fail a call that has run."""
    if hook is None:
        return
    try:
        hook(info)
    except Exception:
        pass
