"""Errors of this package. Each is an ``OracleError``."""

from __future__ import annotations

import json
from typing import Any, Mapping, Optional


class OracleError(Exception):
    """Base of all errors of this package."""


class TransportError(OracleError):
    """The service did not answer, or its answer is not that of this service. The request may have had its effect."""


class IntegrityError(OracleError):
    """Received bytes differ from the digest that the service names for them."""


class ServiceProblem(OracleError):
    """An error response of the service, ``application/problem+json`` (RFC 9457).

    ``code`` is for programs (the table of docs/API.md), ``detail`` and ``suggested_action`` are for people.
    ``field`` names the rejected input. ``retry_after`` is in seconds; None where repeating does not help.
    """

    def __init__(self, status: int, body: Mapping[str, Any], retry_after: Optional[float] = None) -> None:
        self.status = status
        self.code = str(body.get("code", "UNKNOWN"))
        self.detail = str(body.get("detail", ""))
        self.suggested_action = _text(body.get("suggestedAction"))
        self.field = _text(body.get("field"))
        self.retryable = body.get("retryable") is True
        self.retry_after = retry_after
        self.body = dict(body)
        super().__init__(". ".join(part for part in (f"{self.code}: {self.detail}", self.suggested_action) if part))


def parse_problem(status: int, content: bytes, retry_after: Optional[str]) -> ServiceProblem:
    """An error response as an exception. A body that is no JSON object, as of a proxy, gives the code ``UNKNOWN``."""
    try:
        body = json.loads(content)
    except ValueError:
        body = None
    if not isinstance(body, dict):
        body = {"detail": f"HTTP status {status} without a description"}
    return ServiceProblem(status, body, _seconds(retry_after))


def _text(value: object) -> Optional[str]:
    return value if isinstance(value, str) else None


def _seconds(value: Optional[str]) -> Optional[float]:
    return float(value) if value is not None and value.isdigit() else None
