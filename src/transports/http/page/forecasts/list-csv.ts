import type { ListRow } from '../../../../views/forecast/forecast-list.ts';

const COLUMNS = ['date', 'horizon', 'state', 'signal', 'direction', 'p_up', 'open_usd', 'end_usd', 'return_bps', 'regime'];

/** Header and a line a forecast. Cells are dates, numbers and fixed names, which need no quotes and begin no formula; hidden values are empty. */
export function renderListCsv(rows: readonly ListRow[]): string {
  const lines = rows.map(({ date, horizonDays, state, values, price, regime }) => [
    ...[date, `${horizonDays}d`, state],
    ...[values?.signal, values?.direction, values?.pUp],
    ...[price.atOpening, price.atEnd, price.returnBps, regime],
  ]);
  return `${[COLUMNS, ...lines].map((cells) => cells.map((cell) => cell ?? '').join(',')).join('\r\n')}\r\n`;
}
