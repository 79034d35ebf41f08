import { expect, it } from 'vitest';
import { parseMcpCommand } from '../../../src/cli/mcp.ts';

it('parses the URL of the service and the credentials', () => {
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
  [['--token'], '--token'],
  [['--wallet', 'poor'], '--wallet'],
  [['--wallet', 'basic', '--token', 'secret'], '--wallet'],
  [['secret'], 'arguments'],
  [['--tokn', 'secret'], '--tokn'],
  [['--tokn=secret'], '--tokn'],
])('rejects %j, names %s and repeats no secret', (words, field) => {
  const rejected = (() => {
    try {
      parseMcpCommand(words);
    } catch (error) {
      return error as Error;
    }
  })();
  expect(rejected).toMatchObject({ code: 'INPUT_INVALID', field });
  expect(rejected!.message).not.toContain('secret');
});
