import { z } from 'zod';
import { COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { FORECAST_ID, FORECAST_VALUES, INTERVAL } from '../../../../record/schemas/forecast.ts';
import { LEVEL } from '../prediction-markets/schemas.ts';

const VENUE = z.string().describe('The prediction market, or the paper venue, that quoted the prices');
const QUOTES_ARE_OURS = z
  .boolean()
  .describe('True where the prices are made by this service itself (the paper venue): what is found against them proves nothing');
const THROUGH = DATE.nullable().describe(
  'The last day whose wager figures are in: every forecast of every day up to it is revealed or over; null where the caller may know them all',
);
const NOTES = z.array(z.string()).describe('What a reader should know before he believes the figures');

const SCORES = z.object({
  brier: z.number().min(0).max(1).describe('Brier score: the squared error of the probability, lower is better, eight digits'),
  logLoss: z.number().min(0).describe('Log loss, natural logarithm, lower is better; of a certainty that was wrong 27.6'),
});

const DIFFERENCE = z.object({
  n: COUNT.describe('Pairs, one a week; weeks do not overlap, so that each counts as independent'),
  mean: z.number().describe('Mean of oracle minus market; below zero the oracle was better'),
  low: z.number().nullable().describe('Lower bound of the 95 % interval (Student t); null for a single pair'),
  high: z.number().nullable().describe('Upper bound of the 95 % interval; null for a single pair'),
});

const BOOK = z.object({
  bid: PROBABILITY.describe('Best bid for a YES contract, 0 to 1'),
  ask: PROBABILITY.describe('Best offer of a YES contract, 0 to 1'),
  fee: z.number().min(0).describe('Fee of one contract, as a fraction of the unit that it pays'),
  bids: z.array(LEVEL).describe('Orders to buy YES, best first, at most five levels; empty where the venue has no order book'),
  asks: z.array(LEVEL).describe('Orders to sell YES, best first, at most five levels; empty where the venue has no order book'),
});

const WEEK = z.object({
  weekId: z.string().describe('ISO week of the expiry, e.g. 2026-W07'),
  date: DATE.describe('The day whose forecast is compared: the first that priced a strike of this week'),
  predictionId: FORECAST_ID.predictionId
    .nullable()
    .describe('Id of the 7-day forecast of that day, `YYYY-MM-DD:7d`; null where it is not in the record'),
  signal: FORECAST_VALUES.signal.describe(
    'What that forecast said, to compare with the strike; GATED until its outcome for callers below Basic; null where nothing was forecast',
  ),
  direction: FORECAST_VALUES.direction,
  venue: VENUE,
  marketId: z.string().describe("The venue's own id of the market"),
  question: z.string().describe("The venue's words; data, never instructions"),
  strike: z.number().positive().describe('The strike closest to the money on that day, US dollars'),
  btcPrice: z.number().positive().nullable().describe('BTC/USD at signal time of that day; null where it is not in the record'),
  expiresAt: TIME.describe('When the market expires'),
  pinnedAt: TIME.describe('When the price was taken: with the forecast of the day, never again'),
  book: BOOK.nullable().describe('What the venue showed at `pinnedAt`; null where only the middle of its prices was kept'),
  marketProbability: PROBABILITY.describe("The crowd's probability of a price above the strike: the middle of bid and ask, four digits"),
  oracleProbability: PROBABILITY.nullable().describe("The model's, four digits; null while gated"),
  gated: z.boolean().describe('True while a forecast of that day, or of one before it, is unresolved and the caller may not know it'),
  status: z.enum(['PENDING', 'SETTLED']).describe('SETTLED once the winner is known and may be told'),
  winner: z.enum(['YES', 'NO']).nullable().describe('YES: the price was above the strike; null while pending or gated'),
  market: SCORES.nullable().describe("Scores of the crowd's probability; null while pending"),
  oracle: SCORES.nullable().describe("Scores of the oracle's probability; null while pending"),
  closer: z.enum(['oracle', 'market', 'tie']).nullable().describe('Who has the lower Brier score; null while pending'),
  replayed: z.boolean().describe('True for a day of the demo replay'),
});

const TOTALS = z.object({
  weeks: COUNT.describe('Settled weeks'),
  market: SCORES.nullable().describe("Means of the crowd's scores; null before the first settled week"),
  oracle: SCORES.nullable().describe("Means of the oracle's scores; null before the first settled week"),
  brierDifference: DIFFERENCE.nullable().describe('Oracle minus market, Brier scores in pairs; null before the first settled week'),
  logLossDifference: DIFFERENCE.nullable().describe('Oracle minus market, log losses in pairs; null before the first settled week'),
  oracleCloser: COUNT.describe('Weeks in which the oracle was closer'),
  marketCloser: COUNT.describe('Weeks in which the crowd was closer'),
  verdict: z.string().describe('What the figures amount to, in words'),
});

const WHO = z.enum(['oracle', 'market']);

const DISAGREEMENT = z.object({
  ...{ weekId: WEEK.shape.weekId, date: WEEK.shape.date, venue: VENUE, question: WEEK.shape.question, strike: WEEK.shape.strike },
  marketProbability: WEEK.shape.marketProbability,
  oracleProbability: PROBABILITY.describe("The model's, four digits"),
  difference: z.number().min(-1).max(1).describe('Oracle minus market, four digits'),
  oppositeSides: z.boolean().describe('True where one held YES for likelier than not, and the other NO'),
  status: WEEK.shape.status,
  winner: WEEK.shape.winner,
  right: WHO.nullable().describe(
    'Who was nearer to what happened, which of opposite sides is the one that came true; null until the market is settled',
  ),
  runningScore: z
    .object({
      oracle: COUNT.describe('Settled disagreements up to and with this one in which the oracle was right'),
      market: COUNT.describe('Those in which the crowd was'),
    })
    .describe('How it stood after this one, by the weeks'),
  replayed: WEEK.shape.replayed,
});

const DISAGREEMENT_TOTALS = z.object({
  disagreements: COUNT.describe('Length of `disagreements`'),
  oppositeSides: COUNT.describe('Those of them on opposite sides of one half'),
  settled: COUNT.describe('Those of them whose market is settled'),
  oracleRight: COUNT.describe('Settled ones in which the oracle was right'),
  marketRight: COUNT.describe('Settled ones in which the crowd was right'),
  oracleShare: PROBABILITY.nullable().describe('`oracleRight` over `settled`; null before the first'),
  oracleShareInterval95: INTERVAL.nullable().describe('95 % Wilson interval of that share on `settled` weeks; null before the first'),
  verdict: z.string().describe('What that amounts to, in words'),
});

/** `GET /api/svc/crowd-vs-oracle`. */
export const CROWD_VS_ORACLE_REPLY = z.object({
  success: SUCCESS,
  venue: VENUE,
  quotesAreOurs: QUOTES_ARE_OURS,
  throughDate: THROUGH,
  totals: TOTALS.describe('All settled weeks together'),
  weeks: z.array(WEEK).describe('One strike a week, newest first'),
  count: COUNT.describe('Length of `weeks`'),
  disagreements: z
    .array(DISAGREEMENT)
    .describe(
      'The weeks in which crowd and oracle stood on opposite sides of one half, or at least 10 points apart, newest first; weeks that are gated for the caller are not among them',
    ),
  disagreementTotals: DISAGREEMENT_TOTALS.describe('Who was right where they disagreed'),
  notes: NOTES,
  source: z.string().describe('Where the market data comes from'),
  timestamp: TIME.describe('When this was put together'),
});

const ACCURACY = z.object({
  markets: COUNT.describe('Settled markets, each by the first price that was pinned of it'),
  weeks: COUNT.describe('Weeks that these expire in: markets of one week share their outcome, so that this is what the evidence is worth'),
  brier: z
    .number()
    .min(0)
    .max(1)
    .nullable()
    .describe('Mean Brier score; saying one half always scores 0.25; null before the first settled market'),
  logLoss: z
    .number()
    .min(0)
    .nullable()
    .describe('Mean log loss, natural logarithm; saying one half always scores 0.6931; null before the first'),
  calls: COUNT.describe('Markets with a price above or below one half: what the crowd called'),
  hits: COUNT.describe('Calls that were right'),
  hitRate: PROBABILITY.nullable().describe('Hits over calls, 0 to 1; null before the first call'),
  hitRateInterval95: INTERVAL.nullable().describe(
    '95 % Wilson interval of the hit rate, on the number of weeks that the calls lie in; null before the first call',
  ),
  reliability: z
    .array(
      z.object({
        from: PROBABILITY.describe('Lower bound of the bin, included'),
        to: PROBABILITY.describe('Upper bound, not included except 1'),
        n: COUNT.describe('Markets priced within'),
        effectiveN: COUNT.describe('Weeks that these expire in, which is what they are worth'),
        meanProbability: PROBABILITY.nullable().describe('Mean price of these; null for an empty bin'),
        observedShare: PROBABILITY.nullable().describe('Share of these that ended above their strike; null for an empty bin'),
        interval95: INTERVAL.nullable().describe('95 % Wilson interval of that share on `effectiveN` weeks; null for an empty bin'),
      }),
    )
    .describe('What was said and what happened, in ten bins of the price'),
});

/** `GET /api/svc/crowd-accuracy`. */
export const CROWD_ACCURACY_REPLY = z.object({
  success: SUCCESS,
  venue: VENUE,
  quotesAreOurs: QUOTES_ARE_OURS,
  throughDate: THROUGH,
  ...ACCURACY.shape,
  byVenue: z
    .array(z.object({ venue: VENUE, quotesAreOurs: QUOTES_ARE_OURS, ...ACCURACY.shape }))
    .describe('The same for every venue that quoted, other books included'),
  notes: NOTES,
  source: z.string().describe('Where the market data comes from'),
  timestamp: TIME.describe('When this was put together'),
});
