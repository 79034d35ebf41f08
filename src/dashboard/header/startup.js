import { byId, h, replaceChildren } from '../lib/dom.js';
import { formatCount } from '../lib/format.js';

/** @import { StartupStatus } from '../state/responses.ts' */
/** @import { Page } from '../parts/main.js' */

/** Startup progress. The bar is updated in place, so that screen readers do not announce it every second. @param {Page} page */
export function mountStartup({ poller }) {
  const place = byId('setup');
  const label = h('label', { for: 'setup-bar' });
  const bar = h('progress', { id: 'setup-bar' });
  const panel = h('div', { class: 'setup' }, label, bar, h('p', { class: 'setup-note quiet' }, 'Sections fill as this progresses.'));
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
  const step = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
  return done === null || total === null ? `${step}…` : `${step}: ${formatCount(done)} of ${formatCount(total)}`;
}

/** Indeterminate without a count. @param {HTMLProgressElement} bar @param {StartupStatus} setup */
function updateBar(bar, { done, total }) {
  if (done === null || !total) return bar.removeAttribute('value');
  bar.max = total;
  bar.value = done;
}
