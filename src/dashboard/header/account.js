import { ago } from '../lib/ago.js';
import { byId, h, replace } from '../lib/dom.js';
import { shortHex, utcTime } from '../lib/format.js';
import { tierWords } from '../lib/words.js';
import { Problem } from '../state/api.js';
import { attempt, endSession, isSameAccount, logInWith } from '../unlock/login.js';
import { UNLOCK, unlockButton } from '../unlock/unlock-button.js';
import { createUnlockDialog, STAGES } from '../unlock/unlock-dialog.js';
import { watchWallet } from '../unlock/wallet-watch.js';

/** @import { LoggedIn } from '../state/session.js' */
/** @import { Page } from '../parts/main.js' */
/** @import { WalletWatch } from '../unlock/wallet-watch.js' */

/** How long before its end a session can be renewed. */
const RENEW_MS = 5 * 60_000;

/**
 * Who looks at the page: the way in, and for whoever is in his wallet, tier, time left and the way out.
 * @param {Page} page
 */
export function mountAccount({ session }) {
  const notice = h('p', { class: 'account-notice', role: 'status', tabindex: -1 });
  const state = h('div', { class: 'account' });
  replace(byId('account'), state, notice);
  const say = (/** @type {string} */ words) => {
    notice.textContent = words;
  };
  const wallets = watchWallet({ onAccounts: (accounts) => turned(accounts) });
  const leave = (/** @type {string} */ words) => {
    wallets.forget();
    logOut(session, words, say);
    notice.focus();
  };

  /** @param {readonly string[]} accounts */
  function turned(accounts) {
    const { current } = session;
    if (current !== null && !accounts.includes(current.wallet.toLowerCase())) leave('The wallet has changed its account: logged out.');
  }

  const onLoggedIn = (/** @type {LoggedIn} */ next) => {
    say('Logged in.');
    session.set(next);
  };
  const dialog = createUnlockDialog({ wallets, onLoggedIn, fallback: notice });
  document.body.append(dialog.element);
  document.addEventListener(UNLOCK, dialog.open);
  const renew = renewal({ session, wallets, say, openDialog: dialog.open });
  function draw() {
    const { current } = session;
    const focused = state.contains(document.activeElement) ? document.activeElement?.textContent : null;
    replace(state, current === null ? wayIn() : inside(current, { renew, leave: () => leave('Logged out.') }));
    if (session.hasEnded) say('The session has ended: unlock again to go on.');
    // Never on to a button that does something else.
    const same = [...state.querySelectorAll('button')].find(({ textContent }) => textContent === focused);
    if (focused !== null) (same ?? notice).focus();
  }
  session.onChange(draw);
  session.onRenewal(draw);
  draw();
  followTheToken(session, draw);
}

/**
 * Signs again with the account that has logged in, when the reader asks for it; what he has open stays.
 * @param {{ session: Page['session'], wallets: Pick<WalletWatch, 'used'>, say: (words: string) => void, openDialog: () => void }} options
 */
export function renewal({ session, wallets, say, openDialog }) {
  return async () => {
    const { current } = session;
    const wallet = wallets.used;
    if (wallet === null) return openDialog();
    await attempt({
      login: (sayStage) => logInWith(wallet.provider, (stage) => sayStage(STAGES[stage](wallet.name)), current?.wallet),
      // He may have logged out meanwhile.
      counts: () => session.current === current || session.hasEnded,
      say,
      onDone(next) {
        say(isSameAccount(next.wallet, current?.wallet) ? 'Renewed.' : 'Logged in.');
        session.set(next);
      },
    });
  };
}

/**
 * Here at once, whatever the service says to it.
 * @param {Page['session']} session
 * @param {string} words
 * @param {(words: string) => void} say
 */
function logOut(session, words, say) {
  const { current } = session;
  if (current === null) return;
  say(words);
  session.set(null);
  endSession(current).catch((error) => {
    if (!(error instanceof Problem)) throw error;
    // Its session is over there already.
    if (error.code === 'UNAUTHENTICATED') return;
    say(`${words} The service could not be told: the token ends by itself at ${utcTime(current.expiresAt)}.`);
  });
}

function wayIn() {
  return unlockButton(['Unlock', h('span', { class: 'more-words' }, ' with your wallet')]);
}

/**
 * @param {LoggedIn} session
 * @param {{ renew: () => void, leave: () => void }} actions
 */
function inside({ wallet, tier, expiresAt }, { renew, leave }) {
  const endsSoon = Date.parse(expiresAt) - Date.now() <= RENEW_MS;
  return [
    h('span', { class: 'tier' }, tierWords(tier)),
    h('span', { title: wallet }, shortHex(wallet)),
    h('span', { class: 'quiet' }, 'ends ', ago(expiresAt)),
    endsSoon && h('button', { type: 'button', onclick: renew }, 'Renew'),
    h('button', { type: 'button', onclick: leave }, 'Log out'),
  ];
}

/**
 * Clears the session when its token expires, whatever the page is doing, and tells before that when it can be renewed.
 * @param {Page['session']} session
 * @param {() => void} onEndNear
 */
function followTheToken(session, onEndNear) {
  /** @type {ReturnType<typeof setTimeout>[]} */
  let timers = [];
  /** @param {LoggedIn | null} current */
  const arm = (current) => {
    timers.forEach(clearTimeout);
    if (current === null) return;
    const left = Date.parse(current.expiresAt) - Date.now();
    timers = [setTimeout(session.end, Math.max(0, left)), setTimeout(onEndNear, Math.max(0, left - RENEW_MS))];
  };
  session.onChange(arm);
  session.onRenewal(arm);
  arm(session.current);
}
