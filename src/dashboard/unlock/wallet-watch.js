import { discoverWallets, getInjectedProvider, INJECTED_RDNS } from './wallets.js';

/** @import { Wallet } from './wallets.js' */

const WALLET_STORAGE_KEY = 'oracle-wallet';

/** @typedef {ReturnType<typeof watchWallet>} WalletWatch */

/**
 * Discovers wallets and watches the one in use, across page loads too: an account change may mean another person at the screen.
 * @param {{ onAccounts: (accounts: readonly string[]) => void, storage?: Storage }} options `onAccounts` gets the new accounts, in lower
 * case
 */
export function watchWallet({ onAccounts, storage = sessionStorage }) {
  /** @type {Set<() => void>} */
  const listeners = new Set();
  /** @type {Wallet | null} */
  let watched = null;
  const found = discoverWallets(() => {
    for (const listener of listeners) listener();
    resumeWatching();
  });
  found.ask();

  /** @param {Wallet} wallet */
  function watch(wallet) {
    watched?.provider.removeListener?.('accountsChanged', onAccountsChanged);
    watched = wallet;
    wallet.provider.on?.('accountsChanged', onAccountsChanged);
  }

  /** @param {unknown} accounts */
  function onAccountsChanged(accounts) {
    onAccounts(Array.isArray(accounts) ? accounts.map((account) => String(account).toLowerCase()) : []);
  }

  function resumeWatching() {
    const key = storage.getItem(WALLET_STORAGE_KEY);
    // A wallet used as injected provider may announce itself on the next load.
    const wallet = found.all.find(({ rdns, provider }) => rdns === key || (key === INJECTED_RDNS && provider === getInjectedProvider()));
    if (watched === null && wallet !== undefined) watch(wallet);
  }

  return {
    get all() {
      return found.all;
    },
    ask: found.ask,
    /** The wallet that has logged in, if it is still there. */
    get used() {
      return watched;
    },
    /** @param {() => void} listener called for each new wallet */
    onFound(listener) {
      listeners.add(listener);
    },
    /** @param {Wallet} wallet */
    use(wallet) {
      storage.setItem(WALLET_STORAGE_KEY, wallet.rdns);
      watch(wallet);
    },
    forget() {
      storage.removeItem(WALLET_STORAGE_KEY);
      watched?.provider.removeListener?.('accountsChanged', onAccountsChanged);
      watched = null;
    },
  };
}
