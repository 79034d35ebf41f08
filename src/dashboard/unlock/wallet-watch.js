import { discoverWallets, getInjectedProvider, INJECTED_RDNS } from './wallets.js';

/** @import { Wallet } from './wallets.js' */

const WALLET_STORAGE_KEY = 'oracle-wallet';

/** @typedef {ReturnType<typeof watchWallet>} WalletWatch */

/**
 * The wallets of this browser, and an eye on the one that has logged in, also after the page was loaded anew: when it turns to another
 * account, whoever is in front of the page may be somebody else.
 * @param {{ onAccounts: (accounts: readonly string[]) => void, storage?: Storage }} options `onAccounts` is told which it has turned to
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
    // One that was only there may announce itself in time after the next load.
    const wallet = found.all.find(({ rdns, provider }) => rdns === key || (key === INJECTED_RDNS && provider === getInjectedProvider()));
    if (watched === null && wallet !== undefined) watch(wallet);
  }

  return {
    get all() {
      return found.all;
    },
    ask: found.ask,
    /** The one that has logged in, where it is in this browser still. */
    get used() {
      return watched;
    },
    /** @param {() => void} listener called when one more is found */
    onFound(listener) {
      listeners.add(listener);
    },
    /** It has logged in. @param {Wallet} wallet */
    use(wallet) {
      storage.setItem(WALLET_STORAGE_KEY, wallet.rdns);
      watch(wallet);
    },
    /** Nobody is logged in by a wallet. */
    forget() {
      storage.removeItem(WALLET_STORAGE_KEY);
      watched?.provider.removeListener?.('accountsChanged', onAccountsChanged);
      watched = null;
    },
  };
}
