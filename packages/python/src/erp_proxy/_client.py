"""The client for programs without asyncio: the faces of the calls, with types."""

from __future__ import annotations

import json
import ssl
from typing import (
    TYPE_CHECKING,
    Any,
    Dict,
    Generator,
    Generic,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Union,
    overload,
)

from ._blocking import BlockingNetwork, iterate, run
from ._calls import Calls, Ids, ModelCalls
from ._configuration import Instance, describe_client, open_calls
from ._errors import ErpProxyError
from ._files import File
from ._jobs import Job, JobCalls, start_call, start_document, start_export
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


class Client:
    """Calls Odoo through erp-proxy. Threads may share a client.

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
            BlockingNetwork(),
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
    def model(self, name: ModelType[R, C, U, F]) -> Model[R, C, U, F]: ...

    @overload
    def model(self, name: str) -> Model[Dict[str, Any], Mapping[str, Any], Mapping[str, Any], str]: ...

    def model(self, name: Any) -> Any:
        """Returns the methods of a model: of its name, or of its type that `erp-proxy types` has written."""
        found: Model[Any, Any, Any, Any] = Model(self._calls, name if isinstance(name, str) else name.name)
        return found

    def with_context(self, context: Context) -> Client:
        """Returns a client whose calls have this context in addition."""
        other = Client.__new__(Client)
        other._calls = self._calls.with_context(context)
        return other

    def execute(self, call: ExecuteCall, **options: Unpack[CallOptions]) -> Any:
        """Sends one call in the form of the execute route, and returns its result."""
        return run(self._calls.execute(call, check_options(options))).result

    def batch(
        self, calls: Sequence[ExecuteCall], **options: Unpack[CallOptions]
    ) -> List[Union[Any, ErpProxyError]]:
        """Sends several calls, a hundred in one request, and returns a result or an `ErpProxyError` for each, in their
        order. The calls are not one transaction."""
        return run(self._calls.batch(calls, check_options(options)))

    def fleet(
        self,
        call: ExecuteCall,
        *,
        instances: Optional[Sequence[str]] = None,
        tags: Optional[Sequence[str]] = None,
        concurrency: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Generator[Dict[str, Any], None, None]:
        """Sends one call to many stored instances: by names, in which `*` stands for any text, or by tags. Gives
        `{"instance", "result"}`, or `error` with an `ErpProxyError`, of each as it answers. Calls that write need a
        policy that allows it."""
        choice = {"instances": instances, "tags": tags, "concurrency": concurrency}
        results = self._calls.fleet(call, choice, check_options(options))
        yield from iterate(results)

    def start_job(
        self, call: ExecuteCall, *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> Job:
        """Sends one call that runs as a job, for which nobody waits. `callback`: the name of a subscription to
        `job.ended`, which reports the end of the job."""
        return Job(run(start_call(self._calls, call, callback, options)))

    def start_export(
        self, call: Mapping[str, Any], *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> Job:
        """Starts an export as a job, whose result is a file. `call`: the body of the request without its instance."""
        return Job(run(start_export(self._calls, call, callback, options)))

    def start_document(
        self, call: Mapping[str, Any], *, callback: Optional[str] = None, **options: Unpack[CallOptions]
    ) -> Job:
        """Starts a request for documents as a job, whose result is a file. `call`: the body of the request without
        its instance."""
        return Job(run(start_document(self._calls, call, callback, options)))

    def job(self, id: str, kind: str = "result") -> Job:
        """Finds a job again. `kind`: `result` for that of a call, `file` for an export or a document."""
        return Job(JobCalls(self._calls, id, kind))

    def close(self) -> None:
        """Closes the idle connections."""
        self._calls.settings.connections.close()

    def __enter__(self) -> Client:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def __repr__(self) -> str:
        return describe_client("Client", self._calls)


class Model(Generic[R, C, U, F]):
    """The methods of a model."""

    def __init__(self, calls: Calls, name: str) -> None:
        self._model = ModelCalls(calls, name)

    def search_read(
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
        result: List[R] = run(self._model.search_read(domain, query, options))
        return result

    def read(
        self, ids: Sequence[int], fields: Optional[Sequence[F]] = None, **options: Unpack[CallOptions]
    ) -> List[R]:
        """Returns records by id. If one does not exist, some versions of Odoo raise `record_missing`, others leave it
        out."""
        result: List[R] = run(self._model.read(ids, fields, options))
        return result

    def one(
        self, id: int, fields: Optional[Sequence[F]] = None, **options: Unpack[CallOptions]
    ) -> Optional[R]:
        """Returns a record, or None if it does not exist."""
        result: Optional[R] = run(self._model.one(id, fields, options))
        return result

    def search(
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
        result: List[int] = run(self._model.search(domain, query, options))
        return result

    def name_search(
        self,
        text: str,
        domain: Domain = (),
        *,
        operator: str = "ilike",
        limit: int = 100,
        **options: Unpack[CallOptions],
    ) -> List[Tuple[int, str]]:
        """Returns ids and names of the records whose name contains a text."""
        result: List[Tuple[int, str]] = run(self._model.name_search(text, domain, operator, limit, options))
        return result

    def count(self, domain: Domain = (), **options: Unpack[CallOptions]) -> int:
        """Counts the records that match a domain."""
        result: int = run(self._model.call("search_count", [list(domain)], {}, options))
        return result

    def paginate(
        self,
        domain: Domain = (),
        fields: Optional[Sequence[F]] = None,
        *,
        order: Optional[str] = None,
        page_size: int = 500,
        limit: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> Generator[R, None, None]:
        """Gives all records that match a domain, read page after page, each exactly once. For an order other than by
        id, the ids of all records are read first. `progress` is called after each page with the number of records that
        were read."""
        query = {"fields": fields, "order": order, "page_size": page_size, "limit": limit}
        for page in iterate(self._model.pages(domain, query, progress, options)):
            rows: Any = page
            yield from rows

    def export(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        limit: Optional[int] = None,
        after: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> Generator[R, None, None]:
        """Gives all records that match a domain, the lowest id first, in one request, to which the proxy prefers other
        calls. Begins after the record with the id `after`. `timeout` applies to each page that the proxy reads. The
        policy of the key must allow exports."""
        query = {"fields": list(fields), "limit": limit, "after": after}
        for lines in iterate(self._model.export_lines(domain, query, progress, options)):
            for line in lines:
                row: R = json.loads(line)
                yield row

    def export_lines(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        limit: Optional[int] = None,
        after: Optional[int] = None,
        progress: Optional[Progress] = None,
        **options: Unpack[CallOptions],
    ) -> Generator[bytes, None, None]:
        """Gives the records of `export` as lines of JSON in UTF-8, each with its line feed."""
        query = {"fields": list(fields), "limit": limit, "after": after}
        for lines in iterate(self._model.export_lines(domain, query, progress, options)):
            for line in lines:
                yield line + b"\n"

    def export_csv(
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
    ) -> Generator[str, None, None]:
        """Gives the records as a CSV file, in pieces of text. Raises if the connection breaks, without continuing."""
        query = {
            "fields": list(fields),
            "limit": limit,
            "after": after,
            "bom": bom,
            "delimiter": delimiter,
            "escape_formulas": escape_formulas,
        }
        yield from iterate(self._model.export_csv(domain, query, options))

    def changes(
        self,
        domain: Domain = (),
        *,
        fields: Sequence[F],
        since: Optional[str],
        limit: Optional[int] = None,
        **options: Unpack[CallOptions],
    ) -> Generator[ChangesPage[R], None, None]:
        """Gives the changes since a cursor, answer after answer until there are no more. `since=None` begins with all
        records that match. The policy of the key must allow changes."""
        for page in iterate(self._model.changes(domain, fields, since, limit, options)):
            yield ChangesPage([Change(**change) for change in page["changes"]], page["cursor"], page["more"])

    def create(self, values: C, **options: Unpack[CallOptions]) -> int:
        """Creates a record and returns its id."""
        result: int = run(self._model.create(values, options))
        return result

    def create_many(self, rows: Sequence[C], **options: Unpack[CallOptions]) -> List[int]:
        """Creates all of the records or none, and returns their ids."""
        result: List[int] = run(self._model.create(list(rows), options))
        return result

    def update(self, ids: Ids, values: U, **options: Unpack[CallOptions]) -> bool:
        """Changes records."""
        result: bool = run(self._model.update(ids, values, options))
        return result

    write = update

    def delete(self, ids: Ids, **options: Unpack[CallOptions]) -> bool:
        """Deletes records."""
        result: bool = run(self._model.delete(ids, options))
        return result

    unlink = delete

    def upsert(
        self, by: Union[F, Sequence[F]], rows: Sequence[C], **options: Unpack[CallOptions]
    ) -> List[UpsertResult]:
        """Updates the records that have the same values in the fields `by`, including archived ones, and creates the
        others. Another program may create the same record at the same time. Odoo prevents that only for unique
        fields."""
        given: Any = rows
        return run(self._model.upsert(by, given, options))

    def download(self, id: int, field: F, **options: Unpack[CallOptions]) -> File:
        """Returns the file in a binary field. `timeout` limits the time until its first bytes."""
        return File(run(self._model.download(id, field, options)))

    def document(
        self,
        ids: Ids,
        *,
        report: Optional[str] = None,
        lang: Optional[str] = None,
        **options: Unpack[CallOptions],
    ) -> File:
        """Returns the report of a record as PDF, or those of several records as one ZIP archive. Default of `report`:
        the usual one of the model."""
        return File(run(self._model.document(ids, report, lang, options)))

    def upload(
        self,
        field: F,
        file: bytes,
        *,
        id: Optional[int] = None,
        values: Optional[U] = None,
        **options: Unpack[CallOptions],
    ) -> int:
        """Writes a file into a binary field of the record `id`, or of a new one with `values`. Returns the id."""
        return run(self._model.upload(field, file, id, values, options))

    def call(
        self,
        method: str,
        args: Sequence[Any] = (),
        named: Optional[Mapping[str, Any]] = None,
        **options: Unpack[CallOptions],
    ) -> Any:
        """Calls any public method of the model: `call("action_confirm", [[4]])`."""
        return run(self._model.call(method, args, named or {}, options))

    def describe(self, **options: Unpack[CallOptions]) -> Dict[str, Dict[str, Any]]:
        """Returns the fields of the model as Odoo describes them."""
        result: Dict[str, Dict[str, Any]] = run(self._model.call("fields_get", [], {}, options))
        return result

    def __repr__(self) -> str:
        return f"Model({self._model.model!r})"
