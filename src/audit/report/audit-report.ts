import type { Address } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { CheckedRecord } from '../../verify/check-record.ts';
import type { ProvenChallenge } from '../../verify/checks/challenge.ts';
import type { CheckedRow, OutcomeContext } from '../../verify/checks/forecast.ts';
import type { RecomputedFigures } from '../../verify/checks/statistics.ts';
import type { ChainRecord, PriceEvidence } from '../../verify/evidence.ts';
import { type Finding, formatSubject } from '../../verify/findings.ts';
import { formatRecordVerdict, getVerdict, tallyChecks } from '../../verify/summary.ts';

/** `agrees`: every check was made and passed. `incomplete`: every possible check passed, and some were impossible. */
const VERDICTS = { pass: 'agrees', fail: 'differs', unknown: 'incomplete' } as const;

/** Recomputed figures of one horizon. */
export type AuditedHorizon = ReturnType<typeof buildAuditedHorizon>;
export type AuditReport = ReturnType<typeof buildAuditReport>;

interface AuditReportInputs extends CheckedRecord, Pick<OutcomeContext, 'now' | 'findings'> {
  /** `service`: the one whose claims were compared; null without one. */
  where: { chainId: number; attester: Address; eas: Address; fromBlock: number; throughBlock: number; service: string | null };
  /** Null: closes were not compared. */
  prices: Pick<PriceEvidence, 'source' | 'toleranceBps'> | null;
  record: ChainRecord;
  challenges: readonly ProvenChallenge[];
  /** Days without a price whose close decides a forecast. */
  missingCloses: readonly Day[];
}

export function buildAuditReport({ where, prices, now, findings, missingCloses, rows, recomputed, record, challenges }: AuditReportInputs) {
  const { list, notes } = findings;
  const newestMs = [...record.predictions, ...record.resolutions].reduce((newest, { at }) => Math.max(newest, at.getTime()), 0);
  return {
    verdict: VERDICTS[getVerdict(list)],
    summary: formatRecordVerdict(list),
    ...where,
    auditedAt: now.toISOString(),
    prices: prices === null ? null : { source: prices.source, toleranceBps: prices.toleranceBps },
    horizons: recomputed.map((one) => buildAuditedHorizon(one, rows)),
    /** The evidence for or against each challenger by horizon, recomputed from the opened distributions. */
    challenges,
    checks: tallyChecks(list),
    differences: listDifferences(list),
    /** Information that is no difference. */
    notes: [...notes],
    /** Checks that were impossible; with any of them the verdict is not `agrees`. */
    incomplete: listGaps(list, missingCloses),
    missingCloses: missingCloses.map(formatDay),
    /** Null without any attestation. */
    newestAttestationAt: newestMs === 0 ? null : new Date(newestMs).toISOString(),
  };
}

function buildAuditedHorizon({ rows: _, ...figures }: RecomputedFigures, all: readonly CheckedRow[]) {
  const { voids, missed, pending, resolved, wins, losses, holds, accuracy, accuracyInterval95 } = figures.summary;
  const members = all.filter(({ prediction }) => prediction.data.horizonDays === figures.horizonDays);
  const days = members.map(({ prediction }) => prediction.data.day);
  return {
    ...{ ...figures, voids, missed, pending, resolved, wins, losses, holds, accuracy, accuracyInterval95 },
    ...{ firstDate: formatDay(Math.min(...days)), lastDate: formatDay(Math.max(...days)), forecasts: members.length },
    /** On chain before their window opened. */
    inTime: members.filter((row) => !row.missed && !row.late).length,
    /** Brier score of the probabilities, HOLD included. */
    brier: figures.statistics.probabilities?.brier ?? null,
  };
}

/** Failed checks; `message` is the difference in one sentence. */
export function listDifferences(findings: readonly Finding[]) {
  return findings
    .filter(({ outcome }) => outcome === 'fail')
    .map(({ check, subject, field, expected, actual, because }) => {
      const { horizonDays, day, sequence, uid } = subject;
      const date = day === null ? null : formatDay(day);
      return { check, horizonDays, date, sequence, uid, field, expected, found: actual, message: `${formatSubject(subject)}: ${because}` };
    });
}

/** More gaps of one check are one line. */
const MAX_ALIKE = 5;

/** Reasons of checks that could not be made though their evidence is due; missing closes are one line. */
export function listGaps(findings: readonly Finding[], missingCloses: readonly Day[]): string[] {
  const gaps = findings.filter(({ check, outcome, isDue }) => outcome === 'unknown' && isDue && check !== 'price');
  const dates = missingCloses.map(formatDay);
  const ends = [...new Set([dates[0], dates.at(-1)])].join(' to ');
  const prices = dates.length === 0 ? [] : [`${dates.length} days have no price to check outcomes (${ends})`];
  const kinds = [...Map.groupBy(gaps, ({ check }) => check).values()];
  const others = kinds.flatMap(([first, ...more]) =>
    more.length < MAX_ALIKE ? [first, ...more].map(formatGap) : [`${formatGap(first)}; and ${more.length} more of this kind`],
  );
  return [...prices, ...others];
}

function formatGap({ subject, because }: Finding): string {
  const { horizonDays, uid } = subject;
  return horizonDays === null && uid === null ? because : `${formatSubject(subject)}: ${because}`;
}
