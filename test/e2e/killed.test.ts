import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { expectWholeRecord, startAndKill, untilWritten } from '../support/kills/killed-service.ts';
import { killProcessTree } from '../support/kills/process-tree.ts';
import { ownService } from '../support/service/own-service.ts';

const DAYS = 12;
const { dataDir, environment, start, get } = ownService(DAYS);

describe.skipIf(process.platform !== 'linux')('a demo whose processes are all killed (skipped outside Linux)', () => {
  it('continues from set-up, replay and a running service, with a whole record', async () => {
    const moments = [
      ...[/^Chain +ready/m, /^Page /m].map((pattern) => (output: () => string) => untilWritten(pattern, output)),
      (output: () => string) => untilWritten(/^Page /m, output).then(() => delay(1_500)),
    ];
    for (const moment of moments) await startAndKill(environment(), moment);
    const first = await start();
    const { predictions } = await get('/api/svc/scorecard');
    expect(predictions.length).toBeGreaterThanOrEqual(DAYS);
    killProcessTree(first.child.pid!);
    await first.ended;
    const second = await start();
    await expectWholeRecord(dataDir(), second.url);
    expect((await get('/api/svc/scorecard')).predictions.slice(-predictions.length)).toEqual(predictions);
  });
});
