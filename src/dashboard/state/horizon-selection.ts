import { DEFAULT_HORIZON_DAYS, SELECTABLE_HORIZONS } from '../../views/first-screen/horizon-choice.ts';
import { notifyAll } from './notify.ts';

/** The chosen horizon in days, kept in the URL of the page. */

const HORIZON_PARAMETER = 'horizon';

export type HorizonSelection = ReturnType<typeof createHorizonSelection>;

export function createHorizonSelection() {
  const listeners = new Set<() => void>();
  let value = readHorizonFromUrl();
  return {
    get value() {
      return value;
    },
    set(next: number) {
      value = next;
      const url = new URL(location.href);
      url.searchParams.set(HORIZON_PARAMETER, String(next));
      history.replaceState(null, '', url);
      notifyAll(listeners, undefined);
    },
    onChange(listener: () => void) {
      listeners.add(listener);
    },
  };
}

function readHorizonFromUrl() {
  const named = Number(new URLSearchParams(location.search).get(HORIZON_PARAMETER)?.replace(/d$/, ''));
  return SELECTABLE_HORIZONS.includes(named) ? named : DEFAULT_HORIZON_DAYS;
}
