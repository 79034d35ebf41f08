import { z } from 'zod';
import { DEFAULT_HORIZON, HORIZON_NAMES, HORIZON_SPELLINGS, type HorizonChoice, sortHorizons } from '../forecast/horizon-input.ts';
import { formatHorizonName, HORIZONS, type HorizonName } from '../forecast/model.ts';
import { MOVE_SIZES, type MoveSize } from '../forecast/move.ts';
import { RISK_LEVELS } from '../forecast/regime.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, TIME, withInputRules } from '../platform/validation.ts';
import {
  CONFIDENCE,
  DIRECTION,
  FORECAST_ID,
  FORECAST_STATE,
  FORECAST_VALUES,
  MOVE,
  MOVE_LIMITS,
  OUTCOME,
  REGIME,
  SIGNAL,
  STATUS,
} from '../record/schemas/forecast.ts';

const SIDE = z.enum(['YES', 'NO']);
const BELOW_BASIC = 'null for a wallet below Basic';
const MICROS = z.int().min(0);

const { regime, modelVersion, windowOpensAt, resolvesAt, timestamp, replayed, late } = FORECAST_STATE;

/** First what every subscriber may read. Interface, section 6.1: `signal`, `confidence`, `direction`, `btcPrice`, `regime`, `horizon`; the others verify them. */
const SIGNAL_NEW = z.object({
  ...MOVE,
  moveLimits: MOVE_LIMITS,
  moveSizeBefore: MOVE.moveSize.describe('Size of the last earlier forecast of the horizon that has one; null where there is none'),
  signal: SIGNAL.describe('GATED for a wallet below Basic; else BUY, SELL or HOLD'),
  confidence: CONFIDENCE.nullable().describe(`Calibrated probability of the direction as committed, 0.50 to 0.99; ${BELOW_BASIC}`),
  direction: DIRECTION.nullable().describe(`Expected direction over the horizon; ${BELOW_BASIC}`),
  btcPrice: z.number().describe('BTC/USD at signal time'),
  regime,
  ...FORECAST_ID,
  pUp: PROBABILITY.nullable().describe(`Probability, as committed, that the close at resolution is higher; ${BELOW_BASIC}`),
  modelVersion,
  windowOpensAt,
  resolvesAt,
  timestamp,
  commitment: BYTES32.describe('Salted hash of the values, attested on chain before the window opens; see `attestation.created`'),
  salt: BYTES32.nullable().describe(`Salt that verifies the values against the commitment; ${BELOW_BASIC}`),
  replayed,
  late,
  premium: z
    .object({
      climatology: PROBABILITY.describe('Base rate of UP over the training range'),
      threshold: z.number().describe('Distance of P(up) from one half at which BUY or SELL is issued in this regime'),
      priceQuantiles: z.record(z.string(), z.number()).describe('BTC/USD at resolution by level: `p05` to `p95`'),
    })
    .nullable()
    .describe('Additional values for Premium; null below Premium'),
});

/** Interface, section 6.1: `date`, `direction`, `outcome`, `btcAtSignal`, `btcAtResolution`. */
const SIGNAL_RESOLVED = z.object({
  ...FORECAST_ID,
  ...MOVE,
  big: z.boolean().nullable().describe('Whether the move from `btcPrice` of the forecast was big, either way; null without `pBig`'),
  signal: z
    .enum(['BUY', 'SELL'])
    .describe('Forecast signal; a HOLD is not scored, its resolution is published by `attestation.created` only'),
  direction: DIRECTION.describe('Forecast direction'),
  confidence: CONFIDENCE.describe('Calibrated probability of the direction as committed'),
  pUp: FORECAST_VALUES.pUp.unwrap().describe('Probability, as committed, that the close at resolution is higher'),
  outcome: OUTCOME.describe('Whether the direction came true'),
  actualDirection: DIRECTION.describe('Direction of the price'),
  btcAtSignal: z.number().describe('Daily close at window open, USD, which the outcome is measured from'),
  btcAtResolution: z.number().describe('Daily close at resolution, USD'),
  returnBps: z.int().describe('Return over the window in basis points'),
  venues: z.array(z.string()).describe('Venues of the closes'),
  resolvedAt: TIME.describe('Block time of the resolution'),
  predictionUid: BYTES32.describe('Attestation that committed to the forecast'),
  resolutionUid: BYTES32.describe('Attestation that reveals it with its outcome'),
  salt: BYTES32.describe('Salt that verifies the values against the commitment'),
  modelVersion,
  replayed,
});

const ATTESTATION_CREATED = z.object({
  uid: BYTES32.describe('Uid of the attestation'),
  type: z.enum(['prediction', 'resolution']).describe('`prediction` commits to a forecast, `resolution` reveals it with its outcome'),
  ...FORECAST_ID,
  status: STATUS.describe(
    'Status of the forecast with this attestation: PENDING, or VOID if it was too late; WIN, LOSS or HOLD once resolved',
  ),
  chain: z.string().describe('Chain, CAIP-2, e.g. `eip155:8453`'),
  txHash: BYTES32.describe('Transaction of the attestation'),
  blockNumber: COUNT.describe('Block of the transaction'),
  attestedAt: TIME.describe('Time of that block'),
  refUid: BYTES32.nullable().describe(
    'Referenced attestation: of a resolution its prediction, of a prediction that of the day before; null on the first day',
  ),
  commitment: BYTES32.describe('Commitment on chain; zero when nothing was forecast'),
  cid: z.string().describe('CIDv1 of the metadata, served at `/ipfs/{cid}`'),
  verifyUrl: z.url().describe('URL that verifies the attestation field by field'),
  replayed,
});

const WAGER = {
  date: DATE.describe('UTC day of the forecast'),
  market: z.string().describe('The question'),
  side: SIDE.nullable().describe(`Side that was bought; ${BELOW_BASIC}`),
  amount: z.number().nullable().describe(`Cost including the fee, in units of \`asset\`; ${BELOW_BASIC}`),
  odds: z.number().nullable().describe(`Decimal odds, 1 / price: payout per unit when it wins; ${BELOW_BASIC}`),
  amountMicros: MICROS.nullable().describe(`\`amount\` in millionths of \`asset\`; ${BELOW_BASIC}`),
  contracts: z.number().min(0).nullable().describe(`Contracts bought, each paying one unit when it wins; ${BELOW_BASIC}`),
  price: PROBABILITY.nullable().describe(`Mean cost of a contract, fee included; ${BELOW_BASIC}`),
  asset: z.string().describe('Currency; `PAPER-USD` is no money'),
  venue: z.string().describe("Venue of the wager; `paper` is the service's own simulated book"),
  marketId: z.string().describe('Id of the market at the venue'),
  strikeUsd: z.number().describe('Strike of the question, BTC/USD'),
  expiresAt: TIME.describe('When the market ends'),
};

/** Length of `reason` in characters; the venue may supply a part of it. */
export const MAX_REASON_LENGTH = 300;

/** Interface, section 6.1: `market`, `side`, `amount`, `odds`; one event a day, even without a wager. */
const WAGER_PLACED = z.object({
  ...WAGER,
  market: z.string().describe('The question; `none` on a day without a market'),
  side: z.enum(['YES', 'NO', 'NONE']).nullable().describe(`Side that was bought; NONE if nothing was; ${BELOW_BASIC}`),
  amount: z.number().nullable().describe(`Cost including the fee, in units of \`asset\`; 0 if nothing was bought; ${BELOW_BASIC}`),
  odds: z.number().nullable().describe(`Decimal odds, 1 / price; 0 if nothing was bought; ${BELOW_BASIC}`),
  placed: z.boolean().nullable().describe(`Whether a wager was placed; ${BELOW_BASIC}`),
  reason: z
    .string()
    .max(MAX_REASON_LENGTH)
    .nullable()
    .describe(`Why none was placed, partly quoted from the venue; null if one was placed, and for a wallet below Basic`),
  marketId: WAGER.marketId.nullable().describe('Id of the market at the venue; null on a day without a market'),
  strikeUsd: WAGER.strikeUsd.nullable().describe('Strike of the question, BTC/USD; null on a day without a market'),
  expiresAt: TIME.nullable().describe('When the market ends; null on a day without a market'),
  placedAt: TIME.nullable().describe(`Time of purchase; null if nothing was bought, and for a wallet below Basic`),
  replayed,
  premium: z
    .object({
      pModel: PROBABILITY.describe("The model's probability of YES"),
      qMarket: PROBABILITY.describe("The market's, between bid and ask"),
      pBelieved: PROBABILITY.describe('Probability that a stake with an edge is sized by'),
      weight: PROBABILITY.describe('Weight of the model against the market, earned by its record'),
      yesTokenId: z.string().nullable().describe('Outcome token of YES; null where the venue has none'),
      noTokenId: z.string().nullable().describe('Outcome token of NO; null where the venue has none'),
    })
    .nullable()
    .describe('Additional values for Premium; null below Premium, and on a day without a quoted market'),
});

const WAGER_SETTLED = z.object({
  ...WAGER,
  winner: SIDE.nullable().describe('Side that won the market; null where it ended without a winner'),
  outcome: z
    .enum(['WIN', 'LOSS', 'VOID'])
    .nullable()
    .describe(`Whether the wager won; VOID: paid a share by a market without a winner; ${BELOW_BASIC}`),
  payout: z.number().nullable().describe(`Payout in units of \`asset\`; ${BELOW_BASIC}`),
  payoutMicros: MICROS.nullable().describe(`The same in millionths; ${BELOW_BASIC}`),
  pnl: z.number().nullable().describe(`\`payout\` less \`amount\`; ${BELOW_BASIC}`),
  pnlMicros: z.int().nullable().describe(`The same in millionths; ${BELOW_BASIC}`),
  settledAt: TIME.describe('When it was settled'),
  replayed,
});

const REGIME_CHANGED = z.object({
  from: REGIME.describe('Regime of the last earlier day that has one'),
  to: REGIME.describe('Current regime'),
  timestamp: TIME.describe('Time of the evaluation'),
  date: DATE.describe('Day of that evaluation, UTC'),
  riskLevel: z.enum(RISK_LEVELS).describe('Risk level of the current regime'),
  replayed,
});

const WEBHOOK_DISABLED = z.object({
  webhookId: z.uuid().describe('The disabled webhook'),
  url: z.string().describe('Its URL'),
  reason: z.string().describe('Reason'),
  failingSince: TIME.nullable().describe('First of the failures without a success in between; null if that was not the reason'),
  enableUrl: z.url().describe('POST to this URL enables it again'),
});

export const PAYLOADS = {
  'signal.new': SIGNAL_NEW,
  'signal.resolved': SIGNAL_RESOLVED,
  'wager.placed': WAGER_PLACED,
  'wager.settled': WAGER_SETTLED,
  'attestation.created': ATTESTATION_CREATED,
  'regime.changed': REGIME_CHANGED,
  'webhook.disabled': WEBHOOK_DISABLED,
} as const satisfies Record<PushedName, z.ZodObject>;

export type EventPayload<Name extends PushedName = PushedName> = z.input<(typeof PAYLOADS)[Name]>;

export const EVENT_ENVELOPE = {
  id: z.int().min(1).describe('Position in the event log, which increases by one per event, including filtered ones. Resume with it'),
  type: z.string().describe('Kind of event'),
  timestamp: TIME.describe('When it happened'),
};

export interface PushedEvent<Name extends PushedName = PushedName> {
  id: number;
  type: Name;
  timestamp: string;
  data: EventPayload<Name>;
}

/** Events that all transports push (interface, section 6.1). */
export const EVENT_NAMES = [
  'signal.new',
  'signal.resolved',
  'wager.placed',
  'wager.settled',
  'attestation.created',
  'regime.changed',
] as const;

const NOTICE_NAMES = ['webhook.disabled'] as const;
export const PUSHED_NAMES = [...EVENT_NAMES, ...NOTICE_NAMES] as const;

export type PushedName = (typeof PUSHED_NAMES)[number];

/** The WebSocket and its rules (interface, section 6.1). */
export const WEBSOCKET = {
  path: '/ws/signal',
  pingSeconds: 30,
  reconnectSeconds: 5,
  expiredCloseCode: 4001,
  connectionsPerWallet: 5,
} as const;

export const EVENT_KINDS: Readonly<Record<PushedName, { meaning: string; frequency: string }>> = {
  'signal.new': { meaning: 'A new daily signal', frequency: 'once a day, about 21:35 UTC' },
  'signal.resolved': { meaning: 'A pending prediction was resolved', frequency: 'as outcomes settle' },
  'wager.placed': {
    meaning: 'The wager of the day was placed in the prediction market, or none was',
    frequency: 'once a day, about 21:42 UTC',
  },
  'wager.settled': { meaning: 'A wager was settled', frequency: 'as markets resolve' },
  'attestation.created': {
    meaning: 'A prediction, or the resolution of one, was attested on chain',
    frequency: 'of the type prediction once a day, about 21:38 UTC; of the type resolution as outcomes settle',
  },
  'regime.changed': { meaning: 'The regime changed', frequency: 'on change' },
  'webhook.disabled': {
    meaning: 'A webhook was disabled',
    frequency: 'after a 410 or five days of failure (a chat: also once it is deleted); to its owner only',
  },
};

/** Of a subscription that names none: with a filter of the move the horizon at which its size is known best. */
export function getDefaultHorizons(moveSize: readonly MoveSize[] | null): readonly HorizonName[] {
  return [moveSize === null ? DEFAULT_HORIZON : '1d'];
}

/** One horizon or several; neither: the default. */
export interface HorizonFields {
  horizon?: HorizonName;
  horizons?: HorizonChoice;
}

const ALL = 'all';
const hasNoDuplicates = (values: readonly unknown[]) => new Set(values).size === values.length;

const ONE_RULE = `must be one of ${HORIZON_NAMES.join(', ')}, with or without the d; several go into horizons`;
const LIST_RULE = `must be a list of ${HORIZON_NAMES.join(', ')}, with or without the d, or "${ALL}"`;

/** One horizon in JSON: `"7d"`, `"7"` or `7`, parsed to `7d`. */
export const HORIZON_FIELD = z
  .union([z.enum(HORIZON_SPELLINGS), z.literal([...HORIZONS])], { error: ONE_RULE })
  .transform((value) => formatHorizonName(Number.parseInt(String(value), 10)));

/** Several horizons in JSON, or `"all"`, parsed to null. */
export const HORIZONS_FIELD = z.union(
  [
    withInputRules(
      z
        .array(HORIZON_FIELD)
        .min(1, 'must name at least one horizon')
        .max(HORIZONS.length, 'must name each of them once')
        .refine(hasNoDuplicates, { error: 'must name each of them once' }),
      { uniqueItems: true },
    ),
    z.literal(ALL).transform(() => null),
  ],
  { error: LIST_RULE },
);

/** Filter of the move in JSON. */
export const MOVE_SIZE_FIELD = withInputRules(
  z
    .array(z.enum(MOVE_SIZES, { error: `must be one of ${MOVE_SIZES.join(', ')}` }), {
      error: `must be a list of ${MOVE_SIZES.join(', ')}`,
    })
    .min(1, 'must name at least one size')
    .max(MOVE_SIZES.length, 'must name each of them once')
    .refine(hasNoDuplicates, { error: 'must name each of them once' }),
  { uniqueItems: true },
);
export const MOVE_SIZE_FILTER = 'Of `signal.new` only those whose `moveSize` is one of these and differs from `moveSizeBefore`';

export function sortMoveSizes(sizes: readonly MoveSize[]): MoveSize[] {
  return MOVE_SIZES.filter((size) => sizes.includes(size));
}

export const ONE_CHOICE: [(fields: HorizonFields) => boolean, { path: string[]; error: string }] = [
  ({ horizon, horizons }) => horizon === undefined || horizons === undefined,
  { path: ['horizon'], error: 'cannot be sent together with horizons: send one of them' },
];

/** The same rule in JSON Schema; linters require the properties to be defined. */
export const ONE_CHOICE_RULE = { not: { properties: { horizon: {}, horizons: {} }, required: ['horizon', 'horizons'] } };

export function parseHorizonChoice({ horizon, horizons }: HorizonFields): HorizonChoice | undefined {
  if (horizon !== undefined) return [horizon];
  return horizons == null ? horizons : sortHorizons(horizons);
}
