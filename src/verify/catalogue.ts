/**
 * Title and rule (the condition that holds for an honest record) of every check, in the order of reports. A check is about any attestation,
 * one of the two kinds, the record as a whole, or the claims of a service. Corroborations come from outside the chain, and no verdict needs
 * them. Ids appear in reports and JSON: never rename one.
 */
const CHECKS = {
  attestation: {
    found: ['On chain', 'The chain has an attestation of this uid.'],
    uid: ['Content', 'Its uid is the digest of its content: nothing was changed.'],
    schema: ['Schema', 'It has the expected schema, without a resolver.'],
    attester: ['Attester', 'It was made by the wallet of the record.'],
    permanent: ['Permanence', 'It is irrevocable, not revoked, and never expires.'],
    blockTime: ['Block time', 'It has the time of its block, which is not in the future.'],
    data: ['Data', 'Its data decodes under its schema, with possible values and nothing else.'],
  },
  prediction: {
    windows: ['Outcome window', 'The window opens at 00:00 UTC after the day and lasts as long as the horizon.'],
    inTime: ['Commitment in time', 'Its block is earlier than its outcome window; a later one is void.'],
    onePrediction: ['Single prediction', 'The wallet made one prediction for its day and horizon.'],
    link: ['Link', 'It refers to the prediction of the day before over the same horizon.'],
    metadata: ['Metadata', 'The published metadata has the digest that it names.'],
  },
  resolution: {
    resolves: ['Reference', 'It refers to the prediction that it resolves.'],
    oneResolution: ['Single resolution', 'A forecast is resolved once.'],
    void: ['Void forecasts', 'A forecast that is late or missed is void and is never resolved.'],
    afterWindow: ['Early reveal', 'It was made after the outcome window had ended.'],
    revealed: ['Withheld reveal', 'A forecast is revealed within two days of the end of its window.'],
    opening: ['Commitment', 'Salt and values hash to the commitment of the prediction.'],
    values: ['Values', 'Signal, direction, confidence and P(up) are consistent.'],
    return: ['Return', 'The return follows from the two closes.'],
    outcome: ['Outcome', 'The outcome follows from the signal, the direction and the two closes.'],
    price: ['Closes', 'The closes equal the independent prices.'],
  },
  record: {
    sequence: ['Sequence', 'A horizon has one forecast a day, numbered from 1 without gap or duplicate.'],
    oneClose: ['One close a day', 'A day has the same close in all resolutions.'],
  },
  claims: {
    shown: ['Shown forecasts', 'The service shows exactly the forecasts on chain.'],
    row: ['Rows', 'What the service says of a forecast equals chain and prices.'],
    figure: ['Figures', 'The statistics of the service, recomputed from the rows, are the same.'],
    distributions: ['Distributions', 'The distributions of champion and challengers open to the digests in its metadata.'],
    scores: ['Scores', 'Scores and differences follow from the opened distributions and the closes.'],
    evidence: ['Evidence', 'The evidence for or against a challenger follows from all its days.'],
  },
  corroboration: {
    independentTime: ['Independent time', 'A Bitcoin block that precedes the end of its window holds the commitments of its day.'],
  },
} as const satisfies Record<string, Record<string, readonly [title: string, rule: string]>>;

type IdsOf<Scope> = Scope extends keyof typeof CHECKS ? keyof (typeof CHECKS)[Scope] : never;
export type CheckId = IdsOf<keyof typeof CHECKS>;

/** Every check, in the order of reports. */
export const CATALOGUE = Object.entries(CHECKS).flatMap(([appliesTo, checks]) =>
  Object.entries(checks).map(([id, [title, rule]]) => ({ id: id as CheckId, title, rule, appliesTo })),
);

export function getCheck(id: CheckId) {
  return CATALOGUE.find((check) => check.id === id)!;
}

/** Changes of evidence that no check notices. */
export const OUT_OF_REACH = [
  'the number of a block: only its time decides',
  'an independent price within the tolerance, and one before the training years',
  'the price at signal time before its commitment is opened',
  'distributions of a forecast before its outcome, and those of days before they were committed',
  'regimes, baselines, wagers and skill against the market, which no attestation holds',
] as const;
