import type { Tokens } from 'marked';
import { el, type Markup } from '../../../../views/markup.ts';
import { type LinkResolver, renderInline } from './render-inline.ts';

/** A table that scrolls within itself, by keyboard too. @param heading nearest heading above, which names it */
export function renderTable({ header, rows }: Tokens.Table, heading: string, resolve: LinkResolver): Markup {
  return el(
    'div',
    { class: 'scroll', tabindex: 0, role: 'group', 'aria-label': `Table: ${heading}` },
    el(
      'table',
      {},
      el('thead', {}, el('tr', {}, header.map(renderHeaderCell))),
      el(
        'tbody',
        {},
        rows.map((row) => el('tr', {}, row.map(renderCell))),
      ),
    ),
  );

  function renderHeaderCell(cell: Tokens.TableCell): Markup {
    return cell.text === '' ? el('td') : el('th', { scope: 'col', class: toClass(cell) }, renderInline(cell.tokens, resolve));
  }

  function renderCell(cell: Tokens.TableCell): Markup {
    return el('td', { class: toClass(cell) }, renderInline(cell.tokens, resolve));
  }
}

/** Alignment by class, since the policy of the page forbids inline styles. */
function toClass({ align }: Tokens.TableCell): string | false {
  return align === 'right' ? 'numeric' : align === 'center' && 'centered';
}
