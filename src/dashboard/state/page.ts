import type { HorizonSelection } from './horizon-selection.ts';
import type { Poller } from './poller.ts';
import type { Session } from './session.ts';
import type { Store } from './store.ts';

/** What every part of the page is mounted with. */
export interface Page {
  store: Store;
  session: Session;
  horizon: HorizonSelection;
  poller: Poller;
}
