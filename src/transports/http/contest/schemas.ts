import { z } from 'zod';
import { MARKET_ID_PATTERN } from '../../../contest/rounds/round.ts';
import { MIN_RANKED_ROUNDS } from '../../../contest/scoring/rounds-interval.ts';
import { MAX_POINTS, MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS } from '../../../contest/scoring/score.ts';
import { listOf, objectOf } from '../../../platform/validation/described.ts';
import { ADDRESS, BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../platform/validation/fields.ts';

const ROUND_ID = z.string().regex(/^\d{4}-W\d{2}$/);
const PROBABILITY_BPS = z.int().min(MIN_PROBABILITY_BPS).max(MAX_PROBABILITY_BPS);
const POINTS = z.int().min(-MAX_POINTS).max(MAX_POINTS);
const SIGNATURE = z.string().regex(/^0x([0-9a-fA-F]{2})+$/);
const DIFFERENCE = z.number().min(-1).max(1);
const NOW = TIME.describe('Response time');

const MARKET = z.object({
  market: z.string().regex(MARKET_ID_PATTERN).describe('Market id, round and strike, e.g. 2026-W32-62000'),
  question: z.string().describe('The market as a question'),
  strikeUsd: z.number().positive().describe('Strike, BTC/USD'),
  commitments: COUNT.describe('Wallets that have committed'),
  crowdProbability: PROBABILITY.nullable().describe('Mean committed probability, 0 to 1; null before the deadline and without commitments'),
  outcome: z.enum(['YES', 'NO']).nullable().describe('YES where the close was above the strike; null before the round is decided'),
  oracleProbability: PROBABILITY.nullable().describe(
    "Oracle's probability, pinned at the deadline from the newest forecast; null before the round is RESOLVED",
  ),
  oracleBrier: PROBABILITY.nullable().describe('Squared error of the oracle, 0 to 1, lower is better; null before the round is RESOLVED'),
  crowdBrier: PROBABILITY.nullable().describe('Squared error of the mean probability; null before the round is RESOLVED'),
});

const ROUND = z.object({
  round: ROUND_ID.describe('ISO week of the round, e.g. 2026-W32'),
  state: z
    .enum(['OPEN', 'RUNNING', 'RESOLVED', 'VOID'])
    .describe('OPEN accepts commitments; RUNNING awaits the close; RESOLVED is decided; VOID is not scored, see voidBecause'),
  listedAt: TIME.describe('When the round was listed with its strikes'),
  deadline: TIME.describe('Deadline of commitments: Monday 00:00 UTC of the week'),
  resolvesAt: TIME.describe('Close of the deciding candle: Monday 00:00 UTC after the week'),
  decidingDate: DATE.describe('Day of the deciding close: the Sunday of the week, UTC'),
  listingPrice: z.number().positive().describe('BTC/USD at the listing, which the strikes surround'),
  listingSource: z.string().describe('Source of that price'),
  markets: z.array(MARKET).describe('One market per strike, ascending; all are decided by the same close'),
  close: z.number().positive().nullable().describe('Deciding close, USD: the median of the venues; null before'),
  venues: z.array(z.string()).nullable().describe('Venues that agreed on it; null before'),
  decidedAt: TIME.nullable().describe('When the round was decided; null before'),
  oracleForecastDate: DATE.nullable().describe("Day of the oracle's forecast; null before the round is RESOLVED"),
  oracleModelVersion: z.string().nullable().describe('Model version of that forecast; null before the round is RESOLVED'),
  oracleMeanBrier: PROBABILITY.nullable().describe('Mean squared error of the oracle over the markets; null before the round is RESOLVED'),
  scored: z.boolean().describe('Whether all commitments are scored'),
  voidBecause: z.string().nullable().describe('Reason where the round is VOID; null otherwise'),
});

const ROUND_COUNTS = z.object({
  open: COUNT.describe('Rounds that accept commitments'),
  running: COUNT.describe('Rounds past their deadline, not decided'),
  resolved: COUNT.describe('Decided rounds'),
  void: COUNT.describe('Void rounds'),
});

const RULES = z.object({
  minProbabilityBps: z.int().describe('Lowest probability, basis points'),
  maxProbabilityBps: z.int().describe('Highest probability, basis points'),
  clockToleranceSeconds: z.int().describe('Tolerance of issuedAtMs against the server clock, seconds'),
  pointsPerBrier: z.int().describe("Points per unit of Brier difference: the oracle's squared error less the wallet's"),
  maxPointsPerMarket: z.int().describe('Maximum points won or lost per market'),
  minRankedRounds: z.int().describe('Scored rounds required for a rank'),
  voidAfterDays: z.int().describe('Days after its end until a round without an agreed close is VOID'),
  statements: z.array(z.string()).describe('Rules as text'),
});

const TYPED_FIELD = z.object({ name: z.string().describe('Field name'), type: z.string().describe('Solidity type') });

const SIGNING = z.object({
  domain: objectOf('EIP-712 domain', {
    name: z.string().describe('Name of the contest'),
    version: z.string().describe('Version of the typed data'),
    chainId: z.int().describe('Chain of the agent'),
    verifyingContract: ADDRESS.describe('ERC-8004 identity registry of the agent'),
    salt: BYTES32.describe('Agent id in that registry, which binds a signature to one agent'),
  }),
  types: z.object({ Commitment: z.array(TYPED_FIELD).describe('Fields, in order') }).describe('EIP-712 types'),
  primaryType: z.literal('Commitment').describe('Type to sign'),
});

const COUNTED = z.object({
  rounds: ROUND_COUNTS.describe('Rounds by state'),
  commitments: COUNT.describe('Current commitments of all rounds'),
  scored: COUNT.describe('Scored commitments'),
  wallets: COUNT.describe('Wallets with at least one commitment'),
});

export const CONTEST_STATUS_REPLY = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the contest'),
  openRound: ROUND.nullable().describe('Round that accepts commitments; null until one is listed'),
  runningRounds: z.array(ROUND).describe('Rounds past their deadline, not decided, oldest first'),
  counts: COUNTED.describe('Counts; of rounds current, others at most a minute old'),
  rules: RULES.describe('Rules of the contest'),
  signing: SIGNING.describe('Typed data to sign (EIP-712)'),
  timestamp: NOW,
});

export const CONTEST_MARKETS_REPLY = z.object({
  success: SUCCESS,
  rounds: z.array(ROUND).describe('Open, running and decided rounds, newest first'),
  count: COUNT.describe('Length of `rounds`'),
  total: COUNT.describe('All rounds'),
  timestamp: NOW,
});

export const CONTEST_LEADERBOARD_REPLY = z.object({
  success: SUCCESS,
  leaderboard: listOf('Ranked wallets first, then those with too few rounds; each by meanDifference', {
    rank: z.int().min(1).nullable().describe(`Rank by meanDifference, from 1; null with fewer than ${MIN_RANKED_ROUNDS} scored rounds`),
    wallet: ADDRESS.describe('Wallet'),
    points: z.int().describe(`Sum over scored commitments, each at most ${MAX_POINTS} either way`),
    rounds: COUNT.describe('Scored rounds: the independent trials, since markets of a round share one close'),
    commitments: COUNT.describe('Scored commitments'),
    brier: PROBABILITY.describe('Mean squared error, 0 to 1, lower is better; each round counts once'),
    oracleBrier: PROBABILITY.describe('The same of the oracle on the same markets'),
    meanDifference: DIFFERENCE.describe('oracleBrier less brier: above 0 where the wallet was better'),
    interval: z
      .object({ low: z.number().describe('Lower bound'), high: z.number().describe('Upper bound') })
      .nullable()
      .describe("95 % interval of meanDifference over rounds (Student's t); null without a rank"),
    beatsOracle: z.boolean().nullable().describe('Whether the whole interval is above 0; null without a rank'),
  }),
  count: COUNT.describe('Length of `leaderboard`'),
  total: COUNT.describe('Wallets with a score'),
  ranked: COUNT.describe('Ranked wallets'),
  pointsPerBrier: z.int().describe('Points per unit of Brier difference'),
  minRankedRounds: z.int().describe('Scored rounds required for a rank'),
  note: z.string().describe('How reliable this table is'),
  timestamp: TIME.describe('Response time; figures are at most a minute older'),
});

const COMMITTED = {
  wallet: ADDRESS.describe('Committing wallet'),
  probabilityBps: PROBABILITY_BPS.describe('P(close above the strike), basis points'),
  issuedAtMs: COUNT.describe('Time of the signature, Unix milliseconds'),
  committedAt: TIME.describe('When the service accepted it'),
};

export const CONTEST_COMMIT_REPLY = z.object({
  success: SUCCESS,
  round: ROUND_ID.describe('Round of the market'),
  market: z.string().describe('Market id'),
  question: z.string().describe('The market as a question'),
  ...COMMITTED,
  replaced: z.boolean().describe('Whether it replaced an older commitment of this wallet'),
  digest: BYTES32.describe('EIP-712 hash that was signed'),
  deadline: TIME.describe('Deadline: until then a later signature replaces this commitment; from then on it is public'),
  resolvesAt: TIME.describe('Close of the deciding candle'),
});

export const CONTEST_COMMITMENTS_REPLY = z.object({
  success: SUCCESS,
  round: ROUND_ID.describe('Round of the market'),
  market: z.string().describe('Market id'),
  deadline: TIME.describe('When commitments become public'),
  public: z.boolean().describe('Whether the deadline has passed'),
  commitments: listOf('By wallet; empty before the deadline', {
    ...COMMITTED,
    signature: SIGNATURE.describe('EIP-712 signature of the wallet, or its EIP-1271 equivalent'),
    brier: PROBABILITY.nullable().describe('Squared error, 0 to 1, lower is better; null before the round is scored'),
    points: POINTS.nullable().describe('Points; null before the round is scored, and where it is VOID'),
  }),
  count: COUNT.describe('Length of `commitments`'),
  total: COUNT.describe('All commitments for the market'),
  timestamp: NOW,
});
