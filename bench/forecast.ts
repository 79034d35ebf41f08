import { execFile, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { availableParallelism, tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { promisify } from 'node:util';
import { BUSINESS_DAY_COLUMNS, DAILY_COLUMNS, type InputFrame } from '../src/forecast/inputs.ts';
import { loadRecordedHistory, loadSimulatedHistory, type ModelHistory } from '../src/tools/model-document.ts';
import type { BusyAnswers } from './forecast/busy-process.ts';
import { PROGRAM } from './forecast/numpy.ts';
import type { Timed, WalkForwardAnswers } from './forecast/walk-forward-process.ts';
import { differenceOf, type Headlines } from './headlines.ts';
import type { LoadAnswers, Loaded } from './http/load-process.ts';
import { type Benchmark, type BenchOptions, type Child, type Comparison, interleaved, type SocketOptions, startChild } from './lib.ts';
import type { ServiceAnswers } from './service-process.ts';

const PATH = '/api/svc/open/signal';
const CONNECTIONS = 50;
const ROUND_MS = 2_000;
/** Of the requests per second that are answered while the same tests run in a process of their own. */
const GOAL = 0.8;

/** What requests notice of self-tests. */
export const API_UNDER_SELF_TESTS: Benchmark = {
  name: 'api-under-self-tests',
  what: `GET ${PATH} while self-tests run in their thread without a pause, against the same service idle, and with the tests in another process`,
  async run({ clients = CONNECTIONS, rounds, report }) {
    const children = await Promise.all([
      startChild<ServiceAnswers>('service-process.ts'),
      startChild<LoadAnswers>('http/load-process.ts'),
      startChild<BusyAnswers>('forecast/busy-process.ts'),
    ]);
    try {
      return await compare(children, { clients, rounds, report });
    } finally {
      await children[0].ask('stop');
      await Promise.all(children.map((child) => child.end()));
    }
  },
};

type Children = [Child<ServiceAnswers>, Child<LoadAnswers>, Child<BusyAnswers>];
type Side = 'idle' | 'thread' | 'process';

/** The service, the load and the self-tests: with fewer cores they also wait for each other. */
const CORES = 3;

async function compare([service, client, busy]: Children, { clients, rounds, report }: SocketOptions): Promise<Comparison[]> {
  const url = `${await service.ask('url')}${PATH}`;
  const load = () => client.ask('load', { url, connections: clients, ms: ROUND_MS });
  const beside = async (tests: (on: boolean) => Promise<unknown>) => {
    await tests(true);
    const loaded = await load();
    await tests(false);
    return loaded;
  };
  report(`  ${clients} connections, ${rounds} rounds of ${ROUND_MS / 1_000} s each by turns`);
  const run = await interleaved<Side, Loaded>(
    {
      idle: load,
      thread: () => beside((on) => service.ask('selfTests', on)),
      process: () => beside((on) => busy.ask('selfTests', on)),
    },
    { rounds, report },
  );
  const wrong = Object.values(run).flatMap((side) => side.map((round) => round.wrong));
  report(`  answers that were not as the first one: ${wrong.reduce((sum, count) => sum + count, 0)}`);
  return comparisons(run, availableParallelism());
}

function comparisons({ idle, thread, process }: Record<Side, Loaded[]>, cores: number): Comparison[] {
  const rates = (side: Loaded[]) => side.map(({ answers, seconds }) => answers / seconds);
  const slowest = (side: Loaded[]) => side.map(({ p99Ms }) => p99Ms);
  const shared = cores < CORES ? ` ${cores} cores are fewer than the service, the load and the tests would fill: no goal is set here.` : '';
  return [
    {
      kind: 'rate',
      unit: 'answers/s with self-tests in their thread (the baseline: in another process)',
      meaning: 'What it costs requests that the tests share a process with them, the use of the cores apart.',
      baseline: rates(process),
      ours: rates(thread),
      goal: GOAL,
    },
    {
      kind: 'rate',
      unit: 'answers/s with self-tests in their thread (the baseline: none run)',
      meaning: `What requests notice of tests that never pause; each day they run for seconds.${shared}`,
      baseline: rates(idle),
      ours: rates(thread),
      goal: cores < CORES ? undefined : GOAL,
    },
    {
      kind: 'time',
      work: 'the slowest of a hundred answers, with self-tests in their thread (the baseline: none run)',
      meaning: 'Whether single requests wait for a test.',
      baseline: slowest(idle),
      ours: slowest(thread),
    },
  ];
}

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
      return await compareWithNumpy({ history, ours, numpy }, { rounds, report: reportLine });
    } finally {
      await Promise.all([ours.end(), numpy?.end()]);
    }
  },
};

/** Starts the reference on a frame; null where there is no `python3` with numpy. */
async function startNumpy(frame: InputFrame): Promise<NumpyReference | null> {
  if (!(await hasNumpy())) return null;
  const folder = await mkdtemp(join(tmpdir(), 'oracle-bench-'));
  await writeFrame(folder, frame);
  const child = spawn('python3', [PROGRAM, folder], { stdio: ['pipe', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const next = async () => {
    const { value, done } = await lines.next();
    if (done === true) throw new Error('the numpy reference ended');
    return JSON.parse(value);
  };
  const { numpy, python } = await next();
  return {
    versions: `numpy ${numpy}, Python ${python}`,
    async run() {
      child.stdin.write('\n');
      const { seconds, horizons } = (await next()) as { seconds: number; horizons: Headlines };
      return { ms: seconds * 1_000, headlines: horizons };
    },
    async end() {
      const ended = new Promise((done) => child.once('exit', done));
      child.stdin.end();
      await ended;
      await rm(folder, { recursive: true, force: true });
    },
  };
}

/** Writes a frame for other languages to read: `frame.json`, and a file of little-endian float64 a column. */
async function writeFrame(folder: string, frame: InputFrame): Promise<void> {
  const columns: Record<string, ArrayLike<number>> = {};
  for (const name of DAILY_COLUMNS) columns[name] = frame[name];
  for (const name of BUSINESS_DAY_COLUMNS) {
    columns[name] = frame[name].values;
    columns[`${name}.days`] = frame[name].days;
  }
  const manifest = { firstDay: frame.firstDay, columns: Object.keys(columns) };
  await Promise.all([
    writeFile(join(folder, 'frame.json'), JSON.stringify(manifest)),
    ...Object.entries(columns).map(([name, values]) => writeFile(join(folder, `${name}.f64`), bytesOf(values))),
  ]);
}

function bytesOf(values: ArrayLike<number>): Buffer {
  const bytes = Buffer.alloc(values.length * 8);
  for (let index = 0; index < values.length; index++) bytes.writeDoubleLE(values[index], index * 8);
  return bytes;
}

async function hasNumpy(): Promise<boolean> {
  try {
    await promisify(execFile)('python3', ['-c', 'import numpy']);
    return true;
  } catch {
    return false;
  }
}

interface Both {
  history: ModelHistory;
  ours: Child<WalkForwardAnswers>;
  numpy: NumpyReference | null;
}

/** The reference in numpy, in a process of its own. */
interface NumpyReference {
  /** E.g. `numpy 2.4.6, Python 3.11.7`. */
  versions: string;
  run(): Promise<Timed>;
  end(): Promise<void>;
}

interface Found {
  numpy?: Timed[];
  tables: Timed[];
  report: Timed[];
}

async function compareWithNumpy(
  { history, ours, numpy }: Both,
  { rounds, report }: Pick<BenchOptions, 'rounds' | 'report'>,
): Promise<Comparison[]> {
  await ours.ask('open', history.frame);
  report(`  ${history.source}: ${history.frame.close.length} days; baseline: ${numpy?.versions ?? 'none, python3 with numpy is not here'}`);
  const first = await ours.ask('report');
  const sides = { tables: () => ours.ask('tables'), report: () => ours.ask('report') };
  const options = { rounds, report };
  const run: Found = numpy === null ? await interleaved(sides, options) : await interleaved({ numpy: numpy.run, ...sides }, options);
  if (run.numpy !== undefined) reportDifference(run.tables[0], run.numpy[0], report);
  report(`  the first report of a fresh process, which nothing is compiled in yet: ${Math.round(first.ms)} ms`);
  return numpyComparisons(run);
}

/** @throws Error when the two sides do not say the same: then their times mean nothing */
function reportDifference(ours: Timed, theirs: Timed, report: BenchOptions['report']): void {
  const difference = differenceOf(ours.headlines, theirs.headlines);
  report(`  figures of both, largest difference: ${difference.toExponential(0)} of the figure`);
  if (!(difference <= TOLERANCE)) throw new Error(`the two do not say the same: they differ by ${difference}, ${TOLERANCE} is allowed`);
}

function numpyComparisons({ numpy, tables, report }: Found): Comparison[] {
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
