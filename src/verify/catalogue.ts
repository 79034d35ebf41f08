/** What a check is about: any attestation, one of the two kinds, the record as a whole, or the claims of a service. */
export type CheckScope = 'attestation' | 'prediction' | 'resolution' | 'record' | 'claims';

export interface Check {
  /** Appears in reports and JSON. Never rename one. */
  id: string;
  title: string;
  /** The condition that holds for an honest record, as a sentence. */
  rule: string;
  appliesTo: CheckScope;
}

/** Every check of an attestation, a forecast or a record, in the order of reports. */
export const CATALOGUE = [
  { id: 'found', appliesTo: 'attestation', title: 'On chain', rule: 'The chain has an attestation of this uid.' },
  { id: 'uid', appliesTo: 'attestation', title: 'Content', rule: 'Its uid is the digest of its content: nothing was changed.' },
  { id: 'schema', appliesTo: 'attestation', title: 'Schema', rule: 'It has the expected schema, without a resolver.' },
  { id: 'attester', appliesTo: 'attestation', title: 'Attester', rule: 'It was made by the wallet of the record.' },
  { id: 'permanent', appliesTo: 'attestation', title: 'Permanence', rule: 'It is irrevocable, not revoked, and never expires.' },
  { id: 'blockTime', appliesTo: 'attestation', title: 'Block time', rule: 'It has the time of its block, which is not in the future.' },
  {
    id: 'data',
    appliesTo: 'attestation',
    title: 'Data',
    rule: 'Its data decodes under its schema, with possible values and nothing else.',
  },
  {
    id: 'windows',
    appliesTo: 'prediction',
    title: 'Outcome window',
    rule: 'The window opens at 00:00 UTC after the day and lasts as long as the horizon.',
  },
  {
    id: 'inTime',
    appliesTo: 'prediction',
    title: 'Commitment in time',
    rule: 'Its block is earlier than its outcome window; a later one is void.',
  },
  {
    id: 'onePrediction',
    appliesTo: 'prediction',
    title: 'Single prediction',
    rule: 'The wallet made one prediction for its day and horizon.',
  },
  { id: 'link', appliesTo: 'prediction', title: 'Link', rule: 'It refers to the prediction of the day before over the same horizon.' },
  { id: 'metadata', appliesTo: 'prediction', title: 'Metadata', rule: 'The published metadata has the digest that it names.' },
  { id: 'resolves', appliesTo: 'resolution', title: 'Reference', rule: 'It refers to the prediction that it resolves.' },
  { id: 'oneResolution', appliesTo: 'resolution', title: 'Single resolution', rule: 'A forecast is resolved once.' },
  {
    id: 'void',
    appliesTo: 'resolution',
    title: 'Void forecasts',
    rule: 'A forecast that is late or missed is void and is never resolved.',
  },
  { id: 'afterWindow', appliesTo: 'resolution', title: 'Early reveal', rule: 'It was made after the outcome window had ended.' },
  {
    id: 'revealed',
    appliesTo: 'resolution',
    title: 'Withheld reveal',
    rule: 'A forecast is revealed within two days of the end of its window.',
  },
  { id: 'opening', appliesTo: 'resolution', title: 'Commitment', rule: 'Salt and values hash to the commitment of the prediction.' },
  { id: 'values', appliesTo: 'resolution', title: 'Values', rule: 'Signal, direction, confidence and P(up) are consistent.' },
  { id: 'return', appliesTo: 'resolution', title: 'Return', rule: 'The return follows from the two closes.' },
  {
    id: 'outcome',
    appliesTo: 'resolution',
    title: 'Outcome',
    rule: 'The outcome follows from the signal, the direction and the two closes.',
  },
  { id: 'price', appliesTo: 'resolution', title: 'Closes', rule: 'The closes equal the independent prices.' },
  {
    id: 'sequence',
    appliesTo: 'record',
    title: 'Sequence',
    rule: 'A horizon has one forecast a day, numbered from 1 without gap or duplicate.',
  },
  { id: 'oneClose', appliesTo: 'record', title: 'One close a day', rule: 'A day has the same close in all resolutions.' },
  { id: 'shown', appliesTo: 'claims', title: 'Shown forecasts', rule: 'The service shows exactly the forecasts on chain.' },
  { id: 'row', appliesTo: 'claims', title: 'Rows', rule: 'What the service says of a forecast equals chain and prices.' },
  { id: 'figure', appliesTo: 'claims', title: 'Figures', rule: 'The statistics of the service, recomputed from the rows, are the same.' },
] as const satisfies readonly Check[];

export type CheckId = (typeof CATALOGUE)[number]['id'];

const BY_ID = Object.fromEntries(CATALOGUE.map((check) => [check.id, check])) as Record<CheckId, Check>;

export function getCheck(id: CheckId): Check {
  return BY_ID[id];
}

/** Changes of evidence that no check notices. */
export const OUT_OF_REACH = [
  'the number of a block: only its time decides',
  'an independent price within the tolerance, and one before the training years',
  'the price at signal time before its commitment is opened',
  'distributions, regimes, model versions, wagers and skill against the market, which no attestation holds',
] as const;
