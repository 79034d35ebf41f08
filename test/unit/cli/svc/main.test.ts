import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { COMMANDS, runCli } from '../../../../src/cli/svc/main.ts';
import { OPERATOR_COMMANDS } from '../../../../src/cli/svc.ts';
import { DEMO_WALLETS } from '../../../../src/dev/demo.ts';
import { cli } from '../../../support/service/cli.ts';

const ALL_COMMANDS = [...COMMANDS, ...OPERATOR_COMMANDS];

describe('svc', () => {
  it('lists its commands and examples when called without arguments', async () => {
    const { code, out } = await cli([]);
    expect(code).toBe(0);
    for (const { name, summary } of COMMANDS) expect(out).toMatch(new RegExp(`^  ${name} +${summary}$`, 'm'));
    expect(out).toMatch(/^Example:\n {2}svc signal /);
    expect((await cli(['--help'])).out).toBe(out);
  });

  it('prints its version', async () => {
    expect(await cli(['--version'])).toEqual({ code: 0, out: '0.0.0-test\n', err: '' });
  });

  it.each(COMMANDS.map(({ name }) => name))(
    'prints the help of %s for --help and help, in lines of at most 140 characters',
    async (name) => {
      const { code, out } = await cli([name, '--help']);
      expect(code).toBe(0);
      expect(out).toMatch(new RegExp(`^Example:\n {2}(?:.* )?svc ${name}\\b[^]*\n\nUsage: svc ${name}\\b`));
      expect((await cli(['help', name])).out).toBe(out);
      for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(140);
    },
  );

  it('lists the wallets of the demo deployment in the help of --wallet', async () => {
    const choices = DEMO_WALLETS.map((name) => `"${name}"`).join(', ');
    expect((await cli(['login', '--help'])).out.replaceAll(/\s+/g, ' ')).toContain(`(choices: ${choices})`);
  });

  it.each([
    ['signl', 'Did you mean signal?'],
    ['verfy', 'Did you mean verify?'],
    ['loginn', 'Did you mean login?'],
    ['frobnicate', 'Commands: signal, range, size, scorecard,'],
  ])('rejects the unknown command %s: %s', async (word, hint) => {
    const { code, out, err } = await cli([word]);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(`${word} is unknown`);
    expect(err).toContain(hint);
  });

  it.each([
    [['signal', '--horizn', '3d'], '--horizn: is unknown', 'Did you mean --horizon?'],
    [['signal', '--horizon'], '--horizon: needs a value', '--help'],
    [['signal', '--token', '--json'], '--token: needs a value', '--help'],
    [['--frobnicate'], '--frobnicate: is unknown', '--help'],
    [['signal', '--horizon', '4d'], '--horizon: must be one of 1d, 2d, 3d, 7d', '--help'],
    [['scorecard', '--horizon', '4d'], '--horizon: must be one of 1d, 2d, 3d, 7d', '--help'],
    [['signal', 'today'], 'arguments: ', '--help'],
    [['range', '--horizon', '4d'], '--horizon: must be one of 1d, 2d, 3d, 7d', '--help'],
    [['size', '--account', '10000'], '--risk: is missing', ''],
    [['size', '--risk', '1%'], '--account: is missing', ''],
    [['size', '--risk', '0%', '--account', '10000'], '--risk: must be a number above 0 and at most 100', '--help'],
    [['size', '--risk', '101', '--account', '10000'], '--risk: must be a number above 0 and at most 100', '--help'],
    [['size', '--risk', '1', '--account', '1e4'], '--account: must be a number above 0', '--help'],
    [['signal', '--url', 'ftp://x'], '--url: must be an http(s) URL', '--help'],
    [['signal', '--url', 'http://u:pass@x'], '--url: must be a URL without user', '--help'],
    [['signal', '--token', 'Bearer x'], '--token: must be an access token', '--help'],
    [['verify'], 'id: is missing', '--help'],
    [['verify', '2026-02-30:7d'], 'id: 2026-02-30 is not a day', '--help'],
    [['verify', '2026-02-20:4d'], 'id: must be a uid', '--help'],
    [['verify', 'latest', '--attester', '0x12'], '--attester: must be an address', '--help'],
    [['watch', '--since', '-1'], '--since', ''],
    [['watch', '--since', 'yesterday'], '--since: must be an event id', '--help'],
    [['pay', 'everything'], 'what: must be one of signal, premium', '--help'],
    [['pay', '--max-usd', '1e3'], '--max-usd: must be an amount', '--help'],
    [['login'], 'PRIVATE_KEY: is not set', '--key-file or --wallet'],
    [['login', '--wallet', 'basic'], '--wallet: requires the folder of a demo deployment', 'Use PRIVATE_KEY'],
    [['login', '--key-file', '/nowhere/key'], '--key-file: /nowhere/key cannot be read (ENOENT)', '--help'],
    [['audit', '--rpc', 'localhost'], '--rpc: must be an http(s) URL', '--help'],
  ])('exits with 2 for %j and names the option', async (words, problem, hint) => {
    const { code, out, err } = await cli(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toContain(problem);
    expect(err).toContain(hint);
  });

  it('never prints an invalid key, nor the value of an unknown option', async () => {
    const environment = { PRIVATE_KEY: 'hunter2-hunter2' };
    const { code, err } = await cli(['login'], { environment });
    expect(code).toBe(2);
    expect(err).toContain('PRIVATE_KEY: must contain a private key');
    expect(err).not.toContain('hunter2');
    const zero = await cli(['login'], { environment: { PRIVATE_KEY: `0x${'0'.repeat(64)}` } });
    expect(zero).toMatchObject({ code: 2, err: expect.stringContaining('contains an invalid private key') });
    expect((await cli(['signal', '--tokn=hunter2'])).err).not.toContain('hunter2');
  });

  it.each(ALL_COMMANDS.map(({ name }) => name))('%s accepts --json', async (name) => {
    const { options } = await ALL_COMMANDS.find((one) => one.name === name)!.load();
    expect(options.map(([flags]) => flags)).toContain('--json');
  });

  it.each([
    [['signal', '--json', '--horizn', '3d'], '--horizn'],
    [['signal', '--json', '--horizon', '4d'], '--horizon'],
    [['verify', '--json'], 'id'],
    [['frobnicate', '--json'], 'command'],
    [['login', '--json'], 'PRIVATE_KEY'],
    [['audit', '--json', '--rpc', 'localhost'], '--rpc'],
    [['dataset', '--json', '--table', 'scores'], '--out'],
  ])('prints the usage error of %j as one JSON document on standard error', async (words, field) => {
    const { code, out, err } = await cli(words);
    expect({ code, out }).toEqual({ code: 2, out: '' });
    expect(err).toMatch(/^\{.*\}\n$/);
    expect(JSON.parse(err)).toEqual({
      ...{ code: 'INPUT_INVALID', field, message: expect.stringContaining(field), suggestedAction: expect.any(String) },
      ...{ retryable: false, retryAfterSeconds: null },
    });
  });

  it('prints an unexpected error as JSON, without the URL of an endpoint', async () => {
    const entry = { name: 'broken', summary: 'x', load: () => Promise.reject(new Error('no answer of https://rpc.example/secret')) };
    let err = '';
    const context = { ...{ out: { write: () => {} }, err: { write: (text: string) => (err += text) } }, environment: {}, version: '1' };
    const more = { prompt: null, now: () => new Date(), createInterruptSignal: () => new AbortController().signal };
    expect(await runCli(['broken', '--json'], { ...context, ...more }, [entry])).toBe(1);
    expect(JSON.parse(err)).toMatchObject({ code: 'INTERNAL', message: 'Error: no answer of <endpoint>', field: null });
  });

  it('has a row for each command in docs/CLI.md, in the same order', () => {
    const text = readFileSync(new URL('../../../../docs/CLI.md', import.meta.url), 'utf8');
    const rows = [...text.matchAll(/^\| `(\w+)( <id>)?` +\|/gm)].map(([, name]) => name);
    expect(rows).toEqual(ALL_COMMANDS.map(({ name }) => name));
  });
});
