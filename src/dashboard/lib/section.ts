import { isPartial } from '../state/full-scorecard.ts';
import type { ApiResponses } from '../state/responses.ts';
import type { ResourceState, Store } from '../state/store.ts';
import { type Children, h, replaceChildren } from './dom.ts';
import { createTime } from './local-time.ts';

interface ResourceOptions<Name extends keyof ApiResponses> {
  store: Store;
  name: Name;
  body: HTMLElement;
  draw: (answer: ApiResponses[Name]) => Children;
  /** Whether an answer can be drawn; one that cannot is as good as none. */
  isReady?: (answer: ApiResponses[Name]) => boolean;
}

/**
 * Binds a resource to an element: loading state, answer and problem. Redraws only when the answer changes, so that open and focused
 * elements are kept.
 */
export function mountResource<Name extends keyof ApiResponses>({ store, name, body, draw, isReady }: ResourceOptions<Name>) {
  const content = h('div', {});
  const trouble = h('div', { 'aria-live': 'polite' });
  replaceChildren(body, trouble, content);
  let drawn = '';
  store.watch(name, (known) => {
    replaceChildren(trouble, renderProblem(known));
    const answer = known.answer === null || isReady?.(known.answer) === false ? null : known.answer;
    const next = answer === null ? '' : JSON.stringify(answer);
    if (answer === null) replaceChildren(content, known.problem === null ? renderLoading() : null);
    else if (next !== drawn) redrawKeepingFocus(content, () => draw(answer));
    drawn = next;
  });
}

/** Binds the whole record of the chosen horizon to an element, and has it requested. */
export function mountWholeRecord({ store, ...options }: Omit<ResourceOptions<'scorecard'>, 'name' | 'isReady'>) {
  mountResource({ store, ...options, name: 'scorecard', isReady: (scorecard) => !isPartial(scorecard) });
  store.needWholeRecord();
}

/** Time of the last answer, for sections whose figures do not show their age. */
export function createAsOfLine(store: Store, name: keyof ApiResponses) {
  const line = h('p', { class: 'quiet as-of' });
  store.watch(name, ({ at }) => replaceChildren(line, at === null ? null : ['As of ', createTime(at.toISOString()), '.']));
  return line;
}

/** Says after some seconds that the service is slow, or that it does not answer while the page is offline. */
export function renderLoading() {
  return h('p', { class: 'loading' }, [
    h('span', { class: 'while-online' }, 'Loading… ', h('span', { class: 'late' }, 'The service is slow.')),
    h('span', { class: 'while-offline' }, 'The service does not answer. This part is loaded when it does.'),
  ]);
}

/** A section that throws is replaced by a message, so that the others still work. */
export function drawSafely(draw: () => Children) {
  try {
    return draw();
  } catch (error) {
    reportError(error);
    return h('p', { class: 'trouble' }, 'This part cannot be shown: the response of the service is invalid.');
  }
}

/** A part that cannot be mounted says so in its section; the others are mounted. */
export function mountSafely(mount: () => void, body?: HTMLElement) {
  try {
    mount();
  } catch (error) {
    reportError(error);
    body?.replaceChildren(h('p', { class: 'trouble' }, 'This part failed. Reload the page.'));
  }
}

/** Restores the focus after a redraw to the element at the same position. */
function redrawKeepingFocus(content: HTMLElement, draw: () => Children) {
  const focused = document.activeElement;
  const path = focused !== null && content.contains(focused) ? getChildPath(content, focused) : null;
  replaceChildren(content, drawSafely(draw));
  if (path === null || focused === null) return;
  const there = path.reduce((at: Element | undefined, index) => at?.children[index], content);
  if (there instanceof HTMLElement && there.tagName === focused.tagName) there.focus({ preventScroll: true });
}

/** Child indexes from `from` down to `element`. */
function getChildPath(from: Element, element: Element): number[] {
  const parent = element.parentElement;
  if (element === from || parent === null) return [];
  return [...getChildPath(from, parent), [...parent.children].indexOf(element)];
}

/** Placeholder of an empty section; adds a note while history is replayed. */
export function renderNotYet(text: string) {
  const meanwhile = h('span', { class: 'meanwhile' }, 'History is being replayed; this section fills automatically.');
  return h('p', { class: 'empty' }, h('span', {}, text), meanwhile);
}

function renderProblem({ answer, problem, at }: ResourceState<unknown>) {
  if (problem === null) return null;
  const waiting = problem.code === 'STEP_WAITING';
  if (waiting) return renderNotYet(`${problem.message}.`);
  const since = answer === null || at === null ? null : [' Showing data of ', createTime(at.toISOString(), 'clock'), '.'];
  return h('p', { class: 'trouble' }, `${problem.message}.`, since);
}
