import type { z } from 'zod';
import type { HorizonName } from '../../src/forecast/model.ts';

/** Where the public part is read, in the view of the caller. */
export interface PublicSource {
  /** @throws OracleError STEP_WAITING */
  publicSignal(horizon: HorizonName): Promise<Record<string, unknown>>;
  /** @throws OracleError STEP_WAITING */
  expectedRange(horizon: HorizonName): Promise<Record<string, unknown>>;
  run(skillId: string, input: Record<string, unknown>): Promise<{ output: Record<string, unknown> }>;
}

/** What is public of an answer that the caller's tier excludes. Nothing in it differs between signals that the caller may not see. */
export interface PublicPart {
  schema: z.ZodObject;
  read(source: PublicSource, input: Record<string, unknown>): Promise<Record<string, unknown>>;
  /** @param ways how the caller gets the rest, as clauses */
  formatText(part: Record<string, unknown>, ways: string): string;
}
