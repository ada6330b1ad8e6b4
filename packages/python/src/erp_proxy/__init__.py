"""The client of erp-proxy: calls Odoo, from 14 on, by one set of methods. Has no dependencies."""

from ._async_client import AsyncClient, AsyncModel
from ._client import Client, Model
from ._errors import ErpProxyError
from ._files import AsyncFile, File
from ._jobs import AsyncJob, Job
from ._options import (
    CallOptions,
    Change,
    ChangesPage,
    Context,
    Domain,
    ExecuteCall,
    Hooks,
    ModelType,
    NamedCall,
    RequestInfo,
    ResponseInfo,
    RetryInfo,
    UpsertResult,
)
from ._values import (
    DateValue,
    Many2one,
    NamedRecord,
    ReferencedRecord,
    TimeValue,
    X2manyChanges,
    X2manyCommand,
)
from ._webhooks import WebhookError, verify_webhook

__all__ = [
    "AsyncClient",
    "AsyncFile",
    "AsyncJob",
    "AsyncModel",
    "CallOptions",
    "Change",
    "ChangesPage",
    "Client",
    "Context",
    "DateValue",
    "Domain",
    "ErpProxyError",
    "ExecuteCall",
    "File",
    "Hooks",
    "Job",
    "Many2one",
    "Model",
    "ModelType",
    "NamedCall",
    "NamedRecord",
    "ReferencedRecord",
    "RequestInfo",
    "ResponseInfo",
    "RetryInfo",
    "TimeValue",
    "UpsertResult",
    "verify_webhook",
    "WebhookError",
    "X2manyChanges",
    "X2manyCommand",
]
