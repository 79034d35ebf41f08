import { ago } from '../lib/ago.js';
import { byId, h, replace } from '../lib/dom.js';
import { shortHex, utcTime } from '../lib/format.js';
import { tierWords } from '../lib/words.js';
import { Problem } from '../state/api.js';
import { endSession } from '../unlock/login.js';
import { UNLOCK, unlockButton } from '../unlock/unlock-button.js';
import { createUnlockDialog } from '../unlock/unlock-dialog.js';
import { watchWallet } from '../unlock/wallet-watch.js';

/** @import { LoggedIn } from '../state/session.js' */
/** @import { Page } from '../parts/main.js' */

/**
 * Who looks at the page: the way in, and for whoever is in his wallet, tier, time left and the way out.
 * @param {Page} page
 */
export function mountAccount({ session }) {
  const notice = h('p', { class: 'account-notice', role: 'status' });
  const state = h('div', { class: 'account' });
  const firstButton = () => state.querySelector('button');
  replace(byId('account'), state, notice);
  const say = (/** @type {string} */ words) => {
    notice.textContent = words;
  };
  const wallets = watchWallet({ onAccounts: (accounts) => turned(accounts) });
  const leave = (/** @type {string} */ words) => {
    wallets.forget();
    logOut(session, words, say);
    firstButton()?.focus();
  };

  /** @param {readonly string[]} accounts */
  function turned(accounts) {
    const { current } = session;
    if (current !== null && !accounts.includes(current.wallet.toLowerCase())) leave('The wallet has changed its account: logged out.');
  }

  const onLoggedIn = (/** @type {LoggedIn} */ next) => {
    say('');
    session.set(next);
  };
  const dialog = createUnlockDialog({ wallets, onLoggedIn, fallback: firstButton });
  document.body.append(dialog.element);
  document.addEventListener(UNLOCK, dialog.open);
  const draw = () => replace(state, session.current === null ? wayIn() : inside(session.current, () => leave('Logged out.')));
  session.onChange(draw);
  draw();
  endWithTheToken(session, () => say('The session has ended: tokens last 30 minutes.'));
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
 * @param {() => void} onLeave
 */
function inside({ wallet, tier, expiresAt }, onLeave) {
  return [
    h('span', { class: 'tier' }, tierWords(tier)),
    h('span', { title: wallet }, shortHex(wallet)),
    h('span', { class: 'quiet' }, 'ends ', ago(expiresAt)),
    h('button', { type: 'button', onclick: onLeave }, 'Log out'),
  ];
}

/**
 * Clears the session when its token expires, whatever the page is doing.
 * @param {Page['session']} session
 * @param {() => void} onEnd
 */
function endWithTheToken(session, onEnd) {
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let timer;
  /** @param {LoggedIn | null} current */
  const arm = (current) => {
    clearTimeout(timer);
    if (current === null) return;
    timer = setTimeout(
      () => {
        onEnd();
        session.set(null);
      },
      Math.max(0, Date.parse(current.expiresAt) - Date.now()),
    );
  };
  session.onChange(arm);
  arm(session.current);
}
