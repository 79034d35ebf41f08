import type { PrivateKeyAccount } from 'viem/accounts';
import { ask, post } from './service.ts';

/** What a login gets. */
export interface Session {
  token: string;
  tier: 'basic' | 'premium';
  /** ISO 8601; a token holds for 30 minutes. */
  expiresAt: string;
}

/** A token for a signature (EIP-191) of a wallet that holds enough gate tokens. @throws Error that says what is missing. */
export async function logIn(account: PrivateKeyAccount): Promise<Session> {
  const timestamp = Date.now();
  const wallet = account.address;
  const signature = await account.signMessage({ message: `Verify svc balance: ${wallet}:${timestamp}` });
  return ask<Session>('/api/svc/oracle/verify', post({ wallet, signature, timestamp }));
}

/** The header that gated paths ask for. */
export function bearer({ token }: Session): Record<string, string> {
  return { authorization: `Bearer ${token}` };
}
