import type { Db } from 'mongodb';
import { getAddress } from 'viem';
import { Access } from '../access/access.ts';
import type { Chain } from '../chain/client.ts';
import { createSecretBox } from '../secret-box.ts';

export interface AccessComposition {
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
export async function composeAccess({ db, chain, encryptionSecret, agentId, publicUrl, now }: AccessComposition): Promise<Access> {
  const { host, origin } = new URL(publicUrl);
  const access = new Access({
    db,
    chain,
    secretBox: createSecretBox(encryptionSecret),
    issuer: `eip155:${chain.chainId}:${getAddress(chain.addresses.identityRegistry)}:${agentId}`,
    siwe: { domain: host, origin, chainId: chain.chainId },
    now,
  });
  await access.keys.signing();
  return access;
}
