export const FEAR_GREED_LABELS = ['Extreme Fear', 'Fear', 'Neutral', 'Greed', 'Extreme Greed'] as const;
export type FearGreedLabel = (typeof FEAR_GREED_LABELS)[number];

/** The bands of alternative.me's own classification: 0-25, 26-46, 47-54, 55-75, 76-100. */
export function getFearGreedLabel(value: number): FearGreedLabel {
  if (value <= 25) return 'Extreme Fear';
  if (value <= 46) return 'Fear';
  if (value <= 54) return 'Neutral';
  if (value <= 75) return 'Greed';
  return 'Extreme Greed';
}
