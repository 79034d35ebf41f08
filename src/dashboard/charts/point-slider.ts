import { h } from '../lib/dom.ts';

/** Reads a chart point by point, with a slider for keyboards and screen readers, or with the pointer. */
interface PointSlider {
  element: HTMLElement;
  /** Takes the drawn chart, the pixel positions of its points and a function that marks a point. */
  attach: (svg: SVGSVGElement, xs: readonly number[], shown: (index: number) => void) => void;
}

interface PointSliderOptions {
  label: string;
  count: number;
  start: number;
  describe: (index: number) => string;
  onRead: (index: number) => void;
}

export function createPointSlider({ label, count, start, describe, onRead }: PointSliderOptions): PointSlider {
  let markPoint: (index: number) => void = () => {};
  let index = Math.max(0, Math.min(count - 1, start));
  const text = h('p', { class: 'readout', 'aria-hidden': 'true' });
  const slider = h('input', {
    type: 'range',
    min: 0,
    max: count - 1,
    step: 1,
    'aria-label': label,
    oninput: () => choose(Number(slider.value)),
  });

  function read(next: number) {
    index = next;
    slider.value = String(next);
    const readout = describe(next);
    slider.setAttribute('aria-valuetext', readout);
    text.textContent = readout;
    markPoint(next);
  }

  function choose(next: number) {
    read(next);
    onRead(next);
  }
  slider.value = String(index);
  read(index);
  return {
    element: h('div', { class: 'reading' }, slider, text),
    attach(svg, xs, mark) {
      markPoint = mark;
      markPoint(index);
      // Aligns the 16-pixel thumb with the point.
      slider.style.marginLeft = `${xs[0] - 8}px`;
      slider.style.width = `${xs[xs.length - 1] - xs[0] + 16}px`;
      const follow = (event: PointerEvent) => choose(findNearest(xs, toChartPixel(svg, event.clientX)));
      svg.addEventListener('pointermove', follow);
      svg.addEventListener('pointerdown', follow);
    },
  };
}

/** The chart may be scaled down by CSS. */
function toChartPixel(svg: SVGSVGElement, clientX: number) {
  const { left, width } = svg.getBoundingClientRect();
  return ((clientX - left) * svg.viewBox.baseVal.width) / (width || 1);
}

/** @param xs ascending */
function findNearest(xs: readonly number[], x: number) {
  const after = xs.findIndex((one) => one >= x);
  if (after === -1) return xs.length - 1;
  return after > 0 && x - xs[after - 1] < xs[after] - x ? after - 1 : after;
}
