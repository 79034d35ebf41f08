/** Elements are made, never parsed from text: what comes from outside can only become text. */

const SVG = 'http://www.w3.org/2000/svg';

/** @typedef {Node | string | number | null | undefined | false} Child */
/** @typedef {Record<string, string | number | boolean | null | undefined | ((event: any) => void)>} Attributes */

/**
 * An HTML element. Attributes that are false, null or undefined are left out; `onclick` and the like take functions.
 * @template {keyof HTMLElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | readonly Child[])} children
 * @returns {HTMLElementTagNameMap[Tag]}
 */
export function h(tag, attributes = {}, ...children) {
  return fillElement(document.createElement(tag), attributes, children);
}

/**
 * An SVG element, in the same way.
 * @template {keyof SVGElementTagNameMap} Tag
 * @param {Tag} tag
 * @param {Attributes} [attributes]
 * @param {...(Child | readonly Child[])} children
 * @returns {SVGElementTagNameMap[Tag]}
 */
export function s(tag, attributes = {}, ...children) {
  return fillElement(/** @type {SVGElementTagNameMap[Tag]} */ (document.createElementNS(SVG, tag)), attributes, children);
}

/**
 * Puts children in the place of those that an element has.
 * @param {Element} element
 * @param {...(Child | readonly Child[])} children
 */
export function replaceChildren(element, ...children) {
  element.replaceChildren(...toNodes(children));
}

/**
 * The element of an id, which the frame of the page has.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function byId(id) {
  const element = document.getElementById(id);
  if (element === null) throw new Error(`The page has no element ${id}`);
  return element;
}

/**
 * Where a section shows what it has, below its heading.
 * @param {string} id
 * @returns {HTMLElement}
 */
export function getSectionBody(id) {
  return /** @type {HTMLElement} */ (byId(id).querySelector('.body'));
}

/**
 * @template {Element} E
 * @param {E} element
 * @param {Attributes} attributes
 * @param {readonly (Child | readonly Child[])[]} children
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

/**
 * @param {readonly (Child | readonly Child[])[]} children
 * @returns {(Node | string)[]}
 */
function toNodes(children) {
  return children
    .flat()
    .filter((child) => child !== null && child !== undefined && child !== false)
    .map((child) => (child instanceof Node ? child : String(child)));
}
