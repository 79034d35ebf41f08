"""Public data of a service, and the gated signal with a login."""

from __future__ import annotations

import hashlib
from typing import Any, Iterator, Mapping, Optional, cast
from urllib.parse import quote

from .credentials import choose_credentials
from .errors import IntegrityError
from .login import WalletLogin
from .responses import (
    Dataset,
    ExpectedRange,
    Forecast,
    Horizon,
    OracleSignal,
    PublicSignal,
    Scorecard,
    TrackRecord,
    Verification,
)
from .transport import Transport

_PAGE_SIZE = 1_000


class OracleClient:
    """Reads a service. Every method raises ServiceProblem for an error response and TransportError without a response.

    A bot should wait ``ServiceProblem.retry_after`` seconds where it is set: an address has 60 requests a minute.
    ``login`` or ``api_key`` is sent with ``oracle`` only; public reads are anonymous.
    """

    def __init__(
        self,
        base_url: str,
        *,
        login: Optional[WalletLogin] = None,
        api_key: Optional[str] = None,
        timeout: float = 10.0,
        max_bytes: int = 16_000_000,
    ) -> None:
        self._transport = Transport(base_url, timeout, max_bytes)
        self._credentials = choose_credentials(login, api_key)

    def signal(self, horizon: Horizon = "7d") -> PublicSignal:
        """The public signal: market context; direction and confidence stay gated until the outcome.

        The direction of these forecasts has no demonstrated skill: do not trade on it. Use ``expected_range`` for
        the uncertainty of the price, and ``scorecard`` for the record.
        """
        return cast(PublicSignal, self._get("/api/svc/open/signal", {"horizon": horizon}))

    def oracle(self, horizon: Horizon = "7d") -> OracleSignal:
        """The newest forecast with direction and confidence, for a wallet of the Basic tier.

        The direction has no demonstrated skill; ``skill.verdict`` has the figures. Raises ValueError without a login or key.
        """
        if self._credentials is None:
            raise ValueError("oracle() needs a login or key: OracleClient(url, login=WalletLogin(...)), or api_key=; payment.py pays instead")
        query = {"horizon": horizon}
        reply = self._credentials.authorized(self._transport, "GET", "/api/svc/oracle", query=query)
        return cast(OracleSignal, reply.json())

    def expected_range(self, horizon: Horizon = "7d") -> ExpectedRange:
        """Central 50, 80 and 90 % range of the price at the end of the horizon."""
        return cast(ExpectedRange, self._get("/api/svc/open/range", {"horizon": horizon}))

    def scorecard(self, horizon: Horizon = "7d", *, limit: int = 20, before: Optional[int] = None) -> Scorecard:
        """The record with its error bars and a page of forecasts; ``before`` is the ``nextCursor`` of the page before."""
        query = {"horizon": horizon, "limit": limit, "before": before}
        return cast(Scorecard, self._get("/api/svc/scorecard", query))

    def forecasts(self, horizon: Horizon = "7d") -> Iterator[Forecast]:
        """All forecasts of a horizon, newest first, over all pages; HOLD, void and missed days included."""
        before: Optional[int] = None
        while True:
            page = self.scorecard(horizon, limit=_PAGE_SIZE, before=before)
            yield from page["predictions"]
            before = page["nextCursor"]
            if before is None:
                return

    def track_record(self, horizon: Horizon = "7d", **filters: Any) -> TrackRecord:
        """The record by ``regime``, ``status``, ``page``, ``pageSize``, ``to`` and ``from`` (as ``**{"from": ...}``).

        ``statistics`` are of the filtered forecasts alone. An unknown filter raises ServiceProblem with its ``field``.
        """
        body = {"horizon": horizon, **filters}
        reply = self._transport.request("POST", "/api/svc/skills/get_track_record", body=body)
        return cast(TrackRecord, reply.json()["output"])

    def verify(self, uid: str) -> Verification:
        """An attestation on chain, compared with the record by the service; ``uid`` is its 32 bytes, ``0x`` and hexadecimal."""
        return cast(Verification, self._get(f"/api/svc/onchain-oracle/verify/{quote(uid, safe='')}"))

    def dataset(self) -> Dataset:
        """The tables of the resolved record, with licence, columns and digests."""
        return cast(Dataset, self._get("/api/svc/dataset"))

    def dataset_table(self, name: str, file_format: str = "csv") -> bytes:
        """The bytes of a table, checked against the digest in ``dataset``.

        Raises ValueError for an unknown table, and IntegrityError for other bytes, as when the record has grown since.
        """
        tables = self.dataset()["tables"]
        files = {(table["name"], file["format"]): file for table in tables for file in table["files"]}
        expected = next((file for key, file in files.items() if key == (name, file_format)), None)
        if expected is None:
            raise ValueError(f"No {file_format} of {name!r}; there are {sorted('.'.join(key) for key in files)}")
        reply = self._transport.request("GET", f"/api/svc/dataset/{name}.{file_format}", headers={"Accept": "*/*"})
        if reply.status != 200:
            reply.json()
        if hashlib.sha256(reply.content).hexdigest() != expected["sha256"]:
            raise IntegrityError(f"{name}.{file_format} differs from its digest: download it again")
        return reply.content

    def _get(self, path: str, query: Optional[Mapping[str, Optional[object]]] = None) -> dict[str, Any]:
        return self._transport.request("GET", path, query=query).json()
