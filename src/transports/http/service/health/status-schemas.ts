import { z } from 'zod';
import { MAX_DAYS_LEFT, PUBLIC_ROLES } from '../../../../chain/wallet-funds.ts';
import { ARCHIVE_SERIES_IDS } from '../../../../market/archive/archive-series.ts';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { CIRCUIT_STATES } from '../../../../market/live/providers/provider.ts';
import { PROVIDER_IDS } from '../../../../market/live/providers/providers.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { ADDRESS, COUNT, DATE, INTEGER_TEXT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { TALLY } from '../../../../record/schemas/forecast.ts';
import { READINESS_CHECK, SERIES_STATE } from './schemas.ts';

const SERIES = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  source: z.string().describe('Source'),
  ...SERIES_STATE,
});

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
});

const ARCHIVE = z.object({
  series: z.enum(ARCHIVE_SERIES_IDS).describe('What is collected'),
  title: z.string().describe('Its name'),
  lastOkAt: TIME.nullable().describe('Last successful collection; null before'),
  failures: COUNT.describe('Consecutive failed collections'),
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
  series: z.array(SERIES).describe('Coverage of each series'),
  providers: z.array(PROVIDER).describe('Provider status; empty for a feed without providers'),
  archive: z.array(ARCHIVE).describe('Collection of data for later models, which is not served; empty unless data is live'),
});

const CHAIN = z.object({
  chainId: z.int().min(1).describe('Chain id'),
  local: z.boolean().describe('True for a local throw-away chain'),
  confirmations: z.int().min(1).describe('Confirmation depth, blocks'),
  contracts: objectOf('Contract addresses', {
    eas: ADDRESS.describe('Ethereum Attestation Service'),
    schemaRegistry: ADDRESS.describe('Schema registry of EAS'),
    gateToken: ADDRESS.describe('ERC-20 gate token'),
    stablecoin: ADDRESS.describe('Stablecoin of payments'),
    identityRegistry: ADDRESS.describe('ERC-8004 identity registry'),
    reputationRegistry: ADDRESS.describe('ERC-8004 reputation registry'),
    agentCommerce: ADDRESS.nullable().describe('ERC-8183 contract; null where no jobs are taken'),
  }),
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

const RECORD = z.object({
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
});

export const STEP_RUN = z.object({
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

const WAGERING = z.object({
  on: z.boolean().describe('Whether new wagers are enabled by settings and operator; open ones settle in any case'),
  paused: z.boolean().describe('True while the operator has paused new wagers'),
  since: TIME.nullable().describe('When the operator last paused or resumed them; null where never'),
});

const JOB = z.object({
  job: z.string().describe('Job name'),
  nextRunAt: TIME.nullable().describe('Next run; null when none is scheduled'),
});

/** Public: must not contain secrets or values of unresolved forecasts. */
export const STATUS = z.object({
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
  record: RECORD.describe('Coverage of the record'),
  steps: z.array(STEP_RUN).describe('Latest run of every step'),
  wagering: WAGERING.describe('State of wagering'),
  schedule: z.array(JOB).describe('Next runs of all jobs; empty where this process runs none'),
});

export type Status = z.input<typeof STATUS>;

export type ServiceStatus = Omit<Status, 'success'>;
