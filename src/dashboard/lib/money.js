/** Amounts in whole millionths of an asset; never used as fractions in calculations. */

const MICROS = 1_000_000;
const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/** `1,204.50 PAPER-USD`. @param {number | null} micros @param {string} asset */
export function formatAssetAmount(micros, asset) {
  return micros === null ? '–' : `${format.format(micros / MICROS)} ${asset}`;
}

/** `+1,204.50 PAPER-USD`. @param {number | null} micros @param {string} asset */
export function formatSignedAssetAmount(micros, asset) {
  if (micros === null || micros === 0) return formatAssetAmount(micros, asset);
  return `${micros > 0 ? '+' : '−'}${formatAssetAmount(Math.abs(micros), asset)}`;
}
