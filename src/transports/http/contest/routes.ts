import { z } from 'zod';
import { COMMITMENT_PRIMARY_TYPE, COMMITMENT_TYPES } from '../../../contest/commitments/typed-data.ts';
import type { Contest } from '../../../contest/contest.ts';
import type { Pagination } from '../../../contest/pagination.ts';
import { formatMarketQuestion, MARKET_ID_PATTERN } from '../../../contest/rounds/round.ts';
import { getContestRules } from '../../../contest/rules.ts';
import { MIN_RANKED_ROUNDS } from '../../../contest/scoring/rounds-interval.ts';
import { MAX_PROBABILITY_BPS, MIN_PROBABILITY_BPS, POINTS_PER_BRIER } from '../../../contest/scoring/score.ts';
import type { HttpDeps } from '../deps.ts';
import { limitInput, offsetInput } from '../server/parsing/parameters.ts';
import { signatureInput, walletInput } from '../server/parsing/wallet-parameters.ts';
import { type Route, route } from '../server/route.ts';
import * as schemas from './schemas.ts';

const MARKET = z
  .string({ error: 'must be given once, as a market id' })
  .max(40, 'is too long for a market id')
  .regex(MARKET_ID_PATTERN, 'must be a market id, e.g. 2026-W32-62000')
  .describe('Market id, from GET /api/svc/clawstake/markets');

const PROBABILITY_RANGE = `must be a whole number of basis points from ${MIN_PROBABILITY_BPS} to ${MAX_PROBABILITY_BPS}`;

const TIME_RANGE = 'must be a time in whole milliseconds since 1970';

const COMMIT_BODY = z.strictObject({
  market: MARKET,
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

type ContestDeps = Pick<HttpDeps, 'contest' | 'now'>;

const MAX_OFFSET = 100_000;

const buildPageInput = (what: string, fallback: number) => ({
  limit: limitInput(100, fallback).describe(`Maximum number of ${what}`),
  offset: offsetInput(MAX_OFFSET).describe(`Number of ${what} to skip`),
});

/** Interface, section 4.1, which leaves the payloads open; commitments are an addition. */
export function contestRoutes(deps: ContestDeps): Route[] {
  return [...readingRoutes(deps), commitRoute(deps)];
}

function readingRoutes({ contest, now }: ContestDeps): Route[] {
  return [
    route('GET /api/svc/clawstake/status', 'getContestStatus', {
      tag: 'contest',
      summary: 'The open round with deadline, counts, rules, and the typed data to sign',
      reply: schemas.CONTEST_STATUS_REPLY,
      handle: async () => ({ body: await readContestStatus(contest, now()) }),
    }),
    route('GET /api/svc/clawstake/markets', 'listContestMarkets', {
      tag: 'contest',
      summary: "Rounds with strikes and deadlines; outcomes and the oracle's forecasts once resolved",
      query: z.object(buildPageInput('rounds', 10)),
      reply: schemas.CONTEST_MARKETS_REPLY,
      handle: async ({ query }) => ({ body: await readContestMarkets(contest, query, now()) }),
    }),
    route('GET /api/svc/prestake/leaderboard', 'getContestLeaderboard', {
      tag: 'contest',
      summary: 'Wallets ranked by forecast skill against the oracle',
      query: z.object(buildPageInput('wallets', 20)),
      reply: schemas.CONTEST_LEADERBOARD_REPLY,
      handle: async ({ query }) => ({ body: await readContestLeaderboard(contest, query, now()) }),
    }),
    route('GET /api/svc/prestake/commitments', 'listContestCommitments', {
      tag: 'contest',
      summary: 'Commitments for a market with signatures and scores, from its deadline on',
      query: z.object({ market: MARKET, ...buildPageInput('commitments', 20) }),
      reply: schemas.CONTEST_COMMITMENTS_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ query }) => ({ body: await readCommitments(contest, query, now()) }),
    }),
  ];
}

function commitRoute({ contest }: ContestDeps): Route {
  return route('POST /api/svc/prestake/commit', 'commitToContestMarket', {
    tag: 'contest',
    summary: 'Commits a wallet to a probability for a market of the open round, by signature',
    description:
      'For points only: nothing is staked or held. Until the deadline a later signature of the same wallet for the same market replaces the ' +
      'commitment; one that is not later is rejected. `GET /api/svc/clawstake/status` has the typed data to sign (EIP-712).',
    // The signature of a contract wallet is verified on chain.
    cost: 'rpc',
    body: COMMIT_BODY,
    reply: schemas.CONTEST_COMMIT_REPLY,
    errors: ['NOT_FOUND', 'CONFLICT', 'UNAUTHENTICATED', 'CHAIN_UNREACHABLE'],
    handle: async ({ body, context }) => ({ body: await commitProbability(contest, body, context.address) }),
  });
}

async function readContestStatus(contest: Contest, now: Date): Promise<z.input<typeof schemas.CONTEST_STATUS_REPLY>> {
  const { open, running, counts, domain } = await contest.getStatus();
  return {
    success: true,
    name: 'Weekly BTC/USD close, forecast against the oracle',
    openRound: open,
    runningRounds: running,
    counts,
    rules: getContestRules(),
    signing: { domain, types: { Commitment: [...COMMITMENT_TYPES.Commitment] }, primaryType: COMMITMENT_PRIMARY_TYPE },
    timestamp: now.toISOString(),
  };
}

async function readContestMarkets(contest: Contest, range: Pagination, now: Date): Promise<z.input<typeof schemas.CONTEST_MARKETS_REPLY>> {
  const { rounds, total } = await contest.listRounds(range);
  return { success: true, rounds, count: rounds.length, total, timestamp: now.toISOString() };
}

const NOTE = `Each round counts once, since its markets share one close; wallets with fewer than ${MIN_RANKED_ROUNDS} scored rounds are not ranked. \
The interval assumes independent rounds and a single wallet: among many wallets, the first is first partly by luck.`;

async function readContestLeaderboard(
  contest: Contest,
  range: Pagination,
  now: Date,
): Promise<z.input<typeof schemas.CONTEST_LEADERBOARD_REPLY>> {
  const { standings, total, ranked } = await contest.listStandings(range);
  return {
    success: true,
    leaderboard: standings,
    count: standings.length,
    total,
    ranked,
    pointsPerBrier: POINTS_PER_BRIER,
    minRankedRounds: MIN_RANKED_ROUNDS,
    note: NOTE,
    timestamp: now.toISOString(),
  };
}

async function readCommitments(
  contest: Contest,
  { market, ...range }: Pagination & { market: string },
  now: Date,
): Promise<z.input<typeof schemas.CONTEST_COMMITMENTS_REPLY>> {
  const { round, commitments, total } = await contest.listCommitments(market, range);
  return {
    success: true,
    round: round.round,
    market,
    deadline: round.deadline,
    public: commitments !== null,
    commitments: commitments ?? [],
    count: commitments?.length ?? 0,
    total,
    timestamp: now.toISOString(),
  };
}

async function commitProbability(
  contest: Contest,
  body: z.output<typeof COMMIT_BODY>,
  address: string,
): Promise<z.input<typeof schemas.CONTEST_COMMIT_REPLY>> {
  const { round, market, committedAt, replaced, digest } = await contest.commit(body, address);
  const { wallet, probabilityBps, issuedAtMs } = body;
  return {
    success: true,
    round: round._id,
    market: market.id,
    question: formatMarketQuestion(round, market),
    wallet,
    probabilityBps,
    issuedAtMs,
    committedAt: committedAt.toISOString(),
    replaced,
    digest,
    deadline: round.opensAt.toISOString(),
    resolvesAt: round.resolvesAt.toISOString(),
  };
}
