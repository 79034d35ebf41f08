import { bodyOf, h, replace } from '../lib/dom.js';
import { linesOfAttestations, linesOfEvents, updateLines } from '../live/event-lines.js';
import { Live } from '../live/live.js';
import { ask, Problem } from '../state/api.js';
import { unlockButton } from '../unlock/unlock-button.js';

/** @import { Line } from '../live/event-lines.js' */
/** @import { Page } from './main.js' */

/**
 * What happens, as it happens, for whoever has logged in; for everybody what the chain was told last.
 * @param {Page} page
 */
export function mountEvents({ store, session, pulse }) {
  const status = h('p', { class: 'events-status', role: 'status' });
  const offer = h('div', {});
  const list = h('ol', { class: 'events' });
  const box = h('div', { class: 'scroll', tabindex: 0 }, list);
  replace(bodyOf('events'), offer, status, box);
  const live = new Live({ session, onChange: () => draw(), onEvents });
  const lastOnChain = followAttestations({ store, session, onChange: draw });

  function draw() {
    const isInside = session.current !== null;
    replace(offer, isInside ? null : offerOf());
    const words = isInside ? statusWords(live) : 'The last entries on chain:';
    if (status.textContent !== words) status.textContent = words;
    status.dataset.state = isInside ? live.state : 'off';
    describe(box, isInside, live.caughtUp);
    updateLines(list, isInside ? linesOfEvents(live.events) : lastOnChain.lines);
  }

  function onEvents() {
    draw();
    void pulse.recordMoved();
  }

  let wasUp = false;
  pulse.onLook(({ state }) => {
    if (state === 'up' && !wasUp) live.retryNow();
    wasUp = state === 'up';
  });
  session.onChange(draw);
  live.start();
  draw();
}

/**
 * A whole list that arrives at once is not read aloud; what comes later is.
 * @param {HTMLElement} box
 * @param {boolean} isInside
 * @param {boolean} caughtUp
 */
function describe(box, isInside, caughtUp) {
  box.setAttribute('role', isInside ? 'log' : 'region');
  box.setAttribute('aria-live', isInside && caughtUp ? 'polite' : 'off');
  box.setAttribute('aria-label', isInside ? 'Events, newest first' : 'Last entries on chain, newest first');
}

function offerOf() {
  return h(
    'div',
    { class: 'events-offer' },
    h(
      'p',
      {},
      'New calls, outcomes, wagers and changes of regime appear here the moment they happen, over a WebSocket. That needs the Basic tier.',
    ),
    unlockButton('Unlock live events'),
  );
}

/** @type {Record<Live['state'], string>} */
const STATES = {
  off: 'Not connected.',
  connecting: 'Connecting…',
  live: 'Live: what happens appears here at once.',
  waiting: 'Connecting again by itself; what is missed meanwhile comes then.',
};

/** @param {Live} live */
function statusWords({ state, detail, events }) {
  const nothing = state === 'live' && events.length === 0 ? ' Nothing has happened yet.' : '';
  return `${detail} ${STATES[state]}${nothing}`.trim();
}

/**
 * The newest attestations: asked for once, and when there are more.
 * @param {{ store: Page['store'], session: Page['session'], onChange: () => void }} options
 */
function followAttestations({ store, session, onChange }) {
  /** @type {Line[]} */
  let lines = [];
  let asked = 0;
  async function look() {
    const count = store.get('stats').answer?.totalAttestations ?? 0;
    if (session.current !== null || count === asked) return;
    asked = count;
    // The last of them may be cut off from others of their step.
    const { data } = await ask('api/svc/onchain-oracle/history?horizons=all&limit=30');
    lines = linesOfAttestations(data).slice(0, 10);
    onChange();
  }
  const lookOrLater = () =>
    void look().catch((error) => {
      if (!(error instanceof Problem)) throw error;
      asked = 0;
    });
  store.watch('stats', lookOrLater);
  session.onChange(lookOrLater);
  return {
    get lines() {
      return lines;
    },
  };
}
