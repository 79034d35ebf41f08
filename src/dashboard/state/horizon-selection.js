import { notifyAll } from './notify.js';

/** The chosen horizon in days, kept in the URL of the page. */

export const SELECTABLE_HORIZONS = [2, 3, 7];
const DEFAULT_HORIZON_DAYS = 7;
const HORIZON_PARAMETER = 'horizon';

/** @typedef {ReturnType<typeof createHorizonSelection>} HorizonSelection */

export function createHorizonSelection() {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  let value = readHorizonFromUrl();
  return {
    get value() {
      return value;
    },
    /** @param {number} next */
    set(next) {
      value = next;
      const url = new URL(location.href);
      url.searchParams.set(HORIZON_PARAMETER, String(next));
      history.replaceState(null, '', url);
      notifyAll(listeners, undefined);
    },
    /** @param {() => void} listener */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

function readHorizonFromUrl() {
  const named = Number(new URLSearchParams(location.search).get(HORIZON_PARAMETER)?.replace(/d$/, ''));
  return SELECTABLE_HORIZONS.includes(named) ? named : DEFAULT_HORIZON_DAYS;
}
