import { el, type MarkupElement } from '../../../views/markup.ts';

/** The element in the head of a page by which consumers find its card (oEmbed 1.0, section 4). @param path relative to the base */
export function renderOembedLink(publicUrl: string, path: string): MarkupElement {
  const base = publicUrl.replace(/\/+$/, '');
  return el('link', {
    rel: 'alternate',
    type: 'application/json+oembed',
    href: `${base}/oembed?url=${encodeURIComponent(`${base}/${path}`)}&format=json`,
    title: 'Card to embed',
  });
}
