import { z } from 'zod';
import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { type Route, route } from '../../server/route.ts';
import { METADATA } from './metadata-schemas.ts';

/** Public metadata of a forecast, by the CID that its on-chain digest determines. */
export function metadataRoutes({ record }: Pick<HttpDeps, 'record'>): Route[] {
  return [
    route('GET /ipfs/{cid}', 'getMetadata', {
      units: 0.1,
      tag: 'record',
      reply: METADATA,
      errors: ['NOT_FOUND'],
      summary: 'Exact bytes behind the metadata digest of an attestation',
      params: z.object({
        cid: z
          .string()
          .regex(/^b[a-z2-7]{20,120}$/, 'must be a CIDv1 in base32')
          .describe('CIDv1 of the metadata, in base32'),
      }),
      async handle({ params: { cid } }) {
        const day = await record.days.findOne({ 'metadata.cid': cid }, { projection: { metadata: 1 } });
        if (day === null) throw new OracleError('NOT_FOUND', `No metadata with CID ${cid}`, { field: 'cid' });
        const headers = { 'Content-Type': 'application/json', 'Cache-Control': 'public, max-age=31536000, immutable' };
        return { headers, raw: day.metadata.json };
      },
    }),
  ];
}
