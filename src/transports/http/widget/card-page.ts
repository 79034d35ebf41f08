import { createHash } from 'node:crypto';
import { el, renderMarkup } from '../../../views/markup.ts';
import { renderCard } from '../../../views/widget/card.ts';
import type { WidgetCard } from '../../../views/widget/figures.ts';
import type { WidgetOptions } from '../../../views/widget/options.ts';

const LIGHT = '--bg:#fff;--fg:#16181d;--dim:#5b6270;--line:#d8dce3;--mark:#0b63ce;--band:#bcd5f5';
const DARK = '--bg:#14161a;--fg:#eceff4;--dim:#9aa3b2;--line:#343a45;--mark:#6cb2ff;--band:#26456b';

/** Sizes of text are in rem, so that they follow the font size of the reader. */
const STYLE = [
  `:root{color-scheme:light dark;${LIGHT}}`,
  `@media (prefers-color-scheme:dark){:root{${DARK}}}`,
  `:root[data-theme=light]{color-scheme:light;${LIGHT}}`,
  `:root[data-theme=dark]{color-scheme:dark;${DARK}}`,
  '*{box-sizing:border-box}',
  'body{margin:0;background:var(--bg);color:var(--fg);font:.8125rem/1.35 system-ui,sans-serif;font-variant-numeric:tabular-nums}',
  'main{min-height:100vh;padding:.6rem .9rem;border:1px solid var(--line);border-radius:10px}',
  'h1{margin:0;font-size:.8125rem;font-weight:600;color:var(--dim)}',
  '.signal{margin:0 0 .25rem;font-size:1.6rem;line-height:1.2;font-weight:700}',
  '.signal span{font-size:.9rem;font-weight:400;color:var(--dim)}',
  'p{margin:.15rem 0}',
  '.dim{color:var(--dim);font-size:.75rem}',
  '.ends{display:flex;justify-content:space-between;font-size:.75rem;margin-bottom:.4rem}',
  'svg{display:block;width:100%;overflow:visible;margin:.15rem 0}',
  'a{color:var(--mark)}',
  'table{width:100%;border-collapse:collapse;font-size:.75rem;margin-bottom:.5rem}',
  'th,td{padding:0;text-align:right;font-weight:400}',
  'th:first-child{text-align:left;color:var(--dim)}',
  '.chosen{font-weight:700}',
  // Three columns in place of three rows, below the width of five.
  '@media (max-width:17rem){table,tbody{display:block}tr{display:inline-block;width:33%}th,td,th:first-child{display:block;text-align:right}}',
  '.small{padding:.2rem .6rem}',
  '.small h1 strong{color:var(--fg)}',
  '.small p{margin:0;font-size:.75rem}',
  '.axis{stroke:var(--line)}',
  '.bar,.tick{stroke:var(--fg);stroke-width:2}',
  '.band{fill:var(--band)}',
  '.dot{stroke:var(--mark);stroke-width:9;stroke-linecap:round}',
  '.base{stroke:var(--dim);stroke-dasharray:2 2}',
].join('');

const STYLE_HASH = createHash('sha256').update(STYLE).digest('base64');

/** Any site may frame the card, which runs, loads and sends nothing. */
export const WIDGET_CSP = [
  "default-src 'none'",
  `style-src 'sha256-${STYLE_HASH}'`,
  "base-uri 'none'",
  "form-action 'none'",
  'frame-ancestors *',
].join('; ');

export function renderCardPage(card: WidgetCard, { theme, size }: Pick<WidgetOptions, 'theme' | 'size'>): string {
  const document = el('html', { lang: 'en', 'data-theme': theme !== 'auto' && theme }, [
    el('head', {}, [
      el('meta', { charset: 'utf-8' }),
      el('meta', { name: 'viewport', content: 'width=device-width' }),
      el('title', {}, 'Bitcoin Signal Oracle'),
      el('style', {}, '{{style}}'),
    ]),
    el('body', {}, renderCard(card, size)),
  ]);
  // The style is text of this file, and its first place-holder is in the head: no text of the card is replaced.
  return `<!doctype html>\n${renderMarkup(document).replace('{{style}}', () => STYLE)}\n`;
}
