import { type Address, getAddress } from 'viem';
import type { AccessEntry, AccessSource } from '../access/access-entry.ts';
import { endGrant, type OAuthStores } from './provider/provider-adapter.ts';
import type { GrantDoc } from './stores/grant-store.ts';

/** Applications that a wallet has allowed to use its tier. */
export function createApplicationAccess(stores: OAuthStores): AccessSource {
  return {
    list: async (wallet) => (await stores.grants.listLive(getAddress(wallet))).map(toAccessEntry),
    revoke: (wallet: Address, id) => endGrant(stores, id, getAddress(wallet)),
  };
}

function toAccessEntry({ _id, name, tier, createdAt, lastUsedAt, expiresAt }: GrantDoc): AccessEntry {
  return { id: _id, kind: 'application', name, tier, createdAt, lastUsedAt, expiresAt };
}
