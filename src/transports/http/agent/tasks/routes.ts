import { OracleError } from '../../../../platform/errors.ts';
import type { HttpDeps } from '../../deps.ts';
import { toProblemDetails } from '../../server/problems/problem.ts';
import { type Route, route } from '../../server/route.ts';
import type { AgentTask } from './agent-tasks.ts';
import { pickCallMembers, TASK_BODY, TASK_ID, TASK_REPLY, type TaskReply } from './schemas.ts';

const TASKS_PATH = '/api/svc/a2a/tasks';

/** Interface, section 4.5: skills as tasks, for agents without the A2A protocol. */
export function agentTaskRoutes({ agentTasks }: Pick<HttpDeps, 'agentTasks'>): Route[] {
  return [
    route(`POST ${TASKS_PATH}/send`, 'sendAgentTask', {
      tag: 'skills',
      access: 'basic',
      summary: 'Runs a skill as a task and returns its result',
      description:
        'An invalid request (unknown skill, wrong input) is rejected and not stored. A failed task answers 200 with `failed` and the problem. Tasks are kept for 7 days and visible to their wallet only. A request may carry `jsonrpc` and `id`: `id` is echoed in the envelope and in problem documents; the task id is `result.id`.',
      body: TASK_BODY,
      reply: TASK_REPLY,
      problemMembers: pickCallMembers,
      async handle({ body: { jsonrpc: _, id, ...request }, context }) {
        const reply = toTaskReply(await agentTasks.send(request, context));
        return { body: { ...reply, id: id ?? reply.id } };
      },
    }),
    route(`GET ${TASKS_PATH}/{id}`, 'getAgentTask', {
      tag: 'skills',
      access: 'basic',
      summary: 'Status and result of a task',
      params: TASK_ID,
      reply: TASK_REPLY,
      errors: ['NOT_FOUND'],
      handle: async ({ params: { id }, context }) => ({ body: toTaskReply((await agentTasks.get(id, context)) ?? rejectUnknownTask()) }),
    }),
  ];
}

function toTaskReply({ id, skill, outcome }: AgentTask): TaskReply {
  return { jsonrpc: '2.0', id, result: { id, status: outcome.status, skill, result: toTaskResult(id, outcome) } };
}

function toTaskResult(id: string, outcome: AgentTask['outcome']): TaskReply['result']['result'] {
  if (outcome.status === 'working') return null;
  if (outcome.status === 'completed') return outcome.output;
  const { code, message, ...options } = outcome.error;
  return toProblemDetails(new OracleError(code, message, options), `${TASKS_PATH}/${id}`);
}

function rejectUnknownTask(): never {
  const suggestedAction = 'Send a token of the wallet that sent the task; tasks are kept for 7 days.';
  throw new OracleError('NOT_FOUND', 'No such task of this wallet', { field: 'id', suggestedAction });
}
