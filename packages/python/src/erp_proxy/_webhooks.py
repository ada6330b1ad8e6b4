"""Verifies deliveries of subscriptions by Standard Webhooks 1.0."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import re
import time
from typing import Any, Dict, Mapping, Sequence, Union

from ._errors import read_members

_PREFIX = "whsec_"


class WebhookError(Exception):
    """The delivery is not valid, and its content must not be used. Answer the request with 400 or 401."""


def verify_webhook(
    body: Union[bytes, str],
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = 300,
) -> Dict[str, Any]:
    """Verifies a delivery, and returns its content with the members `id`, `type`, `timestamp` and `data`.

    `body` is the body as received: parsing and printing it again would change its bytes. `headers` may have any
    case. `secret` is `whsec_…`, or several of them during a rotation. `tolerance` is the maximum difference between
    the time of the delivery and this clock, in seconds. Raises `WebhookError`.
    """
    given = {name.lower(): value for name, value in headers.items()}
    delivery, sent_at, signatures = (
        _read(given, name) for name in ("webhook-id", "webhook-timestamp", "webhook-signature")
    )
    if not re.fullmatch("[0-9]{1,15}", sent_at) or abs(time.time() - int(sent_at)) > tolerance:
        raise WebhookError("The webhook-timestamp is too far from now.")
    content = body.encode() if isinstance(body, str) else bytes(body)
    signed = f"{delivery}.{sent_at}.".encode() + content
    valid = [_sign(each, signed) for each in ([secret] if isinstance(secret, str) else secret)]
    for signature in signatures.split(" "):
        version, _, value = signature.partition(",")
        if version == "v1" and any(hmac.compare_digest(value.encode(), each) for each in valid):
            return {**_parse(content), "id": delivery}
    raise WebhookError("The webhook-signature is not valid.")


def _read(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(name)
    if not value:
        raise WebhookError(f"The header {name} is missing.")
    return value


def _sign(secret: str, signed: bytes) -> bytes:
    text = secret[len(_PREFIX) :] if secret.startswith(_PREFIX) else secret
    try:
        key = base64.b64decode(text, validate=True)
    except ValueError:
        key = b""
    # Anybody could sign with an empty key.
    if not key:
        raise WebhookError("The secret is not one of a subscription: whsec_….")
    return base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def _parse(content: bytes) -> Dict[str, Any]:
    try:
        event = read_members(json.loads(content.decode()))
    except ValueError:
        event = {}
    if "type" not in event:
        raise WebhookError("The body is not a delivery of the proxy.")
    return event
