import { escapeHtml } from './escape-html.ts';

/** What the server writes as HTML and the page turns into elements: text is only ever text. */
export type Markup = MarkupElement | string | number | null | undefined | false | readonly Markup[];

export interface MarkupElement {
  tag: string;
  attributes: Readonly<Record<string, AttributeValue>>;
  children: readonly Markup[];
}

/** False, null and undefined leave the attribute out; true writes it without a value. */
type AttributeValue = string | number | boolean | null | undefined;

const VOID_TAGS = new Set(['base', 'br', 'hr', 'img', 'input', 'link', 'meta']);

export function el(tag: string, attributes: MarkupElement['attributes'] = {}, ...children: Markup[]): MarkupElement {
  return { tag, attributes, children };
}

export function isMarkupElement(markup: Markup): markup is MarkupElement {
  return typeof markup === 'object' && markup !== null && 'tag' in markup;
}

/** The attributes that are written, in their order. */
export function listAttributes({ attributes }: MarkupElement): [name: string, value: string][] {
  return Object.entries(attributes).flatMap(([name, value]) =>
    value === null || value === undefined || value === false ? [] : [[name, value === true ? '' : String(value)] as [string, string]],
  );
}

/** HTML of a tree; SVG included. */
export function renderMarkup(markup: Markup): string {
  if (markup === null || markup === undefined || markup === false) return '';
  if (typeof markup !== 'object') return escapeHtml(String(markup));
  if (!isMarkupElement(markup)) return markup.map(renderMarkup).join('');
  const attributes = listAttributes(markup).map(([name, value]) => (value === '' ? ` ${name}` : ` ${name}="${escapeHtml(value)}"`));
  const start = `<${markup.tag}${attributes.join('')}>`;
  return VOID_TAGS.has(markup.tag) ? start : `${start}${renderMarkup(markup.children)}</${markup.tag}>`;
}
