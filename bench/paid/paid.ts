import { execFileSync } from 'node:child_process';
import { resolve } from 'node:path';
import { SERVICE_FLAGS } from '../../test/support/service/running-service.ts';
import { type Benchmark, type BenchOptions, type Child, type Comparison, startChild } from '../lib.ts';
import type { PaidClientAnswers } from './client-process.ts';
import type { FacilitatorAnswers } from './facilitator-process.ts';
import type { PaidServiceAnswers } from './service-process.ts';

const ROOT = resolve(import.meta.dirname, '../..');
const PATH = '/oracle?horizon=7d';
const PAIRS_A_ROUND = 20;
/** Pairs that both sides run before anything counts. */
const WARM_UP_PAIRS = 40;
const GOAL_RATIO = 1.15;
/** Of Base. */
const BLOCK_MS = 2_000;
const PAIRS_WITH_BLOCKS = 7;

/** `remote`: both sides use one stock facilitator. `own`: ours settles by itself, as without `X402_FACILITATOR_URL`. */
type FacilitatorMode = 'remote' | 'own';

const MEANINGS: Record<FacilitatorMode, string> = {
  remote: 'from a signed payment to its whole answer; both sides use the same stock facilitator over HTTP',
  own: 'the same with the facilitator of the service itself, which settles in its process',
};

/** What exactly-once sales, ledger and receipts add to the time of a payment. */
export const PAID: Benchmark = {
  name: 'paid',
  what: `GET ${PATH} paid by x402 on an instant local chain, against the same handler behind @x402/express`,
  async run(options) {
    execFileSync(process.execPath, ['bin/dev/install-package.mjs', 'bench/paid'], { cwd: ROOT, stdio: 'inherit' });
    return [...(await compare('remote', options)), ...(await compare('own', options))];
  },
};

interface Market {
  urls: readonly [baseline: string, ours: string];
  service: Child<PaidServiceAnswers>;
  client: Child<PaidClientAnswers>;
}

/** Milliseconds of each purchase, of both sides. */
interface Side {
  ms: number[];
  cpuMs: number[];
}

async function compare(mode: FacilitatorMode, { rounds, report }: BenchOptions): Promise<Comparison[]> {
  const facilitator = await startChild<FacilitatorAnswers>('paid/facilitator-process.ts');
  const service = await startChild<PaidServiceAnswers>('paid/service-process.ts', [await facilitator.ask('url'), mode], SERVICE_FLAGS);
  const client = await startChild<PaidClientAnswers>('paid/client-process.ts');
  try {
    const chain = await service.ask('chain');
    await facilitator.ask('connect', chain);
    const market: Market = { urls: [await service.ask('stockUrl'), `${await service.ask('url')}${PATH}`], service, client };
    report(`  ${rounds * PAIRS_A_ROUND} pairs of payments, one at a time, facilitator: ${mode}`);
    await buyPairs(market, WARM_UP_PAIRS);
    const instant = toComparisons(MEANINGS[mode], mode, await buyPairs(market, rounds * PAIRS_A_ROUND));
    if (mode === 'own') return instant;
    report(`  ${PAIRS_WITH_BLOCKS} pairs of payments on a chain with a block every ${BLOCK_MS} ms`);
    await facilitator.ask('connect', { ...chain, blockMs: BLOCK_MS });
    return [...instant, toBlockComparison(await buyPairs(market, PAIRS_WITH_BLOCKS))];
  } finally {
    await service.ask('stop');
    await Promise.all([facilitator, service, client].map((child) => child.end()));
  }
}

/** Neither side always follows the other. */
async function buyPairs({ urls, service, client }: Market, pairs: number): Promise<[baseline: Side, ours: Side]> {
  const buyer = await service.ask('buyer');
  const sides: [Side, Side] = [
    { ms: [], cpuMs: [] },
    { ms: [], cpuMs: [] },
  ];
  for (let index = 0; index < pairs; index++) {
    for (const side of index % 2 === 0 ? [0, 1] : [1, 0]) {
      const cpuBefore = await service.ask('cpuMs');
      sides[side].ms.push(await client.ask('buy', { url: urls[side], buyer }));
      sides[side].cpuMs.push((await service.ask('cpuMs')) - cpuBefore);
    }
  }
  return sides;
}

function toComparisons(meaning: string, mode: FacilitatorMode, [baseline, ours]: [Side, Side]): Comparison[] {
  const goalRatio = mode === 'remote' ? GOAL_RATIO : undefined;
  const p99 = { baseline: [percentile(baseline.ms, 0.99)], ours: [percentile(ours.ms, 0.99)] };
  const cpuMeaning = 'of the process of both servers, with the unpaid request; without database, chain and remote facilitator';
  return [
    { kind: 'time', work: 'a paid request', meaning, baseline: baseline.ms, ours: ours.ms, goalRatio },
    { kind: 'time', work: 'the slowest paid request in a hundred', meaning, ...p99, goalRatio },
    { kind: 'time', work: 'CPU time of a purchase', meaning: cpuMeaning, baseline: baseline.cpuMs, ours: ours.cpuMs },
  ];
}

function toBlockComparison([baseline, ours]: [Side, Side]): Comparison {
  const work = `a paid request on a chain with a block every ${BLOCK_MS} ms`;
  const meaning = 'from a signed payment to its whole answer; the facilitator sends its transaction at the next block, one confirmation';
  return { kind: 'time', work, meaning, baseline: baseline.ms, ours: ours.ms };
}

function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))];
}
