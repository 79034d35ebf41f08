import type { Market } from '../src/market/market.ts';
import type { OracleDeps } from '../src/record/oracle/deps.ts';
import type { PredictionVerificationDeps } from '../src/record/verification/verify-prediction.ts';

/** What the skills are made of. */
export interface SkillDeps extends OracleDeps, PredictionVerificationDeps {
  market: Market;
}
