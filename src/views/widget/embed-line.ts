import { el, renderMarkup } from '../markup.ts';
import { renderForeignFrame } from './frame.ts';
import { buildWidgetQuery, type EmbedKind, type WidgetOptions } from './options.ts';

export const COMPONENT_TAG = 'bitcoin-signal-oracle';

/** The text that puts a card into a page of another site. @param base address of the service, with its slash */
export function buildEmbedLine(base: string, kind: EmbedKind, options: WidgetOptions): string {
  const { horizonDays, theme, size } = options;
  if (kind === 'iframe') return renderMarkup(renderForeignFrame(base, options));
  if (kind === 'oembed') return `${base}widget?${buildWidgetQuery(options)}`;
  return renderMarkup([
    el('script', { type: 'module', src: `${base}widget.js` }),
    el(COMPONENT_TAG, { horizon: horizonDays, theme, size }),
  ]);
}
