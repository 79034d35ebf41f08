import type { Address } from 'viem';
import type { ChainAddresses } from '../../chain/addresses.ts';
import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { DIRECTION_CODES, OUTCOME_CODES, SIGNAL_CODES } from '../../chain/eas/commitment.ts';
import { COMMITMENT_FORMULA } from './commitment-proof.ts';

const describeSchema = (name: SchemaName) => ({ uid: getSchemaUid(name), fields: EAS_SCHEMAS[name] });

const formatCodes = (codes: Record<string, number>) =>
  Object.entries(codes)
    .map((entry) => entry.join(' '))
    .join(', ');

/** What a verifier needs to check forecasts without this service. */
export function describeManualVerification(deps: { chainId: number; addresses: ChainAddresses; attesterAddress: Address }) {
  return {
    chain: `eip155:${deps.chainId}`,
    easContract: deps.addresses.eas,
    attester: deps.attesterAddress,
    predictionSchema: describeSchema('prediction'),
    resolutionSchema: describeSchema('resolution'),
    formula: COMMITMENT_FORMULA,
    codes: `signal: ${formatCodes(SIGNAL_CODES)}; direction: ${formatCodes(DIRECTION_CODES)}; outcome: ${formatCodes(OUTCOME_CODES)}`,
    steps: [
      'Call getAttestation(uid) of the prediction on the EAS contract; compare attester and schema with those here.',
      'Decode its data by the fields of the schema: time has to be before windowOpensAt.',
      'Follow refUID from day to day: sequence goes down by one each time, to 1, without a gap.',
      'Once it is resolved, do the same with the resolution: its refUID is the prediction.',
      'Hash salt and values of the resolution by the formula: the result is the commitment of the prediction.',
      'Compare the two closes with public daily closes of BTC/USD (00:00 UTC): UP wins if the later one is higher.',
    ],
  };
}
