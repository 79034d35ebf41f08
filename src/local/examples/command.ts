import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { recordExamples } from './record.ts';
import { startServiceProcess } from './service-process.ts';
import { openWorld, type World } from './world.ts';

const FILE = resolve(import.meta.dirname, '../../http/openapi/examples.json');

/** Records the examples of the reference from a service of their own: what `npm run docs:examples` starts. */
export async function main(environment: Record<string, string>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-examples-'));
  const service = await startServiceProcess(dataDir, environment);
  try {
    const world = openWorld({ ...service, nowMs: Date.now });
    await selfTestsDone(world);
    const examples = await recordExamples(world);
    await writeFile(FILE, `${JSON.stringify(examples, null, 2)}\n`);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const LOOK_MS = 1_000;

/** On a busy machine self-tests are still computed when everything else is ready. */
async function selfTestsDone(world: World): Promise<void> {
  for (;;) {
    const { tests }: { tests: { state: string }[] } = await world.json('/api/self-test/status');
    if (tests.every(({ state }) => state !== 'waiting')) return;
    await delay(LOOK_MS);
  }
}
