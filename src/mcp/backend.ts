import type { SkillAnswer } from '../../skills/runner.ts';

/** What an MCP server tells, from wherever it has it: the service it runs in, or one that it asks over HTTP. */
export interface McpBackend {
  /** Carries out a skill for the caller that this backend was made for. @throws OracleError as behind every door */
  run(skillId: string, input: Record<string, unknown>): Promise<SkillAnswer>;
  /** The public signal of a horizon (interface, section 2.1), as this caller may see it. @throws OracleError STEP_WAITING */
  publicSignal(horizon: '2d' | '3d' | '7d'): Promise<Record<string, unknown>>;
  /** How forecasts are made, committed, resolved and scored, as Markdown. */
  methodology: string;
}
