import { z } from 'zod';
import type { Skill } from '../../../../../skills/skill.ts';
import { COUNT, SUCCESS } from '../../../../platform/validation/fields.ts';

const JSON_SCHEMA = z.record(z.string(), z.unknown());

const EXAMPLE = z.object({
  say: z.string().describe('How a person would ask for it'),
  input: z.record(z.string(), z.unknown()).describe('What an agent sends for that'),
});

const SINGLE_ANSWER = z.object({
  offering: z.string().describe('Id in the list of offerings: channel, colon, name'),
  amount: z
    .string()
    .regex(/^\d+(\.\d+)?$/)
    .describe('What it costs, an exact decimal in `asset`'),
  asset: z.string().describe('What the price is in, e.g. USD'),
});

const REACHED = z.object({
  rest: z.url().describe('POST the input there as JSON'),
  task: z.url().describe('POST `{ "skill": <id>, "input": <input> }` there to have it carried out as a task'),
  mcp: z.object({ url: z.url().describe('The MCP server'), tool: z.string().describe('Name of the tool') }).describe('Over MCP'),
  a2a: z.object({ card: z.url().describe('The agent card'), skill: z.string().describe('Id of the skill in it') }).describe('Over A2A'),
});

const LISTED = z.object({
  id: z.string().describe('Name of the skill, the same behind every door'),
  title: z.string().describe('A few words for people'),
  summary: z.string().describe('What comes back, in a sentence'),
  description: z.string().describe('What comes back, what it is worth, and what it is not'),
  tags: z.array(z.string()).describe('What it is about'),
  examples: z.array(EXAMPLE).describe('Ways to ask for it'),
  tier: z.enum(['public', 'basic', 'premium']).describe('The least tier that may call it'),
  price: z
    .object({
      description: z.string().describe('What it costs, in words'),
      singleAnswer: SINGLE_ANSWER.nullable().describe('What buys a single answer without the tier; null where nothing does or has to'),
    })
    .describe('What it costs'),
  freshness: z
    .object({
      description: z.string().describe('When the answer changes, in words'),
      seconds: COUNT.describe('For how long an answer stays what it is, about'),
    })
    .describe('How long an answer stays what it is'),
  cost: z.enum(['normal', 'rpc']).describe('`rpc` counts against the stricter limit of calls that make the service ask the chain'),
  inputSchema: JSON_SCHEMA.describe('JSON Schema of its input; a field with a default may be left out'),
  outputSchema: JSON_SCHEMA.describe('JSON Schema of its output; fields may be added'),
  reachedAt: REACHED.describe('The doors that it is reached through'),
});

export const SKILL_LIST = z.object({
  success: SUCCESS,
  skills: z.array(LISTED).describe('Everything that can be asked for'),
  count: COUNT.describe('How many there are'),
});

export type SkillListReply = z.input<typeof SKILL_LIST>;

/** What one call of a skill answers over REST. */
export function buildSkillReplySchema({ id, output }: Pick<Skill, 'id' | 'output'>) {
  return z.object({
    success: SUCCESS,
    skill: z.literal(id).describe('The skill that was called'),
    output: output.describe('What it answers'),
    text: z.string().describe('The same in plain sentences'),
  });
}
