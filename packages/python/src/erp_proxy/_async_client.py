"""The client for asyncio: the same methods as those of the blocking client, as coroutines."""

from __future__ import annotations

import json
import ssl
from typing import (
    TYPE_CHECKING,
    Any,
    AsyncGenerator,
    Dict,
    Generic,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

from ._asyncio import AsyncioNetwork
from ._calls import Calls, Ids, ModelCalls
from ._configuration import Instance, describe_client, open_calls
from ._errors import ErpProxyError
from ._files import AsyncFile
from ._jobs import AsyncJob, JobCalls, start_call, start_document, start_export
from ._options import (
    C,
    CallOptions,
    Change,
    ChangesPage,
    Context,
    Domain,
    ExecuteCall,
    F,
    Hooks,
    ModelType,
    Progress,
    R,
    U,
    UpsertResult,
)
from ._send import check_options

if TYPE_CHECKING:
    from typing_extensions import Unpack


class AsyncClient:
    """Calls Odoo through erp-proxy. A client may be used by one event loop after another.

    `url`, `key` and `instance` default to the environment variables `ERP_PROXY_URL`, `ERP_PROXY_KEY` and
    `ERP_PROXY_INSTANCE`. `instance` is the name of a stored instance, or `{"url", "db", "user_id", "api_key"}`.
    `values`: `odoo` or `normalized`. `timeout`: time limit of a call including its retries, in seconds.
    `idempotency_keys=False`: a write gets no key, and is retried only if it has certainly not run. `ssl_context`:
    default is `ssl.create_default_context()`.

    Every method raises `ErpProxyError`. Its keyword arguments are those of `CallOptions`.
    """

    def __init__(
        self,
        url: Optional[str] = None,
        *,
        key: Optional[str] = None,
        instance: Optional[Instance] = None,
        values: str = "odoo",
        context: Optional[Context] = None,
        timeout: Optional[float] = None,
        retries: int = 2,
        idempotency_keys: bool = True,
        hooks: Optional[Hooks] = None,
        ssl_context: Optional[ssl.SSLContext] = None,
    ) -> None:
        self._calls = open_calls(
            AsyncioNetwork(),
            url=url,
            key=key,
            instance=instance,
            values=values,
            context=context,
            timeout=timeout,
            retries=retries,
            idempotency_keys=idempotency_keys,
            hooks=hooks,
            ssl_context=ssl_context,
        )

    @overload
    def model(self, name: ModelType[R, C, U, F]) -> AsyncModel[R, C, U, F]: ...

    @overload
    def model(self, name: str) -> AsyncModel[Dict[str, Any], Mapping[str, Any], Mapping[str, Any], str]: ...

    def model(self, name: Any) -> Any:
        """Returns the methods of a model: of its name, or of its type that `erp-proxy types` has written."""
        found: AsyncModel[Any, Any, Any, Any] = AsyncModel(self._calls, name if isinstance(name, str) else name.name)
        return found

    def with_context(self, context: Context) -> AsyncClient:
        """Returns a client whose calls have this context in addition."""
        other = AsyncClient.__new__(AsyncClient)
        other._calls = self._calls.with_context(context)
        return other

    async def execute(self, call: ExecuteCall, **options: Unpack[CallOptions]) -> Any:
        """Sends one call in the form of the execute route, and returns its result."""
        return (await self._calls.execute(call, check_options(options))).result

    async def batch(
        self, calls: Sequence[ExecuteCall], **options: Unpack[CallOptions]
    ) -> List[Union[Any, ErpProxyError]]:
        """Sends several calls, a hundred in one request, and returns a result or an `ErpProxyError` for each, in their
        order. The calls are not one transaction."""
        return await self._calls.batch(calls, check_options(options))

    async def fleet(
        self,
        call: ExecuteCall,
        *,
        instances: Optional[Sequence[str]] = None,
        tags: Optional[Sequence[str]] = None,
        concurrency: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[Dict[str, Any], None]:
        """Sends one call to many stored instances: by names, in which `*` stands for any text, or by tags. Gives
        `{"instance", "result"}`, or `error` with an `ErpProxyError`, of each as it answers. Calls that write need a
        policy that allows it."""
        choice = {"instances": instances, "tags": tags, "concurrency": concurrency}
        results = self._calls.fleet(call, choice, check_options(options))
        try:
            async for each in results:
                yield each
        finally:
            await results.aclose()

    async def start_job(
        self, call: ExecuteCall, *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> AsyncJob:
        """Sends one call that runs as a job, for which nobody waits. `callback`: the name of a subscription to
        `job.ended`, which reports the end of the job."""
        return AsyncJob(await start_call(self._calls, call, callback, options))

    async def start_export(
        self, call: Mapping[str, Any], *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> AsyncJob:
        """Starts an export as a job, whose result is a file. `call`: the body of the request without its instance."""
        return AsyncJob(await start_export(self._calls, call, callback, options))

    async def start_document(
        self, call: Mapping[str, Any], *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> AsyncJob:
        """Starts a request for documents as a job, whose result is a file. `call`: the body of the request without
        its instance."""
        return AsyncJob(await start_document(self._calls, call, callback, options))

    def job(self, id: str, kind: str = "result") -> AsyncJob:
        """Finds a job again. `kind`: `result` for that of a call, `file` for an export or a document."""
        return AsyncJob(JobCalls(self._calls, id, kind))

    async def aclose(self) -> None:
        """Closes the idle connections."""
        self._calls.settings.connections.close()

    async def __aenter__(self) -> AsyncClient:
        return self

    async def __aexit__(self, *error: object) -> None:
        await self.aclose()

    def __repr__(self) -> str:
        return describe_client("AsyncClient", self._calls)


class AsyncModel(Generic[R, C, U, F]):
    """The methods of a model."""

    def __init__(self, calls: Calls, name: str) -> None:
        self._model = ModelCalls(calls, name)

    async def search_read(
        self,
        domain: Domain = (),
        fields: Optional[Sequence[F]] = None,
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        order: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> List[R]:
        """Returns the records that match a domain. Default of `fields`: all fields, which can be slow."""
        query = {"fields": fields, "limit": limit, "offset": offset, "order": order}
        result: List[R] = await self._model.search_read(domain, query, options)
        return result

    async def read(
        self, ids: Sequence[int], fields: Optional[Sequence[F]] = None, **options: Unpack[CallOptions]
    ) -> List[R]:
        """Returns records by id. If one does not exist, some versions of Odoo raise `record_missing`, others leave it
        out."""
        result: List[R] = await self._model.read(ids, fields, options)
        return result

    async def one(
        self, id: int, fields: Optional[Sequence[F]] = None, **options: Unpack[CallOptions]
    ) -> Optional[R]:
        """Returns a record, or None if it does not exist."""
        result: Optional[R] = await self._model.one(id, fields, options)
        return result

    async def search(
        self,
        domain: Domain = (),
        *,
        limit: Optional[int] = None,
        offset: Optional[int] = None,
        order: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> List[int]:
        """Returns the ids of the records that match a domain."""
        query = {"limit": limit, "offset": offset, "order": order}
        result: List[int] = await self._model.search(domain, query, options)
        return result

    async def name_search(
        self,
        text: str,
        domain: Domain = (),
        *,
        operator: str = "ilike",
        limit: int = 100,
        **options: Unpack[CallOptions],
    ) -> List[Tuple[int, str]]:
        """Returns ids and names of the records whose name contains a text."""
        result: List[Tuple[int, str]] = await self._model.name_search(text, domain, operator, limit, options)
        return result

    async def count(self, domain: Domain = (), **options: Unpack[CallOptions]) -> int:
        """Counts the records that match a domain."""
        result: int = await self._model.call("search_count", [list(domain)], {}, options)
        return result

    async def paginate(
        self,
        domain: Domain = (),
        fields: Optional[Sequence[F]] = None,
        *,
        order: Optional[str] = None,
        page_size: int = 500,
        limit: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[R, None]:
        """Gives all records that match a domain, read page after page, each exactly once. For an order other than by
        id, the ids of all records are read first. `progress` is called after each page with the number of records that
        were read."""
        query = {"fields": fields, "order": order, "page_size": page_size, "limit": limit}
        async for page in self._model.pages(domain, query, progress, options):
            rows: Any = page
            for row in rows:
                yield row

    async def export(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        limit: Optional[int] = None,
        after: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[R, None]:
        """Gives all records that match a domain, the lowest id first, in one request, to which the proxy prefers other
        calls. Begins after the record with the id `after`. `timeout` applies to each page that the proxy reads. The
        policy of the key must allow exports."""
        query = {"fields": list(fields), "limit": limit, "after": after}
        pieces = self._model.export_lines(domain, query, progress, options)
        try:
            async for lines in pieces:
                for line in lines:
                    row: R = json.loads(line)
                    yield row
        finally:
            await pieces.aclose()

    async def export_lines(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        limit: Optional[int] = None,
        after: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[bytes, None]:
        """Gives the records of `export` as lines of JSON in UTF-8, each with its line feed."""
        query = {"fields": list(fields), "limit": limit, "after": after}
        pieces = self._model.export_lines(domain, query, progress, options)
        try:
            async for lines in pieces:
                for line in lines:
                    yield line + b"\n"
        finally:
            await pieces.aclose()

    async def export_csv(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        limit: Optional[int] = None,
        after: Optional[int] = None,
        bom: Optional[bool] = None,
        delimiter: Optional[str] = None,
        escape_formulas: Optional[bool] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[str, None]:
        """Gives the records as a CSV file, in pieces of text. Raises if the connection breaks, without continuing."""
        query = {
            "fields": list(fields),
            "limit": limit,
            "after": after,
            "bom": bom,
            "delimiter": delimiter,
            "escape_formulas": escape_formulas,
        }
        pieces = self._model.export_csv(domain, query, options)
        try:
            async for text in pieces:
                yield text
        finally:
            await pieces.aclose()

    async def changes(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        since: Optional[str],
        limit: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncGenerator[ChangesPage[R], None]:
        """Gives the changes since a cursor, answer after answer until there are no more. `since=None` begins with all
        records that match. The policy of the key must allow changes."""
        async for page in self._model.changes(domain, fields, since, limit, options):
            yield ChangesPage([Change(**change) for change in page["changes"]], page["cursor"], page["more"])

    async def create(self, values: C, **options: Unpack[CallOptions]) -> int:
        """Creates a record and returns its id."""
        result: int = await self._model.create(values, options)
        return result

    async def create_many(self, rows: Sequence[C], **options: Unpack[CallOptions]) -> List[int]:
        """Creates all of the records or none, and returns their ids."""
        result: List[int] = await self._model.create(list(rows), options)
        return result

    async def update(self, ids: Ids, values: U, **options: Unpack[CallOptions]) -> bool:
        """Changes records."""
        result: bool = await self._model.update(ids, values, options)
        return result

    write = update

    async def delete(self, ids: Ids, **options: Unpack[CallOptions]) -> bool:
        """Deletes records."""
        result: bool = await self._model.delete(ids, options)
        return result

    unlink = delete

    async def upsert(
        self, by: Union[F, Sequence[F]], rows: Sequence[C], **options: Unpack[CallOptions]
    ) -> List[UpsertResult]:
        """Updates the records that have the same values in the fields `by`, including archived ones, and creates the
        others. Another program may create the same record at the same time. Odoo prevents that only for unique
        fields."""
        given: Any = rows
        return await self._model.upsert(by, given, options)

    async def download(self, id: int, field: F, **options: Unpack[CallOptions]) -> AsyncFile:
        """Returns the file in a binary field. `timeout` limits the time until its first bytes."""
        return AsyncFile(await self._model.download(id, field, options))

    async def document(
        self,
        ids: Ids,
        *,
        report: Optional[str] = None,
        lang: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> AsyncFile:
        """Returns the report of a record as PDF, or those of several records as one ZIP archive. Default of `report`:
        the usual one of the model."""
        return AsyncFile(await self._model.document(ids, report, lang, options))

    async def upload(
        self,
        field: F,
        file: bytes,
        *,
        id: Optional[int] = None,
        values: Optional[U] = None,
        **options: Unpack[CallOptions],
    ) -> int:
        """Writes a file into a binary field of the record `id`, or of a new one with `values`. Returns the id."""
        return await self._model.upload(field, file, id, values, options)

    async def call(
        self,
        method: str,
        args: Sequence[Any] = (),
        named: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> Any:
        """Calls any public method of the model: `call("action_confirm", [[4]])`."""
        return await self._model.call(method, args, named or {}, options)

    async def describe(self, **options: Unpack[CallOptions]) -> Dict[str, Dict[str, Any]]:
        """Returns the fields of the model as Odoo describes them."""
        result: Dict[str, Dict[str, Any]] = await self._model.call("fields_get", [], {}, options)
        return result

    def __repr__(self) -> str:
        return f"AsyncModel({self._model.model!r})"
