import { h } from './dom.js';
import { count, decimal } from './format.js';
import { table } from './table.js';

/** What a venue showed: prices of a YES contract, 0 to 1, and the orders behind them. @typedef {{ bid: number, ask: number, fee: number, bids: readonly Level[], asks: readonly Level[] }} Book */
/** @typedef {{ price: number, size: number }} Level */

/** `0.45 / 0.47`: best bid and best ask. @param {Book | null} book */
export function bidAsk(book) {
  return book === null ? '–' : `${decimal(book.bid, 2)} / ${decimal(book.ask, 2)}`;
}

/**
 * A book in full: its best prices, its fee, and its orders where the venue has any.
 * @param {Book} book
 * @param {string} of what it is the book of
 */
export function bookView({ bid, ask, fee, bids, asks }, of) {
  const levels = [...asks.toReversed().map((level) => ({ ...level, side: 'sell' })), ...bids.map((level) => ({ ...level, side: 'buy' }))];
  return [
    h(
      'dl',
      { class: 'facts' },
      fact('Best bid', decimal(bid, 3)),
      fact('Best ask', decimal(ask, 3)),
      fact('Fee of a contract', decimal(fee, 3)),
    ),
    levels.length === 0
      ? h('p', { class: 'quiet' }, 'This venue quotes one bid and one ask, and has no orders behind them.')
      : table({
          caption: `Orders of ${of}, YES contracts`,
          rows: levels,
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
