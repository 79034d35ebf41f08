import type { Address } from 'viem';
import type { z } from 'zod';
import type { AccessEntry } from '../../../auth/access/access-entry.ts';
import { MAX_API_KEYS_PER_WALLET } from '../../../auth/api-keys/api-key-store.ts';
import type { Caller } from '../../../auth/caller.ts';
import { OracleError } from '../../../platform/errors.ts';
import type { HttpDeps } from '../deps.ts';
import { PAGE_HEADERS } from '../page/shell.ts';
import { createStaticReply } from '../server/replies/static-reply.ts';
import { type Route, route } from '../server/route.ts';
import { renderAccessPage } from './page.ts';
import { ACCESS_ID, ACCESS_REPLY, ACCESS_TEXT_BODY, ENDED_REPLY, KEY_REPLY, KEY_TEXT_BODY, SIGNED_BODY, TEXT_REPLY } from './schemas.ts';

type AccessDeps = Pick<HttpDeps, 'access' | 'accessSources' | 'now' | 'publicUrl'>;

type EntryReply = z.input<typeof ACCESS_REPLY>['access'][number];

const ACCESS_ROUTE = { tag: 'access', isLive: true } as const;
const OF_SESSION = { ...ACCESS_ROUTE, ownerOnly: true } as const;
const UNCACHED = { 'Cache-Control': 'private, no-store' };
const SIGNED_ERRORS = ['UNAUTHENTICATED', 'CONFLICT', 'CHAIN_UNREACHABLE'] as const;
const COMPOSED = 'The text names the act, what it allows and for how long; it is good for that act alone, once, within 5 minutes.';

/** What a wallet has granted beyond its own sessions. */
export function accessEntryRoutes(deps: AccessDeps): Route[] {
  return [...keyRoutes(deps), ...signedAccessRoutes(deps), listRoute(deps), revokeRoute(deps), pageRoute(deps)];
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

function keyRoutes({ access }: AccessDeps): Route[] {
  return [
    route('POST /api/svc/oracle/keys/message', 'composeApiKeyText', {
      ...ACCESS_ROUTE,
      summary: 'Text that a wallet signs to make one API key',
      description: COMPOSED,
      body: KEY_TEXT_BODY,
      reply: TEXT_REPLY,
      handle: async ({ body: { wallet, label, tier, expiresInDays = null } }) =>
        toTextReply(await access.acts.compose(wallet, { kind: 'create-key', key: { label, tier, expiresInDays } })),
    }),
    route('POST /api/svc/oracle/keys', 'createApiKey', {
      ...ACCESS_ROUTE,
      status: 201,
      summary: 'Makes a long-lived API key of the wallet for a bot, and returns it once',
      description: `Takes the text of \`POST /api/svc/oracle/keys/message\` with its signature (EIP-191; contract wallets by EIP-1271 or ERC-6492). The key goes where an access token goes, over all interfaces, but makes no keys, revokes nothing and changes no webhooks. A client that has lost the answer finds the key in \`GET /api/svc/oracle/access\` and revokes it. At most ${MAX_API_KEYS_PER_WALLET} per wallet.`,
      cost: 'rpc',
      body: SIGNED_BODY,
      reply: KEY_REPLY,
      errors: [...SIGNED_ERRORS, 'TIER_REQUIRED'],
      async handle({ body }) {
        const { wallet, key, entry } = await access.acts.redeem('create-key', body, async (owner, act) => ({
          wallet: owner,
          ...(await access.apiKeys.issue(owner, act.key)),
        }));
        return { headers: UNCACHED, body: { success: true as const, key, wallet, ...toEntryReply(entry) } };
      },
    }),
  ];
}

/** For wallets without a session, such as those whose gate tokens are gone. */
function signedAccessRoutes(deps: AccessDeps): Route[] {
  const { access } = deps;
  return [
    route('POST /api/svc/oracle/access/message', 'composeAccessText', {
      ...ACCESS_ROUTE,
      summary: 'Text that a wallet signs to list, or to end, access that it has granted',
      description: COMPOSED,
      body: ACCESS_TEXT_BODY,
      reply: TEXT_REPLY,
      handle: async ({ body: { wallet, revoke = null } }) =>
        toTextReply(await access.acts.compose(wallet, { kind: 'manage-access', revoke })),
    }),
    route('POST /api/svc/oracle/access', 'manageAccess', {
      ...ACCESS_ROUTE,
      summary: 'Ends what the signed text names, and lists the access of the wallet that is left',
      description:
        'Takes the text of `POST /api/svc/oracle/access/message` with its signature. It needs neither a login nor gate tokens, so that a wallet without them can still end its access.',
      cost: 'rpc',
      body: SIGNED_BODY,
      reply: ACCESS_REPLY,
      errors: [...SIGNED_ERRORS, 'NOT_FOUND'],
      handle: async ({ body }) => ({
        headers: UNCACHED,
        body: await access.acts.redeem('manage-access', body, async (wallet, { revoke }) => {
          if (revoke !== null) await endEntry(deps, wallet, revoke);
          return listEntries(deps, wallet);
        }),
      }),
    }),
  ];
}

function listRoute(deps: AccessDeps): Route {
  return route('GET /api/svc/oracle/access', 'listAccess', {
    ...OF_SESSION,
    summary: 'API keys of the wallet, without secrets, and applications that it has authorised',
    reply: ACCESS_REPLY,
    errors: ['UNAUTHENTICATED'],
    handle: async ({ caller }) => ({ headers: UNCACHED, body: await listEntries(deps, requireSession(caller)) }),
  });
}

function revokeRoute(deps: AccessDeps): Route {
  return route('DELETE /api/svc/oracle/access/{id}', 'revokeAccess', {
    ...OF_SESSION,
    summary: 'Ends an API key or the access of an application at once',
    description: 'Its requests are rejected from now on, and its WebSockets are closed within a minute. Webhooks of the wallet stay.',
    params: ACCESS_ID,
    reply: ENDED_REPLY,
    errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
    async handle({ params: { id }, caller }) {
      const wallet = requireSession(caller);
      await endEntry(deps, wallet, id);
      return { headers: UNCACHED, body: { success: true as const, wallet, id, revokedAt: deps.now().toISOString() } };
    },
  });
}

/** The wallet of a session; the guard rejects API keys before. @throws OracleError UNAUTHENTICATED */
function requireSession({ wallet, rejectedToken }: Caller): Address {
  if (wallet !== undefined) return wallet;
  throw new OracleError('UNAUTHENTICATED', rejectedToken ?? 'This needs a login', {
    field: 'Authorization',
    suggestedAction:
      'Send the token of POST /api/svc/oracle/verify as Authorization: Bearer <token>; a wallet without gate tokens signs the text of POST /api/svc/oracle/access/message.',
  });
}

async function listEntries({ accessSources }: AccessDeps, wallet: Address) {
  const entries = (await Promise.all(accessSources.map((source) => source.list(wallet)))).flat();
  entries.sort((a, b) => b.createdAt.getTime() - a.createdAt.getTime());
  const counts = { count: entries.length, maxKeys: MAX_API_KEYS_PER_WALLET };
  return { success: true as const, wallet, access: entries.map(toEntryReply), ...counts };
}

/** @throws OracleError NOT_FOUND */
async function endEntry({ accessSources }: AccessDeps, wallet: Address, id: string): Promise<void> {
  for (const source of accessSources) if (await source.revoke(wallet, id)) return;
  throw new OracleError('NOT_FOUND', 'This wallet has no such key or application: it has ended already, or belongs to another wallet', {
    suggestedAction: 'GET /api/svc/oracle/access lists what the wallet has.',
  });
}

function toTextReply({ message, expiresAt }: { message: string; expiresAt: Date }) {
  return { headers: UNCACHED, body: { success: true as const, message, expiresAt: expiresAt.toISOString() } };
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
