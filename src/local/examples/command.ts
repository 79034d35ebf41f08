import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { recordExamples } from './record.ts';
import { startServiceProcess } from './service-process.ts';
import { openWorld } from './world.ts';

const FILE = resolve(import.meta.dirname, '../../http/openapi/examples.json');

/** Records the examples of the reference from a service of their own: what `npm run docs:examples` starts. */
export async function main(environment: Record<string, string>): Promise<void> {
  const dataDir = await mkdtemp(join(tmpdir(), 'oracle-examples-'));
  const service = await startServiceProcess(dataDir, environment);
  try {
    const examples = await recordExamples(openWorld({ ...service, nowMs: Date.now }));
    await writeFile(FILE, `${JSON.stringify(examples, null, 2)}\n`);
  } finally {
    await service.stop();
    await rm(dataDir, { recursive: true, force: true });
  }
}
