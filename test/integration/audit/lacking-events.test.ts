import type { Hex } from 'viem';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { audit, reportText } from '../../../src/audit/audit.ts';
import type { ServiceClaims } from '../../../src/audit/service-claims.ts';
import { openRecordPrices } from '../../../src/cli/audit.ts';
import { claimsOf, EXIT_CODES, openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import { callJsonRpc } from '../../../src/dev/local-chain/contracts.ts';
import type { ClaimedRow } from '../../../src/verify/evidence.ts';
import { type Breakage, behind, logsLack, openBrokenEndpoint } from '../../support/chain/broken-endpoint.ts';
import type { RpcProxy } from '../../support/chain/rpc-proxy.ts';
import { type Served, serve } from '../../support/http/serve.ts';
import { runPastDay, type TestService, testService, today } from '../../support/service/service.ts';

const DAYS = 5;
const NOTHING = `0x${'7e'.repeat(32)}` as Hex;

let service: TestService;
let served: Served;
let head: number;
const proxies: RpcProxy[] = [];

beforeAll(async () => {
  const first = today() - DAYS;
  service = await testService(DAYS);
  for (let day = first; day < first + DAYS; day++) await runPastDay(service, day);
  service.progress.complete();
  served = await serve(service);
  head = Number(await callJsonRpc<Hex>(service.infrastructure.rpcUrl, 'eth_blockNumber'));
});
afterEach(async () => {
  await Promise.all(proxies.splice(0).map((proxy) => proxy.close()));
});
afterAll(async () => {
  await served.close();
  await service.stop();
});

interface Audited {
  breakage?: Breakage;
  /** Changes what the service claims of a row; null: no service is asked. */
  claim?: ((row: ClaimedRow) => ClaimedRow) | null;
}

async function auditThrough({ breakage = () => ({}), claim = (row) => row }: Audited) {
  const { rpcUrl, contracts } = service.infrastructure;
  const proxy = await openBrokenEndpoint(rpcUrl, breakage);
  proxies.push(proxy);
  const chain = await openAuditChain({ rpcUrl: proxy.url, eas: contracts.eas, schemaRegistry: contracts.schemaRegistry });
  const now = new Date();
  const prices = await openRecordPrices(service.http.market.source, { feeds: '', now });
  return audit({ chain, attester: service.http.wallets.attester.address, prices, claims: claim && claimsWith(claim), now });
}

function claimsWith(claim: (row: ClaimedRow) => ClaimedRow): ServiceClaims {
  const honest = claimsOf(served.url);
  const scorecard: ServiceClaims['scorecard'] = async (horizonDays) => {
    const card = await honest.scorecard(horizonDays);
    return { ...card, predictions: card.predictions.map(claim) };
  };
  return { ...honest, scorecard };
}

const errsFor = (uid: string): Breakage => {
  return () => ({
    onRequest: ({ method, params }) =>
      method === 'eth_call' && JSON.stringify(params).includes(uid.slice(2)) ? { error: { code: -32_603, message: 'no' } } : undefined,
  });
};
const both = (one: Breakage, other: Breakage): Breakage => {
  return (rpcUrl) => ({ onRequest: one(rpcUrl).onRequest, onResponse: other(rpcUrl).onResponse });
};

describe('an endpoint whose events lack blocks', () => {
  it.each([
    ['the last 20', (block: number) => block > head - 20],
    ['some in the middle', (block: number) => block > head - 14 && block <= head - 8],
    ['all', () => true],
  ])('is no proof of a difference: %s', async (_, isLacking) => {
    expect(await auditThrough({})).toMatchObject({ verdict: 'agrees', differences: [], incomplete: [] });
    const report = await auditThrough({ breakage: logsLack(isLacking) });
    expect(report.differences).toEqual([]);
    expect(report).toMatchObject({
      verdict: 'unknown',
      incomplete: [expect.stringMatching(/lists no event of it \(\d+ in all; the first: 0x/)],
    });
    expect(EXIT_CODES[report.verdict]).toBe(4);
    expect(reportText(report)).toMatch(
      /Could not be checked:\n {2}the endpoint returns it .*\n\nUNKNOWN: \d+ of [\d,]+ checks could not be made, none fails\.\n$/,
    );
  });

  it('is none without a service, when later attestations name what is lacking', async () => {
    const breakage = logsLack((block) => block > head - 14 && block <= head - 8);
    expect(await auditThrough({ breakage, claim: null })).toMatchObject({ verdict: 'unknown', differences: [] });
  });

  it('and that does not return an attestation leaves the row and all figures open', async () => {
    const [row] = (await claimsOf(served.url).scorecard(1)).predictions.slice(-1);
    const lacks = logsLack((block) => block > head - 20);
    for (const uid of [row!.attestationUid!, row!.resolutionUid!]) {
      const { verdict, differences, incomplete } = await auditThrough({ breakage: both(errsFor(uid), lacks) });
      expect(differences).toEqual([]);
      expect({ verdict, lines: incomplete.length <= 8 }).toEqual({ verdict: 'unknown', lines: true });
      expect(incomplete.join()).toContain('it could not be read');
    }
  });
});

describe('an endpoint that is behind', () => {
  it.each([1, 3, 6])('by %i blocks says nothing about newer claims', async (blocks) => {
    const report = await auditThrough({ breakage: behind(blocks) });
    expect(report.differences).toEqual([]);
    expect(['unknown', 'agrees']).toContain(report.verdict);
  });
});

describe('a claim that the chain denies', () => {
  it.each([
    ['attestation', (row: ClaimedRow) => ({ ...row, attestationUid: NOTHING })],
    ['resolution', (row: ClaimedRow) => ({ ...row, resolutionUid: NOTHING })],
    ['row', (row: ClaimedRow) => ({ ...row, sequence: 900, attestationUid: NOTHING })],
  ])('differs: an %s of no such uid, also where events lack blocks', async (_, change) => {
    const claim = (row: ClaimedRow) => (row.sequence === 2 ? change(row) : row);
    for (const breakage of [() => ({}), logsLack((block) => block > head - 6)]) {
      const report = await auditThrough({ claim, breakage });
      expect(report.verdict).toBe('differs');
      const others = report.differences.filter(({ check }) => !['row', 'shown', 'figure', 'distributions', 'evidence'].includes(check));
      expect(others).toEqual([]);
    }
  });
});
