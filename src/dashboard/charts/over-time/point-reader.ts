import { h, replaceChildren } from '../../lib/dom.ts';
import { toNodes } from '../../lib/markup-dom.ts';
import type { Plot } from './time-frame.ts';

/** Reads a chart point by point: by pointer, by touch, and by the keys of a range input that covers it. */
export interface PointReader {
  slider: HTMLInputElement;
  readout: HTMLElement;
  /** Takes other points, and keeps the chosen day where it is among them. */
  take: (points: ReadPoints) => void;
  /** Takes the drawn chart. */
  attach: (svg: SVGSVGElement, plot: Plot) => void;
}

interface ReadPoints {
  /** At least one, ascending. */
  days: readonly number[];
  texts: readonly string[];
  /** Chosen before the reader has chosen. */
  start: number;
}

interface PointReaderOptions {
  label: string;
  canvas: HTMLElement;
  /** Day that the reader had chosen before the chart was built again. */
  chosenDay: number | null;
  onChoose: (day: number) => void;
}

export function createPointReader({ label, canvas, chosenDay, onChoose }: PointReaderOptions): PointReader {
  const [slider, text] = [h('input', { type: 'range', min: 0, step: 1, class: 'point-slider', 'aria-label': label }), h('p', {})];
  const marker = document.createElementNS('http://www.w3.org/2000/svg', 'g');
  let points: ReadPoints = { days: [0], texts: [''], start: 0 };
  let drawn: { svg: SVGSVGElement; plot: Plot } | null = null;
  let [index, day] = [0, chosenDay];

  function show(next: number) {
    index = next;
    text.textContent = points.texts[next];
    replaceChildren(marker, toNodes(drawn === null ? null : drawn.plot.mark(next), true));
  }
  /** The value of the slider, which screen readers announce, follows once the pointer rests. */
  function announce() {
    slider.value = String(index);
    slider.setAttribute('aria-valuetext', points.texts[index]);
  }
  function choose(next: number) {
    if (next === index) return;
    day = points.days[next];
    show(next);
    onChoose(day);
  }
  function follow({ clientX }: PointerEvent) {
    if (drawn === null) return;
    const { xs, isStepped = false } = drawn.plot;
    choose(findPoint(xs, toChartPixel(drawn.svg, clientX), isStepped));
  }
  slider.addEventListener('input', () => {
    choose(Number(slider.value));
    announce();
  });
  for (const type of ['pointerdown', 'pointermove'] as const) canvas.addEventListener(type, follow);
  for (const type of ['pointerup', 'pointerleave', 'pointercancel'] as const) canvas.addEventListener(type, announce);
  canvas.addEventListener('click', () => slider.focus({ preventScroll: true }));

  const readout = h('div', { class: 'readout', 'aria-hidden': 'true' }, text);
  return {
    slider,
    readout,
    take(next) {
      points = next;
      slider.max = String(next.days.length - 1);
      slider.hidden = next.days.length === 1;
      // An unseen copy of the longest text keeps the height.
      readout.dataset.longest = next.texts.reduce((longest, one) => (one.length > longest.length ? one : longest), '');
      const known = day === null ? -1 : next.days.indexOf(day);
      drawn = null;
      show(known === -1 ? next.start : known);
      announce();
    },
    attach(svg, plot) {
      drawn = { svg, plot };
      svg.append(marker);
      show(index);
    },
  };
}

/** The chart may be scaled down by CSS. */
function toChartPixel(svg: SVGSVGElement, clientX: number) {
  const { left, width } = svg.getBoundingClientRect();
  return ((clientX - left) * svg.viewBox.baseVal.width) / (width || 1);
}

/**
 * The nearest point, or the last one that has begun.
 * @param xs ascending, at least one
 */
export function findPoint(xs: readonly number[], x: number, isStepped: boolean) {
  const after = xs.findIndex((one) => one > x);
  if (after === -1) return xs.length - 1;
  if (after === 0) return 0;
  return isStepped || x - xs[after - 1] <= xs[after] - x ? after - 1 : after;
}
