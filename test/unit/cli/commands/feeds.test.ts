import { expect, it } from 'vitest';
import { parseFeedsCommand } from '../../../../src/cli/commands/feeds/command.ts';

it('takes archive, with or without --json', () => {
  expect(parseFeedsCommand(['archive'])).toEqual({ json: false });
  expect(parseFeedsCommand(['archive', '--json'])).toEqual({ json: true });
});

it.each([[['prices']], [['archive', 'more']], [['--json']]])('rejects %j', (args) => {
  expect(() => parseFeedsCommand(args)).toThrow();
});
