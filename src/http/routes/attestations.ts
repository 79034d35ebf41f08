import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import { attestationStats, latestAttestation, listAttestations } from '../../record/attestations.ts';
import { limit, uid } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';
import { ANYTHING } from '../schemas/anything.ts';
import { verifyAttestation } from './verify.ts';

const DEFAULT_HORIZON_DAYS = 7;

/** Interface, section 2.5. */
export function attestationRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/onchain-oracle/latest',
      name: 'getLatestAttestation',
      tag: 'record',
      reply: ANYTHING,
      summary: 'The newest prediction attestation of the default horizon',
      async handle({ caller }) {
        const data = await latestAttestation(parts.record, DEFAULT_HORIZON_DAYS, parts.viewFor(caller));
        if (data === null) throw new OracleError('NOT_FOUND', 'Nothing has been attested yet');
        return { body: { success: true, data } };
      },
    }),
    route({
      path: '/api/svc/onchain-oracle/history',
      name: 'listAttestations',
      tag: 'record',
      reply: ANYTHING,
      summary: 'Prediction and resolution attestations of all horizons, newest first',
      query: z.object({ limit: limit(100, 30) }),
      async handle({ query, caller }) {
        const { attestations, total } = await listAttestations(parts.record, query.limit, parts.viewFor(caller));
        return { body: { success: true, data: attestations, attestations, count: attestations.length, total } };
      },
    }),
    route({
      path: '/api/svc/onchain-oracle/verify/{uid}',
      name: 'verifyAttestation',
      tag: 'record',
      reply: ANYTHING,
      summary: 'An attestation as it stands on chain, compared with the record field by field',
      params: z.object({ uid }),
      handle: ({ params, caller }) => verifyAttestation(parts, params.uid, caller),
    }),
    route({
      path: '/api/svc/onchain-oracle/stats',
      name: 'getAttestationStats',
      tag: 'record',
      reply: ANYTHING,
      summary: 'How much has been attested, since when, and at what cost',
      handle: () => stats(parts),
    }),
  ];
}

async function stats(parts: HttpParts): Promise<Reply> {
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
