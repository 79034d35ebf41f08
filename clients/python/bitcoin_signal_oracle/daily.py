"""The newest range and signal, read once a day: for bots whose loop must not wait for a service, or end with one.

``DailyHistory`` has the same readings at past times, for their backtests.
"""

from __future__ import annotations

import csv
import io
import logging
import math
import threading
from bisect import bisect_right
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Callable, Dict, List, Mapping, Optional, Tuple, Union, cast

from .client import OracleClient
from .errors import ServiceProblem
from .responses import ExpectedRange, Horizon, OracleSignal, PriceRange, PublicSignal

_DAY = timedelta(days=1)
_log = logging.getLogger(__name__)

AnySignal = Union[PublicSignal, OracleSignal]


@dataclass(frozen=True)
class DailyReading:
    """A range and a signal, as received. ``made_at`` is when the range was forecast."""

    expected: ExpectedRange
    signal: AnySignal
    made_at: datetime

    def distances(self, share: float = 0.8) -> Tuple[float, float]:
        """How far the central range of this share reaches below and above the price at forecast time, as ratios of it.

        Raises ValueError for a share that the service does not publish.
        """
        found = next((one for one in self.expected["ranges"] if one["share"] == share), None)
        if found is None:
            raise ValueError(f"share must be one of {[one['share'] for one in self.expected['ranges']]}, not {share}")
        price = self.expected["btcPrice"]
        return 1 - found["low"] / price, found["high"] / price - 1

    def stop_distances(self) -> Tuple[float, float]:
        """The fall and the rise that one end in twenty each is beyond: 1 - exp(-half) and exp(half) - 1, with half = width90 / 2.

        For a constant risk, the stake of a long is the risk / the first. Without ``moveLimits``, as in the dataset, of the 90 % range.
        """
        limits = self.expected.get("moveLimits")
        if limits is None:
            return self.distances(0.9)
        half = limits["width90"] / 2
        return 1 - math.exp(-half), math.exp(half) - 1


class DailyForecast:
    """Keeps the newest reading. The next one is asked for a day after the last forecast was made, not earlier.

    ``refresh`` raises nothing: after a failed call ``latest`` stays, ``error`` has the cause, and the next call is made
    after ``retry_after``, or later where the service says so. ``read_signal`` is ``client.oracle`` for a client
    with a login or an API key; by default the signal is the public one, hidden until its outcome.
    """

    def __init__(
        self,
        client: OracleClient,
        horizon: Horizon = "7d",
        *,
        read_signal: Optional[Callable[[Horizon], AnySignal]] = None,
        max_age: timedelta = timedelta(hours=30),
        retry_after: timedelta = timedelta(minutes=5),
    ) -> None:
        self._client = client
        self._horizon = horizon
        self._read_signal = read_signal or client.signal
        self._max_age = max_age
        self._retry_after = retry_after
        self._next_call: Optional[datetime] = None
        self._calling = threading.Lock()
        self.latest: Optional[DailyReading] = None
        self.error: Optional[Exception] = None

    def age(self, now: Optional[datetime] = None) -> Optional[timedelta]:
        """Time since the latest forecast was made; None before the first."""
        return None if self.latest is None else (now or _utc_now()) - self.latest.made_at

    def fresh(self, now: Optional[datetime] = None) -> Optional[DailyReading]:
        """The latest reading, or None where there is none or it is older than ``max_age``: then enter no position."""
        age = self.age(now)
        return self.latest if age is not None and age <= self._max_age else None

    def refresh(self, now: Optional[datetime] = None) -> None:
        """Calls the service where a call is due. ``now`` is aware of its time zone; default: the clock."""
        at = now or _utc_now()
        if self._begins(at):
            self._call(at)

    def refresh_in_background(self, now: Optional[datetime] = None) -> None:
        """``refresh`` in a thread, for callers on an event loop. ``latest`` changes when the service has answered."""
        at = now or _utc_now()
        if self._begins(at):
            threading.Thread(target=self._call, args=(at,), name=__name__, daemon=True).start()

    def _begins(self, now: datetime) -> bool:
        """Whether a call is due and none is under way; then ``_call`` has to follow."""
        if not self._calling.acquire(blocking=False):
            return False
        is_due = self._next_call is None or now >= self._next_call
        if not is_due:
            self._calling.release()
        return is_due

    def _call(self, now: datetime) -> None:
        try:
            reading = self._read()
            self.latest, self.error = reading, None
            self._next_call = max(reading.made_at + _DAY, now + self._retry_after)
        # Whatever it is, a signing function of the bot's owner included: the bot goes on with the reading that it has.
        except Exception as error:
            self.error = error
            wait = timedelta(seconds=error.retry_after or 0) if isinstance(error, ServiceProblem) else self._retry_after
            self._next_call = now + max(self._retry_after, wait)
            _log.warning("No forecast: %s; the latest is %s old", error, self.age(now))
        finally:
            self._calling.release()

    def _read(self) -> DailyReading:
        expected = self._client.expected_range(self._horizon)
        reading = DailyReading(expected, self._read_signal(self._horizon), _parse_time(expected["timestamp"]))
        reading.distances()
        return reading


#: The quantiles that bound each central share.
_BOUNDS = {0.5: ("priceP25", "priceP75"), 0.8: ("priceP10", "priceP90"), 0.9: ("priceP05", "priceP95")}
_COLUMNS = ("horizonDays", "predictionId", "btcPrice", "signalAt", "attestedAt", "revealedAt", "replayed", "priceP10")


class DailyHistory:
    """The readings of a horizon at past times: ``refresh``, ``latest`` and ``fresh`` as those of ``DailyForecast``.

    ``table`` is ``client.dataset_table("forecasts")``. A row counts from its ``attestedAt`` on, the block time of its
    commitment: by then everyone could read its range, and a holder of a token its values. Everyone else could read
    the values from ``revealedAt`` on, after the outcome; until then the signal is GATED here as well, unless ``sees_values``.
    The table has no row of an open, void or missed day: then there is no fresh reading. ``expected["replayed"]`` marks
    rows that the replay of a demonstration made afterwards, at times of its own: a backtest over them proves nothing.
    """

    def __init__(self, table: bytes, horizon: Horizon = "7d", *, sees_values: bool = False, max_age: timedelta = timedelta(hours=30)) -> None:
        reader = csv.DictReader(io.StringIO(table.decode()))
        missing = [name for name in _COLUMNS if name not in (reader.fieldnames or [])]
        if missing:
            raise ValueError(f"The table has no {', '.join(missing)}: give the bytes of dataset_table('forecasts')")
        rows = [row for row in reader if f"{row['horizonDays']}d" == horizon and row["priceP10"]]
        self._rows = sorted(rows, key=lambda row: _parse_time(row["attestedAt"]))
        self._attested = [_parse_time(row["attestedAt"]) for row in self._rows]
        self._sees_values = sees_values
        self._max_age = max_age
        self.latest: Optional[DailyReading] = None

    def refresh(self, now: datetime) -> None:
        """Sets ``latest`` to what was known at a time, also after a later one."""
        self.latest = self._read(now)

    def refresh_in_background(self, now: datetime) -> None:
        """``refresh``, which waits for nothing."""
        self.refresh(now)

    def age(self, now: datetime) -> Optional[timedelta]:
        """Time since the forecast that was the latest at this time was made; None before the first."""
        reading = self._read(now)
        return None if reading is None else now - reading.made_at

    def fresh(self, now: datetime) -> Optional[DailyReading]:
        """The latest reading at this time, or None where there was none or it was older than ``max_age``."""
        reading = self._read(now)
        return reading if reading is not None and now - reading.made_at <= self._max_age else None

    def readings(self) -> List[DailyReading]:
        """All of the horizon, each as of its attestation."""
        return [_to_reading(row, self._sees_values) for row in self._rows]

    def _read(self, now: datetime) -> Optional[DailyReading]:
        if now.tzinfo is None:
            raise ValueError("now must have a time zone, such as timezone.utc")
        count = bisect_right(self._attested, now)
        if count == 0:
            return None
        row = self._rows[count - 1]
        return _to_reading(row, self._sees_values or now >= _parse_time(row["revealedAt"]))


def _to_reading(row: Mapping[str, str], sees_values: bool) -> DailyReading:
    """The range that was published: as wide as the committed one, and around the price at forecast time."""
    price = float(row["btcPrice"])
    ranges: List[PriceRange] = []
    for share, (low, high) in _BOUNDS.items():
        half = math.log(float(row[high]) / float(row[low])) / 2
        ranges.append(cast(PriceRange, {"share": share, "low": price * math.exp(-half), "high": price * math.exp(half), "halfWidth": half}))
    names = ("predictionId", "modelVersion", "windowOpensAt", "resolvesAt", "regime", "date")
    shared = {
        **{name: row[name] for name in names},
        **{"horizon": f"{row['horizonDays']}d", "btcPrice": price, "timestamp": row["signalAt"], "replayed": row["replayed"] == "true"},
    }
    values: Dict[str, object] = {"signal": "GATED", "direction": None, "confidence": None}
    if sees_values:
        values = {"signal": row["signal"], "direction": row["direction"], "confidence": float(row["confidence"])}
    expected = cast(ExpectedRange, {**shared, "ranges": ranges})
    return DailyReading(expected, cast(PublicSignal, {**shared, **values}), _parse_time(row["signalAt"]))


def _parse_time(text: str) -> datetime:
    # Python 3.9 and 3.10 do not parse the Z.
    return datetime.fromisoformat(text.replace("Z", "+00:00")).astimezone(timezone.utc)


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)
