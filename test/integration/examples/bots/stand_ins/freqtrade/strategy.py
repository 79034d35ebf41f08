"""What a strategy imports of freqtrade, by its documentation of INTERFACE_VERSION 3."""

from dataclasses import dataclass
from typing import Any


@dataclass
class Trade:
    open_rate: float
    is_short: bool = False
    leverage: float = 1.0


class IStrategy:
    def __init__(self, config: dict[str, Any]) -> None:
        self.config = config


def timeframe_to_minutes(timeframe: str) -> int:
    return int(timeframe[:-1]) * {"m": 1, "h": 60, "d": 1440}[timeframe[-1]]


def stoploss_from_absolute(stop_rate: float, current_rate: float, is_short: bool = False, leverage: float = 1.0) -> float:
    """The distance from the current rate, as ratio; 0 where the stop is on its wrong side."""
    distance = 1 - stop_rate / current_rate
    return max(-distance if is_short else distance, 0.0) * leverage
