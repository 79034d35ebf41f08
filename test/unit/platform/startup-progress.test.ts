import { describe, expect, it } from 'vitest';
import { createStartupProgress, formatStartupStep } from '../../../src/platform/progress.ts';

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
