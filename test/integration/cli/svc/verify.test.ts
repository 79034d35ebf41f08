import { type Hex, zeroHash } from 'viem';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { findAttestations } from '../../../../src/audit/chain-record.ts';
import { openAuditChain } from '../../../../src/cli/svc/audit-options.ts';
import { formatDay, toInstantMs } from '../../../../src/forecast/day.ts';
import { logsLack, openBrokenEndpoint } from '../../../support/chain/broken-endpoint.ts';
import { type TestChain, testChain } from '../../../support/chain/chain.ts';
import { AUDITED_DAYS, registerSchemas, type Tampering, type WrittenRecord, writeRecord } from '../../../support/record/audit-record.ts';
import { cli, plain } from '../../../support/service/cli.ts';

let chain: TestChain;
beforeAll(async () => {
  chain = await testChain();
  await registerSchemas(chain);
});
afterAll(() => chain.stop());

const DAY = 2;

interface VerifyOutput {
  verdict: string;
  words: string;
  prediction: { uid: Hex; sequence: number; status: string; late: boolean } | null;
  resolution: { uid: Hex } | null;
  agreeing: number;
  total: number;
  checks: { check: string; ok: boolean }[];
  unchecked: { check: string }[];
  differences: { check: string; field: string; message: string }[];
  notes: string[];
  incomplete: string[];
}

async function verify(
  { attester, now }: WrittenRecord,
  id: string,
  ...words: string[]
): Promise<{ code: number; output: VerifyOutput; err: string }> {
  const { code, out, err } = await cli(['verify', id, '--rpc', chain.rpcUrl, '--attester', attester, ...words], { now: () => now });
  return { code, output: out === '' ? (null as never) : JSON.parse(out), err };
}

const idOf = ({ firstDay }: WrittenRecord, index: number, horizonDays: number) => `${formatDay(firstDay + index)}:${horizonDays}d`;

it('verifies a forecast by id, by either uid and as latest', async () => {
  const written = await writeRecord(chain);
  const byId = await verify(written, idOf(written, DAY, 3));
  expect(byId.code, byId.err).toBe(0);
  expect(byId.output).toMatchObject({
    verdict: 'verified',
    prediction: { sequence: DAY + 1, late: false },
    differences: [],
    incomplete: [],
  });
  expect(byId.output.checks.map(({ check }) => check)).toEqual([
    ...['found', 'uid', 'schema', 'attester', 'permanent', 'blockTime', 'data', 'windows', 'inTime', 'onePrediction', 'link'],
    ...['resolves', 'oneResolution', 'afterWindow', 'revealed', 'opening', 'values', 'return', 'outcome', 'sequence'],
  ]);
  expect(byId.output.checks.every(({ ok }) => ok)).toBe(true);
  // No service and no prices were named.
  expect(byId.output.unchecked.map(({ check }) => check)).toEqual(['metadata', 'price', 'row', 'move', 'distributions', 'scores']);
  for (const uid of [byId.output.prediction!.uid, byId.output.resolution!.uid]) {
    expect((await verify(written, uid)).output).toEqual(byId.output);
  }
  // The newest of three days with an outcome on chain is the third.
  expect((await verify(written, 'latest', '--horizon', '3d')).output).toEqual(byId.output);
});

it('selects the newest forecast, with a note, when no outcome is on chain', async () => {
  const written = await writeRecord(chain, {}, 2);
  const latest = await verify(written, 'latest', '--horizon', '3d');
  expect(latest).toMatchObject({
    code: 0,
    output: { verdict: 'verified', prediction: { status: 'PENDING', sequence: 2 }, resolution: null },
  });
  expect(latest.output.words).toMatch(/^VERIFIED so far: .* its window ends at/);
  expect(latest.output.notes).toEqual(['no 3-day outcome came on chain in the last 3 days; this is the newest forecast']);
});

const OTHER_WAY = `0x${'77'.repeat(32)}` as Hex;

it.each([
  ['one that is open', 1, [], (written: WrittenRecord) => toInstantMs(written.firstDay + DAY, 23)],
  ['one that is over, of which only the winner was revealed', 2, ['latest'], (written: WrittenRecord) => written.now.getTime()],
])('%s differs when both directions were committed, by id, either uid and as latest', async (_, days, also, at) => {
  const twice: Tampering['prediction'] = (item, index) =>
    index === DAY && item.horizonDays === 1 ? [item, { ...item, commitment: OTHER_WAY }] : [item];
  const written = await writeRecord(chain, { prediction: twice }, DAY + days);
  const then = { ...written, now: new Date(at(written)) };
  const byId = await verify(then, idOf(written, DAY, 1));
  expect(byId).toMatchObject({ code: 1, output: { verdict: 'differs' } });
  expect(byId.output.differences).toMatchObject([{ check: 'onePrediction', field: 'commitments' }]);
  expect(byId.output.differences[0].message).toContain('committed 2 times for one day and horizon');
  const uids = byId.output.differences[0].message.match(/0x[0-9a-f]{64}(?=,| \(expected)/g) ?? [];
  expect(new Set(uids).size).toBe(2);
  for (const id of [...uids, ...also]) {
    const { code, output } = await verify(then, id, '--horizon', '1d');
    expect(code, id).toBe(1);
    expect(output.differences.map(({ field }) => field)).toContain('commitments');
  }
});

it('says that a day is outside the record, and that there is no record, without a difference', async () => {
  const written = await writeRecord(chain);
  const range = `run from ${formatDay(written.firstDay)} to ${formatDay(written.firstDay + AUDITED_DAYS - 1)}`;
  for (const index of [-400, -1, AUDITED_DAYS, AUDITED_DAYS + 400]) {
    const { code, output, err } = await verify(written, idOf(written, index, 3));
    expect([code, output]).toEqual([3, null]);
    expect(err).toContain(`${formatDay(written.firstDay + index)} is outside the record`);
    expect(plain(err).replaceAll(/\s+/g, ' ')).toContain(range);
  }
  const nobody = { ...written, attester: `0x${'5'.repeat(40)}` as const };
  for (const id of ['latest', idOf(written, 0, 3)]) {
    const { code, err } = await verify(nobody, id, '--horizon', '3d');
    expect(code).toBe(3);
    expect(plain(err).replaceAll(/\s+/g, ' ')).toMatch(
      /No forecast over 3 days of this attester was made or resolved on chain in the last 3 days/,
    );
  }
});

it('counts the checks that it lists', async () => {
  const written = await writeRecord(chain);
  const honest = (await verify(written, idOf(written, DAY, 1))).output;
  expect(honest.words).toContain(`${honest.checks.length} of ${honest.total} checks agree`);
  expect(honest.total).toBe(honest.checks.length + honest.unchecked.length);
  const shifted: Tampering['resolution'] = (item, index, horizonDays) => [
    index === DAY && horizonDays === 1 ? { ...item, returnBps: item.returnBps + 1 } : item,
  ];
  const other = await writeRecord(chain, { resolution: shifted });
  const changed = (await verify(other, idOf(other, DAY, 1))).output;
  const failed = changed.checks.filter(({ ok }) => !ok);
  expect(failed.length).toBeGreaterThan(0);
  expect(changed.words).toContain(`${failed.length} of ${changed.total} checks FAIL`);
});

it('prints checks and unchecked facts on a terminal', async () => {
  const written = await writeRecord(chain);
  const words = ['verify', idOf(written, DAY, 1), '--rpc', chain.rpcUrl, '--attester', written.attester];
  const { code, out, err } = await cli(words, { columns: 100, now: () => written.now });
  expect(code).toBe(0);
  const text = plain(out);
  expect(text).toContain(`Forecast ${idOf(written, DAY, 1)}, number ${DAY + 1}`);
  expect(text).toMatch(/ {2}ok {6}Salt and values hash to the commitment of the prediction.\n/);
  expect(text).toMatch(/Not checked:\n {2}metadata: no service was named [^\n]*\n {2}closes: no independent prices were named/);
  expect(text).toMatch(
    /VERIFIED: .* was committed before its window opened, and the\s+revealed values match: \w+; not checked: metadata,\s+closes,\s+rows,\s+size\s+of\s+the\s+move,\s+distributions,\s+scores,\s+sequence\s+in\s+part\.\n$/,
  );
  for (const line of text.split('\n')) expect(line.length).toBeLessThanOrEqual(100);
  expect(err).toContain('\r');
});

const onlyThis =
  <Item>(change: (item: Item) => Item) =>
  (item: Item, index: number, horizonDays: number): Item[] => [index === DAY && horizonDays === 1 ? change(item) : item];

const TAMPERED: [string, Tampering, string[]][] = [
  ['a changed salt', { resolution: onlyThis((item) => ({ ...item, salt: `0x${'ab'.repeat(32)}` as Hex })) }, ['opening']],
  ['another outcome', { resolution: onlyThis((item) => ({ ...item, outcome: item.outcome === 'WIN' ? 'LOSS' : 'WIN' })) }, ['outcome']],
  ['another return', { resolution: onlyThis((item) => ({ ...item, returnBps: item.returnBps + 1 })) }, ['return']],
  ['two resolutions', { resolution: (item, index, days) => (index === DAY && days === 1 ? [item, item] : [item]) }, ['oneResolution']],
  [
    'a window that is moved',
    {
      prediction: (item, index) => [
        index === DAY && item.horizonDays === 1 ? { ...item, windowOpensAt: new Date(item.windowOpensAt.getTime() + 60_000) } : item,
      ],
    },
    ['windows'],
  ],
  [
    'a number that leaves a gap',
    { prediction: (item, index) => [index === DAY && item.horizonDays === 1 ? { ...item, sequence: item.sequence + 1 } : item] },
    ['link'],
  ],
  [
    'a reference to none',
    { prediction: (item, index) => [index === DAY && item.horizonDays === 1 ? { ...item, refUid: zeroHash } : item] },
    ['link'],
  ],
];

it.each(TAMPERED)('%s differs and exits with 1', async (_, tampering, checks) => {
  const written = await writeRecord(chain, tampering, DAY + 2);
  const { code, output } = await verify(written, idOf(written, DAY, 1));
  expect(output.verdict).toBe('differs');
  expect([...new Set(output.differences.map(({ check }) => check))]).toEqual(checks);
  expect(output.checks.filter(({ ok }) => !ok).map(({ check }) => check)).toEqual(checks);
  expect(code).toBe(1);
  // A tampered row does not affect another one.
  expect((await verify(written, idOf(written, 0, 1))).code).toBe(0);
});

it('reports a forecast committed after its window opened as VOID', async () => {
  const attestAtMs: Tampering['attestAtMs'] = (index, day) => (index === DAY ? toInstantMs(day + 1, 0, 10) : undefined);
  const written = await writeRecord(chain, { attestAtMs, resolution: (item, index) => (index === DAY ? [] : [item]) }, DAY + 2);
  const { code, output } = await verify(written, idOf(written, DAY, 1));
  expect(output).toMatchObject({ verdict: 'verified', prediction: { status: 'VOID', late: true } });
  expect(output.checks.find(({ check }) => check === 'inTime')).toMatchObject({ ok: false });
  expect(output.words).toContain('VOID: it was committed after its window had opened');
  expect(code).toBe(0);
});

it('exits with 3 when the window has ended without a resolution', async () => {
  const written = await writeRecord(chain, { resolution: () => [] }, DAY + 2);
  const late = { ...written, now: new Date(toInstantMs(written.firstDay + DAY + 10)) };
  const { code, output } = await verify(late, idOf(written, DAY, 1));
  expect(output.verdict).toBe('incomplete');
  expect(output.incomplete[0]).toMatch(/over at .* and not revealed/);
  expect(code).toBe(3);
});

it('differs when the chain has no such forecast of the attester', async () => {
  const dropped = { prediction: (item, index) => (index === 1 && item.horizonDays === 1 ? [] : [item]) } satisfies Tampering;
  const written = await writeRecord(chain, dropped, DAY + 1);
  expect(await verify(written, `0x${'12'.repeat(32)}`)).toMatchObject({ code: 1, output: { verdict: 'differs', prediction: null } });
  expect(await verify(written, idOf(written, 1, 1))).toMatchObject({ code: 1, output: { verdict: 'differs', prediction: null } });
  const { output } = await verify(written, idOf(written, 0, 1));
  const stranger = { ...written, attester: chain.accounts.stranger.address };
  expect(await verify(stranger, output.prediction!.uid)).toMatchObject({ code: 1, output: { verdict: 'differs', prediction: null } });
});

it('is no difference when the events of the endpoint lack the forecast, by id and by uid', async () => {
  const written = await writeRecord(chain);
  const { uid } = (await verify(written, idOf(written, DAY, 1))).output.prediction!;
  const made = await openAuditChain({ rpcUrl: chain.rpcUrl });
  const search = { attester: written.attester, fromBlock: 0, throughBlock: Number(await chain.rpc<Hex>('eth_blockNumber')) };
  const block = (await findAttestations(made, 'prediction', search)).find((one) => one.uid === uid)!.blockNumber;
  const proxy = await openBrokenEndpoint(
    chain.rpcUrl,
    logsLack((number) => number === block),
  );
  for (const id of [idOf(written, DAY, 1), uid]) {
    const words = ['verify', id, '--rpc', proxy.url, '--attester', written.attester, '--json'];
    const { code, out } = await cli(words, { now: () => written.now });
    expect(JSON.parse(out)).toMatchObject({ verdict: 'incomplete', differences: [], prediction: { uid } });
    expect(JSON.parse(out).incomplete).toEqual([expect.stringContaining('lists no event of it')]);
    expect(code).toBe(3);
  }
  await proxy.close();
});

it('exits with 3 when the endpoint does not answer', async () => {
  const written = await writeRecord(chain, {}, 1);
  const words = ['verify', 'latest', '--rpc', 'http://127.0.0.1:9/secret-key', '--attester', written.attester];
  const { code, out, err } = await cli(words);
  expect({ code, out }).toEqual({ code: 3, out: '' });
  expect(err).toContain('CHAIN_UNREACHABLE');
  expect(err).not.toContain('secret-key');
});
