import { availableParallelism } from 'node:os';
import { type Benchmark, type Comparison, interleaved, type SocketOptions } from '../benchmark.ts';
import { type Child, startChild } from '../child.ts';
import type { LoadAnswers, Loaded } from '../http/load-process.ts';
import type { ServiceAnswers } from '../service-process.ts';
import type { BusyAnswers } from './busy-process.ts';

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
