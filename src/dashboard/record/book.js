import { h } from '../lib/dom.js';
import { count, decimal } from '../lib/format.js';
import { table } from '../lib/table.js';

/** What a venue showed: prices of a YES contract, 0 to 1, and the orders behind them. @typedef {{ bid: number, ask: number, fee: number, bids: readonly Level[], asks: readonly Level[] }} Book */
/** @typedef {{ price: number, size: number }} Level */

/** `0.45 / 0.47`: best bid and best ask. @param {Book | null} book */
export function bidAsk(book) {
  return book === null ? '–' : `${decimal(book.bid, 2)}\u00a0/\u00a0${decimal(book.ask, 2)}`;
}

/** Orders in the order of their prices, those to sell first. @param {Book} book */
function ordersOf({ bids, asks }) {
  return [...asks.toReversed().map((level) => ({ ...level, side: 'sell' })), ...bids.map((level) => ({ ...level, side: 'buy' }))];
}

/** Orders of a book in a few lines, for a cell of a table. @param {Book} book */
export function ordersList(book) {
  const lines = ordersOf(book).map(({ side, price, size }) => h('li', {}, `${side} ${count(size)} at ${decimal(price, 3)}`));
  return h('ul', { class: 'orders' }, lines);
}

/**
 * A book in full: its best prices, its fee, and its orders where the venue has any.
 * @param {Book} book
 * @param {string} of what it is the book of
 */
export function bookView(book, of) {
  const { bid, ask, fee } = book;
  const orders = ordersOf(book);
  return [
    h(
      'dl',
      { class: 'facts' },
      fact('Best bid', decimal(bid, 3)),
      fact('Best ask', decimal(ask, 3)),
      fact('Fee of a contract', decimal(fee, 3)),
    ),
    orders.length === 0
      ? h('p', { class: 'quiet' }, 'This venue quotes one bid and one ask, and has no orders behind them.')
      : table({
          caption: `Orders of ${of}, YES contracts`,
          rows: orders,
          columns: [
            { heading: 'Orders to', cell: ({ side }) => side },
            { heading: 'Price', cell: ({ price }) => decimal(price, 3), numeric: true },
            { heading: 'Contracts', cell: ({ size }) => count(size), numeric: true },
          ],
        }),
  ];
}

/** @param {string} term @param {string} value */
export function fact(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}
