from enum import Enum

MarketDict = dict[str, set[str]]


class OrderType(Enum):
    LIMIT = 2


class PriceType(Enum):
    MidPrice = 1


class TradeType(Enum):
    BUY = 1
    SELL = 2
