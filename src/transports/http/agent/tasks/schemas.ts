import { z } from 'zod';
import { SKILLS } from '../../../../../skills/index.ts';
import { PROBLEM } from '../../openapi/problem-schema.ts';

const IDS = SKILLS.map(({ id }) => id);

/** Of JSON-RPC: what a client tells its answers apart by. */
const CALL_ID = z.union([z.string().max(256), z.int()], { error: 'must be a string of at most 256 characters, or a whole number' });

export const TASK_BODY = z.strictObject({
  jsonrpc: z.literal('2.0', { error: 'must be "2.0"' }).optional().describe('The version of JSON-RPC, where the client sends an envelope'),
  id: CALL_ID.optional().describe("The client's own id of this call, given back as `id` of the envelope and of a problem document"),
  skill: z.enum(IDS, { error: `must be one of ${IDS.join(', ')}` }).describe('The skill to carry out; GET /api/svc/skills describes them'),
  input: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Parameters of the skill, as its input schema declares them; with the skill at most 4096 bytes of JSON'),
  metadata: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('Whatever the requesting agent wants kept with the task: at most 2048 bytes of JSON'),
});

export const TASK_ID = z.object({
  id: z.uuid('must be the id of a task: a UUID').toLowerCase().describe('Id of a task of your own, sent here or over A2A'),
});

/** Interface, section 2.9. */
export const TASK_REPLY = z.object({
  jsonrpc: z.literal('2.0').describe('The envelope is that of JSON-RPC'),
  id: CALL_ID.describe('The `id` that the call was sent with; without one the id of the task, as in `result`'),
  result: z
    .object({
      id: z.uuid().describe('Id of the task; GET /api/svc/a2a/tasks/{id} and the A2A doors know it too'),
      status: z
        .enum(['completed', 'failed', 'working'])
        .describe('`working` only for a task that was sent over A2A: it is under way, or waits for a further message'),
      skill: z.string().describe('The skill that was asked for; empty while a text sent over A2A has not said which'),
      result: z
        .union([...SKILLS.map(({ output }) => output), PROBLEM])
        .nullable()
        .describe('Output of the skill when `completed`, a problem document when `failed`, null while `working`'),
    })
    .describe('The task'),
});

/** What a problem document of a call gives back: its `id`, where that is one. */
export function pickCallMembers(body: unknown): { jsonrpc?: '2.0'; id?: string | number } {
  const { success, data } = CALL_ID.safeParse((body as { id?: unknown } | null | undefined)?.id);
  return success ? { jsonrpc: '2.0', id: data } : {};
}

export type TaskReply = z.input<typeof TASK_REPLY>;
