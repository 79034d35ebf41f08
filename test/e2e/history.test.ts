import { readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { removeFolder } from '../support/docs/folders.ts';
import { describeWithShared, sharedPath } from '../support/record/shared.ts';
import { type RunningService, startService } from '../support/service/running-service.ts';
import { selfTestAnswers } from '../support/service/self-tests.ts';

const DAYS = 30;

describeWithShared('a replay of real history', () => {
  let dataDir: string;
  let running: RunningService;

  beforeAll(async () => {
    dataDir = await mkdtemp(join(tmpdir(), 'oracle-e2e-'));
    running = await startService({ DATA_DIR: dataDir, REPLAY_DAYS: String(DAYS), FEEDS: `csv:${sharedPath('data')}` });
  });
  afterAll(async () => {
    running.child.kill('SIGTERM');
    await running.ended;
    await removeFolder(dataDir);
  });

  // biome-ignore lint/suspicious/noExplicitAny: bodies are what is tested
  const get = async (path: string): Promise<any> => (await fetch(`${running.url}${path}`)).json();

  it('ends with the last day of the folder, and everything after waits and says why', async () => {
    const { predictions, source } = await get('/api/svc/scorecard?horizon=7&limit=1000');
    expect(source).toBe('csv:data');
    expect(predictions).toHaveLength(DAYS);
    expect(predictions[0]).toMatchObject({ date: '2026-08-20', status: 'PENDING', signal: 'GATED' });
    expect(predictions.at(-1)).toMatchObject({ date: '2026-07-22', replayed: true });
    const { record, steps, market } = await get('/api/status');
    expect(record).toMatchObject({ lastDay: '2026-08-20', forecasts: { VOID: 0 } });
    expect(market.coverage.to).toBe('2026-08-20');
    expect(steps.find(({ step }: { step: string }) => step === 'resolve')).toMatchObject({
      state: 'waiting',
      reason: expect.stringContaining('2026-08-21'),
    });
  });

  it('measures outcomes by the closes of the folder', async () => {
    const closes = new Map(
      readFileSync(sharedPath('data/btc_daily.csv'), 'utf8')
        .trim()
        .split('\n')
        .slice(1)
        .map((line) => line.split(','))
        .map((cells): [string, number] => [cells[0], Number(cells[7])]),
    );
    const dayAfter = (date: string, days: number) => new Date(Date.parse(date) + days * 86_400_000).toISOString().slice(0, 10);
    for (const horizon of [1, 2, 3, 7]) {
      const { predictions } = await get(`/api/svc/scorecard?horizon=${horizon}&limit=1000`);
      const resolved = predictions.filter(({ resolutionUid }: { resolutionUid: string | null }) => resolutionUid !== null);
      expect(resolved).toHaveLength(DAYS - horizon);
      for (const { date, direction, status, btcAtSignal, btcAtResolution } of resolved) {
        const [from, to] = [closes.get(date)!, closes.get(dayAfter(date, horizon))!];
        expect(btcAtSignal).toBeCloseTo(from, 2);
        expect(btcAtResolution).toBeCloseTo(to, 2);
        if (status !== 'HOLD') expect(status).toBe((direction === 'UP') === to > from ? 'WIN' : 'LOSS');
      }
    }
  });

  it('has tested itself on all of it: 19 folds, no leak, and nothing is due after its end', async () => {
    const [status, walk, contamination, stability, comparison] = await selfTestAnswers(get);
    expect([status.overdue, status.selfReport.report.record.replayed]).toEqual([[], 5]);
    for (const answer of [walk, contamination, stability, comparison]) {
      expect(answer).toMatchObject({ success: true, source: 'csv:data', simulated: false, nextDueAt: null, overdue: false });
    }
    expect(walk).toMatchObject({ date: '2026-08-21', lastDay: '2026-08-20', report: { folds: 19, note: null, healthy: true } });
    // The first Sunday after the last day.
    expect(contamination).toMatchObject({ date: '2026-08-23', lastDay: '2026-08-20', report: { folds: 19, healthy: true } });
    expect(stability).toMatchObject({ result: 'MODERATE' });
    expect(comparison.report.quotesAreOurs).toBe(true);
  });
});
