import type { z } from 'zod';
import { IDENTITY } from '../../../../agent-card/identity.ts';
import { renderMarkup } from '../../../views/markup.ts';
import { formatFrameTitle, renderForeignFrame } from '../../../views/widget/frame.ts';
import { FRAME_PIXELS, WIDGET_SIZES, type WidgetOptions } from '../../../views/widget/options.ts';
import type { OEMBED } from './schemas.ts';

/** How long consumers may keep an answer, which does not depend on the forecast. */
export const OEMBED_CACHE_SECONDS = 3_600;

export interface MaxPixels {
  maxwidth: number;
  maxheight: number;
}

/** The answer of type `rich` (oEmbed 1.0, section 2.3.4.4): a frame with the largest card up to the requested size that fits. */
export function buildOembed(publicUrl: string, wanted: WidgetOptions, max: MaxPixels): z.input<typeof OEMBED> {
  const options = { ...wanted, size: chooseSize(wanted.size, max) };
  const { width, height } = FRAME_PIXELS[options.size];
  const pixels = { width: Math.min(width, max.maxwidth), height: Math.min(height, max.maxheight) };
  const base = publicUrl.replace(/\/+$/, '');
  return {
    type: 'rich',
    version: '1.0',
    title: formatFrameTitle(options),
    provider_name: IDENTITY.name,
    provider_url: `${base}/`,
    cache_age: OEMBED_CACHE_SECONDS,
    ...pixels,
    html: renderMarkup(renderForeignFrame(`${base}/`, options, pixels)),
  };
}

/** The smallest card where none fits: its text wraps, and its frame scrolls. */
function chooseSize(wanted: WidgetOptions['size'], { maxwidth, maxheight }: MaxPixels): WidgetOptions['size'] {
  const candidates = WIDGET_SIZES.slice(0, WIDGET_SIZES.indexOf(wanted) + 1);
  const fits = candidates.filter((size) => FRAME_PIXELS[size].width <= maxwidth && FRAME_PIXELS[size].height <= maxheight);
  return fits.at(-1) ?? WIDGET_SIZES[0];
}
