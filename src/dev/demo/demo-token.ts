import { type DemoWalletName, logInDemoWallet, readDemoFile } from './demo-login.ts';

/** A token that is good for less than this is not used any more: a call may take half a minute. */
const RENEWAL_MARGIN_MS = 120_000;

export interface DemoTokenOptions {
  wallet: DemoWalletName;
  dataDir: string;
  url: string;
  now(): number;
}

export interface DemoTokenCache {
  /** One that holds for the next call; logs in where there is none. */
  getToken(): Promise<string>;
  /** Has the next call log in anew. */
  forget(): void;
}

/** The token of a demonstration wallet, renewed before it expires. */
export function createDemoTokenCache({ wallet, dataDir, url, now }: DemoTokenOptions): DemoTokenCache {
  let session: Promise<{ token: string; goodUntilMs: number }> | undefined;

  async function startSession() {
    const { token, expiresInSeconds: seconds } = await logInDemoWallet(await readDemoFile(dataDir), wallet, url);
    return { token, goodUntilMs: now() + seconds * 1_000 - RENEWAL_MARGIN_MS };
  }
  /** Calls that come at once share a login: a wallet signs one message in a millisecond. */
  function logInOnce() {
    const starting = startSession();
    session = starting;
    return starting;
  }

  return {
    async getToken() {
      const found = session;
      const known = await found?.catch(() => undefined);
      if (known !== undefined && known.goodUntilMs > now()) return known.token;
      // Somebody else may have begun another one meanwhile.
      return (await (session === found || session === undefined ? logInOnce() : session)).token;
    },
    forget() {
      session = undefined;
    },
  };
}
