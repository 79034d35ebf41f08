import type { InitialData } from '../../views/first-screen/first-screen-data.ts';
import type { HorizonSelection } from './horizon-selection.ts';
import type { ApiResponses } from './responses.ts';
import type { Session } from './session.ts';
import type { Store } from './store.ts';

/** What the server has drawn the page from. Null while it starts, and in a document that is none of this service's. */
export function readInitialData(): InitialData | null {
  const text = document.getElementById('initial')?.textContent;
  return text ? (JSON.parse(text) as InitialData) : null;
}

/** The answers are whole responses of the API: with them the first screen needs no request. A reader with a session has another call. */
export function primeStore(
  store: Store,
  initial: InitialData | null,
  { session, horizon }: { session: Session; horizon: HorizonSelection },
) {
  if (initial === null) return;
  const { range, price, signals } = initial;
  const call = session.current === null ? signals[`${horizon.value}d`] : undefined;
  if (range !== null) store.prime('range', range as ApiResponses['range']);
  if (price !== null) store.prime('price', price as ApiResponses['price']);
  if (call !== undefined) store.prime('signal', call as ApiResponses['signal']);
}
