import { z } from 'zod';
import { OracleError } from '../../errors.ts';
import type { HorizonName } from '../../forecast/model.ts';
import { horizonDaysOf } from '../../horizon-input.ts';
import { latestAttestation, listAttestations } from '../../record/attestation-history.ts';
import { attestationStats } from '../../record/attestations.ts';
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
import { chosenHorizons, HORIZON_CHOICE } from '../horizon-choice.ts';
import { nextPageHeaders } from '../next-page.ts';
import { limit, PAGES, uid } from '../parameters.ts';
import type { HttpParts } from '../parts.ts';
import { type Reply, type Route, route } from '../route.ts';

const HISTORY_PATH = '/api/svc/onchain-oracle/history';

const HISTORY_QUERY = z.object({
  limit: limit(PAGES.attestations.most, PAGES.attestations.default),
  before: uid.optional().describe('Only attestations before this one, in the order of the list: `nextCursor` of the page before'),
  ...HORIZON_CHOICE,
  compat: z
    .enum(['0', '1'], { error: 'must be 1 or 0' })
    .default('0')
    .describe('1: the list is sent a second time as `attestations`, the other name that the interface has for `data`'),
});

/** Interface, section 2.5. */
export function attestationRoutes(parts: HttpParts): Route[] {
  return [
    route({
      path: '/api/svc/onchain-oracle/latest',
      name: 'getLatestAttestation',
      tag: 'record',
      reply: LATEST_ATTESTATION,
      summary: 'The newest prediction attestation, of the 7-day story unless other horizons are named',
      query: z.object(HORIZON_CHOICE),
      errors: ['NOT_FOUND'],
      handle: ({ query, caller }) => latest(parts, chosenHorizons(query), caller),
    }),
    route({
      path: HISTORY_PATH,
      name: 'listAttestations',
      tag: 'record',
      reply: ATTESTATION_HISTORY,
      summary: 'Prediction and resolution attestations, newest first, of the 7-day story unless other horizons are named',
      description:
        'One prediction a day and its resolution; `horizons=all` adds 1, 2 and 3 days. The whole record is read page by page: `nextCursor`, ' +
        'also in the header `Link` (RFC 8288), is `before` of the next page, until it is null. Attestations of one block have a fixed order.',
      query: HISTORY_QUERY,
      handle: ({ query, caller }) => history(parts, query, caller),
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
      summary: 'How much has been attested, since when, and at what cost, for the 7-day story unless other horizons are named',
      description: 'Who compares the counts with the chain, where all horizons of a day stand, asks with `horizons=all`.',
      query: z.object(HORIZON_CHOICE),
      handle: ({ query }) => stats(parts, chosenHorizons(query)),
    }),
  ];
}

async function latest(parts: HttpParts, horizons: HorizonName[], caller: Caller): Promise<Reply<LatestAttestation>> {
  const data = await latestAttestation(parts.record, horizons.map(horizonDaysOf), parts.viewFor(caller));
  if (data === null) throw new OracleError('NOT_FOUND', 'Nothing has been attested yet');
  return { body: { success: true, data } };
}

async function history(parts: HttpParts, query: z.output<typeof HISTORY_QUERY>, caller: Caller): Promise<Reply<AttestationHistory>> {
  const { limit, before = null, compat } = query;
  const horizons = chosenHorizons(query);
  const wanted = { horizons: horizons.map(horizonDaysOf), limit, before };
  const { attestations: data, total, nextBefore } = await listAttestations(parts.record, wanted, parts.viewFor(caller));
  const alias = compat === '1' ? { attestations: data } : {};
  const next =
    nextBefore === null ? null : { limit, horizons: horizons.join(','), ...(compat === '1' ? { compat } : {}), before: nextBefore };
  return {
    headers: nextPageHeaders(parts.publicUrl, HISTORY_PATH, next),
    body: { success: true, data, ...alias, count: data.length, total, horizons, nextCursor: nextBefore },
  };
}

async function stats(parts: HttpParts, horizons: HorizonName[]): Promise<Reply<AttestationStatsReply>> {
  const counted = await attestationStats(parts.record, horizons.map(horizonDaysOf));
  const { predictions, resolutions, firstAttestation, latestAttestation, totalGasWei } = counted;
  return {
    body: {
      success: true,
      data: { totalPublished: predictions, totalResolved: resolutions, totalGasWei: totalGasWei.toString() },
      horizons,
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
