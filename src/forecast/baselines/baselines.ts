import { CLIMATOLOGY } from './climatology.ts';
import { EWMA } from './ewma.ts';
import { GARCH } from './garch.ts';

/** Distributions that a model version is compared with. */
export const BASELINES = [CLIMATOLOGY, EWMA, GARCH] as const;
export type BaselineName = (typeof BASELINES)[number]['name'];
