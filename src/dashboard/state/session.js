import { notifyAll } from './notify.js';

/** Who looks at the page: anybody, or a wallet that has logged in. Kept for this tab only, as long as the token lasts. */

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
    /** @returns {LoginSession | null} null for anybody, and once the token has expired */
    get current() {
      return now();
    },
    /** Whether the last session ended without its reader's doing. */
    get hasEnded() {
      return hasEnded;
    },
    /** @param {LoginSession | null} next null: the reader has logged out */
    set: (next) => change(next),
    /** The token is over, or the service takes it no more. */
    end: () => change(null, true),
    /** @param {(current: LoginSession | null) => void} listener called when the same reader goes on with another token: what he was told stays */
    onRenewal(listener) {
      onRenewed.add(listener);
    },
    /** @param {(current: LoginSession | null) => void} listener called at each change */
    onChange(listener) {
      listeners.add(listener);
    },
  };
}

/** Who is told what a session is told. @param {LoginSession | null} session */
function getReaderKey(session) {
  return session && `${session.wallet.toLowerCase()} ${session.tier}`;
}

/** @param {Storage} storage @returns {LoginSession | null} */
function loadSession(storage) {
  try {
    return JSON.parse(storage.getItem(SESSION_STORAGE_KEY) ?? 'null');
  } catch {
    // What another version of the page has written is as good as nothing.
    return null;
  }
}
