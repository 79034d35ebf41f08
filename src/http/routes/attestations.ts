import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { attestationStats, latestAttestation, listAttestations } from '../../record/attestations.ts';
import type { Caller } from '../../record/caller.ts';
import {
  ATTESTATION_HISTORY,
  ATTESTATION_STATS,
  type AttestationHistory,
  type AttestationStatsReply,
  LATEST_ATTESTATION,
  type LatestAttestation,
  VERIFICATION,
} from '../../record/schemas/attestations.ts';
import { verifyAttestation } from '../../record/verification.ts';
import { limit, PAGES, uid } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';

const DEFAULT_HORIZON_DAYS = 7;

/** Interface, section 2.5. */
export function attestationRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/onchain-oracle/latest',
      name: 'getLatestAttestation',
      tag: 'record',
      reply: LATEST_ATTESTATION,
      summary: 'The newest prediction attestation of the default horizon',
      errors: ['NOT_FOUND'],
      handle: ({ caller }) => latest(parts, caller),
    }),
    route({
      path: '/api/svc/onchain-oracle/history',
      name: 'listAttestations',
      tag: 'record',
      reply: ATTESTATION_HISTORY,
      summary: 'Prediction and resolution attestations of all horizons, newest first',
      query: z.object({ limit: limit(PAGES.attestations.most, PAGES.attestations.default) }),
      handle: ({ query, caller }) => history(parts, query.limit, caller),
    }),
    route({
      path: '/api/svc/onchain-oracle/verify/{uid}',
      name: 'verifyAttestation',
      tag: 'record',
      cost: 'rpc',
      reply: VERIFICATION,
      errors: ['NOT_FOUND'],
      summary: 'An attestation as it stands on chain, compared with the record field by field',
      params: z.object({ uid }),
      handle: async ({ params, caller }) => ({ body: await verifyAttestation(parts, params.uid, caller) }),
    }),
    route({
      path: '/api/svc/onchain-oracle/stats',
      name: 'getAttestationStats',
      tag: 'record',
      reply: ATTESTATION_STATS,
      summary: 'How much has been attested, since when, and at what cost',
      handle: () => stats(parts),
    }),
  ];
}

async function latest(parts: HttpParts, caller: Caller): Promise<Reply<LatestAttestation>> {
  const data = await latestAttestation(parts.record, DEFAULT_HORIZON_DAYS, parts.viewFor(caller));
  if (data === null) throw new OracleError('NOT_FOUND', 'Nothing has been attested yet');
  return { body: { success: true, data } };
}

async function history(parts: HttpParts, newest: number, caller: Caller): Promise<Reply<AttestationHistory>> {
  const { attestations, total } = await listAttestations(parts.record, newest, parts.viewFor(caller));
  return { body: { success: true, data: attestations, attestations, count: attestations.length, total } };
}

async function stats(parts: HttpParts): Promise<Reply<AttestationStatsReply>> {
  const { predictions, resolutions, firstAttestation, latestAttestation, totalGasWei } = await attestationStats(parts.record);
  return {
    body: {
      success: true,
      data: { totalPublished: predictions, totalResolved: resolutions, totalGasWei: totalGasWei.toString() },
      totalAttestations: predictions + resolutions,
      predictions,
      resolutions,
      firstAttestation,
      latestAttestation,
      chain: `eip155:${parts.chainId}`,
      attester: parts.attesterAddress,
    },
  };
}
