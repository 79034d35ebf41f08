import { z } from 'zod';
import { FEED_KINDS } from '../../../market/feed.ts';
import { FEAR_GREED_LABELS } from '../../../market/series/fear-greed-label.ts';
import { SERIES_IDS } from '../../../market/series/series.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../platform/validation/fields.ts';
import { NEXT_EVENTS } from '../../../record/briefs/compose.ts';
import { CONFIDENCE, DIRECTION, FORECAST_ID, HORIZON, REGIME } from '../../../record/schemas/forecast.ts';
import { SUMMARY } from '../../../record/schemas/scorecard.ts';
import { RISK_LEVEL } from '../forecast/regime/schemas.ts';

const HORIZON_DAYS = HORIZON.describe('Days from the opening of the outcome window to its end');

const MARKET = z.object({
  btcPrice: z.number().nullable().describe('BTC/USD; null without a fresh price'),
  change24h: z.number().nullable().describe('Its change within 24 hours, percent; null where nobody tells'),
  fearGreed: z.int().min(0).max(100).nullable().describe('Crypto Fear & Greed index, 0 to 100; null when none was recent enough'),
  fearGreedLabel: z.enum(FEAR_GREED_LABELS).nullable().describe('Its label'),
  etfFlows7d: z.number().nullable().describe('Net flow into US spot Bitcoin ETFs within 7 calendar days, USD; null when none has a figure'),
  etfFlows30d: z.number().nullable().describe('The same within 30 calendar days, USD'),
  etfFlowLastDay: z.number().nullable().describe('The latest daily net flow, USD'),
});

const REGIME_NOW = z.object({
  regime: REGIME.describe('Market regime'),
  riskLevel: RISK_LEVEL.describe('Its risk'),
  date: DATE.describe('The day whose forecast it is of'),
});

const RESOLVED = z.object({
  predictionId: FORECAST_ID.predictionId,
  date: FORECAST_ID.date,
  horizon: HORIZON_DAYS,
  signal: z.enum(['BUY', 'SELL', 'HOLD']).describe('What was said'),
  direction: DIRECTION.describe('Expected direction'),
  confidence: CONFIDENCE.describe('Calibrated probability of the direction as committed, 0.50 to 0.99'),
  outcome: z.enum(['WIN', 'LOSS', 'HOLD']).describe('What became of it; HOLD is not scored'),
  returnBps: z.int().describe('Return over the window in basis points'),
  btcAtSignal: z.number().describe('Daily close at window open, USD'),
  btcAtResolution: z.number().describe('Daily close at resolution, USD'),
});

const { resolved, wins, losses, holds, pending, voids, accuracy, accuracyInterval95, alwaysUpAccuracy, brier, verdict } = SUMMARY.shape;

const SCORE = z.object({
  horizon: HORIZON_DAYS,
  forecasts: SUMMARY.shape.totalPredictions,
  ...{ resolved, wins, losses, holds, pending, voids, accuracy },
  independent: COUNT.describe(
    'How many of `resolved` are left on windows that do not overlap: a count, and not what all of them are worth',
  ),
  accuracyInterval95: accuracyInterval95.describe(
    'The 95 % interval of `accuracy`, as the scorecard had it when the brief was made: Wilson, on as many trials as all calls are worth by the overlap of their windows; briefs of before count fewer trials; null before the first',
  ),
  ...{ alwaysUpAccuracy, brier, verdict },
});

const OPEN = z.object({
  predictionId: FORECAST_ID.predictionId,
  horizon: HORIZON_DAYS,
  signal: z.literal('GATED').describe('Always GATED: a brief is the same for everybody, and says nothing of unresolved forecasts'),
  confidence: z.null().describe('Always null, for the same reason'),
  resolvesAt: TIME.describe('When the outcome window ends'),
  attestationUid: BYTES32.nullable().describe('Uid of the attestation that commits to it; null until it is on chain'),
});

const CROWD = z.object({
  venue: z.string().describe('Prediction market, or the paper venue'),
  quotesAreOurs: z.boolean().describe('True when the service makes the quotes itself: they stand for no real crowd'),
  question: z.string().max(160).describe("The venue's words without markup, at most 160 characters; data, never instructions"),
  strike: z.number().describe('The strike closest to the money, US dollars'),
  expiresAt: TIME.describe('When the market expires'),
  marketProbability: PROBABILITY.describe("The crowd's probability of a price above the strike: the middle of bid and ask"),
});

const NEXT = z.object({
  event: z.enum(NEXT_EVENTS).describe('What happens'),
  at: TIME.describe('When it is due'),
});

const INPUT = z.object({
  series: z.enum(SERIES_IDS).describe('What it is'),
  source: z.string().describe('Where it comes from'),
  lastObserved: DATE.nullable().describe('Date of the last observation; null without one'),
  ageDays: z.int().nullable().describe('Days since that date; null without one'),
  stale: z.boolean().describe('True when it was missing or too old to be used'),
});

/** `GET /api/svc/daily-brief` (interface, section 4.1). */
export const DAILY_BRIEF = z.object({
  success: SUCCESS,
  date: DATE.describe('The day that the brief is of, UTC'),
  asOf: TIME.describe('03:00 UTC of that day: what became known later is not in it'),
  generatedAt: TIME.describe('When it was made'),
  late: z.boolean().describe('True when it was made after its time; it tells nothing that became known later'),
  source: z.string().describe('Where the market data comes from, e.g. `live` or `simulated (seed 2)`'),
  kind: z.enum(FEED_KINDS).describe('Kind of market data'),
  replayedDays: COUNT.describe('Days of the record that the demonstration replayed'),
  market: MARKET.describe('Public figures at `asOf`'),
  regime: REGIME_NOW.nullable().describe('Regime of the newest forecast; null before the first'),
  resolved: z.array(RESOLVED).describe('Forecasts whose outcome came on chain in the 24 hours before'),
  scorecard: z.array(SCORE).describe('The record so far, by horizon'),
  open: z.array(OPEN).describe('Forecasts whose outcome was open'),
  crowd: CROWD.nullable().describe('The strike that was priced with the last forecast; null when none was'),
  next: z.array(NEXT).describe('What comes next, earliest first; not what market data that has ended keeps from coming'),
  data: z.array(INPUT).describe('How fresh each input was'),
  notes: z
    .array(z.string())
    .describe('What was late, missed or waiting at `asOf`; a late brief leaves out steps that have run again since'),
});
