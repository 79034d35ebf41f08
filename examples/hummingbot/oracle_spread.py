"""A Hummingbot script that quotes a bid and an ask of BTC, by the size of the move that it is expected to make in a day.

The distance from the price is the move of the time between quotes, and the amount a constant risk over that of a day.

The direction of these forecasts has no demonstrated skill, and the service says so: here it moves no quote. The part with
skill is the width of the range. Not investment advice. What has been measured is the range of a whole day: that it shrinks
with the square root of time is an assumption; what such amounts did: examples/README.md. In Hummingbot: create --v2-config oracle_spread, start --v2 <its file>.yml
"""

import logging
import os
from datetime import datetime, timezone
from decimal import Decimal
from math import sqrt

from bitcoin_signal_oracle.client import OracleClient
from bitcoin_signal_oracle.daily import DailyForecast, DailyHistory, DailyReading
from hummingbot.core.data_type.common import MarketDict, OrderType, PriceType, TradeType
from hummingbot.core.data_type.order_candidate import OrderCandidate
from hummingbot.strategy.strategy_v2_base import StrategyV2Base, StrategyV2ConfigBase

SECONDS_OF_RANGE = 86_400

logger = logging.getLogger(__name__)


class OracleSpreadConfig(StrategyV2ConfigBase):
    script_file_name: str = os.path.basename(__file__)
    controllers_config: list[str] = []
    service_url: str = "http://127.0.0.1:3000"
    #: Over past times: the resolved record instead of the range of today, each forecast from its `attestedAt` on.
    from_dataset: bool = False
    exchange: str = "binance_paper_trade"
    trading_pair: str = "BTC-USDT"
    #: The most of a quote, and what its amount loses, as a ratio of that, to a move that one end in twenty is beyond.
    order_amount: Decimal = Decimal("0.001")
    risk: float = 0.02
    #: That move while no fresh range is known: then amount and distance are fixed.
    fixed_move: float = 0.10
    #: Quotes are replaced this often, and are as wide as the price is expected to move in this time, with this probability.
    quote_seconds: int = 900
    share: float = 0.8
    #: Never closer to the price than this, as a ratio: the fees of a round trip.
    min_spread: Decimal = Decimal("0.002")

    def update_markets(self, markets: MarketDict) -> MarketDict:
        markets[self.exchange] = markets.get(self.exchange, set()) | {self.trading_pair}
        return markets


class OracleSpread(StrategyV2Base):
    next_quote = 0.0
    #: Of the range that the quotes are by.
    made_at: "datetime | None" = None
    #: The sides without a quote.
    missing: "list[TradeType]" = []

    def __init__(self, connectors, config: OracleSpreadConfig):
        super().__init__(connectors, config)
        self.config = config
        client = OracleClient(config.service_url)
        self.oracle = DailyHistory(client.dataset_table("forecasts"), "1d") if config.from_dataset else DailyForecast(client, "1d")
        self.oracle.refresh(datetime.now(timezone.utc))

    def on_tick(self):
        now = datetime.fromtimestamp(self.current_timestamp, timezone.utc)
        # In a thread: the clock of the bot waits for no service.
        self.oracle.refresh_in_background(now)
        reading = self.oracle.fresh(now)
        made_at = None if reading is None else reading.made_at
        if made_at != self.made_at or self.current_timestamp >= self.next_quote:
            self.cancel_quotes()
            self.missing = [TradeType.BUY, TradeType.SELL]
            self.made_at, self.next_quote = made_at, self.current_timestamp + self.config.quote_seconds
            if reading is None:
                logger.warning("No fresh range at %s: a fixed amount, for a move of %.0f %%", now, 100 * self.config.fixed_move)
        if self.missing:
            self.place_quotes(reading)

    def place_quotes(self, reading: "DailyReading | None"):
        connector = self.connectors[self.config.exchange]
        price = connector.get_price_by_type(self.config.trading_pair, PriceType.MidPrice)
        if not price.is_finite():
            return
        fixed = (self.config.fixed_move, self.config.fixed_move)
        below, above = fixed if reading is None else reading.distances(self.config.share)
        move, _ = fixed if reading is None else reading.stop_distances()
        prices = {TradeType.BUY: price * (1 - self.spread(below)), TradeType.SELL: price * (1 + self.spread(above))}
        quotes = [self.candidate(side, prices[side], move) for side in self.missing]
        for quote in connector.budget_checker.adjust_candidates(quotes, all_or_none=True):
            # What is not affordable gets the amount 0, also while the money of a cancelled order is not free: the next tick tries again.
            if quote.amount <= 0:
                continue
            send = self.buy if quote.order_side == TradeType.BUY else self.sell
            send(self.config.exchange, quote.trading_pair, quote.amount, quote.order_type, quote.price)
            self.missing = [side for side in self.missing if side != quote.order_side]

    def spread(self, distance: float) -> Decimal:
        share_of_day = sqrt(self.config.quote_seconds / SECONDS_OF_RANGE)
        return max(self.config.min_spread, Decimal(distance * share_of_day))

    def candidate(self, side: TradeType, price: Decimal, move: float) -> OrderCandidate:
        terms = {"trading_pair": self.config.trading_pair, "is_maker": True, "order_type": OrderType.LIMIT}
        amount = self.config.order_amount * min(Decimal(1), Decimal(self.config.risk / move))
        return OrderCandidate(**terms, order_side=side, amount=amount, price=price)

    def cancel_quotes(self):
        for order in self.get_active_orders(connector_name=self.config.exchange):
            self.cancel(self.config.exchange, order.trading_pair, order.client_order_id)
