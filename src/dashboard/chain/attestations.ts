import type { Hex } from 'viem';
import { type AuditChain, readAttestation } from '../../audit/chain/audit-chain.ts';
import type { SchemaName } from '../../chain/eas/attestation-schemas.ts';
import type { RawAttestation } from '../../chain/eas/raw-attestation.ts';
import { type AttestationEvidence, isUnread, type Unread } from '../../verify/evidence.ts';
import { explainChainError } from './record-chain.ts';

/** By uid. */
export type AttestationReads = Map<string, RawAttestation | Unread>;

/** Reads the attestations that are not in `readings` yet. */
export async function readAttestations(readings: AttestationReads, uids: readonly string[], chain: AuditChain): Promise<void> {
  const missing = uids.filter((uid) => !readings.has(uid) || isUnread(readings.get(uid)));
  for (let from = 0; from < missing.length; from += chain.parallel) {
    await Promise.all(missing.slice(from, from + chain.parallel).map(async (uid) => readings.set(uid, await readOrExplain(chain, uid))));
  }
}

async function readOrExplain(chain: AuditChain, uid: string): Promise<RawAttestation | Unread> {
  try {
    return await readAttestation(chain, uid as Hex);
  } catch (error) {
    const problem = explainChainError(error);
    if (problem === null) throw error;
    return { problem };
  }
}

/** A uid that is none exists on no chain. */
export function toEvidence<Schema extends SchemaName>(
  readings: AttestationReads,
  uid: string,
  schema: Schema,
): AttestationEvidence<Schema> {
  return { uid: uid.toLowerCase() as Hex, schema, content: readings.get(uid) ?? null, blockAt: null };
}
