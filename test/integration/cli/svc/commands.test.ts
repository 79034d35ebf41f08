import { mkdtemp, readdir, readFile, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openAudit } from '../../../../src/cli/audit.ts';
import { loadConfig } from '../../../../src/config.ts';
import { computePositionSize } from '../../../../src/forecast/move.ts';
import { loginToken } from '../../../support/auth/login.ts';
import { removeFolder } from '../../../support/docs/folders.ts';
import { type Served, serve } from '../../../support/http/serve.ts';
import { type CliOptions, cli, demoOf, plain } from '../../../support/service/cli.ts';
import { runPastDay, type TestService, testService, today } from '../../../support/service/service.ts';

const DAYS = 4;
/** Midnight may pass during the test. */
const TODAY = today();

let service: TestService;
let server: Served;
let home: string;
beforeAll(async () => {
  service = await testService(DAYS);
  for (let day = TODAY - DAYS; day < TODAY; day++) await runPastDay(service, day);
  await service.infrastructure.localChain!.followWallClock();
  service.progress.complete();
  server = await serve(service);
  await service.push.publish();
  home = await mkdtemp(join(tmpdir(), 'oracle-cli-'));
});
afterAll(async () => {
  await server.close();
  await service.stop();
  await removeFolder(home);
});

let environment: Record<string, string>;
beforeEach(async () => {
  // An empty configuration folder.
  environment = { SERVICE_URL: server.url, XDG_CONFIG_HOME: await mkdtemp(join(home, 'config-')), NO_COLOR: '1' };
});

/** Runs `npx svc` in the folder of the demo deployment. */
const svc = (words: string[], options: CliOptions = {}) => cli(words, { demo: demoOf(service), environment, ...options });
const onTerminal = { columns: 100 };
const sessions = () => join(environment.XDG_CONFIG_HOME, 'bitcoin-signal-oracle/sessions.json');
const keyOf = (name: string) => service.infrastructure.demo!.wallets[name]!.privateKey;

describe('svc signal', () => {
  it('prints GATED without a login, with a hint on a terminal', async () => {
    const { code, out } = await svc(['signal', '--horizon', '3d'], onTerminal);
    expect(code).toBe(0);
    expect(out).toMatch(/^BTC\/USD, 3 days: from \S+ 00:00 to \S+ 00:00 UTC\n/);
    expect(out).toMatch(/ {2}Size of move +(CALM|USUAL|WILD), \d\d?\.\d % for one beyond 5 %\n {2}Signal +GATED\n/);
    expect(out).toContain('To see it: svc login');
    expect(out).not.toMatch(/Direction|Confidence/);
  });

  it('prints the JSON of the service into a pipe', async () => {
    const { code, out, err } = await svc(['signal']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { horizons, ...newest } = JSON.parse(out);
    expect(newest).toMatchObject({ signal: 'GATED', direction: null, confidence: null, horizon: '7d' });
    expect(horizons.map(({ horizon }: { horizon: string }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    expect(horizons.at(-1)).toEqual(newest);
    expect((await svc(['signal', '--json'], onTerminal)).out).toBe(out);
    const { horizons: one, ...named } = JSON.parse((await svc(['signal', '--horizon', '2'])).out);
    expect(named).toMatchObject({ horizon: '2d' });
    expect(one).toEqual([named]);
  });

  it('prints all values with a token from the environment or an option', async () => {
    const token = await loginToken(service, 'basic');
    const revealed = await svc(['signal'], { environment: { ...environment, ORACLE_TOKEN: token } });
    expect(JSON.parse(revealed.out)).toMatchObject({ direction: expect.stringMatching(/UP|DOWN/), confidence: expect.any(Number) });
    const seen = await svc(['signal', '--horizon', '7d', '--token', token], onTerminal);
    expect(seen.out).toMatch(/ {2}Direction +(UP|DOWN)\n {2}Confidence +\d\d\.\d %\n/);
    expect(seen.out).toMatch(/ {2}Seen as +basic, 0x\w{40}\n/);
  });

  it('prints all horizons with range and record in one table without --horizon', async () => {
    const gated = await svc(['signal'], { columns: 120 });
    expect(gated.code, gated.err).toBe(0);
    for (const horizon of ['1d', '2d', '3d', '7d']) {
      expect(gated.out).toMatch(new RegExp(`^${horizon} +(CALM|USUAL|WILD), \\d\\d?\\.\\d % +[\\d,]+ to [\\d,]+ +GATED +- .* 00:00$`, 'm'));
    }
    expect(gated.out).toContain('To see it: svc login');
    const seen = await svc(['signal', '--token', await loginToken(service, 'basic')], { columns: 120 });
    expect(seen.out).toMatch(/^7d .* (BUY|SELL|HOLD) +(UP|DOWN) +\d\d\.\d % +/m);
    expect(seen.out).not.toContain('svc login');
    for (const line of (await svc(['signal'], { columns: 40 })).out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40);
  });

  it('reports a rejected token and what to do', async () => {
    const { code, out, err } = await svc(['signal', '--token', 'nonsense']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toMatch(/^UNAUTHENTICATED: /);
    expect(err).toContain('Log in with svc login.');
    expect(err).not.toContain('nonsense');
  });

  it('reports an error and a notice as JSON lines on standard error with --json', async () => {
    const rejected = await svc(['signal', '--json', '--token', 'nonsense'], onTerminal);
    expect(rejected).toMatchObject({ code: 1, out: '' });
    expect(JSON.parse(rejected.err)).toMatchObject({ code: 'UNAUTHENTICATED', suggestedAction: expect.stringContaining('svc login') });
    const file = join(environment.XDG_CONFIG_HOME, 'key');
    await writeFile(file, keyOf('basic'), { mode: 0o644 });
    const { code, out, err } = await svc(['login', '--json', '--key-file', file]);
    expect({ code, tier: JSON.parse(out).tier }).toEqual({ code: 0, tier: 'basic' });
    expect(JSON.parse(err)).toEqual({ notice: expect.stringContaining('Others can read') });
  });

  it('distinguishes an unreachable service from a foreign one', async () => {
    const nobody = await svc(['signal', '--url', 'http://127.0.0.1:9']);
    expect(nobody).toMatchObject({ code: 1, out: '' });
    expect(nobody.err).toMatch(/SERVICE_UNREACHABLE: The service at http:\/\/127\.0\.0\.1:9 does not answer\nStart it with npm start/);
    const other = await svc(['signal', '--url', service.infrastructure.rpcUrl]);
    expect(other).toMatchObject({ code: 1, out: '', err: expect.stringContaining('is not this service') });
  });
});

describe('svc range', () => {
  it('prints the ranges of all horizons, or of one, in one shape', async () => {
    const { code, out, err } = await svc(['range']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { horizons, ranges } = JSON.parse(out);
    expect(horizons.map(({ horizon }: { horizon: string }) => horizon)).toEqual(['1d', '2d', '3d', '7d']);
    expect(horizons.at(-1).ranges).toEqual(ranges);
    expect(JSON.parse((await svc(['range', '--horizon', '2d'])).out)).toMatchObject({
      horizon: '2d',
      horizons: [{ horizon: '2d', ranges: horizons[1].ranges }],
    });
  });

  it('prints a table with error bars on a terminal', async () => {
    const { out } = await svc(['range'], { columns: 120 });
    expect(out.match(/^\dd +(?:CALM|USUAL|WILD), \d\d?\.\d % +\S+ 00:00( +[\d,]+ to [\d,]+){3} +\|-+o-+\|$/gm)).toHaveLength(4);
    expect((await svc(['range', '--horizon', '3d'], onTerminal)).out.match(/^\dd /gm)).toEqual(['3d ']);
    for (const line of (await svc(['range'], { columns: 40 })).out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40);
  });
});

describe('svc size', () => {
  it('prints the stop and the position that the skill answers', async () => {
    const { code, out, err } = await svc(['size', '--risk', '1.5%', '--account', '10000', '--horizon', '1d']);
    expect({ code, err }).toEqual({ code: 0, err: '' });
    const { output } = JSON.parse(out);
    const risk = { riskPercent: 1.5, accountUsd: 10_000 };
    expect(output).toMatchObject({ horizon: '1d', sizing: computePositionSize(risk, { ...output.moveLimits, btcPrice: output.btcPrice }) });
    const printed = await svc(['size', '--risk', '1.5', '--account', '10000', '--horizon', '1d'], onTerminal);
    expect(printed.out).toContain(`${output.sizing.stopPercentLong.toFixed(2)} % below the entry`);
    expect(printed.out.trim()).toMatch(/No advice to\s+trade\.$/);
    for (const columns of [40, 100]) {
      const { out: narrow } = await svc(['size', '--risk', '100', '--account', '5'], { columns });
      expect(narrow).toContain('borrowing');
      for (const line of narrow.split('\n')) expect(line.length, line).toBeLessThanOrEqual(columns);
    }
  });
});

describe('svc scorecard', () => {
  it('prints the scores of all horizons with error bars, and their verdicts, without --horizon', async () => {
    const { code, out } = await svc(['scorecard'], onTerminal);
    const { byHorizon } = JSON.parse((await svc(['scorecard'])).out);
    expect(code).toBe(0);
    for (const { horizon, verdict, moveVerdict } of byHorizon) {
      expect(moveVerdict).toContain(`P(big move) at ${horizon}`);
      expect(out.replaceAll(/\s+/g, ' ')).toContain(moveVerdict);
      expect(out).toMatch(new RegExp(`^${horizon} +\\d`, 'm'));
      expect(out.replaceAll(/\s+/g, ' ')).toContain(` ${horizon} ${verdict}.`);
    }
    expect(out).not.toMatch(/^\d{4}-/m);
    for (const line of (await svc(['scorecard'], { columns: 40 })).out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40);
  });

  it('prints the verdict, intervals, all horizons and the newest rows', async () => {
    const { code, out } = await svc(['scorecard', '--horizon', '1d'], onTerminal);
    const { summary, moveSkill } = JSON.parse((await svc(['scorecard', '--horizon', '1d'])).out);
    expect(code).toBe(0);
    expect(moveSkill.replayed).toBe(moveSkill.n);
    expect(out).toMatch(new RegExp(`^Size of the move\\n {2}Big moves +\\S+ %? ?of ${moveSkill.n} days`, 'm'));
    for (const line of [/^ {2}By size +CALM /m, /^ {2}Four-year frequency +Brier .*; not proven$/m, /^ {2}EWMA +Brier .*; not proven$/m]) {
      expect(out).toMatch(line);
    }
    expect(out.replaceAll('\n', ' ')).toContain(`${summary.verdict}.`);
    expect(out).toMatch(new RegExp(` {2}Forecasts +${summary.totalPredictions}: ${summary.resolved} scored, ${summary.holds} HOLD`));
    for (const horizon of ['1d', '2d', '3d', '7d']) expect(out).toMatch(new RegExp(`^${horizon} +4 `, 'm'));
    expect(out.match(/^\d{4}-\d\d-\d\d {2}/gm)).toHaveLength(4);
    for (const line of out.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  });

  it('fits a narrow terminal', async () => {
    const { out } = await svc(['scorecard', '--horizon', '7d'], { columns: 40 });
    for (const line of out.split('\n')) expect(line.length, line).toBeLessThanOrEqual(40);
    expect(out).toMatch(/^\d{4}-\d\d-\d\d {2}GATED/m);
  });
});

describe('svc login', () => {
  it('stores the token with mode 0600 and does not print it', async () => {
    const { code, out, err } = await svc(['login', '--wallet', 'basic'], onTerminal);
    expect(code, err).toBe(0);
    const { token } = JSON.parse(await readFile(sessions(), 'utf8'))[server.url];
    expect(out).toMatch(/Tier +basic/);
    expect(out + err).not.toContain(token);
    expect((await stat(sessions())).mode & 0o777).toBe(0o600);
    expect((await stat(join(sessions(), '..'))).mode & 0o777).toBe(0o700);
    expect(await readdir(join(sessions(), '..'))).toEqual(['sessions.json']);
    expect(JSON.parse((await svc(['signal'])).out)).toMatchObject({ access: { tier: 'basic' } });
  });

  it('prints only the token into a pipe, and on a terminal with --print', async () => {
    const piped = await svc(['login', '--wallet', 'premium']);
    expect(piped.out).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+\n$/);
    expect(await service.appOptions.identify(`Bearer ${piped.out.trim()}`)).toMatchObject({ tier: 'premium' });
    const printed = await svc(['login', '--print'], { ...onTerminal, environment: { ...environment, PRIVATE_KEY: keyOf('premium') } });
    expect(printed.out).toMatch(/Token +[\w-]+\.[\w-]+\.[\w-]+\n/);
    const json = await svc(['login', '--json', '--wallet', 'basic'], onTerminal);
    expect(Object.keys(JSON.parse(json.out))).toEqual(['url', 'wallet', 'tier', 'expiresAt']);
  });

  it('reads a key file and warns when others can read it', async () => {
    const file = join(environment.XDG_CONFIG_HOME, 'key');
    await writeFile(file, `${keyOf('basic')}\n`, { mode: 0o644 });
    const { code, err } = await svc(['login', '--key-file', file]);
    expect(code).toBe(0);
    expect(err).toContain(`Others can read ${file}`);
    expect(err).not.toContain(keyOf('basic').slice(2));
  });

  it('reports the error of the service when a wallet has no tier', async () => {
    const { code, out, err } = await svc(['login', '--wallet', 'poor']);
    expect({ code, out }).toEqual({ code: 1, out: '' });
    expect(err).toContain('TIER_REQUIRED: ');
  });
});

describe('svc whoami and svc logout', () => {
  it('whoami prints the wallet, logout ends the session locally and at the service', async () => {
    const token = (await svc(['login', '--wallet', 'premium'])).out.trim();
    const { wallet } = JSON.parse((await svc(['whoami'])).out);
    expect(wallet).toBe(service.infrastructure.demo!.wallets.premium!.address);
    expect((await svc(['whoami'], onTerminal)).out).toMatch(/Tier +premium\n +Balance +1000000000 gate tokens at block \d+\n +Until/);
    expect(await svc(['logout'], onTerminal)).toMatchObject({ code: 0, out: `Logged out ${wallet} at ${server.url}.\n` });
    expect(JSON.parse(await readFile(sessions(), 'utf8'))).toEqual({});
    expect((await svc(['whoami', '--token', token])).err).toContain('UNAUTHENTICATED');
    expect(await svc(['whoami'])).toMatchObject({
      code: 1,
      err: `UNAUTHENTICATED: Not logged in at ${server.url}\nLog in with svc login.\n`,
    });
    expect(await svc(['logout'], onTerminal)).toMatchObject({ code: 0, out: expect.stringContaining('Not logged in') });
  });

  it('ignores an expired session', async () => {
    await svc(['login', '--wallet', 'basic']);
    const now = () => new Date(Date.now() + 31 * 60_000);
    expect(JSON.parse((await svc(['signal'], { now })).out)).toMatchObject({ signal: 'GATED' });
    expect(await svc(['whoami'], { now })).toMatchObject({ code: 1 });
  });
});

describe('svc access', () => {
  it('makes a key that the other commands accept, lists it and revokes it', async () => {
    const made = await svc(['access', 'create', '--name', 'trading bot', '--wallet', 'premium', '--days', '0']);
    expect(made).toMatchObject({ code: 0, out: expect.stringMatching(/^bso_\w{49}\n$/) });
    const withKey = { ...environment, ORACLE_TOKEN: made.out.trim() };
    expect(JSON.parse((await svc(['signal'], { environment: withKey })).out)).toMatchObject({
      direction: expect.stringMatching(/UP|DOWN/),
    });
    expect(JSON.parse((await svc(['whoami'], { environment: withKey })).out)).toMatchObject({ tier: 'basic', expiresAt: null });
    expect(await svc(['access'], { environment: withKey })).toMatchObject({ code: 1, err: expect.stringContaining('An API key cannot') });

    await svc(['login', '--wallet', 'premium']);
    const { access } = JSON.parse((await svc(['access'], { environment: withKey })).out);
    expect(access).toMatchObject([{ kind: 'key', name: 'trading bot', tier: 'basic', lastUsedAt: expect.any(String), expiresAt: null }]);
    const [{ id }] = access;
    expect((await svc(['access', 'list'], { columns: 120 })).out).toMatch(
      new RegExp(`^id .*\n${id} +trading bot +key +basic +\\S+ \\S+ +\\S+ \\S+ +when revoked\n$`),
    );
    expect(await svc(['access', 'revoke', id], onTerminal)).toMatchObject({ code: 0, out: expect.stringContaining(`Revoked ${id}`) });
    expect(await svc(['signal'], { environment: withKey })).toMatchObject({ code: 1, err: expect.stringContaining('UNAUTHENTICATED') });
    expect(await svc(['access', 'revoke', id])).toMatchObject({ code: 1, err: expect.stringContaining('NOT_FOUND') });
    expect((await svc(['access'], onTerminal)).out).toContain('has granted no access');
  });

  it('prints the whole answer with --json, and the end of the key', async () => {
    const { out } = await svc(['access', 'create', '--name', 'x', '--tier', 'premium', '--wallet', 'premium', '--json']);
    const made = JSON.parse(out);
    expect(made).toMatchObject({ key: expect.stringMatching(/^bso_/), tier: 'premium', name: 'x' });
    expect(Date.parse(made.expiresAt) - Date.parse(made.createdAt)).toBe(90 * 86_400_000);
  });

  it.each([
    [['create'], '--name: is missing'],
    [['create', '--name', 'x'], '--wallet: is missing'],
    [['create', '--name', 'x', '--days', '-1'], '--days: must be'],
    [['create', '--name', 'x', '--tier', 'gold'], '--tier: must be'],
    [['revoke'], 'id: is missing'],
    [['list', 'key_1'], 'id: is not used'],
    [['delete'], 'action: must be'],
  ])('%j exits with 2', async (words, problem) => {
    expect(await svc(['access', ...words])).toMatchObject({ code: 2, out: '', err: expect.stringContaining(problem) });
  });
});

describe('svc verify and svc audit', () => {
  it('reads the chain of this folder and takes only the attester from the service', async () => {
    const { predictions } = JSON.parse((await svc(['scorecard', '--horizon', '1d'])).out);
    const { predictionId, status } = predictions.find((row: { resolved: boolean }) => row.resolved);
    const { code, out, err } = await svc(['verify', predictionId]);
    expect(code, err).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      verdict: 'verified',
      prediction: { predictionId, status },
      where: { takenFromService: ['attester'] },
    });
    const latest = await svc(['verify', 'latest'], onTerminal);
    expect(latest.code, latest.err).toBe(0);
    expect(plain(latest.out)).toMatch(/Chain +84532, read by 127\.0\.0\.1:\d+\n/);
    expect(latest.out.replaceAll('\n', ' ')).toContain('VERIFIED so far');
  });

  it('audits the service of this folder and returns its exit code', async () => {
    const settings = () => loadConfig({ DATA_DIR: service.dataDir, FEEDS: 'simulated' });
    const { code, out, err } = await svc(['audit', '--json'], { openAudit: (command) => openAudit(command, settings) });
    expect(code, err + out).toBe(0);
    expect(JSON.parse(out)).toMatchObject({ verdict: 'agrees', service: server.url });
  });
});

describe('svc watch', () => {
  it('prints past and new events as JSON lines until interrupted', async () => {
    const lastId = await service.push.events.lastId();
    const stop = new AbortController();
    let lines = 0;
    const { code, out, err } = await svc(['watch', '--since', '0', '--horizon', 'all', '--wallet', 'basic'], {
      createInterruptSignal: () => stop.signal,
      onOut: () => {
        lines += 1;
        if (lines === lastId) stop.abort();
      },
    });
    expect(code).toBe(0);
    const ids = out
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line).id);
    expect(ids).toEqual(Array.from({ length: lastId }, (_, index) => index + 1));
    expect(err).toBe(`connected as basic; the newest event is ${lastId}\n`);
  });

  it('explains missing events while history is replayed', async () => {
    service.progress.startStep('replaying days of history', { done: 3, total: 120 });
    onTestFinished(() => service.progress.complete());
    const stop = new AbortController();
    const { err } = await svc(['watch', '--wallet', 'basic'], {
      createInterruptSignal: () => stop.signal,
      onErr: (text) => text.includes('is starting') && stop.abort(),
    });
    expect(err).toContain('\nthe service is starting (replaying days of history: 3 of 120); its events follow when it is done\n');
  });

  it('prints one line per selected event on a terminal', async () => {
    await svc(['login', '--wallet', 'basic']);
    const stop = new AbortController();
    const { code, out } = await svc(['watch', '--since', '0', '--events', 'signal.new', '--horizon', '7d'], {
      ...onTerminal,
      createInterruptSignal: () => stop.signal,
      onOut: (text) => text.split('\n').length > 0 && stop.abort(),
    });
    expect(code).toBe(0);
    expect(out).toMatch(
      /^ +\d+ {2}\S+ 21:35 {2}signal\.new +\S+ {2}7d {2}(CALM|USUAL|WILD) \d\d?\.\d % {2}(BUY|SELL|HOLD) {2}\d\d\.\d % {2}[\d,.]+ U/,
    );
  });

  it.each([
    ['nobody is logged in', [], 'Not logged in'],
    ['a token is no good', ['--token', 'nonsense'], 'UNAUTHENTICATED'],
    ['a wallet has no balance', ['--wallet', 'poor'], 'TIER_REQUIRED'],
    ['an event has not happened', ['--wallet', 'basic', '--since', '999999'], 'INPUT_INVALID'],
  ])('exits with 1 and reports when %s', async (_, words, problem) => {
    expect(await svc(['watch', ...words])).toMatchObject({ code: 1, out: '', err: expect.stringContaining(problem) });
  });
});
