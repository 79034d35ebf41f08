import { byId, h, replaceChildren } from '../lib/dom.ts';
import { SELECTABLE_HORIZONS } from '../state/horizon-selection.ts';
import type { Page } from '../state/page.ts';

/** Selects the horizon of all sections. */
export function mountHorizon({ horizon }: Page) {
  const options = SELECTABLE_HORIZONS.map((days) => renderHorizonOption(days, horizon));
  replaceChildren(byId('horizon'), h('fieldset', { class: 'horizon' }, h('legend', {}, 'Forecast horizon'), options));
}

function renderHorizonOption(days: number, horizon: Page['horizon']) {
  const checked = days === horizon.value;
  const input = h('input', { type: 'radio', name: 'horizon', value: days, checked, onchange: () => horizon.set(days) });
  return h('label', {}, input, h('span', {}, `${days} days`));
}
