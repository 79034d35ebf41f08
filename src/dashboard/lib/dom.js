/** DOM construction without HTML parsing: external text can only become text nodes. */

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * Creates an HTML element. Omits attributes that are false, null or undefined; `onclick` and the like take functions.
 * @template {keyof HTMLElementTagNameMap} Tag @param {Tag} tag @param {Attributes} [attributes]
 * @param {...(Child | readonly Child[])} children @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

/**
 * Creates an SVG element; see `h`.
 * @template {keyof SVGElementTagNameMap} Tag @param {Tag} tag @param {Attributes} [attributes]
 * @param {...(Child | readonly Child[])} children @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  return fillElement(/** @type {SVGElementTagNameMap[Tag]} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/** @param {Element} element @param {...(Child | readonly Child[])} children */
export function replaceChildren(element, ...children) {
  element.replaceChildren(...toNodes(children));
}

/** An element of index.html. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element;
}

/** The element below the heading of a section. @param {string} id @returns {HTMLElement} */
export function getSectionBody(id) {
  return /** @type {HTMLElement} */ (byId(id).querySelector('.body'));
}

/**
 * @template {Element} E @param {E} element @param {Attributes} attributes @param {readonly (Child | readonly Child[])[]} children
 * @returns {E}
 */
function fillElement(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === 'function') element.addEventListener(name.slice(2), value);
    else element.setAttribute(name, value === true ? '' : String(value));
  }
  element.append(...toNodes(children));
  return element;
}

/** @param {readonly (Child | readonly Child[])[]} children @returns {(Node | string)[]} */
function toNodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}

/** An entry of a `dl.facts` list. @param {string} term @param {Child} value */
export function renderFact(term, value) {
  return h('div', {}, h('dt', {}, term), h('dd', {}, value));
}
