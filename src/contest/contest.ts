import { createCache } from '../market/cache.ts';
import { type CommitReceipt, commit, findMarket, type SignedCommitment } from './commit.ts';
import type { Page } from './page.ts';
import { type ContestOptions, type ContestParts, contestParts } from './parts.ts';
import type { RoundDoc } from './round.ts';
import { type ContestReport, runContest } from './run-contest.ts';
import { type ContestDomain, domainOf } from './typed-data.ts';
import { type CommitmentView, isPublic, type RoundView, type StandingView, viewCommitment, viewRound, viewStanding } from './views.ts';

export interface ContestCounts {
  rounds: { open: number; running: number; resolved: number; void: number };
  commitments: number;
  scored: number;
  wallets: number;
}

export interface ContestStatus {
  /** The round that takes commitments; null until it is listed. */
  open: RoundView | null;
  /** Opened and not decided, oldest first. */
  running: RoundView[];
  counts: ContestCounts;
  domain: ContestDomain;
}

/** The contest as the doors and the schedule see it. */
export interface Contest {
  status(): Promise<ContestStatus>;
  /** Newest first. */
  rounds(page: Page): Promise<{ rounds: RoundView[]; total: number }>;
  /** @throws OracleError as `commit` */
  commit(commitment: SignedCommitment): Promise<CommitReceipt>;
  /** Null in place of commitments that may not be read yet. @throws OracleError NOT_FOUND */
  commitmentsOf(market: string, page: Page): Promise<{ round: RoundView; commitments: CommitmentView[] | null; total: number }>;
  standings(page: Page): Promise<{ standings: StandingView[]; total: number; ranked: number }>;
  /** Does everything that is due. */
  run(): Promise<ContestReport[]>;
}

/** Figures over all commitments are made once a minute at most. */
const CACHED_PAGES = 32;

export function createContest(options: ContestOptions): Contest {
  const parts = contestParts(options);
  const standings = createCache<Awaited<ReturnType<Contest['standings']>>>('contest-standings', CACHED_PAGES);
  const totals = createCache<Awaited<ReturnType<typeof parts.commitments.totals>>>('contest-totals', 1);
  const minute = () => Math.floor(parts.now().getTime() / 60_000);
  let accepted = 0;
  return {
    status: async () => statusOf(parts, await totals.get(`${accepted}@${minute()}`, () => parts.commitments.totals())),
    rounds: (page) => roundsOf(parts, page),
    async commit(commitment) {
      const receipt = await commit(parts, commitment);
      // Whoever has just committed finds himself counted.
      accepted += 1;
      return receipt;
    },
    commitmentsOf: (market, page) => commitmentsOf(parts, market, page),
    standings: (page) => standings.get(`${page.limit}+${page.offset}@${minute()}`, () => standingsOf(parts, page)),
    run: () => runContest(parts),
  };
}

async function statusOf(parts: ContestParts, totals: Omit<ContestCounts, 'rounds'>): Promise<ContestStatus> {
  const [undecided, counts] = await Promise.all([parts.rounds.undecided(), parts.rounds.countByState()]);
  const views = await viewsOf(parts, undecided);
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
    domain: domainOf(parts.deployment),
  };
}

async function roundsOf(parts: ContestParts, page: Page): ReturnType<Contest['rounds']> {
  const { rounds, total } = await parts.rounds.page(page);
  return { rounds: await viewsOf(parts, rounds), total };
}

/** Decided rounds hold what came of their commitments; for the others it is counted now. */
async function viewsOf(parts: ContestParts, rounds: readonly RoundDoc[]): Promise<RoundView[]> {
  const undecided = rounds.filter(({ state }) => state === 'OPEN' || state === 'RUNNING');
  const markets = undecided.flatMap((round) => round.markets.map(({ id }) => id));
  const crowd = markets.length === 0 ? new Map() : await parts.commitments.crowdOf(markets);
  return rounds.map((round) => viewRound(round, crowd, parts.now()));
}

async function commitmentsOf(parts: ContestParts, market: string, page: Page): ReturnType<Contest['commitmentsOf']> {
  const { round } = await findMarket(parts, market);
  const { commitments, total } = await parts.commitments.ofMarket(market, page);
  const [view] = await viewsOf(parts, [round]);
  return { round: view, commitments: isPublic(round, parts.now()) ? commitments.map(viewCommitment) : null, total };
}

async function standingsOf({ commitments }: ContestParts, page: Page): ReturnType<Contest['standings']> {
  const { rows, total, ranked } = await commitments.standings(page);
  return { standings: rows.map((row, index) => viewStanding(row, page.offset + index + 1)), total, ranked };
}
