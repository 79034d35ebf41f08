import { spawn } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { hashTypedData, parseSignature, serializeCompactSignature, signatureToCompactSignature } from 'viem';
import { generatePrivateKey, privateKeyToAccount } from 'viem/accounts';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  CLOCK_TOLERANCE_MS,
  COMMITMENT_PRIMARY_TYPE,
  COMMITMENT_TYPES,
  type ContestDomain,
  createContest,
  renderContestMarkdown,
} from '../../../src/contest.ts';
import { fundGas } from '../../../src/dev/local-chain/contracts.ts';
import { toInstantMs } from '../../../src/forecast/day.ts';
import { CONTEST_COMMIT_REPLY } from '../../../src/http/routes/contest.ts';
import { walletFactory } from '../../support/chain/contract-wallet.ts';
import { timeOf } from '../../support/clock/trusted-time.ts';
import { contestDoor, LEADERBOARD, MARKETS, STATUS, signedCommitment } from '../../support/contest/contest-api.ts';
import { type ContestService, youngContest } from '../../support/contest/contest-service.ts';

const ROOT = resolve(import.meta.dirname, '../../..');

let world: ContestService;
let domain: ContestDomain;
let markets: string[];
const [alice, bob, carol] = Array.from({ length: 3 }, () => privateKeyToAccount(generatePrivateKey()));
const { ask, get, post } = contestDoor(() => world.served.url);

beforeAll(async () => {
  world = await youngContest();
  await world.contest.run();
  const { openRound, signing } = await get(STATUS);
  domain = signing.domain;
  markets = openRound.markets.map(({ market }: { market: string }) => market);
});
afterAll(() => world.stop());

/** Later by a millisecond with each call, as a wallet's clock. */
function tick(): number {
  world.clock.ms += 1;
  return world.clock.ms;
}

type CommitmentValues = Parameters<typeof signedCommitment>[2];

const buildValues = (changes: Partial<CommitmentValues> = {}): CommitmentValues => ({
  market: markets[1],
  probabilityBps: 6_217,
  issuedAtMs: tick(),
  ...changes,
});

async function commitAs(account = alice, changes: Partial<CommitmentValues> = {}) {
  const body = await signedCommitment(domain, account, buildValues(changes));
  return { sent: body, ...(await post(body)) };
}

const stored = () => world.service.database.db.collection('contest_commitments');

function numbersIn(value: unknown): number[] {
  if (typeof value === 'number') return [value];
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(numbersIn) : [];
}

describe('a commitment', () => {
  it('is accepted with a signature and replaced only by a later one', async () => {
    const first = await commitAs(alice, { probabilityBps: 3_000 });
    expect(first.status, JSON.stringify(first.body)).toBe(200);
    const { signature, ...values } = first.sent;
    const message = { ...values, issuedAtMs: BigInt(values.issuedAtMs) };
    const digest = hashTypedData({ domain, types: COMMITMENT_TYPES, primaryType: COMMITMENT_PRIMARY_TYPE, message });
    expect(CONTEST_COMMIT_REPLY.parse(first.body)).toEqual(first.body);
    expect(first.body).toMatchObject({ success: true, ...values, replaced: false, digest });
    const second = await commitAs(alice, { probabilityBps: 6_217 });
    expect(second.body).toMatchObject({ probabilityBps: 6_217, replaced: true });
    expect(second.sent.signature).not.toBe(signature);

    // What was signed before, or at the same moment, brings nothing back.
    const sameMoment = await signedCommitment(domain, alice, buildValues({ probabilityBps: 9_000, issuedAtMs: second.sent.issuedAtMs }));
    for (const again of [first.sent, second.sent, sameMoment]) {
      const refused = await post(again);
      expect(refused).toMatchObject({ status: 409, body: { code: 'CONFLICT', field: 'issuedAtMs' } });
      expect(JSON.stringify(refused.body)).not.toContain('6217');
    }
    expect(await stored().findOne({ wallet: alice.address })).toMatchObject({ probabilityBps: 6_217 });
  });

  it('keeps the newest of concurrent requests', async () => {
    const bodies = await Promise.all(
      Array.from({ length: 12 }, (_, i) => signedCommitment(domain, bob, buildValues({ market: markets[0], probabilityBps: 1_000 + i }))),
    );
    const answers = await Promise.all(bodies.toReversed().map(post));
    expect(answers.filter(({ status, body }) => status === 200 && !body.replaced)).toHaveLength(1);
    expect(answers.every(({ status }) => status === 200 || status === 409)).toBe(true);
    expect(await stored().find({ market: markets[0] }).toArray()).toMatchObject([{ wallet: bob.address, probabilityBps: 1_011 }]);
  });

  it('is accepted with a compact signature (EIP-2098)', async () => {
    const sent = await signedCommitment(domain, alice, buildValues());
    const compact = serializeCompactSignature(signatureToCompactSignature(parseSignature(sent.signature)));
    expect(await post({ ...sent, signature: compact })).toMatchObject({ status: 200 });
    expect(await stored().findOne({ wallet: alice.address })).toMatchObject({ issuedAtMs: sent.issuedAtMs });
  });

  it("of a contract wallet requires its owner's signature", async () => {
    const payer = privateKeyToAccount(generatePrivateKey());
    const { rpcUrl } = world.service.infrastructure;
    await fundGas(rpcUrl, [payer.address]);
    const contract = await (await walletFactory(world.chain, rpcUrl, payer))(carol.address);
    await contract.deploy();
    const others = await post(await signedCommitment(domain, bob, buildValues({ market: markets[2] }), contract.address));
    expect(others).toMatchObject({ status: 401, body: { field: 'signature' } });
    const owners = await post(await signedCommitment(domain, carol, buildValues({ market: markets[2] }), contract.address));
    expect(owners, JSON.stringify(owners.body)).toMatchObject({ status: 200, body: { wallet: contract.address } });
  });

  it("requires the wallet's signature over its values and this deployment", async () => {
    const good = await signedCommitment(domain, alice, buildValues());
    const wrong: [string, object][] = [
      ["another's wallet", { ...good, wallet: bob.address }],
      ['another probability', { ...good, probabilityBps: 6_218 }],
      ['another market', { ...good, market: markets[0] }],
      ['another time', { ...good, issuedAtMs: good.issuedAtMs + 1 }],
      ['another agent', await signedCommitment({ ...domain, salt: `0x${'0'.repeat(63)}1` }, alice, buildValues())],
      ['another chain', await signedCommitment({ ...domain, chainId: 1 }, alice, buildValues())],
      ['another registry', await signedCommitment({ ...domain, verifyingContract: alice.address }, alice, buildValues())],
      ['no signature at all', { ...good, signature: `0x${'00'.repeat(65)}` }],
      ['something else', { ...good, signature: '0x1234' }],
    ];
    for (const [what, body] of wrong) {
      expect(await post(body), what).toMatchObject({ status: 401, body: { code: 'UNAUTHENTICATED', field: 'signature' } });
    }
    expect(await post(good)).toMatchObject({ status: 200 });
  });

  it('is rejected for an invalid field by name', async () => {
    const good = await signedCommitment(domain, alice, buildValues());
    const { wallet: _, ...withoutWallet } = good;
    const wrong: [string, object, number?][] = [
      ['probabilityBps', { ...good, probabilityBps: 99 }],
      ['probabilityBps', { ...good, probabilityBps: 9_901 }],
      ['probabilityBps', { ...good, probabilityBps: 50.5 }],
      ['probabilityBps', { ...good, probabilityBps: '5000' }],
      ['wallet', { ...good, wallet: '0x12' }],
      ['wallet', withoutWallet],
      ['signature', { ...good, signature: '0x123' }],
      ['signature', { ...good, signature: `0x${'00'.repeat(8_193)}` }],
      ['issuedAtMs', { ...good, issuedAtMs: -1 }],
      ['issuedAtMs', { ...good, issuedAtMs: Math.floor(good.issuedAtMs / 1_000) }],
      ['market', { ...good, market: 'x'.repeat(50) }],
      ['extra', { ...good, extra: 1 }],
      ['market', { ...good, market: `${markets[0]}9` }, 404],
      ['market', { ...good, market: '1999-W01-62000' }, 404],
    ];
    for (const [field, body, status = 400] of wrong) {
      expect(await post(body), JSON.stringify(body).slice(0, 300)).toMatchObject({ status, body: { field, success: false } });
    }
    for (const offMs of [-CLOCK_TOLERANCE_MS - 10, CLOCK_TOLERANCE_MS + 10]) {
      const off = await commitAs(alice, { issuedAtMs: world.clock.ms + offMs });
      expect(off).toMatchObject({ status: 400, body: { field: 'issuedAtMs', serverTimeMs: world.clock.ms } });
    }
  });

  it('is hidden', async () => {
    expect((await get(STATUS)).counts.commitments).toBe(await stored().countDocuments());
    for (const path of [STATUS, MARKETS, LEADERBOARD]) {
      const body = await get(path);
      expect(numbersIn(body), path).not.toContain(6_217);
      expect(numbersIn(body), path).not.toContain(0.6217);
      expect(JSON.stringify(body), path).not.toContain(alice.address);
    }
  });
});

describe('docs/CONTEST.md', () => {
  it('has a working example', async () => {
    const document = await readFile(resolve(ROOT, 'docs/CONTEST.md'), 'utf8');
    const [, example] = /```js\n(.*?)```/s.exec(document)!;
    const key = generatePrivateKey();
    const clock = `data:text/javascript,Date.now=()=>${tick()}`;
    const child = spawn(process.execPath, ['--import', clock, '--input-type=module', '-'], {
      cwd: ROOT,
      env: { ...process.env, SERVICE_URL: world.served.url, PRIVATE_KEY: key },
      stdio: ['pipe', 'pipe', 'pipe'],
    });
    child.stdin.end(example);
    const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
    expect(output, errors).toMatch(/^Will BTC\/USD close above [\d,]+ on \d{4}-\d\d-\d\d \(UTC\)\?\n200 \{/);
    const doc = await stored().findOne({ wallet: privateKeyToAccount(key).address });
    expect(doc).toMatchObject({ probabilityBps: 6_200, issuedAtMs: world.clock.ms });
  });

  it('has the numbers of the code', async () => {
    const document = await readFile(resolve(ROOT, 'docs/CONTEST.md'), 'utf8');
    const plain = (markdown: string) => markdown.replaceAll(/ +/g, ' ').replaceAll(/-{3,}/g, '---');
    expect(plain(document), 'run npm run docs:tables').toContain(plain(renderContestMarkdown()));
  });
});

describe('lists', () => {
  it('reject invalid pages', async () => {
    for (const path of [LEADERBOARD, MARKETS]) {
      for (const query of ['limit=0', 'limit=101', 'limit=x', 'offset=-1', 'offset=100001']) {
        const field = query.split('=')[0];
        const answer = await ask(`${path}?${query}`);
        expect(answer, `${path} ${query}`).toMatchObject({ status: 400, body: { field } });
      }
    }
  });
});

describe('at the deadline', () => {
  const lastMoment = () => {
    world.clock.ms = toInstantMs(world.monday) - 2;
  };

  it('rejects commitments, including those in flight', async () => {
    lastMoment();
    expect(await commitAs(bob, { probabilityBps: 4_444 })).toMatchObject({ status: 200 });
    const late = await commitAs(bob, { probabilityBps: 5_555 });
    expect(late).toMatchObject({ status: 409, body: { field: 'market', deadline: new Date(toInstantMs(world.monday)).toISOString() } });

    lastMoment();
    const body = await signedCommitment(domain, bob, buildValues({ probabilityBps: 6_666 }));
    const slow = createContest({
      ...world.service.http,
      deployment: { chainId: domain.chainId, identityRegistry: domain.verifyingContract, agentId: 0 },
      isHolder: async () => false,
      isSignedBy: async () => {
        world.clock.ms = toInstantMs(world.monday);
        return true;
      },
      time: timeOf(() => new Date(world.clock.ms)),
      now: () => new Date(world.clock.ms),
    });
    await expect(slow.commit(body, '192.0.2.1')).rejects.toMatchObject({ code: 'CONFLICT', field: 'market' });
    expect(await stored().findOne({ wallet: bob.address, market: markets[1] })).toMatchObject({ probabilityBps: 4_444 });
  });
});
