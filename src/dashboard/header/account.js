import { byId, h, replaceChildren } from '../lib/dom.js';
import { formatUtcTime, shortenHex } from '../lib/format.js';
import { formatTier } from '../lib/format-text.js';
import { createRelativeTime } from '../lib/relative-time.js';
import { ApiProblem } from '../state/api.js';
import { attemptLogin, endSession, isSameAccount, logInWith } from '../unlock/login.js';
import { createUnlockButton, UNLOCK_EVENT } from '../unlock/unlock-button.js';
import { createUnlockDialog, STAGE_MESSAGES } from '../unlock/unlock-dialog.js';
import { watchWallet } from '../unlock/wallet-watch.js';

/** @import { LoginSession } from '../state/session.js' */
/** @import { Page } from '../parts/main.js' */
/** @import { WalletWatch } from '../unlock/wallet-watch.js' */

/** Time before expiry from which a session can be renewed. */
const RENEWABLE_BEFORE_MS = 5 * 60_000;

/** Login button, or wallet, tier, remaining time and logout of the session. @param {Page} page */
export function mountAccount({ session }) {
  const notice = h('p', { class: 'account-notice', role: 'status', tabindex: -1 });
  const state = h('div', { class: 'account' });
  replaceChildren(byId('account'), state, notice);
  const showNotice = (/** @type {string} */ message) => {
    notice.textContent = message;
  };
  const wallets = watchWallet({ onAccounts: (accounts) => onAccountsChanged(accounts) });
  const leave = (/** @type {string} */ message) => {
    wallets.forget();
    logOut(session, message, showNotice);
    notice.focus();
  };

  /** @param {readonly string[]} accounts */
  function onAccountsChanged(accounts) {
    const { current } = session;
    if (current !== null && !accounts.includes(current.wallet.toLowerCase())) leave('The wallet switched accounts: logged out.');
  }

  const onLoggedIn = (/** @type {LoginSession} */ next) => {
    showNotice('Logged in.');
    session.set(next);
  };
  const dialog = createUnlockDialog({ wallets, onLoggedIn, fallback: notice });
  document.body.append(dialog.element);
  document.addEventListener(UNLOCK_EVENT, dialog.open);
  const renew = createRenewal({ session, wallets, say: showNotice, openDialog: dialog.open });
  function draw() {
    const { current } = session;
    const focused = state.contains(document.activeElement) ? document.activeElement?.textContent : null;
    replaceChildren(state, current === null ? renderUnlock() : renderSession(current, { renew, leave: () => leave('Logged out.') }));
    if (session.hasEnded) showNotice('The session has ended. Unlock again to continue.');
    // Focus must not move to a button with another function.
    const same = [...state.querySelectorAll('button')].find(({ textContent }) => textContent === focused);
    if (focused !== null) (same ?? notice).focus();
  }
  session.onChange(draw);
  session.onRenewal(draw);
  draw();
  watchTokenExpiry(session, draw);
}

/**
 * Renews the session with the same account; open elements of the page stay open.
 * @param {{ session: Page['session'], wallets: Pick<WalletWatch, 'used'>, say: (message: string) => void, openDialog: () => void }} options
 */
export function createRenewal({ session, wallets, say: showNotice, openDialog }) {
  return async () => {
    const { current } = session;
    const wallet = wallets.used;
    if (wallet === null) return openDialog();
    await attemptLogin({
      login: (sayStage) => logInWith(wallet.provider, (stage) => sayStage(STAGE_MESSAGES[stage](wallet.name)), current?.wallet),
      // The reader may have logged out in the meantime.
      counts: () => session.current === current || session.hasEnded,
      say: showNotice,
      onDone(next) {
        showNotice(isSameAccount(next.wallet, current?.wallet) ? 'Renewed.' : 'Logged in.');
        session.set(next);
      },
    });
  };
}

/**
 * Logs out locally first, whether or not the service answers.
 * @param {Page['session']} session @param {string} message @param {(message: string) => void} showNotice
 */
function logOut(session, message, showNotice) {
  const { current } = session;
  if (current === null) return;
  showNotice(message);
  session.set(null);
  endSession(current).catch((error) => {
    if (!(error instanceof ApiProblem)) throw error;
    // The session has already ended at the service.
    if (error.code === 'UNAUTHENTICATED') return;
    showNotice(`${message} The service could not be reached; the token expires at ${formatUtcTime(current.expiresAt)}.`);
  });
}

function renderUnlock() {
  return createUnlockButton(['Unlock', h('span', { class: 'more-words' }, ' with your wallet')]);
}

/** @param {LoginSession} session @param {{ renew: () => void, leave: () => void }} actions */
function renderSession({ wallet, tier, expiresAt }, { renew, leave }) {
  const endsSoon = Date.parse(expiresAt) - Date.now() <= RENEWABLE_BEFORE_MS;
  return [
    h('span', { class: 'tier' }, formatTier(tier)),
    h('span', { title: wallet }, shortenHex(wallet)),
    h('span', { class: 'quiet' }, 'expires ', createRelativeTime(expiresAt)),
    endsSoon && h('button', { type: 'button', onclick: renew }, 'Renew'),
    h('button', { type: 'button', onclick: leave }, 'Log out'),
  ];
}

/**
 * Clears the session when its token expires, and redraws when it becomes renewable.
 * @param {Page['session']} session @param {() => void} onEndNear
 */
function watchTokenExpiry(session, onEndNear) {
  /** @type {ReturnType<typeof setTimeout>[]} */
  let timers = [];
  /** @param {LoginSession | null} current */
  const arm = (current) => {
    timers.forEach(clearTimeout);
    if (current === null) return;
    const left = Date.parse(current.expiresAt) - Date.now();
    timers = [setTimeout(session.end, Math.max(0, left)), setTimeout(onEndNear, Math.max(0, left - RENEWABLE_BEFORE_MS))];
  };
  session.onChange(arm);
  session.onRenewal(arm);
  arm(session.current);
}
