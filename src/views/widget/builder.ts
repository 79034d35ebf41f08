import { el, type Markup, type MarkupElement } from '../markup.ts';
import { buildEmbedLine } from './embed-line.ts';
import { formatDays, renderFrame } from './frame.ts';
import { EMBED_KINDS, type EmbedKind, WIDGET_HORIZONS, WIDGET_SIZES, WIDGET_THEMES, type WidgetOptions } from './options.ts';

export interface WidgetChoice extends WidgetOptions {
  kind: EmbedKind;
}

const KIND_LABELS: Record<EmbedKind, string> = { iframe: 'iframe', component: 'Web component', oembed: 'oEmbed address' };
const THEME_LABELS = { auto: 'Automatic', light: 'Light', dark: 'Dark' } as const;
const SIZE_LABELS = { small: 'Small', medium: 'Medium', large: 'Large' } as const;

/** The choices, the card as it will look, and the text to copy. @param base address of the service, with its slash */
export function renderBuilder(base: string, choice: WidgetChoice): Markup {
  return [
    el('h1', {}, 'Embed the forecast'),
    el('p', {}, 'A card for your site: the signal, its expected range and the record. It sets no cookie and runs no script.'),
    el('form', { id: 'widget-form', class: 'widget-form', action: 'widget', method: 'get', 'data-base': base }, renderFields(choice)),
    el('section', { 'aria-labelledby': 'preview-title' }, [
      el('h2', { id: 'preview-title' }, 'Preview'),
      el('div', { id: 'widget-preview', class: 'widget-preview' }, renderPreview(choice)),
    ]),
    el('section', { 'aria-labelledby': 'line-title' }, [
      el('h2', { id: 'line-title' }, el('label', { for: 'widget-line' }, 'Copy into your page')),
      el('textarea', { id: 'widget-line', readonly: true, rows: 4, spellcheck: 'false' }, buildEmbedLine(base, choice.kind, choice)),
      el('p', { class: 'widget-copy' }, [
        el('button', { id: 'widget-copy', type: 'button', hidden: true }, 'Copy'),
        ' ',
        el('span', { id: 'widget-copied', role: 'status' }),
      ]),
    ]),
  ];
}

/** Relative to the page, which may frame cards of its own origin alone. */
export function renderPreview(choice: WidgetOptions): MarkupElement {
  return renderFrame('', choice);
}

function renderFields({ horizonDays, theme, size, kind }: WidgetChoice): Markup {
  return [
    renderSelect('horizon', 'Horizon', horizonDays, WIDGET_HORIZONS, formatDays),
    renderSelect('size', 'Size', size, WIDGET_SIZES, (one) => SIZE_LABELS[one]),
    renderSelect('theme', 'Colours', theme, WIDGET_THEMES, (one) => THEME_LABELS[one]),
    renderSelect('kind', 'Embed as', kind, EMBED_KINDS, (one) => KIND_LABELS[one]),
    el('button', { id: 'widget-show', type: 'submit' }, 'Show'),
  ];
}

function renderSelect<Value extends string | number>(
  name: string,
  label: string,
  chosen: Value | number,
  values: readonly Value[],
  format: (value: Value) => string,
): Markup {
  const options = values.map((value) => el('option', { value, selected: value === chosen }, format(value)));
  return el('label', {}, label, el('select', { name }, options));
}
