import { type DemoWalletName, logInDemoWallet, readDemoFile } from './demo-login.ts';

/** Renewed this long before expiry, since a call may take half a minute. */
const RENEWAL_MARGIN_MS = 120_000;

export interface DemoTokenOptions {
  wallet: DemoWalletName;
  dataDir: string;
  url: string;
  now(): number;
}

export function createDemoTokenCache({ wallet, dataDir, url, now }: DemoTokenOptions): { getToken(): Promise<string>; forget(): void } {
  let session: Promise<{ token: string; goodUntilMs: number }> | undefined;

  async function startSession() {
    const { token, expiresInSeconds: seconds } = await logInDemoWallet(await readDemoFile(dataDir), wallet, url);
    return { token, goodUntilMs: now() + seconds * 1_000 - RENEWAL_MARGIN_MS };
  }
  /** Concurrent calls share a login: a second one in the same millisecond would sign the same message. */
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
      // A concurrent call may have started a login meanwhile.
      return (await (session === found || session === undefined ? logInOnce() : session)).token;
    },
    forget() {
      session = undefined;
    },
  };
}
