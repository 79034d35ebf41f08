import fc from 'fast-check';
import { createClient, custom } from 'viem';
import { expect, it } from 'vitest';
import type { AuditChain } from '../../../../src/audit/chain-record.ts';
import { createAttestationReader } from '../../../../src/page/browser/record-chain.ts';
import { buildMetadata } from '../../../../src/record/forecast-doc.ts';
import { encodeCid } from '../../../../src/verify/evidence.ts';

const UID = `0x${'ab'.repeat(32)}`;

it('reports every answer that is no attestation as unread, and never throws', async () => {
  const hex = fc.uint8Array({ maxLength: 500 }).map((bytes) => `0x${Buffer.from(bytes).toString('hex')}`);
  await fc.assert(
    fc.asyncProperty(fc.oneof(fc.anything(), fc.string(), hex), async (result) => {
      const client = createClient({ transport: custom({ request: async () => result }, { retryCount: 0 }) });
      const addresses = { eas: `0x${'ea'.repeat(20)}`, schemaRegistry: `0x${'eb'.repeat(20)}` };
      const read = createAttestationReader({ client, addresses, chainId: 1, parallel: 1 } as unknown as AuditChain);
      expect(await read('prediction', UID)).toMatchObject({ uid: UID, content: { problem: expect.stringMatching(/./) } });
    }),
  );
});

it('treats text that is no uid as one that is not on chain', async () => {
  const read = createAttestationReader({} as AuditChain);
  expect(await read('prediction', null)).toBeNull();
  expect(await read('prediction', '0xAB')).toEqual({ uid: '0xab', schema: 'prediction', content: null, blockAt: null });
});

it('computes the same CID as the service', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.string(), fc.string()), (value) => {
      const { digest, cid } = buildMetadata(value);
      expect(encodeCid(digest)).toBe(cid);
    }),
    { numRuns: 30 },
  );
});
