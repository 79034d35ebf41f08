import { getSectionBody, h, replaceChildren } from '../lib/dom.ts';
import { type EventLine, toAttestationLines, toEventLines, updateLines } from '../live/event-lines.ts';
import { LiveEvents } from '../live/live-events.ts';
import { ApiProblem, requestApi } from '../state/api.ts';
import type { Page } from '../state/page.ts';
import type { AttestationHistory } from '../state/responses.ts';
import { createUnlockButton } from '../unlock/unlock-button.ts';

/** Live events for a logged-in reader; otherwise the newest attestations. */
export function mountEvents({ store, session, poller }: Page) {
  const status = h('p', { class: 'events-status', role: 'status' });
  const offer = h('div', {});
  const list = h('ol', { class: 'events' });
  const box = h('div', { class: 'scroll', tabindex: 0 }, list);
  replaceChildren(getSectionBody('events'), offer, status, box);
  const live = new LiveEvents({ session, onChange: () => draw(), onEvents });
  const lastOnChain = followAttestations({ store, session, onChange: draw });

  function draw() {
    const isLoggedIn = session.current !== null;
    replaceChildren(offer, isLoggedIn ? null : renderUnlockOffer());
    const text = isLoggedIn ? formatLiveStatus(live) : 'Latest attestations:';
    if (status.textContent !== text) status.textContent = text;
    status.dataset.state = isLoggedIn ? live.state : 'off';
    setListRole(box, isLoggedIn, live.caughtUp);
    updateLines(list, isLoggedIn ? toEventLines(live.events) : lastOnChain.lines);
  }

  function onEvents() {
    draw();
    void poller.recordMoved();
  }

  let wasUp = false;
  poller.onLook(({ state }) => {
    if (state === 'up' && !wasUp) live.retryNow();
    wasUp = state === 'up';
  });
  session.onChange(draw);
  live.start();
  draw();
}

/** Only events after the initial list are announced by screen readers. */
function setListRole(box: HTMLElement, isLoggedIn: boolean, caughtUp: boolean) {
  box.setAttribute('role', isLoggedIn ? 'log' : 'region');
  box.setAttribute('aria-live', isLoggedIn && caughtUp ? 'polite' : 'off');
  box.setAttribute('aria-label', isLoggedIn ? 'Events, newest first' : 'Latest attestations, newest first');
}

function renderUnlockOffer() {
  return h('div', { class: 'events-offer' }, [
    h('p', {}, 'New calls, outcomes, wagers and regime changes appear here in real time over a WebSocket. Requires the Basic tier.'),
    createUnlockButton('Unlock live events'),
  ]);
}

const STATE_MESSAGES: Record<LiveEvents['state'], string> = {
  off: 'Not connected.',
  connecting: 'Connecting…',
  live: 'Live.',
  waiting: 'Reconnecting; missed events will follow.',
};

function formatLiveStatus({ state, detail, events }: LiveEvents) {
  const nothing = state === 'live' && events.length === 0 ? ' No events yet.' : '';
  return `${detail} ${STATE_MESSAGES[state]}${nothing}`.trim();
}

/** Fetches the newest attestations, and again when their number changes. */
function followAttestations({ store, session, onChange }: { store: Page['store']; session: Page['session']; onChange: () => void }) {
  let lines: EventLine[] = [];
  let requestedCount = 0;
  async function refreshLines() {
    const count = store.get('stats').answer?.totalAttestations ?? 0;
    if (session.current !== null || count === requestedCount) return;
    requestedCount = count;
    // Extra rows, as the oldest group may be incomplete.
    const { data } = await requestApi<AttestationHistory>('api/svc/onchain-oracle/history?horizons=all&limit=30');
    lines = toAttestationLines(data).slice(0, 10);
    onChange();
  }
  const tryRefreshLines = () =>
    void refreshLines().catch((error) => {
      if (!(error instanceof ApiProblem)) throw error;
      requestedCount = 0;
    });
  store.watch('stats', tryRefreshLines);
  session.onChange(tryRefreshLines);
  return {
    get lines() {
      return lines;
    },
  };
}
