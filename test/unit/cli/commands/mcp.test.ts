import { expect, it } from 'vitest';
import { parseMcpCommand } from '../../../../src/cli/commands/mcp.ts';

it('reads where the service is and who calls', () => {
  expect(parseMcpCommand([])).toEqual({ url: undefined, token: undefined, wallet: undefined });
  expect(parseMcpCommand(['--url=https://oracle.example/base', '--token', 'a.b.c'])).toMatchObject({
    url: 'https://oracle.example/base',
    token: 'a.b.c',
  });
  expect(parseMcpCommand(['--wallet', 'basic'])).toMatchObject({ wallet: 'basic' });
});

it.each([
  [['--url', 'localhost:3000'], '--url'],
  [['--url', 'file:///etc/passwd'], '--url'],
  [['--url', 'http://user:secret@127.0.0.1:3000'], '--url'],
  [['--url', 'http://127.0.0.1:3000/?token=secret'], '--url'],
  [['--token', 'Bearer secret'], '--token'],
  [['--token', 'secret\r\nX-Header: 1'], '--token'],
  [['--token'], 'arguments'],
  [['--wallet', 'poor'], '--wallet'],
  [['--wallet', 'basic', '--token', 'secret'], '--wallet'],
  [['secret'], 'arguments'],
  [['--tokn', 'secret'], 'arguments'],
])('refuses %j, naming %s, and repeats no secret', (words, field) => {
  const refused = (() => {
    try {
      parseMcpCommand(words);
    } catch (error) {
      return error as Error;
    }
  })();
  expect(refused).toMatchObject({ code: 'INPUT_INVALID', field });
  expect(refused!.message).not.toContain('secret');
});
