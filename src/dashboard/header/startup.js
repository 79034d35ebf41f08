import { byId, h, replaceChildren } from '../lib/dom.js';
import { formatCount } from '../lib/format.js';

/** @import { StartupStatus } from '../state/responses.ts' */
/** @import { Page } from '../parts/main.js' */

/**
 * What a start is at, as long as it lasts. The bar is made once and moved, so that it is not told as something new each second.
 * @param {Page} page
 */
export function mountStartup({ poller }) {
  const place = byId('setup');
  const label = h('label', { for: 'setup-bar' });
  const bar = h('progress', { id: 'setup-bar' });
  const panel = h('div', { class: 'setup' }, label, bar, h('p', { class: 'setup-note quiet' }, 'The page fills as this goes on.'));
  poller.onLook(({ state, setup }) => {
    if (state === 'up') replaceChildren(place);
    if (state !== 'starting' || setup === null) return;
    label.textContent = formatStartupProgress(setup);
    updateBar(bar, setup);
    if (!panel.isConnected) replaceChildren(place, panel);
  });
}

/** @param {StartupStatus} setup */
function formatStartupProgress({ what, done, total }) {
  const words = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
  return done === null || total === null ? `${words}…` : `${words}: ${formatCount(done)} of ${formatCount(total)}`;
}

/**
 * Without a count it shows that something goes on, and not how far.
 * @param {HTMLProgressElement} bar
 * @param {StartupStatus} setup
 */
function updateBar(bar, { done, total }) {
  if (done === null || !total) return bar.removeAttribute('value');
  bar.max = total;
  bar.value = done;
}
