import { logInWallet, type WalletSession } from '../../../auth/login/login-client.ts';
import type { CliContext } from '../context.ts';
import { type KeyOptions, loadAccount } from './keys.ts';

/** A token is renewed before less than this remains of it. */
const MIN_REMAINING_MS = 60_000;

/** Tokens of a long-lived command. */
export interface LoginTokenSource {
  getToken(): Promise<string>;
  /** Logs in anew. */
  renewToken(): Promise<string>;
  /** True if there was a token. */
  forgetToken(): boolean;
}

type LoginOptions = KeyOptions & { url: string; signal: AbortSignal };

/** Logs in with the key of the options or the environment whenever a token is needed. @throws UsageError as `loadAccount` */
export async function createLoginTokenSource(context: CliContext, { url, signal, ...key }: LoginOptions): Promise<LoginTokenSource> {
  const account = await loadAccount(key, context);
  let session: WalletSession | null = null;
  let pending: Promise<string> | null = null;
  const logIn = async () => {
    session = await logInWallet(account, url, { timestamp: context.now().getTime(), signal });
    return session.token;
  };
  // Shared by concurrent calls: a signature, which depends on the millisecond, works once.
  const renewToken = () => {
    pending ??= logIn().finally(() => {
      pending = null;
    });
    return pending;
  };
  return {
    getToken: async () =>
      session !== null && Date.parse(session.expiresAt) - context.now().getTime() > MIN_REMAINING_MS ? session.token : renewToken(),
    renewToken,
    forgetToken: () => {
      const had = session !== null;
      session = null;
      return had;
    },
  };
}
