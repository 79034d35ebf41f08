import type { PointInTime } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { contaminationReport } from '../../forecast/backtest/contamination.ts';
import { overfittingReport } from '../../forecast/backtest/overfitting.ts';
import { stabilityReport } from '../../forecast/backtest/stability.ts';
import { walkForwardReport } from '../../forecast/backtest/walk-forward.ts';
import { computeFeatures, type FeatureTable } from '../../forecast/features.ts';
import type { InputFrame } from '../../forecast/frame.ts';

/** History that self-tests are computed from. */
export interface ComputeInput {
  /** Ends with the last day that was complete when the test was due. */
  frame: InputFrame;
  pointInTime: readonly PointInTime[];
  vintages: Vintages;
}

type Computation<Report> = (input: ComputeInput & { features: FeatureTable }) => Report;

/** Everything that is computed from the history alone, by name; pure, and too long for a process that has requests to answer. */
export const COMPUTATIONS = {
  'walk-forward': ({ frame, features }) => walkForwardReport({ closes: frame.close, features, frame }),
  overfitting: ({ frame, features }) => overfittingReport({ closes: frame.close, features }),
  contamination: (input) => contaminationReport(input),
  stability: ({ frame, features }) => stabilityReport({ closes: frame.close, features }),
} satisfies Record<string, Computation<object>>;

export type ComputationName = keyof typeof COMPUTATIONS;

export type Report<Name extends ComputationName> = ReturnType<(typeof COMPUTATIONS)[Name]>;

/** A report with the time that it took. */
export type Computed = { [Name in ComputationName]: { name: Name; report: Report<Name>; durationMs: number } }[ComputationName];

/** Computes reports one after the other, each handed out when it is there. */
export function* computeReports(input: ComputeInput, names: readonly ComputationName[]): Generator<Computed> {
  const features = computeFeatures(input.frame);
  for (const name of names) {
    const started = performance.now();
    const report = COMPUTATIONS[name]({ ...input, features });
    yield { name, report, durationMs: Math.round(performance.now() - started) } as Computed;
  }
}
