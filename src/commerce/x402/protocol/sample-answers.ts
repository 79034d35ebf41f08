/** A forecast that was never made, as an example in listings: constants, so that they carry nothing of a real one. */
const SAMPLE_FORECAST = {
  signal: 'BUY',
  direction: 'UP',
  confidence: 0.5431,
  pUp: 0.5431,
  horizon: '7d',
  date: '2024-01-01',
  predictionId: '2024-01-01:7d',
  windowOpensAt: '2024-01-02T00:00:00.000Z',
  resolvesAt: '2024-01-09T00:00:00.000Z',
};

const SAMPLE_PROOF = { salt: `0x${'5a'.repeat(32)}`, attestationUid: `0x${'a7'.repeat(32)}` };

const SAMPLE_BREAKDOWN = {
  categories: {
    trend: { signal: 'BUY', score: 0.41 },
    momentum: { signal: 'HOLD', score: 0.12 },
    flow: { signal: 'HOLD', score: -0.08 },
    value: { signal: 'BUY', score: 0.23 },
  },
  quantiles: [
    { level: 0.1, price: 39_480.5 },
    { level: 0.5, price: 42_310.25 },
    { level: 0.9, price: 45_702.75 },
  ],
};

/** The members of an answer that a listing shows, by name of the x402 offering. */
export const SAMPLE_ANSWERS: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
  x402_signal: { ...SAMPLE_FORECAST, ...SAMPLE_PROOF },
  x402_premium_signal: { ...SAMPLE_FORECAST, ...SAMPLE_BREAKDOWN },
};
