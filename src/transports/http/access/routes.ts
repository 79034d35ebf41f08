import type { z } from 'zod';
import type { AccessEntry } from '../../../auth/access/access-entry.ts';
import { MAX_API_KEYS_PER_WALLET } from '../../../auth/api-keys/api-key-store.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { PAGE_HEADERS } from '../page/shell.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Route, route } from '../server/route.ts';
import { renderAccessPage } from './page.ts';
import { ACCESS_ID, ACCESS_REPLY, ENDED_REPLY, KEY_BODY, KEY_REPLY } from './schemas.ts';
import { requireWalletOwner } from './wallet-owner.ts';

type AccessDeps = Pick<HttpDeps, 'access' | 'accessSources' | 'now' | 'publicUrl'>;

type EntryReply = z.input<typeof ACCESS_REPLY>['access'][number];

const ACCESS_ROUTE = { tag: 'access', ownerOnly: true, isLive: true } as const;
/** Authenticated by a header that caches do not know. */
const UNCACHED = { 'Cache-Control': 'private, no-store' };
const SIGN_IN_ERRORS = ['UNAUTHENTICATED', 'CONFLICT', 'INPUT_INVALID'] as const;

/** What a wallet has granted beyond its own sessions. */
export function accessEntryRoutes(deps: AccessDeps): Route[] {
  return [createKeyRoute(deps), listRoute(deps), revokeRoute(deps), pageRoute(deps)];
}

function pageRoute({ publicUrl }: AccessDeps): Route {
  const page = createStaticReply(
    () => renderAccessPage(publicUrl),
    () => PAGE_HEADERS,
  );
  return route('GET /access', 'getAccessPage', {
    tag: 'access',
    summary: 'Page where a wallet sees and ends the access that it has granted, and makes API keys',
    reply: null,
    alternatives: { 'text/html': { description: 'The page.' } },
    handle: page,
  });
}

function createKeyRoute({ access }: AccessDeps): Route {
  return route('POST /api/svc/oracle/keys', 'createApiKey', {
    ...ACCESS_ROUTE,
    status: 201,
    summary: 'Makes a long-lived API key of the wallet for a bot, and returns it once',
    description: `The key goes where an access token goes, over all interfaces, but makes no keys, revokes nothing and changes no webhooks. A client that has lost the answer finds the key in \`GET /api/svc/oracle/access\` and revokes it. At most ${MAX_API_KEYS_PER_WALLET} per wallet.`,
    cost: 'rpc',
    body: KEY_BODY,
    reply: KEY_REPLY,
    errors: [...SIGN_IN_ERRORS, 'TIER_REQUIRED'],
    async handle({ body: { label, tier, expiresInDays = null }, ...input }) {
      const wallet = await requireWalletOwner(access, input);
      const { key, entry } = await access.apiKeys.issue(wallet, { label, tier, expiresInDays });
      return { headers: UNCACHED, body: { success: true as const, key, wallet, ...toEntryReply(entry) } };
    },
  });
}

function listRoute({ access, accessSources }: AccessDeps): Route {
  return route('GET /api/svc/oracle/access', 'listAccess', {
    ...ACCESS_ROUTE,
    summary: 'API keys of the wallet, without secrets, and applications that it has authorised',
    reply: ACCESS_REPLY,
    errors: SIGN_IN_ERRORS,
    async handle(input) {
      const wallet = await requireWalletOwner(access, input);
      const entries = (await Promise.all(accessSources.map((source) => source.list(wallet)))).flat();
      entries.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
      const counts = { count: entries.length, maxKeys: MAX_API_KEYS_PER_WALLET };
      return { headers: UNCACHED, body: { success: true as const, wallet, access: entries.map(toEntryReply), ...counts } };
    },
  });
}

function revokeRoute({ access, accessSources, now }: AccessDeps): Route {
  return route('DELETE /api/svc/oracle/access/{id}', 'revokeAccess', {
    ...ACCESS_ROUTE,
    summary: 'Ends an API key or the access of an application at once',
    description: 'Its requests are rejected from now on, and its WebSockets are closed within a minute. Webhooks of the wallet stay.',
    params: ACCESS_ID,
    reply: ENDED_REPLY,
    errors: [...SIGN_IN_ERRORS, 'NOT_FOUND'],
    async handle({ params: { id }, ...input }) {
      const wallet = await requireWalletOwner(access, input);
      for (const source of accessSources) {
        if (await source.revoke(wallet, id))
          return { headers: UNCACHED, body: { success: true as const, wallet, id, revokedAt: now().toISOString() } };
      }
      throw new OracleError('NOT_FOUND', 'This wallet has no such key or application: it has ended already, or belongs to another wallet', {
        suggestedAction: 'GET /api/svc/oracle/access lists what the wallet has.',
      });
    },
  });
}

function toEntryReply({ id, kind, name, tier, createdAt, lastUsedAt, expiresAt }: AccessEntry): EntryReply {
  return {
    id,
    kind,
    name,
    tier,
    createdAt: createdAt.toISOString(),
    lastUsedAt: lastUsedAt?.toISOString() ?? null,
    expiresAt: expiresAt?.toISOString() ?? null,
  };
}
