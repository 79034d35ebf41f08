import type { Adapter, AdapterPayload } from 'oidc-provider';
import { type Address, getAddress } from 'viem';
import { toScopeTier } from '../scopes.ts';
import type { ArtifactPayload, ArtifactStore } from '../stores/artifact-store.ts';
import type { ClientStore } from '../stores/client-store.ts';
import type { GrantStore } from '../stores/grant-store.ts';
import type { RefreshReplyStore } from './refresh-grace.ts';

export interface OAuthStores {
  artifacts: ArtifactStore;
  clients: ClientStore;
  grants: GrantStore;
  refreshReplies: RefreshReplyStore;
}

interface AdapterDeps extends OAuthStores {
  now(): Date;
  /** The error of `oidc-provider` for a code or refresh token that was used before. */
  createReplayError(): Error;
}

/** A grant ends with everything that was issued under it. */
export async function endGrant(
  { grants, artifacts }: Pick<OAuthStores, 'artifacts' | 'grants'>,
  id: string,
  wallet?: Address,
): Promise<boolean> {
  const wasLive = await grants.delete(id, wallet);
  if (wasLive) await artifacts.deleteOfGrant(id);
  return wasLive;
}

/** Storage of `oidc-provider` in the database, shared by all processes. */
export function createAdapterFactory(deps: AdapterDeps): (model: string) => Adapter {
  return (model) => {
    if (model === 'Session') return NO_SESSIONS;
    if (model === 'Client') return createClientAdapter(deps);
    return model === 'Grant' ? createGrantAdapter(deps) : createArtifactAdapter(deps, model);
  };
}

const unused = {
  findByUserCode: async () => undefined,
  findByUid: async () => undefined,
  consume: async () => undefined,
  revokeByGrantId: async () => undefined,
};

/** Each authorization is signed for by a wallet, so that a browser keeps no session to be misused. */
const NO_SESSIONS: Adapter = { ...unused, upsert: async () => undefined, find: async () => undefined, destroy: async () => undefined };

function createClientAdapter({ clients }: AdapterDeps): Adapter {
  return {
    ...unused,
    upsert: async () => Promise.reject(new Error('clients are registered by the registration endpoint')),
    find: (id) => clients.find(id) as Promise<AdapterPayload | undefined>,
    destroy: async () => undefined,
  };
}

function createGrantAdapter({ now, ...stores }: AdapterDeps): Adapter {
  const { grants, clients } = stores;
  return {
    ...unused,
    async upsert(id, payload, expiresIn = 0) {
      const { accountId, clientId, resources } = payload as { accountId: string; clientId: string; resources?: Record<string, string> };
      const createdAt = now();
      const expiresAt = new Date(createdAt.getTime() + expiresIn * 1_000);
      const registered = await clients.find(clientId);
      const tier = toScopeTier(Object.values(resources ?? {}).join(' '));
      if (tier === null) throw new Error('a grant must have a scope of this service');
      const wallet = getAddress(accountId);
      await grants.put({ _id: id, wallet, clientId, tier, payload, createdAt, lastUsedAt: null, expiresAt });
      if (registered !== undefined) await clients.markUsed(clientId, wallet, expiresAt);
      for (const excess of await grants.listExcess(wallet)) await endGrant(stores, excess);
      for (const excess of await clients.listExcess(wallet)) if (!(await grants.hasLive(excess))) await clients.delete(excess);
    },
    find: async (id) => (await grants.findLive(id))?.payload,
    destroy: async (id) => void (await endGrant(stores, id)),
  };
}

function createArtifactAdapter({ artifacts, now, createReplayError, ...others }: AdapterDeps, model: string): Adapter {
  return {
    ...unused,
    upsert: (id, payload, expiresIn = 0) =>
      artifacts.put(model, id, payload as ArtifactPayload, new Date(now().getTime() + expiresIn * 1_000)),
    find: (id) => artifacts.find(model, id),
    destroy: (id) => artifacts.delete(model, id),
    async consume(id) {
      const found = await artifacts.find(model, id);
      if (await artifacts.consume(model, id)) return;
      // The other request of the same instant has it: one of the two is not the client's.
      if (typeof found?.grantId === 'string') await endGrant({ artifacts, ...others }, found.grantId);
      throw createReplayError();
    },
    revokeByGrantId: (grantId) => artifacts.deleteOfGrant(grantId),
  };
}
