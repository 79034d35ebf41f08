import { describe, expect, it } from 'vitest';
import { parseCommand } from '../../src/reconcile-command.ts';

describe('npm run reconcile', () => {
  it('reads where to begin, and the form of its answer', () => {
    expect(parseCommand([])).toEqual({ from: null, json: false });
    expect(parseCommand(['--json', '--from', '12'])).toEqual({ from: 12n, json: true });
  });

  it.each([['--from', 'x'], ['--from', '-1'], ['--from'], ['--fix'], ['everything']])('refuses %s %s', (...words) => {
    expect(() => parseCommand(words.filter((word) => word !== undefined))).toThrow(expect.objectContaining({ code: 'INPUT_INVALID' }));
  });
});
