import { z } from 'zod';

/** Rules of the fields of one answer, by their path in it: `summary.wins`, `predictions[].date`, `outcome?.correct` where it may be null. */
export type Fields = Readonly<Record<string, z.ZodType>>;

const WHOLE = z.int();
const COUNT = WHOLE.min(0);
const SHARE = z.number().min(0).max(1);
const PRICE = z.number().positive();
const TEXT = z.string().min(1);
const TIME = z.iso.datetime();
const DATE = z.iso.date();
const YES = z.literal(true);
const BYTES32 = z.string().regex(/^0x[a-fA-F0-9]{64}$/);
const ADDRESS = z.string().regex(/^0x[a-fA-F0-9]{40}$/);
const SIGNAL = z.enum(['BUY', 'SELL', 'HOLD']);
const DIRECTION = z.enum(['UP', 'DOWN']);
const CONFIDENCE = z.number().min(0.5).max(0.99);
const HORIZON = z.enum(['1d', '2d', '3d', '7d']);
const FEAR_GREED = WHOLE.min(0).max(100);
const FEAR_GREED_LABEL = z.enum(['Extreme Fear', 'Fear', 'Neutral', 'Greed', 'Extreme Greed']);
const STATUS = z.enum(['WIN', 'LOSS', 'HOLD', 'PENDING']);
const OBJECT = z.looseObject({});
const LIST = z.array(z.unknown());

/** Risk levels of the regimes, section 2.4. */
export const RISK_LEVELS = {
  CRISIS: 'Extreme',
  BEAR_TREND: 'High',
  BEAR_RECOVERY: 'Elevated',
  CHOP: 'Moderate',
  BULL_TREND: 'Low',
  EUPHORIA: 'Elevated',
  DEFAULT: 'Moderate',
} as const;
const REGIME = z.enum(Object.keys(RISK_LEVELS) as (keyof typeof RISK_LEVELS)[]);

/** Section 2.1. */
export const PUBLIC_SIGNAL: Fields = {
  signal: z.literal('GATED'),
  confidence: z.null(),
  btcPrice: PRICE,
  fearGreed: FEAR_GREED,
  fearGreedLabel: FEAR_GREED_LABEL,
  etfFlows7d: z.number(),
  regime: REGIME,
  modelVersion: TEXT,
  model_version: TEXT,
  timestamp: TIME,
  horizon: HORIZON,
};

/** Section 2.1 for callers who are authenticated. */
export const OPEN_SIGNAL: Fields = { ...PUBLIC_SIGNAL, signal: SIGNAL, confidence: CONFIDENCE };

/** Section 2.2. */
export const ORACLE: Fields = {
  signal: SIGNAL,
  confidence: CONFIDENCE,
  direction: DIRECTION,
  horizon: HORIZON,
  btcPrice: PRICE,
  regime: REGIME,
  modelVersion: TEXT,
  model_version: TEXT,
  timestamp: TIME,
  accuracy_7d: SHARE.nullable(),
  access: OBJECT,
  'access.tier': z.enum(['basic', 'premium']),
  'access.wallet': ADDRESS,
  'access.requirement': TEXT,
};

const CATEGORIES = ['trend', 'momentum', 'flow', 'value'].flatMap((name): [string, z.ZodType][] => [
  [`categories.${name}.signal`, TEXT],
  [`categories.${name}.score`, z.number()],
]);

/** Section 2.2, Premium. */
export const PREMIUM: Fields = {
  ...ORACLE,
  'access.tier': z.literal('premium'),
  marketContext: OBJECT,
  'marketContext.fearGreed': FEAR_GREED,
  'marketContext.etfFlows7d': z.number(),
  accuracy: OBJECT,
  'accuracy.last30d': SHARE,
  categories: OBJECT,
  ...Object.fromEntries(CATEGORIES),
  market_context: OBJECT,
  'market_context.btc_price': PRICE,
  'market_context.fear_greed': FEAR_GREED,
  'market_context.etf_flow_7d': z.number(),
};

/** Section 4.1: these alone. */
export const WIDGET: Fields = { '': z.strictObject({ signal: z.enum([...SIGNAL.options, 'GATED']), confidence: CONFIDENCE.nullable() }) };

/** Section 2.3 without its rows. */
export const SCORECARD_TOTALS: Fields = {
  success: YES,
  summary: OBJECT,
  'summary.totalPredictions': COUNT,
  'summary.resolved': COUNT,
  'summary.wins': COUNT,
  'summary.losses': COUNT,
  'summary.accuracy': SHARE,
  'summary.dedupedTotal': COUNT,
  'summary.dedupedAccuracy': SHARE,
  'summary.streak': OBJECT,
  'summary.streak.count': COUNT,
  'summary.streak.type': z.enum(['WIN', 'LOSS']),
  predictions: LIST,
  stats: OBJECT,
  'stats.total': COUNT,
  'stats.wins': COUNT,
  'stats.losses': COUNT,
  'stats.accuracy': SHARE,
  'stats.currentStreak': COUNT,
  'stats.longestStreak': COUNT,
};

/** Section 2.3, a row. `outcome` is the object of the machine-readable shape: the reference page's word stands in `status`. */
const ROW: Fields = {
  date: DATE,
  direction: DIRECTION,
  confidence: CONFIDENCE,
  btcPrice: PRICE,
  status: STATUS,
  outcome: OBJECT.nullable(),
  'outcome?.actualReturn': z.number(),
  'outcome?.actualDirection': DIRECTION,
  'outcome?.correct': z.boolean(),
  signal: SIGNAL,
  btcAtSignal: PRICE,
  btcAtResolution: PRICE.nullable(),
  resolvedAt: z.union([DATE, TIME]).nullable(),
};

const ofRows = (fields: Fields, prefix: string): Fields =>
  Object.fromEntries(Object.entries(fields).map(([name, rule]) => [`${prefix}${name}`, rule]));

/** Section 2.3 for callers who are authenticated. */
export const SCORECARD: Fields = { ...SCORECARD_TOTALS, ...ofRows(ROW, 'predictions[].') };

/** Section 2.3 for public callers: what an open forecast says is gated, on purpose, as in section 2.1. */
export const PUBLIC_SCORECARD: Fields = {
  ...SCORECARD_TOTALS,
  ...ofRows(
    { ...ROW, signal: z.enum([...SIGNAL.options, 'GATED']), direction: DIRECTION.nullable(), confidence: CONFIDENCE.nullable() },
    'predictions[].',
  ),
};

/** Section 2.4. */
export const REGIME_NOW: Fields = {
  regime: REGIME,
  description: TEXT,
  riskLevel: z.enum(Object.values(RISK_LEVELS)),
  timestamp: TIME,
  factors: OBJECT,
  'factors.trendPosition': TEXT,
  'factors.momentum': TEXT,
  'factors.sentiment': TEXT,
  'factors.volatility': TEXT,
};

/** Section 2.5 for callers who are authenticated; what an outcome brings is null until there is one. */
export const ATTESTATION: Fields = {
  date: DATE,
  predictionId: TEXT,
  uid: BYTES32,
  txHash: BYTES32,
  cid: TEXT,
  direction: DIRECTION,
  confidence: CONFIDENCE,
  btcPrice: PRICE,
  resolved: z.boolean(),
  correct: z.boolean().nullable(),
  resolutionPrice: PRICE.nullable(),
  returnBps: WHOLE.nullable(),
  signal: SIGNAL,
  modelVersion: TEXT,
  timestamp: TIME,
  type: z.enum(['prediction', 'resolution']),
  outcome: z.enum(['WIN', 'LOSS']).nullable(),
  btcAtSignal: PRICE,
  btcAtResolution: PRICE.nullable(),
};

/** Section 2.5 for public callers: an open forecast is gated, as in section 2.1. */
const PUBLIC_ATTESTATION: Fields = {
  ...ATTESTATION,
  signal: z.enum([...SIGNAL.options, 'GATED']),
  direction: DIRECTION.nullable(),
  confidence: CONFIDENCE.nullable(),
};

/** Section 4.1, both variants. */
const ofBothLists = (fields: Fields): Fields => ({ ...ofRows(fields, 'data[].'), ...ofRows(fields, 'attestations[].') });
export const HISTORY: Fields = {
  ...{ success: YES, count: COUNT.max(100), data: LIST, attestations: LIST, total: COUNT },
  ...ofBothLists(ATTESTATION),
};
export const PUBLIC_HISTORY: Fields = { ...HISTORY, ...ofBothLists(PUBLIC_ATTESTATION) };
export const LATEST: Fields = { success: YES, data: OBJECT, ...ofRows(ATTESTATION, 'data.') };

/** Section 2.5: a verified attestation, both variants. */
export const VERIFIED: Fields = {
  success: YES,
  data: OBJECT,
  'data.uid': BYTES32,
  'data.attester': ADDRESS,
  'data.schema': TEXT,
  'data.schemaVersion': TEXT,
  'data.decoded': LIST,
  uid: BYTES32,
  verified: YES,
  onChain: YES,
  date: DATE,
  type: z.enum(['prediction', 'resolution']),
  signal: SIGNAL,
  direction: DIRECTION,
  confidence: CONFIDENCE,
  btcPrice: PRICE,
  attester: ADDRESS,
  txHash: BYTES32,
  // No explorer knows a local chain.
  easscanUrl: z.url().nullable(),
};

/** Section 2.5: statistics; times are null before the first attestation. */
export const ATTESTATION_STATS: Fields = {
  success: YES,
  data: OBJECT,
  'data.totalPublished': COUNT,
  'data.totalResolved': COUNT,
  'data.totalGasWei': z.string().regex(/^\d+$/),
  totalAttestations: COUNT,
  predictions: COUNT,
  resolutions: COUNT,
  firstAttestation: TIME.nullable(),
  latestAttestation: TIME.nullable(),
  chain: TEXT,
  attester: ADDRESS,
};

/** Section 2.6. */
export const BTC_PRICE: Fields = { price: PRICE, change24h: z.number(), timestamp: TIME };
export const FEAR_AND_GREED: Fields = { value: FEAR_GREED, classification: FEAR_GREED_LABEL, label: FEAR_GREED_LABEL, timestamp: TIME };
export const ETF_FLOWS: Fields = {
  ...Object.fromEntries(['flow7d', 'flows7d', 'flow30d', 'flows30d', 'lastDay'].map((name) => [name, z.number()])),
  timestamp: TIME,
};
const CORRELATION = z.number().min(-1).max(1);
export const MACRO_CORRELATION: Fields = {
  dxy: OBJECT,
  sp500: OBJECT,
  goldBtcRatio: OBJECT,
  ismPmi: OBJECT,
  'dxy.value': z.number(),
  'dxy.correlation': CORRELATION,
  'dxy.change5d': z.number(),
  'sp500.correlation': CORRELATION,
  'goldBtcRatio.correlation': CORRELATION,
  'ismPmi.value': z.number(),
  'ismPmi.correlation': CORRELATION,
  timestamp: TIME,
};

/** Section 2.7. */
export const IDENTITY: Fields = {
  success: YES,
  registered: z.boolean(),
  agentId: COUNT,
  chain: TEXT,
  wallet: ADDRESS,
  name: TEXT,
  registeredAt: TIME,
  capabilities: z.array(z.string()),
};
export const REPUTATION: Fields = {
  success: YES,
  registered: z.boolean(),
  agentId: COUNT,
  reputation: OBJECT,
  'reputation.totalFeedback': COUNT,
  'reputation.averageScore': z.number(),
  totalFeedback: COUNT,
  positive: COUNT,
  negative: COUNT,
  score: z.number(),
  // Null before the first feedback.
  lastUpdated: TIME.nullable(),
};

const OFFERING_NAMES = [
  'svc_signal_with_proof',
  'svc_verified_track_record',
  'svc_analysis_report',
  'svc_crowd_vs_oracle',
  'svc_daily_macro_review',
  'svc_alpha_brief',
] as const;

/** Section 2.8. */
export const OFFERINGS: Fields = {
  offerings: z
    .array(z.looseObject({ name: TEXT }))
    .refine((offered) => OFFERING_NAMES.every((own) => offered.some(({ name }) => name === own))),
  'offerings[].name': TEXT,
  'offerings[].description': TEXT,
  'offerings[].priceDisplay': TEXT,
  'offerings[].example': TEXT,
};

/** Section 2.9. */
export const TASK: Fields = {
  jsonrpc: z.literal('2.0'),
  result: OBJECT,
  'result.id': z.uuid(),
  'result.status': z.enum(['completed', 'failed']),
  'result.skill': TEXT,
  'result.result': OBJECT,
};

/** Section 2.10. */
export const SESSION: Fields = {
  success: YES,
  token: TEXT,
  tier: z.enum(['basic', 'premium']),
  expires_in: z.literal(1800),
  balance: z.string().regex(/^\d+(\.\d+)?$/),
  expiresAt: TIME,
};
