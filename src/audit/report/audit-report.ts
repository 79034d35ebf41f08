import type { Address } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { RecordSummary } from '../../forecast/statistics/record-summary.ts';
import type { ChainRecord, CheckedRecord } from '../../verify/check-record.ts';
import type { CheckedRow } from '../../verify/checks/forecast.ts';
import type { RecomputedFigures } from '../../verify/checks/statistics.ts';
import type { Findings } from '../../verify/findings.ts';
import { type CheckTally, formatRecordVerdict, getVerdict, tallyChecks } from '../../verify/summary.ts';
import type { AuditPrices } from '../prices/audit-prices.ts';
import { type AuditDifference, listDifferences, listGaps } from './differences.ts';

/** `agrees`: every check was made and passed. `incomplete`: every possible check passed, and some were impossible. */
export type AuditVerdict = 'agrees' | 'differs' | 'incomplete';

const SUMMARY_FIGURES = ['voids', 'missed', 'pending', 'resolved', 'wins', 'losses', 'holds', 'accuracy', 'accuracyInterval95'] as const;

/** Recomputed figures of one horizon. */
export interface AuditedHorizon extends Pick<RecordSummary, (typeof SUMMARY_FIGURES)[number]>, Omit<RecomputedFigures, 'rows'> {
  firstDate: string;
  lastDate: string;
  forecasts: number;
  /** On chain before their window opened. */
  inTime: number;
  /** Brier score of the probabilities, HOLD included. */
  brier: number | null;
}

export interface CheckCount extends Omit<CheckTally, 'rule'> {
  what: string;
}

export interface AuditReport {
  verdict: AuditVerdict;
  /** The verdict in one line. */
  summary: string;
  chainId: number;
  attester: Address;
  eas: Address;
  fromBlock: number;
  throughBlock: number;
  auditedAt: string;
  /** Null: closes were not compared. */
  prices: { source: string; toleranceBps: number } | null;
  /** The service whose claims were compared; null without one. */
  service: string | null;
  horizons: AuditedHorizon[];
  checks: CheckCount[];
  differences: AuditDifference[];
  /** Information that is no difference. */
  notes: string[];
  /** Checks that were impossible; with any of them the verdict is not `agrees`. */
  incomplete: string[];
  /** Days without a price whose close decides a forecast, `YYYY-MM-DD`. */
  missingCloses: string[];
  /** Null without any attestation. */
  newestAttestationAt: string | null;
}

type Where = Pick<AuditReport, 'chainId' | 'attester' | 'eas' | 'fromBlock' | 'throughBlock' | 'service'>;

interface AuditReportInputs extends CheckedRecord {
  where: Where;
  prices: AuditPrices | null;
  now: Date;
  record: ChainRecord;
  missingCloses: readonly Day[];
  findings: Findings;
}

const VERDICTS = { pass: 'agrees', fail: 'differs', unknown: 'incomplete' } as const;

export function buildAuditReport({ where, prices, now, findings, missingCloses, ...checked }: AuditReportInputs): AuditReport {
  const { rows, recomputed, record } = checked;
  const newestMs = [...record.predictions, ...record.resolutions].reduce((newest, { at }) => Math.max(newest, at.getTime()), 0);
  return {
    verdict: VERDICTS[getVerdict(findings.list)],
    summary: formatRecordVerdict(findings.list),
    ...where,
    auditedAt: now.toISOString(),
    prices: prices === null ? null : { source: prices.source, toleranceBps: prices.toleranceBps },
    horizons: recomputed.map((one) => buildAuditedHorizon(one, rows)),
    checks: tallyChecks(findings.list).map(({ rule, ...tally }) => ({ ...tally, what: rule })),
    differences: listDifferences(findings.list),
    notes: [...findings.notes],
    incomplete: listGaps(findings.list, missingCloses),
    missingCloses: missingCloses.map(formatDay),
    newestAttestationAt: newestMs === 0 ? null : new Date(newestMs).toISOString(),
  };
}

function buildAuditedHorizon({ rows: _, ...figures }: RecomputedFigures, all: readonly CheckedRow[]): AuditedHorizon {
  const { horizonDays, summary, statistics } = figures;
  const members = all.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
  const days = members.map(({ prediction }) => prediction.data.day);
  const counted = Object.fromEntries(SUMMARY_FIGURES.map((name) => [name, summary[name]])) as Pick<
    RecordSummary,
    (typeof SUMMARY_FIGURES)[number]
  >;
  return {
    ...{ ...figures, ...counted, firstDate: formatDay(Math.min(...days)), lastDate: formatDay(Math.max(...days)) },
    ...{ forecasts: members.length, inTime: members.filter((row) => !row.missed && !row.late).length },
    brier: statistics.probabilities?.brier ?? null,
  };
}
