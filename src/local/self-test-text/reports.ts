import type { ComputationName, Computed, Report } from '../../pipeline/self-test/computations.ts';
import { contaminationText } from './contamination.ts';
import { overfittingText } from './overfitting.ts';
import { stabilityText } from './stability.ts';
import { walkForwardText } from './walk-forward.ts';

const TEXTS: { [Name in ComputationName]: (report: Report<Name>) => string } = {
  'walk-forward': walkForwardText,
  overfitting: overfittingText,
  contamination: contaminationText,
  stability: stabilityText,
};

/** Reports under what they were made from, as a person reads them. */
export function selfTestText(head: string, reports: readonly Computed[]): string {
  return [head, ...reports.map((computed) => `${textOf(computed)}\n(${computed.durationMs} ms)`)].join('\n\n').concat('\n');
}

function textOf<Name extends ComputationName>({ name, report }: { name: Name; report: Report<Name> }): string {
  return TEXTS[name](report);
}
