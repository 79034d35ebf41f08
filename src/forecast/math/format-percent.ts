/** `53.4 %` of a share from 0 to 1. */
export function formatPercent(share: number, digits = 1): string {
  return `${(100 * share).toFixed(digits)} %`;
}
