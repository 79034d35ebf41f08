import { isIP } from 'node:net';
import { z } from 'zod';
import { OracleError } from '../errors.ts';
import { findRealChainProblems, type SettingProblem } from './real-chain-rules.ts';

/**
 * Every setting of the service: the only place that reads the environment. Documentation, validation and the censoring of
 * logs come from this table. Values arrive as text; an empty value counts as unset.
 */

interface SettingDefinition<T extends z.ZodType> {
  /** Turns the text into the value. */
  schema: T;
  /** What holds when the setting is absent, as text; `null`: no default. */
  default: string | null;
  description: string;
  /** Values never reach a log, an error or a page. */
  secret?: boolean;
  /** Needed when `CHAIN_RPC_URL` names a real chain. */
  requiredOnRealChain?: boolean;
}

function defineSetting<T extends z.ZodType>(definition: SettingDefinition<T>): SettingDefinition<T> {
  return definition;
}

const integerSetting = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
};
const urlSetting = (protocols: RegExp, what: string) => z.url({ protocol: protocols, error: `must be ${what}` });
/** Where the service answers, for programs that ask it. */
export const serviceUrlSchema = urlSetting(/^https?$/, 'an http(s) URL').refine(isBareUrl, {
  error: 'must be a URL without user, password, query and fragment',
});
const privateKeySchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}$/, 'must be a private key: 0x and 64 hex characters')
  .transform((text) => text as `0x${string}`);
const addressSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}$/, 'must be an address: 0x and 40 hex characters')
  .transform((text) => text as `0x${string}`);

const addressListSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{40}(,0x[0-9a-fA-F]{40})*$/, 'must be addresses, 0x and 40 hex characters each, separated by commas')
  .transform((text) => text.split(',') as `0x${string}`[]);

function isBareUrl(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { username, password, search, hash } = new URL(text);
  return username + password + search + hash === '';
}

const PROXY_NAMES = ['loopback', 'linklocal', 'uniquelocal'];
const isTrustedProxy = (text: string) => {
  const [ip = '', bits, ...rest] = text.split('/');
  const width = isIP(ip) === 4 ? 32 : isIP(ip) === 6 ? 128 : 0;
  const ranged = bits === undefined || (/^\d{1,3}$/.test(bits) && Number(bits) >= 1 && Number(bits) <= width);
  return PROXY_NAMES.includes(text) || (width > 0 && ranged && rest.length === 0);
};
/** A number of hops, or names and ranges of proxies. */
const trustedProxiesSchema = z
  .string()
  .refine((text) => /^\d$/.test(text) || text.split(',').every(isTrustedProxy), {
    error: `must be a number of proxies from 0 to 9, or addresses, ranges such as 10.0.0.0/8, or ${PROXY_NAMES.join(', ')}, separated by commas`,
  })
  .transform((text) => (/^\d$/.test(text) ? Number(text) : text.split(',')));

/** Host names as a browser spells them in `Origin`, or a scheme of browser extensions. */
const originHostsSchema = z
  .string()
  .regex(
    /^(([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]|(?!https?:)[a-z-]+:\/\/\*)(,|$))+(?<!,)$/,
    'must be host names in lower case without scheme and port, separated by commas, such as app.example.org',
  )
  .transform((text) => text.split(','));

export const SETTINGS = {
  PORT: defineSetting({
    schema: integerSetting(0, 65_535),
    default: '3000',
    description: 'TCP port of the HTTP server; 0 takes a free one',
  }),
  HOST: defineSetting({
    schema: z.string().min(1).optional(),
    default: null,
    description:
      'Address to listen on; unset: `127.0.0.1`, which this machine alone reaches, such as a proxy in front; `0.0.0.0`: all addresses, for a container',
  }),
  PUBLIC_URL: defineSetting({
    // Paths follow it, and everybody reads it.
    schema: urlSetting(/^https?$/, 'an http(s) URL')
      .refine((text) => !/[?#@]/.test(text), 'must be a URL without user, query and fragment')
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    default: null,
    requiredOnRealChain: true,
    description: 'The URL that callers reach the service under, as the on-chain identity names it; unset: `http://HOST:PORT`',
  }),
  DATA_DIR: defineSetting({
    schema: z.string().min(1),
    default: './data',
    description: 'Folder of the embedded database, the local chain and `demo.json`',
  }),
  ROLE: defineSetting({
    schema: z.enum(['all', 'api', 'worker']),
    default: 'all',
    description: '`api` answers requests, `worker` runs the pipeline, `all` does both',
  }),
  FEEDS: defineSetting({
    schema: z.string().regex(/^(auto|live|simulated|csv:.+)$/, 'must be auto, live, simulated or csv:<folder>'),
    default: 'auto',
    description: 'Market data: `auto`, `live`, `simulated` or `csv:<folder>`; `auto` is live data where the providers can be reached',
  }),
  PROVIDER_URLS: defineSetting({
    schema: z
      .string()
      .regex(
        /^([\w-]+|\*)=https?:\/\/[^\s,]+(,([\w-]+|\*)=https?:\/\/[^\s,]+)*$/,
        'must be provider=url with http or https, separated by commas',
      )
      .optional(),
    default: null,
    description:
      'Where providers of live data answer, `provider=url` separated by commas, `*=https://host/{provider}` for all others; for a mirror or proxy',
  }),
  SOSOVALUE_API_KEY: defineSetting({
    schema: z.string().min(1).optional(),
    default: null,
    secret: true,
    description: 'Key of the SoSoValue API, a source of ETF flows; unset: the sources that need no key are used',
  }),
  SIMULATION_SEED: defineSetting({
    schema: integerSetting(0, 2 ** 31 - 1),
    default: '2',
    description: 'Seed of the simulated market; the same seed gives the same market',
  }),
  REPLAY_DAYS: defineSetting({
    schema: integerSetting(0, 3_650),
    default: '120',
    description: 'Days of history that the first start on a local chain replays; 0: none',
  }),
  MONGODB_URI: defineSetting({
    // Not a URL to every parser: a replica set has several hosts.
    schema: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a mongodb:// or mongodb+srv:// URI')
      .optional(),
    default: null,
    secret: true,
    description: 'Database to use; unset: the embedded one in `DATA_DIR`',
  }),
  CHAIN_RPC_URL: defineSetting({
    schema: urlSetting(/^https?$/, 'an http(s) URL').optional(),
    default: null,
    secret: true,
    description:
      'JSON-RPC endpoint of the chain; unset: a local chain in `DATA_DIR`; a loopback address: the local chain of another process on `DATA_DIR`',
  }),
  PUBLIC_RPC_URL: defineSetting({
    schema: serviceUrlSchema.optional(),
    default: null,
    description:
      'JSON-RPC endpoint that strangers are told to read a real chain by, without a key in it; unset: `https://mainnet.base.org` on chain 8453, none elsewhere',
  }),
  CHAIN_ID: defineSetting({
    schema: integerSetting(1, 2 ** 31 - 1),
    default: '8453',
    description: 'Chain id that the endpoint must report',
  }),
  CONFIRMATIONS: defineSetting({
    schema: integerSetting(1, 1_000).optional(),
    default: null,
    description: 'Blocks after which a transaction counts; unset: 1 on a local chain, 5 on a real one',
  }),
  ATTESTER_PRIVATE_KEY: defineSetting({
    schema: privateKeySchema.optional(),
    default: null,
    secret: true,
    requiredOnRealChain: true,
    description: 'Key of the wallet that attests forecasts and owns the agent identity',
  }),
  REPORTER_PRIVATE_KEY: defineSetting({
    schema: privateKeySchema.optional(),
    default: null,
    secret: true,
    requiredOnRealChain: true,
    description: 'Key of the wallet that logs wager outcomes to ERC-8004',
  }),
  SALT_SECRET: defineSetting({
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    default: null,
    secret: true,
    requiredOnRealChain: true,
    description: 'Master secret that the salts of all commitments derive from; keep it as long as the record',
  }),
  ENCRYPTION_SECRET: defineSetting({
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    default: null,
    secret: true,
    requiredOnRealChain: true,
    description: 'Secret that token-signing keys and the secrets of webhooks are encrypted under in the database',
  }),
  GATE_TOKEN_ADDRESS: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    requiredOnRealChain: true,
    description: 'ERC-20 whose balance opens the tiers',
  }),
  STABLECOIN_ADDRESS: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    requiredOnRealChain: true,
    description: 'EIP-3009 stablecoin that payments are made in',
  }),
  IDENTITY_REGISTRY_ADDRESS: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    requiredOnRealChain: true,
    description: 'ERC-8004 identity registry; on Base `0x8004A169FB4a3325136EB29fA0ceB6D2e539a432`',
  }),
  REPUTATION_REGISTRY_ADDRESS: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    requiredOnRealChain: true,
    description: 'ERC-8004 reputation registry; on Base `0x8004BAa17C55a88189AE136b182e5fdA19dE9b63`',
  }),
  TRUST_PROXY: defineSetting({
    schema: trustedProxiesSchema,
    default: '0',
    description:
      'Proxies in front of the service whose `X-Forwarded-For` is believed: how many, or their addresses, ranges, `loopback`, `linklocal`, `uniquelocal`, separated by commas; `0`: none',
  }),
  MAX_CONNECTIONS: defineSetting({
    schema: integerSetting(64, 1_000_000),
    default: '4096',
    description:
      'Connections that clients may have in all: one address a sixteenth, a /56 an eighth, a /48 a quarter of them. An eighth on top is for `/health`, `/ready`, token holders and payers; the process needs a file descriptor each',
  }),
  RATE_LIMIT_PUBLIC: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '60',
    description: 'Requests a minute of one address (IPv6: one /64) without a valid token',
  }),
  RATE_LIMIT_WALLET: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description: 'Requests a minute of one wallet that is logged in, from wherever',
  }),
  RATE_LIMIT_RPC: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '10',
    description: 'Requests a minute of one address to operations that call the chain; they count above as well',
  }),
  RATE_LIMIT_TASKS: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description:
      'A2A messages an hour, in units of 4 kB, that are kept for one address without a token; for all such callers 20 times as many',
  }),
  FACILITATOR_PRIVATE_KEY: defineSetting({
    schema: privateKeySchema.optional(),
    default: null,
    secret: true,
    description:
      'Key of the wallet that sends x402 payments to the chain and pays their gas; required on a real chain unless `X402_FACILITATOR_URL` is set',
  }),
  PROVIDER_PRIVATE_KEY: defineSetting({
    schema: privateKeySchema.optional(),
    default: null,
    secret: true,
    requiredOnRealChain: true,
    description: 'Key of the wallet that signs receipts and takes jobs of the agent commerce protocol',
  }),
  PAYEE_ADDRESS: defineSetting({
    schema: addressSchema.refine((text) => !/^0x0+$/.test(text), 'must not be the zero address: what it gets is burned').optional(),
    default: null,
    requiredOnRealChain: true,
    description: "Wallet that x402 payments and purchases go to; unset on a local chain: the provider's",
  }),
  X402_FACILITATOR_URL: defineSetting({
    // Everybody reads it in the terms.
    schema: serviceUrlSchema.optional(),
    default: null,
    description: 'x402 facilitator that verifies and settles payments; unset: this process does, with `FACILITATOR_PRIVATE_KEY`',
  }),
  CHAIN_CURRENCY_USD: defineSetting({
    schema: integerSetting(1, 10_000_000).optional(),
    default: null,
    description:
      "Dollars of one unit of the chain's own currency (ether on Base), to weigh settlement gas against prices; unset: 10000 on a real chain, which admits fewer contract wallets than a true price, and no bound by price on a local one",
  }),
  X402_MAX_GAS_CENTS: defineSetting({
    schema: integerSetting(1, 10_000),
    default: '10',
    description:
      'Cents of gas that settling one payment may cost; dearer ones wait for lower fees. Payments of contract wallets never cost more gas than they bring',
  }),
  X402_FREE_HOLD: defineSetting({
    schema: z.enum(['on', 'off']),
    default: 'on',
    description:
      '`on`: `GET /oracle` settles nothing when the forecast is HOLD, and says so, which also tells whoever watches the chain that a settled one was none; `off`: a HOLD is paid for like any other',
  }),
  PURCHASE_SIGNATURE: defineSetting({
    schema: z.enum(['optional', 'required']).optional(),
    default: null,
    description:
      "Whether a purchase needs the buyer's signature, since everybody can read the transfer on chain; unset: `optional` on a local chain, `required` on a real one",
  }),
  AGENT_COMMERCE_ADDRESS: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    description:
      'ERC-8183 contract whose jobs are taken; on Base `0x238E541BfefD82238730D00a2208E5497F1832E0`; unset: its own on a local chain, none on a real one',
  }),
  AGENT_COMMERCE_EVALUATORS: defineSetting({
    schema: addressListSchema.optional(),
    default: null,
    description: 'Evaluators whose jobs are taken at any price, separated by commas; unset: none',
  }),
  AGENT_COMMERCE_MAX_USD: defineSetting({
    schema: integerSetting(0, 1_000_000).optional(),
    default: null,
    description:
      'Most that a job may cost whose evaluator is not among those, whole dollars: he can read what he is given and reject it, for gas alone; unset: 5 on a local chain, 0 on a real one, which takes none',
  }),
  ADMIN_USER: defineSetting({
    schema: z
      .string()
      .regex(/^[^:\p{Cc}]{1,64}$/u, 'must have 1 to 64 characters without a colon')
      .optional(),
    default: null,
    description: 'User of the operator at `/admin`, by HTTP Basic; set with `ADMIN_PASSWORD`; unset: nothing is served there',
  }),
  ADMIN_PASSWORD: defineSetting({
    schema: z
      .string()
      .regex(/^\P{Cc}{16,200}$/u, 'must have 16 to 200 characters on one line')
      .optional(),
    default: null,
    secret: true,
    description: 'Password of the operator, 16 characters or more; set with `ADMIN_USER`',
  }),
  PUSH_LOCAL_TARGETS: defineSetting({
    schema: z.enum(['refuse', 'allow']),
    default: 'refuse',
    description:
      '`allow`: webhooks of this machine, such as `http://127.0.0.1:8080/`, can be registered, and callbacks of tasks without a token; for development, on a local chain only',
  }),
  MCP_ALLOWED_ORIGINS: defineSetting({
    schema: originHostsSchema.optional(),
    default: null,
    description:
      'Host names of pages beside those of `PUBLIC_URL` that may ask at `/mcp`, separated by commas; `moz-extension://*` is every extension of that browser; unset: none',
  }),
  PROTOCOL_FIXTURES: defineSetting({
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: A2A and MCP also serve what their official test suites call by name; on a local chain only',
  }),
  ORACLE_URL: defineSetting({
    schema: serviceUrlSchema.optional(),
    default: null,
    description: 'For `npm run mcp` only: the service that it asks; unset: the one of this machine, at `PORT`',
  }),
  ORACLE_TOKEN: defineSetting({
    schema: z
      .string()
      .regex(/^[\w.~+/=-]{1,4096}$/, 'must be an access token, without spaces and without "Bearer"')
      .optional(),
    default: null,
    secret: true,
    description: 'For `npm run mcp` and `svc` only: the access token that they call with; unset: as anybody, or with the stored session',
  }),
  REVEAL: defineSetting({
    schema: z.enum(['resolution', 'immediate']),
    default: 'resolution',
    description: 'When everybody sees a forecast: at its `resolution`, or `immediate`ly',
  }),
  WAGERS: defineSetting({
    schema: z.enum(['paper', 'polymarket', 'off']),
    default: 'paper',
    description: 'Venue of the daily wager: `paper`, `polymarket`, or `off` for no new ones; open ones still settle',
  }),
  WAGER_KILL_SWITCH: defineSetting({
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: no new wagers at any venue, open ones still settle',
  }),
  WAGER_MAX_STAKE_USD: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '50',
    description: 'Largest stake of one wager at Polymarket, whole dollars',
  }),
  WAGER_MAX_OPEN_USD: defineSetting({
    schema: integerSetting(1, 1_000_000),
    default: '250',
    description: 'Largest sum of open stakes at Polymarket, whole dollars',
  }),
  PAPER_BANKROLL_USD: defineSetting({
    schema: integerSetting(1, 1_000_000_000),
    default: '10000',
    description: 'What the paper account and the dry run at Polymarket start with, whole dollars',
  }),
  POLYMARKET_DRY_RUN: defineSetting({
    schema: z.enum(['true', 'false']).transform((text) => text === 'true'),
    default: 'true',
    description: '`true`: orders are priced and filled from the live order book and written down, none is sent; `false`: real money',
  }),
  POLYMARKET_PRIVATE_KEY: defineSetting({
    schema: privateKeySchema.optional(),
    default: null,
    secret: true,
    description: 'Key that signs orders at Polymarket; required when `WAGERS=polymarket` and `POLYMARKET_DRY_RUN=false`',
  }),
  POLYMARKET_SIGNATURE_TYPE: defineSetting({
    schema: integerSetting(0, 3),
    default: '0',
    description:
      'How the wallet at Polymarket signs: `0` EOA, the key itself; `1` POLY_PROXY; `2` POLY_GNOSIS_SAFE; `3` POLY_1271, a deposit wallet',
  }),
  POLYMARKET_FUNDER: defineSetting({
    schema: addressSchema.optional(),
    default: null,
    description: 'Wallet that pays for orders at Polymarket; required for the signature types 1 to 3; unset: the address of the key',
  }),
  POLYMARKET_HOST: defineSetting({
    schema: urlSetting(/^https?$/, 'an http(s) URL'),
    default: 'https://clob.polymarket.com',
    description: 'Where the order book of Polymarket answers',
  }),
  LOG_LEVEL: defineSetting({
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Least severe log line to print: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  }),
} as const;

export type SettingName = keyof typeof SETTINGS;
type SettingValues = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };

export interface Config extends SettingValues {
  /** `own`: this process runs it; `attached`: another process on this machine does; `real`: somebody else's chain. */
  readonly chainMode: 'own' | 'attached' | 'real';
}

type ProcessEnvironment = Readonly<Record<string, string | undefined>>;

/**
 * Reads all settings.
 * @throws OracleError CONFIG_INVALID naming every setting that is missing, malformed or unsafe; never its value when it is secret.
 */
export function loadConfig(environment: ProcessEnvironment = process.env): Config {
  const read = Object.entries(SETTINGS).map(([name, definition]) => parseSetting(name as SettingName, definition, environment));
  const malformed = read.flatMap(({ problem }) => problem ?? []);
  const values = Object.fromEntries(read.map(({ name, value }) => [name, value])) as SettingValues;
  const config = { ...values, chainMode: getChainMode(values.CHAIN_RPC_URL) };
  requireNoProblems([...malformed, ...findRuleProblems(config, new Set(malformed.map(({ name }) => name)))]);
  return config;
}

/** What is wrong beside the form of single settings. @param malformed settings whose values are unknown; nothing is said of them again */
function findRuleProblems(config: Config, malformed: ReadonlySet<string>): SettingProblem[] {
  // Which rules hold depends on the chain.
  if (malformed.has('CHAIN_RPC_URL')) return [];
  const checks = [findChainProblems, findPaymentProblems, findSharedKeys, findRealMoneyProblems, findLocalOnlySettings, findAdminProblems];
  return [...checks, findRealChainProblems].flatMap((find) => find(config)).filter(({ name }) => !malformed.has(name));
}

interface ParsedSetting {
  name: SettingName;
  value?: unknown;
  problem?: SettingProblem;
}

function parseSetting(name: SettingName, definition: SettingDefinition<z.ZodType>, environment: ProcessEnvironment): ParsedSetting {
  const text = environment[name] || definition.default || undefined;
  const parsed = definition.schema.safeParse(text);
  if (parsed.success) return { name, value: parsed.data };
  const shown = definition.secret || text === undefined ? '' : ` (found "${stripUserInfo(text)}")`;
  return { name, problem: { name, problem: `${parsed.error.issues[0]?.message ?? 'is not valid'}${shown}` } };
}

/** What stands before an `@` may be a user and password, however malformed the URL around them is. */
function stripUserInfo(text: string): string {
  const at = text.lastIndexOf('@');
  return at < 0 ? text : `***${text.slice(at)}`;
}

function getChainMode(rpcUrl: string | undefined): Config['chainMode'] {
  if (rpcUrl === undefined) return 'own';
  return isLoopback(new URL(rpcUrl).hostname) ? 'attached' : 'real';
}

function isLoopback(hostname: string): boolean {
  return hostname === 'localhost' || hostname === '[::1]' || /^127\./.test(hostname);
}

const THROW_AWAY_KEYS_ONLY = 'is refused on a local chain, which uses throw-away keys only; unset it, or set CHAIN_RPC_URL to a real chain';

function findChainProblems(config: Config): SettingProblem[] {
  const real = config.chainMode === 'real';
  return (Object.entries(SETTINGS) as [SettingName, SettingDefinition<z.ZodType>][]).flatMap(([name, { requiredOnRealChain, secret }]) => {
    if (!requiredOnRealChain) return [];
    if (real && config[name] === undefined) return [{ name, problem: 'is required when CHAIN_RPC_URL names a real chain' }];
    // A local chain carries the real chain's id: what a real key signs there is valid on the real one too.
    return !real && secret && config[name] !== undefined ? [{ name, problem: THROW_AWAY_KEYS_ONLY }] : [];
  });
}

function findPaymentProblems({ chainMode, FACILITATOR_PRIVATE_KEY, X402_FACILITATOR_URL }: Config): SettingProblem[] {
  const name = 'FACILITATOR_PRIVATE_KEY';
  if (chainMode === 'real' && FACILITATOR_PRIVATE_KEY === undefined && X402_FACILITATOR_URL === undefined)
    return [{ name, problem: 'is required on a real chain unless X402_FACILITATOR_URL is set' }];
  return chainMode !== 'real' && FACILITATOR_PRIVATE_KEY !== undefined ? [{ name, problem: THROW_AWAY_KEYS_ONLY }] : [];
}

const ROLE_KEYS = ['ATTESTER_PRIVATE_KEY', 'REPORTER_PRIVATE_KEY', 'FACILITATOR_PRIVATE_KEY', 'PROVIDER_PRIVATE_KEY'] as const;

/** A wallet has one queue of nonces, and ERC-8004 refuses what the owner of an agent, the attester, reports of it. */
function findSharedKeys(config: Config): SettingProblem[] {
  return ROLE_KEYS.flatMap((name, index) => {
    const key = config[name]?.toLowerCase();
    const other = ROLE_KEYS.slice(0, index).find((before) => key !== undefined && config[before]?.toLowerCase() === key);
    return other === undefined ? [] : [{ name, problem: `must not be the key of ${other}: each role has a wallet of its own` }];
  });
}

function findLocalOnlySettings({ PUSH_LOCAL_TARGETS, PROTOCOL_FIXTURES, chainMode }: Config): SettingProblem[] {
  if (chainMode !== 'real') return [];
  const problems: SettingProblem[] = [];
  if (PROTOCOL_FIXTURES === 'on')
    problems.push({
      name: 'PROTOCOL_FIXTURES',
      problem: 'on is for a local chain only: what test suites call is no answer of this service',
    });
  if (PUSH_LOCAL_TARGETS === 'allow')
    problems.push({
      name: 'PUSH_LOCAL_TARGETS',
      problem: 'allow is for a local chain only: on a real one it would open this machine to callers',
    });
  return problems;
}

function findAdminProblems({ ADMIN_USER, ADMIN_PASSWORD }: Config): SettingProblem[] {
  if (ADMIN_USER !== undefined && ADMIN_PASSWORD === undefined)
    return [{ name: 'ADMIN_PASSWORD', problem: 'is required when ADMIN_USER is set' }];
  if (ADMIN_PASSWORD !== undefined && ADMIN_USER === undefined)
    return [{ name: 'ADMIN_USER', problem: 'is required when ADMIN_PASSWORD is set' }];
  return [];
}

function findRealMoneyProblems(config: Config): SettingProblem[] {
  if (config.WAGERS !== 'polymarket' || config.POLYMARKET_DRY_RUN) return [];
  if (config.chainMode !== 'real') {
    const problem = 'false, which stakes real money, is refused on a local chain; set CHAIN_RPC_URL to a real one';
    return [{ name: 'POLYMARKET_DRY_RUN', problem }];
  }
  const problems: SettingProblem[] = [];
  if (config.POLYMARKET_PRIVATE_KEY === undefined)
    problems.push({ name: 'POLYMARKET_PRIVATE_KEY', problem: 'is required when WAGERS is polymarket and POLYMARKET_DRY_RUN is false' });
  if (config.POLYMARKET_SIGNATURE_TYPE !== 0 && config.POLYMARKET_FUNDER === undefined)
    problems.push({ name: 'POLYMARKET_FUNDER', problem: `is required for POLYMARKET_SIGNATURE_TYPE ${config.POLYMARKET_SIGNATURE_TYPE}` });
  return problems;
}

/** All at once, so that a start does not fail again for the next one. */
function requireNoProblems(problems: SettingProblem[]): void {
  const [first] = problems;
  if (first === undefined) return;
  const lines = problems.map(({ name, problem }) => `Setting ${name}: ${problem}`);
  const names = [...new Set(problems.map(({ name }) => name))];
  const message = lines.length === 1 ? lines[0]! : `${lines.length} settings cannot be used:\n  ${lines.join('\n  ')}`;
  throw new OracleError('CONFIG_INVALID', message, {
    field: first.name,
    suggestedAction: `Set ${names.join(', ')} as docs/SETTINGS.md says.`,
  });
}

/** Address to listen on. */
export function getListenHost(config: Config): string {
  return config.HOST ?? '127.0.0.1';
}

/** Where a service with these settings is reached from this machine. */
export function getLocalUrl(config: Config): string {
  const host = getListenHost(config);
  return `http://${host === '0.0.0.0' || host === '::' ? '127.0.0.1' : host.includes(':') ? `[${host}]` : host}:${config.PORT}`;
}

/** Values of all secret settings with their names, for the censoring of output. */
export function listSecretValues(config: Config): { name: string; value: string }[] {
  return (Object.entries(SETTINGS) as [SettingName, SettingDefinition<z.ZodType>][])
    .filter(([name, definition]) => definition.secret && config[name] !== undefined)
    .map(([name]) => ({ name, value: String(config[name]) }));
}

/** The settings table as Markdown, for docs/SETTINGS.md. */
export function renderSettingsTable(): string {
  const rows = Object.entries(SETTINGS as Record<string, SettingDefinition<z.ZodType>>).map(([name, definition]) => {
    const notes = [definition.secret && 'secret', definition.requiredOnRealChain && 'required on a real chain'].filter(Boolean);
    const shownDefault = definition.default === null ? '' : `\`${definition.default}\``;
    return `| \`${name}\` | ${shownDefault} | ${definition.description}${notes.length > 0 ? ` (${notes.join('; ')})` : ''} |`;
  });
  return ['| Setting | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
