"""Jobs: requests that run in the proxy while nobody waits for them."""

from __future__ import annotations

import dataclasses
import math
import time
import urllib.parse
from typing import TYPE_CHECKING, Any, Dict, Mapping, Optional

from ._blocking import run
from ._calls import Calls, name_call
from ._errors import ErpProxyError, read_error, refuse
from ._files import AsyncFile, File
from ._http import Response
from ._options import CallOptions, ExecuteCall, NamedCall
from ._send import Request, check_options, check_text, make_request, read_timeout, send

if TYPE_CHECKING:
    from typing_extensions import Unpack

#: Seconds between two questions for the state of a job.
WAIT_SECONDS = 0.5
WAIT_SECONDS_MAX = 10.0
GROWTH = 1.5
KINDS = ("result", "file")


class JobCalls:
    """The calls about one job. `kind`: whether its result is that of a call, or a file."""

    def __init__(self, calls: Calls, id: str, kind: str) -> None:
        if kind not in KINDS:
            raise refuse("`kind` must be `result` or `file`.")
        self.settings = calls.settings
        self.id = id
        self.kind = kind

    async def ask(self, method: str, options: CallOptions) -> Dict[str, Any]:
        status: Dict[str, Any] = (await send(self.settings, self._request(method, "", options), options)).value
        return status

    async def done(self, options: CallOptions) -> Any:
        """Returns the result, or the answer with the file, which the caller must close."""
        # The time limit of the client is one for calls.
        limit = read_timeout(dataclasses.replace(self.settings, timeout=None), options)
        ends = math.inf if limit is None else time.monotonic() + limit
        wait = WAIT_SECONDS
        while True:
            status = await self.ask("GET", options)
            if status["state"] == "done":
                return await self._read_result(options)
            if status.get("error"):
                raise read_error(status["error"], status=200)
            if status["ended_at"] is not None:
                raise ErpProxyError("job_cancelled", "The job was cancelled.")
            if time.monotonic() + wait >= ends:
                raise ErpProxyError("client_timeout", "The job has not ended within the time limit.")
            await self.settings.network.sleep(wait)
            wait = min(wait * GROWTH, WAIT_SECONDS_MAX)

    async def _read_result(self, options: CallOptions) -> Any:
        answer = await send(self.settings, self._request("GET", "/result", options), options)
        return answer.response if answer.value is None else answer.value["result"]

    def _request(self, method: str, part: str, options: CallOptions) -> Request:
        def stays_open(response: Response) -> bool:
            return part != "" and self.kind == "file" and response.status == 200

        route = f"jobs/{urllib.parse.quote(self.id, safe='')}{part}"
        shown = NamedCall("", "job")
        return make_request(
            self.settings, route, [shown], None, options, method=method, stays_open=stays_open
        )


async def start_call(calls: Calls, call: ExecuteCall, callback: Optional[str], options: CallOptions) -> JobCalls:
    body = calls.complete(call, check_options(options))
    return await _start(calls, "execute", name_call(call), body, callback, options, "result")


async def start_export(
    calls: Calls, call: Mapping[str, Any], callback: Optional[str], options: CallOptions
) -> JobCalls:
    shown = NamedCall(str(call.get("model_id", "")), "export")
    body = calls.place(call, check_options(options))
    return await _start(calls, "export", shown, body, callback, options, "file")


async def start_document(
    calls: Calls, call: Mapping[str, Any], callback: Optional[str], options: CallOptions
) -> JobCalls:
    shown = NamedCall(str(call.get("model_id", "")), "document")
    body = calls.place_document(call)
    return await _start(calls, "document", shown, body, callback, check_options(options), "file")


async def _start(
    calls: Calls,
    route: str,
    shown: NamedCall,
    body: Dict[str, Any],
    callback: Optional[str],
    options: CallOptions,
    kind: str,
) -> JobCalls:
    deferral = "respond-async"
    if callback is not None:
        deferral += f'; callback="{check_text("callback", callback)}"'
    request = make_request(calls.settings, route, [shown], body, options, deferral=deferral)
    answer = await send(calls.settings, request, options)
    if "state" not in answer.value:
        raise ErpProxyError("invalid_answer", "The proxy did not answer with a job; it may be too old.")
    return JobCalls(calls, answer.value["id"], kind)


class Job:
    """A job. `client.job(id)` finds it again by its `id`."""

    def __init__(self, job: JobCalls) -> None:
        self._job = job

    @property
    def id(self) -> str:
        return self._job.id

    def status(self, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Returns the job as the proxy tells it: its `state`, and `progress`, `error` and times."""
        return run(self._job.ask("GET", check_options(options)))

    def done(self, **options: Unpack[CallOptions]) -> Any:
        """Waits for the end of the job, at most `timeout` seconds, and returns the result of its call, or the file of
        an export or a document. Raises the error of a job that has none."""
        result = run(self._job.done(check_options(options)))
        return File(result) if isinstance(result, Response) else result

    def cancel(self, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Cancels the job, and returns its status. A write that was sent goes on to its end."""
        return run(self._job.ask("DELETE", check_options(options)))

    def __repr__(self) -> str:
        return f"Job({self.id!r})"


class AsyncJob:
    """A job. `client.job(id)` finds it again by its `id`."""

    def __init__(self, job: JobCalls) -> None:
        self._job = job

    @property
    def id(self) -> str:
        return self._job.id

    async def status(self, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Returns the job as the proxy tells it: its `state`, and `progress`, `error` and times."""
        return await self._job.ask("GET", check_options(options))

    async def done(self, **options: Unpack[CallOptions]) -> Any:
        """Waits for the end of the job, at most `timeout` seconds, and returns the result of its call, or the file of
        an export or a document. Raises the error of a job that has none."""
        result = await self._job.done(check_options(options))
        return AsyncFile(result) if isinstance(result, Response) else result

    async def cancel(self, **options: Unpack[CallOptions]) -> Dict[str, Any]:
        """Cancels the job, and returns its status. A write that was sent goes on to its end."""
        return await self._job.ask("DELETE", check_options(options))

    def __repr__(self) -> str:
        return f"AsyncJob({self.id!r})"
