import { h, replaceChildren } from '../lib/dom.ts';
import { renderTable, type Table } from '../lib/table.ts';

/** Longer tables begin with their first rows, and show the others on request. */
const MAX_ROWS = 12;

/** Captions of tables that are open and of those that show all rows, so that a figure that is drawn again keeps them so. */
const openTables = new Set<string>();
const wholeTables = new Set<string>();

/** A table in a disclosure, built when it is opened, as it may have hundreds of rows. */
export function createFigureTable<Row>({ rows, ...table }: Omit<Table<Row>, 'rows'> & { rows: () => readonly Row[] }) {
  const { caption } = table;
  const body = h('div', {});
  const element = h('details', { class: 'table-of', open: openTables.has(caption), ontoggle: remember }, [
    h('summary', {}, 'Table', h('span', { class: 'visually-hidden' }, `: ${caption}`)),
    body,
  ]);

  function fill() {
    const all = rows();
    const isCut = all.length > MAX_ROWS && !wholeTables.has(caption);
    replaceChildren(body, renderTable({ ...table, rows: isCut ? all.slice(0, MAX_ROWS) : all }), isCut && renderMore(all.length));
  }
  function renderMore(count: number) {
    return h('button', { type: 'button', class: 'show-all', onclick: showAll }, `Show all ${count}`);
  }
  function showAll() {
    wholeTables.add(caption);
    fill();
    body.querySelector<HTMLElement>('.scroll')?.focus({ preventScroll: true });
  }
  function remember() {
    if (element.open) openTables.add(caption);
    else openTables.delete(caption);
    if (element.open && body.childElementCount === 0) fill();
  }
  function update() {
    if (element.open) fill();
    else replaceChildren(body);
  }
  return { element, update };
}
