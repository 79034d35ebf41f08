import type { ComputationName, ComputedReport, TimedReport } from '../../../pipeline/self-test/computations.ts';
import { formatContamination } from './contamination.ts';
import { formatOverfitting } from './overfitting.ts';
import { formatStability } from './stability.ts';
import { formatWalkForward } from './walk-forward.ts';

const FORMATTERS: { [Name in ComputationName]: (report: ComputedReport<Name>) => string } = {
  'walk-forward': formatWalkForward,
  overfitting: formatOverfitting,
  contamination: formatContamination,
  stability: formatStability,
};

/** @param head describes the tested history */
export function formatSelfTests(head: string, reports: readonly TimedReport[]): string {
  return [head, ...reports.map((computed) => `${formatReport(computed)}\n(${computed.durationMs} ms)`)].join('\n\n').concat('\n');
}

function formatReport<Name extends ComputationName>({ name, report }: { name: Name; report: ComputedReport<Name> }): string {
  return FORMATTERS[name](report);
}
