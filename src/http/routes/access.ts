import type { Address } from 'viem';
import { z } from 'zod';
import { type AccessEntry, MAX_API_KEYS_PER_WALLET } from '../../auth/api-keys.ts';
import type { Caller } from '../../auth/caller.ts';
import { MAX_SIWE_LENGTH } from '../../auth/signed-acts.ts';
import { OracleError } from '../../errors.ts';
import { el } from '../../page/markup.ts';
import { ADDRESS, COUNT, namedObject, SUCCESS, TIME } from '../../platform/validation.ts';
import { signatureInput, walletInput } from '../parameters.ts';
import { createStaticReply } from '../replies.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';
import { PAGE_HEADERS, renderPage } from './home.ts';

const ACCESS_ROUTE = { tag: 'access', isLive: true } as const;
const UNCACHED = { 'Cache-Control': 'private, no-store' };
const SIGNED_ERRORS = ['UNAUTHENTICATED', 'CONFLICT', 'CHAIN_UNREACHABLE'] as const;
const COMPOSED = 'The text names the act, what it allows and for how long; it is good for that act alone, once, within 5 minutes.';

/** What a wallet has granted beyond its own sessions. */
export function accessEntryRoutes(deps: Services): Route[] {
  const { access } = deps;
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
    // For wallets without a session, such as those whose gate tokens are gone.
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
    route('GET /api/svc/oracle/access', 'listAccess', {
      ...ACCESS_ROUTE,
      ownerOnly: true,
      summary: 'API keys of the wallet, without secrets, and applications that it has authorised',
      reply: ACCESS_REPLY,
      errors: ['UNAUTHENTICATED'],
      handle: async ({ caller }) => ({ headers: UNCACHED, body: await listEntries(deps, requireSession(caller)) }),
    }),
    route('DELETE /api/svc/oracle/access/{id}', 'revokeAccess', {
      ...ACCESS_ROUTE,
      ownerOnly: true,
      summary: 'Ends an API key or the access of an application at once',
      description: 'Its requests are rejected from now on, and its WebSockets are closed within a minute. Webhooks of the wallet stay.',
      params: z.object({ id: accessId.describe('Id of a key or an application') }),
      reply: ENDED_REPLY,
      errors: ['UNAUTHENTICATED', 'NOT_FOUND'],
      async handle({ params: { id }, caller }) {
        const wallet = requireSession(caller);
        await endEntry(deps, wallet, id);
        return { headers: UNCACHED, body: { success: true as const, wallet, id, revokedAt: deps.now().toISOString() } };
      },
    }),
    route('GET /access', 'getAccessPage', {
      tag: 'access',
      summary: 'Page where a wallet sees and ends the access that it has granted, and makes API keys',
      reply: null,
      alternatives: { 'text/html': { description: 'The page.' } },
      handle: createStaticReply(
        () => renderAccessPage(deps.publicUrl),
        () => PAGE_HEADERS,
      ),
    }),
  ];
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

async function listEntries({ accessSources }: Services, wallet: Address) {
  const entries = (await Promise.all(accessSources.map((source) => source.list(wallet)))).flat();
  const access = entries.toSorted((a, b) => b.createdAt.getTime() - a.createdAt.getTime()).map(toEntryReply);
  return { success: true as const, wallet, access, count: entries.length, maxKeys: MAX_API_KEYS_PER_WALLET };
}

/** @throws OracleError NOT_FOUND */
async function endEntry({ accessSources }: Services, wallet: Address, id: string): Promise<void> {
  for (const source of accessSources) if (await source.revoke(wallet, id)) return;
  throw new OracleError('NOT_FOUND', 'This wallet has no such key or application: it has ended already, or belongs to another wallet', {
    suggestedAction: 'GET /api/svc/oracle/access lists what the wallet has.',
  });
}

function toTextReply({ message, expiresAt }: { message: string; expiresAt: Date }) {
  return { headers: UNCACHED, body: { success: true as const, message, expiresAt: expiresAt.toISOString() } };
}

function toEntryReply({ id, kind, name, tier, createdAt, lastUsedAt, expiresAt }: AccessEntry): z.input<typeof ENTRY> {
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

/** The page where a wallet sees and ends the access that it has granted, and makes keys: its script fills it. */
function renderAccessPage(publicUrl: string): string {
  return renderPage(publicUrl, {
    title: 'Access',
    description: 'API keys and applications of a wallet: see them, end them, make keys for bots.',
    path: 'access',
    kind: 'access',
    bundle: 'access',
    body: el('main', { id: 'main', tabindex: -1 }, [
      el('h1', {}, 'Keys and applications'),
      el('p', {}, [
        'Programs that may use the service in the name of your wallet, up to a tier that its balance gives: ',
        el('a', { href: 'documents/api#api-keys' }, 'how keys work'),
        '.',
      ]),
      el('p', { id: 'script-note', class: 'notice' }, 'This page needs JavaScript. `npx svc access` does the same.'),
      el('div', { id: 'access' }),
    ]),
  });
}

const MAX_LABEL_LENGTH = 60;
const MAX_KEY_DAYS = 3_650;

/** Letters, digits and punctuation of one line, visible from the first on: no control characters, none that reverse text, no halves of surrogates. */
const LABEL =
  /^[!-~\u00a1-\u1fff\u2c00-\ud7ff\uf900-\ufefe\uff00-\uffef][ -~\u00a0-\u1fff\u2010-\u2027\u2c00-\ud7ff\uf900-\ufefe\uff00-\uffef]*$/;

const TIER = z.enum(['basic', 'premium'], 'must be basic or premium');

/** What a wallet signs is composed for it: the address is written with its checksum. */
const KEY_TEXT_BODY = z.strictObject({
  wallet: walletInput,
  label: z
    .string()
    .min(1, 'must not be empty')
    .max(MAX_LABEL_LENGTH, `must have at most ${MAX_LABEL_LENGTH} characters`)
    .regex(LABEL, 'must be one line of letters, digits and punctuation')
    .describe('What the key is for; shown to the owner alone'),
  tier: TIER.describe('Upper bound of what the key may do; the balance of the wallet must give it now, and bounds it at each use'),
  expiresInDays: z
    .int('must be a whole number of days')
    .min(1, 'must be at least 1')
    .max(MAX_KEY_DAYS, `must be at most ${MAX_KEY_DAYS}`)
    .nullable()
    .optional()
    .describe('Days until the key ends by itself; absent or null: never'),
});

const accessId = z.string().regex(/^[\w.~:-]{1,128}$/, 'must be the id of an entry of GET /api/svc/oracle/access');

const ACCESS_TEXT_BODY = z.strictObject({
  wallet: walletInput,
  revoke: accessId.nullable().optional().describe('Id of the key or the application that the text ends; absent or null: it lists alone'),
});

/** A composed text and its signature. */
export const SIGNED_BODY = z
  .strictObject({
    message: z
      .string()
      .max(MAX_SIWE_LENGTH, `must have at most ${MAX_SIWE_LENGTH} characters`)
      .describe('The composed EIP-4361 text, unchanged'),
    signature: signatureInput,
  })
  .meta({ id: 'SignedRequest' });

export const TEXT_REPLY = namedObject('TextResponse', {
  success: SUCCESS,
  message: z.string().describe('EIP-4361 text for `personal_sign`, to be sent back as it is with its signature'),
  expiresAt: TIME.describe('Accepted until'),
});

const ENTRY = z.object({
  id: z.string().describe('Id for `DELETE /api/svc/oracle/access/{id}`; grants nothing'),
  kind: z.enum(['key', 'application']).describe('`key`: an API key of a bot; `application`: authorised by OAuth'),
  name: z.string().describe('Label of the key, or the host of the client id of the application'),
  tier: z.enum(['basic', 'premium']).describe('Upper bound of its tier'),
  createdAt: TIME.describe('When it was granted'),
  lastUsedAt: TIME.nullable().describe('Last use, exact to a minute; null: never used'),
  expiresAt: TIME.nullable().describe('When it ends by itself; null: when it is revoked'),
});

export const KEY_REPLY = z.object({
  success: SUCCESS,
  key: z.string().describe('The key, for `Authorization: Bearer <key>`. Shown in this answer only'),
  wallet: ADDRESS.describe('Wallet that made it, checksummed'),
  ...ENTRY.shape,
});

export const ACCESS_REPLY = namedObject('AccessResponse', {
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  access: z.array(ENTRY).describe('Live keys and applications, newest first'),
  count: COUNT.describe('Number of entries'),
  maxKeys: COUNT.describe('API keys that a wallet may have at a time'),
});

export const ENDED_REPLY = z.object({
  success: SUCCESS,
  wallet: ADDRESS.describe('The wallet, checksummed'),
  id: z.string().describe('What was revoked; requests with it are rejected from now on'),
  revokedAt: TIME.describe('When it was revoked'),
});
