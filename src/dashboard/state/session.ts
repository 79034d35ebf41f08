import { notifyAll } from './notify.ts';

/** The login session of this tab, until its token expires. */

const SESSION_STORAGE_KEY = 'oracle-session';

export interface LoginSession {
  token: string;
  wallet: string;
  tier: string;
  expiresAt: string;
}

export type Session = ReturnType<typeof createSession>;

export function createSession(storage = sessionStorage) {
  const listeners = new Set<(current: LoginSession | null) => void>();
  const onRenewed = new Set<(current: LoginSession | null) => void>();
  let current: LoginSession | null = loadSession(storage);
  let hasEnded = false;

  const now = () => (current !== null && Date.parse(current.expiresAt) > Date.now() ? current : null);

  function change(next: LoginSession | null, byItself: boolean = false) {
    const isRenewed = next !== null && getReaderKey(next) === getReaderKey(now());
    [current, hasEnded] = [next, byItself];
    if (next === null) storage.removeItem(SESSION_STORAGE_KEY);
    else storage.setItem(SESSION_STORAGE_KEY, JSON.stringify(next));
    notifyAll(isRenewed ? onRenewed : listeners, next);
  }

  return {
    /** @returns null when anonymous or expired */
    get current(): LoginSession | null {
      return now();
    },
    /** Whether the last session expired or was rejected. */
    get hasEnded() {
      return hasEnded;
    },
    /** @param next null on logout */
    set: (next: LoginSession | null) => change(next),
    /** The token has expired or was rejected. */
    end: () => change(null, true),
    /** @param listener called when the same wallet and tier continue with a new token */
    onRenewal(listener: (current: LoginSession | null) => void) {
      onRenewed.add(listener);
    },
    /** @param listener called on login and logout */
    onChange(listener: (current: LoginSession | null) => void) {
      listeners.add(listener);
    },
  };
}

/** Readers with the same key get the same responses. */
function getReaderKey(session: LoginSession | null) {
  return session && `${session.wallet.toLowerCase()} ${session.tier}`;
}

function loadSession(storage: Storage): LoginSession | null {
  try {
    return JSON.parse(storage.getItem(SESSION_STORAGE_KEY) ?? 'null');
  } catch {
    // Written by another version of the page.
    return null;
  }
}
