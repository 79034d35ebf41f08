import { z } from 'zod';
import { MARKET_ID_PATTERN } from '../../../contest/rounds/round.ts';
import { MIN_RANKED_ROUNDS } from '../../../contest/scoring/rounds-interval.ts';
import { MAX_POINTS, MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS } from '../../../contest/scoring/score.ts';
import { ADDRESS, BYTES32, COUNT, DATE, PROBABILITY, SUCCESS, TIME } from '../../../platform/validation/fields.ts';

const ROUND_ID = z.string().regex(/^\d{4}-W\d{2}$/);
const PROBABILITY_BPS = z.int().min(MIN_PROBABILITY_BPS).max(MAX_PROBABILITY_BPS);
const POINTS = z.int().min(-MAX_POINTS).max(MAX_POINTS);
const SIGNATURE = z.string().regex(/^0x([0-9a-fA-F]{2})+$/);
const DIFFERENCE = z.number().min(-1).max(1);
const NOW = TIME.describe('When this was answered');

const MARKET = z.object({
  market: z.string().regex(MARKET_ID_PATTERN).describe('Id of the market, as commitments name it: round and strike, e.g. 2026-W32-62000'),
  question: z.string().describe('The market in words'),
  strikeUsd: z.number().positive().describe('The strike, BTC/USD'),
  commitments: COUNT.describe('How many wallets have committed'),
  crowdProbability: PROBABILITY.nullable().describe(
    'Mean probability of the commitments, 0 to 1; null before the deadline and without commitments',
  ),
  outcome: z.enum(['YES', 'NO']).nullable().describe('YES when the close was above the strike; null before the round is decided'),
  oracleProbability: PROBABILITY.nullable().describe(
    'What the oracle said, pinned at the deadline from the newest forecast of that moment; null before the round is RESOLVED',
  ),
  oracleBrier: PROBABILITY.nullable().describe('Squared error of the oracle, 0 to 1, lower is better; null before the round is RESOLVED'),
  crowdBrier: PROBABILITY.nullable().describe('Squared error of the mean probability; null before the round is RESOLVED'),
});

const ROUND = z.object({
  round: ROUND_ID.describe('ISO week that the round runs through, e.g. 2026-W32'),
  state: z
    .enum(['OPEN', 'RUNNING', 'RESOLVED', 'VOID'])
    .describe('OPEN takes commitments; RUNNING waits for the close; RESOLVED is decided; VOID is scored for nobody, see voidBecause'),
  listedAt: TIME.describe('When the round was listed and its strikes were fixed'),
  deadline: TIME.describe('Commitments are taken before this moment: Monday 00:00 UTC of the week'),
  resolvesAt: TIME.describe('When the deciding candle has closed: Monday 00:00 UTC of the week after'),
  decidingDate: DATE.describe('The day whose close decides: the Sunday of the week, UTC'),
  listingPrice: z.number().positive().describe('BTC/USD that the strikes were set around'),
  listingSource: z.string().describe('Where that price came from'),
  markets: z.array(MARKET).describe('One market a strike, ascending; all are decided by the same close'),
  close: z.number().positive().nullable().describe('The close that decided, USD: the median of the venues; null before'),
  venues: z.array(z.string()).nullable().describe('The venues that agreed on it; null before'),
  decidedAt: TIME.nullable().describe('When the round was decided; null before'),
  oracleForecastDate: DATE.nullable().describe('Day of the forecast that the oracle took part with; null before the round is RESOLVED'),
  oracleModelVersion: z.string().nullable().describe('The model that made it; null before the round is RESOLVED'),
  oracleMeanBrier: PROBABILITY.nullable().describe('Mean squared error of the oracle over the markets; null before the round is RESOLVED'),
  scored: z.boolean().describe('Whether every commitment of the round has its score'),
  voidBecause: z.string().nullable().describe('Why the round is VOID; null otherwise'),
});

const ROUND_COUNTS = z.object({
  open: COUNT.describe('Rounds that take commitments'),
  running: COUNT.describe('Rounds past their deadline that are not decided'),
  resolved: COUNT.describe('Decided rounds'),
  void: COUNT.describe('Rounds that are scored for nobody'),
});

const RULES = z.object({
  minProbabilityBps: z.int().describe('Smallest probability that may be committed, basis points'),
  maxProbabilityBps: z.int().describe('Largest probability that may be committed, basis points'),
  clockToleranceSeconds: z.int().describe('How far issuedAtMs may be from the time of the service, seconds'),
  pointsPerBrier: z
    .int()
    .describe("Points for a Brier difference of one: points are this times the oracle's squared error less the wallet's"),
  maxPointsPerMarket: z.int().describe('Most points that one market can give or take'),
  minRankedRounds: z.int().describe('Scored rounds that a wallet needs to be ranked'),
  voidAfterDays: z.int().describe('Days after its end that a round waits for an agreed close before it is VOID'),
  statements: z.array(z.string()).describe('The rules in words'),
});

const TYPED_FIELD = z.object({ name: z.string().describe('Name of the field'), type: z.string().describe('Its Solidity type') });

const SIGNING = z.object({
  domain: z
    .object({
      name: z.string().describe('Name of the contest'),
      version: z.string().describe('Version of what is signed'),
      chainId: z.int().describe('Chain of the agent'),
      verifyingContract: ADDRESS.describe('ERC-8004 identity registry of the agent'),
      salt: BYTES32.describe('Id of the agent in that registry: what is signed for one agent is of no use with another'),
    })
    .describe('EIP-712 domain'),
  types: z.object({ Commitment: z.array(TYPED_FIELD).describe('Fields in their order') }).describe('EIP-712 types'),
  primaryType: z.literal('Commitment').describe('The type to sign'),
});

const COUNTED = z.object({
  rounds: ROUND_COUNTS.describe('Rounds by state'),
  commitments: COUNT.describe('Standing commitments of all rounds'),
  scored: COUNT.describe('Those with a score'),
  wallets: COUNT.describe('Wallets that have committed at least once'),
});

/** `GET /api/svc/clawstake/status`. */
export const CONTEST_STATUS_REPLY = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the contest'),
  openRound: ROUND.nullable().describe('The round that takes commitments; null until one can be listed'),
  runningRounds: z.array(ROUND).describe('Rounds past their deadline that are not decided, oldest first'),
  counts: COUNTED.describe('How many there are; rounds at this moment, the rest at most a minute old'),
  rules: RULES.describe('How the contest works'),
  signing: SIGNING.describe('What a wallet signs (EIP-712)'),
  timestamp: NOW,
});

/** `GET /api/svc/clawstake/markets`. */
export const CONTEST_MARKETS_REPLY = z.object({
  success: SUCCESS,
  rounds: z.array(ROUND).describe('Open, running and decided rounds, newest first'),
  count: COUNT.describe('Length of `rounds`'),
  total: COUNT.describe('All rounds there are'),
  timestamp: NOW,
});

/** `GET /api/svc/prestake/leaderboard`. */
export const CONTEST_LEADERBOARD_REPLY = z.object({
  success: SUCCESS,
  leaderboard: z
    .array(
      z.object({
        rank: z
          .int()
          .min(1)
          .nullable()
          .describe(`Place by meanDifference, from 1; null for a wallet with fewer than ${MIN_RANKED_ROUNDS} scored rounds`),
        wallet: ADDRESS.describe('The wallet'),
        points: z.int().describe(`Sum over all its scored commitments, each at most ${MAX_POINTS} either way`),
        rounds: COUNT.describe('Rounds it has a score in: its independent trials, since the markets of a round share one close'),
        commitments: COUNT.describe('Scored commitments'),
        brier: PROBABILITY.describe('Mean squared error, 0 to 1, lower is better; each round counts once'),
        oracleBrier: PROBABILITY.describe('The same of the oracle on the same markets'),
        meanDifference: DIFFERENCE.describe('oracleBrier less brier: above 0 where the wallet was the better one'),
        interval: z
          .object({ low: z.number().describe('Lower bound'), high: z.number().describe('Upper bound') })
          .nullable()
          .describe("95 % interval of meanDifference over rounds (Student's t); null for a wallet that is not ranked"),
        beatsOracle: z.boolean().nullable().describe('Whether the whole interval is above 0; null for a wallet that is not ranked'),
      }),
    )
    .describe('Ranked wallets first, then those with too few rounds; each by meanDifference'),
  count: COUNT.describe('Length of `leaderboard`'),
  total: COUNT.describe('Wallets with a score'),
  ranked: COUNT.describe('Those of them that are ranked'),
  pointsPerBrier: z.int().describe('Points for a Brier difference of one'),
  minRankedRounds: z.int().describe('Scored rounds that a wallet needs to be ranked'),
  note: z.string().describe('How far to trust this table'),
  timestamp: TIME.describe('When this was answered; the figures are at most a minute older'),
});

const COMMITTED = {
  wallet: ADDRESS.describe('The wallet that committed'),
  probabilityBps: PROBABILITY_BPS.describe('P(close above the strike), basis points'),
  issuedAtMs: COUNT.describe('When it was signed, as signed, milliseconds since 1970'),
  committedAt: TIME.describe('When the service took it'),
};

/** `POST /api/svc/prestake/commit`. */
export const CONTEST_COMMIT_REPLY = z.object({
  success: SUCCESS,
  round: ROUND_ID.describe('The round of the market'),
  market: z.string().describe('The market'),
  question: z.string().describe('The market in words'),
  ...COMMITTED,
  replaced: z.boolean().describe('Whether an older commitment of this wallet for this market gave way to this one'),
  digest: BYTES32.describe('The EIP-712 hash that was signed'),
  deadline: TIME.describe('Until then a later signature replaces this commitment; from then on everybody can read it'),
  resolvesAt: TIME.describe('When the deciding candle has closed'),
});

/** `GET /api/svc/prestake/commitments`. */
export const CONTEST_COMMITMENTS_REPLY = z.object({
  success: SUCCESS,
  round: ROUND_ID.describe('The round of the market'),
  market: z.string().describe('The market'),
  deadline: TIME.describe('When commitments become public'),
  public: z.boolean().describe('Whether the deadline has passed'),
  commitments: z
    .array(
      z.object({
        ...COMMITTED,
        signature: SIGNATURE.describe('EIP-712 signature of the wallet, or what its contract takes for one'),
        brier: PROBABILITY.nullable().describe('Squared error, 0 to 1, lower is better; null before the round is scored'),
        points: POINTS.nullable().describe('What it was worth; null before the round is scored, and for good where it is VOID'),
      }),
    )
    .describe('By wallet; empty before the deadline'),
  count: COUNT.describe('Length of `commitments`'),
  total: COUNT.describe('All commitments for the market'),
  timestamp: NOW,
});
