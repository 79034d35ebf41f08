import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { checkRows, findCommitmentsAround, type RowFinding } from '../../../../src/page/browser/check.ts';
import { createAttestationReader, explainContractDoubt, openRecordChain } from '../../../../src/page/browser/record-chain.ts';
import type { ApiResponses, ScorecardRow } from '../../../../src/page/browser/responses.ts';
import type { CheckId } from '../../../../src/verify/findings.ts';
import { ATTESTER, attested, METADATA, made, OPENS, PLACE, PREVIOUS, prediction, ROW, resolution } from './evidence.ts';

const EAS = '0x4200000000000000000000000000000000000021';
const first = prediction();
const second = resolution(first.uid);
const DAY_MS = 86_400_000;
const before = {
  ...ROW,
  ...{ sequence: 59, date: '2026-02-28', attestationUid: PREVIOUS.uid, resolutionUid: null },
  ...{ windowOpensAt: new Date(OPENS - DAY_MS).toISOString(), resolvesAt: new Date(OPENS + DAY_MS).toISOString() },
};
const row: ScorecardRow = { ...ROW, attestationUid: first.uid, resolutionUid: second.uid };

const word = (value: string | number | bigint | boolean) => BigInt(value).toString(16).padStart(64, '0');

/** A `getAttestation` result. */
function encoded({ uid, schema, time, refUID, recipient, attester, data }: typeof first): string {
  const bytes = data.slice(2);
  const head = [uid, schema, time, 0, 0, refUID, recipient, attester, false, 320, bytes.length / 2].map(word);
  return `0x${word(32)}${head.join('')}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`;
}

/** An honest endpoint of chain 8453 with a block every two seconds, unless a test changes it. */
const ENDPOINT: Record<string, (params: never[]) => unknown> = {
  eth_chainId: () => '0x2105',
  eth_blockNumber: () => `0x${Math.floor(blockAt(NEWEST)).toString(16)}`,
  eth_call: ([{ data }]: { data: string }[]) => {
    const found = [first, second, twin, PREVIOUS, ...onChain].find(({ uid }) => data.endsWith(uid.slice(2)));
    return encoded(found ?? NONE);
  },
  eth_getBlockByNumber: ([name]: string[]) => {
    const number = name === 'latest' ? Math.floor(blockAt(NEWEST)) : Number(name);
    const timestamp = chain.genesis + chain.blockSeconds * number;
    return { number: `0x${number.toString(16)}`, timestamp: `0x${timestamp.toString(16)}`, hash: `0x${chain.genesis}${number}` };
  },
  eth_getLogs: ([range]: { fromBlock: string; toBlock: string }[]) => {
    const isIn = ({ time }: typeof first) =>
      blockAt(Number(time)) >= Number(range.fromBlock) && blockAt(Number(time)) <= Number(range.toBlock);
    return onChain.filter(isIn).map(({ uid }) => ({ data: uid, blockNumber: '0x1' }));
  },
};

const GENESIS = OPENS / 1_000 - 20_000_000;
const NEWEST = OPENS / 1_000 + 400_000;
let chain = { genesis: GENESIS, blockSeconds: 2 };
const blockAt = (time: number) => (time - chain.genesis) / chain.blockSeconds;
const NONE = { ...attested({}), uid: `0x${'00'.repeat(32)}` as const };
/** Commits to the opposite direction, at the same distance from the window. */
const twin = prediction({}, `0x${'77'.repeat(32)}`);
let onChain: (typeof first)[];
let endpoints = 0;
let endpoint: string;
let posts: { method: string; params: never[] }[][];

/** The metadata of the record is of before distributions were committed. */
function withoutDistributions() {
  const { date, sequence } = row;
  const none = { openings: [], missing: [], realised: null, scores: [], comparisons: [] };
  const uids = { attestationUid: first.uid, resolutionUid: second.uid };
  const metadata = new TextDecoder().decode(METADATA);
  const data = [{ predictionId: `${date}:2d`, date, horizon: '2d', sequence, ...uids, metadata, ...none }];
  return { success: true, horizon: '2d', data, count: 1, nextCursor: null };
}

/** That endpoint, and the published metadata of the service. */
async function world(url: string | URL, request: RequestInit) {
  if (String(url).includes('ipfs')) return new Response(METADATA);
  if (String(url).includes('api/svc/distributions')) return Response.json(withoutDistributions());
  const asked = JSON.parse(String(request.body)) as { id: number; method: string; params: never[] }[];
  posts.push([asked].flat());
  const answer = ({ id, method, params }: (typeof asked)[number]) => ({ jsonrpc: '2.0', id, result: ENDPOINT[method]!(params) });
  return Response.json(Array.isArray(asked) ? asked.map(answer) : answer(asked));
}

const reported = vi.fn();
beforeEach(() => {
  onChain = [PREVIOUS, first];
  chain = { genesis: GENESIS, blockSeconds: 2 };
  endpoint = `https://honest.example/${++endpoints}`;
  posts = [];
  vi.stubGlobal('document', { baseURI: 'https://oracle.example/' });
  vi.stubGlobal('fetch', world);
  vi.stubGlobal('reportError', reported);
});
afterEach(() => {
  vi.unstubAllGlobals();
  reported.mockClear();
});

const INFO = {
  chain: { id: 8_453, local: false, attester: ATTESTER, rpcUrl: null },
  contracts: { eas: EAS },
  limits: { attestationHistory: { most: 100 } },
} as unknown as ApiResponses['info'];

const CONTEXT = { attester: ATTESTER, now: new Date() };

async function findingsOf(rows: readonly ScorecardRow[], info = INFO): Promise<RowFinding[]> {
  const findings = new Map<ScorecardRow, RowFinding>();
  await checkRows({
    ...{ rows, info, shown: { horizon: 2, known: [...rows, before] }, endpoint, token: null },
    signal: new AbortController().signal,
    onFinding: (row, finding) => void findings.set(row, finding),
  });
  return rows.map((row) => findings.get(row) as RowFinding);
}

/** What is left open besides distributions, with the reasons. */
const openOf = ([finding]: RowFinding[]) =>
  finding!.findings.flatMap(({ check, outcome, because }): [CheckId, string][] =>
    outcome === 'unknown' && check !== 'distributions' ? [[check, because]] : [],
  );

it('verifies a row with its predecessor', async () => {
  const found = await findingsOf([row]);
  expect(found).toMatchObject([{ verdict: 'pass' }]);
  const distributions = found[0]!.findings.filter(({ check }) => check === 'distributions');
  expect(distributions).toContainEqual(expect.objectContaining({ outcome: 'unknown', because: 'none were committed when it was made' }));
  expect(openOf(found)).toEqual([]);
});

it('finds a second commitment for the same day in few requests', async () => {
  onChain.push(twin);
  expect(await findingsOf([row])).toMatchObject([{ verdict: 'fail', summary: 'Does not match: onePrediction' }]);
  // Chain id, the prediction, first and last block, blocks of the range, events and the attestations that they name, the other two.
  const asked = ['eth_chainId', 'eth_call', 'eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_getLogs', 'eth_call', 'eth_call'];
  expect(posts.map((calls) => calls.at(-1)?.method)).toEqual(asked.with(0, 'eth_blockNumber'));
  // In one request with the events, so that one node answers both.
  expect(posts[4]!.map(({ method }) => method)).toEqual(['eth_getBlockByNumber', 'eth_getLogs']);
  expect(posts[5]).toHaveLength(2);
  expect(rangeOf(posts[4]!)).toEqual([blockAt(OPENS / 1_000 - 18_000), blockAt(OPENS / 1_000) - 1]);
});

const rangeOf = (calls: (typeof posts)[number]) => {
  const [{ fromBlock, toBlock }] = calls.find(({ method }) => method === 'eth_getLogs')!.params as { fromBlock: string; toBlock: string }[];
  return [Number(fromBlock), Number(toBlock)];
};

it.each([
  ['long ago', '2020-01-01T00:00:00.000Z'],
  ['more than a day before', new Date(OPENS - 28 * 3_600_000).toISOString()],
  ['never', 'no time'],
])('finds it whatever commit time the service claims: %s', async (_, timestamp) => {
  onChain.push(twin);
  expect(await findingsOf([{ ...row, timestamp }])).toMatchObject([{ summary: 'Does not match: onePrediction' }]);
  // For many rows the range is at most a day.
  const rows = [{ ...row, timestamp }, row];
  const { signal } = new AbortController();
  const chain = await openRecordChain({ info: INFO, endpoint, signal });
  const found = await findCommitmentsAround(rows, { ...CONTEXT, chain, signal }, createAttestationReader(chain));
  if ('problem' in found) throw new Error(found.problem);
  expect(found.since).toEqual(new Date(OPENS - 86_400_000));
  expect(found.committed).toHaveLength(2);
});

/** Predictions of other days within the same hours. */
const junk = (count: number, time = OPENS / 1_000 - 8_000) =>
  Array.from({ length: count }, (_, index) =>
    attested({ schema: first.schema, time, data: made({ day: PLACE.day + 400 + index }, `0x${'66'.repeat(32)}`) }),
  );

it('finds it among others, and fails when there are too many to read', async () => {
  onChain.push(...junk(120), twin);
  expect(await findingsOf([row])).toMatchObject([{ summary: 'Does not match: onePrediction' }]);
  onChain.push(...junk(1_000));
  const [finding] = await findingsOf([row]);
  expect(finding).toMatchObject({ summary: 'Does not match: onePrediction' });
  expect(finding!.findings.find(({ outcome }) => outcome === 'fail')).toMatchObject({ expected: 'at most 1000', actual: 'more than 1000' });
});

it('finds it when a full page of rows is checked', async () => {
  chain = { genesis: GENESIS, blockSeconds: 600 };
  const days = Array.from({ length: 360 }, (_, index) => index);
  const rows = days.map((index) => ({ ...row, sequence: 60 + 2 * index, windowOpensAt: new Date(OPENS - index * DAY_MS).toISOString() }));
  onChain.push(...days.flatMap((index) => junk(4, OPENS / 1_000 - index * 86_400 - 8_000)));
  expect((await findingsOf(rows.slice(0, 50)))[0]).toMatchObject({ verdict: 'pass' });
  onChain.push(twin);
  for (const shown of [50, 360]) {
    expect((await findingsOf(rows.slice(0, shown)))[0]).toMatchObject({ summary: 'Does not match: onePrediction' });
  }
});

it('reports an attestation that is listed but not returned', async () => {
  onChain.push(twin);
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    const body = String(request.body).replaceAll(twin.uid.slice(2), 'ee'.repeat(32));
    return world(url, { ...request, body: url.toString().includes('ipfs') ? null : body });
  });
  const why = 'the endpoint lists an attestation but does not return it';
  const found = await findingsOf([row]);
  expect(found).toMatchObject([{ verdict: 'pass' }]);
  expect(openOf(found)).toEqual([['onePrediction', why]]);
});

it('times out on a slow endpoint', async () => {
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    if (!String(request.body).includes('eth_getLogs')) return world(url, request);
    request.signal!.throwIfAborted();
    return new Promise((_, reject) => request.signal!.addEventListener('abort', () => reject(request.signal!.reason)));
  });
  const stop = new AbortController();
  const { signal } = stop;
  const chain = await openRecordChain({ info: INFO, endpoint, signal });
  const search = { ...CONTEXT, chain, signal };
  const problem = 'the endpoint did not answer within 0.05 s';
  const read = createAttestationReader(chain);
  expect(await findCommitmentsAround([row], search, read, 50)).toEqual({ problem });
  const looking = findCommitmentsAround([row], search, read);
  stop.abort();
  await expect(looking).rejects.toMatchObject({ name: 'AbortError' });
});

it.each([
  ['refuses', () => undefined, 'The endpoint does not answer with a list of events'],
  ['answers with something else', () => 'none', 'The endpoint does not answer with a list of events'],
  ['leaves out what it has', () => [], 'the endpoint omits this prediction from its list'],
])('leaves the search open when the endpoint %s', async (_, logs, why) => {
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    if (!String(request.body).includes('eth_getLogs')) return world(url, request);
    return Response.json([{ jsonrpc: '2.0', id: 1, result: logs() }]);
  });
  const found = await findingsOf([row]);
  expect(found).toMatchObject([{ verdict: 'pass' }]);
  expect(openOf(found)).toEqual([['onePrediction', why]]);
});

it('limits the number of searched blocks', async () => {
  const longAgo = { ...row, sequence: 12, windowOpensAt: new Date(OPENS - 10 * DAY_MS).toISOString() };
  const found = await findingsOf([row, longAgo]);
  expect(found[0]).toMatchObject({ verdict: 'pass' });
  expect(openOf(found)).toEqual([['onePrediction', expect.stringMatching(/^475200 blocks are too many to search at once/)]]);
  expect(posts.flat().some(({ method }) => method === 'eth_getLogs')).toBe(false);
});

it('continues after a malformed row', async () => {
  const odd = { ...row, sequence: 12, attestationUid: '0x12g4' };
  const none = { ...row, sequence: 13, outcome: undefined, windowOpensAt: undefined, attestationUid: null } as unknown as ScorecardRow;
  const findings = await findingsOf([odd, none, row]);
  expect(findings.map(({ verdict }) => verdict)).toEqual(['fail', 'fail', 'pass']);
  expect(findings[0].summary).toContain('found');
  expect(reported).not.toHaveBeenCalled();
  const unreadable = {
    ...row,
    sequence: 14,
    outcome: {
      get correct() {
        throw new Error('no row');
      },
    },
  } as unknown as ScorecardRow;
  const others = await findingsOf([unreadable, row]);
  expect(others.map(({ summary }) => summary)).toEqual([
    'Could not be checked: the row of the service is malformed',
    expect.stringMatching(/^Verified/),
  ]);
  expect(reported).toHaveBeenCalledOnce();
});

it('rejects an attestation contract that the service could have deployed', async () => {
  const at = (id: number, eas: string, local = false) =>
    explainContractDoubt({ chain: { ...INFO.chain, id, local }, contracts: { ...INFO.contracts, eas } });
  const fake = `0x${'de'.repeat(20)}`;
  for (const id of [10, 130, 8_453, 84_532]) expect(at(id, EAS)).toBeNull();
  expect(at(8_453, fake)).toMatch(/^the service names 0xdede/);
  expect(at(137, fake)).toMatch(/^the attestation contract of chain 137 is not known to this page/);
  expect(at(137, EAS)).toMatch(/^the attestation contract/);
  expect(at(31_337, EAS, true)).toBeNull();
  expect(at(31_337, fake, true)).toMatch(/^the service names/);
  const elsewhere = { ...INFO, chain: { ...INFO.chain, id: 137 }, contracts: { ...INFO.contracts, eas: fake } } as ApiResponses['info'];
  expect(await findingsOf([row], elsewhere)).toMatchObject([{ verdict: 'unknown', findings: [] }]);
});
