import type { Address } from 'viem';
import type { Caller } from '../caller.ts';
import type { GateReading } from '../tiers/gate-balance.ts';
import { lowerTier } from '../tiers/tiers.ts';
import { unauthenticated } from '../tokens/access-tokens.ts';
import { endGrant, type OAuthStores } from './provider/provider-adapter.ts';
import { toScopeTier } from './scopes.ts';

/** Tokens of `oidc-provider`: unlike those of sessions they have no dots. */
const APPLICATION_TOKEN = /^[\w-]{43}$/;

export function isApplicationToken(token: string): boolean {
  return APPLICATION_TOKEN.test(token);
}

interface ApplicationTokensDeps {
  stores: Pick<OAuthStores, 'artifacts' | 'grants'>;
  /** Resource identifiers of the MCP server. */
  resources: readonly string[];
  /** At most a minute old. @throws OracleError CHAIN_UNREACHABLE */
  readBalance(wallet: string): Promise<GateReading>;
}

/** Access tokens of applications. The database decides on each use: a revocation takes effect at once. */
export class ApplicationTokens {
  readonly #deps: ApplicationTokensDeps;

  constructor(deps: ApplicationTokensDeps) {
    this.#deps = deps;
  }

  /** The caller of a token: at most the tier of its scope, and at most that of the balance. @throws OracleError UNAUTHENTICATED, CHAIN_UNREACHABLE */
  async identify(token: string): Promise<{ caller: Caller; expiresAt: Date }> {
    const { artifacts, grants } = this.#deps.stores;
    const found = await artifacts.find('AccessToken', token);
    const grant = found === undefined ? null : await grants.findLive(String(found.grantId));
    const scopeTier = toScopeTier(found?.scope as string | undefined);
    if (found === undefined || grant === null || scopeTier === null) {
      throw rejected('The access token has expired or was revoked');
    }
    if (!this.#deps.resources.includes(String(found.aud))) throw rejected('The access token is meant for another service');
    const { tier, balance } = await this.#deps.readBalance(grant.wallet);
    await grants.markUsed(grant);
    const caller = { tier: lowerTier(scopeTier, tier), wallet: grant.wallet, balance };
    return { caller, expiresAt: new Date(Number(found.exp) * 1_000) };
  }

  /** Ends all grants of a wallet and returns their number. */
  async revokeWallet(wallet: Address): Promise<number> {
    const { stores } = this.#deps;
    const ended = await Promise.all((await stores.grants.listLive(wallet)).map(({ _id }) => endGrant(stores, _id, wallet)));
    return ended.filter(Boolean).length;
  }
}

/** Rejects a token of an application where only the MCP server is meant (RFC 8707: it is bound to its audience). */
export function rejectAudience(): never {
  throw rejected('The access token of an application is meant for the MCP server alone');
}

function rejected(problem: string) {
  return unauthenticated(problem);
}
