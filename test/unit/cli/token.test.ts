import { expect, it } from 'vitest';
import { parseTokenCommand } from '../../../src/cli/token.ts';

it('parses the wallet and the URL of the service', () => {
  expect(parseTokenCommand(['premium'])).toEqual({ wallet: 'premium', url: undefined });
  expect(parseTokenCommand(['basic', '--url', 'http://127.0.0.1:3001'])).toEqual({ wallet: 'basic', url: 'http://127.0.0.1:3001' });
  expect(parseTokenCommand(['--url=https://oracle.example', 'buyer'])).toEqual({ wallet: 'buyer', url: 'https://oracle.example' });
});

it.each([
  [['gold'], 'wallet'],
  [['--url', 'http://127.0.0.1:3001'], 'wallet'],
  [['basic', 'premium'], 'arguments'],
  [['basic', '--ur', 'x'], '--ur'],
  [['basic', '--url'], '--url'],
  [['basic', '--url', 'localhost:3000'], '--url'],
  [['basic', '--url', 'file:///etc/passwd'], '--url'],
])('rejects %j and names %s', (args, field) => {
  expect(() => parseTokenCommand(args)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
});
