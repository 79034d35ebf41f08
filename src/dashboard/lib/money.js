/** Amounts as whole millionths of an asset, which are never reckoned with as fractions. */

const MICROS = 1_000_000;
const format = new Intl.NumberFormat('en-US', { minimumFractionDigits: 2, maximumFractionDigits: 2 });

/**
 * `1,204.50 PAPER-USD`; a dash where there is none.
 * @param {number | null} micros
 * @param {string} asset
 */
export function formatAssetAmount(micros, asset) {
  return micros === null ? '–' : `${format.format(micros / MICROS)} ${asset}`;
}

/**
 * The same with its sign, for what is won or lost.
 * @param {number | null} micros
 * @param {string} asset
 */
export function formatSignedAssetAmount(micros, asset) {
  if (micros === null || micros === 0) return formatAssetAmount(micros, asset);
  return `${micros > 0 ? '+' : '−'}${formatAssetAmount(Math.abs(micros), asset)}`;
}
