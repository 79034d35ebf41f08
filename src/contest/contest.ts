import { createCache } from '../platform/cache.ts';
import { acceptCommitment, type CommitReceipt, findMarket, type SignedCommitment } from './commitments/accept-commitment.ts';
import { buildContestDomain, type ContestDomain } from './commitments/typed-data.ts';
import { type ContestDeps, type ContestOptions, createContestDeps } from './deps.ts';
import type { Pagination } from './pagination.ts';
import type { RoundDoc } from './rounds/round.ts';
import { type ContestReport, runContest } from './run-contest.ts';
import {
  areCommitmentsPublic,
  type CommitmentView,
  type RoundView,
  type StandingView,
  toCommitmentView,
  toRoundView,
  toStandingView,
} from './views.ts';

export interface ContestCounts {
  rounds: { open: number; running: number; resolved: number; void: number };
  commitments: number;
  scored: number;
  wallets: number;
}

export interface ContestStatus {
  /** The round that accepts commitments; null until it is listed. */
  open: RoundView | null;
  /** Opened, not decided; oldest first. */
  running: RoundView[];
  counts: ContestCounts;
  domain: ContestDomain;
}

export interface Contest {
  getStatus(): Promise<ContestStatus>;
  listRounds(page: Pagination): Promise<{ rounds: RoundView[]; total: number }>;
  /** @throws OracleError as `acceptCommitment` */
  commit(commitment: SignedCommitment): Promise<CommitReceipt>;
  /** `commitments` is null before the deadline. @throws OracleError NOT_FOUND */
  listCommitments(market: string, page: Pagination): Promise<{ round: RoundView; commitments: CommitmentView[] | null; total: number }>;
  listStandings(page: Pagination): Promise<{ standings: StandingView[]; total: number; ranked: number }>;
  run(): Promise<ContestReport[]>;
}

/** Standings and totals are recomputed at most once a minute. */
const MAX_CACHED_PAGES = 32;

export function createContest(options: ContestOptions): Contest {
  const deps = createContestDeps(options);
  const standings = createCache<Awaited<ReturnType<Contest['listStandings']>>>('contest-standings', MAX_CACHED_PAGES);
  const totals = createCache<Awaited<ReturnType<typeof deps.commitments.countTotals>>>('contest-totals', 1);
  const minute = () => Math.floor(deps.now().getTime() / 60_000);
  let accepted = 0;
  return {
    getStatus: async () => readStatus(deps, await totals.get(`${accepted}@${minute()}`, () => deps.commitments.countTotals())),
    listRounds: (page) => listRoundViews(deps, page),
    async commit(commitment) {
      const receipt = await acceptCommitment(deps, commitment);
      // Invalidates the cached totals.
      accepted += 1;
      return receipt;
    },
    listCommitments: (market, page) => listMarketCommitments(deps, market, page),
    listStandings: (page) => standings.get(`${page.limit}+${page.offset}@${minute()}`, () => listStandingViews(deps, page)),
    run: () => runContest(deps),
  };
}

async function readStatus(deps: ContestDeps, totals: Omit<ContestCounts, 'rounds'>): Promise<ContestStatus> {
  const [undecided, counts] = await Promise.all([deps.rounds.listUndecided(), deps.rounds.countByState()]);
  const views = await buildRoundViews(deps, undecided);
  const running = views.filter(({ state }) => state === 'RUNNING');
  return {
    open: views.find(({ state }) => state === 'OPEN') ?? null,
    running,
    counts: {
      rounds: {
        open: views.length - running.length,
        running: running.length,
        resolved: counts.RESOLVED ?? 0,
        void: counts.VOID ?? 0,
      },
      ...totals,
    },
    domain: buildContestDomain(deps.deployment),
  };
}

async function listRoundViews(deps: ContestDeps, page: Pagination): ReturnType<Contest['listRounds']> {
  const { rounds, total } = await deps.rounds.listPage(page);
  return { rounds: await buildRoundViews(deps, rounds), total };
}

/** Decided rounds store their crowd figures; those of the others are queried. */
async function buildRoundViews(deps: ContestDeps, rounds: readonly RoundDoc[]): Promise<RoundView[]> {
  const undecided = rounds.filter(({ state }) => state === 'OPEN' || state === 'RUNNING');
  const markets = undecided.flatMap((round) => round.markets.map(({ id }) => id));
  const crowd = markets.length === 0 ? new Map() : await deps.commitments.readCrowdFigures(markets);
  return rounds.map((round) => toRoundView(round, crowd, deps.now()));
}

async function listMarketCommitments(deps: ContestDeps, market: string, page: Pagination): ReturnType<Contest['listCommitments']> {
  const { round } = await findMarket(deps, market);
  const { commitments, total } = await deps.commitments.listByMarket(market, page);
  const [view] = await buildRoundViews(deps, [round]);
  return { round: view, commitments: areCommitmentsPublic(round, deps.now()) ? commitments.map(toCommitmentView) : null, total };
}

async function listStandingViews({ commitments }: ContestDeps, page: Pagination): ReturnType<Contest['listStandings']> {
  const { rows, total, ranked } = await commitments.listStandings(page);
  return { standings: rows.map((row, index) => toStandingView(row, page.offset + index + 1)), total, ranked };
}
