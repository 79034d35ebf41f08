import type { LoginSession } from './api.ts';
import { createBuyButton, formatChain, renderAddress } from './buy.ts';
import { createSay, formatTier, h, replaceChildren } from './dom.ts';
import type { ApiResponses } from './responses.ts';
import { attemptLogin, logInByWallet, logInWithToken, renderWalletIcon, type ShowStatus, type Wallet, type WalletWatch } from './unlock.ts';

const SIGNATURE_EXPLANATION =
  'Your wallet signs a line of text, no transaction. The service checks its gate tokens and shows today’s call for 30 minutes.';

/** Login dialog: a wallet of this browser, or an access token. @param options `fallback` gets the focus if the opener is gone */
export function createUnlockDialog(options: {
  wallets: WalletWatch;
  onLoggedIn: (session: LoginSession) => void;
  fallback: HTMLElement;
  /** Null while it is loading. */
  getInfo: () => ApiResponses['info'] | null;
}) {
  const { wallets, onLoggedIn, fallback, getInfo } = options;
  const element = h('dialog', { class: 'unlock', 'aria-labelledby': 'unlock-title' });
  const status = h('p', { class: 'unlock-status', role: 'status' });
  const [list, rule] = [h('div', {}), h('div', { class: 'tier-rule quiet' })];
  const field = h('input', {
    id: 'unlock-token',
    type: 'text',
    autocomplete: 'off',
    spellcheck: 'false',
    maxlength: 2_100,
    required: true,
  });
  const attempts = createLoginAttempts(status, (session, wallet) => {
    element.close();
    if (wallet === null) wallets.forget();
    else wallets.use(wallet);
    onLoggedIn(session);
    if (document.activeElement === document.body) fallback.focus();
  });
  const startWalletLogin = (wallet: Wallet) => void attempts.begin((say) => logInByWallet(wallet, say), wallet);
  const startTokenLogin = () => void attempts.begin(() => logInWithToken(field.value), null);

  const drawList = () => replaceChildren(list, renderWalletList(wallets.all, startWalletLogin));
  wallets.onFound(drawList);
  drawList();
  element.addEventListener('close', () => {
    attempts.void();
    field.value = '';
  });
  const close = h('button', { type: 'button', onclick: () => element.close() }, 'Close');
  element.append(
    h('h2', { id: 'unlock-title' }, 'Unlock with your wallet'),
    h('p', {}, SIGNATURE_EXPLANATION),
    list,
    status,
    rule,
    h('details', {}, h('summary', {}, 'Use a token instead'), createTokenForm(field, startTokenLogin)),
    h('div', { class: 'unlock-end' }, close, ' ', h('a', { href: 'access' }, 'Keys for bots')),
  );
  return {
    element,
    close: () => element.close(),
    open() {
      wallets.ask();
      const info = getInfo();
      if (info !== null) replaceChildren(rule, renderTierRule(info));
      if (!element.open) element.showModal();
    },
  };
}

/** One login at a time: a later one, or closing the dialog, cancels it. */
function createLoginAttempts(status: HTMLElement, onDone: (session: LoginSession, wallet: Wallet | null) => void) {
  let generation = 0;

  async function begin(login: (say: ShowStatus) => Promise<LoginSession>, wallet: Wallet | null) {
    const ownGeneration = ++generation;
    const say = createSay(status);
    say('Contacting the service…');
    const counts = () => ownGeneration === generation;
    await attemptLogin({ login, counts, say, onDone: (session) => onDone(session, wallet), isByToken: wallet === null });
  }

  return {
    begin,
    void() {
      generation += 1;
      status.textContent = '';
    },
  };
}

function renderWalletList(wallets: readonly Wallet[], onChoose: (wallet: Wallet) => void) {
  if (wallets.length === 0) return h('p', { class: 'notice' }, 'No wallet was found in this browser. Install one or use a token.');
  const rows = wallets.map((wallet) =>
    h('li', {}, h('button', { type: 'button', onclick: () => onChoose(wallet) }, renderWalletIcon(wallet), wallet.name)),
  );
  return h('ul', { class: 'wallets', 'aria-label': 'Wallets of this browser' }, rows);
}

function createTokenForm(field: HTMLInputElement, onUse: () => void) {
  const onsubmit = (event: Event) => {
    event.preventDefault();
    onUse();
  };
  return h('form', { class: 'token', onsubmit }, [
    h('label', { for: field.id }, 'Access token'),
    field,
    h('button', { type: 'submit' }, 'Use this token'),
    h('p', { class: 'token-note quiet' }, 'In the folder of the service, ', h('code', {}, 'npm run -s token -- basic'), ' prints one.'),
  ]);
}

/** Which token is needed, how much of it, where the rule is written, and how to read a call without it. */
function renderTierRule({ tiers, contracts, chain }: ApiResponses['info']) {
  const needed = tiers.filter(({ gateTokens }) => gateTokens !== null);
  return [
    h('p', {}, [
      'Gate token ',
      renderAddress(contracts.gateToken, chain),
      ` on ${formatChain(chain)}: `,
      needed.map(({ tier, requirement }) => `${formatTier(tier)} ${requirement.replace(' gate tokens', '')}`).join(', '),
      '. ',
      h('a', { href: 'docs#/access/getWalletTier' }, 'The rule'),
      '.',
    ]),
    h('p', {}, 'Without tokens: ', createBuyButton(), ' or ', h('a', { href: 'docs#/signal/buySignal' }, 'any x402 client'), '.'),
  ];
}
