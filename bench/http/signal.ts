import { SERVICE_FLAGS } from '../../test/support/service/running-service.ts';
import { type Benchmark, type Child, type Comparison, interleaved, type SocketOptions, startChild } from '../lib.ts';
import type { ServiceAnswers } from '../service-process.ts';
import type { BareAnswers, Ready } from './bare-process.ts';
import type { LoadAnswers } from './load-process.ts';

const PATH = '/api/svc/open/signal';
const CONNECTIONS = 50;
const ROUND_MS = 2_000;
/** Of the requests per second of a bare route. */
const GOAL = 1;

const MEANING =
  'How many requests are answered in a second: what guard, limits, record, view and encoding leave of those of Express alone.';

/** Of the p99 of a bare route. */
const P99_GOAL = 1.5;

/** Made by the server itself for each answer. */
const HOP_BY_HOP = ['connection', 'keep-alive', 'date', 'transfer-encoding', 'content-length'];

/** What the whole way through the service costs: guard, limits, record, view, encoding. */
export const HTTP_SIGNAL: Benchmark = {
  name: 'http-signal',
  what: `GET ${PATH}, against a bare Express route that sends the same bytes and headers`,
  async run({ clients = CONNECTIONS, rounds, report }) {
    const children = await Promise.all([
      startChild<ServiceAnswers>('service-process.ts', [], SERVICE_FLAGS),
      startChild<BareAnswers>('http/bare-process.ts'),
      startChild<LoadAnswers>('http/load-process.ts'),
    ]);
    try {
      return await compare(children, { clients, rounds, report });
    } finally {
      await children[0].ask('stop');
      await Promise.all(children.map((child) => child.end()));
    }
  },
};

type Children = [Child<ServiceAnswers>, Child<BareAnswers>, Child<LoadAnswers>];

async function compare([service, bare, client]: Children, { clients, rounds, report }: SocketOptions): Promise<Comparison[]> {
  const url = `${await service.ask('url')}${PATH}`;
  const ready = await readyAnswer(url);
  const bareUrl = await bare.ask('serve', ready);
  report(`  ${clients} connections, ${ready.body.length} bytes an answer, ${rounds} rounds of ${ROUND_MS / 1_000} s each by turns`);
  const load = (at: string) => client.ask('load', { url: at, connections: clients, ms: ROUND_MS });
  const run = await interleaved({ baseline: () => load(bareUrl), ours: () => load(url) }, { rounds, report });
  const wrong = [...run.baseline, ...run.ours].reduce((sum, round) => sum + round.wrong, 0);
  report(`  answers that were not as the first one: ${wrong}`);
  const rates = (side: typeof run.ours) => side.map(({ answers, seconds }) => answers / seconds);
  const p99 = (side: typeof run.ours) => side.map(({ p99Ms }) => p99Ms);
  return [
    { kind: 'rate', unit: 'answers/s', meaning: MEANING, baseline: rates(run.baseline), ours: rates(run.ours), goal: GOAL },
    {
      kind: 'time',
      work: 'the slowest answer in a hundred',
      meaning: 'from a request to its whole answer',
      baseline: p99(run.baseline),
      ours: p99(run.ours),
      goalRatio: P99_GOAL,
    },
  ];
}

/** The response of the service, for the bare server to send. */
async function readyAnswer(url: string): Promise<Ready> {
  const answer = await fetch(url, { headers: { Accept: 'application/json', 'Accept-Encoding': 'identity' } });
  if (answer.status !== 200) throw new Error(`${url} answers ${answer.status}: ${await answer.text()}`);
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => !HOP_BY_HOP.includes(name)));
  return { path: PATH, headers, body: await answer.text() };
}
