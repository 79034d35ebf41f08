import { bytesToString, type Hex, sha256 } from 'viem';
import type { CommitmentOpening, SchemaName } from '../chain/eas/schemas.ts';
import { type Day, formatDay, toDay } from '../forecast/day.ts';
import { createBaseRates, type DailyCloses } from '../forecast/fit.ts';
import { formatHorizonName, HORIZONS } from '../forecast/model.ts';
import type { RecordRow } from '../forecast/statistics.ts';
import {
  type CheckedRow,
  checkCloseCalls,
  checkForecast,
  checkOneClose,
  checkOpening,
  isBeyondData,
  isSamePrice,
  matchResolutions,
  type OutcomeContext,
  toPriceCents,
  toUnresolvedRow,
} from './checks/forecast.ts';
import { checkMove, checkMoveSkills, createReferenceCheck, type OpenedMove } from './checks/move.ts';
import {
  buildExpectedFigures,
  buildHorizonFigures,
  checkChallenges,
  checkDistributions,
  checkFollows,
  checkHorizon,
  checkSequences,
  type OpenedForecast,
  type ProvenChallenge,
  type RecomputedFigures,
  recompute,
  SERVING_GRACE_MS,
  toRecordRows,
} from './checks/record.ts';
import {
  type AttestationEvidence,
  type ChainRecord,
  type CheckContext,
  type ClaimedChallenge,
  type ClaimedRow,
  type ClaimedScorecard,
  checkAttestation,
  checkInTime,
  checkLink,
  checkRivals,
  checkWindow,
  type ForecastEvidence,
  getCloseDays,
  isUnread,
  type ListedClaim,
  type ListedRow,
  type Prediction,
  type PriceEvidence,
  type Resolution,
  type ServedDistributions,
  type ShownMove,
  toResolutionSubject,
  toSubject,
  type Unread,
} from './evidence.ts';
import {
  type CheckId,
  compareTree,
  createFindings,
  type FindingSubject,
  type Findings,
  formatInstant,
  getRoundingTolerance,
  getSourceTolerance,
  NO_SUBJECT,
} from './findings.ts';

/**
 * Checks all that evidence shows about one forecast: its attestations, against each other, the records and claims of a service, and prices.
 * @returns what is proven; null when the prediction cannot be read
 */
export function checkForecastEvidence(evidence: ForecastEvidence, context: CheckContext, findings: Findings): CheckedRow | null {
  const { claimed, opening, recorded, search, shown } = evidence;
  const prediction = checkCommitment(evidence, context, findings);
  const read = evidence.resolutions.map((one) => checkAttestation(one, context, findings));
  if (prediction === null) return null;
  const subject = toSubject(prediction);
  const resolutions = read.filter((one) => one !== null);
  const resolution =
    matchResolutions({ predictions: [prediction], resolutions }, findings, search !== undefined).get(prediction.uid) ?? null;
  if (resolution === null && typeof search === 'object') findings.leave('revealed', subject, search.problem);
  if (resolution === null && resolutions.length < read.length) return toUnresolvedRow(prediction);
  if (resolution !== null && recorded?.resolution) {
    const { refUid: _, ...expected } = recorded.resolution;
    compareTree({ path: '', expected, found: resolution.data }, { check: 'row', subject: toResolutionSubject(prediction), findings });
  }
  const { missed } = toUnresolvedRow(prediction);
  const served = missed ? undefined : getRead('opening', opening, prediction, findings);
  if (served !== undefined) checkOpening(subject, prediction.data.commitment, served, findings);
  const isPriced = resolution !== null || !isUnread(evidence.prices);
  const prices = isPriced ? getRead('price', evidence.prices, prediction, findings) : null;
  const row = checkForecast(prediction, resolution, { prices: prices ?? null, now: context.now, findings });
  if (claimed !== undefined) compareListedRow(row, claimed.row, findings);
  if (shown !== undefined) compareShownRow(row, shown, context, findings);
  const { distributions } = evidence;
  checkMoveEvidence(row, evidence, findings);
  if (!isDue(row) || distributions === undefined) return row;
  const why = isUnread(distributions) ? distributions.problem : 'none were committed when it was made';
  if (isUnread(distributions) || checkDistributions(row, distributions, { now: context.now, findings }) === 'none') {
    findings.leave('distributions', toResolutionSubject(prediction), why, false);
  }
  return row;
}

/** Left out without anything that states it. */
function checkMoveEvidence(row: CheckedRow, { metadata, distributions, ...evidence }: ForecastEvidence, findings: Findings): void {
  const published = metadata === undefined || isUnread(metadata) ? undefined : bytesToString(metadata);
  const opened = distributions == null || isUnread(distributions) || !isDue(row) ? undefined : distributions;
  if (published === undefined && opened === undefined) return;
  const rows = [evidence.shown, evidence.claimed?.row, evidence.recorded?.move];
  const shown = rows.find((one): one is ShownMove => one != null && !isUnread(one));
  checkMove(row.prediction, { metadata: published ?? opened?.metadata, shown, openings: opened?.openings ?? null }, findings);
}

/** Compares the row that the scorecard of a service has for a forecast, unless an attestation of it is new on chain. */
function compareShownRow(row: CheckedRow, shown: ClaimedRow | Unread | null, { now }: CheckContext, findings: Findings): void {
  const { prediction, resolution } = row;
  const isLacking = !isUnread(shown) && (shown?.attestationUid == null || (resolution !== null && shown.resolutionUid === null));
  const isFresh = now.getTime() - (resolution ?? prediction).at.getTime() < SERVING_GRACE_MS;
  const fresh = isLacking && isFresh ? { problem: 'its newest attestation is new on chain, and the service does not show it yet' } : null;
  const claim = getRead('row', fresh ?? shown, prediction, findings);
  if (claim === undefined) return;
  const { horizonDays } = prediction.data;
  compareRows([row], claim === null ? [] : [claim], { horizonDays, prices: null, now, findings });
}

/** Evidence that was read; a check whose evidence could not be read is left open. */
function getRead<E extends object | null>(check: CheckId, evidence: E | Unread | undefined, prediction: Prediction, findings: Findings) {
  if (!isUnread(evidence)) return evidence;
  findings.leave(check, toSubject(prediction), evidence.problem, false);
}

/** Checks the prediction alone. @returns null when it cannot be read */
function checkCommitment(evidence: ForecastEvidence, context: CheckContext, findings: Findings): Prediction | null {
  const { claimed, recorded } = evidence;
  if (!('uid' in evidence.prediction)) {
    const { windowOpensAt, ...forecast } = evidence.prediction;
    if (claimed !== undefined) checkClaimedOutcome(claimed.row, findings);
    const opens = formatInstant(windowOpensAt);
    const why = context.now < windowOpensAt ? ` yet and must be before ${opens}` : `, and its window opened at ${opens}`;
    findings.leave('found', { ...NO_SUBJECT, attestation: 'prediction', ...forecast }, `it is not on chain${why}`);
    return null;
  }
  if (claimed !== undefined) checkPosition(claimed, findings);
  const prediction = checkAttestation(evidence.prediction, context, findings);
  if (prediction === null) return null;
  const { data, refUid } = prediction;
  const subject = toSubject(prediction);
  if (claimed) findings.compare('row', subject, { field: 'horizon', expected: `${data.horizonDays}d`, actual: claimed.row.horizon });
  checkHorizon(prediction, findings);
  checkWindow(prediction, findings);
  checkInTime(prediction, recorded?.isVoid ?? (claimed && claimed.row.status === 'VOID'), findings);
  if (recorded !== undefined) {
    const { refUid: expected, ...values } = recorded.prediction;
    const because = 'it does not refer to the prediction of the day before in the record';
    findings.compare('link', subject, { field: 'refUid', expected, actual: refUid, because });
    compareTree({ path: '', expected: values, found: data }, { check: 'row', subject, findings });
  }
  checkPrevious(prediction, evidence, context, findings);
  const rivals = getRead('onePrediction', evidence.rivals, prediction, findings);
  if (rivals !== undefined) checkRivals(prediction, rivals, findings);
  const metadata = getRead('metadata', evidence.metadata, prediction, findings);
  if (metadata) findings.compare('metadata', subject, { field: 'metadata', expected: data.metadata, actual: sha256(metadata) });
  return prediction;
}

/** The forecast must refer to that of the day before, so that a dropped or rewritten one shows. */
function checkPrevious(prediction: Prediction, evidence: ForecastEvidence, context: CheckContext, findings: Findings): void {
  const { sequence, horizonDays } = prediction.data;
  if (evidence.previous === undefined) return;
  const previous = sequence === 1 ? null : evidence.previous;
  if (isUnread(previous?.content)) {
    findings.leave('link', toSubject(prediction), previous.content.problem, false);
    return;
  }
  // Findings about the previous forecast are discarded: only its existence counts here.
  const made = previous && checkAttestation(previous, context, createFindings());
  const fits = made !== null && made.data.horizonDays === horizonDays && made.data.sequence === sequence - 1;
  if (fits) checkFollows(prediction, made, findings);
  else checkLink(prediction, undefined, findings);
}

/** Checks the distributions of a record as they are read; of a forecast only its comparisons are kept. */
export type DistributionRecordCheck = ReturnType<typeof createDistributionRecordCheck>;

export interface DistributionContext extends Pick<OutcomeContext, 'now' | 'findings' | 'prices'> {
  /** Closes since the first training day; null without. */
  history: DailyCloses | null;
  /** What the service shows of each forecast, by uid. */
  shown: ReadonlyMap<string, ShownMove & Pick<ClaimedRow, 'replayed'>>;
  /** Its figures of the size of the move, by horizon. */
  moveSkills: ReadonlyMap<number, unknown>;
}

/** @param rows of the whole record */
export function createDistributionRecordCheck(
  rows: readonly CheckedRow[],
  { now, findings, prices, history, shown, moveSkills }: DistributionContext,
) {
  const references = createReferenceCheck(history, prices);
  const known = new Map<string, CheckedRow>(rows.map((row) => [row.prediction.uid, row]));
  const due = new Map([...known].filter(([, row]) => isDue(row)));
  const opened: (OpenedForecast & OpenedMove)[] = [];
  const isReplayed = (row: Pick<ClaimedRow, 'replayed'> | undefined) => (row === undefined ? null : row.replayed === true);
  const before: Day[] = [];
  return {
    /** The forecasts that are resolved and not served yet, newest first. */
    getDue: () => [...due.values()].sort((a, b) => b.prediction.data.day - a.prediction.data.day),
    check(served: ServedDistributions): void {
      const uid = served.attestationUid.toLowerCase();
      const row = due.get(uid);
      if (row === undefined) {
        reportSurplus(served, known.get(uid), findings);
        return;
      }
      due.delete(uid);
      checkMove(row.prediction, { metadata: served.metadata, shown: shown.get(uid), openings: served.openings }, findings);
      const result = checkDistributions(row, served, { now, findings, references });
      if (result === 'none') before.push(row.prediction.data.day);
      else if (result !== null) opened.push({ ...result, replayed: isReplayed(shown.get(uid)) });
    },
    /** Checks the row of a forecast whose distributions are not opened yet. @param metadata null: the service does not serve it */
    checkPending({ prediction }: CheckedRow, metadata: string | null): void {
      const read = metadata ?? undefined;
      checkMove(prediction, { metadata: read, shown: shown.get(prediction.uid.toLowerCase()), openings: null }, findings);
    },
    /** Once all are read, or none is there. */
    checkMoveSkills(): void {
      checkMoveSkills(opened, moveSkills, findings);
      references.report(findings);
    },
    /** @param claims null: the service claims no evidence */
    finish(claims: readonly ClaimedChallenge[] | null): ProvenChallenge[] {
      for (const row of due.values()) checkDistributions(row, null, { now, findings });
      noteEarlierDays(before, opened, findings);
      if (claims === null) findings.note('the service claims no evidence for or against a challenger: it was computed, not compared');
      return checkChallenges(opened, claims, findings);
    },
  };
}

/** Resolved forecasts that count; a void one is never opened. */
export function isDue({ resolution, status }: CheckedRow): boolean {
  return resolution !== null && status !== 'VOID';
}

function reportSurplus({ predictionId, attestationUid }: ServedDistributions, row: CheckedRow | undefined, findings: Findings): void {
  if (row === undefined || isDue(row)) {
    const actual = row === undefined ? attestationUid : 'twice';
    const because = `the service opens ${predictionId}, ${row === undefined ? 'which is not in the record' : 'twice'}`;
    const subject = row === undefined ? NO_SUBJECT : toResolutionSubject(row.prediction);
    findings.fail('distributions', subject, { field: 'attestationUid', expected: 'a resolved forecast, once', actual, because });
  } else findings.leave('distributions', toResolutionSubject(row.prediction), 'its outcome was not on chain yet when it was read', false);
}

/** A service that goes back to committing none shows after its first day with distributions. */
function noteEarlierDays(before: readonly Day[], opened: readonly OpenedForecast[], findings: Findings): void {
  if (before.length === 0) return;
  const first = opened.reduce((day, one) => Math.min(day, one.day), Number.POSITIVE_INFINITY);
  const later = before.filter((day) => day > first).length;
  const stopped = later === 0 ? '' : `; ${later} of them after ${formatDay(first)}, when others were`;
  findings.note(`${before.length} resolved forecasts have no committed distributions, and count for no evidence${stopped}`);
}

/** Checks each attestation of a record. `evidence` is in chain order; a repeated uid counts once. */
export function decodeRecord(evidence: readonly AttestationEvidence[], context: CheckContext, findings: Findings): ChainRecord {
  const unique = [...new Map(evidence.map((one) => [`${one.schema}:${one.uid}`, one])).values()];
  const decode = <S extends SchemaName>(schema: S) =>
    unique
      .filter((one): one is AttestationEvidence<S> => one.schema === schema)
      .flatMap((one) => checkAttestation(one, context, findings) ?? []);
  return { predictions: decode('prediction'), resolutions: decode('resolution') };
}

/** The days whose closes decide resolved forecasts, and the first and last days of the windows of all others. */
export function collectNeededDays({ predictions, resolutions }: ChainRecord, now: Date): { deciding: Set<Day>; opening: Set<Day> } {
  const resolved = new Set<Hex>(resolutions.map(({ refUid }) => refUid));
  const [deciding, opening] = [new Set<Day>(), new Set<Day>()];
  for (const prediction of predictions) {
    const { from, to } = getCloseDays(prediction);
    const isDecided = resolved.has(prediction.uid) && toUnresolvedRow(prediction).status !== 'VOID';
    const days = isDecided ? deciding : opening.add(from);
    if (isDecided || prediction.data.resolvesAt <= now) days.add(from).add(to);
  }
  return { deciding, opening };
}

interface RecordEvidence extends Omit<OutcomeContext, 'findings'> {
  record: ChainRecord;
  /** Closes since the first training day; null when they do not reach back as far. */
  history: DailyCloses | null;
  /** One scorecard per horizon in the order of `HORIZONS`; null: no service is compared. */
  claims: readonly ClaimedScorecard[] | null;
}

export type CheckedRecord = ReturnType<typeof checkRecord>;

/** Checks a whole record, recomputes its figures, and compares both with the claims of a service. */
export function checkRecord({ record, prices, history, claims, now, gaps }: RecordEvidence, findings: Findings) {
  const sequences = checkSequences(record.predictions, findings, gaps);
  const matched = matchResolutions(record, findings, true, gaps);
  const rows = sequences.flat().map((prediction) => {
    checkInTime(prediction, undefined, findings);
    return checkForecast(prediction, matched.get(prediction.uid) ?? null, { prices, now, findings, gaps });
  });
  checkOneClose(rows, findings);
  if (prices !== null) checkCloseCalls(rows, prices, findings);
  for (const { prediction, missed, status } of rows) {
    if (status !== 'VOID') continue;
    const { day, horizonDays, windowOpensAt } = prediction.data;
    const late = `attested at ${formatInstant(prediction.at)}, after its window opened at ${formatInstant(windowOpensAt)}`;
    findings.note(`${formatDay(day)} ${horizonDays}d is VOID: ${missed ? 'nothing was forecast' : late}`);
  }
  noteRecordEnd(rows, { endsOn: prices?.endsOn ?? null, now }, findings);
  const recomputed = recomputeAll(rows, history, findings);
  if (claims !== null) compareClaims(rows, recomputed, { answers: claims, prices, now, findings, gaps });
  if (rows.length === 0) {
    findings.leave('sequence', NO_SUBJECT, 'there is nothing to audit');
    findings.note('no forecast of this attester was found: check the address and the first block');
  }
  return { rows, recomputed };
}

/** A record that stops is no difference, but readers of its figures need to know. */
function noteRecordEnd(rows: readonly CheckedRow[], { endsOn, now }: { endsOn: Day | null; now: Date }, findings: Findings): void {
  const last = rows.reduce((latest, { prediction }) => Math.max(latest, prediction.data.day), Number.NEGATIVE_INFINITY);
  // The forecast of today is made in the evening.
  if (rows.length > 0 && last < toDay(now.getTime()) - 1) findings.note(`nothing has been forecast since ${formatDay(last)}`);
  const open = rows.filter(({ status, prediction }) => status === 'PENDING' && isBeyondData(prediction, { endsOn })).length;
  if (open > 0) findings.note(`${open} forecasts stay pending: the data of the record ends on ${formatDay(endsOn as Day)}`);
}

function recomputeAll(rows: readonly CheckedRow[], history: DailyCloses | null, findings: Findings): RecomputedFigures[] {
  const baseRates = createBaseRates(history);
  const groups = Map.groupBy(rows, ({ prediction }) => prediction.data.horizonDays);
  const recomputed = [...groups].map(([horizonDays, members]) => recompute(toRecordRows(members, baseRates), horizonDays));
  if (recomputed.some(({ summary, statistics }) => summary.brier === null && statistics.probabilities !== null)) {
    findings.note('figures against the base rate are omitted: these prices do not cover the training years');
  }
  return recomputed;
}

const OPTIONAL_MEMBERS = ['stats', 'statistics', 'byHorizon', 'moveSkill'] as const;
/** Neither chain nor prices determine these; `moveSkill` is compared once the distributions are opened. */
const UNDETERMINED = [
  'success',
  'source',
  'predictions',
  'byRegime',
  'byModelVersion',
  'moveSkill',
  'moveVerdict',
  'marketSkill',
  'predictionMarket',
];
const MAX_DOUBTS_LISTED = 4;
const MAX_NAMES_LISTED = 10;
const MAX_NAME_LENGTH = 60;

type ClaimContext = OutcomeContext & { answers: readonly ClaimedScorecard[] };

/** Compares each row and figure that a service claims with the proven ones. `answers` are one scorecard per horizon, as `HORIZONS`. */
function compareClaims(rows: readonly CheckedRow[], recomputed: RecomputedFigures[], { answers, ...context }: ClaimContext): void {
  const { prices, findings, gaps } = context;
  const proven = HORIZONS.map((horizonDays, index): RecomputedFigures => {
    const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
    const figures = recomputed.find((one) => one.horizonDays === horizonDays) ?? recompute([], horizonDays);
    const drafts = compareRows(members, answers[index].predictions, { horizonDays, ...context });
    return drafts.length === 0 ? figures : recompute([...figures.rows, ...drafts], horizonDays);
  });
  const named = answers.flatMap(({ predictions }) => predictions.flatMap((row) => [row.attestationUid, row.resolutionUid]));
  if (named.some((uid) => uid !== null && gaps?.unread.has(uid.toLowerCase()))) {
    findings.doubt('figure', NO_SUBJECT, 'figures follow from all rows, and the endpoint lacks attestations of some');
    noteUncompared(answers, [], findings);
    return;
  }
  const doubts: string[] = [];
  const names = new Set<string>();
  for (const [index, claim] of answers.entries()) {
    const { horizonDays } = proven[index];
    const found = claim.byHorizon === undefined ? claim : { ...claim, byHorizon: keyByHorizon(claim.byHorizon) };
    compareTree(
      { path: '', expected: buildExpectedScorecard(proven, index, claim), found },
      {
        ...{ check: 'figure', subject: { ...NO_SUBJECT, horizonDays }, findings },
        getTolerance: prices?.toleranceBps === 0 ? getRoundingTolerance : getSourceTolerance,
        onDoubt: ({ path, expected, found }) =>
          void doubts.push(`${horizonDays}d ${path} ${found.toFixed(5)}, with these prices ${expected.toFixed(5)}`),
        onExtra: (path) => void names.add(path.slice(0, MAX_NAME_LENGTH)),
      },
    );
  }
  if (doubts.length > 0) {
    const what = 'figures against the base rate cannot be decided with prices of another source';
    findings.leave('figure', NO_SUBJECT, `${what}: the service shows ${listSome(doubts, MAX_DOUBTS_LISTED)}`);
  }
  noteUncompared(answers, [...names], findings);
}

/** All figures that chain and prices determine. Each scorecard contains those of all horizons. */
function buildExpectedScorecard(proven: readonly RecomputedFigures[], index: number, claim: ClaimedScorecard) {
  const { summary, ...parts } = buildExpectedFigures(proven[index]);
  const rows = proven.map(buildHorizonFigures).map((row) =>
    leaveUnknown(
      row,
      claim.byHorizon?.find(({ horizon }) => horizon === row.horizon),
    ),
  );
  const optional = Object.entries({ ...parts, byHorizon: keyByHorizon(rows) }).filter(([name]) => claim[name] !== undefined);
  const horizon = formatHorizonName(proven[index].horizonDays);
  return {
    horizon,
    summary: leaveUnknown(summary, claim.summary),
    ...Object.fromEntries(optional),
    ...leaveUnknownSkill(parts, claim),
    ...Object.fromEntries(UNDETERMINED.map((name) => [name, undefined])),
  };
}

/** A service with days of before the four-year base rate was stored cannot know its score: null claims nothing. */
function leaveUnknown<Figures extends { brier: object | null }>(expected: Figures, claimed: object | undefined): Figures {
  const { brier } = (claimed ?? {}) as { brier?: { climatology4y?: unknown } | null };
  if (brier?.climatology4y !== null || expected.brier === null) return expected;
  return { ...expected, brier: { ...expected.brier, climatology4y: undefined } };
}

function leaveUnknownSkill({ statistics }: Pick<ReturnType<typeof buildExpectedFigures>, 'statistics'>, claim: ClaimedScorecard) {
  const claimed = claim.statistics?.probabilities as { climatology4ySkill?: unknown } | null | undefined;
  if (claimed?.climatology4ySkill !== null || statistics.probabilities === null) return {};
  return { statistics: { ...statistics, probabilities: { ...statistics.probabilities, climatology4ySkill: undefined } } };
}

/** Entries by horizon, with their number: each horizon has to be there once. */
function keyByHorizon(entries: readonly { horizon: string }[]) {
  return { ...Object.fromEntries(entries.map((one) => [one.horizon, one])), entries: entries.length };
}

/** Notes omitted parts and unknown names, since an unknown name may be an unchecked figure. */
function noteUncompared(answers: readonly ClaimedScorecard[], unknown: readonly string[], findings: Findings): void {
  const missing = OPTIONAL_MEMBERS.filter((part) => answers.some((claim) => claim[part] === undefined));
  if (missing.length > 0) findings.note(`scorecards of the service omit ${missing.join(', ')}: these could not be compared`);
  if (unknown.length > 0) {
    findings.note(`the service shows unknown figures, which could not be compared: ${listSome(unknown, MAX_NAMES_LISTED)}`);
  }
  // Forecasts replayed on a chain whose clock was set back are indistinguishable from others; only the service declares them.
  const replayed = answers.flatMap(({ predictions }) => predictions.filter((row) => row.replayed === true)).length;
  const why = 'the clock of that chain was set back, so its block times prove nothing';
  if (replayed > 0) findings.note(`the service declares ${replayed} of these forecasts as replayed: ${why}`);
  const unproven = 'regimes, P(big move) by GARCH, wagers, skill against the market';
  findings.note(`not compared, since neither chain nor prices determine them: ${unproven}`);
}

function listSome(items: readonly string[], max: number): string {
  const more = items.length > max ? `; and ${items.length - max} more` : '';
  return `${items.slice(0, max).join('; ')}${more}`;
}

export type RowContext = OutcomeContext & { horizonDays: number };

/**
 * Compares each row of the service with the audited one.
 * @returns acceptable rows that are not on chain: today's forecast before its commitment
 */
export function compareRows(rows: readonly CheckedRow[], claimed: readonly ClaimedRow[], context: RowContext): RecordRow[] {
  const { findings, horizonDays, gaps } = context;
  const shown = Map.groupBy(claimed, ({ sequence }) => sequence);
  for (const claim of [...shown.values()].flatMap(([, ...more]) => more)) {
    const because = `the service shows sequence ${claim.sequence} twice`;
    findings.fail('shown', toClaimSubject(claim, horizonDays), { field: 'sequence', expected: 'once', actual: 'twice', because });
  }
  for (const row of rows) {
    const [claim] = shown.get(row.prediction.data.sequence) ?? [];
    shown.delete(row.prediction.data.sequence);
    const because = `the service does not show it${row.status === 'LOSS' ? ': a loss was dropped' : ` (${row.status} on chain)`}`;
    findings.compare('shown', toSubject(row.prediction), { field: 'row', expected: true, actual: claim !== undefined, because });
    if (claim === undefined) continue;
    const unread = row.resolution === null ? gaps?.unread.get(String(claim.resolutionUid).toLowerCase()) : undefined;
    if (unread === undefined) compareRow(row, claim, context);
    else findings.doubt('row', toSubject(row.prediction), unread);
  }
  const next = rows.reduce((last, { prediction }) => Math.max(last, prediction.data.sequence), 0) + 1;
  return [...shown.values()].flatMap(([claim]) => checkDraftRow(claim, next, context));
}

/** A row without an attestation is acceptable for today's forecast, the next in sequence, until its window opens. */
function checkDraftRow(claim: ClaimedRow, next: number, { horizonDays, now, findings, gaps }: RowContext): RecordRow[] {
  const subject = toClaimSubject(claim, horizonDays);
  const { day } = subject;
  const isDraft = isPending(claim) && !claim.missed && claim.attestationUid === null && !claimsOutcome(claim);
  if (isDraft && day === toDay(now.getTime()) && claim.sequence === next) {
    findings.note(`${formatDay(day)} ${horizonDays}d is not on chain yet; its window has not opened`);
    return [{ day, status: 'PENDING', missed: false, scored: null }];
  }
  const unread = gaps?.unread.get(String(claim.attestationUid).toLowerCase());
  if (unread !== undefined) {
    findings.doubt('shown', subject, unread);
    return [];
  }
  const because = 'the service shows it, and it is not on chain';
  findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: claim.status, because });
  return [];
}

/** A HOLD has its status from the start for a caller who sees it. */
function isPending({ status, signal }: Pick<ClaimedRow, 'status' | 'signal'>): boolean {
  return status === 'PENDING' || (status === 'HOLD' && signal === 'HOLD');
}

/** Whether a row says more than one that is not resolved may say. */
function claimsOutcome({ resolved, outcome, btcAtResolution, returnBps, resolvedAt, resolutionUid }: ClaimedRow): boolean {
  return resolved || [outcome, btcAtResolution, returnBps, resolvedAt, resolutionUid].some((figure) => figure !== null);
}

function toClaimSubject({ date, sequence }: ClaimedRow, horizonDays: number): FindingSubject {
  const isDate = /^\d{4}-\d{2}-\d{2}$/.test(date) && !Number.isNaN(Date.parse(date));
  return { ...NO_SUBJECT, horizonDays, day: isDate ? toDay(Date.parse(date)) : null, sequence };
}

/** Compares everything that chain and prices prove of a forecast with what the service says of it. */
function compareRow(row: CheckedRow, claim: ClaimedRow, { prices, findings }: Omit<OutcomeContext, 'now'>): void {
  const isSilent = [claim.direction, claim.confidence, claim.pUp].every((value) => value === null);
  const call = isSilent && claim.signal === (row.missed ? null : 'GATED') ? 'nothing of it' : 'a part of it';
  const compared = { path: '', expected: buildProvenRow(row, claim, prices), found: { ...claim, call } };
  compareTree(compared, { check: 'row', subject: toSubject(row.prediction), findings });
}

/** Undefined where nothing proves it. */
function buildProvenRow(row: CheckedRow, claim: ClaimedRow, prices: PriceEvidence | null) {
  const { prediction, missed, status, outcome } = row;
  const { day, sequence, windowOpensAt, resolvesAt } = prediction.data;
  // Values are comparable once revealed and opened.
  const resolution = row.opened ? row.resolution : null;
  const isOver = outcome !== null && resolution !== null;
  const scored = isOver && { actualReturn: outcome.returnBps / 10_000, actualDirection: outcome.rose ? 'UP' : 'DOWN' };
  return {
    status: status === 'PENDING' && claim.signal === 'HOLD' ? 'HOLD' : status,
    ...{ date: formatDay(day), sequence, missed, attestationUid: prediction.uid, windowOpensAt, resolvesAt },
    ...(resolution !== null && getRevealedFields(resolution)),
    // Nothing is shown of a call that is hidden, or was never made.
    call: row.resolution === null && (claim.direction === null || missed) ? 'nothing of it' : undefined,
    ...{ resolved: isOver, resolutionUid: isOver ? resolution.uid : null, resolvedAt: isOver ? resolution.at : null },
    ...{ btcAtResolution: isOver ? outcome.toCents / 100 : null, returnBps: isOver ? outcome.returnBps : null },
    outcome: scored && ['WIN', 'LOSS'].includes(status) ? { ...scored, correct: status === 'WIN' } : null,
    btcAtSignal: outcome === null ? getOpeningClose(claim, day, prices) : outcome.fromCents / 100,
  };
}

function getRevealedFields({ data: { signal, direction, ...units } }: Resolution) {
  const [confidence, pUp] = [units.confidenceBps / 10_000, units.pUpBps / 10_000];
  return { signal, direction, confidence, pUp, btcPrice: units.btcPriceCents / 100 };
}

/** The service shows the close at window open before it is on chain; until then the independent price is expected. */
function getOpeningClose({ btcAtSignal }: ClaimedRow, day: Day, prices: PriceEvidence | null): number | undefined {
  const usd = prices?.closes.get(day);
  if (prices === null || btcAtSignal === null || usd === undefined) return undefined;
  return isSamePrice(toPriceCents(btcAtSignal), usd, prices.toleranceBps) ? btcAtSignal : usd;
}

/** Compares a row with its neighbours: horizon, single number, row before, and closes shared with adjacent windows. */
function checkPosition({ row, horizon: horizonDays, neighbours }: ListedClaim, findings: Findings): void {
  const { sequence, btcAtSignal, provisional, btcAtResolution } = row;
  const { alike, before, openingClose, endingClose } = neighbours;
  const subject: FindingSubject = { ...NO_SUBJECT, horizonDays, sequence };
  const compareClose = (field: string, expected: number, actual: number) =>
    findings.compare('oneClose', subject, { field, expected, actual, because: 'another row has another close of that day' });
  findings.compare('row', subject, { field: 'horizon', expected: `${horizonDays}d`, actual: row.horizon });
  findings.compare('shown', subject, { field: 'rows', expected: 1, actual: alike, because: 'rows have the same number' });
  if (sequence !== 1) {
    const because = `the row before it, number ${sequence - 1}, is missing`;
    findings.compare('shown', subject, { field: 'row before', expected: sequence - 1, actual: before?.sequence ?? null, because });
  }
  if (btcAtSignal !== null && !provisional && openingClose !== null) compareClose('btcAtSignal', openingClose, btcAtSignal);
  if (btcAtResolution !== null && endingClose !== null) compareClose('btcAtResolution', endingClose, btcAtResolution);
}

/** A row without an attestation must not claim an outcome. */
function checkClaimedOutcome(row: ListedRow, findings: Findings): void {
  const { sequence, status } = row;
  if (!claimsOutcome(row) && (isPending(row) || status === 'VOID')) return;
  const subject = { ...NO_SUBJECT, attestation: 'prediction', sequence } as const;
  const because = 'the service claims an outcome, and names no attestation of the forecast';
  findings.fail('shown', subject, { field: 'row', expected: 'on chain', actual: status, because });
}

function compareListedRow(checked: CheckedRow, row: ListedRow, findings: Findings): void {
  const btcAtSignal = row.provisional ? null : row.btcAtSignal;
  compareRow(checked, { ...row, btcAtSignal }, { prices: null, findings });
  if (checked.resolution !== null || btcAtSignal === null) return;
  findings.leave('price', toSubject(checked.prediction), 'the close at window open is not on chain before the resolution', false);
}

/** Salt and values of an unresolved row, in units of the chain. @param salt for readers who may see it */
export function getShownOpening(row: ListedRow, salt: string | null): CommitmentOpening | Unread {
  const { signal, direction, confidence, pUp, btcPrice, status } = row;
  const hidden = status === 'VOID' ? 'a void forecast is never resolved on chain' : 'the values are hidden until the resolution';
  if (direction === null) return { problem: hidden };
  if (salt === null) return { problem: 'the service returns no salt to open the commitment' };
  const [confidenceBps, pUpBps] = [confidence, pUp].map((share) => toWholeUnits(share, 10_000));
  return { salt, signal, direction, confidenceBps, pUpBps, btcPriceCents: toWholeUnits(btcPrice, 100) } as CommitmentOpening;
}

/** NaN when the value is not a multiple of `1 / scale`. */
function toWholeUnits(value: number | null, scale: number): number {
  const whole = Math.round((value ?? Number.NaN) * scale);
  return whole / scale === value ? whole : Number.NaN;
}
