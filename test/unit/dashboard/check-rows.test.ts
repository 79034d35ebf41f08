import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { doubtOf } from '../../../src/dashboard/chain/chain-asked.js';
import { checkRows } from '../../../src/dashboard/check/check-rows.js';
import type { Finding } from '../../../src/dashboard/check/verify.js';
import type { Answers, ScorecardRow } from '../../../src/dashboard/state/answers.ts';
import { ATTESTER, METADATA, OPENS, PREVIOUS, prediction, ROW, resolution } from './evidence.ts';

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

const word = (value: string | number | boolean) => BigInt(value).toString(16).padStart(64, '0');

/** What `getAttestation` answers with. */
function encoded({ uid, schema, time, refUID, recipient, attester, data }: typeof first): string {
  const bytes = data.slice(2);
  const head = [uid, schema, time, 0, 0, refUID, recipient, attester, false, 320, bytes.length / 2].map(word);
  return `0x${word(32)}${head.join('')}${bytes.padEnd(Math.ceil(bytes.length / 64) * 64, '0')}`;
}

/** What an honest endpoint of chain 8453 answers: there is a block each two seconds. */
const ENDPOINT: Record<string, (params: never[]) => unknown> = {
  eth_chainId: () => '0x2105',
  eth_call: ([{ data }]: { data: string }[]) => {
    const found = [first, second, twin, PREVIOUS].find(({ uid }) => data.endsWith(uid.slice(2)));
    return found && encoded(found);
  },
  eth_getBlockByNumber: ([name]: string[]) => {
    const number = name === 'latest' ? NEWEST_BLOCK : Number(name);
    return { number: `0x${number.toString(16)}`, timestamp: `0x${(GENESIS + 2 * number).toString(16)}` };
  },
  eth_getLogs: ([range]: { fromBlock: string; toBlock: string }[]) => {
    const isIn = ({ time }: typeof first) => blockAt(time) >= Number(range.fromBlock) && blockAt(time) <= Number(range.toBlock);
    return onChain.filter(isIn).map(({ uid }) => ({ data: uid }));
  },
};

const GENESIS = OPENS / 1_000 - 20_000_000;
const blockAt = (time: number) => (time - GENESIS) / 2;
const NEWEST_BLOCK = 10_200_000;
/** Commits to the other way, as far ahead of the window. */
const twin = prediction({}, `0x${'77'.repeat(32)}`);
let onChain: (typeof first)[];
let posts: { method: string; params: never[] }[][];

/** That endpoint, and the service's published metadata. */
async function world(url: string | URL, request: RequestInit) {
  if (String(url).includes('ipfs')) return new Response(METADATA);
  const asked = JSON.parse(String(request.body)) as { id: number; method: string; params: never[] }[];
  posts.push([asked].flat());
  const answer = ({ id, method, params }: (typeof asked)[number]) => ({ id, result: ENDPOINT[method]!(params) });
  return Response.json(Array.isArray(asked) ? asked.map(answer) : answer(asked));
}

const reported = vi.fn();
beforeEach(() => {
  onChain = [PREVIOUS, first];
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
} as unknown as Answers['info'];

async function findingsOf(rows: readonly ScorecardRow[], info = INFO): Promise<Finding[]> {
  const findings: Finding[] = [];
  await checkRows({
    ...{ rows, info, shown: { horizon: 2, known: [...rows, before] }, endpoint: 'https://honest.example/', token: null },
    signal: new AbortController().signal,
    onFinding: (_, finding) => void findings.push(finding),
  });
  return findings;
}

it('reads a row with the one before it, and finds that all agrees', async () => {
  expect(await findingsOf([row])).toMatchObject([{ verdict: 'verified', open: [] }]);
});

it('finds what the wallet has committed a second time for the same day, in few questions', async () => {
  onChain.push(twin);
  expect(await findingsOf([row])).toMatchObject([{ verdict: 'mismatch', words: 'Does not match: prediction commitments' }]);
  // Chain, its two ends, the blocks of the time, the events in them, what these name; then the row itself.
  expect(posts.map((calls) => calls[0]?.method)).toEqual([
    ...['eth_chainId', 'eth_getBlockByNumber', 'eth_getBlockByNumber', 'eth_getLogs', 'eth_call', 'eth_call'],
  ]);
  const [{ fromBlock, toBlock }] = posts[3]![0]!.params as { fromBlock: string; toBlock: string }[];
  expect([Number(fromBlock), Number(toBlock)]).toEqual([blockAt(OPENS / 1_000 - 18_000), blockAt(OPENS / 1_000) - 1]);
});

it.each([
  ['refuses', () => undefined, 'it answers without a result'],
  ['answers with something else', () => 'none', 'its logs are no list'],
  ['leaves out what it has', () => [], 'the endpoint leaves out this one where it lists what the wallet has attested'],
])('says where the endpoint %s that nobody has looked for another one', async (_, logs, why) => {
  vi.stubGlobal('fetch', async (url: string, request: RequestInit) => {
    if (!String(request.body).includes('eth_getLogs')) return world(url, request);
    return Response.json({ id: 1, result: logs() });
  });
  const what = 'whether the wallet committed to another call for this day';
  expect(await findingsOf([row])).toMatchObject([{ verdict: 'verified', open: [{ what, why, isDue: false }] }]);
});

it('looks through no more blocks than an endpoint should be asked for', async () => {
  const longAgo = { ...row, sequence: 12, windowOpensAt: new Date(OPENS - 10 * DAY_MS).toISOString() };
  const [finding] = await findingsOf([row, longAgo]);
  expect(finding).toMatchObject({
    verdict: 'verified',
    open: [{ why: expect.stringMatching(/^that takes 441000 blocks of so many rows/) }],
  });
  expect(posts.flat().some(({ method }) => method === 'eth_getLogs')).toBe(false);
});

it('goes on where a row names what is no uid, or is none', async () => {
  const odd = { ...row, sequence: 12, attestationUid: '0x12g4' };
  const none = { ...row, sequence: 13, outcome: undefined, windowOpensAt: undefined, attestationUid: null } as unknown as ScorecardRow;
  const findings = await findingsOf([odd, none, row]);
  expect(findings.map(({ verdict }) => verdict)).toEqual(['mismatch', 'mismatch', 'verified']);
  expect(findings[0].words).toContain('prediction attestation');
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
  expect(others.map(({ words }) => words)).toEqual([
    'Could not be checked: what the service says of it is not what a row can say',
    expect.stringMatching(/^Verified/),
  ]);
  expect(reported).toHaveBeenCalledOnce();
});

it('believes no contract that the service may have written itself', async () => {
  const at = (id: number, eas: string, local = false) =>
    doubtOf({ chain: { ...INFO.chain, id, local }, contracts: { ...INFO.contracts, eas } });
  const fake = `0x${'de'.repeat(20)}`;
  for (const id of [10, 130, 8_453, 84_532]) expect(at(id, EAS)).toBeNull();
  expect(at(8_453, fake)).toMatch(/^the service names 0xdede/);
  expect(at(137, fake)).toMatch(/^where the attestation contract of chain 137 is, this page does not know/);
  expect(at(137, EAS)).toMatch(/^where the attestation contract/);
  expect(at(31_337, EAS, true)).toBeNull();
  expect(at(31_337, fake, true)).toMatch(/^the service names/);
  const elsewhere = { ...INFO, chain: { ...INFO.chain, id: 137 }, contracts: { ...INFO.contracts, eas: fake } } as Answers['info'];
  expect(await findingsOf([row], elsewhere)).toMatchObject([{ verdict: 'unchecked', checks: [] }]);
});
