import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { createRenewal } from '../../../../src/page/browser/pages/dashboard.ts';
import { attemptLogin, discoverWallets, LoginError, logInWith, type Wallet, watchWallet } from '../../../../src/page/browser/unlock.ts';
import { emptyStorage, refusal, stubPage } from './page-globals.ts';

describe('login', () => {
  const [MINE, OTHER] = [`0x${'aB'.repeat(20)}`, `0x${'cd'.repeat(20)}`];
  const inAs = (token: string, wallet = MINE) => ({ token, wallet, tier: 'basic', expiresAt: new Date(Date.now() + 60_000).toISOString() });

  /** Tokens of the sessions that were ended at the service. */
  let ended: (string | null)[];
  /** Wallet of the next session. */
  let begins: string;
  beforeEach(() => {
    ended = [];
    begins = MINE;
    stubPage((path, authorization) => {
      if (path === 'api/svc/oracle/verify') return inAs('next', begins);
      if (path === 'api/svc/oracle/session') ended.push(authorization);
      return {};
    });
  });
  afterEach(() => vi.unstubAllGlobals());

  /** A wallet with these accounts that signs on demand. */
  function walletOf(accounts: unknown, maySign = Promise.resolve()) {
    const signedAs: unknown[] = [];
    const request = async ({ method, params = [] }: { method: string; params?: unknown[] }) => {
      if (method === 'eth_requestAccounts') return accounts;
      signedAs.push(params[1]);
      await maySign;
      return '0x00';
    };
    const used: Wallet = { id: 'one', rdns: 'one.example', name: 'One', icon: null, provider: { request } };
    return { used, signedAs };
  }

  describe('account selection at login', () => {
    const signers = async (accounts: unknown, preferred?: string) => {
      const { used, signedAs } = walletOf(accounts);
      await logInWith(used.provider, () => {}, preferred);
      return signedAs;
    };

    it('uses the preferred account regardless of case, otherwise the first', async () => {
      expect(await signers([OTHER, MINE.toLowerCase()], MINE)).toEqual([MINE.toLowerCase()]);
      expect(await signers([OTHER], MINE)).toEqual([OTHER]);
      expect(await signers([OTHER, MINE])).toEqual([OTHER]);
    });

    it.each([[[]], [[null]], [null], ['a text'], [['undefined']]])('rejects %j as accounts', async (accounts) => {
      await expect(signers(accounts)).rejects.toThrow(LoginError);
    });
  });

  describe('a cancelled login', () => {
    const late = (more: object = {}) => {
      const [say, onDone] = [vi.fn(), vi.fn()];
      const login = async (sayStage: (words: string) => void) => {
        sayStage('At work');
        return inAs('late');
      };
      return { options: { login, counts: () => false, say, onDone, ...more }, say, onDone };
    };

    it('reports nothing and ends its session', async () => {
      const { options, say, onDone } = late();
      await attemptLogin(options);
      expect(ended).toEqual(['Bearer late']);
      expect([say.mock.calls, onDone.mock.calls]).toEqual([[], []]);
    });

    it('keeps the session of a token issued elsewhere', async () => {
      await attemptLogin(late({ isByToken: true }).options);
      expect(ended).toEqual([]);
    });

    it('finishes when the service cannot be reached', async () => {
      stubPage(() => refusal(503, 'UNAVAILABLE'));
      const { options, say } = late();
      await attemptLogin(options);
      expect(say).not.toHaveBeenCalled();
    });

    it('reports its failure only when it was not cancelled', async () => {
      const login = () => Promise.reject(new LoginError('Declined'));
      const { options, say } = late({ login });
      await attemptLogin(options);
      expect(say).not.toHaveBeenCalled();
      await attemptLogin({ ...options, counts: () => true });
      expect(say).toHaveBeenCalledExactlyOnceWith('Declined', true);
    });
  });

  describe('session renewal', () => {
    function inside(wallet: Pick<ReturnType<typeof walletOf>, 'used'>) {
      const session = createSession(emptyStorage());
      session.set(inAs('first'));
      const said: string[] = [];
      const renew = createRenewal({ session, wallets: wallet, say: (words) => said.push(words), openDialog: () => {} });
      return { session, said, renew };
    }

    it('signs with the account of the session and reports success', async () => {
      const wallet = walletOf([OTHER, MINE.toLowerCase()]);
      const { session, said, renew } = inside(wallet);
      await renew();
      expect(wallet.signedAs).toEqual([MINE.toLowerCase()]);
      expect(session.current?.token).toBe('next');
      expect(said.at(-1)).toBe('Renewed.');
      expect(ended).toEqual([]);
    });

    it('reports a login when the wallet offers only another account', async () => {
      begins = OTHER;
      const { session, said, renew } = inside(walletOf([OTHER]));
      await renew();
      expect(session.current?.wallet).toBe(OTHER);
      expect(said.at(-1)).toBe('Logged in.');
    });

    it('keeps the reader logged out after a logout during the renewal', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const wallet = walletOf([MINE], promise);
      const { session, said, renew } = inside(wallet);
      const renewed = renew();
      await vi.waitFor(() => expect(wallet.signedAs).toHaveLength(1));
      session.set(null);
      said.push('Logged out.');
      resolve();
      await renewed;
      expect(said.at(-1)).toBe('Logged out.');
      expect(session.current).toBeNull();
      expect(ended).toEqual(['Bearer next']);
    });

    it('succeeds when the session expires while the wallet is open', async () => {
      const { promise, resolve } = Promise.withResolvers<void>();
      const { session, renew } = inside(walletOf([MINE], promise));
      const renewed = renew();
      session.end();
      resolve();
      await renewed;
      expect(session.current?.token).toBe('next');
      expect(ended).toEqual([]);
    });
  });
});

describe('wallet watch', () => {
  const ACCOUNT = `0x${'ab'.repeat(20)}`;
  let storage: Storage;
  let page: EventTarget;

  beforeEach(() => {
    vi.useFakeTimers();
    storage = emptyStorage();
    load();
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  /** Simulates a reload, which forgets announced wallets. */
  function load(): void {
    page = new EventTarget();
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('dispatchEvent', page.dispatchEvent.bind(page));
  }

  function providerOf() {
    const heard: ((accounts: unknown) => void)[] = [];
    const on = (_event: string, listener: (accounts: unknown) => void) => void heard.push(listener);
    return {
      provider: { request: async () => [], on },
      turnTo: (accounts: unknown) => heard.forEach((listener) => void listener(accounts)),
    };
  }

  function announce(provider: object, rdns: string): void {
    const info = { uuid: `uuid of ${rdns}`, name: rdns, icon: null, rdns };
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider } }));
  }

  it('watches an injected wallet that announces itself after a reload', () => {
    const [{ provider, turnTo }, other] = [providerOf(), providerOf()];
    vi.stubGlobal('ethereum', provider);
    const first = watchWallet({ onAccounts: () => {}, storage });
    vi.advanceTimersByTime(500);
    first.use(first.all[0]!);
    load();
    const onAccounts = vi.fn();
    const watch = watchWallet({ onAccounts, storage });
    announce(other.provider, 'other.example');
    expect(watch.used).toBeNull();
    announce(provider, 'late.example');
    expect(watch.used?.rdns).toBe('late.example');
    turnTo([ACCOUNT.toUpperCase()]);
    expect(onAccounts).toHaveBeenCalledExactlyOnceWith([ACCOUNT]);
  });

  it('does not confuse another injected wallet with the one that has logged in', () => {
    const { provider } = providerOf();
    vi.stubGlobal('ethereum', provider);
    storage.setItem('oracle-wallet', 'mine.example');
    const watch = watchWallet({ onAccounts: () => {}, storage });
    announce(provider, 'other.example');
    expect(watch.used).toBeNull();
  });
});

describe('wallets', () => {
  const injected = { request: async () => [] };
  let page: EventTarget;

  beforeEach(() => {
    vi.useFakeTimers();
    page = new EventTarget();
    vi.stubGlobal('addEventListener', page.addEventListener.bind(page));
    vi.stubGlobal('dispatchEvent', page.dispatchEvent.bind(page));
    vi.stubGlobal('ethereum', injected);
  });
  afterEach(() => {
    vi.useRealTimers();
    vi.unstubAllGlobals();
  });

  function announce(name: string): void {
    const info = { uuid: `uuid of ${name}`, name, icon: null, rdns: `${name}.example` };
    page.dispatchEvent(new CustomEvent('eip6963:announceProvider', { detail: { info, provider: { request: async () => [] } } }));
  }

  it('offers the injected wallet when none has announced itself in time', () => {
    const onChange = vi.fn();
    const found = discoverWallets(onChange);
    vi.advanceTimersByTime(499);
    expect(found.all).toEqual([]);
    vi.advanceTimersByTime(1);
    expect(found.all).toEqual([{ id: 'injected', rdns: 'injected', name: 'Browser wallet', icon: null, provider: injected }]);
    expect(onChange).toHaveBeenCalledOnce();
  });

  it('replaces the injected wallet by an announced one at any time', () => {
    const early = discoverWallets(() => {});
    announce('early');
    vi.advanceTimersByTime(1_000);
    expect(early.all.map(({ name }) => name)).toEqual(['early']);
    const late = discoverWallets(() => {});
    vi.advanceTimersByTime(1_000);
    announce('late');
    expect(late.all.map(({ name }) => name)).toEqual(['late']);
  });

  it.each([
    ['that it is there', () => page.dispatchEvent(new Event('ethereum#initialized'))],
    ['nothing, and is found when the reader looks for wallets', (ask: () => void) => ask()],
  ])('offers a wallet that is injected late and dispatches %s', (_, come) => {
    vi.stubGlobal('ethereum', undefined);
    const onChange = vi.fn();
    const found = discoverWallets(onChange);
    vi.advanceTimersByTime(1_000);
    come(found.ask);
    expect(found.all).toEqual([]);
    vi.stubGlobal('ethereum', injected);
    come(found.ask);
    come(found.ask);
    expect(found.all.map(({ id }) => id)).toEqual(['injected']);
    expect(onChange).toHaveBeenCalledOnce();
  });

  it('waits for announcements before offering the injected wallet', () => {
    const found = discoverWallets(() => {});
    found.ask();
    page.dispatchEvent(new Event('ethereum#initialized'));
    expect(found.all).toEqual([]);
  });

  it.each([undefined, null, 'a text', {}, { request: 'no function' }])('does not offer %j as a wallet', (ethereum) => {
    vi.stubGlobal('ethereum', ethereum);
    const found = discoverWallets(() => {});
    vi.advanceTimersByTime(1_000);
    expect(found.all).toEqual([]);
  });
});
