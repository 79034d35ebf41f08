import type { PointInTimeFrame } from '../../forecast/backtest/contamination/point-in-time-audit.ts';
import { buildContaminationReport } from '../../forecast/backtest/contamination/report.ts';
import type { Vintages } from '../../forecast/backtest/contamination/vintages.ts';
import { buildOverfittingReport } from '../../forecast/backtest/overfitting/report.ts';
import { buildStabilityReport } from '../../forecast/backtest/stability/report.ts';
import { buildWalkForwardReport } from '../../forecast/backtest/walk-forward/report.ts';
import { computeFeatures } from '../../forecast/features/compute-features.ts';
import type { FeatureTable } from '../../forecast/features/feature-table.ts';
import type { InputFrame } from '../../forecast/input-frame.ts';

export interface ComputeInput {
  /** Ends with the last complete day before the due time. */
  frame: InputFrame;
  pointInTime: readonly PointInTimeFrame[];
  vintages: Vintages;
}

type Computation<Report> = (input: ComputeInput & { features: FeatureTable }) => Report;

/** Computations on history alone, by name: pure, and too slow for a process that serves requests. */
export const COMPUTATIONS = {
  'walk-forward': ({ frame, features }) => buildWalkForwardReport({ closes: frame.close, features, frame }),
  overfitting: ({ frame, features }) => buildOverfittingReport({ closes: frame.close, features }),
  contamination: (input) => buildContaminationReport(input),
  stability: ({ frame, features }) => buildStabilityReport({ closes: frame.close, features }),
} satisfies Record<string, Computation<object>>;

export type ComputationName = keyof typeof COMPUTATIONS;

export type ComputedReport<Name extends ComputationName> = ReturnType<(typeof COMPUTATIONS)[Name]>;

export type TimedReport = { [Name in ComputationName]: { name: Name; report: ComputedReport<Name>; durationMs: number } }[ComputationName];

export function* computeReports(input: ComputeInput, names: readonly ComputationName[]): Generator<TimedReport> {
  const features = computeFeatures(input.frame);
  for (const name of names) {
    const started = performance.now();
    const report = COMPUTATIONS[name]({ ...input, features });
    yield { name, report, durationMs: Math.round(performance.now() - started) } as TimedReport;
  }
}
