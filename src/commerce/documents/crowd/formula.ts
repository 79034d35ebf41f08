/** Formula of the oracle's probability of a strike from the evidence of a week, as implemented in `src/record/market/strike-probability.ts`. */
export const PROBABILITY_FORMULA = [
  'q(1) to q(199): `residualQuantiles` of the model named by `modelVersion` and `horizonDays`, the quantiles at 0.005, 0.010 to 0.995 of past returns over their scale.',
  'days = (expiresAt - at) in days of 86,400 seconds, with its fraction; `horizonDays` is the one of 1, 2, 3 and 7 nearest to it.',
  'scale = sqrt(days * (0.5 * v94 + 0.5 * v99)).',
  'lower = q(10) - mean(q(1) to q(9)); upper = mean(q(191) to q(199)) - q(190): the means of the tails.',
  'F(z), the share of returns up to z: 0.005 * exp((z - q(1)) / lower) below q(1); 1 - 0.005 * exp((q(199) - z) / upper) above q(199); between, straight lines through F(q(i)) = 0.005 * i.',
  'shift = the z with F(z) = 1 - pUp, so that P(up) over the horizon is what was forecast.',
  'probability of a price above the strike = 1 - F(ln(strike / spot) / scale + shift), rounded to four digits: `oracleProbability`.',
];

/** Evidence of each part of a comparison, strongest first. */
export const BASES = [
  {
    basis: 'chain' as const,
    parts: ['signal', 'direction', 'confidence', 'P(up)', 'price at signal time'],
    note: 'Committed: `opening` hashes to `commitment`, which the attestation `predictionUid` carries. It was there before the outcome window opened, unless the status of the forecast is VOID. `pUp` is the committed probability before it was rounded to basis points, `spot` the committed price.',
  },
  {
    basis: 'model' as const,
    parts: ["the oracle's probability of the strike"],
    note: 'Not committed: it follows from the committed P(up) and price by `formula`, with the variances, the quantiles of the model and `at`, which this service tells. Variances follow from public daily closes and quantiles from the fit by the published method; the choice of strike is that of the quotes.',
  },
  {
    basis: 'venue' as const,
    parts: ['market', 'strike', 'expiry', "the crowd's probability", 'book', 'winner'],
    note: 'The words of the venue, as this service read them at that time: nothing of them is committed. Quotes of the venue `paper` are made by this service itself and stand for no crowd.',
  },
];
