import { el, type MarkupElement } from '../markup.ts';
import { buildCardPath, FRAME_PIXELS, type WidgetOptions } from './options.ts';

/** A page that a sandboxed frame opens is sandboxed too, without scripts, unless it may escape. */
export const FRAME_SANDBOX = 'allow-popups allow-popups-to-escape-sandbox';

/** The card in a frame. @param base address of the service with its slash; empty: relative to the page */
export function renderFrame(base: string, options: WidgetOptions, pixels = FRAME_PIXELS[options.size]): MarkupElement {
  return el('iframe', {
    src: `${base}${buildCardPath(options)}`,
    title: formatFrameTitle(options),
    ...pixels,
    sandbox: FRAME_SANDBOX,
    loading: 'lazy',
  });
}

/** The same for pages of other sites, without the border that browsers draw. */
export function renderForeignFrame(base: string, options: WidgetOptions, pixels = FRAME_PIXELS[options.size]): MarkupElement {
  const frame = renderFrame(base, options, pixels);
  return { ...frame, attributes: { ...frame.attributes, style: 'border:0;max-width:100%' } };
}

export function formatFrameTitle({ horizonDays }: WidgetOptions): string {
  return `Bitcoin forecast, ${formatDays(horizonDays)}`;
}

export function formatDays(days: number): string {
  return days === 1 ? '1 day' : `${days} days`;
}
