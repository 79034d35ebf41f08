import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { HORIZONS } from '../../../src/forecast/model.ts';
import type { ChallengeResult } from '../../../src/record/challenge.ts';
import type { DistributionsReply, ForecastDistributions } from '../../../src/record/schemas/forecast.ts';
import type { ShownMove } from '../../../src/verify/evidence.ts';
import type { CheckId } from '../../../src/verify/findings.ts';
import type { TestService } from '../service/service.ts';

export interface PlantedDistribution {
  what: string;
  check: CheckId;
  /** Changes what a service serves of one forecast; null: it is left out. `other` is the same day over another horizon. */
  change?(served: ForecastDistributions, other: ForecastDistributions): ForecastDistributions | null;
  /** Changes the row of the forecast. */
  row?(shown: ShownMove): void;
  /** Changes the evidence that the service claims. */
  claim?(challenge: ChallengeResult): void;
}

type Change = (served: ForecastDistributions, other: ForecastDistributions) => void;

const changed =
  (change: Change): PlantedDistribution['change'] =>
  (served, other) => {
    const copy = structuredClone(served);
    change(copy, other);
    return copy;
  };

/** What is changed in the answers of a service, and the check that has to fail in every way to verify. */
export const PLANTED_DISTRIBUTIONS: PlantedDistribution[] = [
  { what: 'quantile: a millionth', check: 'distributions', change: changed(({ openings }) => void openings[1]!.quantilesMicro[120]!++) },
  { what: 'quantiles: two swapped', check: 'distributions', change: changed(({ openings }) => void openings[0]!.quantilesMicro.reverse()) },
  { what: 'quantiles: one missing', check: 'distributions', change: changed(({ openings }) => void openings[0]!.quantilesMicro.pop()) },
  { what: 'salt: replaced', check: 'distributions', change: changed(({ openings }) => (openings[0]!.salt = `0x${'ab'.repeat(32)}`)) },
  { what: 'version: of another fit', check: 'distributions', change: changed(({ openings }) => (openings[1]!.modelVersion += '1')) },
  { what: 'role: exchanged', check: 'distributions', change: changed(({ openings }) => (openings[1]!.role = 'champion')) },
  {
    what: 'versions: exchanged',
    check: 'distributions',
    change: changed(({ openings: [first, second] }) => ([first!.name, second!.name] = [second!.name, first!.name])),
  },
  { what: 'challenger: withheld', check: 'distributions', change: changed(({ openings }) => void openings.pop()) },
  {
    what: 'challenger: called missing',
    check: 'distributions',
    change: changed((served) => {
      served.openings.pop();
      served.missing.push({ name: 'm1', role: 'challenger', reason: 'it could not be fitted' });
    }),
  },
  { what: 'forecast: withheld', check: 'distributions', change: () => null },
  { what: 'horizon: openings of another', check: 'distributions', change: (served, { openings }) => ({ ...served, openings }) },
  { what: 'horizon: named otherwise', check: 'distributions', change: changed((served) => (served.horizon = '3d')) },
  { what: 'metadata: a space', check: 'distributions', change: changed((served) => (served.metadata += ' ')) },
  {
    what: 'metadata: without models',
    check: 'distributions',
    change: changed((served) => (served.metadata = served.metadata.replace('"models"', '"model"'))),
  },
  { what: 'score: lowered', check: 'scores', change: changed(({ scores }) => (scores[0]!.crps *= 0.999)) },
  { what: 'PIT: moved', check: 'scores', change: changed(({ scores }) => (scores[1]!.pit = 1 - scores[1]!.pit + 1e-6)) },
  { what: 'coverage: the other', check: 'scores', change: changed(({ scores }) => (scores[1]!.in80 = !scores[1]!.in80)) },
  { what: 'scores: left out', check: 'scores', change: changed((served) => (served.scores = [])) },
  { what: 'return: moved', check: 'scores', change: changed((served) => (served.realised! += 1e-6)) },
  { what: 'difference: of the other sign', check: 'scores', change: changed(({ comparisons }) => (comparisons[0]!.difference *= -1)) },
  { what: 'limit: raised', check: 'scores', change: changed(({ comparisons }) => (comparisons[0]!.limit *= 2)) },
  { what: 'comparison: left out', check: 'scores', change: changed((served) => (served.comparisons = [])) },
  { what: 'big move: the other', check: 'scores', change: changed(({ move }) => (move!.big = !move!.big)) },
  { what: 'P(big move): of the score moved', check: 'scores', change: changed(({ move }) => (move!.pBig! += 1e-6)) },
  { what: 'size of the move: of the score left out', check: 'scores', change: changed((served) => (served.move = null)) },
  { what: 'P(big move): of the row moved', check: 'move', row: (shown) => (shown.pBig! += 1e-6) },
  { what: 'size of the move: of the row left out', check: 'move', row: (shown) => (shown.moveSize = null) },
  { what: 'e-value: raised', check: 'evidence', claim: (challenge) => Object.assign(challenge, { eBetter: challenge.eBetter * 1.001 }) },
  {
    what: 'days of the evidence: one more',
    check: 'evidence',
    claim: (challenge) => Object.assign(challenge, { days: challenge.days + 1 }),
  },
  { what: 'verdict: proven', check: 'evidence', claim: (challenge) => Object.assign(challenge, { verdict: 'proven better at 5 %' }) },
];

/** The first change of each check. */
export const FIRST_OF_CHECK: ReadonlySet<PlantedDistribution> = new Set(
  Array.from(Map.groupBy(PLANTED_DISTRIBUTIONS, ({ check }) => check).values(), ([first]) => first!),
);

/** Changes a page of distributions as planted. */
export function plantPage(
  reply: DistributionsReply,
  { change }: PlantedDistribution,
  { target, other }: { target: string; other: ForecastDistributions },
): DistributionsReply {
  if (change === undefined) return reply;
  const data = reply.data.flatMap((served) => (served.predictionId === target ? (change(served, other) ?? []) : [served]));
  return { ...reply, data, count: data.length };
}

type ScorecardPage = { predictions?: (ShownMove & { predictionId: string })[] };

function plantRow({ predictions = [] }: ScorecardPage, { row }: PlantedDistribution, target: string): void {
  for (const shown of predictions) if (shown.predictionId === target) row?.(shown);
}

/** What the service claims of the evidence, as planted for its first horizon. */
export async function claimChallenges({ http }: TestService, { claim }: PlantedDistribution): Promise<object> {
  const figures = await Promise.all(HORIZONS.map((horizonDays) => http.figures.getChallenge(horizonDays)));
  const horizons = structuredClone(figures);
  claim?.(horizons[0]!.comparisons[0]!);
  return { success: true, champion: 'm0-d1', changes: [], horizons };
}

export const HONEST: PlantedDistribution = { what: 'nothing', check: 'distributions' };

export interface DishonestService {
  url: string;
  /** What it changes. */
  planted: PlantedDistribution;
  close(): Promise<void>;
}

/** A server before a service that changes what it serves of one forecast. */
export async function startDishonestService(
  service: TestService,
  serviceUrl: string,
  target: { predictionId: string; other: ForecastDistributions },
): Promise<DishonestService> {
  const dishonest: Pick<DishonestService, 'planted'> = { planted: HONEST };
  const server = createServer(async (request, response) => {
    const path = request.url!;
    const answer = path.startsWith('/api/svc/challenge') ? null : await fetch(`${serviceUrl}${path}`);
    const body = answer === null ? await claimChallenges(service, dishonest.planted) : await answer.json();
    if (path.startsWith('/api/svc/scorecard')) plantRow(body as ScorecardPage, dishonest.planted, target.predictionId);
    const planted = path.startsWith('/api/svc/distributions')
      ? plantPage(body as DistributionsReply, dishonest.planted, { target: target.predictionId, other: target.other })
      : body;
    response.writeHead(answer?.status ?? 200, { 'content-type': 'application/json' }).end(JSON.stringify(planted));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const close = () => new Promise<void>((resolve) => server.close(() => resolve()));
  return Object.assign(dishonest, { url, close });
}
