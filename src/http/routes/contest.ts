import { z } from 'zod';
import {
  COMMITMENT_PRIMARY_TYPE,
  COMMITMENT_TYPES,
  CONTEST_RULES,
  formatMarketQuestion,
  MARKET_ID_PATTERN,
  MAX_POINTS,
  MAX_PROBABILITY_BPS,
  MIN_PROBABILITY_BPS,
  MIN_RANKED_ROUNDS,
} from '../../contest.ts';
import { ADDRESS, BYTES32, COUNT, DATE, listOf, namedObject, objectOf, PROBABILITY, SUCCESS, TIME } from '../../platform/validation.ts';
import { limitInput, offsetInput, signatureInput, walletInput } from '../parameters.ts';
import { type Route, route } from '../route.ts';
import type { Services } from '../services.ts';

const PROBABILITY_RANGE = `must be a whole number of basis points from ${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS}`;
const TIME_RANGE = 'must be a time in whole milliseconds since 1970';

const COMMIT_BODY = z.strictObject({
  market: z
    .string({ error: 'must be given once, as a market id' })
    .max(40, 'is too long for a market id')
    .regex(MARKET_ID_PATTERN, 'must be a market id, e.g. 2026-W32-62000')
    .describe('Market id, from GET /api/svc/clawstake/markets'),
  wallet: walletInput.describe('Committing wallet; in mixed case its EIP-55 checksum must be valid'),
  probabilityBps: z
    .int({ error: PROBABILITY_RANGE })
    .min(MIN_PROBABILITY_BPS, PROBABILITY_RANGE)
    .max(MAX_PROBABILITY_BPS, PROBABILITY_RANGE)
    .describe('P(close above the strike), basis points'),
  issuedAtMs: z
    .int({ error: TIME_RANGE })
    .min(0, TIME_RANGE)
    .describe('Time of the signature, Unix milliseconds; the newest commitment per wallet and market counts'),
  signature: signatureInput.describe('EIP-712 signature of the four fields above; contract wallets by EIP-1271 or ERC-6492'),
});

const buildPageInput = (what: string, fallback: number) =>
  z.object({
    limit: limitInput(100, fallback).describe(`Maximum number of ${what}`),
    offset: offsetInput(100_000).describe(`Number of ${what} to skip`),
  });

const NOTE = `Each round counts once, since its markets share one close; wallets with fewer than ${MIN_RANKED_ROUNDS} scored rounds are not ranked. \
A person may have many wallets, and among many the first is first partly by luck.`;

/** Interface, section 4.1, which leaves the payloads open. */
export function contestRoutes({ contest, now }: Services): Route[] {
  const stamp = () => ({ success: true as const, timestamp: now().toISOString() });
  return [
    route('GET /api/svc/clawstake/status', 'getContestStatus', {
      tag: 'contest',
      summary: 'The open round with deadline, counts, rules, and the typed data to sign',
      reply: CONTEST_STATUS_REPLY,
      handle: async () => {
        const { open, running, counts, domain } = await contest.getStatus();
        const types = { Commitment: [...COMMITMENT_TYPES.Commitment] };
        const signing = { domain, types, primaryType: COMMITMENT_PRIMARY_TYPE } as const;
        const published = CONTEST_RULES.map(([what, rule]) => ({ what, rule }));
        const name = 'Weekly BTC/USD close, forecast against the oracle';
        return { body: { ...stamp(), name, openRound: open, runningRounds: running, counts, rules: published, signing } };
      },
    }),
    route('GET /api/svc/clawstake/markets', 'listContestMarkets', {
      tag: 'contest',
      summary: "Rounds with strikes and deadlines; outcomes and the oracle's forecasts once resolved",
      query: buildPageInput('rounds', 10),
      reply: CONTEST_MARKETS_REPLY,
      handle: async ({ query }) => {
        const { rounds, total } = await contest.listRounds(query);
        return { body: { ...stamp(), rounds, count: rounds.length, total } };
      },
    }),
    route('GET /api/svc/prestake/leaderboard', 'getContestLeaderboard', {
      tag: 'contest',
      summary: 'Wallets ranked by forecast skill against the oracle',
      query: buildPageInput('wallets', 20),
      reply: CONTEST_LEADERBOARD_REPLY,
      handle: async ({ query }) => {
        const { standings, total } = await contest.listStandings(query);
        return { body: { ...stamp(), leaderboard: standings, count: standings.length, total, note: NOTE } };
      },
    }),
    route('POST /api/svc/prestake/commit', 'commitToContestMarket', {
      tag: 'contest',
      summary: 'Commits a wallet to a probability for a market of the open round, by signature',
      description:
        'For points only: nothing is staked or held. Until the deadline a later signature of the same wallet for the same market replaces the ' +
        'commitment; one that is not later is rejected. `GET /api/svc/clawstake/status` has the typed data to sign (EIP-712).',
      // The signature of a contract wallet is verified on chain.
      cost: 'rpc',
      body: COMMIT_BODY,
      reply: CONTEST_COMMIT_REPLY,
      errors: ['NOT_FOUND', 'CONFLICT', 'UNAUTHENTICATED', 'CHAIN_UNREACHABLE'],
      handle: async ({ body, context }) => {
        const { round, market, committedAt, replaced, digest } = await contest.commit(body, context.address);
        const { signature, ...commitment } = body;
        const times = { deadline: round.opensAt.toISOString(), resolvesAt: round.resolvesAt.toISOString() };
        const question = formatMarketQuestion(round, market);
        const reply = { ...commitment, question, committedAt: committedAt.toISOString(), replaced, digest, ...times };
        return { body: { success: true as const, round: round._id, ...reply } };
      },
    }),
  ];
}

const ROUND_ID = z.string().regex(/^\d{4}-W\d{2}$/);
const NOW = TIME.describe('Response time');

const ROUND = namedObject('ContestRound', {
  round: ROUND_ID.describe('ISO week of the round, e.g. 2026-W32'),
  state: z
    .enum(['OPEN', 'RUNNING', 'RESOLVED', 'VOID'])
    .describe('OPEN accepts commitments; RUNNING awaits the close; RESOLVED is decided; VOID is not scored, see voidBecause'),
  listedAt: TIME.describe('When the round was listed with its strikes'),
  deadline: TIME.describe('Deadline of commitments: Monday 00:00 UTC of the week'),
  resolvesAt: TIME.describe('Close of the deciding candle: Monday 00:00 UTC after the week'),
  decidingDate: DATE.describe('Day of the deciding close: the Sunday of the week, UTC'),
  listingPrice: z.number().positive().describe('BTC/USD at the listing, which the strikes surround'),
  markets: listOf('One market per strike, ascending; all are decided by the same close', {
    market: z.string().regex(MARKET_ID_PATTERN).describe('Market id, round and strike, e.g. 2026-W32-62000'),
    question: z.string().describe('The market as a question'),
    strikeUsd: z.number().positive().describe('Strike, BTC/USD'),
    outcome: z.enum(['YES', 'NO']).nullable().describe('YES where the close was above the strike; null before the round is RESOLVED'),
    oracleProbability: PROBABILITY.nullable().describe(
      "Oracle's probability, by its newest forecast before the deadline; null before the round is RESOLVED",
    ),
    oracleBrier: PROBABILITY.nullable().describe('Squared error of the oracle, 0 to 1, lower is better; null before the round is RESOLVED'),
  }),
  close: z.number().positive().nullable().describe('Deciding close, USD: the median of the venues; null before'),
  oracleForecastDate: DATE.nullable().describe("Day of the oracle's forecast; null before the round is RESOLVED"),
  voidBecause: z.string().nullable().describe('Reason where the round is VOID; null otherwise'),
});

const TYPED_FIELD = z.object({ name: z.string().describe('Field name'), type: z.string().describe('Solidity type') });

export const CONTEST_STATUS_REPLY = z.object({
  success: SUCCESS,
  name: z.string().describe('Name of the contest'),
  openRound: ROUND.nullable().describe('Round that accepts commitments; null until one is listed'),
  runningRounds: z.array(ROUND).describe('Rounds past their deadline, not decided, oldest first'),
  counts: objectOf('Counts of all rounds', {
    resolved: COUNT.describe('Resolved rounds'),
    void: COUNT.describe('Void rounds'),
    commitments: COUNT.describe('Commitments of the last 400 days, one for each wallet and market'),
  }),
  rules: listOf('Rules of the contest', { what: z.string().describe('Subject'), rule: z.string().describe('Rule as text') }),
  signing: objectOf('Typed data to sign (EIP-712)', {
    domain: objectOf('EIP-712 domain', {
      name: z.string().describe('Name of the contest'),
      version: z.string().describe('Version of the typed data'),
      chainId: z.int().describe('Chain of the agent'),
      verifyingContract: ADDRESS.describe('ERC-8004 identity registry of the agent'),
      salt: BYTES32.describe('Agent id in that registry, which binds a signature to one agent'),
    }),
    types: z.object({ Commitment: z.array(TYPED_FIELD).describe('Fields, in order') }).describe('EIP-712 types'),
    primaryType: z.literal('Commitment').describe('Type to sign'),
  }),
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
    points: z.int().describe(`Sum over commitments, each at most ${MAX_POINTS} either way`),
    rounds: COUNT.describe('Scored rounds: the independent trials, since markets of a round share one close'),
    brier: PROBABILITY.describe('Mean squared error, 0 to 1, lower is better; each round counts once'),
    oracleBrier: PROBABILITY.describe('The same of the oracle on the same markets'),
    meanDifference: z.number().min(-1).max(1).describe('oracleBrier less brier: above 0 where the wallet was better'),
  }),
  count: COUNT.describe('Length of `leaderboard`'),
  total: COUNT.describe('Wallets with a score'),
  note: z.string().describe('How reliable this table is'),
  timestamp: NOW,
});

export const CONTEST_COMMIT_REPLY = z.object({
  success: SUCCESS,
  round: ROUND_ID.describe('Round of the market'),
  market: z.string().describe('Market id'),
  question: z.string().describe('The market as a question'),
  wallet: ADDRESS.describe('Committing wallet'),
  probabilityBps: z.int().min(MIN_PROBABILITY_BPS).max(MAX_PROBABILITY_BPS).describe('P(close above the strike), basis points'),
  issuedAtMs: COUNT.describe('Time of the signature, Unix milliseconds'),
  committedAt: TIME.describe('When the service accepted it'),
  replaced: z.boolean().describe('Whether it replaced an older commitment of this wallet'),
  digest: BYTES32.describe('EIP-712 hash that was signed'),
  deadline: TIME.describe('Deadline: until then a later signature replaces this commitment'),
  resolvesAt: TIME.describe('Close of the deciding candle'),
});
