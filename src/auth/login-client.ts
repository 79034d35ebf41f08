import type { LocalAccount } from 'viem';
import { z } from 'zod';
import { OracleError } from '../errors.ts';
import { fetchServiceJson } from '../platform/service-client.ts';
import { formatLoginMessage } from './login-message.ts';

const SESSION_RESPONSE = z.object({
  token: z.string().max(4_096),
  tier: z.enum(['basic', 'premium']),
  wallet: z.string().regex(/^0x[0-9a-fA-F]{40}$/),
  expiresAt: z.iso.datetime(),
  expires_in: z.number(),
});

/** Response of a login (interface, section 2.10). */
export type WalletSession = z.infer<typeof SESSION_RESPONSE>;

const LOGIN_TIMEOUT_MS = 10_000;

/** Logs a wallet in by a signature (interface, section 4.2). @throws OracleError of the service, and as `fetchServiceJson` */
export async function logInWallet(
  account: LocalAccount,
  url: string,
  { timestamp = Date.now(), signal }: { timestamp?: number; signal?: AbortSignal } = {},
): Promise<WalletSession> {
  const wallet = account.address;
  const signature = await account.signMessage({ message: formatLoginMessage(wallet, timestamp) });
  const answer = await fetchServiceJson({
    url,
    path: '/api/svc/oracle/verify',
    token: undefined,
    body: { wallet, signature, timestamp },
    deadlineMs: LOGIN_TIMEOUT_MS,
    stop: signal,
  });
  const { success, data } = SESSION_RESPONSE.safeParse(answer);
  if (success) return data;
  throw new OracleError('CONFIG_INVALID', `What answers at ${url} is not this service: it gives no token`, {
    field: 'url',
    suggestedAction: 'Name the address of the service with --url.',
  });
}
