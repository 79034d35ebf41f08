import { EAS_SCHEMAS, getSchemaUid, type SchemaName } from '../../chain/eas/attestation-schemas.ts';
import { type Findings, NO_SUBJECT } from '../findings.ts';

export interface RecordScope {
  /** The texts that the schema registry has for our uids; empty: not registered. */
  schemaTexts: Readonly<Record<SchemaName, string>>;
  eas: string;
  /** Whether this is the address of EAS on OP chains. */
  isKnownEas: boolean;
  /** First block read. */
  fromBlock: number;
  /** Transactions and signed attestations of the wallet before it; null: the endpoint has no such state. */
  earlierTransactions: number | null;
}

/** Checks that what is read is the whole record of the wallet, in the schemas whose uids are digests of their texts. */
export function checkScope({ schemaTexts, eas, isKnownEas, fromBlock, earlierTransactions }: RecordScope, findings: Findings): void {
  for (const name of ['prediction', 'resolution'] as const) {
    const actual = schemaTexts[name];
    const subject = { ...NO_SUBJECT, uid: getSchemaUid(name) };
    // A schema is registered with its first attestation.
    if (actual === '') findings.note(`the ${name} schema is not registered on this chain`);
    else findings.compare('schema', subject, { field: `${name} schema`, expected: EAS_SCHEMAS[name], actual });
  }
  if (!isKnownEas)
    findings.note(`attestations are read from ${eas}, which is not the EAS address of OP chains: verify the contract yourself`);
  // An operator who restarts at sequence 1 would drop past losses.
  if (earlierTransactions === 0) return;
  const why = earlierTransactions === null ? 'the endpoint has no state before it' : 'the wallet had sent transactions before it';
  const because = `the record is read from block ${fromBlock}, and ${why}: an earlier record may exist (omit --from-block)`;
  findings.leave('sequence', NO_SUBJECT, because);
}
