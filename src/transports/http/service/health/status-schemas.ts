import { z } from 'zod';
import { MAX_DAYS_LEFT, PUBLIC_ROLES } from '../../../../chain/wallet-funds.ts';
import { FEED_KINDS } from '../../../../market/feed.ts';
import { CIRCUIT_STATES } from '../../../../market/live/providers/provider.ts';
import { PROVIDER_IDS } from '../../../../market/live/providers/providers.ts';
import { SERIES_IDS } from '../../../../market/series/series.ts';
import { ADDRESS, COUNT, DATE, INTEGER_TEXT, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { TALLY } from '../../../../record/schemas/forecast.ts';
import { READINESS_CHECK, SERIES_PROVIDERS } from './schemas.ts';

const SERIES = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  title: z.string().describe('Its name'),
  source: z.string().describe('Where it comes from'),
  lastObserved: DATE.nullable().describe('Date of the last observation; null without one'),
  ageDays: z.int().nullable().describe('Days since that date; null without one'),
  stale: z.boolean().describe('True when it is missing or too old to be used'),
  providers: SERIES_PROVIDERS.describe('Who is asked for it, the primary first; empty where nobody is'),
});

const PROVIDER = z.object({
  provider: z.enum(PROVIDER_IDS).describe('Who is asked'),
  title: z.string().describe('Its name'),
  circuit: z.enum(CIRCUIT_STATES).describe('`open`: left alone after failures; `half-open`: being tried again'),
  calls: COUNT.describe('Calls since the process began'),
  failures: COUNT.describe('How many of them failed for good'),
  lastOkAt: TIME.nullable().describe('When a call succeeded last; null before'),
  lastFailureAt: TIME.nullable().describe('When a call failed last; null without one'),
  lastError: z.string().nullable().describe('The last failure in words; null once a call has succeeded again'),
  clockSkewMs: z.number().nullable().describe("The provider's clock less ours, milliseconds, to the second; null where it tells no time"),
});

const MARKET = z.object({
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  source: z.string().describe('Where it comes from'),
  reason: z.string().nullable().describe('Why this feed and not another; null where it was asked for'),
  note: z.string().nullable().describe('That the data has ended; null while it goes on'),
  coverage: z
    .object({
      from: DATE.describe('First day with a price'),
      to: DATE.nullable().describe('Last day with a price; null where the feed has no end'),
    })
    .describe('Days with prices'),
  series: z.array(SERIES).describe('How far each series reaches'),
  providers: z.array(PROVIDER).describe('How the providers are doing; empty for a feed that asks nobody'),
});

const CHAIN = z.object({
  chainId: z.int().min(1).describe('Id of the chain'),
  local: z.boolean().describe('True for a throw-away chain on this machine'),
  confirmations: z.int().min(1).describe('Blocks after which a transaction counts'),
  contracts: z
    .object({
      eas: ADDRESS.describe('Ethereum Attestation Service'),
      schemaRegistry: ADDRESS.describe('Schema registry of EAS'),
      gateToken: ADDRESS.describe('ERC-20 whose balance opens the tiers'),
      stablecoin: ADDRESS.describe('Stablecoin of payments'),
      identityRegistry: ADDRESS.describe('ERC-8004 identity registry'),
      reputationRegistry: ADDRESS.describe('ERC-8004 reputation registry'),
      agentCommerce: ADDRESS.nullable().describe('ERC-8183 contract whose jobs are taken; null where none are'),
    })
    .describe('Addresses on that chain'),
  blockNumber: COUNT.nullable().describe('Newest block; null when the chain does not answer'),
  blockTime: TIME.nullable().describe('Its time; null when the chain does not answer'),
  error: z.string().nullable().describe('Why the chain does not answer; null when it does'),
});

const WALLET = z.object({
  role: z
    .enum(PUBLIC_ROLES)
    .describe('What it does: `attester` commits and reveals, `reporter` logs outcomes of wagers, `provider` signs receipts and takes jobs'),
  address: ADDRESS.describe('Its address'),
  balanceWei: INTEGER_TEXT.describe("What it has for gas: the chain's own currency, wei, decimal digits; at most a minute old"),
  daysLeft: COUNT.nullable().describe(
    `Whole days that this lasts if each costs what the last seven have cost on average, ${MAX_DAYS_LEFT} for longer too; null where its transactions do not go back a week, or cost nothing in it`,
  ),
});

const RECORD = z.object({
  firstDay: DATE.nullable().describe('First day of the record; null before it'),
  lastDay: DATE.nullable().describe('Last day of the record; null before the first'),
  days: COUNT.describe('Days from the first to the last, missed ones included'),
  replayedDays: COUNT.describe('How many of them the demonstration replayed'),
  forecasts: z
    .object({
      PENDING: COUNT.describe('Not resolved yet'),
      WIN: COUNT.describe('Direction came true'),
      LOSS: COUNT.describe('Direction did not come true'),
      HOLD: COUNT.describe('Abstained'),
      VOID: COUNT.describe('Missed or committed too late'),
    })
    .describe('Forecasts of all horizons by status'),
  wagers: TALLY.describe('Settled wagers of days whose forecasts are all told'),
});

/** How a step of the day ran last. */
export const STEP_RUN = z.object({
  step: z.string().describe('Step of the day'),
  date: DATE.describe('The day that it ran for'),
  state: z.enum(['done', 'waiting', 'failed']).describe('How its latest run ended; `waiting` is tried again, `failed` needs a person'),
  reason: z
    .string()
    .nullable()
    .describe("What it waits for, or why it failed; null when it is done, and for `wager` and `settle`, whose reasons are the operator's"),
  ranAt: TIME.describe('When it ran; in a replay, the replayed time'),
  attempts: COUNT.describe('How often it was tried for that day'),
  replayed: z.boolean().describe('True when the demonstration replayed a past day'),
});

const WAGERING = z.object({
  on: z.boolean().describe('New wagers are made: neither the settings nor the operator hold them back; open ones settle in any case'),
  paused: z.boolean().describe('True while the operator has paused new wagers'),
  since: TIME.nullable().describe('When the operator last paused or resumed them; null where that never happened'),
});

const JOB = z.object({
  job: z.string().describe('Name of the job'),
  nextRunAt: TIME.nullable().describe('When it runs next; null when it does not'),
});

/** Nothing secret and nothing of an unresolved forecast goes in. */
export const STATUS = z.object({
  success: SUCCESS,
  version: z.string().describe('Version of the software'),
  role: z.enum(['all', 'api', 'worker']).describe('What this process does'),
  time: TIME.describe("This process's clock"),
  uptimeSeconds: COUNT.describe('Seconds since the process began'),
  memoryMb: COUNT.describe('Memory of the process, MiB'),
  ready: z.boolean().describe('True when every check is ok'),
  checks: z.array(READINESS_CHECK).describe('What the service needs, part by part'),
  market: MARKET.describe('Where the market data comes from, and how fresh it is'),
  chain: CHAIN.describe('The chain that is attested on'),
  wallets: z.array(WALLET).nullable().describe('What wallets have for gas; null when the chain does not answer'),
  record: RECORD.describe('How far the record reaches'),
  steps: z.array(STEP_RUN).describe('The newest run of every step'),
  wagering: WAGERING.describe('Whether new wagers are made'),
  schedule: z.array(JOB).describe('Next runs of all jobs; empty where this process runs none'),
});

export type Status = z.input<typeof STATUS>;

/** What the service says of itself. */
export type ServiceStatus = Omit<Status, 'success'>;
