import { z } from 'zod';
import { logInWallet } from '../../../auth/login-client.ts';
import { OracleError, UsageError } from '../../../errors.ts';
import {
  JSON_OPTION,
  parseChoice,
  printJson,
  printNotice,
  printResult,
  queryService,
  resolveServiceUrl,
  resolveToken,
  type ServiceValues,
  URL_OPTION,
} from '../command.ts';
import { type CliContext, EXIT, readSession, type SvcCommand } from '../context.ts';
import { hasKeyOption, KEY_OPTIONS, type KeyOptions, loadAccount } from '../secrets.ts';
import { formatFacts, formatMinute, formatRecords, type RecordColumn } from '../text.ts';

const PATH = '/api/svc/oracle/access';
const KEYS_PATH = '/api/svc/oracle/keys';
const ACTIONS = ['list', 'create', 'revoke'] as const;
const TIERS = ['basic', 'premium'] as const;

const ENTRY = z.object({
  id: z.string(),
  kind: z.string(),
  name: z.string(),
  tier: z.string(),
  createdAt: z.iso.datetime(),
  lastUsedAt: z.iso.datetime().nullable(),
  expiresAt: z.iso.datetime().nullable(),
});
const LIST = z.object({ wallet: z.string(), access: z.array(ENTRY) });
const MADE = ENTRY.extend({ key: z.string(), wallet: z.string() });
const ENDED = z.object({ id: z.string() });
const TEXT = z.object({ message: z.string() });

type Entry = z.infer<typeof ENTRY>;

interface AccessValues extends ServiceValues, KeyOptions {
  name?: string;
  tier?: (typeof TIERS)[number];
  days?: number;
}

/** What a wallet has granted: keys of its bots, and applications. */
export const accessCommand: SvcCommand<AccessValues> = {
  example: `svc access create --name "trading bot"
  ORACLE_TOKEN=bso_... svc watch          with the key, in place of a login
  svc access revoke key_0123456789abcdef01234567`,
  arguments: '[action] [id]',
  description: `list (the default) shows the API keys of your wallet and the applications that it has authorised; create makes a key for a bot;
revoke ends a key or an application by its id, at once. create needs the wallet, which signs for the key (--wallet, --key-file or PRIVATE_KEY); the others a login at least.`,
  options: [
    ['--name <text>', 'create: what the key is for'],
    ['--tier <tier>', 'create: the most that the key may do (default: basic)', (name, value) => parseChoice(name, value, TIERS), TIERS],
    ['--days <days>', 'create: days until it ends by itself (default: 90; 0: never)', parseDays],
    ...KEY_OPTIONS,
    URL_OPTION,
    JSON_OPTION,
  ],
  async run(context, { json, ...options }, [action = 'list', id, ...rest]) {
    if (rest.length > 0 || !ACTIONS.some((known) => known === action)) throw new UsageError('action', `must be ${ACTIONS.join(', ')}`);
    if (action !== 'revoke' && id !== undefined) throw new UsageError('id', `is not used by ${action}`);
    const url = await resolveServiceUrl(context, options.url);
    if (action === 'create') return createKey(context, { json, ...options, url });
    if (action === 'list') return listAccess(context, { json, ...options, url });
    if (id === undefined) throw new UsageError('id', 'is missing', 'svc access lists the ids.');
    return revokeAccess(context, { json, ...options, url }, id);
  },
};

const NEEDS_WALLET =
  'A login makes no key: the wallet signs for each. Use --key-file or PRIVATE_KEY, or --wallet premium in a demonstration.';

type Resolved = AccessValues & { url: string };

/** A login of this call by the wallet, the stored one, or ORACLE_TOKEN. @throws OracleError UNAUTHENTICATED without any */
async function resolveOwner(context: CliContext, { url, ...options }: Resolved): Promise<{ url: string; token: string }> {
  if (hasKeyOption(options, context)) {
    const account = await loadAccount(options, context);
    return { url, token: (await logInWallet(account, url, { timestamp: context.now().getTime() })).token };
  }
  // Before ORACLE_TOKEN, which may be an API key.
  const token = (await readSession(context, url))?.token ?? (await resolveToken(context, url, undefined));
  if (token === undefined) throw new OracleError('UNAUTHENTICATED', `Not logged in at ${url}`);
  return { url, token };
}

async function listAccess(context: CliContext, options: Resolved): Promise<number> {
  const { answer, body } = await queryService({ ...(await resolveOwner(context, options)), path: PATH, schema: LIST });
  printResult(context, options.json, body, (writer) =>
    answer.access.length === 0 ? [`${answer.wallet} has granted no access.`] : formatRecords(COLUMNS, answer.access, writer),
  );
  return EXIT.ok;
}

async function createKey(context: CliContext, { name, tier = 'basic', days = 90, ...options }: Resolved): Promise<number> {
  if (name === undefined) throw new UsageError('--name', 'is missing', 'Name what the key is for, e.g. --name "trading bot".');
  const request = { label: name, tier, expiresInDays: days === 0 ? null : days };
  // The wallet signs a text of the service for this key: a login alone makes none.
  if (!hasKeyOption(options, context)) throw new UsageError('--wallet', 'is missing', NEEDS_WALLET);
  const account = await loadAccount(options, context);
  const { url } = options;
  const wanted = { wallet: account.address, ...request };
  const composed = await queryService({ url, token: undefined, path: `${KEYS_PATH}/message`, body: wanted, schema: TEXT });
  const { message } = composed.answer;
  const signed = { message, signature: await account.signMessage({ message }) };
  const { answer } = await queryService({ url, token: undefined, path: KEYS_PATH, body: signed, schema: MADE });
  const { key, ...entry } = answer;
  if (options.json) printJson(context, answer);
  else if (context.out.isTTY === true) {
    const { id, wallet } = entry;
    const facts = Object.entries({ Key: id, Name: entry.name, Wallet: wallet, Tier: entry.tier, Ends: formatEnd(entry) });
    printResult(context, false, null, (writer) => [...formatFacts(facts, writer), '', `export ORACLE_TOKEN=${key}`]);
    printNotice(context, 'The key is shown this once: store it now.');
  } else {
    context.out.write(`${key}\n`);
    printNotice(context, `Made ${entry.id} for ${entry.wallet}: ${formatEnd(entry)}`);
  }
  return EXIT.ok;
}

async function revokeAccess(context: CliContext, options: Resolved, id: string): Promise<number> {
  const path = `${PATH}/${encodeURIComponent(id)}` as const;
  const { body } = await queryService({ ...(await resolveOwner(context, options)), path, method: 'DELETE', schema: ENDED });
  printResult(context, options.json, body, () => [`Revoked ${id}: it is rejected from now on.`]);
  return EXIT.ok;
}

const COLUMNS: readonly RecordColumn<Entry>[] = [
  { title: 'id', cell: ({ id }) => id },
  { title: 'name', cell: ({ name }) => name },
  { title: 'kind', spare: 2, cell: ({ kind }) => kind },
  { title: 'tier', cell: ({ tier }) => tier },
  { title: 'made (UTC)', spare: 3, cell: ({ createdAt }) => formatMinute(createdAt) },
  { title: 'last used (UTC)', spare: 1, cell: ({ lastUsedAt }) => (lastUsedAt === null ? 'never' : formatMinute(lastUsedAt)) },
  { title: 'ends (UTC)', cell: ({ expiresAt }) => (expiresAt === null ? 'when revoked' : formatMinute(expiresAt)) },
];

function formatEnd({ expiresAt }: Entry): string {
  return expiresAt === null ? 'when it is revoked' : `${formatMinute(expiresAt)} UTC`;
}

function parseDays(name: string, text: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new UsageError(name, 'must be a whole number of days, or 0 for a key that ends when it is revoked');
  return Number(text);
}
