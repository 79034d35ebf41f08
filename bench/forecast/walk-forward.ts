import { loadRecordedHistory, loadSimulatedHistory, type ModelHistory } from '../../src/tools/model-document/histories.ts';
import { type Benchmark, type BenchOptions, type Comparison, interleaved } from '../benchmark.ts';
import { type Child, startChild } from '../child.ts';
import { differenceOf } from './headlines.ts';
import { type NumpyReference, startNumpy } from './numpy.ts';
import type { Timed, WalkForwardAnswers } from './walk-forward-process.ts';

/** The most milliseconds that a whole walk-forward may take. */
const GOAL_MS = 1_000;

/** What the figures of both sides may differ by, as a fraction. */
const TOLERANCE = 1e-9;

const WORK = 'From the inputs on: features, regimes, all fits, calibration, distributions, scores, tables and intervals of all horizons';

/** What the self-test of each day costs, beside the same in numpy. */
export const WALK_FORWARD: Benchmark = {
  name: 'walk-forward',
  what: 'the whole walk-forward report of all horizons, against the same in numpy where python3 has it; --data <folder> for files of your own',
  async run({ data, rounds, report: reportLine }) {
    const history = data === undefined ? await loadSimulatedHistory() : await loadRecordedHistory(data);
    const ours = await startChild<WalkForwardAnswers>('forecast/walk-forward-process.ts');
    const numpy = await startNumpy(history.frame);
    try {
      return await compare({ history, ours, numpy }, { rounds, report: reportLine });
    } finally {
      await Promise.all([ours.end(), numpy?.end()]);
    }
  },
};

interface Both {
  history: ModelHistory;
  ours: Child<WalkForwardAnswers>;
  numpy: NumpyReference | null;
}

interface Found {
  numpy?: Timed[];
  tables: Timed[];
  report: Timed[];
}

async function compare({ history, ours, numpy }: Both, { rounds, report }: Pick<BenchOptions, 'rounds' | 'report'>): Promise<Comparison[]> {
  await ours.ask('open', history.frame);
  report(`  ${history.source}: ${history.frame.close.length} days; baseline: ${numpy?.versions ?? 'none, python3 with numpy is not here'}`);
  const first = await ours.ask('report');
  const sides = { tables: () => ours.ask('tables'), report: () => ours.ask('report') };
  const options = { rounds, report };
  const run: Found = numpy === null ? await interleaved(sides, options) : await interleaved({ numpy: numpy.run, ...sides }, options);
  if (run.numpy !== undefined) reportDifference(run.tables[0], run.numpy[0], report);
  report(`  the first report of a fresh process, which nothing is compiled in yet: ${Math.round(first.ms)} ms`);
  return comparisons(run);
}

/** @throws Error when the two sides do not say the same: then their times mean nothing */
function reportDifference(ours: Timed, theirs: Timed, report: BenchOptions['report']): void {
  const difference = differenceOf(ours.headlines, theirs.headlines);
  report(`  figures of both, largest difference: ${difference.toExponential(0)} of the figure`);
  if (!(difference <= TOLERANCE)) throw new Error(`the two do not say the same: they differ by ${difference}, ${TOLERANCE} is allowed`);
}

function comparisons({ numpy, tables, report }: Found): Comparison[] {
  const times = (side: Timed[]) => side.map(({ ms }) => ms);
  const baseline = numpy === undefined ? null : times(numpy);
  return [
    {
      kind: 'time',
      work: 'walk-forward without leak canaries and GARCH',
      meaning: `${WORK}: what the baseline does, too, but for the coverage by weekday.`,
      baseline,
      ours: times(tables),
      goalRatio: 1,
    },
    {
      kind: 'time',
      work: 'walk-forward as it is reported',
      meaning:
        'The same, the GARCH that it is compared with, and the leak canaries with all that they break on purpose: the baseline has neither.',
      baseline,
      ours: times(report),
      goalMs: GOAL_MS,
    },
  ];
}
