import { h, replace } from './dom.js';
import { utcTime } from './format.js';

/** @import { Answers } from '../state/answers.ts' */
/** @import { Child } from './dom.js' */
/** @import { Store, Known } from '../state/store.js' */

/**
 * Shows a resource in an element: that it is coming, what it says, and why it is not there or old. It is drawn again only when the
 * answer has changed, so that what a reader has opened or focused stays.
 * @template {keyof Answers} Name
 * @param {{ store: Store, name: Name, body: HTMLElement, draw: (answer: Answers[Name]) => Child | readonly Child[] }} options
 */
export function show({ store, name, body, draw }) {
  const content = h('div', {});
  const trouble = h('div', { 'aria-live': 'polite' });
  replace(body, trouble, content);
  let drawn = '';
  store.watch(name, (known) => {
    replace(trouble, troubleOf(known));
    const next = known.answer === null ? '' : JSON.stringify(known.answer);
    if (known.answer === null) replace(content, known.problem === null ? h('p', { class: 'loading' }, 'Loading…') : null);
    else if (next !== drawn) redraw(content, () => draw(/** @type {Answers[Name]} */ (known.answer)));
    drawn = next;
  });
}

/**
 * When a resource was last answered: for sections whose figures do not say themselves how old they are.
 * @param {Store} store
 * @param {keyof Answers} name
 */
export function asOf(store, name) {
  const line = h('p', { class: 'quiet as-of' });
  store.watch(name, ({ at }) => {
    const words = at === null ? '' : `As of ${utcTime(at.toISOString())}.`;
    if (line.textContent !== words) line.textContent = words;
  });
  return line;
}

/**
 * A section that cannot be drawn says so, and leaves the others alone.
 * @param {() => Child | readonly Child[]} draw
 */
export function drawnOr(draw) {
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
function redraw(content, draw) {
  const focused = document.activeElement;
  const path = focused !== null && content.contains(focused) ? pathOf(content, focused) : null;
  replace(content, drawnOr(draw));
  if (path === null || focused === null) return;
  const there = path.reduce((/** @type {Element | undefined} */ at, index) => at?.children[index], content);
  if (there instanceof HTMLElement && there.tagName === focused.tagName) there.focus({ preventScroll: true });
}

/** Which child of which child an element is. @param {Element} from @param {Element} element @returns {number[]} */
function pathOf(from, element) {
  const parent = element.parentElement;
  if (element === from || parent === null) return [];
  return [...pathOf(from, parent), [...parent.children].indexOf(element)];
}

/**
 * Why there is nothing to show. As long as a start replays history, that this will pass.
 * @param {string} words
 */
export function notYet(words) {
  const meanwhile = h('span', { class: 'meanwhile' }, 'History is being replayed: this fills by itself.');
  return h('p', { class: 'empty' }, h('span', {}, words), meanwhile);
}

/** @param {Known<any>} known */
function troubleOf({ answer, problem, at }) {
  if (problem === null) return null;
  const waiting = problem.code === 'STEP_WAITING';
  const since = answer === null || at === null ? '' : ` What is shown is of ${at.toISOString().slice(11, 16)} UTC.`;
  const words = `${problem.message}.${since}`;
  return waiting ? notYet(words) : h('p', { class: 'trouble' }, words);
}
