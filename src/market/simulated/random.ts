/** Random numbers as pure functions of day and draw, so that no value depends on how far or in which order the simulation runs. */
export interface Randomness {
  /** In (0, 1). */
  uniform(day: number, draw?: number): number;
  /** Mean 0, variance 1. */
  normal(day: number, draw?: number): number;
  /** Student t with four degrees of freedom, scaled to variance 1 and truncated at six standard deviations. */
  fatTailed(day: number, draw?: number): number;
}

/** An independent stream for each seed and name. */
export function createRandomness(seed: number, stream: string): Randomness {
  const key = hashText(seed | 0, stream);
  // Eight slots per draw, so that no two numbers share one.
  const raw = (day: number, draw: number, slot: number) =>
    (mix(mix(key ^ day) + Math.imul(draw * 8 + slot + 1, 0x9e3779b9)) + 0.5) / 2 ** 32;
  const normalFrom = (day: number, draw: number, slot: number) =>
    Math.sqrt(-2 * Math.log(raw(day, draw, slot))) * Math.cos(2 * Math.PI * raw(day, draw, slot + 1));
  return {
    uniform: (day, draw = 0) => raw(day, draw, 0),
    normal: (day, draw = 0) => normalFrom(day, draw, 1),
    fatTailed(day, draw = 0) {
      const chiSquare4 = -2 * Math.log(raw(day, draw, 5) * raw(day, draw, 6));
      const studentT = normalFrom(day, draw, 3) / Math.sqrt(chiSquare4 / 4);
      return Math.max(-6, Math.min(6, studentT / Math.SQRT2));
    },
  };
}

/** The finalizer of MurmurHash3, unsigned. */
function mix(value: number): number {
  let h = value | 0;
  h = Math.imul(h ^ (h >>> 16), 0x85ebca6b);
  h = Math.imul(h ^ (h >>> 13), 0xc2b2ae35);
  return (h ^ (h >>> 16)) >>> 0;
}

function hashText(seed: number, text: string): number {
  let h = mix(seed ^ 0x5f356495);
  for (let i = 0; i < text.length; i++) h = mix(h ^ text.charCodeAt(i));
  return h;
}
