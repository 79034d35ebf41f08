import { describe, expect, it } from 'vitest';
import { parseReconcileCommand } from '../../../src/cli/reconcile.ts';

describe('parseReconcileCommand', () => {
  it('parses the first block and the output format', () => {
    expect(parseReconcileCommand([])).toEqual({ from: null, json: false });
    expect(parseReconcileCommand(['--json', '--from', '12'])).toEqual({ from: 12n, json: true });
  });

  it.each([['--from', 'x'], ['--from', '-1'], ['--from'], ['--fix'], ['everything']])('rejects %s %s', (...words) => {
    expect(() => parseReconcileCommand(words.filter((word) => word !== undefined))).toThrow(
      expect.objectContaining({ code: 'INPUT_INVALID' }),
    );
  });
});
