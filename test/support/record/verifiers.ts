import type { Address, Hex } from 'viem';
import { audit } from '../../../src/audit/audit.ts';
import type { AuditPrices } from '../../../src/audit/chain-record.ts';
import { type Caller, PUBLIC_CALLER } from '../../../src/auth/caller.ts';
import { createAttestationReader } from '../../../src/chain/eas/schemas.ts';
import { openAuditChain } from '../../../src/cli/svc/audit-options.ts';
import type { Context } from '../../../src/context.ts';
import { type ForecastDoc, formatForecastId } from '../../../src/record/forecast-doc.ts';
import { buildForecastEvidence, readChainEvidence } from '../../../src/record/verification.ts';
import { createFindings } from '../../../src/verify/findings.ts';
import { listForecastChecks } from '../../../src/verify/summary.ts';
import { checkForecastEvidence } from '../../../src/verify/verify.ts';
import { cli } from '../service/cli.ts';
import { closeUsd, openingOf, type Place, predictionOf, resolutionOf, SALT_SECRET } from './audit-record.ts';

export interface Verified {
  rpcUrl: string;
  attester: Address;
  now: Date;
  /** The forecast, as it was honestly made. */
  place: Place;
  uids: { previous: Hex; prediction: Hex; resolution: Hex };
}

export type Verifier = 'audit' | 'svc verify' | 'svc verify all' | 'REST and skill';

/** Every way to verify a forecast, reduced to the ids of the checks that fail. */
export const VERIFIERS: Record<Verifier, (verified: Verified) => Promise<string[]>> = {
  async audit({ rpcUrl, attester, now }) {
    const report = await audit({ chain: await openAuditChain({ rpcUrl }), attester, prices: PRICES, claims: null, now });
    return report.differences.map(({ check }) => check);
  },
  'svc verify': async ({ uids, ...where }) => runSvc(uids.prediction, where),
  'svc verify all': async (where) => runSvc('all', where),
  'REST and skill': async (verified) => checkAsService(verified),
};

const PRICES: AuditPrices = {
  source: 'the prices of the test',
  toleranceBps: 0,
  endsOn: null,
  closes: async (days) => new Map(days.map((day) => [day, closeUsd(day)])),
  history: async () => null,
};

async function runSvc(id: string, { rpcUrl, attester, now }: Pick<Verified, 'rpcUrl' | 'attester' | 'now'>): Promise<string[]> {
  const environment = { XDG_CONFIG_HOME: '/nowhere' };
  const { out, err } = await cli(['verify', id, '--rpc', rpcUrl, '--attester', attester, '--json'], { now: () => now, environment });
  if (out === '') throw new Error(err);
  return (JSON.parse(out) as { differences: { check: string }[] }).differences.map(({ check }) => check);
}

/** As the operations `verify/{uid}` and `verify_prediction` of a service whose record is honest. */
async function checkAsService({ rpcUrl, attester, now, place, uids }: Verified): Promise<string[]> {
  const { client, addresses } = await openAuditChain({ rpcUrl });
  const attestations = createAttestationReader({ client, addresses });
  const blocks = new Map<string, number>();
  for (const schema of ['prediction', 'resolution'] as const) {
    for (const { uid, blockNumber } of await attestations.find({ schema, attester, fromBlock: 0 })) blocks.set(uid, blockNumber);
  }
  const deps = {
    attestations,
    wallets: { attester: { address: attester } },
    saltSecret: SALT_SECRET,
    // It knows no other attestation, and so reads each.
    record: { known: { findForecast: () => null, findByUid: () => null } },
    now: () => now,
    viewFor: (caller: Caller) => ({ caller, policy: 'immediate', saltSecret: SALT_SECRET, now }) as const,
  } as unknown as Context;
  const findings = createFindings();
  const doc = buildDoc(place, uids, blocks);
  const evidence = buildForecastEvidence(deps, doc, await readChainEvidence(deps, doc), PUBLIC_CALLER);
  const row = checkForecastEvidence(evidence, { attester, now }, findings);
  return listForecastChecks(findings.list, row).checks.flatMap(({ check, ok }) => (ok ? [] : [check]));
}

/** What the record of an honest service has of a resolved forecast. */
function buildDoc(place: Place, { previous, prediction, resolution }: Verified['uids'], blocks: ReadonlyMap<string, number>): ForecastDoc {
  const { refUid: _, metadata, ...data } = predictionOf(place);
  const { salt: __, ...values } = openingOf(place);
  const { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome } = resolutionOf(place);
  const doc = {
    ...{
      _id: formatForecastId(data.day, data.horizonDays),
      ...data,
      metadataDigest: metadata,
      previousUid: previous,
      values,
      missed: false,
    },
    state: 'RESOLVED',
    attestation: { uid: prediction, blockNumber: blocks.get(prediction) ?? 1 },
    reveal: { uid: resolution, blockNumber: blocks.get(resolution) ?? 1 },
    resolution: { btcAtSignalCents, btcAtResolutionCents, returnBps, outcome },
  };
  return doc as unknown as ForecastDoc;
}
