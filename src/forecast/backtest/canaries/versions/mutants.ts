import { M1_MUTANTS } from './m1-mutants.ts';
import type { VersionMutants } from './version-mutant.ts';

/** By the name of a version that adds to the first one. */
export const VERSION_MUTANTS: Readonly<Record<string, VersionMutants>> = { m1: M1_MUTANTS };
