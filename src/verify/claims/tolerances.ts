/** Rounding differences of sums in another order. */
const ROUNDING_TOLERANCE = 1e-9;

export function getRoundingTolerance(_: string, expected: number): [equal: number, doubtful: number] {
  return [ROUNDING_TOLERANCE * Math.max(1, Math.abs(expected)), 0];
}

/**
 * Tolerances of figures that depend on the base rate of the training years, for closes of another source. Base rates that differ by 0.008
 * move a skill by up to 0.02 in a short record, while published skills are about 0.002; a skill is about four times a score.
 */
export function getSourceTolerance(path: string, expected: number): [equal: number, doubtful: number] {
  if (/\.climatology$|\.climatologySkill\.brier$/.test(path)) return [1.5e-4, 6e-3];
  return path.includes('.climatologySkill.') ? [6e-4, 2.4e-2] : getRoundingTolerance(path, expected);
}
