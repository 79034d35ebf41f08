import { tellAll } from './tell.js';

/** Who looks at the page: anybody, or a wallet that has logged in. Kept for this tab only, as long as the token lasts. */

const KEY = 'oracle-session';

/** @typedef {{ token: string, wallet: string, tier: string, expiresAt: string }} LoggedIn */

/** @typedef {ReturnType<typeof createSession>} Session */

export function createSession(storage = sessionStorage) {
  /** @type {Set<(current: LoggedIn | null) => void>} */
  const listeners = new Set();
  /** @type {LoggedIn | null} */
  let current = stored(storage);

  /** @param {LoggedIn | null} next */
  function set(next) {
    current = next;
    if (next === null) storage.removeItem(KEY);
    else storage.setItem(KEY, JSON.stringify(next));
    tellAll(listeners, next);
  }

  return {
    /** @returns {LoggedIn | null} null for anybody, and once the token has expired */
    get current() {
      return current !== null && Date.parse(current.expiresAt) > Date.now() ? current : null;
    },
    set,
    /** @param {(current: LoggedIn | null) => void} listener called at each change */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

/** @param {Storage} storage @returns {LoggedIn | null} */
function stored(storage) {
  try {
    return JSON.parse(storage.getItem(KEY) ?? 'null');
  } catch {
    // What another version of the page has written is as good as nothing.
    return null;
  }
}
