"""What a script imports of Hummingbot's base classes, by its documentation of scripts; orders are kept in memory."""

from dataclasses import dataclass
from typing import Any


class StrategyV2ConfigBase:
    def __init__(self, **settings: Any) -> None:
        for name, value in settings.items():
            assert name in type(self).__annotations__, name
            setattr(self, name, value)


@dataclass
class LimitOrder:
    client_order_id: str
    trading_pair: str
    is_buy: bool
    quantity: Any
    price: Any


class StrategyV2Base:
    def __init__(self, connectors: dict[str, Any], config: Any) -> None:
        self.connectors = connectors
        self.current_timestamp = 0.0
        self.orders: dict[str, LimitOrder] = {}
        self.sent = 0

    def buy(self, connector_name: str, trading_pair: str, amount: Any, order_type: Any, price: Any) -> str:
        return self.send(True, trading_pair, amount, price)

    def sell(self, connector_name: str, trading_pair: str, amount: Any, order_type: Any, price: Any) -> str:
        return self.send(False, trading_pair, amount, price)

    def cancel(self, connector_name: str, trading_pair: str, order_id: str) -> None:
        del self.orders[order_id]

    def get_active_orders(self, connector_name: str) -> list[LimitOrder]:
        return list(self.orders.values())

    def send(self, is_buy: bool, trading_pair: str, amount: Any, price: Any) -> str:
        self.sent += 1
        order = LimitOrder(f"order-{self.sent}", trading_pair, is_buy, amount, price)
        self.orders[order.client_order_id] = order
        return order.client_order_id
