import { getMarketContext } from './get-market-context.ts';
import { getTrackRecord } from './get-track-record.ts';
import { predictBtcDirection } from './predict-btc-direction.ts';
import type { Skill } from './skill.ts';
import { verifyPredictionSkill } from './verify-prediction.ts';

/** All skills, in listing order; every transport loops over it. */
export const SKILLS: readonly Skill[] = [predictBtcDirection, verifyPredictionSkill, getTrackRecord, getMarketContext];
