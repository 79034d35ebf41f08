import { z } from 'zod';
import { MAX_DAYS_LEFT, PUBLIC_ROLES } from '../../chain/contracts.ts';
import { FEED_KINDS } from '../../market/feed.ts';
import { CIRCUIT_STATES, PROVIDER_IDS } from '../../market/live/provider.ts';
import { SERIES_ID } from '../../market/reports/report.ts';
import {
  ADDRESS,
  COUNT,
  DATE,
  INTEGER_TEXT,
  listOf,
  namedObject,
  nullableObjectOf,
  objectOf,
  PROBABILITY,
  SUCCESS,
  TIME,
} from '../../platform/validation.ts';
import { TALLY } from '../../record/schemas/forecast.ts';

const SETUP = nullableObjectOf('Startup progress; null once complete', {
  what: z.string().describe('Current startup step'),
  done: COUNT.nullable().describe('Completed units; null where not counted'),
  total: COUNT.nullable().describe('Total units; null where not counted'),
}).meta({ id: 'StartupProgress' });

export const STARTING = z.object({
  status: z.literal('starting').describe('The process is alive and starting'),
  setup: SETUP,
});

export const HEALTH = z
  .discriminatedUnion('status', [
    objectOf('Startup is complete', {
      status: z.literal('ok').describe('The process is alive'),
      version: z.string().describe('Version of the software'),
      uptimeSeconds: COUNT.describe('Seconds since process start'),
      setup: SETUP,
    }),
    STARTING.describe('During startup; other paths answer 503'),
    objectOf('From a stop signal on, with status 503', {
      status: z.literal('stopping').describe('The process still answers, and ends soon'),
      version: z.string().describe('Version of the software'),
      setup: SETUP,
    }),
  ])
  .meta({ id: 'Health' });

export type Health = z.input<typeof HEALTH>;

const READINESS_CHECK = namedObject('ReadinessCheck', {
  name: z.string().describe('Requirement'),
  ok: z.boolean().describe('Whether it is met'),
  detail: z.string().describe('Details, or what is missing'),
});

export const READINESS = namedObject('Readiness', {
  ready: z.boolean().describe('True when every check is ok'),
  checks: z.array(READINESS_CHECK).describe('All checks'),
});

const SERIES_PROVIDERS = z
  .array(
    z.object({
      provider: z.enum(PROVIDER_IDS).describe('Provider'),
      circuit: z.enum(CIRCUIT_STATES).describe('`open`: suspended after failures; `half-open`: being retried'),
    }),
  )
  .meta({ id: 'SeriesProviders' });

const SERIES_STATE = {
  lastObserved: DATE.nullable().describe('Date of the last observation; null without one'),
  ageDays: z.int().nullable().describe('Days since that date; null without one'),
  stale: z.boolean().describe('True when it is missing or too old'),
  providers: SERIES_PROVIDERS.describe('Providers, the primary first; empty where none is polled'),
};

export const CACHE_STATS = namedObject('CacheStats', {
  success: SUCCESS,
  source: z.string().describe('Market data source'),
  caches: listOf('Caches of this process', {
    name: z.string().describe('Cached data'),
    hits: COUNT.describe('Cache hits since process start'),
    misses: COUNT.describe('Cache misses'),
    hitRate: PROBABILITY.nullable().describe('Hit rate, 0 to 1; null before the first call'),
    entries: COUNT.describe('Cached values'),
  }),
  feeds: listOf('Freshness of each series', {
    series: SERIES_ID.describe('What it is'),
    source: z.string().describe('Source'),
    ...SERIES_STATE,
  }),
});

export type CacheStats = z.input<typeof CACHE_STATS>;

const PROVIDER = z.object({
  provider: z.enum(PROVIDER_IDS).describe('Provider'),
  title: z.string().describe('Its name'),
  circuit: z.enum(CIRCUIT_STATES).describe('`open`: suspended after failures; `half-open`: being retried'),
  calls: COUNT.describe('Calls since process start'),
  failures: COUNT.describe('Calls that failed after retries'),
  lastOkAt: TIME.nullable().describe('Last success; null before'),
  lastFailureAt: TIME.nullable().describe('Last failure; null without one'),
  lastError: z.string().nullable().describe('Last error; null after a success'),
  clockSkewMs: z
    .number()
    .nullable()
    .describe('Clock of the provider less that of the service, milliseconds, to the second; null without timestamps'),
  rowsLeftOut: COUNT.describe('Invalid rows of its answers, which were left out, since process start'),
  lastLeftOutAt: TIME.nullable().describe('When a row was last left out; null without one'),
  lastLeftOut: z.string().nullable().describe('Why that row was left out'),
});

const MARKET = z.object({
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  source: z.string().describe('Source'),
  reason: z.string().nullable().describe('Why this feed was chosen; null where it was configured'),
  note: z.string().nullable().describe('Set when the data has ended; null otherwise'),
  coverage: objectOf('Days with prices', {
    from: DATE.describe('First day with a price'),
    to: DATE.nullable().describe('Last day with a price; null where the feed has no end'),
  }),
  series: listOf('Coverage of each series', {
    series: SERIES_ID.describe('What it is'),
    title: z.string().describe('Its name'),
    source: z.string().describe('Source'),
    ...SERIES_STATE,
  }),
  providers: z.array(PROVIDER).describe('Provider status; empty for a feed without providers'),
});

export const CONTRACT_ADDRESSES = {
  eas: ADDRESS.describe('Ethereum Attestation Service'),
  schemaRegistry: ADDRESS.describe('Schema registry of EAS'),
  gateToken: ADDRESS.nullable().describe('ERC-20 gate token; null where the operator lists the wallets of the tiers'),
  stablecoin: ADDRESS.describe('Stablecoin of payments'),
  identityRegistry: ADDRESS.describe('ERC-8004 identity registry'),
  reputationRegistry: ADDRESS.describe('ERC-8004 reputation registry'),
  agentCommerce: ADDRESS.nullable().describe('ERC-8183 contract; null where no jobs are taken'),
};

const CHAIN = z.object({
  chainId: z.int().min(1).describe('Chain id'),
  local: z.boolean().describe('True for a local throw-away chain'),
  confirmations: z.int().min(1).describe('Confirmation depth, blocks'),
  contracts: objectOf('Contract addresses', CONTRACT_ADDRESSES),
  blockNumber: COUNT.nullable().describe('Newest block; null when the chain does not answer'),
  blockTime: TIME.nullable().describe('Block time; null when the chain does not answer'),
  error: z.string().nullable().describe('Why the chain does not answer; null when it does'),
});

const WALLET = z.object({
  role: z
    .enum(PUBLIC_ROLES)
    .describe('`attester` commits and reveals, `reporter` logs wager outcomes, `provider` signs receipts and takes jobs'),
  address: ADDRESS.describe('Contract address'),
  balanceWei: INTEGER_TEXT.describe('Gas balance, wei, decimal digits; at most a minute old'),
  daysLeft: COUNT.nullable().describe(
    `Whole days the balance lasts at the mean cost of the last seven days, at most ${MAX_DAYS_LEFT}; null where its transactions do not go back a week, or cost nothing in it`,
  ),
});

export const STEP_RUN = namedObject('StepRun', {
  step: z.string().describe('Daily step'),
  date: DATE.describe('Day it ran for'),
  state: z.enum(['done', 'waiting', 'failed']).describe('Result of the latest run; `waiting` is retried, `failed` needs an operator'),
  reason: z
    .string()
    .nullable()
    .describe('Why it waits or failed; null when done, and for `wager` and `settle`, whose reasons are not published'),
  ranAt: TIME.describe('When it ran; the replayed time in a replay'),
  attempts: COUNT.describe('Attempts for that day'),
  replayed: z.boolean().describe('True when the demonstration replayed a past day'),
});

/** Millionths of a dollar. */
const MICRO_USD = z.int();

/** Public: must not contain secrets or values of unresolved forecasts. */
export const STATUS = namedObject('Status', {
  success: SUCCESS,
  version: z.string().describe('Version of the software'),
  role: z.enum(['all', 'api', 'worker']).describe('Role of this process'),
  time: TIME.describe('Clock of this process'),
  uptimeSeconds: COUNT.describe('Seconds since process start'),
  memoryMb: COUNT.describe('Memory of the process, MiB'),
  ready: z.boolean().describe('True when every check is ok'),
  checks: z.array(READINESS_CHECK).describe('Readiness checks'),
  market: MARKET.describe('Market data source and freshness'),
  chain: CHAIN.describe('Chain of the attestations'),
  wallets: z.array(WALLET).nullable().describe('Gas balances of the wallets; null when the chain does not answer'),
  payments: z
    .array(READINESS_CHECK)
    .describe('Whether payments can be settled (`facilitator`) and received (`payee`); at most a minute old'),
  settlement: objectOf('What one settlement of a payment by x402 costs now, beside each price; at most a minute old', {
    settledBy: z.enum(['service', 'facilitator']).describe('`service` pays the gas itself; `facilitator` is a hosted one'),
    costMicros: MICRO_USD.min(0)
      .nullable()
      .describe('Gas at the current fee, or the fee of the facilitator, in millionths of a dollar; null when not known'),
    detail: z.string().describe('How the cost follows, or why it is not known'),
    margins: listOf('Offerings paid by x402', {
      offering: z.string().describe('Name of the offering'),
      priceMicros: MICRO_USD.min(0).describe('Price, in millionths of a dollar'),
      marginMicros: MICRO_USD.nullable().describe('Price less cost, in millionths of a dollar; below 0 a sale costs more than it brings'),
    }),
  }),
  record: objectOf('Coverage of the record', {
    firstDay: DATE.nullable().describe('First day of the record; null before it'),
    lastDay: DATE.nullable().describe('Last day of the record; null before the first'),
    days: COUNT.describe('Days from first to last, missed ones included'),
    replayedDays: COUNT.describe('Days replayed by the demonstration'),
    forecasts: objectOf('Forecasts of all horizons by status', {
      PENDING: COUNT.describe('Not resolved yet'),
      WIN: COUNT.describe('Direction was right'),
      LOSS: COUNT.describe('Direction was wrong'),
      HOLD: COUNT.describe('Abstained'),
      VOID: COUNT.describe('Missed or committed too late'),
    }),
    wagers: TALLY.describe('Settled wagers of days with all forecasts public'),
  }),
  steps: z.array(STEP_RUN).describe('Latest run of every step'),
  wagering: objectOf('State of wagering', {
    on: z.boolean().describe('Whether new wagers are enabled by settings and operator; open ones settle in any case'),
    paused: z.boolean().describe('True while the operator has paused new wagers'),
    since: TIME.nullable().describe('When the operator last paused or resumed them; null where never'),
  }),
  schedule: listOf('Next runs of all jobs; empty where this process runs none', {
    job: z.string().describe('Job name'),
    nextRunAt: TIME.nullable().describe('Next run; null when none is scheduled'),
  }),
});

export type Status = z.input<typeof STATUS>;

export type ServiceStatus = Omit<Status, 'success'>;
