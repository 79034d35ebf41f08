import { computeOutOfSampleFolds } from '../../src/forecast/backtest/out-of-sample.ts';
import { buildFoldReport, buildOwnReport, buildWalkForwardReport } from '../../src/forecast/backtest/walk-forward.ts';
import { computeFeatures } from '../../src/forecast/features.ts';
import type { InputFrame } from '../../src/forecast/inputs.ts';
import { HORIZONS } from '../../src/forecast/model.ts';
import { type Headlines, headlinesOf } from '../headlines.ts';
import { answerParent } from '../lib.ts';

/** One run of one side. */
export interface Timed {
  ms: number;
  headlines: Headlines;
}

let frame: InputFrame;

function timed<Result>(work: () => Result): { ms: number; result: Result } {
  const started = performance.now();
  const result = work();
  return { ms: performance.now() - started, result };
}

const answers = {
  open(opened: InputFrame) {
    frame = opened;
  },
  /** From the inputs to the report. */
  report(): Timed {
    const { ms, result } = timed(() => buildWalkForwardReport({ closes: frame.close, features: computeFeatures(frame), frame }));
    return { ms, headlines: headlinesOf(result.horizons) };
  },
  /** The same without the leak canaries and the fits of GARCH. */
  tables(): Timed {
    const { ms, result } = timed(() => {
      const history = { closes: frame.close, features: computeFeatures(frame) };
      return HORIZONS.map((horizonDays) => {
        const folds = computeOutOfSampleFolds(history, horizonDays);
        return { horizonDays, folds: folds.map(buildFoldReport), pooled: buildOwnReport(folds, horizonDays) };
      });
    });
    return { ms, headlines: headlinesOf(result) };
  },
};

export type WalkForwardAnswers = typeof answers;

answerParent(answers);
