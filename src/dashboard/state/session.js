import { notifyAll } from './notify.js';

/** The login session of this tab, until its token expires. */

const SESSION_STORAGE_KEY = 'oracle-session';

/** @typedef {{ token: string, wallet: string, tier: string, expiresAt: string }} LoginSession */

/** @typedef {ReturnType<typeof createSession>} Session */

export function createSession(storage = sessionStorage) {
  /** @type {Set<(current: LoginSession | null) => void>} */
  const listeners = new Set();
  /** @type {Set<(current: LoginSession | null) => void>} */
  const onRenewed = new Set();
  /** @type {LoginSession | null} */
  let current = loadSession(storage);
  let hasEnded = false;

  const now = () => (current !== null && Date.parse(current.expiresAt) > Date.now() ? current : null);

  /** @param {LoginSession | null} next @param {boolean} [byItself] */
  function change(next, byItself = false) {
    const isRenewed = next !== null && getReaderKey(next) === getReaderKey(now());
    [current, hasEnded] = [next, byItself];
    if (next === null) storage.removeItem(SESSION_STORAGE_KEY);
    else storage.setItem(SESSION_STORAGE_KEY, JSON.stringify(next));
    notifyAll(isRenewed ? onRenewed : listeners, next);
  }

  return {
    /** @returns {LoginSession | null} null when anonymous or expired */
    get current() {
      return now();
    },
    /** Whether the last session expired or was rejected. */
    get hasEnded() {
      return hasEnded;
    },
    /** @param {LoginSession | null} next null on logout */
    set: (next) => change(next),
    /** The token has expired or was rejected. */
    end: () => change(null, true),
    /** @param {(current: LoginSession | null) => void} listener called when the same wallet and tier continue with a new token */
    onRenewal(listener) {
      onRenewed.add(listener);
    },
    /** @param {(current: LoginSession | null) => void} listener called on login and logout */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

/** Readers with the same key get the same responses. @param {LoginSession | null} session */
function getReaderKey(session) {
  return session && `${session.wallet.toLowerCase()} ${session.tier}`;
}

/** @param {Storage} storage @returns {LoginSession | null} */
function loadSession(storage) {
  try {
    return JSON.parse(storage.getItem(SESSION_STORAGE_KEY) ?? 'null');
  } catch {
    // Written by another version of the page.
    return null;
  }
}
