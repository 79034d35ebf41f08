import { predictBtcDirection } from './predict-btc-direction.ts';
import type { Skill } from './skill.ts';

/** Every skill, in the order it is told: the only list. */
export const SKILLS: readonly Skill[] = [predictBtcDirection];
