import { getMarketContext } from './get-market-context.ts';
import { getTrackRecord } from './get-track-record.ts';
import { predictBtcDirection } from './predict-btc-direction.ts';
import type { Skill } from './skill.ts';
import { verifyPredictionSkill } from './verify-prediction.ts';

/** Every skill, in the order it is told: the only list. */
export const SKILLS: readonly Skill[] = [predictBtcDirection, verifyPredictionSkill, getTrackRecord, getMarketContext];
