import { h, replaceChildren } from './dom.js';
import { formatUtcTime } from './format.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { Child } from './dom.js' */
/** @import { Store, ResourceState } from '../state/store.js' */

/**
 * Binds a resource to an element: loading state, answer and problem. Redraws only when the answer changes, so that open and focused
 * elements are kept.
 * @template {keyof ApiResponses} Name
 * @param {{ store: Store, name: Name, body: HTMLElement, draw: (answer: ApiResponses[Name]) => Child | readonly Child[] }} options
 */
export function mountResource({ store, name, body, draw }) {
  const content = h('div', {});
  const trouble = h('div', { 'aria-live': 'polite' });
  replaceChildren(body, trouble, content);
  let drawn = '';
  store.watch(name, (known) => {
    replaceChildren(trouble, renderProblem(known));
    const next = known.answer === null ? '' : JSON.stringify(known.answer);
    if (known.answer === null) replaceChildren(content, known.problem === null ? h('p', { class: 'loading' }, 'Loading…') : null);
    else if (next !== drawn) redrawKeepingFocus(content, () => draw(/** @type {ApiResponses[Name]} */ (known.answer)));
    drawn = next;
  });
}

/** Time of the last answer, for sections whose figures do not show their age. @param {Store} store @param {keyof ApiResponses} name */
export function createAsOfLine(store, name) {
  const line = h('p', { class: 'quiet as-of' });
  store.watch(name, ({ at }) => {
    const text = at === null ? '' : `As of ${formatUtcTime(at.toISOString())}.`;
    if (line.textContent !== text) line.textContent = text;
  });
  return line;
}

/** A section that throws is replaced by a message, so that the others still work. @param {() => Child | readonly Child[]} draw */
export function drawSafely(draw) {
  try {
    return draw();
  } catch (error) {
    reportError(error);
    return h('p', { class: 'trouble' }, 'This part cannot be shown: the response of the service is invalid.');
  }
}

/**
 * Restores the focus after a redraw to the element at the same position.
 * @param {HTMLElement} content @param {() => Child | readonly Child[]} draw
 */
function redrawKeepingFocus(content, draw) {
  const focused = document.activeElement;
  const path = focused !== null && content.contains(focused) ? getChildPath(content, focused) : null;
  replaceChildren(content, drawSafely(draw));
  if (path === null || focused === null) return;
  const there = path.reduce((/** @type {Element | undefined} */ at, index) => at?.children[index], content);
  if (there instanceof HTMLElement && there.tagName === focused.tagName) there.focus({ preventScroll: true });
}

/** Child indexes from `from` down to `element`. @param {Element} from @param {Element} element @returns {number[]} */
function getChildPath(from, element) {
  const parent = element.parentElement;
  if (element === from || parent === null) return [];
  return [...getChildPath(from, parent), [...parent.children].indexOf(element)];
}

/** Placeholder of an empty section; adds a note while history is replayed. @param {string} text */
export function renderNotYet(text) {
  const meanwhile = h('span', { class: 'meanwhile' }, 'History is being replayed; this section fills automatically.');
  return h('p', { class: 'empty' }, h('span', {}, text), meanwhile);
}

/** @param {ResourceState<any>} known */
function renderProblem({ answer, problem, at }) {
  if (problem === null) return null;
  const waiting = problem.code === 'STEP_WAITING';
  const since = answer === null || at === null ? '' : ` Showing data of ${at.toISOString().slice(11, 16)} UTC.`;
  const text = `${problem.message}.${since}`;
  return waiting ? renderNotYet(text) : h('p', { class: 'trouble' }, text);
}
