import { z } from 'zod';
import { DEFAULT_WIDGET, EMBED_KINDS, WIDGET_SIZES, WIDGET_THEMES } from '../../../views/widget/options.ts';

export const themeInput = z
  .enum(WIDGET_THEMES, { error: `must be one of ${WIDGET_THEMES.join(', ')}` })
  .default(DEFAULT_WIDGET.theme)
  .describe("Colours of the card; `auto` follows the reader's settings");

export const sizeInput = z
  .enum(WIDGET_SIZES, { error: `must be one of ${WIDGET_SIZES.join(', ')}` })
  .default(DEFAULT_WIDGET.size)
  .describe('Size of the card: `small` 300 x 64, `medium` 360 x 220, `large` 480 x 360 pixels, with the ranges of all horizons');

export const kindInput = z
  .enum(EMBED_KINDS, { error: `must be one of ${EMBED_KINDS.join(', ')}` })
  .default(EMBED_KINDS[0])
  .describe('Way to embed the card');
