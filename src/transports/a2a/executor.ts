import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext as TaskContext } from '@a2a-js/sdk/server';
import type { PaidCalls } from '../../../skills/paid-call.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import type { RequestContext } from '../../auth/request-context.ts';
import { toClientError } from '../../platform/errors.ts';
import type { Log } from '../../platform/log.ts';
import { type A2aRequestContext, getUser, runUnit } from './agent-user.ts';
import { textPart } from './messages/parts.ts';
import { planMessage } from './messages/plan.ts';
import { TaskPayments } from './payments/task-payments.ts';
import { TaskEventPublisher } from './tasks/event-publisher.ts';

export interface ExecutorDeps {
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  /** Plays a scenario of the test kit; true if it has answered. */
  playFixture?: (context: TaskContext, bus: ExecutionEventBus) => Promise<boolean>;
  log: Log;
  now(): Date;
}

/** Runs the call of a message and publishes the task's events. Never throws. */
export class SkillExecutor implements AgentExecutor {
  readonly #deps: ExecutorDeps;
  /** Context ids of running tasks, by task id. */
  readonly #runningContexts = new Map<string, string>();

  constructor(deps: ExecutorDeps) {
    this.#deps = deps;
  }

  async execute(context: TaskContext, bus: ExecutionEventBus): Promise<void> {
    if ((await this.#deps.playFixture?.(context, bus)) === true) return;
    const { taskId, contextId } = context;
    this.#runningContexts.set(taskId, contextId);
    const publisher = new TaskEventPublisher({ taskId, contextId, bus, now: this.#deps.now });
    try {
      await runUnit(context.context, () => this.#runPlan(context, publisher));
    } catch (error) {
      this.#logInternalError(error, context);
      publisher.publishFailed(toClientError(error));
    } finally {
      this.#runningContexts.delete(taskId);
    }
  }

  /** Ends the stream; later output of the skill is discarded. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const contextId = this.#runningContexts.get(taskId) ?? '';
    new TaskEventPublisher({ taskId, contextId, bus, now: this.#deps.now }).publishStatus(TaskState.TASK_STATE_CANCELED, {
      parts: [textPart('Cancelled by the client.')],
    });
  }

  async #runPlan(context: TaskContext, publisher: TaskEventPublisher): Promise<void> {
    const user = getUser(context.context);
    publisher.publishOpened(context);
    const plan = planMessage(context.userMessage, context.task, context.context);
    if (plan.do === 'ask') return publisher.publishInputRequired(plan);
    if (plan.do !== 'decline') publisher.setNote(plan.note);
    if (plan.do === 'reject') return publisher.publishRejected(plan);
    const requestContext = toFullContext(user.requestContext);
    if (plan.do !== 'call') {
      const payments = new TaskPayments({ paidCalls: this.#deps.paidCalls, publisher, task: context.task });
      if (plan.do === 'bill') return payments.requestPayment(plan);
      if (plan.do === 'decline') return payments.decline();
      return payments.sell(plan, {
        requestContext,
        owner: requestContext.caller.wallet === undefined ? requestContext.address : user.userName,
        onFailure: (error) => this.#logInternalError(error, context),
      });
    }
    publisher.publishWorking(plan.call.skill.id);
    const answer = await this.#deps.runSkill(plan.call, requestContext);
    publisher.publishCompleted(plan.call, answer, { tier: requestContext.caller.tier });
  }

  /** Internal errors are logged here, because the client receives none of their text. */
  #logInternalError(error: unknown, { taskId, context }: TaskContext): void {
    if (toClientError(error).code !== 'INTERNAL') return;
    this.#deps.log.error({ err: error, taskId, requestId: getUser(context).requestContext.requestId }, 'a task failed');
  }
}

/** Calls without an HTTP connection are admitted and metered where they entered. */
function toFullContext(requestContext: A2aRequestContext): RequestContext {
  const count = async () => undefined;
  const counters = { countCall: count, countChainCall: count, countTask: count, countRejectedPayment: count };
  const room = { requirePaymentRoom: () => undefined, hasPaymentRoom: () => true, reserveAnswer: count, beginPayment: () => undefined };
  const work: Pick<RequestContext, 'run' | 'suspend' | 'detach'> = {
    run: async (unit) => unit(),
    suspend: (waiting) => waiting(),
    detach: () => undefined,
  };
  return { requestId: 'none', ...counters, ...room, ...work, ...requestContext } as RequestContext;
}
