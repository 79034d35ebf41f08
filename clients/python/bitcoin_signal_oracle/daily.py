"""The newest range and signal, read once a day: for bots whose loop must not wait for a service, or end with one."""

from __future__ import annotations

import logging
import threading
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from typing import Callable, Optional, Tuple, Union

from .client import OracleClient
from .errors import ServiceProblem
from .responses import ExpectedRange, Horizon, OracleSignal, PublicSignal

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
        # Python 3.9 and 3.10 do not parse the Z.
        made_at = datetime.fromisoformat(expected["timestamp"].replace("Z", "+00:00")).astimezone(timezone.utc)
        reading = DailyReading(expected, self._read_signal(self._horizon), made_at)
        reading.distances()
        return reading


def _utc_now() -> datetime:
    return datetime.now(timezone.utc)
