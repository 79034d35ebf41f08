import { connect } from 'node:net';
import { answerParent } from '../lib.ts';

interface Load {
  url: string;
  connections: number;
  headers?: Record<string, string>;
  /** For how long requests are sent; those under way then are waited for, and counted. */
  ms: number;
}

export interface Loaded {
  answers: number;
  seconds: number;
  /** Milliseconds from a request to its whole answer that one answer in a hundred took longer than. */
  p99Ms: number;
  /** Answers with another status than 200, or another length than the first. */
  wrong: number;
}

const answers = {
  /** Asks for the same again and again, over connections that stay open, one request at a time on each. */
  async load({ url, connections, ms, headers = {} }: Load): Promise<Loaded> {
    const startedAt = performance.now();
    const until = startedAt + ms;
    const runs = await Promise.all(Array.from({ length: connections }, () => askAgain(url, headers, until)));
    const seconds = (performance.now() - startedAt) / 1_000;
    const lengths = new Set(runs.flatMap((run) => [...run.lengths]));
    const wrong = runs.reduce((sum, run) => sum + run.wrong, 0) + lengths.size - 1;
    const times = Float64Array.from(runs.flatMap((run) => run.times)).sort();
    return { answers: times.length, seconds, p99Ms: times[Math.floor(times.length * 0.99)], wrong };
  },
};

export type LoadAnswers = typeof answers;

interface Run {
  /** Milliseconds of each answer. */
  times: number[];
  wrong: number;
  /** Lengths of bodies that have come. */
  lengths: Set<number>;
}

/** One connection until its time is over. Made for measuring: it takes answers with a `Content-Length`, and no others. */
function askAgain(url: string, headers: Record<string, string>, until: number): Promise<Run> {
  const { hostname, port, host, pathname, search } = new URL(url);
  const lines = Object.entries({ Host: host, Accept: 'application/json', ...headers }).map(([name, value]) => `${name}: ${value}`);
  const request = Buffer.from(`GET ${pathname}${search} HTTP/1.1\r\n${lines.join('\r\n')}\r\n\r\n`);
  const run: Run = { times: [], wrong: 0, lengths: new Set() };
  const { promise, resolve, reject } = Promise.withResolvers<Run>();
  const socket = connect({ host: hostname, port: Number(port), noDelay: true });
  let text = '';
  let askedAt = 0;
  const ask = () => {
    askedAt = performance.now();
    socket.write(request);
  };
  socket.on('data', (piece: Buffer) => {
    text += piece.toString('latin1');
    const head = text.indexOf('\r\n\r\n');
    if (head < 0) return;
    const length = Number(/^content-length: (\d+)/im.exec(text.slice(0, head))?.[1]);
    if (Number.isNaN(length)) return reject(new Error(`an answer without a length: ${text.slice(0, head)}`));
    if (text.length < head + 4 + length) return;
    run.times.push(performance.now() - askedAt);
    run.lengths.add(length);
    if (!text.startsWith('HTTP/1.1 200 ')) run.wrong += 1;
    text = '';
    if (performance.now() < until) ask();
    else socket.end();
  });
  socket.on('error', reject).on('close', () => resolve(run));
  ask();
  return promise;
}

answerParent(answers);
