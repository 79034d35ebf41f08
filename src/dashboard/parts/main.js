import { mountAccount } from '../header/account.js';
import { mountConnection } from '../header/connection.js';
import { mountHorizon } from '../header/horizon.js';
import { mountOrigin } from '../header/origin.js';
import { mountStartup } from '../header/startup.js';
import { handleFragmentLinks } from '../lib/fragment-links.js';
import { createHorizonSelection } from '../state/horizon-selection.js';
import { createPoller } from '../state/poller.js';
import { createSession } from '../state/session.js';
import { createStore } from '../state/store.js';
import { mountAttestations } from './attestations.js';
import { mountCalibration } from './calibration.js';
import { mountCrowd } from './crowd.js';
import { mountEvents } from './events.js';
import { mountFeeds } from './feeds.js';
import { mountPrice } from './price.js';
import { mountRecord } from './record.js';
import { mountRegimes } from './regimes.js';
import { mountSelfTests } from './self-tests.js';
import { mountToday } from './today.js';
import { mountWagers } from './wagers.js';

/** @import { HorizonSelection } from '../state/horizon-selection.js' */
/** @import { Poller } from '../state/poller.js' */
/** @import { Session } from '../state/session.js' */
/** @import { Store } from '../state/store.js' */

/** @typedef {{ store: Store, session: Session, horizon: HorizonSelection, poller: Poller }} Page */

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
const READER_RESOURCES = /** @type {const} */ (['signal', 'scorecard', 'wagers', 'crowd']);

// Responses depend on session and horizon. Answers of an ended session are dropped at once, even when the service does not answer; the
// public call is dropped on login.
session.onChange((current) => {
  for (const name of current === null ? READER_RESOURCES : /** @type {const} */ (['signal'])) store.forget(name);
  void store.refreshAll(READER_RESOURCES);
});
horizon.onChange(() => {
  for (const name of /** @type {const} */ (['signal', 'scorecard'])) store.forget(name);
  void store.refreshAll(['signal', 'scorecard']);
});
poller.onLook(({ state }) => document.body.toggleAttribute('data-starting', state === 'starting'));
handleFragmentLinks();
void poller.start();
