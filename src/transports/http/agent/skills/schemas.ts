import { z } from 'zod';
import type { Skill } from '../../../../../skills/skill.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { COUNT, DECIMAL, SUCCESS } from '../../../../platform/validation/fields.ts';
import { SOLD } from '../../commerce/payment-schemas.ts';
import { CHARGED, UNCHARGED } from '../../commerce/x402/paid-schemas.ts';

const JSON_SCHEMA = z.record(z.string(), z.unknown());

const EXAMPLE = z.object({
  say: z.string().describe('Example prompt'),
  input: z.record(z.string(), z.unknown()).describe('Equivalent input'),
});

const SINGLE_ANSWER = z.object({
  offering: z.string().describe('Offering id: `<channel>:<name>`'),
  amount: DECIMAL.describe('Price, an exact decimal in `asset`'),
  asset: z.string().describe('Currency of the price, e.g. USD'),
});

const REACHED = z.object({
  rest: z.url().describe('POST the input as JSON'),
  task: z.url().describe('POST `{ "skill": <id>, "input": <input> }` to run it as a task'),
  mcp: z.object({ url: z.url().describe('MCP server'), tool: z.string().describe('Tool name') }).describe('MCP'),
  a2a: z.object({ card: z.url().describe('Agent card'), skill: z.string().describe('Skill id in the card') }).describe('A2A'),
});

const LISTED = z.object({
  id: z.string().describe('Skill id, the same on all interfaces'),
  title: z.string().describe('Short title'),
  summary: z.string().describe('What it returns, in one sentence'),
  description: z.string().describe('What it returns, and its limits'),
  tags: z.array(z.string()).describe('Topics'),
  examples: z.array(EXAMPLE).describe('Examples'),
  tier: z.enum(['public', 'basic', 'premium']).describe('Lowest tier that may call it'),
  price: objectOf('Price', {
    description: z.string().describe('Price as text'),
    singleAnswer: SINGLE_ANSWER.nullable().describe('Price of a single answer without the tier; null where none is sold or needed'),
  }),
  freshness: objectOf('How long an output stays current', {
    description: z.string().describe('When the output changes'),
    seconds: COUNT.describe('Approximate seconds until the output changes'),
  }),
  cost: z.enum(['normal', 'rpc']).describe('`rpc` counts against the lower limit of chain calls'),
  inputSchema: JSON_SCHEMA.describe('JSON Schema of the input; fields with a default are optional'),
  outputSchema: JSON_SCHEMA.describe('JSON Schema of the output; fields may be added'),
  reachedAt: REACHED.describe('Endpoints of the skill'),
});

export const SKILL_LIST = z.object({
  success: SUCCESS,
  skills: z.array(LISTED).describe('All skills'),
  count: COUNT.describe('Number of skills'),
});

export type SkillListReply = z.input<typeof SKILL_LIST>;

/** The answer to a caller with the tier; where single answers are sold also a paid one, and one that is given away. */
export function buildSkillReplySchema({ id, output, offering, free }: Pick<Skill, 'id' | 'output' | 'offering' | 'free'>) {
  const named = { success: SUCCESS, skill: z.literal(id).describe('Skill that was called') };
  const text = z.string().describe('The output in plain sentences');
  const answer = z.object({ ...named, output: output.describe('Output of the skill'), text });
  if (offering === null) return answer;
  const sold = z.object({ ...answer.shape, charged: CHARGED, ...SOLD });
  if (free === undefined) return z.union([sold, answer]);
  return z.union([sold, answer, z.object({ ...named, output: free.schema.describe('Free of charge'), text, ...UNCHARGED })]);
}

export type SkillReply = z.input<ReturnType<typeof buildSkillReplySchema>>;
