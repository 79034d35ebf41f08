import type { LocalAccount } from 'viem';
import { z } from 'zod';
import { loginMessage } from './access/login-message.ts';
import { askService } from './ask-service.ts';
import { OracleError } from './errors.ts';

const SESSION = z.object({
  token: z.string().max(4_096),
  tier: z.enum(['basic', 'premium']),
  wallet: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  expiresAt: z.iso.datetime(),
  expires_in: z.number(),
});

/** What a login answers (interface, section 2.10). */
export type WalletSession = z.infer<typeof SESSION>;

const PATIENCE_MS = 10_000;

interface LoginOptions {
  /** Of the signed message; default: now. */
  timestamp?: number;
  /** Ends it. */
  signal?: AbortSignal;
}

/** Logs a wallet in by a signature (interface, section 4.2). @throws OracleError in the words of the service, and as `askService` */
export async function logInWallet(account: LocalAccount, url: string, options: LoginOptions = {}): Promise<WalletSession> {
  const { timestamp = Date.now(), signal: stop } = options;
  const wallet = account.address;
  const signature = await account.signMessage({ message: loginMessage(wallet, timestamp) });
  const body = { wallet, signature, timestamp };
  const answer = await askService({ url, path: '/api/svc/oracle/verify', token: undefined, body, deadlineMs: PATIENCE_MS, stop });
  const { success, data } = SESSION.safeParse(answer);
  if (success) return data;
  throw new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service: it gives no token`, {
    field: 'url',
    suggestedAction: 'Name the address of the service with --url.',
  });
}
