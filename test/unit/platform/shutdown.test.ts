import { expect, it } from 'vitest';
import { createLog } from '../../../src/platform/log.ts';
import { createShutdown } from '../../../src/platform/shutdown.ts';

const log = createLog({ level: 'silent', secrets: [] });

it('closes parts in the reverse order of their registration, once', async () => {
  const shutdown = createShutdown({ log });
  const closed: string[] = [];
  for (const name of ['database', 'chain', 'server']) shutdown.onStop(name, () => void closed.push(name));
  expect(await Promise.all([shutdown.stop('test'), shutdown.stop('again')])).toEqual([[], []]);
  expect(closed).toEqual(['server', 'chain', 'database']);
  expect(shutdown.signal.aborted).toBe(true);
});

it('goes on past a part that fails or hangs, and names both', async () => {
  const shutdown = createShutdown({ log, timeoutMs: 50 });
  const closed: string[] = [];
  shutdown.onStop('database', () => void closed.push('database'));
  shutdown.onStop('hanging', () => new Promise(() => {}));
  shutdown.onStop('failing', () => Promise.reject(new Error('no')));
  expect(await shutdown.stop('test')).toEqual(['failing', 'hanging']);
  expect(closed).toEqual(['database']);
});
