import type { AccessSource } from '../../auth/access/access-entry.ts';
import type { AuthService } from '../../auth/auth-service.ts';
import { createApplicationAccess } from '../../auth/oauth/application-access.ts';
import { ApplicationTokens } from '../../auth/oauth/application-tokens.ts';
import { OAuthServer } from '../../auth/oauth/provider/oauth-server.ts';
import type { OAuthStores } from '../../auth/oauth/provider/provider-adapter.ts';
import { RefreshReplyStore } from '../../auth/oauth/provider/refresh-grace.ts';
import { listMcpResources } from '../../auth/oauth/resources.ts';
import { ArtifactStore } from '../../auth/oauth/stores/artifact-store.ts';
import { ClientStore } from '../../auth/oauth/stores/client-store.ts';
import { GrantStore } from '../../auth/oauth/stores/grant-store.ts';
import { createGateReader } from '../../auth/tiers/gate-balance.ts';
import { WalletTiers } from '../../auth/tiers/wallet-tiers.ts';
import { createResolver } from '../../platform/outbound/resolve.ts';
import { createSecretBox } from '../../platform/secrets/secret-box.ts';
import type { ProtocolAdapter } from '../../transports/adapter.ts';
import { createOAuthAdapter } from '../../transports/http/oauth/adapter.ts';
import { DocumentBudget } from '../../transports/http/oauth/document-budget.ts';
import { renderProviderError } from '../../transports/http/oauth/provider-error.ts';
import type { ServiceCore } from '../core.ts';
import type { ProcessContext } from '../process-context.ts';

/** Applications that wallets have allowed; null where `MCP_OAUTH` is off. */
export interface Applications {
  stores: OAuthStores;
  tokens: ApplicationTokens;
  access: AccessSource;
  purge(now: Date): Promise<void>;
}

type ApplicationDeps = Pick<ServiceCore, 'db' | 'chain' | 'encryptionSecret' | 'publicUrl' | 'now'>;

export function composeApplications({ config }: Pick<ProcessContext, 'config'>, deps: ApplicationDeps): Applications | null {
  if (config.MCP_OAUTH === 'off') return null;
  const { chain, publicUrl, now } = deps;
  const artifacts = new ArtifactStore(deps);
  const refreshReplies = new RefreshReplyStore({ ...deps, artifacts, secretBox: createSecretBox(deps.encryptionSecret) });
  const stores = { artifacts, refreshReplies, clients: new ClientStore(deps), grants: new GrantStore(deps) };
  const balances = new WalletTiers({ readGate: createGateReader(chain), now });
  const readBalance = (wallet: string) => balances.getBalance(wallet);
  return {
    stores,
    tokens: new ApplicationTokens({ stores, resources: listMcpResources(publicUrl), readBalance }),
    access: createApplicationAccess(stores),
    async purge(at) {
      await Promise.all(Object.values(stores).map((store) => store.purge(at)));
    },
  };
}

interface OAuthDeps extends ApplicationDeps {
  access: Pick<AuthService, 'acts' | 'getGateBalance'>;
  hasDemoWallets: boolean;
}

const MAX_DETAIL_CHARS = 200;

/** The authorization server of the applications. */
export function composeOAuth(
  { config, log }: Pick<ProcessContext, 'config' | 'log'>,
  { stores }: Applications,
  deps: OAuthDeps,
): ProtocolAdapter {
  const { publicUrl, access, hasDemoWallets, now } = deps;
  const budget = new DocumentBudget(stores);
  const server = new OAuthServer({
    publicUrl,
    stores,
    readGate: createGateReader(deps.chain),
    documentRules: { allowLocal: config.PUSH_LOCAL_TARGETS === 'allow', resolve: createResolver() },
    allowFetch: (request, clientId) => budget.takeOne(request, clientId),
    renderError: (context, out) => renderProviderError(publicUrl, context, out),
    onDocumentFailure: (host, reason) =>
      log.info({ host, reason: reason.slice(0, MAX_DETAIL_CHARS) }, 'a document of a client was refused'),
    onRejected: ({ error, detail, clientHost }) =>
      log.info({ error, detail: detail.slice(0, MAX_DETAIL_CHARS), clientHost }, 'a request of an application was refused'),
    onError: (error) => log.error({ err: error }, 'a request of an application failed'),
    now,
  });
  return createOAuthAdapter({ server, clients: stores.clients, budget, publicUrl, hasDemoWallets, access });
}
