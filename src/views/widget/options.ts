/** What a reader may choose of an embedded card. */
export interface WidgetOptions {
  horizonDays: number;
  theme: WidgetTheme;
  size: WidgetSize;
}

export const WIDGET_HORIZONS = [1, 2, 3, 7] as const;
export const WIDGET_THEMES = ['auto', 'light', 'dark'] as const;
export const WIDGET_SIZES = ['small', 'medium', 'large'] as const;
/** Ways to embed a card: an iframe, the web component, or an address for sites that read oEmbed. */
export const EMBED_KINDS = ['iframe', 'component', 'oembed'] as const;

export type WidgetTheme = (typeof WIDGET_THEMES)[number];
export type WidgetSize = (typeof WIDGET_SIZES)[number];
export type EmbedKind = (typeof EMBED_KINDS)[number];

/** CSS pixels of the frame around a card. */
export const FRAME_PIXELS: Record<WidgetSize, { width: number; height: number }> = {
  small: { width: 300, height: 64 },
  medium: { width: 360, height: 220 },
  large: { width: 480, height: 360 },
};

export const DEFAULT_WIDGET: WidgetOptions = { horizonDays: 7, theme: 'auto', size: 'medium' };

/** Options from attributes or fields of a form; a value that is missing or unknown becomes that of the default. */
export function parseWidgetOptions(read: (name: 'horizon' | 'theme' | 'size') => string | null): WidgetOptions {
  const days = Number(read('horizon')?.replace(/d$/, ''));
  return {
    horizonDays: WIDGET_HORIZONS.find((one) => one === days) ?? DEFAULT_WIDGET.horizonDays,
    theme: WIDGET_THEMES.find((one) => one === read('theme')) ?? DEFAULT_WIDGET.theme,
    size: WIDGET_SIZES.find((one) => one === read('size')) ?? DEFAULT_WIDGET.size,
  };
}

/** Path of the card, relative to the base of the service. */
export function buildCardPath(options: WidgetOptions): string {
  return `api/svc/widget?format=html&${buildWidgetQuery(options)}`;
}

export function buildWidgetQuery({ horizonDays, theme, size }: WidgetOptions): string {
  return `horizon=${horizonDays}d&theme=${theme}&size=${size}`;
}
