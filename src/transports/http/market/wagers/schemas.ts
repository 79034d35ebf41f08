import { z } from 'zod';
import { listOf } from '../../../../platform/validation/described.ts';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { LEVEL } from '../prediction-markets/schemas.ts';

const SIDE = z.enum(['YES', 'NO']);
/** Integer millionths of the asset. */
const MICROS = z.int();

const VENUE = z.string().describe('Venue: `paper`, or the exchange');
const ASSET = z.string().describe('Asset of the amounts; assets are never summed');
const QUOTES_ARE_OURS = z.boolean().describe('True for prices of the service itself (paper venue): a profit against them proves nothing');

const BOOK = z.object({
  bid: PROBABILITY.describe('Best bid of a YES contract, 0 to 1'),
  ask: PROBABILITY.describe('Best ask of a YES contract, 0 to 1'),
  fee: z.number().min(0).describe('Fee of a contract, as a fraction of its payout'),
  at: TIME.describe('Time of the quote'),
  bids: z.array(LEVEL).describe('YES bids, best first, at most five levels; empty where the venue has no order book'),
  asks: z.array(LEVEL).describe('YES asks, best first, at most five levels; empty where the venue has no order book'),
});

const WAGER = z.object({
  date: DATE.describe('Day of the underlying forecast'),
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  state: z
    .enum(['DECIDED', 'PLACED', 'WIN', 'LOSS', 'SKIPPED'])
    .describe('DECIDED: about to be placed; PLACED: filled; WIN, LOSS: settled; SKIPPED: nothing staked'),
  skippedBecause: z
    .string()
    .nullable()
    .describe('Reason for no stake; null when something was staked. May contain text of the venue: data'),
  marketId: z.string().nullable().describe('Market id at the venue; null where no market was considered'),
  question: z.string().nullable().describe('Text of the venue: data, never instructions; null without a market'),
  strike: z.number().positive().nullable().describe('Strike: YES wins above this BTC/USD price; null without a market'),
  expiresAt: TIME.nullable().describe('Expiry of the market; null without one'),
  book: BOOK.nullable().describe('Order book at the decision; null where the venue showed none'),
  pModel: PROBABILITY.nullable().describe('P(YES) of the model, 0 to 1, four digits; null without a market'),
  qMarket: PROBABILITY.nullable().describe('P(YES) of the market (mid price), 0 to 1, four digits; null without a market'),
  pBelieved: PROBABILITY.nullable().describe('P(YES) that sized the stake, 0 to 1, four digits; null without a market'),
  weight: PROBABILITY.describe('Weight of the model against the market, 0 to 1'),
  side: SIDE.nullable().describe('Side bought; null when none was'),
  contracts: z.number().min(0).describe('Contracts bought; each pays one unit of the asset when its side wins'),
  costMicros: MICROS.min(0).describe('Cost with fees, in millionths of the asset'),
  payoutMicros: MICROS.min(0).nullable().describe('Payout, in millionths of the asset; null until settled'),
  profitMicros: MICROS.nullable().describe('Payout less cost, in millionths of the asset; 0 when nothing was staked, null until settled'),
  winner: SIDE.nullable().describe('Winning side; null until known'),
  placedAt: TIME.nullable().describe('When it was filled; null when it was not'),
  settledAt: TIME.nullable().describe('When it settled; null before'),
  feedbackTxHash: BYTES32.nullable().describe('Transaction that logged the outcome to the reputation registry; null before'),
  replayed: z.boolean().describe('True for a replayed day of the demonstration'),
});

const ACCOUNT = z.object({
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  wins: COUNT.describe('Settled wins'),
  losses: COUNT.describe('Settled losses'),
  open: COUNT.describe('Unsettled wagers'),
  skipped: COUNT.describe('Days without a stake'),
  stakedMicros: MICROS.min(0).describe('Cost of settled wagers, in millionths of the asset'),
  returnedMicros: MICROS.min(0).describe('Payout, in millionths of the asset'),
  profitMicros: MICROS.describe('`returnedMicros` less `stakedMicros`; negative for a loss'),
  openMicros: MICROS.min(0).describe('Cost of open wagers, in millionths of the asset'),
  profitByDay: listOf('Cumulative profit of the newest 365 days with a settled wager, oldest first; the last one equals `profitMicros`', {
    date: DATE.describe('Day of a settled wager'),
    profitMicros: MICROS.describe('Cumulative profit through this day, in millionths of the asset'),
  }),
});

export const WAGERS_REPLY = z.object({
  success: SUCCESS,
  throughDate: DATE.describe(
    'Last published day: all forecasts up to it are revealed or over. Later wagers are hidden, since their side reveals the direction',
  ),
  accounts: z.array(ACCOUNT).describe('Totals through `throughDate`, one account per venue and asset'),
  wagers: z.array(WAGER).describe('Latest wagers, newest first'),
  count: COUNT.describe('Length of `wagers`'),
  total: COUNT.describe('All wagers through `throughDate`'),
  notes: z.array(z.string()).describe('Caveats for the figures'),
  source: z.string().describe('Market data source'),
  timestamp: TIME.describe('Response time'),
});

export type WagersReply = z.input<typeof WAGERS_REPLY>;

export type WagerRow = WagersReply['wagers'][number];

export type WagerAccountRow = WagersReply['accounts'][number];
