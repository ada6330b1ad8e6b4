"""Reads the options of a client, and the environment variables that stand for them."""

from __future__ import annotations

import os
import re
import ssl
from typing import Any, Dict, Mapping, Optional, Union
from urllib.parse import urlsplit

from ._calls import Calls
from ._errors import refuse
from ._http import Connections, Network, Origin
from ._options import Context, Hooks
from ._send import RetryBudget, Settings

#: Name of a stored instance, or `{"url", "db", "user_id", "api_key"}` of a server.
Instance = Union[str, Mapping[str, Any]]


def open_calls(
    network: Network,
    *,
    url: Optional[str],
    key: Optional[str],
    instance: Optional[Instance],
    values: str,
    context: Optional[Context],
    timeout: Optional[float],
    retries: int,
    idempotency_keys: bool,
    hooks: Optional[Hooks],
    ssl_context: Optional[ssl.SSLContext],
) -> Calls:
    if values not in ("odoo", "normalized"):
        raise refuse('`values` must be "odoo" or "normalized".')
    origin, path = _read_url(url or os.environ.get("ERP_PROXY_URL"))
    tls = None
    if origin.scheme == "https":
        tls = ssl_context or ssl.create_default_context()
    settings = Settings(
        connections=Connections(network, origin, tls),
        path=path,
        key=_read_key(key or os.environ.get("ERP_PROXY_KEY")),
        timeout=timeout,
        is_normalized=values == "normalized",
        retries=retries,
        idempotency_keys=idempotency_keys,
        hooks=hooks or Hooks(),
        budget=RetryBudget(),
    )
    return Calls(settings, _read_instance(instance or os.environ.get("ERP_PROXY_INSTANCE")), dict(context or {}))


def describe_client(name: str, calls: Calls) -> str:
    """The text of a client for people, without its key."""
    origin = calls.settings.connections.origin
    instance = calls.instance.get("name") or calls.instance.get("url")
    return f"{name}(url='{origin}{calls.settings.path}', instance={instance!r})"


def _read_url(text: Optional[str]) -> "tuple[Origin, str]":
    if not text:
        raise refuse("Give `url`, the address of the proxy, or set ERP_PROXY_URL.")
    wrong = refuse("`url` is not the address of a proxy, such as https://proxy.example.com.")
    try:
        parts = urlsplit(text)
        port, host = parts.port, (parts.hostname or "").encode("idna").decode()
    except (ValueError, UnicodeError):
        raise wrong from None
    # A user and a password in the address would be lost.
    if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc:
        raise wrong
    path = parts.path.rstrip("/")
    if not re.fullmatch(r"[!-~]*", path):
        raise wrong
    return Origin(parts.scheme, host, port or (443 if parts.scheme == "https" else 80)), path


def _read_key(text: Optional[str]) -> str:
    """The error does not show the text, which may be another secret."""
    if not text:
        raise refuse("Give `key`, a client key of the proxy, or set ERP_PROXY_KEY.")
    if not re.fullmatch(r"[!-~]+", text):
        raise refuse("`key` is not the text of a client key: ep_….")
    return text


def _read_instance(instance: Optional[Instance]) -> Dict[str, Any]:
    if not instance:
        raise refuse("Give `instance`, the name of a stored instance, or set ERP_PROXY_INSTANCE.")
    return {"name": instance} if isinstance(instance, str) else dict(instance)
