import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createSession } from '../../../../src/page/browser/api.ts';
import { createRenewal } from '../../../../src/page/browser/pages/dashboard.ts';
import { attemptLogin, LoginError, logInWith, type Wallet } from '../../../../src/page/browser/unlock.ts';
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
