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
    route({
      method: 'post',
      path: `${TASKS_PATH}/send`,
      name: 'sendAgentTask',
      tag: 'skills',
      access: 'basic',
      summary: 'Carries out a skill as a task, and answers when it has ended',
      description:
        'A request that is no task (unknown skill, wrong input) is refused, and nothing is kept of it. A task that fails answers 200 with `failed` and the problem. Tasks are kept for 7 days, for their wallet only. A call may have `jsonrpc` and `id`: the `id` is given back as that of the envelope, and in a problem document; the id of the task is `result.id`.',
      body: TASK_BODY,
      reply: TASK_REPLY,
      problemMembers: pickCallMembers,
      async handle({ body: { jsonrpc: _, id, ...request }, context }) {
        const reply = toTaskReply(await agentTasks.send(request, context));
        return { body: { ...reply, id: id ?? reply.id } };
      },
    }),
    route({
      path: `${TASKS_PATH}/{id}`,
      name: 'getAgentTask',
      tag: 'skills',
      access: 'basic',
      summary: 'Status and result of a task of the caller',
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
  throw new OracleError('NOT_FOUND', 'There is no such task of yours', {
    field: 'id',
    suggestedAction: 'Ask with a token of the wallet that the task was sent with; tasks are kept for 7 days.',
  });
}
