import { byId, h, replaceChildren } from '../lib/dom.ts';
import { formatCount } from '../lib/format.ts';
import type { Page } from '../state/page.ts';
import type { StartupStatus } from '../state/responses.ts';

/** Startup progress. The bar is updated in place, so that screen readers do not announce it every second. */
export function mountStartup({ poller }: Page) {
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

function formatStartupProgress({ what, done, total }: StartupStatus) {
  const step = `${what.slice(0, 1).toUpperCase()}${what.slice(1)}`;
  return done === null || total === null ? `${step}…` : `${step}: ${formatCount(done)} of ${formatCount(total)}`;
}

/** Indeterminate without a count. */
function updateBar(bar: HTMLProgressElement, { done, total }: StartupStatus) {
  if (done === null || !total) return bar.removeAttribute('value');
  bar.max = total;
  bar.value = done;
}
