import { type DemoWallet, logIn, readDemoFile } from './demo-login.ts';

/** A token that is good for less than this is not used any more: a call may take half a minute. */
const MARGIN_MS = 120_000;

export interface DemoTokenOptions {
  wallet: DemoWallet;
  dataDir: string;
  url: string;
  now(): number;
}

export interface DemoToken {
  /** One that holds for the next call; logs in where there is none. */
  token(): Promise<string>;
  /** Has the next call log in anew. */
  forget(): void;
}

/** The token of a demonstration wallet, renewed before it expires. */
export function createDemoToken({ wallet, dataDir, url, now }: DemoTokenOptions): DemoToken {
  let session: Promise<{ token: string; goodUntilMs: number }> | undefined;

  async function begin() {
    const { token, seconds } = await logIn(await readDemoFile(dataDir), wallet, url);
    return { token, goodUntilMs: now() + seconds * 1_000 - MARGIN_MS };
  }
  /** Calls that come at once share a login: a wallet signs one message in a millisecond. */
  function logInOnce() {
    const begun = begin();
    session = begun;
    return begun;
  }

  return {
    async token() {
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
