import { z } from 'zod';
import { SKILLS } from '../../../../../skills/index.ts';
import { objectOf } from '../../../../platform/validation/described.ts';
import { PROBLEM } from '../../openapi/problem-schema.ts';

const IDS = SKILLS.map(({ id }) => id);

const CALL_ID = z.union([z.string().max(256), z.int()], { error: 'must be a string of at most 256 characters, or a whole number' });

export const TASK_BODY = z.strictObject({
  jsonrpc: z.literal('2.0', { error: 'must be "2.0"' }).optional().describe('JSON-RPC version, where the client sends an envelope'),
  id: CALL_ID.optional().describe('Request id of the client, echoed as `id` of the envelope and of problem documents'),
  skill: z.enum(IDS, { error: `must be one of ${IDS.join(', ')}` }).describe('Skill to run; GET /api/svc/skills lists them'),
  input: z
    .record(z.string(), z.unknown())
    .default({})
    .describe('Input of the skill, by its schema; with `skill` at most 4096 bytes of JSON'),
  metadata: z.record(z.string(), z.unknown()).optional().describe('Metadata to store with the task: at most 2048 bytes of JSON'),
});

export const TASK_ID = z.object({
  id: z.uuid('must be the id of a task: a UUID').toLowerCase().describe('Id of a task of this wallet, sent here or over A2A'),
});

/** Interface, section 2.9. */
export const TASK_REPLY = z.object({
  jsonrpc: z.literal('2.0').describe('JSON-RPC envelope'),
  id: CALL_ID.describe('`id` of the request; without one the task id'),
  result: objectOf('Task', {
    id: z.uuid().describe('Task id, valid at GET /api/svc/a2a/tasks/{id} and over A2A'),
    status: z
      .enum(['completed', 'failed', 'working'])
      .describe('`working` only for a task sent over A2A that is running or awaits a message'),
    skill: z.string().describe('Skill id; empty while a text sent over A2A has not named one'),
    result: z
      .union([...SKILLS.map(({ output }) => output), PROBLEM])
      .nullable()
      .describe('Output of the skill when `completed`, problem document when `failed`, null while `working`'),
  }),
});

/** Members that a problem document echoes: the `id` of the request, if valid. */
export function pickCallMembers(body: unknown): { jsonrpc?: '2.0'; id?: string | number } {
  const { success, data } = CALL_ID.safeParse((body as { id?: unknown } | null | undefined)?.id);
  return success ? { jsonrpc: '2.0', id: data } : {};
}

export type TaskReply = z.input<typeof TASK_REPLY>;
