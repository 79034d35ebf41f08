import { byId, h, replaceChildren } from '../lib/dom.js';
import { SELECTABLE_HORIZONS } from '../state/horizon-selection.js';

/** @import { Page } from '../parts/main.js' */

/** Selects the horizon of all sections. @param {Page} page */
export function mountHorizon({ horizon }) {
  const options = SELECTABLE_HORIZONS.map((days) => renderHorizonOption(days, horizon));
  replaceChildren(byId('horizon'), h('fieldset', { class: 'horizon' }, h('legend', {}, 'Forecast horizon'), options));
}

/** @param {number} days @param {Page['horizon']} horizon */
function renderHorizonOption(days, horizon) {
  const checked = days === horizon.value;
  const input = h('input', { type: 'radio', name: 'horizon', value: days, checked, onchange: () => horizon.set(days) });
  return h('label', {}, input, h('span', {}, `${days} days`));
}
