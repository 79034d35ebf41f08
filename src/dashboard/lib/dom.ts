/** DOM construction without HTML parsing: external text can only become text nodes. */

const SVG = 'http://www.w3.org/2000/svg';

export type Child = Node | string | number | null | undefined | false;
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Creates an HTML element. Omits attributes that are false, null or undefined; `onclick` and the like take functions. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Child | readonly Child[])[]
): HTMLElementTagNameMap[Tag] {
  return fillElement(document.createElement(tag), attributes, children);
}

/** Creates an SVG element; see `h`. */
export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: (Child | readonly Child[])[]
): SVGElementTagNameMap[Tag] {
  return fillElement(document.createElementNS(SVG, tag) as SVGElementTagNameMap[Tag], attributes, children);
}

export function replaceChildren(element: Element, ...children: (Child | readonly Child[])[]) {
  element.replaceChildren(...toNodes(children));
}

/** An element of index.html. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element;
}

/** The element below the heading of a section. */
export function getSectionBody(id: string): HTMLElement {
  return byId(id).querySelector('.body') as HTMLElement;
}

function fillElement<E extends Element>(element: E, attributes: Attributes, children: readonly (Child | readonly Child[])[]): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...toNodes(children));
  return element;
}

function toNodes(children: readonly (Child | readonly Child[])[]): (Node | string)[] {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** An entry of a `dl.facts` list. */
export function renderFact(term: string, value: Child) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}
