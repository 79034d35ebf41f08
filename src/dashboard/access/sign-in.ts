import { h, replaceChildren } from '../lib/dom.ts';
import { ApiProblem, requestApi } from '../state/api.ts';
import type { ApiResponses } from '../state/responses.ts';
import { createSession, type LoginSession } from '../state/session.ts';
import { isSameAccount, LoginError, logInAsDemo, logInWith } from '../unlock/login.ts';
import { createDemoSigner, createWalletSigner, type Signer } from '../unlock/signers.ts';
import { STAGE_MESSAGES } from '../unlock/unlock-dialog.ts';
import { discoverWallets, type Wallet } from '../unlock/wallets.ts';
import { type AccessOwner, createSessionOwner, createSigningOwner } from './owner.ts';

const DEMO_ROLES = ['basic', 'premium'];

/** Wallets to choose from; a session of this tab is used at once. @param onOwner called with the wallet that signed in */
export function mountSignIn(place: HTMLElement, onOwner: (owner: AccessOwner) => void) {
  const session = createSession();
  const [list, demo, status] = [h('div', {}), h('div', {}), h('p', { role: 'status' })];
  const wallets = discoverWallets(drawWallets);

  function say(message: string, isProblem = false) {
    status.textContent = message;
    status.classList.toggle('bad', isProblem);
  }

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
  const useWallet = ({ name, provider }: Wallet) =>
    void attempt(async () => {
      try {
        const current = await logInWith(provider, (stage) => say(STAGE_MESSAGES[stage](name)));
        return keep(current, createWalletSigner(provider, current.wallet));
      } catch (error) {
        if (!isBelowBasic(error)) throw error;
        const signer = createWalletSigner(provider);
        return createSigningOwner(signer, await getChecksummed(await signer.getAccount()));
      }
    });

  function drawWallets() {
    const buttons = wallets.all.map((wallet) =>
      h('li', {}, h('button', { type: 'button', onclick: () => useWallet(wallet) }, wallet.name)),
    );
    replaceChildren(
      list,
      buttons.length === 0
        ? h('p', { class: 'notice' }, 'No wallet was found in this browser.')
        : h('ul', { class: 'wallets', 'aria-label': 'Wallets of this browser' }, buttons),
    );
  }

  async function drawDemo() {
    const { demo: isDemo } = await requestApi<ApiResponses['info']>('api/svc/info').catch(noInfo);
    if (!isDemo) return;
    const buttons = DEMO_ROLES.map((role) =>
      h(
        'button',
        { type: 'button', onclick: () => void attempt(async () => keep(await logInAsDemo(role), createDemoSigner(role))) },
        `Demo wallet: ${role}`,
      ),
    );
    replaceChildren(demo, h('div', { class: 'demo', role: 'group', 'aria-label': 'Demo wallets of a local chain' }, buttons));
  }

  const { current } = session;
  if (current !== null) {
    wallets.ask();
    return onOwner(createSessionOwner(current, () => findSigner(wallets.all, current.wallet)));
  }
  replaceChildren(
    place,
    h('p', {}, 'Sign in with the wallet that holds the gate tokens: a signature, free, which moves no funds.'),
    list,
    demo,
    status,
  );
  drawWallets();
  wallets.ask();
  void drawDemo();
}

/** The demo wallets are not offered where the service does not answer. */
function noInfo(error: unknown): Pick<ApiResponses['info'], 'demo'> {
  if (!(error instanceof ApiProblem)) throw error;
  return { demo: null };
}

function isBelowBasic(error: unknown): boolean {
  return error instanceof LoginError && error.cause instanceof ApiProblem && error.cause.code === 'TIER_REQUIRED';
}

/** Checksummed, as the service reports it. */
async function getChecksummed(account: string): Promise<string> {
  return (await requestApi<{ wallet: string }>(`api/svc/verify/${account}`)).wallet;
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
