import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { createExampleClient, type ExampleClient } from './example-client.ts';
import { recordExamples } from './record-examples.ts';
import { startServiceProcess } from './service-process.ts';

const FILE = resolve(import.meta.dirname, '../../transports/http/openapi/examples.json');

/** `npm run docs:examples` */
export async function writeExamples(environment: Record<string, string>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-examples-'));
  const service = await startServiceProcess(dataDir, environment);
  try {
    const client = createExampleClient({ ...service, nowMs: Date.now });
    await waitForSelfTests(client);
    const examples = await recordExamples(client);
    await writeFile(FILE, `${JSON.stringify(examples, null, 2)}\n`);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}

const POLL_MS = 1_000;

/** Self-tests may still run when everything else is ready. */
async function waitForSelfTests(client: ExampleClient): Promise<void> {
  for (;;) {
    const { tests }: { tests: { state: string }[] } = await client.requestJson('/api/self-test/status');
    if (tests.every(({ state }) => state !== 'waiting')) return;
    await delay(POLL_MS);
  }
}
