import { setTimeout as delay } from 'node:timers/promises';
import { type CommandRun, HARDLY_LIMITED, spawnNode } from './service.ts';

export interface RunningService extends CommandRun {
  /** Where it answers. */
  url: string;
  /** Everything it has written so far. */
  output(): string;
}

const POLL_MS = 25;
/** As in `npm start` and the Dockerfile. */
export const SERVICE_FLAGS = ['--max-semi-space-size=16'];

/** The service as a user starts it, on a free port; resolves once it is ready. Rejects with its output when it ends before. */
export async function startService(environment: Record<string, string>): Promise<RunningService> {
  const run = spawnNode([...SERVICE_FLAGS, 'bin/start.mjs'], { PORT: '0', FEEDS: 'simulated', ...HARDLY_LIMITED, ...environment });
  let output = '';
  for (const stream of [run.child.stdout!, run.child.stderr!]) {
    stream.on('data', (text: string) => {
      output += text;
    });
  }
  const ended = run.ended.then(({ output: all }) => Promise.reject(new Error(`it ended: ${all}`)));
  const url = await Promise.race([ended, banner(() => output)]);
  return { ...run, url, output: () => output };
}

/** The address in the banner, which comes when everything is up. */
async function banner(output: () => string): Promise<string> {
  for (;;) {
    const [, url] = /is up: (http:\S+)/.exec(output()) ?? [];
    if (url !== undefined) return url;
    await delay(POLL_MS);
  }
}
