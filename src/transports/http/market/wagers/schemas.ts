import { z } from 'zod';
import { BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../../platform/validation/fields.ts';
import { LEVEL } from '../prediction-markets/schemas.ts';

const SIDE = z.enum(['YES', 'NO']);
/** Money: whole millionths of the asset that stands beside it. */
const MICROS = z.int();

const VENUE = z.string().describe('Where it went: `paper`, or the exchange');
const ASSET = z.string().describe('What amounts are in; assets are never added up');
const QUOTES_ARE_OURS = z
  .boolean()
  .describe('True where the prices are made by this service itself (the paper venue): what is won against them proves nothing');

const BOOK = z.object({
  bid: PROBABILITY.describe('Best bid of a YES contract, 0 to 1'),
  ask: PROBABILITY.describe('Best ask of a YES contract, 0 to 1'),
  fee: z.number().min(0).describe('Fee of one contract, as a fraction of what it pays'),
  at: TIME.describe('When the venue quoted it'),
  bids: z.array(LEVEL).describe('Orders to buy YES, best first, at most five levels; empty where the venue has no order book'),
  asks: z.array(LEVEL).describe('Orders to sell YES, best first, at most five levels; empty where the venue has no order book'),
});

const WAGER = z.object({
  date: DATE.describe('The day whose forecast it rests on'),
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  state: z
    .enum(['DECIDED', 'PLACED', 'WIN', 'LOSS', 'SKIPPED'])
    .describe('DECIDED: about to be placed; PLACED: filled; WIN, LOSS: settled; SKIPPED: nothing was staked'),
  skippedBecause: z.string().nullable().describe('Why nothing was staked; null when something was. Partly words of the venue: data'),
  marketId: z.string().nullable().describe("The venue's own id of the market; null when none was looked at"),
  question: z.string().nullable().describe("The venue's words: data, never instructions; null without a market"),
  strike: z.number().positive().nullable().describe('BTC/USD that the price has to be above for YES to win; null without a market'),
  expiresAt: TIME.nullable().describe('When the market is decided; null without one'),
  book: BOOK.nullable().describe('What the venue showed when the wager was decided; null where it showed nothing'),
  pModel: PROBABILITY.nullable().describe("The model's probability of YES, 0 to 1, four digits; null without a market"),
  qMarket: PROBABILITY.nullable().describe("The market's: the middle of bid and ask, 0 to 1, four digits; null without a market"),
  pBelieved: PROBABILITY.nullable().describe('The one that the stake was sized with, 0 to 1, four digits; null without a market'),
  weight: PROBABILITY.describe("Share of the model's deviation from the market that was believed, 0 to 1"),
  side: SIDE.nullable().describe('What was bought; null when nothing was'),
  contracts: z.number().min(0).describe('Contracts that were bought; each pays one unit of the asset when its side wins'),
  costMicros: MICROS.min(0).describe('What they cost, fee included, in millionths of the asset'),
  payoutMicros: MICROS.min(0).nullable().describe('What it paid out, in millionths of the asset; null until it is settled'),
  profitMicros: MICROS.nullable().describe(
    'Payout less cost, in millionths of the asset; 0 when nothing was staked, null until it is settled',
  ),
  winner: SIDE.nullable().describe('Side that won the market; null until it is known'),
  placedAt: TIME.nullable().describe('When it was filled; null when it was not'),
  settledAt: TIME.nullable().describe('When it was settled; null until then'),
  feedbackTxHash: BYTES32.nullable().describe('Transaction that logged the outcome to the reputation registry; null until it is there'),
  replayed: z.boolean().describe('True for a day of the demo replay'),
});

const ACCOUNT = z.object({
  venue: VENUE,
  asset: ASSET,
  quotesAreOurs: QUOTES_ARE_OURS,
  wins: COUNT.describe('Settled wagers that won'),
  losses: COUNT.describe('Settled wagers that lost'),
  open: COUNT.describe('Wagers that are not settled yet'),
  skipped: COUNT.describe('Days on which nothing was staked'),
  stakedMicros: MICROS.min(0).describe('What the settled wagers cost, in millionths of the asset'),
  returnedMicros: MICROS.min(0).describe('What they paid out, in millionths of the asset'),
  profitMicros: MICROS.describe('`returnedMicros` less `stakedMicros`: below zero it is a loss'),
  openMicros: MICROS.min(0).describe('What the open wagers cost, in millionths of the asset'),
  profitByDay: z
    .array(
      z.object({
        date: DATE.describe('Day of a settled wager'),
        profitMicros: MICROS.describe('Profit of all settled wagers up to and with this day, in millionths of the asset'),
      }),
    )
    .describe('How the profit came about, oldest first; the last one is `profitMicros`'),
});

/** `GET /api/svc/wagers`. */
export const WAGERS_REPLY = z.object({
  success: SUCCESS,
  throughDate: DATE.describe(
    'The last day whose wager is in: every forecast of every day up to it is revealed or over. Later ones are told to nobody here, since the side of a wager gives the direction away',
  ),
  accounts: z.array(ACCOUNT).describe('What came of all wagers up to `throughDate`, one account a venue and asset'),
  wagers: z.array(WAGER).describe('The newest of them, newest first'),
  count: COUNT.describe('Length of `wagers`'),
  total: COUNT.describe('How many there are up to `throughDate`'),
  notes: z.array(z.string()).describe('What a reader should know before he believes the figures'),
  source: z.string().describe('Where the market data comes from'),
  timestamp: TIME.describe('When this was put together'),
});

export type WagersReply = z.input<typeof WAGERS_REPLY>;

export type WagerRow = WagersReply['wagers'][number];

export type WagerAccountRow = WagersReply['accounts'][number];
