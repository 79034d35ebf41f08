import { isIP } from 'node:net';
import { z } from 'zod';
import { parseApiKeySecret } from './platform/secrets.ts';

/** Base, of real deployments. */
export const BASE_CHAIN_ID = 8_453;
/** Base Sepolia's id: clients accept it without settings, and no signature made on the local chain is worth anything on Base. */
export const LOCAL_CHAIN_ID = 84_532;

export interface SettingDefinition {
  schema: z.ZodType;
  /** Text that applies when the setting is absent or empty. */
  default?: string;
  description: string;
  /** The value appears in no log, error or page. */
  secret?: boolean;
  /** Required on a real chain: with `CHAIN_RPC_URL`, unless `CHAIN_LOCAL` is 1. */
  requiredOnRealChain?: boolean;
}

type SettingDefinitions = Readonly<Record<string, SettingDefinition>>;

const integerSetting = (min: number, max: number) => {
  const error = `must be a whole number from ${min} to ${max}`;
  return z.coerce.number({ error }).int(error).min(min, error).max(max, error);
};
const urlSetting = (protocols: RegExp, what: string) => z.url({ protocol: protocols, error: `must be ${what}` });
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

const GATE_WALLETS = /^(none|((basic|premium):0x[0-9a-fA-F]{40}(,|$))+)(?<!,)$/;
const gateWalletsSchema = z
  .string()
  .regex(GATE_WALLETS, 'must be none, or basic:<address> and premium:<address>, separated by commas')
  .transform((text): ReadonlyMap<string, 'basic' | 'premium'> => {
    const pairs = text.toLowerCase().matchAll(/(basic|premium):(\w+)/g);
    return new Map(Array.from(pairs, ([, tier, wallet]) => [wallet!, tier as 'basic' | 'premium']));
  });

const hashListSchema = z
  .string()
  .regex(/^0x[0-9a-fA-F]{64}(,0x[0-9a-fA-F]{64})*$/, 'must be hashes, 0x and 64 hex characters each, separated by commas')
  .transform((text) => text.toLowerCase().split(',') as `0x${string}`[]);

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
const trustedProxiesSchema = z
  .string()
  .refine((text) => /^\d$/.test(text) || text.split(',').every(isTrustedProxy), {
    error: `must be a number of proxies from 0 to 9, or addresses, ranges such as 10.0.0.0/8, or ${PROXY_NAMES.join(', ')}, separated by commas`,
  })
  .transform((text) => (/^\d$/.test(text) ? Number(text) : text.split(',')));

/** Host names as browsers serialize them in `Origin`, or the scheme of browser extensions. */
const originHostsSchema = z
  .string()
  .regex(
    /^(([a-z0-9-]+(\.[a-z0-9-]+)*|\[[0-9a-f:.]+\]|(?!https?:)[a-z-]+:\/\/\*)(,|$))+(?<!,)$/,
    'must be host names in lower case without scheme and port, separated by commas, such as app.example.org',
  )
  .transform((text) => text.split(','));

const CHAIN_SETTINGS = {
  CHAIN_RPC_URL: {
    schema: urlSetting(/^https?$/, 'an http(s) URL').optional(),
    secret: true,
    description:
      'JSON-RPC endpoint of the chain, a real one unless `CHAIN_LOCAL` is `1`, wherever its node runs; unset: a local chain in `DATA_DIR`',
  },
  CHAIN_LOCAL: {
    schema: z.enum(['0', '1']),
    default: '0',
    description:
      '`1`: `CHAIN_RPC_URL` is the local chain of another process on `DATA_DIR`, whose throw-away keys sign; refused for another machine',
  },
  PUBLIC_RPC_URL: {
    schema: serviceUrlSchema.optional(),
    description:
      'Public JSON-RPC endpoint of a real chain for verifiers, without a key in it; unset: `https://mainnet.base.org` on chain 8453, none elsewhere',
  },
  CHAIN_ID: {
    schema: integerSetting(1, 2 ** 31 - 1).optional(),
    description: `Chain id that the endpoint must report; unset: ${BASE_CHAIN_ID} on a real chain. The local chain has ${LOCAL_CHAIN_ID}`,
  },
  CONFIRMATIONS: {
    schema: integerSetting(1, 1_000).optional(),
    description: 'Confirmation depth in blocks; unset: 1 on a local chain, 5 on a real one',
  },
  FINALITY_BLOCKS: {
    schema: integerSetting(1, 1_000_000).optional(),
    description:
      'Depth in blocks from which a transaction is no longer watched for reorganisations, on a chain without the block tags `finalized` and `safe`; unset: 1,800',
  },
  SALT_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    secret: true,
    requiredOnRealChain: true,
    description: 'Master secret of all commitment salts; keep it as long as the record',
  },
  ENCRYPTION_SECRET: {
    schema: z.string().min(32, 'must have at least 32 characters').optional(),
    secret: true,
    requiredOnRealChain: true,
    description: 'Master secret that encrypts signing keys and webhook secrets in the database',
  },
  GATE_TOKEN_ADDRESS: {
    schema: addressSchema.optional(),
    description: 'Gate token, an ERC-20 whose balance determines the tier; a real chain requires it or `GATE_WALLETS`',
  },
  GATE_WALLETS: {
    schema: gateWalletsSchema.optional(),
    description: 'In place of a gate token: `basic:<address>,premium:<address>`, or `none`; all other wallets pay per call',
  },
  STABLECOIN_ADDRESS: { schema: addressSchema.optional(), requiredOnRealChain: true, description: 'EIP-3009 stablecoin of payments' },
  IDENTITY_REGISTRY_ADDRESS: {
    schema: addressSchema.optional(),
    requiredOnRealChain: true,
    description: 'ERC-8004 identity registry; on Base `0x8004A169FB4a3325136EB29fA0ceB6D2e539a432`',
  },
  REPUTATION_REGISTRY_ADDRESS: {
    schema: addressSchema.optional(),
    requiredOnRealChain: true,
    description: 'ERC-8004 reputation registry; on Base `0x8004BAa17C55a88189AE136b182e5fdA19dE9b63`',
  },
} satisfies SettingDefinitions;

const FORECAST_SETTINGS = {
  REVEAL: {
    schema: z.enum(['resolution', 'immediate']),
    default: 'resolution',
    description: 'When a forecast is revealed to everyone: at its `resolution`, or `immediate`ly',
  },
  MODEL_CHAMPION: {
    schema: z.enum(['m0-d1', 'm1']),
    default: 'm0-d1',
    description: 'Model version that the service forecasts by; the others are committed and scored beside it as challengers',
  },
  MODEL_CHAMPION_FORCE: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: a version becomes champion that the record has not proven better; the record shows for ever that it was forced',
  },
  WAGERS: {
    schema: z.enum(['paper', 'polymarket', 'off']),
    default: 'paper',
    description: 'Venue of the daily wager: `paper`, `polymarket`, or `off` for no new wagers; open ones still settle',
  },
  WAGER_KILL_SWITCH: {
    schema: z.enum(['off', 'on']),
    default: 'off',
    description: '`on`: no new wagers at any venue, open ones still settle',
  },
  WAGER_MIN_STAKE_USD: {
    schema: integerSetting(0, 1_000_000),
    default: '1',
    description:
      'Minimum stake of the daily wager, whole dollars; where the minimum order of the venue costs more, that is staked. Without an edge it is staked on the side that the model favours; `0`: a day without an edge has no wager',
  },
  WAGER_MAX_STAKE_USD: {
    schema: integerSetting(1, 1_000_000),
    default: '50',
    description: 'Maximum stake of one wager at Polymarket, whole dollars',
  },
  WAGER_MAX_OPEN_USD: {
    schema: integerSetting(1, 1_000_000),
    default: '250',
    description: 'Maximum sum of open stakes at Polymarket, whole dollars',
  },
  PAPER_BANKROLL_USD: {
    schema: integerSetting(1, 1_000_000_000),
    default: '10000',
    description: 'Initial balance of the paper account and of the dry run at Polymarket, whole dollars',
  },
  POLYMARKET_DRY_RUN: {
    schema: z.enum(['true', 'false']).transform((text) => text === 'true'),
    default: 'true',
    description: '`true`: orders are priced and filled from the live order book and recorded, but not sent; `false`: real money',
  },
  POLYMARKET_PRIVATE_KEY: {
    schema: privateKeySchema.optional(),
    secret: true,
    description: 'Key that signs orders at Polymarket; required when `WAGERS=polymarket` and `POLYMARKET_DRY_RUN=false`',
  },
  POLYMARKET_SIGNATURE_TYPE: {
    schema: integerSetting(0, 3),
    default: '0',
    description:
      'How the wallet at Polymarket signs: `0` EOA, the key itself; `1` POLY_PROXY; `2` POLY_GNOSIS_SAFE; `3` POLY_1271, a deposit wallet',
  },
  POLYMARKET_FUNDER: {
    schema: addressSchema.optional(),
    description: 'Wallet that funds orders at Polymarket; required for signature types 1 to 3; unset: the address of the key',
  },
  POLYMARKET_HOST: {
    schema: urlSetting(/^https?$/, 'an http(s) URL'),
    default: 'https://clob.polymarket.com',
    description: 'URL of the Polymarket order book',
  },
  LOG_LEVEL: {
    schema: z.enum(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent']),
    default: 'info',
    description: 'Minimum log level: `fatal`, `error`, `warn`, `info`, `debug`, `trace` or `silent`',
  },
} satisfies SettingDefinitions;

const INTERFACE_SETTINGS = {
  ADMIN_USER: {
    schema: z
      .string()
      .regex(/^[^:\p{Cc}]{1,64}$/u, 'must have 1 to 64 characters without a colon')
      .optional(),
    description: 'User name of the operator at `/admin`, for HTTP Basic; set with `ADMIN_PASSWORD`; unset: `/admin` is not served',
  },
  ADMIN_PASSWORD: {
    schema: z
      .string()
      .regex(/^\P{Cc}{16,200}$/u, 'must have 16 to 200 characters on one line')
      .optional(),
    secret: true,
    description: 'Password of the operator, 16 characters or more; set with `ADMIN_USER`',
  },
  PUSH_LOCAL_TARGETS: {
    schema: z.enum(['refuse', 'allow']).optional(),
    description:
      '`allow`: webhooks and A2A callbacks to this machine, such as `http://127.0.0.1:8080/`, callbacks also without a token; for development, on a local chain only; unset: webhooks alone, where chain, `HOST` and `PUBLIC_URL` are local',
  },
  MCP_ALLOWED_ORIGINS: {
    schema: originHostsSchema.optional(),
    description:
      'Host names of further origins besides `PUBLIC_URL` that may call `/mcp`, separated by commas; `moz-extension://*`: all extensions of that browser; unset: none',
  },
  MCP_PAYMENTS: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description:
      '`off`: nothing over MCP names or takes payments, for directories that list no tools that can be paid for; also for `npm run mcp`',
  },
  MCP_OAUTH: {
    schema: z.enum(['on', 'off']),
    default: 'on',
    description: '`on`: assistants connect to `/mcp/account` by OAuth, for a wallet that signs once; `off`: access tokens by login only',
  },
  PROTOCOL_FIXTURES: {
    schema: z.string().min(1).optional(),
    description:
      'Module of what A2A and MCP also serve to their official test suites, `test/support/protocols/fixtures.ts`; on a local chain only',
  },
  ORACLE_URL: {
    schema: serviceUrlSchema.optional(),
    description: 'For `npm run mcp` only: URL of the service; unset: this machine, at `PORT`',
  },
  ORACLE_TOKEN: {
    schema: z
      .string()
      .regex(/^[\w.~+/=-]{1,4096}$/, 'must be an access token or an API key, without spaces and without "Bearer"')
      .optional(),
    secret: true,
    description:
      'For `npm run mcp` and `svc` only: the access token, or an API key of `svc access create`; unset: anonymous, or the stored session',
  },
} satisfies SettingDefinitions;

const PAYMENT_SETTINGS = {
  PAYEE_ADDRESS: {
    schema: addressSchema.refine((text) => !/^0x0+$/.test(text), 'must not be the zero address: what it gets is burned').optional(),
    requiredOnRealChain: true,
    description: "Wallet that receives x402 payments and purchases; unset on a local chain: the provider's",
  },
  X402_FACILITATOR_URL: {
    // Public in payment quotes.
    schema: serviceUrlSchema.optional(),
    description: 'x402 facilitator that verifies and settles payments; unset: this process, with the wallet of the facilitator',
  },
  CDP_API_KEY_ID: {
    schema: z
      .string()
      .regex(/^[\w/-]{8,256}$/, 'must be the id or name of an API key')
      .optional(),
    secret: true,
    description:
      'Secret API key of the Coinbase Developer Platform that authenticates requests to `X402_FACILITATOR_URL`, set with `CDP_API_KEY_SECRET`; unset: requests carry no key',
  },
  CDP_API_KEY_SECRET: {
    schema: z
      .string()
      .refine((text) => parseApiKeySecret(text) !== null, 'must be base64 of the 64 bytes of an Ed25519 key, or a P-256 key as PEM')
      .optional(),
    secret: true,
    description: 'Its secret: base64 (Ed25519), or PEM (ECDSA), whose line ends may be written `\\n`',
  },
  X402_FACILITATOR_FEE_USD: {
    schema: z
      .string()
      .regex(/^\d{1,6}(\.\d{1,6})?$/, 'must be dollars with at most six decimals')
      .optional(),
    description:
      'What the facilitator of `X402_FACILITATOR_URL` charges for a settlement, dollars such as `0.001`, which is compared with the prices; unset: not known',
  },
  CHAIN_CURRENCY_USD: {
    schema: integerSetting(1, 10_000_000).optional(),
    description:
      "Price of the chain's native currency (ether on Base) in dollars, to compare settlement gas with prices; no feed follows it: set it again when it has moved; unset: 10000 on a real chain, which admits fewer contract wallets than the true price, and no limit by price on a local one",
  },
  X402_MAX_GAS_CENTS: {
    schema: integerSetting(1, 10_000),
    default: '10',
    description:
      'Maximum gas cost of one settlement in cents; more expensive ones wait for lower fees. Payments of contract wallets never cost more gas than they pay',
  },
  X402_WALLET_FACTORIES: {
    schema: addressListSchema.optional(),
    description:
      "Factories that may deploy a payer's contract wallet with its payment (ERC-6492), separated by commas; unset: none on a real chain, its own on a local one",
  },
  X402_DEPLOYMENTS_PER_DAY: {
    schema: integerSetting(0, 100_000),
    default: '100',
    description:
      "Maximum number of payers' wallets deployed within 24 hours, a twentieth for one address, a tenth for one /24, /56 or /48, a quarter reserved for ranges with hardly any; further ones wait. Each costs at most gas worth its payment",
  },
  PURCHASE_SIGNATURE: {
    schema: z.enum(['optional', 'required']).optional(),
    description:
      "Whether a purchase requires the buyer's signature, since the transfer on chain is public; unset: `optional` on a local chain, `required` on a real one",
  },
  AGENT_COMMERCE_ADDRESS: {
    schema: addressSchema.optional(),
    description:
      'ERC-8183 contract of accepted jobs; on Base `0x238E541BfefD82238730D00a2208E5497F1832E0`; unset: its own on a local chain, none on a real one',
  },
  AGENT_COMMERCE_EVALUATORS: {
    schema: addressListSchema.optional(),
    description: 'Evaluators whose jobs are accepted at any price, separated by commas; unset: none',
  },
  AGENT_COMMERCE_MAX_USD: {
    schema: integerSetting(0, 1_000_000).optional(),
    description:
      'Maximum price of jobs with other evaluators, whole dollars: such an evaluator can read a delivery and reject it, for gas alone; unset: 5 on a local chain, 0 (none accepted) on a real one',
  },
  AGENT_COMMERCE_CODE_HASHES: {
    schema: hashListSchema.optional(),
    description:
      'keccak256 of the runtime code of the job contract, and of its implementation behind a proxy, separated by commas, once you have read that this code pays a job without an evaluator with its submission; unset: such jobs are rejected',
  },
  AGENT_COMMERCE_DIRECT_MAX_USD: {
    schema: integerSetting(0, 1_000_000),
    default: '5',
    description: 'Maximum price of a job without an evaluator, whole dollars',
  },
  AGENT_COMMERCE_DIRECT_MAX_OPEN: {
    schema: integerSetting(1, 1_000),
    default: '10',
    description:
      'Jobs without an evaluator at a time, of all clients that have not paid a job before; each costs the provider a transaction',
  },
  AGENT_COMMERCE_MARKETPLACE_URL: {
    schema: serviceUrlSchema.optional(),
    description:
      "API of a marketplace from which its buyers read deliveries, as the Virtuals ACP v2 SDK does (`https://api.acp.virtuals.io`): each submitted delivery is posted there too, and the marketplace's operator reads sold forecasts before they are public; unset: none",
  },
} satisfies SettingDefinitions;

const PROCESS_SETTINGS = {
  PORT: {
    schema: integerSetting(0, 65_535),
    default: '3000',
    description: 'TCP port of the HTTP server, with sixteen listeners on Linux; 0 takes a free one',
  },
  HOST: {
    schema: z.string().min(1).optional(),
    description: 'Address to listen on; unset: `127.0.0.1`, reachable from this machine only; `0.0.0.0`: all addresses, for a container',
  },
  DRAIN_SECONDS: {
    schema: integerSetting(0, 60),
    default: '0',
    description:
      'Seconds from a stop signal to the end of accepting requests, for a process behind a proxy: `/health` answers 503 from the signal on, so that other processes are asked',
  },
  METRICS_PORT: {
    schema: integerSetting(0, 65_535).optional(),
    description: 'TCP port of `GET /metrics` for Prometheus, on `METRICS_HOST`; 0 takes a free one; unset: no metrics are served',
  },
  METRICS_HOST: {
    schema: z.string().min(1),
    default: '127.0.0.1',
    description: 'Address of `METRICS_PORT`, which only the scraper of the operator should reach',
  },
  PUBLIC_URL: {
    // Paths are appended, and the URL is public.
    schema: urlSetting(/^https?$/, 'an http(s) URL')
      .refine((text) => !/[?#@]/.test(text), 'must be a URL without user, query and fragment')
      .transform((text) => text.replace(/\/+$/, ''))
      .optional(),
    requiredOnRealChain: true,
    description: 'Public URL of the service, also in the on-chain identity; unset: `http://HOST:PORT`',
  },
  CONTACT: {
    schema: z
      .union([z.email(), z.url({ protocol: /^https$/ })], { error: 'must be an e-mail address or an https URL' })
      // `z.url` accepts what a URL parser drops.
      .refine((text) => !/[\s\p{Cc}]/u.test(text), 'must be on one line')
      .optional(),
    description:
      'E-mail address or https URL by which the operator is reached, public in the OpenAPI document and `/.well-known/security.txt`; unset: `PUBLIC_URL`',
  },
  DATA_DIR: {
    schema: z.string().min(1),
    default: './data',
    description: 'Folder of the embedded database, the local chain and `demo.json`',
  },
  ROLE: {
    schema: z.enum(['all', 'api', 'worker']),
    default: 'all',
    description: '`api` answers requests, `worker` runs the pipeline, `all` does both',
  },
  FEEDS: {
    schema: z.string().regex(/^(auto|live|simulated|csv:.+)$/, 'must be auto, live, simulated or csv:<folder>'),
    default: 'auto',
    description: 'Market data: `auto`, `live`, `simulated` or `csv:<folder>`; `auto` uses live data if the providers are reachable',
  },
  PROVIDER_URLS: {
    schema: z
      .string()
      .regex(
        /^([\w-]+|\*)=https?:\/\/[^\s,]+(,([\w-]+|\*)=https?:\/\/[^\s,]+)*$/,
        'must be provider=url with http or https, separated by commas',
      )
      .optional(),
    description:
      'URLs of live data providers, for a mirror or proxy: `provider=url` separated by commas, `*=https://host/{provider}` for all others',
  },
  SOSOVALUE_API_KEY: {
    schema: z.string().min(1).optional(),
    secret: true,
    description: 'Key of the SoSoValue API, a source of ETF flows; unset: sources without a key',
  },
  SIMULATION_SEED: {
    schema: integerSetting(0, 2 ** 31 - 1),
    default: '2',
    description: 'Seed of the simulated market; equal seeds give equal markets',
  },
  REPLAY_DAYS: {
    schema: integerSetting(0, 3_650),
    default: '120',
    description:
      'Days of history that the first start on a local chain replays; 0: none. 500 take half a minute and 600 MB, ten years four minutes and 1.2 GB, most of it in the node of the chain (`npm run bench -- replay --days 3650`, 2 cores of an AMD EPYC)',
  },
  MONGODB_URI: {
    // Not a URL to every parser: a replica set has several hosts.
    schema: z
      .string()
      .regex(/^mongodb(\+srv)?:\/\/\S+$/, 'must be a mongodb:// or mongodb+srv:// URI')
      .optional(),
    secret: true,
    description: 'MongoDB database; unset: the embedded one in `DATA_DIR`',
  },
  BACKUP_KEY: {
    schema: z
      .string()
      .regex(/^[0-9a-fA-F]{64}$/, 'must be 64 hex characters, as of openssl rand -hex 32')
      .optional(),
    secret: true,
    description: 'Encrypts what `svc backup` writes, and opens it for `svc restore`; without it backups can be neither written nor read',
  },
} satisfies SettingDefinitions;

const REQUEST_SETTINGS = {
  TRUST_PROXY: {
    schema: trustedProxiesSchema,
    default: '0',
    description:
      'Trusted proxies, whose `X-Forwarded-For` counts: their number, or addresses, ranges, `loopback`, `linklocal`, `uniquelocal`, separated by commas; `0`: none',
  },
  MAX_CONNECTIONS: {
    schema: integerSetting(64, 1_000_000),
    default: '4096',
    description:
      'Maximum client connections: at most a sixteenth per address, an eighth per /56, a quarter per /48. A further eighth is reserved for `/health`, `/ready`, token holders and payers; each needs a file descriptor',
  },
  RATE_LIMIT_PUBLIC: {
    schema: integerSetting(1, 1_000_000),
    default: '60',
    description: 'Requests per minute and address (IPv6: /64) without a valid token',
  },
  RATE_LIMIT_WALLET: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description: 'Requests per minute and authenticated wallet, over all addresses',
  },
  RATE_LIMIT_RPC: {
    schema: integerSetting(1, 1_000_000),
    default: '10',
    description: 'Requests per minute and address to operations that call the chain; they also count towards the limits above',
  },
  RATE_LIMIT_TASKS: {
    schema: integerSetting(1, 1_000_000),
    default: '300',
    description:
      'A2A messages stored per hour and address without a token, in units of 4 kB; 20 times as many for all such callers, and 20 times as many again for addresses that have sent at most a tenth',
  },
} satisfies SettingDefinitions;

/** Roles of a wallet of its own, in the order in which a start reports them. */
export const SIGNER_ROLES = ['ATTESTER', 'REPORTER', 'FACILITATOR', 'PROVIDER'] as const;
export type SignerSettingRole = (typeof SIGNER_ROLES)[number];

const signerSchema = z
  .string()
  .regex(/^(kms:[\w:/.-]{1,2048}|https?:\/\/\S+)$/, 'must be kms:<id, ARN or alias/name of a key>, or the URL of a Web3Signer')
  .refine((text) => text.startsWith('kms:') || URL.canParse(text), { error: 'must be a URL' });

const keySetting = { schema: privateKeySchema.optional(), secret: true } as const;
// A URL may hold a password.
const signerSetting = { schema: signerSchema.optional(), secret: true } as const;
const addressSetting = { schema: addressSchema.optional() } as const;

type RoleSettings<Role extends SignerSettingRole> = Record<`${Role}_PRIVATE_KEY`, typeof keySetting & SettingDefinition> &
  Record<`${Role}_SIGNER`, typeof signerSetting & SettingDefinition> &
  Record<`${Role}_ADDRESS`, typeof addressSetting & SettingDefinition>;

/** The three settings of a role's wallet. @param duty what the wallet does, as the end of a sentence */
function defineRole<Role extends SignerSettingRole>(role: Role, duty: string): RoleSettings<Role> {
  const [key, signer] = [`${role}_PRIVATE_KEY`, `${role}_SIGNER`];
  return {
    [key]: { ...keySetting, description: `Key of the wallet that ${duty}; a real chain requires it or \`${signer}\`` },
    [signer]: {
      ...signerSetting,
      description: `Signer of that wallet in place of \`${key}\`: \`kms:<id, ARN or alias/name>\` of AWS KMS, or the URL of a Web3Signer`,
    },
    [`${role}_ADDRESS`]: {
      ...addressSetting,
      description: `Address of that wallet, which the start compares; required with the URL of a Web3Signer`,
    },
  } as RoleSettings<Role>;
}

/** Wallets of the roles. The one of Polymarket has a raw key only, since its client library signs itself. */
const SIGNER_SETTINGS = {
  ...defineRole('ATTESTER', 'attests forecasts and owns the agent identity'),
  ...defineRole('REPORTER', 'logs wager outcomes to ERC-8004'),
  ...defineRole('FACILITATOR', 'settles x402 payments and pays their gas, not needed with `X402_FACILITATOR_URL`'),
  ...defineRole('PROVIDER', 'signs receipts and accepts jobs of the agent commerce protocol'),
  AWS_REGION: {
    schema: z
      .string()
      .regex(/^[a-z]{2}(-[a-z]+)+-\d$/, 'must be a region such as eu-central-1')
      .optional(),
    description: 'Region of KMS keys that are not named by an ARN',
  },
  AWS_ENDPOINT_URL_KMS: {
    schema: urlSetting(/^https?$/, 'an http(s) URL').optional(),
    description: 'URL of AWS KMS, such as that of a VPC endpoint; unset: the public one of the region',
  },
  AWS_ACCESS_KEY_ID: {
    schema: z
      .string()
      .regex(/^\w{16,128}$/, 'must be the id of an access key')
      .optional(),
    secret: true,
    description:
      'Access key for AWS KMS, set with `AWS_SECRET_ACCESS_KEY`; unset: what the AWS SDK finds, such as the role of the machine or container',
  },
  AWS_SECRET_ACCESS_KEY: { schema: z.string().min(16, 'must be a secret access key').optional(), secret: true, description: 'Its secret' },
  AWS_SESSION_TOKEN: { schema: z.string().min(1).optional(), secret: true, description: 'Its session token, where it is temporary' },
} satisfies SettingDefinitions;

/** All settings. Validation, documentation and log censoring derive from this table. */
export const SETTINGS = {
  ...PROCESS_SETTINGS,
  ...CHAIN_SETTINGS,
  ...SIGNER_SETTINGS,
  ...REQUEST_SETTINGS,
  ...PAYMENT_SETTINGS,
  ...INTERFACE_SETTINGS,
  ...FORECAST_SETTINGS,
};

export type SettingName = keyof typeof SETTINGS;
export type SettingValues = { readonly [K in SettingName]: z.output<(typeof SETTINGS)[K]['schema']> };

export interface Config extends Omit<SettingValues, 'CHAIN_ID'> {
  readonly CHAIN_ID: number;
  /** By the settings, never by address or chain id. `own`: this process runs the local chain; `attached`: another one on the data folder does. */
  readonly chainMode: 'own' | 'attached' | 'real';
  /** Variables that look like settings and are none; problems on a real chain. */
  readonly unknownVariables: readonly SettingProblem[];
}

/** A missing, invalid or unknown setting. Contains no secret value. */
export interface SettingProblem {
  /** Of the variable. */
  name: string;
  problem: string;
}

export const listSettings = () => Object.entries(SETTINGS) as [SettingName, SettingDefinition][];

/** Environment variables of the settings: their names, and those of files with secrets. */
export function listVariables(): string[] {
  return listSettings().flatMap(([name, { secret }]) => (secret ? [name, `${name}_FILE`] : [name]));
}

export function listSecretValues(config: Config): { name: string; value: string }[] {
  return listSettings()
    .filter(([name, { secret }]) => secret && config[name] !== undefined)
    .map(([name]) => ({ name, value: String(config[name]) }));
}

export function renderSettingsTable(): string {
  const rows = listSettings().map(([name, definition]) => {
    const notes = [definition.secret && 'secret', definition.requiredOnRealChain && 'required on a real chain'].filter(Boolean);
    const shownDefault = definition.default === undefined ? '' : `\`${definition.default}\``;
    return `| \`${name}\` | ${shownDefault} | ${definition.description}${notes.length > 0 ? ` (${notes.join('; ')})` : ''} |`;
  });
  return ['| Setting | Default | Meaning |', '| --- | --- | --- |', ...rows].join('\n');
}
