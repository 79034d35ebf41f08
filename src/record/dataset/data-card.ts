/** What the dataset is, for its index, the footers of its Parquet files and the documents. */
export const DATASET_TITLE = 'Bitcoin Signal Oracle: the resolved record';

/** Version of tables and columns; one that changes or goes raises it. */
export const DATASET_VERSION = '1';

export const DATASET_LICENCE = {
  id: 'CC-BY-4.0',
  url: 'https://creativecommons.org/licenses/by/4.0/',
  covers: "The record's own values: forecasts, probabilities, scores, outcomes, digests and attestations.",
  prices:
    'Columns with origin `prices` are derived: prices and closes are medians over venues, returns and price quantiles follow from ' +
    'them. No price of a single venue and no other series of a provider is included. The terms of the venues may restrict their use.',
  attribution: 'Name the service, its URL and the date of the download.',
} as const;

/** Sections of the data card, in order. */
export const DATA_CARD: readonly { title: string; text: string }[] = [
  {
    title: 'Content',
    text: 'Every forecast of BTC/USD over 1, 2, 3 and 7 days whose outcome is on chain: what was committed before its outcome window opened, what happened, and how it scores. Forecasts without a resolution on chain are absent, whatever the caller has paid for.',
  },
  {
    title: 'Collection',
    text: 'The service makes one forecast a day and horizon at 21:35 UTC, commits to it by an attestation on chain, and reveals it in a second one after the window has ended. The files are built from the same record as the scorecard.',
  },
  {
    title: 'Selection',
    text: 'No forecast is chosen: void, missed and pending ones are absent and leave a gap in `sequence`. Rows with `replayed` were made afterwards by the replay of a demonstration and prove no skill.',
  },
  {
    title: 'Dependence',
    text: 'Windows longer than a day overlap, so that neighbouring rows are not independent: use block resampling, or every h-th row. Horizons of one day share their inputs.',
  },
  {
    title: 'Prices',
    text: 'The outcome compares daily closes, 00:00 UTC, each the median of venues within 1 %. CRPS and PIT score the log return from the price at signal time.',
  },
  {
    title: 'Verification',
    text: 'Each row names its attestations and transactions. `svc verify` and `npm run audit` recompute the record from the chain and public prices. The index has the SHA-256 of each file.',
  },
  {
    title: 'Limits',
    text: 'Digests show that inputs did not change afterwards, not what they were. CRPS is empty where the coefficients of the model version are missing. No personal data is included.',
  },
];

/** The data card as Markdown. */
export function renderDataCard(): string {
  const { id, url, covers, prices, attribution } = DATASET_LICENCE;
  const licence = `- **Licence**: [${id}](${url}). ${covers} ${prices} ${attribution}`;
  return [...DATA_CARD.map(({ title, text }) => `- **${title}**: ${text}`), licence].join('\n');
}
