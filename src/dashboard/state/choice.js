import { tellAll } from './tell.js';

/** The horizon that the reader has chosen, in days; the address of the page keeps it. */

export const HORIZONS = [2, 3, 7];
const DEFAULT = 7;
const PARAMETER = 'horizon';

/** @typedef {ReturnType<typeof createHorizonChoice>} Choice */

export function createHorizonChoice() {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  let value = fromAddress();
  return {
    get value() {
      return value;
    },
    /** @param {number} next */
    set(next) {
      value = next;
      const url = new URL(location.href);
      url.searchParams.set(PARAMETER, String(next));
      history.replaceState(null, '', url);
      tellAll(listeners, undefined);
    },
    /** @param {() => void} listener */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

function fromAddress() {
  const named = Number(new URLSearchParams(location.search).get(PARAMETER)?.replace(/d$/, ''));
  return HORIZONS.includes(named) ? named : DEFAULT;
}
