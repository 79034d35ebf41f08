/** Who asks, as far as the record cares. */
export interface Caller {
  tier: 'public' | 'basic' | 'premium';
  /** True when this very answer has been paid for. */
  paid?: boolean;
}

export const PUBLIC_CALLER: Caller = { tier: 'public' };

/** When everybody sees a forecast: at its resolution, or at once. */
export type RevealPolicy = 'resolution' | 'immediate';
