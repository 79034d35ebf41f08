import { el, type Markup } from '../markup.ts';

/** Horizons that the page can show, in days. */
export const SELECTABLE_HORIZONS: readonly number[] = [2, 3, 7];
export const DEFAULT_HORIZON_DAYS = 7;

/** The axis of the fan: each label stands below the end of its window, and selects the horizon of the page. */
export function renderHorizonChoice(chosenDays: number): Markup {
  return el('fieldset', { class: 'fan-axis', 'aria-label': 'Forecast horizon' }, [
    el('span', { class: 'fan-day fan-day-1', 'aria-hidden': 'true' }, '1'),
    SELECTABLE_HORIZONS.map((days) =>
      el('label', { class: `fan-day fan-day-${days}` }, [
        el('input', { type: 'radio', name: 'horizon', value: days, checked: days === chosenDays, 'aria-label': `${days} days` }),
        el('span', {}, days === Math.max(...SELECTABLE_HORIZONS) ? `${days} days` : days),
      ]),
    ),
  ]);
}
