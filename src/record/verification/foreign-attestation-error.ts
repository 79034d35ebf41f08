import type { OnChainAttestation } from '../../chain/eas/attestation-reader.ts';
import { OracleError } from '../../platform/errors.ts';

/**
 * NOT_FOUND for an attestation that is on chain and not in the record of this service, with its attester and schema as details.
 * Nothing of its data is repeated: a client must not take it for an attestation of this service.
 */
export function foreignAttestationError({ uid, attester, schemaUid, schemaName }: OnChainAttestation, chainId: number): OracleError {
  const message = `The attestation ${uid} on chain ${chainId} is not of this service: attester ${attester}, schema ${schemaUid}`;
  return new OracleError('NOT_FOUND', message, {
    field: 'uid',
    details: { ofThisService: false, attester, schemaUid, schemaName },
    suggestedAction: 'Take a uid from the history of attestations, or read this one in an EAS explorer of that chain.',
  });
}
