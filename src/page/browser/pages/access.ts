import { el } from '../../markup.ts';
import { renderTable } from '../../table.ts';
import { ApiProblem, createSession, type LoginSession, requestApi } from '../api.ts';
import { byId, copyText, createSay, formatTier, formatUtcTime, h, mountTheme, replaceChildren, shortenHex } from '../dom.ts';
import type { AccessReply, ApiKeyReply, ApiResponses } from '../responses.ts';
import {
  createDemoSigner,
  createWalletSigner,
  discoverWallets,
  isSameAccount,
  LoginError,
  logInAsDemo,
  logInByWallet,
  renderWallets,
  type Signer,
  type Wallet,
} from '../unlock.ts';

type Entry = AccessReply['access'][number];

const KINDS = { key: 'API key', application: 'Application' } as const;

/** What the wallet has granted, each with a button that revokes it. */
function createAccessList(owner: AccessOwner) {
  const [table, status] = [h('div', {}), h('p', { role: 'status' })];
  const confirmation = createConfirmation();
  const say = createSay(status);

  async function refresh() {
    const { access } = await owner.list();
    replaceChildren(table, access.length === 0 ? el('p', {}, 'This wallet has granted no access.') : renderEntries(access, revoke));
  }

  async function revoke(entry: Entry) {
    if (!(await confirmation.ask(entry))) return;
    say('Revoking…');
    try {
      await owner.revoke(entry.id);
      await refresh();
      say(`${entry.name}, made ${formatUtcTime(entry.createdAt)}: revoked.`);
    } catch (error) {
      say(formatAccessProblem(error), true);
    }
  }

  return {
    element: h('div', {}, table, status, confirmation.element),
    /** Shows a failure in place of the list. */
    async show() {
      try {
        await refresh();
      } catch (error) {
        say(formatAccessProblem(error), true);
      }
    },
  };
}

function renderEntries(entries: readonly Entry[], onRevoke: (entry: Entry) => Promise<void>) {
  const revokeButton = (entry: Entry) => {
    const label = { 'aria-label': `Revoke ${entry.name}`, 'aria-haspopup': 'dialog' };
    return el('button', { type: 'button', ...label, onclick: () => void onRevoke(entry) }, 'Revoke');
  };
  return renderTable({
    caption: 'Access that this wallet has granted',
    rows: entries,
    columns: [
      { heading: 'Name', cell: ({ name }) => name },
      // Beside the name, so that it is in sight on a phone.
      { heading: 'Revoke', cell: revokeButton },
      { heading: 'Kind', cell: ({ kind }) => KINDS[kind] },
      { heading: 'Tier', cell: ({ tier }) => formatTier(tier) },
      { heading: 'Made', cell: ({ createdAt }) => formatUtcTime(createdAt) },
      { heading: 'Last used', cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : formatUtcTime(lastUsedAt)) },
      { heading: 'Ends', cell: ({ expiresAt }) => (expiresAt === null ? 'when you revoke it' : formatUtcTime(expiresAt)) },
    ],
  });
}

/** A dialog that asks before access is revoked. */
function createConfirmation() {
  const text = h('p', {});
  const close = (answer: string) => () => element.close(answer);
  const element = h('dialog', { 'aria-labelledby': 'revoke-title' }, [
    el('h2', { id: 'revoke-title' }, 'Revoke this access?'),
    text,
    h('div', { class: 'access-choice' }, [
      el('button', { type: 'button', class: 'primary', onclick: close('revoke') }, 'Revoke access'),
      el('button', { type: 'button', onclick: close('keep') }, 'Keep it'),
    ]),
  ]);
  return {
    element,
    ask({ name, kind, createdAt }: Entry): Promise<boolean> {
      text.textContent = `${KINDS[kind]}: ${name}, made ${formatUtcTime(createdAt)}. It is rejected from then on. This cannot be undone.`;
      element.returnValue = 'keep';
      element.showModal();
      return new Promise((resolve) => element.addEventListener('close', () => resolve(element.returnValue === 'revoke'), { once: true }));
    },
  };
}

const PATHS = { access: 'api/svc/oracle/access', keys: 'api/svc/oracle/keys' } as const;

interface WantedKey {
  label: string;
  tier: string;
  expiresInDays?: number;
}

/** A wallet that manages its access. @throws {ApiProblem} @throws {LoginError} @throws errors of the wallet's provider */
interface AccessOwner {
  wallet: string;
  /** Absent for a wallet without gate tokens, which can list and end access alone. */
  makeKey?(key: WantedKey): Promise<ApiKeyReply>;
  list(): Promise<AccessReply>;
  revoke(id: string): Promise<unknown>;
}

/** A session lists and ends access; a key needs a signature for it alone. @param findSigner of the wallet of the session */
function createSessionOwner({ wallet, token }: LoginSession, findSigner: () => Promise<Signer>): AccessOwner {
  return {
    wallet,
    makeKey: async (key) => signAct(await findSigner(), wallet, PATHS.keys, { ...key }),
    list: () => requestApi(PATHS.access, { token }),
    revoke: (id) => requestApi(`${PATHS.access}/${encodeURIComponent(id)}`, { method: 'DELETE', token }),
  };
}

/** For a wallet whose balance opens no session: each request is signed. */
function createSigningOwner(signer: Signer, wallet: string): AccessOwner {
  return {
    wallet,
    list: () => signAct(signer, wallet, PATHS.access, {}),
    revoke: (id) => signAct(signer, wallet, PATHS.access, { revoke: id }),
  };
}

/** The service composes the text of an act, and performs it when the text comes back signed. */
async function signAct<Answer>(signer: Signer, wallet: string, path: string, act: object): Promise<Answer> {
  const { message } = await requestApi<{ message: string }>(`${path}/message`, { method: 'POST', body: { wallet, ...act } });
  return requestApi<Answer>(path, { method: 'POST', body: { message, signature: await signer.sign(message) } });
}

/** What to show for an error of an owner's request. */
function formatAccessProblem(error: unknown): string {
  if (error instanceof LoginError) return error.message;
  if (error instanceof ApiProblem) return `${error.message}. ${error.suggestedAction ?? ''}`.trim();
  return (error as { code?: number }).code === 4001
    ? 'You declined in the wallet. Nothing was changed.'
    : 'The wallet did not sign. Nothing was changed.';
}

/** Wallets to choose from; a session of this tab is used at once. @param onOwner called with the wallet that signed in */
function mountSignIn(place: HTMLElement, onOwner: (owner: AccessOwner) => void) {
  const session = createSession();
  const [list, demo, status] = [h('div', {}), h('div', {}), h('p', { role: 'status' })];
  const wallets = discoverWallets(drawWallets);
  const say = createSay(status);

  async function attempt(logIn: () => Promise<AccessOwner>) {
    say('Contacting the service…');
    try {
      onOwner(await logIn());
    } catch (error) {
      if (!(error instanceof LoginError)) throw error;
      say(error.message, true);
    }
  }

  const keep = (current: LoginSession, signer: Signer) => {
    session.set(current);
    return createSessionOwner(current, async () => signer);
  };
  const useWallet = (wallet: Wallet) =>
    void attempt(async () => {
      try {
        const current = await logInByWallet(wallet, say);
        return keep(current, createWalletSigner(wallet.provider, current.wallet));
      } catch (error) {
        const isBelowBasic = error instanceof LoginError && error.cause instanceof ApiProblem && error.cause.code === 'TIER_REQUIRED';
        if (!isBelowBasic) throw error;
        const signer = createWalletSigner(wallet.provider);
        // Checksummed, as the service reports it.
        const answer = await requestApi<{ wallet: string }>(`api/svc/verify/${await signer.getAccount()}`);
        return createSigningOwner(signer, answer.wallet);
      }
    });

  function drawWallets() {
    const renderButton = (wallet: Wallet) => el('button', { type: 'button', onclick: () => useWallet(wallet) }, wallet.name);
    replaceChildren(list, renderWallets(wallets.all, 'No wallet was found in this browser.', renderButton));
  }

  async function drawDemo() {
    const { demo: isDemo } = await requestApi<ApiResponses['info']>('api/svc/info').catch(noInfo);
    if (!isDemo) return;
    const buttons = ['basic', 'premium'].map((role) => {
      const onclick = () => void attempt(async () => keep(await logInAsDemo(role), createDemoSigner(role)));
      return el('button', { type: 'button', onclick }, `Demo wallet: ${role}`);
    });
    replaceChildren(demo, el('div', { class: 'demo', role: 'group', 'aria-label': 'Demo wallets of a local chain' }, buttons));
  }

  const { current } = session;
  if (current !== null) {
    wallets.ask();
    return onOwner(createSessionOwner(current, () => findSigner(wallets.all, current.wallet)));
  }
  const introduction = el('p', {}, 'Sign in with the wallet that has the tier: a signature, which moves no funds.');
  replaceChildren(place, introduction, list, demo, status);
  drawWallets();
  wallets.ask();
  void drawDemo();
}

/** The demo wallets are not offered where the service does not answer. */
function noInfo(error: unknown): Pick<ApiResponses['info'], 'demo'> {
  if (!(error instanceof ApiProblem)) throw error;
  return { demo: null };
}

/** For a session that was begun elsewhere in this tab. @throws {LoginError} where nothing here signs for its wallet */
async function findSigner(wallets: readonly Wallet[], wallet: string): Promise<Signer> {
  for (const { provider } of wallets) {
    const accounts = await provider.request({ method: 'eth_accounts' }).catch(() => []);
    if (Array.isArray(accounts) && accounts.some((account) => isSameAccount(account, wallet))) return createWalletSigner(provider, wallet);
  }
  const { demo } = await requestApi<ApiResponses['info']>('api/svc/info').catch(noInfo);
  const known = demo?.wallets.find(({ address }) => isSameAccount(address, wallet));
  if (known !== undefined) return createDemoSigner(known.role);
  throw new LoginError('No wallet of this browser signs for this account. Open this page in the browser that has it, and connect it.');
}

/** Makes a key and shows it once. @param onMade called after each */
function createKeyForm(makeKey: (key: WantedKey) => Promise<{ key: string }>, onMade: () => Promise<void>) {
  const [status, made] = [h('p', { role: 'status' }), h('div', { 'aria-live': 'polite' })];
  const name = h('input', { name: 'label', required: true, maxlength: 60, autocomplete: 'off' });
  const say = createSay(status);
  const onsubmit = (event: Event) => {
    event.preventDefault();
    void make(event.currentTarget as HTMLFormElement);
  };
  const tiers = ['basic', 'premium'].map((tier) => el('option', { value: tier }, formatTier(tier)));
  const ends = Object.entries({ 30: '30 days', 90: '90 days', 365: 'a year', '': 'when I revoke it' }).map(([days, label]) =>
    el('option', { value: days, selected: days === '90' }, label),
  );
  const form = h('form', { class: 'access-form', onsubmit }, [
    h('label', {}, 'Name', name),
    el('label', {}, 'Tier', el('select', { name: 'tier' }, tiers)),
    el('label', {}, 'Ends after', el('select', { name: 'expiresInDays' }, ends)),
    el('button', { type: 'submit', class: 'primary' }, 'Make a key'),
  ]);

  async function make(sent: HTMLFormElement) {
    const { label, tier, expiresInDays } = Object.fromEntries(new FormData(sent)) as Record<string, string>;
    say('Sign in the wallet: the text names the key.');
    try {
      const body = { label: label!.trim(), tier: tier!, ...(expiresInDays === '' ? {} : { expiresInDays: Number(expiresInDays) }) };
      const { key } = await makeKey(body);
      say('');
      sent.reset();
      replaceChildren(made, renderMadeKey(key));
      made.querySelector('input')?.select();
      await onMade();
    } catch (error) {
      say(formatAccessProblem(error), true);
    }
  }

  return h('section', { 'aria-labelledby': 'make-title' }, h('h2', { id: 'make-title' }, 'Make a key for a bot'), form, status, made);
}

function renderMadeKey(key: string) {
  const field = h('input', { id: 'made-key', readonly: true, value: key, spellcheck: 'false', autocomplete: 'off' });
  const copied = h('span', { role: 'status' });
  const copy = async () => {
    field.select();
    copied.textContent = (await copyText(key)) ? 'Copied' : 'Selected: press Ctrl+C or ⌘C';
  };
  const example = `export ORACLE_TOKEN=${key}\ncurl -H "Authorization: Bearer $ORACLE_TOKEN" ${new URL('api/svc/oracle', document.baseURI).href}`;
  return h('div', { class: 'made-key' }, [
    el('p', {}, el('label', { for: 'made-key' }, 'Your key. It is shown this once: store it now.')),
    h('p', { class: 'access-choice' }, field, el('button', { type: 'button', onclick: () => void copy() }, 'Copy'), copied),
    el('pre', { tabindex: 0, 'aria-label': 'Use of the key' }, el('code', {}, example)),
  ]);
}

/** What a wallet has granted, and keys for its bots: a script of its own, so that the dashboard does not load it. */
mountTheme();
byId('script-note').remove();
mountSignIn(byId('access'), showAccess);

function showAccess(owner: AccessOwner) {
  const list = createAccessList(owner);
  const wallet = h('p', {}, 'Wallet ', h('code', { title: owner.wallet }, shortenHex(owner.wallet)));
  const lacksTokens = 'This wallet has no tier for a login. It can see and end what it has granted: each asks for a signature.';
  const form = owner.makeKey ? createKeyForm(owner.makeKey, list.show) : el('p', { class: 'notice' }, lacksTokens);
  replaceChildren(byId('access'), wallet, h('section', { 'aria-label': 'Access' }, list.element), form);
  void list.show();
}
