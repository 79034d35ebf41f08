import type { Address } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { CheckedRecord } from '../../verify/check-record.ts';
import type { CheckedRow } from '../../verify/checks/forecast.ts';
import type { RecomputedFigures } from '../../verify/checks/statistics.ts';
import type { ChainRecord, PriceEvidence } from '../../verify/evidence.ts';
import type { Findings } from '../../verify/findings.ts';
import { formatRecordVerdict, getVerdict, tallyChecks } from '../../verify/summary.ts';
import { listDifferences, listGaps } from './differences.ts';

/** `agrees`: every check was made and passed. `incomplete`: every possible check passed, and some were impossible. */
const VERDICTS = { pass: 'agrees', fail: 'differs', unknown: 'incomplete' } as const;

/** Recomputed figures of one horizon. */
export type AuditedHorizon = ReturnType<typeof buildAuditedHorizon>;
export type AuditReport = ReturnType<typeof buildAuditReport>;

interface AuditReportInputs extends CheckedRecord {
  /** `service`: the one whose claims were compared; null without one. */
  where: { chainId: number; attester: Address; eas: Address; fromBlock: number; throughBlock: number; service: string | null };
  /** Null: closes were not compared. */
  prices: Pick<PriceEvidence, 'source' | 'toleranceBps'> | null;
  now: Date;
  record: ChainRecord;
  /** Days without a price whose close decides a forecast. */
  missingCloses: readonly Day[];
  findings: Findings;
}

export function buildAuditReport({ where, prices, now, findings, missingCloses, rows, recomputed, record }: AuditReportInputs) {
  const { list, notes } = findings;
  const newestMs = [...record.predictions, ...record.resolutions].reduce((newest, { at }) => Math.max(newest, at.getTime()), 0);
  return {
    verdict: VERDICTS[getVerdict(list)],
    summary: formatRecordVerdict(list),
    ...where,
    auditedAt: now.toISOString(),
    prices: prices === null ? null : { source: prices.source, toleranceBps: prices.toleranceBps },
    horizons: recomputed.map((one) => buildAuditedHorizon(one, rows)),
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
