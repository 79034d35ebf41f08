import type { Hex } from 'viem';
import { privateKeyToAccount } from 'viem/accounts';
import type { OpenedSession } from '../../../src/auth/auth.ts';
import { formatLoginMessage } from '../../../src/auth/login-message.ts';
import type { TestService } from '../service/service.ts';

export type DemoWallet = 'basic' | 'premium' | 'poor' | 'buyer';

type Loggable = Pick<TestService, 'infrastructure' | 'http'>;

/** The demonstration wallets of a service, as accounts that sign. */
export function demoWallets({ infrastructure }: Pick<TestService, 'infrastructure'>) {
  const accountOf = (name: DemoWallet) => privateKeyToAccount(infrastructure.demo!.wallets[name]!.privateKey);
  return { basic: accountOf('basic'), premium: accountOf('premium'), poor: accountOf('poor'), buyer: accountOf('buyer') };
}

/** The body of a login, signed. Each signature works once: a further one at the same time takes another `timestamp`. */
export async function signedLogin(account: ReturnType<typeof privateKeyToAccount>, timestamp: number) {
  const wallet = account.address;
  const signature: Hex = await account.signMessage({ message: formatLoginMessage(wallet, timestamp) });
  return { wallet, signature, timestamp };
}

let logins = 0;

/** Logs a demonstration wallet in without HTTP. */
export async function login(service: Loggable, wallet: 'basic' | 'premium'): Promise<OpenedSession> {
  logins += 1;
  // A time of its own for each, well within the window.
  const timestamp = service.http.now().getTime() - 60_000 + logins;
  return service.http.access.logIn(await signedLogin(demoWallets(service)[wallet], timestamp));
}

/** A fresh access token of a demonstration wallet. */
export async function loginToken(service: Loggable, wallet: 'basic' | 'premium'): Promise<string> {
  return (await login(service, wallet)).token;
}

/** Headers of a caller of a tier. */
export async function asTier(service: Loggable, tier: 'public' | 'basic' | 'premium'): Promise<Record<string, string>> {
  return tier === 'public' ? {} : { Authorization: `Bearer ${await loginToken(service, tier)}` };
}
