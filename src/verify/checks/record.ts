import { type Hex, sha256, stringToBytes } from 'viem';
import { computeDistributionDigest, EAS_SCHEMAS, fromQuantilesMicro, getSchemaUid, type SchemaName } from '../../chain/eas/schemas.ts';
import { getErrorMessage } from '../../errors.ts';
import {
  computeEValue,
  computeLossDifference,
  computeMaxDifference,
  judgeChallenge,
  listComparisons,
  runEProcess,
  scoreDistributions,
} from '../../forecast/challenge.ts';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { QuantileGrid } from '../../forecast/distribution.ts';
import type { BaseRates } from '../../forecast/fit.ts';
import { HORIZONS } from '../../forecast/model.ts';
import type { ModelName } from '../../forecast/models.ts';
import type { MoveScores } from '../../forecast/move-scores.ts';
import {
  computeRecordStatistics,
  publishHorizonRow,
  publishRecordSummary,
  type RecordStatistics,
  type RecordSummary,
  summarizeRecord,
} from '../../forecast/record-statistics.ts';
import { selectNonOverlapping } from '../../forecast/signal.ts';
import type { RecordRow } from '../../forecast/statistics.ts';
import {
  type ClaimedChallenge,
  type CommittedModel,
  checkLink,
  checkOnePrediction,
  checkWindow,
  explainAbsence,
  type Prediction,
  parseCommittedModels,
  type RecordGaps,
  type ServedDistributions,
  toResolutionSubject,
  toSubject,
} from '../evidence.ts';
import { compareAsOne, type Findings, NO_SUBJECT } from '../findings.ts';
import type { CheckedRow } from './forecast.ts';
import { isStated, parseStatedMove, type ReferenceCheck, toProvenMove, toShownMove } from './move.ts';

/** Recomputed figures of one horizon. */
export type RecomputedFigures = ReturnType<typeof recompute>;

/** Computes summary and statistics of the rows of one horizon, ordered by sequence; `checkSequences` has reported a second row of a day. */
export function recompute(rows: readonly RecordRow[], horizonDays: number) {
  const ascending = selectNonOverlapping(rows, 1);
  const scored = ascending.flatMap((row) => row.scored ?? []);
  return {
    horizonDays,
    rows: [...rows],
    summary: summarizeRecord(ascending, horizonDays),
    statistics: computeRecordStatistics(scored, horizonDays),
  };
}

/** Input of the statistics, with the base rate known at the time; null where the prices do not provide it. */
export function toRecordRows(rows: readonly CheckedRow[], baseRates: BaseRates): RecordRow[] {
  return rows.map(({ prediction, resolution, outcome, opened, status, missed }) => {
    const { day, horizonDays } = prediction.data;
    if (resolution === null || outcome === null || !opened) return { day, status, missed, scored: null };
    const { signal, direction, pUpBps } = resolution.data;
    const call = { call: signal === 'HOLD' ? null : direction, rose: outcome.rose, pUp: pUpBps / 10_000 };
    return { day, status, missed, scored: { day, ...call, ...baseRates(day, horizonDays), distribution: null } };
  });
}

/** The figures in the service's format; undefined where chain and prices do not determine them. */
export function buildExpectedFigures({ summary, statistics }: RecomputedFigures) {
  const { calls, probabilities } = statistics;
  const published = publishRecordSummary(summary);
  const known = probabilities && {
    ...probabilities,
    climatologySkill: probabilities.climatologySkill ?? undefined,
    climatology4ySkill: probabilities.climatology4ySkill ?? undefined,
  };
  const expected = { ...published.summary, brier: getDeterminedBrier(summary, statistics) };
  return { ...published, summary: expected, statistics: { calls, probabilities: known, distribution: undefined } };
}

/** One entry of `byHorizon`. */
export function buildHorizonFigures({ horizonDays, summary, statistics }: RecomputedFigures) {
  const row = publishHorizonRow(horizonDays, summary, statistics.calls.effectiveN);
  return { ...row, brier: getDeterminedBrier(summary, statistics), moveVerdict: undefined };
}

/** Prices that do not reach back far enough leave the base rate undetermined. */
function getDeterminedBrier({ brier }: RecordSummary, { probabilities }: RecordStatistics) {
  return brier ?? (probabilities && { n: probabilities.n, model: probabilities.brier, climatology: undefined, climatology4y: undefined });
}

/** The evidence for or against a challenger over one horizon. */
export type ProvenChallenge = ReturnType<typeof buildChallenge>;

type Pair = Pick<ClaimedChallenge, 'challenger' | 'against' | 'horizonDays'>;

/** Recomputes the e-process of every comparison from all opened days. @param claims null: nothing is compared */
export function checkChallenges(
  opened: readonly OpenedForecast[],
  claims: readonly ClaimedChallenge[] | null,
  findings: Findings,
): ProvenChallenge[] {
  const pairs = opened.flatMap(({ horizonDays, comparisons }) => comparisons.map((pair) => ({ ...pair, horizonDays })));
  const byKey = new Map(pairs.map((pair) => [toKey(pair), pair]));
  const proven = new Map([...byKey].map(([key, pair]) => [key, buildChallenge(pair, opened)]));
  if (claims !== null) {
    const claimed = Map.groupBy(claims, toKey);
    const expected = [...claimed].map(([key, [one]]) => [key, proven.get(key) ?? buildChallenge(one, opened)] as const);
    for (const [key, figures] of new Map([...proven, ...expected])) {
      const [found, entries] = [claimed.get(key)?.[0], claimed.get(key)?.length ?? 0];
      const tree = { path: formatPair(figures), expected: { ...figures, entries: 1 }, found: { ...found, entries } };
      compareAsOne(tree, 'evidence', { subject: { ...NO_SUBJECT, horizonDays: figures.horizonDays }, findings });
    }
  }
  return [...proven.values()].sort((a, b) => a.horizonDays - b.horizonDays);
}

function buildChallenge({ challenger, against, horizonDays }: Pair, opened: readonly OpenedForecast[]) {
  const days = opened
    .filter((one) => one.horizonDays === horizonDays)
    .flatMap(({ day, comparisons }) =>
      comparisons.filter((one) => one.challenger === challenger && one.against === against).map(({ difference }) => ({ day, difference })),
    )
    .sort((a, b) => a.day - b.day);
  const evidence = runEProcess(days, horizonDays);
  const { better, worse } = evidence;
  const { verdict, since } = judgeChallenge(evidence);
  return {
    challenger,
    against,
    horizonDays,
    days: evidence.days,
    eBetter: computeEValue(better),
    eWorse: computeEValue(worse),
    maxBetter: better.max,
    maxWorse: worse.max,
    verdict,
    since: since === null ? null : formatDay(since),
  };
}

const toKey = ({ challenger, against, horizonDays }: Pair) => `${horizonDays}d ${formatPair({ challenger, against })}`;

/**
 * Checks numbers, days, windows and references of each horizon for gaps and changes. `predictions` are in chain order.
 * @returns by horizon, the valid forecasts: the first of each sequence number, ascending
 */
export function checkSequences(predictions: readonly Prediction[], findings: Findings, gaps?: RecordGaps): Prediction[][] {
  const known = predictions.filter((prediction) => checkHorizon(prediction, findings));
  const groups = [...Map.groupBy(known, ({ data }) => data.horizonDays)].sort(([a], [b]) => a - b);
  const sequences = groups.map(([, members]) => {
    for (const rivals of Map.groupBy(members, ({ data }) => data.day).values()) checkOnePrediction(rivals[0], rivals, findings);
    const ordered = keepFirstOfSequence(members, findings);
    for (const [index, prediction] of ordered.entries()) {
      checkWindow(prediction, findings);
      checkFollows(prediction, ordered[index - 1], findings, gaps);
    }
    return ordered;
  });
  if (sequences.length > 0) checkEnds(sequences, findings, gaps);
  return sequences;
}

/** @returns whether its horizon is one of the record */
export function checkHorizon(prediction: Prediction, findings: Findings): boolean {
  const actual = prediction.data.horizonDays;
  if ((HORIZONS as readonly number[]).includes(actual)) return true;
  const because = `a forecast over ${actual} days has no horizon of this record`;
  findings.fail('sequence', toSubject(prediction), { field: 'horizonDays', expected: HORIZONS.join(', '), actual, because });
  return false;
}

/** Checks that a number is of one day. */
function keepFirstOfSequence(members: readonly Prediction[], findings: Findings): Prediction[] {
  const first = [...Map.groupBy(members, ({ data }) => data.sequence)].map(([sequence, [kept, ...more]]) => {
    for (const prediction of more.filter(({ data }) => data.day !== kept.data.day)) {
      const [before, again] = [kept, prediction].map(({ data }) => formatDay(data.day));
      const because = `sequence ${sequence} is there twice: ${before} has it in ${kept.uid}, and ${again} again`;
      findings.fail('sequence', toSubject(prediction), { field: 'sequence', expected: 'once', actual: 'twice', because });
    }
    return kept;
  });
  return first.sort((a, b) => a.data.sequence - b.data.sequence);
}

/** Checks day, number and reference against the forecast before it; undefined: it is the first. */
export function checkFollows(prediction: Prediction, before: Prediction | undefined, findings: Findings, gaps?: RecordGaps): void {
  const { sequence, day } = prediction.data;
  const missing = sequence - (before?.data.sequence ?? 0) - 1;
  if (before !== undefined) {
    const expected = formatDay(before.data.day + missing + 1);
    const because = `sequence ${sequence} is not the next day`;
    findings.compare('sequence', toSubject(prediction), { field: 'day', expected, actual: formatDay(day), because });
  }
  const unread = gaps?.unread.get(prediction.refUid.toLowerCase());
  if (unread !== undefined) findings.doubt('sequence', toSubject(prediction), unread);
  else if (missing > 0) reportGap(prediction, { missing, isFirst: before === undefined }, findings);
  else checkLink(prediction, before, findings);
}

function reportGap({ data }: Prediction, { missing, isFirst }: { missing: number; isFirst: boolean }, findings: Findings): void {
  const [sequence, day] = [data.sequence - missing, data.day - missing];
  const numbers = missing === 1 ? `${sequence} is` : `${sequence} to ${data.sequence - 1} are`;
  const days = missing === 1 ? formatDay(day) : `${formatDay(day)} to ${formatDay(data.day - 1)}`;
  const hint = isFirst ? ', unless the first block that was read is too late' : '';
  const because = `sequence ${numbers} missing on chain (${days})${hint}`;
  const subject = { ...NO_SUBJECT, horizonDays: data.horizonDays, day, sequence };
  findings.fail('sequence', subject, { field: 'sequence', expected: sequence, actual: null, because });
}

const ENDS = [
  ['first day', 0, Math.min, 'the horizon begins later than others'],
  ['last day', -1, Math.max, 'the horizon ends while others go on: its last forecasts are missing on chain'],
] as const;

/** All horizons of a day are committed in one transaction, so they start and end on the same days. */
function checkEnds(sequences: readonly Prediction[][], findings: Findings, gaps: RecordGaps | undefined): void {
  const absence = explainAbsence(gaps);
  for (const [field, index, choose, because] of ENDS) {
    const ends = sequences.map((predictions) => predictions.at(index)!.data);
    const expected = choose(...ends.map(({ day }) => day));
    for (const { horizonDays, day } of ends) {
      const subject = { ...NO_SUBJECT, horizonDays, day: expected };
      if (absence !== null && day !== expected) findings.doubt('sequence', subject, absence);
      else findings.compare('sequence', subject, { field, expected: formatDay(expected), actual: formatDay(day), because });
    }
  }
}

interface RecordScope {
  /** The texts that the schema registry has for our uids; empty: not registered. */
  schemaTexts: Readonly<Record<SchemaName, string>>;
  eas: string;
  /** Whether this is the address of EAS on OP chains. */
  isKnownEas: boolean;
  /** First block read. */
  fromBlock: number;
  /** Transactions and signed attestations of the wallet before it; null: the endpoint has no such state. */
  earlierTransactions: number | null;
}

/** Checks that what is read is the whole record of the wallet, in the schemas whose uids are digests of their texts. */
export function checkScope({ schemaTexts, eas, isKnownEas, fromBlock, earlierTransactions }: RecordScope, findings: Findings): void {
  for (const name of ['prediction', 'resolution'] as const) {
    const actual = schemaTexts[name];
    const subject = { ...NO_SUBJECT, uid: getSchemaUid(name) };
    // A schema is registered with its first attestation.
    if (actual === '') findings.note(`the ${name} schema is not registered on this chain`);
    else findings.compare('schema', subject, { field: `${name} schema`, expected: EAS_SCHEMAS[name], actual });
  }
  if (!isKnownEas)
    findings.note(`attestations are read from ${eas}, which is not the EAS address of OP chains: verify the contract yourself`);
  // An operator who restarts at sequence 1 would drop past losses.
  if (earlierTransactions === 0) return;
  const why = earlierTransactions === null ? 'the endpoint has no state before it' : 'the wallet had sent transactions before it';
  const because = `the record is read from block ${fromBlock}, and ${why}: an earlier record may exist (omit --from-block)`;
  findings.leave('sequence', NO_SUBJECT, because);
}

/** What is proven of one forecast, from its opened distributions and its closes. */
export interface OpenedForecast {
  day: Day;
  horizonDays: number;
  comparisons: VersionComparison[];
  /** Null: it has no size of the move. */
  move: MoveScores | null;
}

type VersionComparison = ServedDistributions['comparisons'][number];

/** A service shows an attestation at the latest after this time. */
export const SERVING_GRACE_MS = 600_000;

/**
 * Checks what a service serves of the committed distributions of a resolved forecast. Null: it serves nothing.
 * @returns `none` for a day without distributions; null when they are not proven
 */
export function checkDistributions(
  row: CheckedRow,
  served: ServedDistributions | null,
  { now, findings, references }: { now: Date; findings: Findings; references?: ReferenceCheck },
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
  return row.opened ? checkScores(row, served, findings, references) : null;
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
function checkScores(
  { prediction, resolution }: CheckedRow,
  served: ServedDistributions,
  findings: Findings,
  references?: ReferenceCheck,
): OpenedForecast | null {
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
  const { day, horizonDays } = prediction.data;
  const stated = parseStatedMove(served.metadata, horizonDays);
  const stands = isStated(stated) && served.move !== undefined;
  const move = stands && stated ? toProvenMove(stated, realised, served.move?.references ?? {}) : null;
  const expectedReferences = move && references?.expect({ day, horizonDays, priceUsd: btcPriceCents / 100 });
  const expected = {
    realised,
    ...(stands && { move: move && { ...toShownMove(stated), big: move.big, references: expectedReferences } }),
    scores: { ...Object.fromEntries(scores), entries: scores.length },
    comparisons: keyComparisons(comparisons),
  };
  const claimed = Object.fromEntries(served.scores.map(({ name, ...one }) => [name, one]));
  const found = {
    ...{ realised: served.realised, move: served.move },
    scores: { ...claimed, entries: served.scores.length },
    comparisons: keyComparisons(served.comparisons),
  };
  const tolerated = references && { getTolerance: references.getTolerance, onDoubt: references.onDoubt({ day, horizonDays }) };
  compareAsOne({ path: '', expected, found }, 'scores', { subject, findings, ...tolerated });
  return { day, horizonDays, comparisons, move };
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

function formatPair({ challenger, against }: Pick<VersionComparison, 'challenger' | 'against'>): string {
  return `${challenger} against ${against}`;
}

function keyComparisons(comparisons: readonly VersionComparison[]) {
  const entries = comparisons.map(({ limit, difference, ...pair }) => [formatPair(pair), { limit, difference }]);
  return { ...Object.fromEntries(entries), entries: comparisons.length };
}

function pick<Names extends object>(found: object, names: Names): object {
  return Object.fromEntries(Object.keys(names).map((name) => [name, (found as Record<string, unknown>)[name]]));
}
