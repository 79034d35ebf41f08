import { mountAccount } from '../header/account.ts';
import { mountConnection } from '../header/connection.ts';
import { mountHorizon } from '../header/horizon.ts';
import { mountOrigin } from '../header/origin.ts';
import { mountStartup } from '../header/startup.ts';
import { handleFragmentLinks } from '../lib/fragment-links.ts';
import { createHorizonSelection } from '../state/horizon-selection.ts';
import { createPoller } from '../state/poller.ts';
import { createSession } from '../state/session.ts';
import { createStore } from '../state/store.ts';
import { mountAttestations } from './attestations.ts';
import { mountCalibration } from './calibration.ts';
import { mountCrowd } from './crowd.ts';
import { mountEvents } from './events.ts';
import { mountFeeds } from './feeds.ts';
import { mountPrice } from './price.ts';
import { mountRecord } from './record.ts';
import { mountRegimes } from './regimes.ts';
import { mountSelfTests } from './self-tests.ts';
import { mountToday } from './today.ts';
import { mountWagers } from './wagers.ts';

const SECTIONS = [
  mountConnection,
  mountAccount,
  mountOrigin,
  mountStartup,
  mountHorizon,
  mountToday,
  mountRecord,
  mountPrice,
  mountRegimes,
  mountCalibration,
  mountAttestations,
  mountCrowd,
  mountWagers,
  mountSelfTests,
  mountEvents,
  mountFeeds,
];

const session = createSession();
const horizon = createHorizonSelection();
const store = createStore({ session, horizon });
const poller = createPoller(store);

for (const mount of SECTIONS) mount({ store, session, horizon, poller });

/** Resources whose content depends on the tier of the reader. */
const READER_RESOURCES = ['signal', 'scorecard', 'wagers', 'crowd'] as const;

// Responses depend on session and horizon. Answers of an ended session are dropped at once, even when the service does not answer; the
// public call is dropped on login.
session.onChange((current) => {
  for (const name of current === null ? READER_RESOURCES : (['signal'] as const)) store.forget(name);
  void store.refreshAll(READER_RESOURCES);
});
horizon.onChange(() => {
  for (const name of ['signal', 'scorecard'] as const) store.forget(name);
  void store.refreshAll(['signal', 'scorecard']);
});
poller.onLook(({ state }) => document.body.toggleAttribute('data-starting', state === 'starting'));
handleFragmentLinks();
void poller.start();
