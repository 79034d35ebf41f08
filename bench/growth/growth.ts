import { type Benchmark, type Child, type Comparison, median, startChild } from '../lib.ts';
import type { LongServiceAnswers, Read } from './long-service-process.ts';

const YEAR_DAYS = 365;
const GOAL_RATIO = 1.2;
const WARM_UP_REQUESTS = 4;
/** Requests of a round, one after the other. */
const REQUESTS = 20;
/** Of a read that is above the goal: of few requests, two collections of the heap decide over the 99th percentile. */
const REQUESTS_AGAIN = 1_500;
/** After so long the requests of one round are enough: of a read that takes long, a collection of the heap is a small part. */
const MAX_MS = 2_000;
const MAX_MS_AGAIN = 10_000;
const REQUESTS_OF_A_PERCENTILE = 100;
/** Timers and the network stack alone differ by so much: shorter times count as this. */
const NOISE_MS = 2;

/** Every operation that only reads, as a Premium caller, on a record of one year and on one of ten. */
export const GROWTH: Benchmark = {
  name: 'growth',
  what: 'every read on a record of ten years, against the same read on a record of one',
  async run({ rounds, report }) {
    // Each record in a process of its own, as collections of the one's heap would delay the other's answers.
    const start = () => startChild<LongServiceAnswers>('growth/long-service-process.ts', [], ['--max-semi-space-size=16']);
    const [year, decade] = [await start(), await start()];
    try {
      report(`${'operation'.padEnd(28)} ${'p50, ms'.padStart(16)} ${'p99, ms'.padStart(16)} ${'kB'.padStart(14)}  p99 of ten years : one`);
      const [one, ten] = await Promise.all([year.ask('start', YEAR_DAYS), decade.ask('start', 10 * YEAR_DAYS)]);
      const found = await compareReads({ one, ten }, rounds);
      for (const growth of found.toSorted((a, b) => b.ratio - a.ratio)) report(formatGrowth(growth));
      return [toComparison(found)];
    } finally {
      await Promise.all([year, decade].map((child) => stop(child)));
    }
  },
};

async function stop(child: Child<LongServiceAnswers>): Promise<void> {
  await child.ask('stop');
  await child.end();
}

interface Timed {
  ms: number[];
  bytes: number;
}

interface Growth {
  operationId: string;
  year: Timed;
  decade: Timed;
  /** Of the 99th percentiles. */
  ratio: number;
}

async function compareReads({ one, ten }: { one: Read[]; ten: Read[] }, rounds: number): Promise<Growth[]> {
  const found: Growth[] = [];
  for (const year of one) {
    const decade = ten.find(({ operationId }) => operationId === year.operationId);
    if (decade === undefined) continue;
    const growth = await compareRead(year, decade, { requests: rounds * REQUESTS, maxMs: MAX_MS });
    const again = { requests: REQUESTS_AGAIN, maxMs: MAX_MS_AGAIN };
    found.push(growth.ratio > GOAL_RATIO ? await compareRead(year, decade, again) : growth);
  }
  return found;
}

async function compareRead(year: Read, decade: Read, { requests, maxMs }: { requests: number; maxMs: number }): Promise<Growth> {
  const one: Timed = { ms: [], bytes: 0 };
  const ten: Timed = { ms: [], bytes: 0 };
  const startedAt = performance.now();
  const countWanted = () => (performance.now() - startedAt < maxMs ? requests : REQUESTS);
  for (let index = 0; index < WARM_UP_REQUESTS + countWanted(); index++) {
    const pair = [() => time(year, one), () => time(decade, ten)];
    // In turns the first: collections of this heap keep step with pairs.
    for (const ask of index % 2 === 0 ? pair : pair.toReversed()) await ask();
  }
  one.ms.splice(0, WARM_UP_REQUESTS);
  ten.ms.splice(0, WARM_UP_REQUESTS);
  const ratio = Math.max(NOISE_MS, computeP99(ten)) / Math.max(NOISE_MS, computeP99(one));
  return { operationId: year.operationId, year: one, decade: ten, ratio };
}

async function time({ url, headers }: Read, into: Timed): Promise<void> {
  const startedAt = performance.now();
  const response = await fetch(url, { headers });
  into.bytes = (await response.arrayBuffer()).byteLength;
  into.ms.push(performance.now() - startedAt);
}

/** Median of the 99th percentiles of each hundred requests. */
function computeP99({ ms }: Timed): number {
  const parts = Array.from({ length: Math.ceil(ms.length / REQUESTS_OF_A_PERCENTILE) }, (_, index) =>
    ms.slice(index * REQUESTS_OF_A_PERCENTILE, (index + 1) * REQUESTS_OF_A_PERCENTILE),
  );
  return median(parts.map((part) => part.toSorted((a, b) => a - b)[Math.ceil(0.99 * part.length) - 1]));
}

function formatGrowth({ operationId, year, decade, ratio }: Growth): string {
  const pair = (of: (timed: Timed) => number) => `${of(year).toFixed(1)} -> ${of(decade).toFixed(1)}`;
  const cells = [pair(({ ms }) => median(ms)).padStart(16), pair(computeP99).padStart(16)];
  return `${operationId.padEnd(28)} ${cells.join(' ')} ${pair(({ bytes }) => bytes / 1_000).padStart(14)}  ${ratio.toFixed(2)}${ratio > GOAL_RATIO ? '  above the goal' : ''}`;
}

function toComparison(found: readonly Growth[]): Comparison {
  const p99 = (side: 'year' | 'decade') => found.map((growth) => computeP99(growth[side]));
  const above = found.filter(({ ratio }) => ratio > GOAL_RATIO).map(({ operationId }) => operationId);
  return {
    kind: 'time',
    work: `p99 of ${found.length} reads`,
    meaning: `ours: ten years, baseline: one, each above the goal measured again with up to ${REQUESTS_AGAIN} requests; above ${GOAL_RATIO} times: ${above.length === 0 ? 'none' : above.join(', ')}`,
    baseline: p99('year'),
    ours: p99('decade'),
    goalRatio: GOAL_RATIO,
  };
}
