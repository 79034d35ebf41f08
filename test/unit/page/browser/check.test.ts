import fc from 'fast-check';
import { zeroHash } from 'viem';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { getSchemaUid } from '../../../../src/chain/eas/schemas.ts';
import { DAY_MS } from '../../../../src/forecast/day.ts';
import { checkRows, createAttestationReader, findCommitmentsAround, type RowFinding } from '../../../../src/page/browser/check.ts';
import { explainContractDoubt, openRecordChain } from '../../../../src/page/browser/record-chain.ts';
import type { ApiResponses, ScorecardRow } from '../../../../src/page/browser/responses.ts';
import { findNeighbours } from '../../../../src/page/browser/section.ts';
import type { CheckId } from '../../../../src/verify/findings.ts';
import {
  ATTESTER,
  attested,
  before,
  committed,
  evidence,
  evidenceOf,
  evidenceWith,
  LATE,
  METADATA,
  MISSED,
  MISSED_ROW,
  made,
  NEIGHBOURS,
  OPEN,
  OPENING,
  OPENS,
  openIn,
  PLACE,
  PREVIOUS,
  prediction,
  RESOLVES,
  ROW,
  resolution,
  SILENT,
  VOID_ROW,
  verify,
  wrongIn,
} from './evidence.ts';

describe('check rows', () => {
  const EAS = '0x4200000000000000000000000000000000000021';
  const first = prediction();
  const second = resolution(first.uid);
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
    const [{ fromBlock, toBlock }] = calls.find(({ method }) => method === 'eth_getLogs')!.params as {
      fromBlock: string;
      toBlock: string;
    }[];
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
    expect(finding!.findings.find(({ outcome }) => outcome === 'fail')).toMatchObject({
      expected: 'at most 1000',
      actual: 'more than 1000',
    });
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
});

describe('a second prediction for one day and horizon', () => {
  const first = prediction();
  const twin = prediction({}, `0x${'77'.repeat(32)}`);

  it('fails when it came in time', () => {
    expect(wrongIn(evidence({}, { first, rivals: committed(first, twin) }))).toEqual(['onePrediction']);
    // Even when the endpoint lists only the other one.
    expect(wrongIn(evidence({}, { first, rivals: committed(twin) }))).toEqual(['onePrediction']);
    const late = prediction({ time: OPENS / 1_000 }, `0x${'77'.repeat(32)}`);
    expect(wrongIn(evidence({}, { first, rivals: committed(first, late) }))).toEqual([]);
    const elsewhere = [{ day: PLACE.day + 1 }, { horizonDays: 3 }].map((place) =>
      prediction({ data: made(place, `0x${'77'.repeat(32)}`) }),
    );
    expect(wrongIn(evidence({}, { first, rivals: committed(first, ...elsewhere) }))).toEqual([]);
  });

  it('fails for a void row when it came in time', () => {
    const late = prediction({ time: OPENS / 1_000 + 60 });
    const row = { ...OPEN, status: 'VOID' };
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late, twin) }))).toEqual(['onePrediction']);
    expect(wrongIn(evidence(row, { first: late, second: null, rivals: committed(late) }))).toEqual([]);
  });

  it('is left open until the window opens', () => {
    const rivals = { ...committed(first), newest: new Date(OPENS - 8_000_000) };
    expect(openIn(evidence(OPEN, { first, second: null, rivals, now: new Date(OPENS - 1) }))).toContain('onePrediction');
    expect(openIn(evidence(OPEN, { first, second: null, now: new Date(OPENS) }))).not.toContain('onePrediction');
  });
});
const HOUR = 3_600_000;

/** Rows that are false or incomplete without contradicting the chain in a value. */
describe('a falsified record', () => {
  it('is unchecked when a loss is shown as unresolved', () => {
    const hidden = (now: number) => verify(evidence(OPEN, { second: null, now: new Date(now) }));
    expect(hidden(RESOLVES + 48 * HOUR)).toMatchObject({ verdict: 'pass', summary: expect.stringMatching(/^Verified so far/) });
    expect(hidden(RESOLVES + 48 * HOUR + 1)).toMatchObject({
      verdict: 'unknown',
      summary: expect.stringMatching(/^Could not be checked: over at 2026-03-04T00:00:00.000Z and not revealed/),
    });
    const open = hidden(RESOLVES + HOUR).findings.find(({ check }) => check === 'revealed');
    expect(open?.because).toBe('its window has ended at 2026-03-04T00:00:00.000Z, and it is not resolved yet');
  });

  it('expects no outcome of a void row', () => {
    const finding = verify(evidence(VOID_ROW, { first: LATE, second: null, now: new Date(RESOLVES + 9_999 * HOUR) }));
    expect(finding).toMatchObject({ verdict: 'pass', stage: 'void', summary: expect.stringMatching(/^Verified as void/) });
    expect(finding.findings.every(({ outcome, isDue }) => outcome === 'pass' || !isDue)).toBe(true);
  });

  it('is a mismatch when it claims an outcome without an attestation', () => {
    expect(wrongIn(evidence({ attestationUid: null }, { prediction: null }))).toEqual(['shown']);
    expect(wrongIn(evidence({ ...OPEN, attestationUid: null, resolutionUid: PREVIOUS.uid }, { prediction: null }))).toEqual(['shown']);
  });

  it('is a mismatch when rows are missing or repeated', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, before: null }, previous: undefined }))).toEqual(['shown']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, alike: 2 } }))).toEqual(['shown']);
    const unattested = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: null } };
    expect(wrongIn(evidence({}, { neighbours: unattested, previous: null }))).toEqual(['link']);
  });

  it('is a mismatch when it is of another horizon', () => {
    expect(wrongIn(evidence({}, { horizon: 7 }))).toEqual(['row']);
  });

  it('is a mismatch when a committed day is shown as missed', () => {
    expect(wrongIn(evidence({ missed: true }))).toEqual(['row']);
    expect(wrongIn(evidence(VOID_ROW, { first: MISSED, second: null }))).toContain('row');
    expect(wrongIn(evidence({ ...MISSED_ROW, status: 'PENDING' }, { first: MISSED, second: null }))).toEqual(['row']);
  });

  it('is a mismatch when it shows parts of a hidden or missed call', () => {
    for (const part of [{ pUp: 0.99 }, { confidence: 0.6 }, { signal: 'BUY' }]) {
      expect(wrongIn(evidence({ ...OPEN, ...part }, { second: null }))).toEqual(['row']);
    }
    expect(wrongIn(evidence({ ...MISSED_ROW, direction: 'UP' }, { first: MISSED, second: null }))).toEqual(['row']);
  });

  it.each([
    ['of another wallet', {}, { attester: `0x${'ee'.repeat(20)}` as const }, ['link']],
    ['of another schema', {}, { schema: `0x${'ee'.repeat(32)}` as const }, ['link']],
    ['of another horizon', { horizonDays: 7 }, {}, ['link']],
    ['of twenty days before', { day: OPENS / 86_400_000 - 21 }, {}, ['sequence']],
    ['of another number', { sequence: 58 }, {}, ['link']],
    ['unreadable', {}, { data: '0x12' as const }, ['link']],
  ])('refers to a predecessor that is %s', (_, place, what, caughtBy) => {
    const previous = before(place, what);
    const neighbours = { ...NEIGHBOURS, before: { ...ROW, sequence: 59, attestationUid: previous.uid } };
    const options = { neighbours, previous: evidenceOf('prediction', previous.uid, previous) };
    expect(wrongIn(evidenceWith(prediction({ refUID: previous.uid }), options))).toEqual(caughtBy);
  });

  it('is a mismatch when its predecessor is not on chain, open when unreadable', () => {
    expect(wrongIn(evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, null) }))).toEqual(['link']);
    expect(wrongIn(evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, { ...PREVIOUS, time: 1n }) }))).toEqual(['link']);
    const silent = evidence({}, { previous: evidenceOf('prediction', PREVIOUS.uid, SILENT) });
    expect(verify(silent).verdict).toBe('pass');
    expect(openIn(silent)).toEqual(['link']);
  });

  it('is a mismatch when one close has two prices', () => {
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, openingClose: 1 } }))).toEqual(['oneClose']);
    expect(wrongIn(evidence({}, { neighbours: { ...NEIGHBOURS, endingClose: 1 } }))).toEqual(['oneClose']);
  });
});

describe('findNeighbours', () => {
  const row = (sequence: number): ScorecardRow => {
    const at = (days: number) => new Date(OPENS + (sequence - 60 + days) * 24 * HOUR).toISOString();
    return { ...ROW, sequence, windowOpensAt: at(0), resolvesAt: at(2), btcAtSignal: sequence, btcAtResolution: sequence + 2 };
  };

  it('returns the previous row and the closes of adjacent windows', () => {
    const known = [63, 62, 61, 60, 59, 58].map(row);
    expect(findNeighbours(known[3], known)).toEqual({ before: known[4], alike: 1, openingClose: 60, endingClose: 62 });
    expect(findNeighbours(known[5], known)).toEqual({ before: null, alike: 1, openingClose: null, endingClose: 60 });
    expect(findNeighbours(known[0], [...known, known[0]])).toMatchObject({ alike: 2, endingClose: null });
  });
});
describe('a resolved row', () => {
  it('is verified without open checks when everything agrees', () => {
    expect(verify(evidence())).toMatchObject({ verdict: 'pass', summary: 'Verified: 21 of 26 checks agree' });
    expect(openIn(evidence())).toEqual([]);
  });

  const changes: Record<string, fc.Arbitrary<unknown>> = {
    ...{
      date: fc.constant('2026-03-03'),
      horizon: fc.constant('3d'),
      sequence: fc.nat().filter((n) => n > 1),
      status: fc.constantFrom('WIN', 'HOLD', 'PENDING', 'VOID'),
    },
    ...{
      windowOpensAt: fc.date({ noInvalidDate: true, min: new Date(0), max: new Date(2 ** 42) }).map((at) => at.toISOString()),
      resolvesAt: fc.constant('2026-03-05T00:00:00.000Z'),
    },
    ...{
      signal: fc.constantFrom('SELL', 'HOLD', 'GATED', null),
      direction: fc.constantFrom('DOWN', null),
      confidence: fc.double(),
      pUp: fc.double(),
    },
    ...{
      btcPrice: fc.double(),
      btcAtSignal: fc.double(),
      btcAtResolution: fc.double(),
      returnBps: fc.integer(),
      resolvedAt: fc.constantFrom(null, '2026-03-04T00:00:01.000Z'),
    },
    outcome: fc.constantFrom(
      null,
      { actualReturn: 0.0115, actualDirection: 'DOWN', correct: false },
      { actualReturn: -0.0115, actualDirection: 'DOWN', correct: true },
    ),
  };
  const change = fc.oneof(
    ...Object.entries(changes).map(([field, value]) =>
      value.filter((one) => !Object.is(one, ROW[field as keyof ScorecardRow])).map((one) => ({ [field]: one })),
    ),
  );

  it('is a mismatch when any value differs', () => {
    fc.assert(fc.property(change, (changed) => void expect(verify(evidence(changed)).verdict).toBe('fail')));
  });

  it.each([
    ['it was made by somebody else', prediction({ attester: `0x${'ee'.repeat(20)}` }), ['attester']],
    ['it is of another schema', prediction({ schema: getSchemaUid('resolution') }), ['schema']],
    ['it can be revoked', prediction({ revocable: true }), ['permanent']],
    ['it was on chain when the window had opened', prediction({ time: OPENS / 1_000 }), ['inTime', 'void', 'row']],
    ['it skips the day before', prediction({ refUID: zeroHash }), ['link']],
    ['it commits to something else', prediction({}, `0x${'99'.repeat(32)}`), ['opening', 'row']],
    ['its data is of no schema', prediction({ data: '0x1234' }), ['data']],
  ])('is a mismatch when %s', (_, first, caughtBy) => {
    expect(wrongIn(evidenceWith(first))).toEqual(caughtBy);
  });

  it.each([
    ['it resolves another one', { refUID: PREVIOUS.uid }, {}, ['resolves', 'row']],
    ['it came before the end of the window', { time: RESOLVES / 1_000 - 1 }, {}, ['afterWindow', 'row']],
    ['it reveals another salt', {}, { salt: zeroHash }, ['opening', 'row']],
    ['its return is not that of its closes', {}, { returnBps: 0 }, ['return']],
    ['its outcome is not that of its closes', {}, { outcome: 'WIN' }, ['outcome']],
    ['its signal says another direction', {}, { signal: 'SELL' }, ['values', 'opening', 'row']],
  ])('is a mismatch when in its resolution %s', (_, what, values, caughtBy) => {
    const first = prediction();
    expect(wrongIn(evidence({}, { first, second: resolution(first.uid, what, values) }))).toEqual(caughtBy);
  });

  it('is a mismatch when the metadata differs', () => {
    expect(wrongIn(evidence({}, { metadata: METADATA.slice(1) }))).toEqual(['metadata']);
  });
});

describe('an unresolved row', () => {
  it('leaves hidden values open', () => {
    const unresolved = evidence(OPEN, { second: null, now: new Date(OPENS) });
    expect(verify(unresolved)).toMatchObject({ verdict: 'pass', summary: 'Verified so far: 14 of 17 checks agree', stage: 'open' });
    expect(openIn(unresolved)).toEqual(['opening', 'revealed', 'price']);
    expect(wrongIn(evidence({ ...OPEN, status: 'WIN' }, { second: null }))).toEqual(['row']);
  });

  it('opens its commitment with the salt, and with no other values', () => {
    const read = { ...OPEN, signal: 'BUY', direction: 'UP', confidence: 0.5889, pUp: 0.5889 };
    const revealed = { second: null, salt: OPENING.salt, now: new Date(OPENS) };
    expect(verify(evidence(read, revealed))).toMatchObject({ verdict: 'pass', summary: 'Verified so far: 15 of 17 checks agree' });
    for (const lie of [{ direction: 'DOWN' }, { pUp: 0.58891 }, { btcPrice: 104_117.13 }, { signal: 'SELL' }]) {
      expect(wrongIn(evidence({ ...read, ...lie }, revealed))).toEqual(['opening']);
    }
  });

  it('is void only when late or missed', () => {
    expect(verify(evidence(VOID_ROW, { first: LATE, second: null })).verdict).toBe('pass');
    expect(verify(evidence(MISSED_ROW, { first: MISSED, second: null })).verdict).toBe('pass');
    expect(wrongIn(evidence(VOID_ROW, { second: null }))).toEqual(['inTime', 'row']);
    expect(wrongIn(evidence(MISSED_ROW, { second: null }))).toEqual(['inTime', 'row']);
  });
});

describe('an unchecked row', () => {
  it('is neither verified nor a mismatch', () => {
    const notYet = evidence({ ...OPEN, attestationUid: null }, { prediction: null, second: null, now: new Date(OPENS - 1) });
    expect(verify(notYet)).toMatchObject({
      verdict: 'unknown',
      summary: expect.stringContaining('it is not on chain yet'),
    });
    expect(verify({ ...notYet, now: new Date(OPENS) }).summary).toContain(
      'it is not on chain, and its window opened at 2026-03-02T00:00:00.000Z',
    );
    expect(verify(evidence({}, { prediction: evidenceOf('prediction', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'unknown',
      summary: 'Could not be checked: it is silent',
    });
    expect(verify(evidence({}, { resolution: evidenceOf('resolution', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'unknown',
    });
  });

  it('is a mismatch when a part of it differs', () => {
    expect(verify(evidence({ sequence: 7 }, { resolution: evidenceOf('resolution', PREVIOUS.uid, SILENT) }))).toMatchObject({
      verdict: 'fail',
    });
    expect(verify(evidence({}, { prediction: evidenceOf('prediction', PREVIOUS.uid, null) }))).toMatchObject({
      summary: 'Does not match: found',
    });
  });

  it('leaves unavailable metadata open', () => {
    const given = evidence({}, { metadata: { problem: 'gone' } });
    expect(verify(given).verdict).toBe('pass');
    expect(openIn(given)).toEqual(['metadata']);
  });
});
