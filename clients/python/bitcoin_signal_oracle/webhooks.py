"""Verification of signed webhooks (Standard Webhooks, docs/EVENTS.md) by the standard library."""

from __future__ import annotations

import base64
import binascii
import hashlib
import hmac
import json
import re
import time
from typing import Mapping, Optional, Sequence, Union, cast

from .errors import OracleError
from .responses import Event

#: Largest accepted difference between the time of a delivery and ours, seconds.
TOLERANCE_SECONDS = 300

_PREFIX = "whsec_"


class WebhookRejected(OracleError):
    """The delivery is not one of the service, or too old: answer 401 and do nothing."""


def verify_webhook(
    body: bytes,
    headers: Mapping[str, str],
    secret: Union[str, Sequence[str]],
    *,
    tolerance: float = TOLERANCE_SECONDS,
    now: Optional[float] = None,
) -> Event:
    """The event of a delivery. Raises WebhookRejected, and ValueError for a malformed secret.

    ``body`` is the raw body: JSON that was parsed and written again has other bytes. ``secret`` is that of the
    registration: ``whsec_`` and base64 of the key, or a text of your own, whose UTF-8 bytes are the key; several while
    one is being rotated. A delivery may come again with the same ``webhook-id``: act once for each.
    """
    received = {name.lower(): value for name, value in headers.items()}
    message_id, timestamp, signatures = (_header(received, name) for name in ("id", "timestamp", "signature"))
    _require_recent(timestamp, tolerance, time.time() if now is None else now)
    signed = b".".join((message_id.encode(), timestamp.encode(), body))
    expected = [_sign(_to_key(one), signed) for one in ([secret] if isinstance(secret, str) else secret)]
    # Without a short circuit: the time does not depend on which of them matches.
    if not any([hmac.compare_digest(one, given.encode()) for one in expected for given in signatures.split(" ")]):
        raise WebhookRejected("No signature of the delivery is of this secret")
    return _parse_event(body)


def _header(headers: Mapping[str, str], name: str) -> str:
    value = headers.get(f"webhook-{name}")
    if not value:
        raise WebhookRejected(f"The header webhook-{name} is missing")
    return value


def _require_recent(timestamp: str, tolerance: float, now: float) -> None:
    if not re.fullmatch("[0-9]{1,12}", timestamp):
        raise WebhookRejected("The header webhook-timestamp is not a Unix time in seconds")
    if abs(now - int(timestamp)) > tolerance:
        raise WebhookRejected(f"The delivery is more than {tolerance:g} seconds off: a replay, or a wrong clock")


def _to_key(secret: str) -> bytes:
    if not secret.startswith(_PREFIX):
        key = secret.encode()
    else:
        encoded = secret[len(_PREFIX) :].rstrip("=")
        try:
            key = base64.b64decode(encoded + "=" * (-len(encoded) % 4), validate=True)
        except binascii.Error as error:
            raise ValueError("The secret after whsec_ is not base64") from error
    if not key:
        raise ValueError("The secret is empty")
    return key


def _sign(key: bytes, signed: bytes) -> bytes:
    return b"v1," + base64.b64encode(hmac.new(key, signed, hashlib.sha256).digest())


def _parse_event(body: bytes) -> Event:
    try:
        event = json.loads(body)
    except ValueError as error:
        raise WebhookRejected("The signed body is not JSON") from error
    if not isinstance(event, dict):
        raise WebhookRejected("The signed body is not a JSON object")
    return cast(Event, event)
