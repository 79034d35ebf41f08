import { isMarkupElement, listAttributes, type Markup } from '../../views/markup.ts';

const SVG = 'http://www.w3.org/2000/svg';

/** The elements of a tree that the server could have written as HTML. */
export function toNodes(markup: Markup, isSvg = false): (Node | string)[] {
  if (markup === null || markup === undefined || markup === false) return [];
  if (typeof markup !== 'object') return [String(markup)];
  if (!isMarkupElement(markup)) return markup.flatMap((one) => toNodes(one, isSvg));
  const inSvg = isSvg || markup.tag === 'svg';
  const element = inSvg ? document.createElementNS(SVG, markup.tag) : document.createElement(markup.tag);
  for (const [name, value] of listAttributes(markup)) element.setAttribute(name, value);
  element.append(...markup.children.flatMap((one) => toNodes(one, inSvg)));
  return [element];
}
