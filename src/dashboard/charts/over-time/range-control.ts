import { h } from '../../lib/dom.ts';
import { DAY_RANGES, type DayRange, formatRange, isRangeUseful, resolveRange } from './day-range.ts';

interface RangeControl {
  element: HTMLElement;
  /** @param days length of the record */
  update: (days: number) => void;
}

/** Radio buttons, and thus one tab stop; ranges that are longer than the record are disabled. */
export function createRangeControl(chart: string, dayRange: DayRange): RangeControl {
  const name = `days of ${chart}`;
  const inputs = DAY_RANGES.map((range) =>
    h('input', {
      type: 'radio',
      name,
      value: range,
      class: 'visually-hidden',
      'aria-label': formatRange(range),
      onchange: () => dayRange.set(range),
    }),
  );
  const labels = inputs.map((input, index) => h('label', {}, input, h('span', {}, formatRange(DAY_RANGES[index]).replace(/ days$/, ''))));
  return {
    element: h(
      'div',
      { class: 'ranges', role: 'radiogroup', 'aria-label': `Days shown: ${chart}` },
      h('span', { 'aria-hidden': 'true' }, 'Days'),
      labels,
    ),
    update(days) {
      const chosen = resolveRange(dayRange.value, days);
      for (const [index, range] of DAY_RANGES.entries()) {
        inputs[index].disabled = !isRangeUseful(range, days);
        inputs[index].checked = range === chosen;
      }
    },
  };
}
