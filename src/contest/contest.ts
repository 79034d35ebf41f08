import { acceptCommitment, findMarket, type SignedCommitment } from './commitments/accept-commitment.ts';
import { buildContestDomain } from './commitments/typed-data.ts';
import { type ContestDeps, type ContestOptions, createContestDeps } from './deps.ts';
import type { Pagination } from './pagination.ts';
import type { RoundDoc } from './rounds/round.ts';
import { runContest } from './run-contest.ts';
import { areCommitmentsPublic, type RoundView, toCommitmentView, toRoundView, toStandingView } from './views.ts';

export type Contest = ReturnType<typeof createContest>;

export function createContest(options: ContestOptions) {
  const deps = createContestDeps(options);
  return {
    getStatus: () => readStatus(deps),
    listRounds: (page: Pagination) => listRoundViews(deps, page),
    /** @param address of the client, as the rate limits key it */
    commit: (commitment: SignedCommitment, address: string) => acceptCommitment(deps, commitment, address),
    /** `commitments` is null before the deadline. @throws OracleError NOT_FOUND */
    listCommitments: (market: string, page: Pagination) => listMarketCommitments(deps, market, page),
    listStandings: (page: Pagination) => listStandingViews(deps, page),
    run: () => runContest(deps),
    figures: deps.figures,
  };
}

async function readStatus(deps: ContestDeps) {
  const [undecided, totals, summary] = await Promise.all([
    deps.rounds.listUndecided(),
    deps.commitments.countTotals(),
    deps.figures.getSummary(),
  ]);
  const views = await buildRoundViews(deps, undecided);
  const running = views.filter(({ state }) => state === 'RUNNING');
  return {
    open: views.find(({ state }) => state === 'OPEN') ?? null,
    running,
    counts: {
      rounds: {
        open: views.length - running.length,
        running: running.length,
        resolved: summary.resolved,
        void: summary.void,
      },
      ...totals,
      scored: summary.scored,
    },
    domain: buildContestDomain(deps.deployment),
  };
}

async function listRoundViews(deps: ContestDeps, page: Pagination) {
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

async function listMarketCommitments(deps: ContestDeps, market: string, page: Pagination) {
  const { round } = await findMarket(deps, market);
  const { commitments, total } = await deps.commitments.listByMarket(market, page);
  const [view] = await buildRoundViews(deps, [round]);
  return { round: view, commitments: areCommitmentsPublic(round, deps.now()) ? commitments.map(toCommitmentView) : null, total };
}

async function listStandingViews({ figures }: ContestDeps, page: Pagination) {
  const { rows, total, ranked } = await figures.listStandings(page);
  return { standings: rows.map((row, index) => toStandingView(row, page.offset + index + 1)), total, ranked };
}
