import { describe, expect, it } from 'vitest';
import { parsePipelineCommand } from '../../../src/cli/pipeline.ts';
import { parseDay } from '../../../src/forecast/day.ts';

const today = parseDay('2026-08-20');

describe('parsePipelineCommand', () => {
  it('parses a step, and days for the steps of one day', () => {
    expect(parsePipelineCommand(['resolve'], today)).toEqual({ step: 'resolve', from: today, to: today, early: false });
    expect(parsePipelineCommand(['catch-up'], today)).toMatchObject({ step: 'catch-up' });
    expect(parsePipelineCommand(['signal', '2026-08-01', '2026-08-03', '--early'], today)).toEqual({
      step: 'signal',
      from: parseDay('2026-08-01'),
      to: parseDay('2026-08-03'),
      early: true,
    });
  });

  it.each([
    [['nothing'], 'step'],
    [['signal', 'yesterday'], 'date'],
    [['signal', '2026-02-30'], 'date'],
    [['signal', '2026-08-03', '2026-08-01'], 'last day'],
    [['signal', '2026-08-01', '2026-08-02', 'more'], 'arguments'],
    [['catch-up', '2026-08-01'], 'first day'],
    [['attest', '2026-08-01'], 'first day'],
    [['wager', '--early'], '--early'],
  ])('rejects %j and names "%s"', (words, field) => {
    expect(() => parsePipelineCommand(words, today)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
  });
});
