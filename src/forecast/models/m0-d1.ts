import { buildDistribution, computeScale } from '../distribution.ts';
import type { ModelVersion } from './model-version.ts';

/** Logistic direction with the distribution of scaled past returns. */
export const m0d1 = {
  name: 'm0-d1',
  title: 'past returns over a scale from squared returns',
  distributionTrials: 28,
  fit: (direction) => direction,
  buildDistribution({ horizonDays, residualQuantiles }, { features, row, pUp }) {
    return buildDistribution({ residualQuantiles, scale: computeScale(features.v94[row], features.v99[row], horizonDays), pUp });
  },
} as const satisfies ModelVersion;
