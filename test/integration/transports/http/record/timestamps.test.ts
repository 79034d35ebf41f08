import { bytesToHex, sha256 } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { formatDay, toInstantMs } from '../../../../../src/forecast/day.ts';
import type { TimestampDoc } from '../../../../../src/record/timestamps/timestamp-doc.ts';
import type { TimestampsReply } from '../../../../../src/transports/http/record/timestamps/schemas.ts';
import { parseOtsFile } from '../../../../../src/verify/timestamps/ots-file.ts';
import { type Served, serve } from '../../../../support/http/serve.ts';
import { cli } from '../../../../support/service/cli.ts';
import { type TestService, today, unresolvedService } from '../../../../support/service/service.ts';
import { buildSkillDeps, createTestRunner } from '../../../../support/service/skills.ts';
import { mineHeader, serveBitcoinBlocks } from '../../../../support/timestamps/bitcoin-blocks.ts';
import { type Calendar, startCalendar } from '../../../../support/timestamps/calendar.ts';

let calendars: Calendar[];
let service: TestService;
let served: Served;
beforeAll(async () => {
  calendars = [await startCalendar(), await startCalendar()];
  service = await unresolvedService(2, { OTS_CALENDARS: calendars.map(({ url }) => `${url}/`).join(',') });
  served = await serve(service);
});
afterAll(async () => {
  await served?.close();
  await service?.stop();
  for (const calendar of calendars) await calendar.close();
});

const DAY = today() - 1;
const DATE = formatDay(DAY);
const PATH = '/api/svc/timestamps';
const BLOCK_TIME = new Date(toInstantMs(DAY + 1, 0, 30));

const collection = () => service.database.db.collection<TimestampDoc>('timestamps');
const list = async (query = '') => (await (await fetch(`${served.url}${PATH}${query}`)).json()) as TimestampsReply;

/** The sweep, at a time when every calendar is due. */
async function sweep(): Promise<void> {
  for (const { _id, calendars: known } of await collection().find().toArray()) {
    const due = known.map((state) => ({ ...state, nextAt: state.nextAt && new Date(0) }));
    await collection().updateOne({ _id, nextAt: { $ne: null } }, { $set: { calendars: due, nextAt: new Date(0) } });
  }
  await service.stampDays!();
}

async function verify() {
  const run = createTestRunner(buildSkillDeps(service.http));
  const { verified, verdict, unchecked, checks } = (await run('verify_prediction', { predictionId: `${DATE}:7d` })).output;
  const reason = unchecked.find(({ what }: { what: string }) => what === 'independent time')?.reason;
  return { verified, verdict, reason, check: checks.find(({ check }: { check: string }) => check === 'independentTime') };
}

async function verifyByCli(id: string, ...words: string[]) {
  const { rpcUrl } = service.infrastructure;
  const attester = service.http.attesterAddress;
  const { code, out, err } = await cli(['verify', id, '--rpc', rpcUrl, '--attester', attester, '--url', served.url, '--json', ...words]);
  expect(out, err).not.toBe('');
  const { verdict, words: sentence, summary, checks, unchecked, differences } = JSON.parse(out);
  const time = checks.find(({ check }: { check: string }) => check === 'independentTime');
  return { code, verdict, sentence: sentence ?? summary, time, unchecked, differences };
}

it('a service whose days are not stamped says nothing of timestamps', async () => {
  expect(await list()).toEqual({ success: true, data: [], count: 0, nextCursor: null });
  expect(await verify()).toMatchObject({ verified: true, reason: undefined, check: undefined });
  expect(await verifyByCli(`${DATE}:7d`)).toMatchObject({ code: 0, time: undefined });
  expect((await fetch(`${served.url}${PATH}/${DATE}.json.ots`)).status).toBe(404);
});

describe('a stamped day', () => {
  beforeAll(() => sweep());

  it('is listed by pages, with its document and its proof', async () => {
    const page = await list('?limit=1');
    expect(page).toMatchObject({ count: 1, nextCursor: DATE, data: [{ date: DATE, blocks: [] }] });
    expect(page.data[0]!.calendars).toEqual(calendars.map(({ url }) => ({ url, status: 'submitted' })));
    expect(await list(`?limit=1&before=${DATE}`)).toMatchObject({ count: 1, nextCursor: null, data: [{ date: formatDay(DAY - 1) }] });
  });

  it('has the two files that an OpenTimestamps client reads', async () => {
    const document = await fetch(`${served.url}${PATH}/${DATE}.json`);
    expect(document.headers.get('content-type')).toMatch(/^application\/json/);
    const digest = sha256(new Uint8Array(await document.arrayBuffer()));
    const proof = await fetch(`${served.url}${PATH}/${DATE}.json.ots`);
    expect(proof.headers.get('content-type')).toBe('application/vnd.opentimestamps.ots');
    expect(proof.headers.get('content-disposition')).toBe(`attachment; filename="${DATE}.json.ots"`);
    expect(bytesToHex(parseOtsFile(new Uint8Array(await proof.arrayBuffer())).message)).toBe(digest);
  });

  it('is pending until a block holds it', async () => {
    const pending = `no Bitcoin block holds the commitments of its day yet: pending at ${calendars
      .map(({ url }) => url)
      .sort()
      .join(', ')}`;
    expect(await verify()).toMatchObject({ verified: true, reason: expect.stringContaining(pending), check: undefined });
    expect(await verifyByCli(`${DATE}:7d`)).toMatchObject({
      code: 0,
      unchecked: expect.arrayContaining([expect.stringContaining(pending)]),
    });
  });

  it('rejects a day that is not stamped, or is no day', async () => {
    expect((await fetch(`${served.url}${PATH}/2020-01-01.json`)).status).toBe(404);
    expect((await fetch(`${served.url}${PATH}/yesterday.json`)).status).toBe(400);
    expect((await fetch(`${served.url}${PATH}?before=yesterday`)).status).toBe(400);
  });
});

describe('a confirmed day', () => {
  let explorer: Awaited<ReturnType<typeof serveBitcoinBlocks>>;
  let liar: typeof explorer;
  beforeAll(async () => {
    for (const { confirm } of calendars) confirm(BLOCK_TIME);
    await sweep();
    const headers = new Map(calendars[0]!.headers);
    explorer = await serveBitcoinBlocks(headers);
    liar = await serveBitcoinBlocks(new Map([...headers.keys()].map((height) => [height, mineHeader(new Uint8Array(32), new Date())])));
  });
  afterAll(async () => {
    await explorer.close();
    await liar.close();
  });

  it('names blocks and Merkle roots to compare', async () => {
    const [day] = (await list('?limit=1')).data;
    expect(day!.blocks).toHaveLength(2);
    const reason = `the Merkle root ${day!.blocks[0]!.merkleRoot} of Bitcoin block ${day!.blocks[0]!.height}`;
    expect(await verify()).toMatchObject({ verified: true, reason: expect.stringContaining(reason) });
  });

  it('is confirmed by blocks of a source that the verifier names', async () => {
    const one = await verifyByCli(`${DATE}:7d`, '--bitcoin', explorer.url);
    expect(one).toMatchObject({ code: 0, verdict: 'verified', time: { ok: true } });
    const all = await verifyByCli('all', '--bitcoin', explorer.url);
    // The window of one day that began the day before had ended.
    expect(all.time).toMatchObject({ passed: 7, failed: 0, unknown: 1 });
  });

  it('is named wrong where the blocks have other Merkle roots, and the chain decides the verdict', async () => {
    const one = await verifyByCli(`${DATE}:7d`, '--bitcoin', liar.url);
    expect(one).toMatchObject({ code: 0, verdict: 'verified', time: { ok: false }, differences: [{ check: 'independentTime' }] });
    expect(one.sentence).toContain('; WRONG TIMESTAMP: the proof does not arrive at the Merkle root of Bitcoin block');
  });

  it('is left open by a source of blocks that does not answer', async () => {
    const { code, unchecked } = await verifyByCli(`${DATE}:7d`, '--bitcoin', `${explorer.url}nothing`);
    expect(code).toBe(0);
    expect(unchecked).toEqual(expect.arrayContaining([expect.stringMatching(/Bitcoin block \d+ was not read: .* answers 404/)]));
  });

  it('is named wrong when its document does not list the commitments', async () => {
    const { document } = (await collection().findOne({ _id: DATE }))!;
    await collection().updateOne({ _id: DATE }, { $set: { document: document.replace('"commitment":"0x', '"commitment":"0y') } });
    const found = await verify();
    await collection().updateOne({ _id: DATE }, { $set: { document: document.replaceAll('"commitment":"0x', '"commitment":"0y') } });
    const changed = await verify();
    await collection().updateOne({ _id: DATE }, { $set: { document } });
    expect(found).toMatchObject({ verified: true, check: { ok: false, field: 'proof' } });
    expect(changed).toMatchObject({
      verified: true,
      check: { ok: false, field: 'document' },
      verdict: expect.stringContaining('WRONG TIMESTAMP'),
    });
  });
});
