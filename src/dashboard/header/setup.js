import { byId, h, replace } from '../lib/dom.js';
import { count } from '../lib/format.js';

/** @import { Setup } from '../state/answers.ts' */
/** @import { Page } from '../parts/main.js' */

/**
 * What a start is at, as long as it lasts. The bar is made once and moved, so that it is not told as something new each second.
 * @param {Page} page
 */
export function mountSetup({ pulse }) {
  const place = byId('setup');
  const label = h('label', { for: 'setup-bar' });
  const bar = h('progress', { id: 'setup-bar' });
  const panel = h('div', { class: 'setup' }, label, bar, h('p', { class: 'setup-note quiet' }, 'The page fills as this goes on.'));
  pulse.onLook(({ state, setup }) => {
    if (state === 'up') replace(place);
    if (state !== 'starting' || setup === null) return;
    label.textContent = wordsOf(setup);
    move(bar, setup);
    if (!panel.isConnected) replace(place, panel);
  });
}

/** @param {Setup} setup */
function wordsOf({ what, done, total }) {
  const words = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
  return done === null || total === null ? `${words}…` : `${words}: ${count(done)} of ${count(total)}`;
}

/**
 * Without a count it shows that something goes on, and not how far.
 * @param {HTMLProgressElement} bar
 * @param {Setup} setup
 */
function move(bar, { done, total }) {
  if (done === null || !total) return bar.removeAttribute('value');
  bar.max = total;
  bar.value = done;
}
