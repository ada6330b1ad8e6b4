"""What both clients can do, as coroutines that know no network: calls, batches, and the methods of models."""

from __future__ import annotations

import datetime
import json
import math
import re
import time
import uuid
from dataclasses import dataclass
from typing import Any, AsyncGenerator, Dict, List, Mapping, Optional, Sequence, Union, cast

from ._errors import ErpProxyError, read_error, read_members, refuse
from ._http import Response, TimeOver, WrongAnswer
from ._options import CallOptions, Context, Domain, ExecuteCall, NamedCall, Progress, UpsertResult
from ._send import (
    ATTEMPT_SECONDS_MAX,
    Answer,
    Request,
    Settings,
    check_options,
    choose_delay,
    encode_value,
    explain_failure,
    explain_form,
    make_request,
    read_timeout,
    send,
    try_once,
)

Row = Dict[str, Any]
Ids = Union[int, Sequence[int]]

#: Maximum calls of one request: the proxy refuses larger batches.
BATCH_CALLS_MAX = 100
#: Records of a page.
PAGE_SIZE = 500
#: Maximum number of values in one search of `upsert`.
VALUES_MAX = 1000
#: Longest line of an export. A record of the proxy has at most 16 MiB.
LINE_BYTES_MAX = 64 * 1024 * 1024


@dataclass(frozen=True)
class Sent:
    result: Any
    #: The limit that the policy of the key set in place of the call's.
    limit: Optional[int]


class Calls:
    """The calls of a client on one instance."""

    def __init__(self, settings: Settings, instance: Mapping[str, Any], context: Context) -> None:
        self.settings = settings
        self.instance = instance
        self.context = context

    def with_context(self, context: Context) -> "Calls":
        return Calls(self.settings, self.instance, {**self.context, **context})

    async def execute(self, call: ExecuteCall, options: CallOptions) -> Sent:
        shown = name_call(call)
        request = self._request("execute", [shown], self.complete(call, options), options)
        answer = await send(self.settings, request, options)
        if _returns_values(shown.action):
            self._check_form(answer)
        limit = answer.response.headers.get("erp-proxy-limit", "") if answer.response else ""
        return Sent(answer.value.get("result"), int(limit) if limit.isdigit() else None)

    async def batch(
        self, calls: Sequence[ExecuteCall], options: CallOptions
    ) -> List[Union[Any, ErpProxyError]]:
        results: List[Any] = []
        for at in range(0, len(calls), BATCH_CALLS_MAX):
            part = calls[at : at + BATCH_CALLS_MAX]
            own = options.copy()
            key = options.get("idempotency_key")
            if key is not None and at > 0:
                own["idempotency_key"] = f"{key}-{at}"
            try:
                results += await self._send_part(part, own)
            except ErpProxyError as error:
                # Not raised, because the results of earlier parts must not be lost.
                if at == 0:
                    raise
                return results + [error] * (len(calls) - at)
        return results

    async def _send_part(self, calls: Sequence[ExecuteCall], options: CallOptions) -> List[Any]:
        shown = [name_call(call) for call in calls]
        bodies = [self.complete(call, options) for call in calls]
        answer = await send(self.settings, self._request("execute", shown, bodies, options), options)
        answers = cast("List[object]", answer.value)
        if not isinstance(answer.value, list) or len(answers) != len(calls):
            message = "The batch got another number of results."
            raise ErpProxyError("invalid_answer", message)
        is_foreign = self.settings.is_normalized and not _has_form(answer)
        results: List[Any] = []
        for (_, action), each in zip(shown, map(read_members, answers)):
            if each.get("error") or "result" not in each:
                results.append(read_error(each.get("error"), status=200))
            # Only for reads: the results of writes must not be lost.
            elif is_foreign and _returns_values(action):
                results.append(explain_form())
            else:
                results.append(each.get("result"))
        return results

    async def ask_changes(self, call: Dict[str, Any], options: CallOptions) -> Dict[str, Any]:
        shown = NamedCall(call["model_id"], "changes")
        request = self._request("changes", [shown], self.place(call, options), options)
        answer = await send(self.settings, request, options)
        self._check_form(answer)
        return cast("Dict[str, Any]", answer.value["result"])

    async def download(self, call: Dict[str, Any], options: CallOptions) -> Response:
        """Returns the answer with the file, after retries until its first byte. The caller must close it."""
        return await self._open_file("download", call["model_id"], self.place(call, options), options)

    async def document(self, call: Dict[str, Any], options: CallOptions) -> Response:
        """The same for a document."""
        return await self._open_file("document", call["model_id"], self.place_document(call), options)

    async def _open_file(
        self, route: str, model: str, body: Dict[str, Any], options: CallOptions
    ) -> Response:
        request = make_request(
            self.settings,
            route,
            [NamedCall(model, route)],
            body,
            options,
            # Only a file has this header. Checking for JSON would not do, because a file can be JSON, too.
            stays_open=lambda response: "content-disposition" in response.headers,
            is_normalized=False,
        )
        answer = await send(self.settings, request, options)
        if answer.response is None or answer.value is not None:
            raise ErpProxyError("invalid_answer", "The answer is not a file.", status=200)
        return answer.response

    async def upload(self, call: Dict[str, Any], file: bytes, options: CallOptions) -> int:
        shown = NamedCall(call["model_id"], "upload")
        body = self.place(call, options)
        request = make_request(self.settings, "upload", [shown], body, options, file=file)
        return cast(int, (await send(self.settings, request, options)).value["result"])

    async def fleet(
        self, call: ExecuteCall, choice: Dict[str, Any], options: CallOptions
    ) -> AsyncGenerator[Dict[str, Any], None]:
        completed = self.complete(call, options)
        del completed["erp_instance"]
        body = {"call": completed, **_pick_given(choice)}
        opened = self._open_lines("fleet", name_call(call), body, options, 1)
        try:
            async for lines in opened:
                for line in map(json.loads, lines):
                    # The last line has counts.
                    if "instance" not in line:
                        return
                    if "error" in line:
                        line["error"] = read_error(line["error"], status=200)
                    yield line
        finally:
            await opened.aclose()
        raise ErpProxyError("invalid_answer", "The answer broke off.")

    def open_lines(
        self, call: Dict[str, Any], options: CallOptions, attempt: int
    ) -> AsyncGenerator[List[bytes], None]:
        shown = NamedCall(call["model_id"], "export")
        return self._open_lines("export", shown, self.place(call, options), options, attempt)

    async def _open_lines(
        self, route: str, shown: NamedCall, body: Dict[str, Any], options: CallOptions, attempt: int
    ) -> AsyncGenerator[List[bytes], None]:
        """Sends one request whose answer has lines, and gives them as they arrive. Knows no retries."""
        settings = self.settings
        timeout = read_timeout(settings, options)
        request_id = str(uuid.uuid4())
        settings.budget.count_call()
        request = make_request(
            settings,
            route,
            [shown],
            body,
            options,
            stays_open=_has_lines,
        )
        # The time limit is that of each page in the proxy. Here, only silence ends the export.
        answer = await try_once(settings, request, attempt, request_id, timeout, ATTEMPT_SECONDS_MAX)
        if answer.error is not None:
            raise answer.error
        response = answer.response
        if response is None or answer.value is not None:
            raise ErpProxyError("invalid_answer", "The answer has no lines.", status=200)
        try:
            self._check_form(answer)
            async for lines in _split_lines(response, settings, request, request_id):
                yield lines
        finally:
            # Ends the request in the proxy when the caller stops reading.
            response.close()

    def _request(
        self, route: str, shown: Sequence[NamedCall], body: object, options: CallOptions
    ) -> Request:
        return make_request(self.settings, route, shown, body, options)

    def complete(self, call: ExecuteCall, options: CallOptions) -> Dict[str, Any]:
        keyword: Dict[str, Any] = dict(call.get("keyword") or {})
        merged = {**self.context, **read_members(keyword.get("context")), **(options.get("context") or {})}
        if merged:
            keyword["context"] = merged
        given = {name: value for name, value in call.items() if name != "keyword"}
        named = {"keyword": keyword} if keyword or "keyword" in call else {}
        return {**given, **named, "erp_instance": self.instance}

    def place(self, call: Mapping[str, Any], options: CallOptions) -> Dict[str, Any]:
        """The body of a request that is not a call of a method."""
        context = {**self.context, **(options.get("context") or {})}
        return {**_pick_given(call), "context": context, "erp_instance": self.instance}

    def place_document(self, call: Mapping[str, Any]) -> Dict[str, Any]:
        lang = self.context.get("lang")
        named: Dict[str, Any] = {"lang": lang} if isinstance(lang, str) else {}
        return {**named, **_pick_given(call), "erp_instance": self.instance}

    def _check_form(self, answer: Answer) -> None:
        if self.settings.is_normalized and not _has_form(answer):
            raise explain_form()


async def _split_lines(
    response: Response, settings: Settings, request: Request, request_id: str
) -> AsyncGenerator[List[bytes], None]:
    #: The pieces of a line whose end has not arrived.
    rest: List[bytes] = []
    size = 0
    while True:
        try:
            # A connection that delivers no byte for this long counts as broken.
            data = await response.read_some(time.monotonic() + ATTEMPT_SECONDS_MAX)
            if not data:
                if rest:
                    raise WrongAnswer("the answer ends within a record")
                return
            if size + len(data) > LINE_BYTES_MAX and b"\n" not in data:
                raise WrongAnswer(f"a record has more than {LINE_BYTES_MAX} bytes")
        except TimeOver:
            cause = WrongAnswer("it took too long")
            raise explain_failure(settings, request, request_id, cause) from None
        except (OSError, WrongAnswer) as cause:
            raise explain_failure(settings, request, request_id, cause) from cause
        first, *others = data.split(b"\n")
        rest.append(first)
        size += len(first)
        if others:
            last = others.pop()
            lines = [b"".join(rest), *others]
            rest = [last] if last else []
            size = len(last)
            yield lines


class ModelCalls:
    """The methods of one model. Arguments and results have no types: the faces of the clients add them."""

    def __init__(self, calls: Calls, model: str) -> None:
        self.calls = calls
        self.model = model

    async def call(
        self, method: str, args: Sequence[Any], named: Mapping[str, Any], options: CallOptions
    ) -> Any:
        # `call_method`, which needs `fn_name`, is not supported here, because each method can be an action itself.
        call: ExecuteCall = {"action": method, "model_id": self.model, "params": list(args), "keyword": named}
        return (await self.calls.execute(call, check_options(options))).result

    async def search_read(
        self, domain: Domain, query: Dict[str, Any], options: CallOptions
    ) -> Any:
        return await self.call("search_read", [list(domain)], _pick_given(query), options)

    async def read(self, ids: Sequence[int], fields: Optional[Sequence[str]], options: CallOptions) -> Any:
        return await self.call("read", [list(ids)], _pick_given({"fields": fields}), options)

    async def one(self, id: int, fields: Optional[Sequence[str]], options: CallOptions) -> Any:
        try:
            return next(iter(await self.read([id], fields, options)), None)
        except ErpProxyError as error:
            if error.type == "record_missing":
                return None
            raise

    async def search(self, domain: Domain, query: Dict[str, Any], options: CallOptions) -> Any:
        return await self.call("search", [list(domain)], _pick_given(query), options)

    async def name_search(
        self, text: str, domain: Domain, operator: str, limit: int, options: CallOptions
    ) -> Any:
        # Passed by position, because Odoo 19 renamed a parameter.
        pairs = await self.call("name_search", [text, list(domain), operator, limit], {}, options)
        return [(pair[0], pair[1]) for pair in pairs]

    async def create(self, values: object, options: CallOptions) -> Any:
        return await self.call("create", [values], {}, options)

    async def update(self, ids: Ids, values: object, options: CallOptions) -> Any:
        return await self.call("write", [_list_ids(ids), values], {}, options)

    async def delete(self, ids: Ids, options: CallOptions) -> Any:
        return await self.call("unlink", [_list_ids(ids)], {}, options)

    async def download(self, id: int, field: str, options: CallOptions) -> Response:
        call = {"model_id": self.model, "record": id, "field": field}
        return await self.calls.download(call, check_options(options))

    async def document(
        self, ids: Ids, report: Optional[str], lang: Optional[str], options: CallOptions
    ) -> Response:
        target: Dict[str, Any] = {"record": ids} if isinstance(ids, int) else {"records": list(ids)}
        call = {"model_id": self.model, **target, "report": report, "lang": lang}
        return await self.calls.document(call, check_options(options))

    async def upload(
        self, field: str, file: bytes, id: Optional[int], values: object, options: CallOptions
    ) -> int:
        if (id is None) == (values is None):
            raise refuse("Give `id`, the record to write to, or `values` of a new one.")
        target: Dict[str, Any] = {"values": values} if id is None else {"record": id}
        call = {"model_id": self.model, "field": field, **target}
        return await self.calls.upload(call, bytes(file), check_options(options))

    async def changes(
        self,
        domain: Domain,
        fields: Sequence[str],
        since: Optional[str],
        limit: Optional[int],
        options: CallOptions,
    ) -> AsyncGenerator[Dict[str, Any], None]:
        check_options(options)
        more = True
        while more:
            call = {"model_id": self.model, "domain": list(domain), "fields": list(fields), "limit": limit}
            page = await self.calls.ask_changes({**call, "since": NULL if since is None else since}, options)
            since, more = page["cursor"], page["more"]
            yield page

    async def pages(
        self,
        domain: Domain,
        query: Dict[str, Any],
        progress: Optional[Progress],
        options: CallOptions,
    ) -> AsyncGenerator[List[Row], None]:
        """Reads all records of a domain, page after page, so that no record that exists throughout is given twice or
        missed. Pages by offset would do both while records are made and removed.

        By id, each page begins after the last id. Any other order cannot be continued after a value: Odoo orders
        relations by the name of the related record but compares their ids, and returns times without the fraction by
        which it orders them. For such an order, one search returns all ids, and the pages are read by these ids.
        """
        check_options(options)
        order = query.get("order") or "id"
        by_id = re.match(r"\s*id(?:\s+(\w+))?\s*(?:,|$)", order, re.IGNORECASE)
        if by_id is None:
            pages = self._read_ordered(domain, query, order, options)
        else:
            # Terms after the first one have no effect, because ids are unique.
            pages = self._read_by_id(domain, query, (by_id[1] or "").lower() == "desc", options)
        count = 0
        async for rows in pages:
            count += len(rows)
            if progress is not None:
                progress(count)
            yield rows

    async def _read_page(
        self, domain: Sequence[Any], query: Dict[str, Any], options: CallOptions, **keyword: Any
    ) -> Sent:
        named = {**_pick_given({"fields": query.get("fields")}), **keyword}
        call: ExecuteCall = {
            "action": "search_read",
            "model_id": self.model,
            "params": [list(domain)],
            "keyword": named,
        }
        return await self.calls.execute(call, options)

    async def _read_by_id(
        self, domain: Domain, query: Dict[str, Any], is_descending: bool, options: CallOptions
    ) -> AsyncGenerator[List[Row], None]:
        left, size = _read_limit(query), _read_page_size(query)
        after: List[Any] = []
        while left > 0:
            asked = int(min(size, left))
            order = "id desc" if is_descending else "id"
            sent = await self._read_page([*after, *domain], query, options, order=order, limit=asked)
            rows: List[Row] = sent.result
            allowed = asked if sent.limit is None else sent.limit
            if rows:
                yield rows
            if len(rows) < min(asked, allowed) or not rows:
                return
            # The policy of the key may limit the records of a page.
            size = min(size, allowed)
            left -= len(rows)
            after = [["id", "<" if is_descending else ">", rows[-1]["id"]]]

    async def _read_ordered(
        self, domain: Domain, query: Dict[str, Any], order: str, options: CallOptions
    ) -> AsyncGenerator[List[Row], None]:
        ids = await self._search_ids(domain, _read_limit(query), order, options)
        size = _read_page_size(query)
        for at in range(0, len(ids), size):
            part = ids[at : at + size]
            sent = await self._read_page([["id", "in", part], *domain], query, options, order="id")
            if sent.limit is not None and sent.limit < len(part):
                raise _refuse_order(sent.limit)
            found: Dict[int, Row] = {row["id"]: row for row in sent.result}
            # An id is missing if the record was deleted, or does not match any more.
            yield [found[id] for id in part if id in found]

    async def _search_ids(
        self, domain: Domain, most: float, order: str, options: CallOptions
    ) -> List[int]:
        has_id = re.search(r"(^|,)\s*id\b", order, re.IGNORECASE)
        keyword: Dict[str, Any] = {"order": order if has_id else f"{order}, id"}
        if most != math.inf:
            keyword["limit"] = most
        call: ExecuteCall = {
            "action": "search",
            "model_id": self.model,
            "params": [list(domain)],
            "keyword": keyword,
        }
        sent = await self.calls.execute(call, options)
        ids: List[int] = sent.result
        if sent.limit is not None and sent.limit < most and len(ids) >= sent.limit:
            raise _refuse_order(sent.limit)
        return ids

    async def export_lines(
        self,
        domain: Domain,
        query: Dict[str, Any],
        progress: Optional[Progress],
        options: CallOptions,
    ) -> AsyncGenerator[List[bytes], None]:
        """Reads all records of a domain in one request, as they arrive. After a broken connection, another request
        continues after the last record, so that no record is missed or given twice."""
        check_options(options)
        settings = self.calls.settings
        left, after = _read_limit(query), query.get("after")
        count, attempt = 0, 1
        while left > 0:
            call: Dict[str, Any] = {
                "model_id": self.model,
                "domain": list(domain),
                "fields": query["fields"],
                "after": after,
                "limit": NULL if left == math.inf else left,
            }
            opened = self.calls.open_lines(call, options, attempt)
            try:
                async for lines in opened:
                    attempt = 1
                    left -= len(lines)
                    count += len(lines)
                    after = _read_id(lines[-1])
                    if progress is not None:
                        progress(count)
                    yield lines
                return
            except ErpProxyError as error:
                if not error.retryable or attempt > settings.retries or not settings.budget.take():
                    raise
                delay = choose_delay(attempt, error.retry_after)
            finally:
                await opened.aclose()
            await settings.network.sleep(delay)
            attempt += 1

    async def export_csv(
        self, domain: Domain, query: Dict[str, Any], options: CallOptions
    ) -> AsyncGenerator[str, None]:
        call = {"model_id": self.model, "domain": list(domain), "format": "csv", **query}
        opened = self.calls.open_lines(call, check_options(options), 1)
        try:
            async for lines in opened:
                yield "".join(f"{line.decode()}\n" for line in lines)
        finally:
            await opened.aclose()

    async def upsert(
        self, by: Union[str, Sequence[str]], rows: Sequence[Mapping[str, Any]], options: CallOptions
    ) -> List[UpsertResult]:
        """Updates the records that exist, and creates the others. If the same call is repeated after an error, it
        completes the remaining rows."""
        check_options(options)
        fields = [by] if isinstance(by, str) else list(by)
        keys = [_describe_key(fields, row) for row in rows]
        _check_rows(fields, rows, keys)
        known = await self._find_known(fields, rows, set(keys), options)
        updates: List[ExecuteCall] = [
            {"action": "write", "model_id": self.model, "params": [[known[key]], row]}
            for key, row in zip(keys, rows)
            if key in known
        ]
        for result in await self.calls.batch(updates, options):
            if isinstance(result, ErpProxyError):
                raise result
        fresh = [row for key, row in zip(keys, rows) if key not in known]
        created = iter(await self.create(fresh, options) if fresh else [])
        return [
            UpsertResult(known[key], False) if key in known else UpsertResult(next(created), True) for key in keys
        ]

    async def _find_known(
        self, by: List[str], rows: Sequence[Mapping[str, Any]], wanted: "set[str]", options: CallOptions
    ) -> Dict[str, int]:
        """The ids of existing records, including archived ones."""
        values = list({json.dumps(_identify(row.get(by[0]))): _identify(row.get(by[0])) for row in rows}.values())
        with_archived = options.copy()
        with_archived["context"] = {**(options.get("context") or {}), "active_test": False}
        known: Dict[str, int] = {}
        for at in range(0, len(values), VALUES_MAX):
            domain = [[by[0], "in", values[at : at + VALUES_MAX]]]
            async for page in self.pages(domain, {"fields": by}, None, with_archived):
                for row in page:
                    key = _describe_key(by, row)
                    if key not in wanted:
                        continue
                    if key in known:
                        names = ", ".join(by)
                        raise refuse(
                            f"{self.model} has several records with the same {names}: {known[key]} and {row['id']}."
                        )
                    known[key] = row["id"]
        return known


class _Null:
    """A member that is sent as null. None stands for a member that is left out."""


NULL = _Null()


def _pick_given(members: Mapping[str, Any]) -> Dict[str, Any]:
    """Leaves out members that are None, so that Odoo's defaults apply."""
    return {
        name: None if value is NULL else value for name, value in members.items() if value is not None
    }


def name_call(call: ExecuteCall) -> NamedCall:
    return NamedCall(str(call.get("model_id", "")), str(call.get("fn_name") or call.get("action", "")))


def _returns_values(action: str) -> bool:
    """Whether the proxy can normalize the values in the method's results."""
    return re.fullmatch("(web_)?(search_)?read", action) is not None


def _has_form(answer: Answer) -> bool:
    return answer.response is not None and "preference-applied" in answer.response.headers


def _has_lines(response: Response) -> bool:
    return re.search("ndjson|csv", response.headers.get("content-type", "")) is not None


def _list_ids(ids: Ids) -> List[int]:
    return [ids] if isinstance(ids, int) else list(ids)


def _read_limit(query: Mapping[str, Any]) -> float:
    limit: Optional[int] = query.get("limit")
    return math.inf if limit is None else limit


def _read_page_size(query: Mapping[str, Any]) -> int:
    size: Any = query.get("page_size") or PAGE_SIZE
    if not isinstance(size, int) or size < 1:
        raise refuse("`page_size` must be an integer above 0.")
    return size


def _read_id(line: bytes) -> Optional[int]:
    row: Row = json.loads(line)
    return row.get("id")


def _refuse_order(limit: int) -> ErpProxyError:
    return refuse(
        f"The policy of the key returns at most {limit} records at once, so more of them can only be read by id: leave"
        " out `order`."
    )


def _check_rows(by: List[str], rows: Sequence[Mapping[str, Any]], keys: List[str]) -> None:
    if not by:
        raise refuse("Name at least one field in `by`.")
    seen: Dict[str, int] = {}
    for at, (row, key) in enumerate(zip(rows, keys)):
        if not row.get(by[0]):
            raise refuse(f"Row {at} has no value for {by[0]}.")
        if key in seen:
            raise refuse(f"Rows {seen[key]} and {at} have the same {', '.join(by)}.")
        seen[key] = at


def _describe_key(by: List[str], row: Mapping[str, Any]) -> str:
    return json.dumps([_identify(row.get(field)) for field in by])


def _identify(value: Any) -> Any:
    """Converts a value to the form in which a domain compares it. Odoo returns a many2one with its name, and `false`
    for no value."""
    if isinstance(value, (list, tuple)):
        return next(iter(cast("Sequence[Any]", value)), None)
    if value is None:
        return False
    # Odoo returns 1.0 for a float that was written as 1.
    if isinstance(value, float) and value.is_integer():
        return int(value)
    if isinstance(value, (str, int, float)):
        return value
    if isinstance(value, dict) and "id" in value and "model" not in value:
        return cast("Dict[str, Any]", value)["id"]
    if isinstance(value, datetime.date) and not isinstance(value, datetime.datetime):
        return encode_value(value)
    raise refuse("A time or a reference cannot be compared: name other fields in `by`.")
