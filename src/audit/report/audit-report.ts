import type { Address } from 'viem';
import { type Day, formatDay } from '../../forecast/day.ts';
import type { RecordStatistics } from '../../forecast/statistics/record-statistics.ts';
import type { RecordSummary } from '../../forecast/statistics/record-summary.ts';
import type { AuditedRow } from '../checks/audited-row.ts';
import { type AuditDifference, CHECKS, type CheckName, type Findings } from '../checks/findings.ts';
import type { AuditPrices } from '../prices/audit-prices.ts';
import type { RecomputedFigures } from './recompute.ts';

/** `agrees`: every check was made and passed. `incomplete`: every possible check passed, and some were impossible. */
export type AuditVerdict = 'agrees' | 'differs' | 'incomplete';

type SummaryFigures = 'voids' | 'missed' | 'pending' | 'resolved' | 'wins' | 'losses' | 'holds' | 'accuracy' | 'accuracyInterval95';

/** Recomputed figures of one horizon. */
export interface AuditedHorizon extends Pick<RecordSummary, SummaryFigures> {
  horizonDays: number;
  firstDate: string;
  lastDate: string;
  forecasts: number;
  /** On chain before their window opened. */
  inTime: number;
  /** Brier score of the probabilities, HOLD included. */
  brier: number | null;
  summary: RecordSummary;
  statistics: RecordStatistics;
}

export interface CheckCount {
  check: CheckName;
  what: string;
  passed: number;
  failed: number;
}

export interface AuditReport {
  verdict: AuditVerdict;
  chainId: number;
  attester: Address;
  eas: Address;
  fromBlock: number;
  throughBlock: number;
  auditedAt: string;
  prices: { source: string; toleranceBps: number };
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

interface AuditReportInputs {
  scope: {
    chainId: number;
    attester: Address;
    eas: Address;
    fromBlock: number;
    throughBlock: number;
    prices: AuditPrices;
    service: string | null;
    now: Date;
  };
  rows: readonly AuditedRow[];
  recomputed: readonly RecomputedFigures[];
  missingCloses: readonly Day[];
  findings: Findings;
  newestAt: Date | null;
}

export function buildAuditReport({ scope, rows, recomputed, missingCloses, findings, newestAt }: AuditReportInputs): AuditReport {
  const { prices, now, ...where } = scope;
  const { differences } = findings;
  const notes = [...findings.notes];
  if (rows.length === 0) notes.push('no forecast of this attester was found: check the address and the first block');
  const incomplete = [...listGaps(rows, missingCloses), ...findings.gaps];
  return {
    verdict: differences.length > 0 ? 'differs' : incomplete.length > 0 ? 'incomplete' : 'agrees',
    ...where,
    auditedAt: now.toISOString(),
    prices: { source: prices.source, toleranceBps: prices.toleranceBps },
    horizons: recomputed.map((one) => buildAuditedHorizon(one, rows)),
    checks: countChecks(findings),
    differences: [...differences],
    notes,
    incomplete,
    missingCloses: missingCloses.map(formatDay),
    newestAttestationAt: newestAt?.toISOString() ?? null,
  };
}

function listGaps(rows: readonly AuditedRow[], missingCloses: readonly Day[]): string[] {
  if (rows.length === 0) return ['there is nothing to audit'];
  return missingCloses.length === 0 ? [] : [`${missingCloses.length} days have no price to check outcomes`];
}

function buildAuditedHorizon({ horizonDays, summary, statistics }: RecomputedFigures, rows: readonly AuditedRow[]): AuditedHorizon {
  const members = rows.filter(({ prediction }) => prediction.data.horizonDays === horizonDays);
  const days = members.map(({ prediction }) => prediction.data.day);
  const { voids, missed, pending, resolved, wins, losses, holds, accuracy, accuracyInterval95 } = summary;
  return {
    horizonDays,
    firstDate: formatDay(Math.min(...days)),
    lastDate: formatDay(Math.max(...days)),
    forecasts: members.length,
    inTime: members.filter((row) => !row.missed && !row.late).length,
    voids,
    missed,
    pending,
    resolved,
    wins,
    losses,
    holds,
    accuracy,
    accuracyInterval95,
    brier: statistics.probabilities?.brier ?? null,
    summary,
    statistics,
  };
}

function countChecks({ passed, differences }: Findings): CheckCount[] {
  return (Object.keys(CHECKS) as CheckName[]).map((check) => ({
    check,
    what: CHECKS[check],
    passed: passed[check],
    failed: differences.filter((difference) => difference.check === check).length,
  }));
}
