import { describe, expect, it } from 'vitest';
import { createProgressBar, createStartupProgress, formatStartupStep } from '../../../src/platform/progress.ts';

function bar(isTTY: boolean) {
  const written: string[] = [];
  let ms = 1_000;
  const progress = createProgressBar('Replaying', { output: { isTTY, write: (text) => written.push(text) }, clock: () => ms });
  return {
    ...{ written, progress },
    pass: (passedMs: number) => {
      ms += passedMs;
    },
  };
}

describe('the progress of long work', () => {
  it('is one line on a terminal, which is written over, with the time that is left at the pace so far', () => {
    const { written, progress, pass } = bar(true);
    progress.update(1, 5, '2026-01-01');
    pass(1_500);
    progress.update(2, 5, '2026-01-02');
    pass(500);
    progress.update(5, 5, '2026-01-05');
    progress.end();
    expect(written).toEqual([
      '\rReplaying [######........................] 1/5 2026-01-01\x1b[K',
      '\rReplaying [############..................] 2/5 2026-01-02, about 5 s left\x1b[K',
      '\rReplaying [##############################] 5/5 2026-01-05\x1b[K',
      '\n',
    ]);
  });

  it('is a line each tenth elsewhere', () => {
    const { written, progress, pass } = bar(false);
    for (let done = 1; done <= 40; done++) {
      progress.update(done, 40, 'a day');
      pass(60_000);
    }
    progress.end();
    expect(written).toHaveLength(11);
    expect(written.every((line) => /^Replaying \[[#.]{30}\] \d+\/40 a day(?:, about \d+ min left)?\n$/.test(line))).toBe(true);
    expect(written[1]).toContain('about 36 min left');
    expect(written.at(-1)).not.toContain('left');
  });

  it('counts the pace of what goes on from where an earlier run ended', () => {
    const { written, progress, pass } = bar(true);
    progress.update(300, 360, '');
    pass(30_000);
    progress.update(330, 360, '');
    expect(written[1]).toContain('about 30 s left');
  });
});
describe('a start', () => {
  it('says what it is at, how much of it is done, and nothing once it is complete', () => {
    const setup = createStartupProgress('opening');
    expect([setup.current, formatStartupStep(setup)]).toEqual([{ what: 'opening', done: null, total: null }, 'opening']);
    setup.startStep('replaying days of history', { done: 0, total: 12 });
    expect([setup.current, formatStartupStep(setup)]).toEqual([
      { what: 'replaying days of history', done: 0, total: 12 },
      'replaying days of history: 0 of 12',
    ]);
    setup.startStep('catching up');
    expect(setup.current).toEqual({ what: 'catching up', done: null, total: null });
    setup.complete();
    expect([setup.current, formatStartupStep(setup)]).toEqual([null, null]);
  });

  it('prints each completed stage with its outcome', async () => {
    const lines: string[] = [];
    const setup = createStartupProgress('starting', (line) => lines.push(line));
    expect(await setup.runStage('Database', async () => 7, 'ready')).toBe(7);
    expect(
      await setup.runStage(
        'Chain',
        async () => ['eas'],
        (contracts) => `ready, ${contracts.length} contract deployed`,
      ),
    ).toEqual(['eas']);
    expect(lines).toEqual([
      expect.stringMatching(/^Database {4}ready in \d+\.\d s$/),
      expect.stringMatching(/^Chain {7}ready, 1 contract deployed in \d+\.\d s$/),
    ]);
  });

  it('prints nothing for a failed stage', async () => {
    const lines: string[] = [];
    const setup = createStartupProgress('starting', (line) => lines.push(line));
    await expect(setup.runStage('Chain', () => Promise.reject(new Error('no anvil')), 'ready')).rejects.toThrow('no anvil');
    expect(lines).toEqual([]);
  });
});
