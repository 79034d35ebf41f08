import { setTimeout as delay } from 'node:timers/promises';
import { expect } from 'vitest';
import { HARDLY_LIMITED, spawnNode } from '../service/service.ts';
import { killProcessTree } from './process-tree.ts';

type Environment = Record<string, string>;

const EXIT_PENDING = 3;
/** Payments whose process died are booked by a job of every minute. */
const BOOKING_TIMEOUT_MS = 150_000;

/** Starts the service and kills it with database and chain once `when` resolves; resolves to what it was at. */
export async function startAndKill(environment: Environment, when: (output: () => string) => Promise<unknown>): Promise<string> {
  const { child, ended } = spawnNode(['bin/start.mjs'], { PORT: '0', FEEDS: 'simulated', ...HARDLY_LIMITED, ...environment });
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (text: string) => (output += text));
  const early = ended.then(({ output: all }) => Promise.reject(new Error(`it ended by itself: ${all}`)));
  await Promise.race([when(() => output), early]);
  killProcessTree(child.pid!);
  early.catch(() => {});
  await ended;
  return describePhase(output);
}

export async function untilWritten(pattern: RegExp, output: () => string): Promise<void> {
  while (!pattern.test(output())) await delay(10);
}

function describePhase(output: string): string {
  if (output.includes('is up:')) return 'running';
  const replayed = output.match(/\d+\/\d+ \d{4}-\d\d-\d\d/g)?.at(-1);
  if (replayed !== undefined) return `replaying, ${replayed}`;
  return /^Page /m.test(output) ? 'replaying' : 'setting up';
}

/** The audit agrees with the record of a running service, and the ledger of payments with the chain. */
export async function expectWholeRecord(dataDir: string, url: string): Promise<void> {
  const environment = { DATA_DIR: dataDir, FEEDS: 'simulated', PORT: new URL(url).port };
  const audit = await spawnNode(['bin/audit.mjs'], environment).ended;
  expect(audit.code, audit.output).toBe(0);
  for (const deadline = Date.now() + BOOKING_TIMEOUT_MS; ; await delay(5_000)) {
    const { code, output } = await spawnNode(['bin/reconcile.mjs'], environment).ended;
    if (code === EXIT_PENDING && Date.now() < deadline) continue;
    expect(code, output).toBe(0);
    return;
  }
}
