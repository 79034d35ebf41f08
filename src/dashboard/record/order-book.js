import { h } from '../lib/dom.js';
import { formatCount, formatDecimal } from '../lib/format.js';
import { renderTable } from '../lib/table.js';

/** What a venue showed: prices of a YES contract, 0 to 1, and the orders behind them. @typedef {{ bid: number, ask: number, fee: number, bids: readonly OrderBookLevel[], asks: readonly OrderBookLevel[] }} OrderBookView */
/** @typedef {{ price: number, size: number }} OrderBookLevel */

/** `0.45 / 0.47`: best bid and best ask. @param {OrderBookView | null} book */
export function formatBidAsk(book) {
  return book === null ? '–' : `${formatDecimal(book.bid, 2)}\u00a0/\u00a0${formatDecimal(book.ask, 2)}`;
}

/** Orders in the order of their prices, those to sell first. @param {OrderBookView} book */
function listOrders({ bids, asks }) {
  return [...asks.toReversed().map((level) => ({ ...level, side: 'sell' })), ...bids.map((level) => ({ ...level, side: 'buy' }))];
}

/** Orders of a book in a few lines, for a cell of a table. @param {OrderBookView} book */
export function renderOrders(book) {
  const lines = listOrders(book).map(({ side, price, size }) => h('li', {}, `${side} ${formatCount(size)} at ${formatDecimal(price, 3)}`));
  return h('ul', { class: 'orders' }, lines);
}

/**
 * A book in full: its best prices, its fee, and its orders where the venue has any.
 * @param {OrderBookView} book
 * @param {string} of what it is the book of
 */
export function renderBook(book, of) {
  const { bid, ask, fee } = book;
  const orders = listOrders(book);
  return [
    h(
      'dl',
      { class: 'facts' },
      renderTextFact('Best bid', formatDecimal(bid, 3)),
      renderTextFact('Best ask', formatDecimal(ask, 3)),
      renderTextFact('Fee of a contract', formatDecimal(fee, 3)),
    ),
    orders.length === 0
      ? h('p', { class: 'quiet' }, 'This venue quotes one bid and one ask, and has no orders behind them.')
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

/** @param {string} term @param {string} value */
export function renderTextFact(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}
