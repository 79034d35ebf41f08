import type { Skill } from '../../../../skills/skill.ts';
import type { OracleError } from '../../../platform/errors.ts';
import { parseInput } from '../../../platform/validation/parse-input.ts';
import type { McpBackend } from '../backends/backend.ts';
import { type AccessOptions, listAccessWays } from './access-ways.ts';
import type { ToolAnswer } from './tool-result.ts';

interface GatedCall {
  skill: Skill;
  backend: McpBackend;
  input: Record<string, unknown>;
  /** Of the tier check. */
  rejection: OracleError;
}

/**
 * The answer to a caller whose tier excludes the skill: what is public, and the ways to the rest. @throws OracleError INPUT_INVALID, the
 * rejection where the skill has no public part, and what its reading throws
 */
export async function readGatedAnswer({ skill, backend, input, rejection }: GatedCall, options: AccessOptions): Promise<ToolAnswer> {
  const { publicPart } = skill;
  if (publicPart === undefined) throw rejection;
  const part = await publicPart.read(backend, parseInput(skill.input, input, { kind: 'input', root: 'input' }));
  const ways = listAccessWays(skill, options, String(part.resolvesAt));
  const clauses = ways.map(({ clause }) => clause);
  const output = { ...part, ways: ways.map(({ way, how }) => ({ way, how })) };
  return {
    output,
    outline: output,
    text: publicPart.formatText(part, `${clauses.slice(0, -1).join(', ')}, or ${clauses.at(-1)}`),
    rows: [`${rejection.message}. Ways to the forecast:`, ...ways.map(({ how }, index) => `${index + 1}. ${how}`)].join('\n'),
  };
}
