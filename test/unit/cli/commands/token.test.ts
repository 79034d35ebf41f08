import { expect, it } from 'vitest';
import { parseTokenCommand } from '../../../../src/cli/commands/token.ts';

it('reads the wallet and where the service is', () => {
  expect(parseTokenCommand(['premium'])).toEqual({ wallet: 'premium', url: undefined });
  expect(parseTokenCommand(['basic', '--url', 'http://127.0.0.1:3001'])).toEqual({ wallet: 'basic', url: 'http://127.0.0.1:3001' });
  expect(parseTokenCommand(['--url=https://oracle.example', 'buyer'])).toEqual({ wallet: 'buyer', url: 'https://oracle.example' });
});

it.each([
  [['gold'], 'wallet'],
  [['--url', 'http://127.0.0.1:3001'], 'wallet'],
  [['basic', 'premium'], 'arguments'],
  [['basic', '--ur', 'x'], 'arguments'],
  [['basic', '--url'], 'arguments'],
  [['basic', '--url', 'localhost:3000'], '--url'],
  [['basic', '--url', 'file:///etc/passwd'], '--url'],
])('refuses %j, naming %s', (words, field) => {
  expect(() => parseTokenCommand(words)).toThrow(expect.objectContaining({ code: 'INPUT_INVALID', field }));
});
