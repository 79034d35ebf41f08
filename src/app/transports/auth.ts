import type { Db } from 'mongodb';
import { getAddress } from 'viem';
import { AuthService } from '../../auth/auth-service.ts';
import type { Chain } from '../../chain/client.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';

export interface ComposeAuthDeps {
  db: Db;
  chain: Chain;
  encryptionSecret: string;
  /** The agent's id in the ERC-8004 identity registry. */
  agentId: number;
  /** Where callers reach the service. */
  publicUrl: string;
  now(): Date;
}

/**
 * Wallet login and session tokens, with a key to sign them.
 * @throws OracleError CONFIG_INVALID when the keys in the database were sealed under another secret.
 */
export async function composeAuth({ db, chain, encryptionSecret, agentId, publicUrl, now }: ComposeAuthDeps): Promise<AuthService> {
  const { host, origin } = new URL(publicUrl);
  const access = new AuthService({
    db,
    chain,
    secretBox: createSecretBox(encryptionSecret),
    issuer: `eip155:${chain.chainId}:${getAddress(chain.addresses.identityRegistry)}:${agentId}`,
    siwe: { domain: host, origin, chainId: chain.chainId },
    now,
  });
  await access.keys.getSigningKey();
  return access;
}
