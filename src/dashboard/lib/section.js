import { h, replaceChildren } from './dom.js';
import { formatUtcTime } from './format.js';

/** @import { ApiResponses } from '../state/responses.ts' */
/** @import { Child } from './dom.js' */
/** @import { Store, ResourceState } from '../state/store.js' */

/**
 * Shows a resource in an element: that it is coming, what it says, and why it is not there or old. It is drawn again only when the
 * answer has changed, so that what a reader has opened or focused stays.
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

/**
 * When a resource was last answered: for sections whose figures do not say themselves how old they are.
 * @param {Store} store
 * @param {keyof ApiResponses} name
 */
export function createAsOfLine(store, name) {
  const line = h('p', { class: 'quiet as-of' });
  store.watch(name, ({ at }) => {
    const words = at === null ? '' : `As of ${formatUtcTime(at.toISOString())}.`;
    if (line.textContent !== words) line.textContent = words;
  });
  return line;
}

/**
 * A section that cannot be drawn says so, and leaves the others alone.
 * @param {() => Child | readonly Child[]} draw
 */
export function drawSafely(draw) {
  try {
    return draw();
  } catch (error) {
    reportError(error);
    return h('p', { class: 'trouble' }, 'This part cannot be shown: what the service says of it is not as expected.');
  }
}

/**
 * Draws, and gives the focus back to what stands where it was: a reader on the keyboard does not start again from the top.
 * @param {HTMLElement} content
 * @param {() => Child | readonly Child[]} draw
 */
function redrawKeepingFocus(content, draw) {
  const focused = document.activeElement;
  const path = focused !== null && content.contains(focused) ? getChildPath(content, focused) : null;
  replaceChildren(content, drawSafely(draw));
  if (path === null || focused === null) return;
  const there = path.reduce((/** @type {Element | undefined} */ at, index) => at?.children[index], content);
  if (there instanceof HTMLElement && there.tagName === focused.tagName) there.focus({ preventScroll: true });
}

/** Which child of which child an element is. @param {Element} from @param {Element} element @returns {number[]} */
function getChildPath(from, element) {
  const parent = element.parentElement;
  if (element === from || parent === null) return [];
  return [...getChildPath(from, parent), [...parent.children].indexOf(element)];
}

/**
 * Why there is nothing to show. As long as a start replays history, that this will pass.
 * @param {string} words
 */
export function renderNotYet(words) {
  const meanwhile = h('span', { class: 'meanwhile' }, 'History is being replayed: this fills by itself.');
  return h('p', { class: 'empty' }, h('span', {}, words), meanwhile);
}

/** @param {ResourceState<any>} known */
function renderProblem({ answer, problem, at }) {
  if (problem === null) return null;
  const waiting = problem.code === 'STEP_WAITING';
  const since = answer === null || at === null ? '' : ` What is shown is of ${at.toISOString().slice(11, 16)} UTC.`;
  const words = `${problem.message}.${since}`;
  return waiting ? renderNotYet(words) : h('p', { class: 'trouble' }, words);
}
