import { type Hex, sha256, stringToBytes } from 'viem';
import { computeDistributionDigest, fromQuantilesMicro } from '../../chain/eas/schemas.ts';
import { getErrorMessage } from '../../errors.ts';
import { computeLossDifference, computeMaxDifference, listComparisons, scoreDistributions } from '../../forecast/challenge.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { QuantileGrid } from '../../forecast/distribution.ts';
import type { ModelName } from '../../forecast/models.ts';
import type { ServedDistributions } from '../evidence.ts';
import { type CheckId, compareTree, createFindings, type FindingSubject, type Findings, getRoundingTolerance } from '../findings.ts';
import type { CheckedRow } from './forecast.ts';
import { type CommittedModel, parseCommittedModels, toResolutionSubject } from './prediction.ts';

/** The proven comparisons of one forecast, from its opened distributions and its closes. */
export interface OpenedForecast {
  day: Day;
  horizonDays: number;
  comparisons: VersionComparison[];
}

type VersionComparison = ServedDistributions['comparisons'][number];

/** A service shows an outcome at the latest after this time. */
const SERVING_GRACE_MS = 600_000;

/**
 * Checks what a service serves of the committed distributions of a resolved forecast. Null: it serves nothing.
 * @returns `none` for a day without distributions; null when they are not proven
 */
export function checkDistributions(
  row: CheckedRow,
  served: ServedDistributions | null,
  { now, findings }: { now: Date; findings: Findings },
): OpenedForecast | 'none' | null {
  const subject = toResolutionSubject(row.prediction);
  if (served === null) {
    const isFresh = now.getTime() - row.resolution!.at.getTime() < SERVING_GRACE_MS;
    const because = 'withheld: its outcome is on chain, and the service does not open its distributions';
    if (isFresh) findings.leave('distributions', subject, 'its outcome is new on chain, and the service does not show it yet', false);
    else findings.fail('distributions', subject, { field: 'openings', expected: 'opened', actual: 'withheld', because });
    return null;
  }
  const models = checkCommittedModels(row, served, findings);
  if (models === null || models === 'none') return models;
  if (!checkOpenings(row, served, models, findings)) return null;
  return row.opened ? checkScores(row, served, findings) : null;
}

/** The models that the attested metadata names; null when it is not the attested one. */
function checkCommittedModels({ prediction, resolution }: CheckedRow, served: ServedDistributions, findings: Findings) {
  const subject = toResolutionSubject(prediction);
  const { day, horizonDays, sequence, metadata } = prediction.data;
  const [date, horizon] = [formatDay(day), `${horizonDays}d`];
  const uids = { attestationUid: prediction.uid, resolutionUid: resolution!.uid };
  const expected = { predictionId: `${date}:${horizon}`, date, horizon, sequence, ...uids };
  compareAsOne({ path: 'forecast', expected, found: pick(served, expected) }, 'distributions', { subject, findings });
  const because = 'the metadata is not the attested one';
  const actual = sha256(stringToBytes(served.metadata));
  if (!findings.compare('distributions', subject, { field: 'metadata', expected: metadata, actual, because })) return null;
  const models = parseCommittedModels(served.metadata);
  if (models !== 'unreadable') return models;
  const malformed = { field: 'models', expected: 'model versions with digests', actual: 'unreadable' };
  findings.fail('distributions', subject, { ...malformed, because: 'the attested metadata does not list its models readably' });
  return null;
}

/** Every committed distribution must be opened, and no other. @returns whether all digests agree */
function checkOpenings({ prediction }: CheckedRow, served: ServedDistributions, models: CommittedModel[], findings: Findings): boolean {
  const subject = toResolutionSubject(prediction);
  const { day, horizonDays } = prediction.data;
  const predictionId = `${formatDay(day)}:${horizonDays}d`;
  const committed = models.filter(({ distributions }) => distributions !== null);
  const agreeing = committed.map(({ name, role, modelVersion, distributions }) => {
    const opening = served.openings.find((one) => one.name === name);
    const field = `distribution of ${name}`;
    const expected = distributions![`${horizonDays}d`] ?? 'none for this horizon';
    const withheld = `withheld: the service does not open the ${field}`;
    if (opening === undefined)
      return findings.compare('distributions', subject, { field, expected, actual: 'withheld', because: withheld });
    const because = `salt, version and quantiles of the ${field} do not open its digest`;
    const isOpened = findings.compare('distributions', subject, { field, expected, actual: tryDigest(predictionId, opening), because });
    const stated = { path: name, expected: { role, modelVersion }, found: pick(opening, { role, modelVersion }) };
    return compareAsOne(stated, 'distributions', { subject, findings }) && isOpened;
  });
  const lacking = models.filter(({ distributions }) => distributions === null);
  const lists = {
    openings: committed.map(({ name }) => name).join(', '),
    missing: lacking.map(({ name, role, missingBecause }) => `${name} (${role}): ${missingBecause}`).join('; '),
  };
  const found = {
    openings: served.openings.map(({ name }) => name).join(', '),
    missing: served.missing.map(({ name, role, reason }) => `${name} (${role}): ${reason}`).join('; '),
  };
  return compareAsOne({ path: 'versions', expected: lists, found }, 'distributions', { subject, findings }) && agreeing.every(Boolean);
}

function tryDigest(predictionId: string, { modelVersion, salt, quantilesMicro }: ServedDistributions['openings'][number]): string {
  try {
    return computeDistributionDigest({ predictionId, modelVersion, salt: salt as Hex, quantilesMicro });
  } catch (error) {
    return `none: ${getErrorMessage(error)}`;
  }
}

/** Recomputes scores and comparisons from the openings and the resolution on chain. */
function checkScores({ prediction, resolution }: CheckedRow, served: ServedDistributions, findings: Findings): OpenedForecast | null {
  const subject = toResolutionSubject(prediction);
  const { btcAtResolutionCents, btcPriceCents } = resolution!.data;
  const realised = Math.log(btcAtResolutionCents / btcPriceCents);
  if (!Number.isFinite(realised)) {
    findings.leave('scores', subject, 'the prices on chain have no logarithm');
    return null;
  }
  const grids = new Map(served.openings.map(({ name, quantilesMicro }) => [name, fromQuantilesMicro(quantilesMicro)]));
  // Scores do not depend on the name, which may be of a later version than this code.
  const { models } = scoreDistributions(grids as unknown as ReadonlyMap<ModelName, QuantileGrid>, realised);
  const scores = served.openings.map(({ name, modelVersion }) => [name, { modelVersion, ...models[name as ModelName] }]);
  const comparisons = compareOpened(served, grids, realised);
  const expected = {
    realised,
    scores: { ...Object.fromEntries(scores), entries: scores.length },
    comparisons: keyComparisons(comparisons),
  };
  const claimed = Object.fromEntries(served.scores.map(({ name, ...one }) => [name, one]));
  const found = {
    realised: served.realised,
    scores: { ...claimed, entries: served.scores.length },
    comparisons: keyComparisons(served.comparisons),
  };
  compareAsOne({ path: '', expected, found }, 'scores', { subject, findings });
  return { day: prediction.data.day, horizonDays: prediction.data.horizonDays, comparisons };
}

/** The comparisons that are due, and those of further pairs that the service names. */
function compareOpened(served: ServedDistributions, grids: ReadonlyMap<string, QuantileGrid>, realised: number): VersionComparison[] {
  const due: { challenger: string; against: string }[] = listComparisons();
  const pairs = new Map(
    [...due, ...served.comparisons].map(({ challenger, against }) => [formatPair({ challenger, against }), { challenger, against }]),
  );
  return [...pairs.values()].flatMap((pair) => {
    const [champion, other] = [grids.get(pair.against), grids.get(pair.challenger)];
    if (champion === undefined || other === undefined) return [];
    return [{ ...pair, limit: computeMaxDifference(champion, other), difference: computeLossDifference(champion, other, realised) }];
  });
}

export function formatPair({ challenger, against }: Pick<VersionComparison, 'challenger' | 'against'>): string {
  return `${challenger} against ${against}`;
}

function keyComparisons(comparisons: readonly VersionComparison[]) {
  const entries = comparisons.map(({ limit, difference, ...pair }) => [formatPair(pair), { limit, difference }]);
  return { ...Object.fromEntries(entries), entries: comparisons.length };
}

function pick<Names extends object>(found: object, names: Names): object {
  return Object.fromEntries(Object.keys(names).map((name) => [name, (found as Record<string, unknown>)[name]]));
}

/** One finding when all leaves agree, otherwise one per difference. @returns whether they agree */
export function compareAsOne(
  tree: Parameters<typeof compareTree>[0],
  check: CheckId,
  { subject, findings }: { subject: FindingSubject; findings: Findings },
): boolean {
  const own = createFindings();
  compareTree(tree, { check, subject, findings: own, getTolerance: getRoundingTolerance });
  const failed = own.list.filter(({ outcome }) => outcome === 'fail');
  for (const { field, expected, actual, because } of failed) findings.fail(check, subject, { field, expected, actual, because });
  const agreed = { field: tree.path === '' ? check : tree.path, expected: 'equal', actual: 'equal' };
  return failed.length === 0 && findings.compare(check, subject, agreed);
}
