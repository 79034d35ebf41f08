/** DOM construction without HTML parsing: external text can only become text nodes. */

const SVG = 'http://www.w3.org/2000/svg';

export type Child = Node | string | number | null | undefined | false;
export type Children = Child | readonly Children[];
type Attributes = Record<string, string | number | boolean | null | undefined | ((event: Event) => void)>;

/** Creates an HTML element. Omits attributes that are false, null or undefined; `onclick` and the like take functions. */
export function h<Tag extends keyof HTMLElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Children[]
): HTMLElementTagNameMap[Tag] {
  return fillElement(document.createElement(tag), attributes, children);
}

/** Creates an SVG element; see `h`. */
export function s<Tag extends keyof SVGElementTagNameMap>(
  tag: Tag,
  attributes: Attributes = {},
  ...children: Children[]
): SVGElementTagNameMap[Tag] {
  return fillElement(document.createElementNS(SVG, tag) as SVGElementTagNameMap[Tag], attributes, children);
}

export function replaceChildren(element: Element, ...children: Children[]) {
  element.replaceChildren(...toNodes(children));
}

/** An element that the server has written. */
export function byId(id: string): HTMLElement {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element;
}

/** The element below the heading of a section. */
export function getSectionBody(id: string): HTMLElement {
  return byId(id).querySelector('.body') as HTMLElement;
}

function fillElement<E extends Element>(element: E, attributes: Attributes, children: Children): E {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...toNodes(children));
  return element;
}

function toNodes(children: Children): (Node | string)[] {
  if (children === null || children === undefined || children === false) return [];
  if (typeof children !== 'object') return [String(children)];
  return children instanceof Node ? [children] : children.flatMap(toNodes);
}

/** A `dl.facts` list of terms and values. */
export function renderFacts(facts: readonly (readonly [term: string, value: Child])[]) {
  const entries = facts.map(([term, value]) => h('div', {}, h('dt', {}, term), h('dd', {}, value)));
  return h('dl', { class: 'facts' }, entries);
}

/** Legend of a chart. `mark`: class of the mark, such as `mark-line`. */
export function renderLegend(entries: readonly { label: string; mark: string }[]) {
  const marks = entries.map(({ label, mark }) => h('li', {}, h('span', { class: `mark ${mark}`, 'aria-hidden': 'true' }), label));
  return h('ul', { class: 'legend' }, marks);
}
