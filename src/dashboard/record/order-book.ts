import { h, renderFacts } from '../lib/dom.ts';
import { formatCount, formatDecimal } from '../lib/format.ts';
import { renderTable } from '../lib/table.ts';
import type { ApiResponses } from '../state/responses.ts';

type OrderBookView = NonNullable<ApiResponses['crowd']['weeks'][number]['book']>;

/** `0.45 / 0.47`: best bid and ask. */
export function formatBidAsk(book: OrderBookView | null) {
  return book === null ? '–' : `${formatDecimal(book.bid, 2)}\u00a0/\u00a0${formatDecimal(book.ask, 2)}`;
}

/** By price, asks first. */
function listOrders({ bids, asks }: OrderBookView) {
  return [...asks.toReversed().map((level) => ({ ...level, side: 'sell' })), ...bids.map((level) => ({ ...level, side: 'buy' }))];
}

/** Compact list for a table cell. */
export function renderOrders(book: OrderBookView) {
  const lines = listOrders(book).map(({ side, price, size }) => h('li', {}, `${side} ${formatCount(size)} at ${formatDecimal(price, 3)}`));
  return h('ul', { class: 'orders' }, lines);
}

/** Best prices, fee and orders. @param of title of the book */
export function renderBook(book: OrderBookView, of: string) {
  const orders = listOrders(book);
  return [
    renderFacts([
      ['Best bid', formatDecimal(book.bid, 3)],
      ['Best ask', formatDecimal(book.ask, 3)],
      ['Fee per contract', formatDecimal(book.fee, 3)],
    ]),
    orders.length === 0
      ? h('p', { class: 'quiet' }, 'This venue quotes one bid and one ask, without an order book.')
      : renderTable({
          caption: `Orders of ${of}, YES contracts`,
          rows: orders,
          columns: [
            { heading: 'Orders to', cell: ({ side }) => side },
            { heading: 'Price', cell: ({ price }) => formatDecimal(price, 3), numeric: true },
            { heading: 'Contracts', cell: ({ size }) => formatCount(size), numeric: true },
          ],
        }),
  ];
}
