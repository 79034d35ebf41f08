import { tellAll } from './tell.js';

/** Who looks at the page: anybody, or a wallet that has logged in. Kept for this tab only, as long as the token lasts. */

const KEY = 'oracle-session';

/** @typedef {{ token: string, wallet: string, tier: string, expiresAt: string }} LoggedIn */

/** @typedef {ReturnType<typeof createSession>} Session */

export function createSession(storage = sessionStorage) {
  /** @type {Set<(current: LoggedIn | null) => void>} */
  const listeners = new Set();
  /** @type {Set<(current: LoggedIn | null) => void>} */
  const onRenewed = new Set();
  /** @type {LoggedIn | null} */
  let current = stored(storage);
  let hasEnded = false;

  const now = () => (current !== null && Date.parse(current.expiresAt) > Date.now() ? current : null);

  /** @param {LoggedIn | null} next @param {boolean} [byItself] */
  function change(next, byItself = false) {
    const isRenewed = next !== null && readerOf(next) === readerOf(now());
    [current, hasEnded] = [next, byItself];
    if (next === null) storage.removeItem(KEY);
    else storage.setItem(KEY, JSON.stringify(next));
    tellAll(isRenewed ? onRenewed : listeners, next);
  }

  return {
    /** @returns {LoggedIn | null} null for anybody, and once the token has expired */
    get current() {
      return now();
    },
    /** Whether the last session ended without its reader's doing. */
    get hasEnded() {
      return hasEnded;
    },
    /** @param {LoggedIn | null} next null: the reader has logged out */
    set: (next) => change(next),
    /** The token is over, or the service takes it no more. */
    end: () => change(null, true),
    /** @param {(current: LoggedIn | null) => void} listener called when the same reader goes on with another token: what he was told stays */
    onRenewal(listener) {
      onRenewed.add(listener);
    },
    /** @param {(current: LoggedIn | null) => void} listener called at each change */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

/** Who is told what a session is told. @param {LoggedIn | null} session */
function readerOf(session) {
  return session && `${session.wallet.toLowerCase()} ${session.tier}`;
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
