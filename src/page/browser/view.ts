import { Component, type ComponentChild, createElement, hydrate, render } from 'preact';
import { el, isMarkupElement, type Markup, type MarkupElement } from '../markup.ts';
import { createTime } from './dom.ts';
import type { ApiResponses } from './responses.ts';
import { isPartial, type ResourceState, type Store } from './state.ts';

/** Elements that are drawn by the view library. */
const places = new WeakSet<Element>();

/** Draws into an element, and again: what is the same is kept, and with it the focus and what is open. */
export function draw(element: Element, ...markup: Markup[]) {
  if (!places.has(element)) element.replaceChildren();
  places.add(element);
  render(toVNode(markup), element);
}

/** Draws what the server has drawn, whose elements are kept. */
export function adopt(element: Element, markup: Markup) {
  places.add(element);
  hydrate([toVNode(markup)], element);
}

function toVNode(markup: Markup): ComponentChild {
  if (Array.isArray(markup)) return markup.map(toVNode);
  if (!isMarkupElement(markup)) return markup as ComponentChild;
  const { tag, attributes, children } = markup;
  const given = Object.entries(attributes).filter(([, value]) => value !== null && value !== undefined && value !== false);
  return createElement(tag as never, Object.fromEntries(given), ...children.map(toVNode));
}

/** A part with a state of its own, which it keeps while it stays in its place, or has the same `key` among others. */
export abstract class Part<Props, State = object> extends Component<Props, State> {
  abstract draw(): Markup;
  render() {
    return toVNode(drawSafely(() => this.draw()));
  }
}

export function createPart<Props>(part: new () => Pick<Part<Props>, 'props'>, props: Props & { key?: string }): MarkupElement {
  return { tag: part as never, attributes: props as never, children: [] };
}

interface ResourceOptions<Name extends keyof ApiResponses> {
  store: Store;
  name: Name;
  body: Element;
  draw: (answer: ApiResponses[Name]) => Markup;
  /** Whether an answer can be drawn; one that cannot is as good as none. */
  isReady?: (answer: ApiResponses[Name]) => boolean;
  /** Other resources that `draw` reads. */
  also?: readonly (keyof ApiResponses)[];
}

/** Binds a resource to an element: loading state, answer and problem. @returns a function that draws it again */
export function mountResource<Name extends keyof ApiResponses>(options: ResourceOptions<Name>) {
  const { store, name, body, isReady, also = [] } = options;
  const redraw = () => {
    const known = store.get(name);
    const answer = known.answer === null || isReady?.(known.answer) === false ? null : known.answer;
    const content = answer === null ? known.problem === null && renderLoading() : drawSafely(() => options.draw(answer));
    draw(body, el('div', { 'aria-live': 'polite' }, renderProblem(known)), el('div', {}, content));
  };
  for (const one of [name, ...also]) store.watch(one, redraw);
  return redraw;
}

/** Binds the whole record of the chosen horizon to an element, and has it requested. */
export function mountWholeRecord({ store, ...options }: Omit<ResourceOptions<'scorecard'>, 'name' | 'isReady'>) {
  mountResource({ store, ...options, name: 'scorecard', isReady: (scorecard) => !isPartial(scorecard) });
  store.needWhole();
}

/** Says after some seconds that the service is slow, or that it does not answer while the page is offline. */
function renderLoading() {
  return el('p', { class: 'loading' }, [
    el('span', { class: 'while-online' }, 'Loading… ', el('span', { class: 'late' }, 'The service is slow.')),
    el('span', { class: 'while-offline' }, 'The service does not answer. This part is loaded when it does.'),
  ]);
}

export const BROKEN_TEXT = 'This part cannot be shown: the response of the service is invalid.';

/** A part that throws is replaced by a message, so that the others still work. */
export function runSafely<Result>(run: () => Result, replace: () => Result): Result {
  try {
    return run();
  } catch (error) {
    reportError(error);
    return replace();
  }
}

export function drawSafely(draw: () => Markup): Markup {
  return runSafely(draw, () => el('p', { class: 'trouble' }, BROKEN_TEXT));
}

/** Placeholder of an empty section; adds a note while history is replayed. */
export function renderNotYet(text: string) {
  const meanwhile = el('span', { class: 'meanwhile' }, 'History is being replayed; this section fills automatically.');
  return el('p', { class: 'empty' }, el('span', {}, text), meanwhile);
}

function renderProblem({ answer, problem, at }: ResourceState<unknown>) {
  if (problem === null) return null;
  if (problem.code === 'STEP_WAITING') return renderNotYet(`${problem.message}.`);
  const since = answer === null || at === null ? null : [' Showing data of ', createTime(at.toISOString(), 'clock'), '.'];
  return el('p', { class: 'trouble' }, `${problem.message}.`, since);
}
