import { byId, h, replace } from '../lib/dom.js';
import { HORIZONS } from '../state/choice.js';

/** @import { Page } from '../parts/main.js' */

/**
 * The horizon that everything below is of.
 * @param {Page} page
 */
export function mountHorizon({ horizon }) {
  const options = HORIZONS.map((days) => option(days, horizon));
  replace(byId('horizon'), h('fieldset', { class: 'horizon' }, h('legend', {}, 'Horizon of the forecasts'), options));
}

/**
 * @param {number} days
 * @param {Page['horizon']} horizon
 */
function option(days, horizon) {
  const checked = days === horizon.value;
  const input = h('input', { type: 'radio', name: 'horizon', value: days, checked, onchange: () => horizon.set(days) });
  return h('label', {}, input, h('span', {}, `${days} days`));
}
