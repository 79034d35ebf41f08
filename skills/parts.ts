import type { Market } from '../src/market/market.ts';
import type { OracleParts } from '../src/record/oracle/parts.ts';
import type { PredictionVerificationParts } from '../src/record/prediction-verification.ts';

/** What the skills are made of. */
export interface SkillParts extends OracleParts, PredictionVerificationParts {
  market: Market;
}
