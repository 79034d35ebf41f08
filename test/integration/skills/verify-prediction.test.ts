import { encodeAbiParameters, type Hex, keccak256, parseAbiParameters, toHex, zeroHash } from 'viem';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { DIRECTION_CODES, getSchemaUid, type PredictionData, SIGNAL_CODES } from '../../../src/chain/eas/schemas.ts';
import { OracleError } from '../../../src/errors.ts';
import { formatDay } from '../../../src/forecast/day.ts';
import type { ForecastDoc } from '../../../src/record/forecast-doc.ts';
import { verifyAttestation } from '../../../src/record/verification.ts';
import { CATALOGUE } from '../../../src/verify/findings.ts';
import { REACHED } from '../../support/clock/trusted-time.ts';
import { fullService } from '../../support/service/full-service.ts';
import { type TestService, today } from '../../support/service/service.ts';
import { BASIC, buildSkillDeps, createTestRunner, type RunSkillById } from '../../support/service/skills.ts';

const COMMITTED = parseAbiParameters('bytes32, uint8, uint8, uint16, uint16, uint64');

let service: TestService;
let run: RunSkillById;
let resolved: ForecastDoc;
let pending: ForecastDoc;

beforeAll(async () => {
  service = await fullService();
  run = createTestRunner(buildSkillDeps(service.http));
  const { forecasts } = service.pipeline.record;
  resolved = (await forecasts.findOne({ horizonDays: 7, reveal: { $ne: null } }, { sort: { day: -1 } }))!;
  pending = (await forecasts.findOne({ horizonDays: 7, state: 'PENDING' }, { sort: { day: -1 } }))!;
});
afterAll(() => service?.stop());

const verify = (input: Record<string, unknown>, caller = PUBLIC_CALLER) =>
  run('verify_prediction', input, caller).then(({ output }) => output);

const ids = (entries: { check: string }[]) => entries.map(({ check }) => check);

/** Hash of revealed values and salt by the published formula. */
function hashOf({ salt, signal, direction, confidence, pUp, btcPrice }: Record<string, unknown>): string {
  const codes = [SIGNAL_CODES[signal as 'BUY'], DIRECTION_CODES[direction as 'UP']] as const;
  const [confidenceBps, pUpBps] = [confidence, pUp].map((p) => Math.round((p as number) * 10_000));
  const cents = BigInt(Math.round((btcPrice as number) * 100));
  return keccak256(encodeAbiParameters(COMMITTED, [salt as Hex, ...codes, confidenceBps, pUpBps, cents]));
}

/** Runs with one field of the forecast document changed, and restores it. */
async function altered(doc: ForecastDoc, change: Record<string, unknown>, look: () => Promise<void>): Promise<void> {
  const { forecasts } = service.pipeline.record;
  await forecasts.updateOne({ _id: doc._id }, { $set: change });
  try {
    await look();
  } finally {
    await forecasts.replaceOne({ _id: doc._id }, doc);
  }
}

describe('a resolved forecast', () => {
  it('is verified by the same checks under each of its identifiers', async () => {
    const { day, horizonDays, _id, attestation, reveal } = resolved;
    const ways = [
      { date: formatDay(day) },
      { date: formatDay(day), horizon: `${horizonDays}d` },
      { predictionId: _id },
      { predictionId: _id, horizon: '7d' },
      { uid: attestation!.uid },
      { uid: reveal!.uid },
      { uid: `0x${reveal!.uid.slice(2).toUpperCase()}` },
    ];
    const answers = await Promise.all(ways.map((way) => verify(way)));
    for (const { asOf: _, ...answer } of answers) expect({ ...answer, asOf: answers[0].asOf }).toEqual(answers[0]);
    const [{ verified, verdict, agreeing, total, checks, unchecked, prediction, attestations }] = answers;
    expect({ verified, failing: checks.filter(({ ok }: { ok: boolean }) => !ok) }).toEqual({ verified: true, failing: [] });
    expect([checks.length, checks.length + unchecked.length]).toEqual([agreeing, total]);
    expect(verdict).toMatch(new RegExp(`^${agreeing} of ${total} checks agree: .*; not checked: closes, sequence in part$`));
    // The service asks no venue for its own closes.
    expect(ids(unchecked)).toEqual(['price']);
    expect(prediction.predictionId).toBe(_id);
    expect(attestations.map(({ type, uid, onChain }: Record<string, unknown>) => [type, uid, onChain])).toEqual([
      ['prediction', attestation!.uid, true],
      ['resolution', reveal!.uid, true],
    ]);
  });

  it('has an entry for each check of the catalogue that concerns it, in its order, with the rule', async () => {
    const { checks, unchecked } = await verify({ predictionId: resolved._id });
    const listed = new Set(ids([...checks, ...unchecked]));
    expect(listed.size).toBe(checks.length + unchecked.length);
    expect(ids(CATALOGUE.filter(({ id }) => !listed.has(id)).map(({ id: check }) => ({ check })))).toEqual([
      ...['void', 'oneClose', 'shown', 'figure', 'evidence'],
    ]);
    expect(checks.map(({ check, what }: { check: string; what: string }) => [check, what])).toEqual(
      CATALOGUE.flatMap(({ id, rule }) => (ids(checks).includes(id) ? [[id, rule]] : [])),
    );
  });

  it.each([
    ['confidence', (doc: ForecastDoc) => ({ 'values.confidenceBps': doc.values!.confidenceBps + 1 }), 'commitment'],
    ['outcome', (doc: ForecastDoc) => ({ 'resolution.outcome': doc.resolution!.outcome === 'WIN' ? 'LOSS' : 'WIN' }), 'outcome'],
    ['place in the record', (doc: ForecastDoc) => ({ sequence: doc.sequence + 1_000 }), 'sequence'],
    ['time', (doc: ForecastDoc) => ({ windowOpensAt: new Date(doc.attestation!.at.getTime() - 1_000) }), 'windowOpensAt'],
  ])('is not verified when its record was changed: %s', async (_, change, field) => {
    await altered(resolved, change(resolved), async () => {
      const output = await verify({ predictionId: resolved._id });
      expect(output.verified).toBe(false);
      expect(output.verdict).toMatch(/^\d+ of \d+ checks FAIL \(.+\): do not rely on this forecast$/);
      const failing = output.checks.filter(({ ok }: { ok: boolean }) => !ok);
      expect(failing.flatMap(({ differences }: { differences: object[] }) => differences)).toContainEqual(
        expect.objectContaining({ field }),
      );
      expect(output.agreeing).toBe(output.checks.length - failing.length);
    });
  });

  it('is not verified when its attestation is not on chain', async () => {
    const uid = toHex(1, { size: 32 });
    await altered(resolved, { 'attestation.uid': uid }, async () => {
      const output = await verify({ predictionId: resolved._id });
      expect(output.verified).toBe(false);
      expect(output.checks).toContainEqual(
        expect.objectContaining({
          ...{ check: 'found', ok: false },
          differences: [{ attestation: 'prediction', field: 'uid', expected: uid, actual: null }],
        }),
      );
      expect(output.attestations[0]).toMatchObject({ uid, onChain: false, blockTime: null });
      expect((await run('verify_prediction', { predictionId: resolved._id })).text).toContain('NOT VERIFIED');
    });
  });
});

describe('an unresolved forecast', () => {
  it('is verified as far as public, with gated values reported as unchecked', async () => {
    const { verified, verdict, checks, unchecked, prediction } = await verify({ predictionId: pending._id });
    expect(verified).toBe(true);
    expect(verdict).toMatch(/; not checked: withheld reveal, commitment, sequence in part, size of the move in part$/);
    expect(ids(checks).filter((check) => ['opening', 'values', 'return', 'outcome', 'distributions', 'scores'].includes(check))).toEqual(
      [],
    );
    expect(ids(unchecked)).toEqual(['revealed', 'opening']);
    expect(unchecked[1].reason).toContain(pending.resolvesAt.toISOString());
    expect(prediction).toMatchObject({ signal: 'GATED', direction: null, confidence: null, pUp: null, salt: null, status: 'PENDING' });
  });

  it('returns values and salt to Basic that hash to the commitment on chain', async () => {
    const open = await service.pipeline.record.forecasts.find({ state: 'PENDING' }).toArray();
    expect(open.length).toBeGreaterThan(4);
    for (const { _id, attestation } of open) {
      const { prediction, checks, unchecked } = await verify({ predictionId: _id }, BASIC);
      expect(checks).toContainEqual(expect.objectContaining({ check: 'opening', ok: true, open: null }));
      expect(ids(unchecked)).toEqual(['revealed']);
      const onChain = (await service.http.attestations.read(attestation!.uid))!;
      expect(hashOf(prediction)).toBe(prediction.commitment);
      expect(onChain.decoded).toContainEqual({ name: 'commitment', type: 'bytes32', value: hashOf(prediction) });
    }
  });

  it('is not verified before it is on chain, and reports the deadline', async () => {
    await altered(pending, { state: 'DRAFT', attestation: null }, async () => {
      const { output, text } = await run('verify_prediction', { predictionId: pending._id });
      expect(output).toMatchObject({ verified: false, agreeing: 0, total: 1, checks: [], attestations: [] });
      expect(output.verdict).toMatch(/^nothing could be checked: it is not on chain/);
      expect(output.unchecked[0].reason).toContain(pending.windowOpensAt.toISOString());
      expect(text).toContain('NOT VERIFIED');
    });
  });

  it('reports one as void that is on chain in time', async () => {
    await altered(pending, { state: 'VOID', windowOpensAt: new Date(pending.attestation!.at.getTime() - 1_000) }, async () => {
      const { checks, verdict } = await verify({ predictionId: pending._id });
      const differences = [expect.objectContaining({ field: 'time' })];
      expect(checks).toContainEqual(expect.objectContaining({ check: 'inTime', ok: false, differences }));
      // Its window on chain differs from that of the record here.
      expect(verdict).toContain('(inTime, row)');
    });
  });
});

describe('a missing forecast', () => {
  const unknown = `0x${'1'.repeat(64)}`;

  it.each([
    [{ date: '2001-01-01' }, 'date'],
    [{ predictionId: '2001-01-01:7d' }, 'predictionId'],
    [{ predictionId: '2026-02-31:7d' }, 'predictionId'],
    [{ uid: unknown }, 'uid'],
  ])('returns NOT_FOUND: %j', async (input, field) => {
    await expect(verify(input)).rejects.toMatchObject({ code: 'NOT_FOUND', field });
  });

  it('names the days of the record', async () => {
    const error: OracleError = await verify({ date: '2001-01-01' }).catch((thrown) => thrown);
    expect(error.suggestedAction).toContain(formatDay((await service.pipeline.record.findLastDay())!));
  });

  it('returns INPUT_INVALID for contradicting identifiers', async () => {
    const error = { code: 'INPUT_INVALID', field: 'horizon' };
    await expect(verify({ predictionId: resolved._id, horizon: '2d' })).rejects.toMatchObject(error);
    await expect(verify({ uid: resolved.attestation!.uid, horizon: '1d' })).rejects.toMatchObject(error);
  });

  it('reports attester and schema of a foreign attestation', async () => {
    const day = today() - 400;
    const times = { windowOpensAt: new Date((day + 1) * 86_400_000), resolvesAt: new Date((day + 8) * 86_400_000) };
    const digests = { commitment: zeroHash, inputsDigest: zeroHash, metadata: zeroHash, refUid: zeroHash };
    const stray: PredictionData & { refUid: typeof zeroHash } = { sequence: 1, day, horizonDays: 7, ...times, ...digests };
    const [{ uid }] = await service.pipeline.attester.attestPredictions('attest:stray', [stray], REACHED);
    const attester = service.http.wallets.attester.address;
    const details = { ofThisService: false, attester, schemaUid: getSchemaUid('prediction'), schemaName: 'prediction' };
    await expect(run('verify_prediction', { uid })).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'uid', details });
    await expect(verifyAttestation(service.http, uid, PUBLIC_CALLER)).rejects.toMatchObject({ code: 'NOT_FOUND', field: 'uid', details });
  });
});

describe('the manual steps', () => {
  it('name the contract and the chain in use', async () => {
    const { byHand, attestations } = await verify({ predictionId: resolved._id });
    const onChain = (await service.http.attestations.read(attestations[0].uid))!;
    expect(byHand).toMatchObject({
      chain: `eip155:${service.http.chain.chainId}`,
      attester: onChain.attester,
      easContract: service.http.chain.addresses.eas,
    });
    expect(byHand.predictionSchema).toEqual({ uid: onChain.schemaUid, fields: onChain.schema });
    expect(byHand.codes).toContain('BUY 1');
  });
});

it('returns CHAIN_UNREACHABLE when the chain does not answer', async () => {
  const silent = async () => {
    throw new OracleError('CHAIN_UNREACHABLE', 'Reading an attestation: the chain does not answer');
  };
  const cut = createTestRunner(buildSkillDeps(service.http, { attestations: { ...service.http.attestations, read: silent } }));
  await expect(cut('verify_prediction', { predictionId: resolved._id })).rejects.toMatchObject({
    code: 'CHAIN_UNREACHABLE',
    retryable: true,
  });
});
