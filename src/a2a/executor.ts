import { TaskState } from '@a2a-js/sdk';
import type { AgentExecutor, ExecutionEventBus, RequestContext } from '@a2a-js/sdk/server';
import type { PaidCalls } from '../../skills/paid-call.ts';
import type { CarryOut } from '../../skills/runner.ts';
import type { Asker } from '../access/asker.ts';
import { toldError } from '../errors.ts';
import type { Log } from '../log.ts';
import { userOf } from './owner.ts';
import { textPart } from './parts.ts';
import { Payments } from './payments.ts';
import { planFor } from './read-call.ts';
import { TaskTeller } from './task-teller.ts';

export interface ExecutorParts {
  carryOut: CarryOut;
  paidCalls: PaidCalls;
  /** Plays what a test kit asks for; true when it has answered. Unset: nothing of the kind. */
  playFixture?: (context: RequestContext, bus: ExecutionEventBus) => Promise<boolean>;
  log: Log;
  now(): Date;
}

/** Carries out the call of a message, and tells the task's way from its opening to its end. It never throws. */
export class SkillExecutor implements AgentExecutor {
  readonly #parts: ExecutorParts;
  /** Contexts of the tasks under way in this process, by task. */
  readonly #underWay = new Map<string, string>();

  constructor(parts: ExecutorParts) {
    this.#parts = parts;
  }

  async execute(context: RequestContext, bus: ExecutionEventBus): Promise<void> {
    if ((await this.#parts.playFixture?.(context, bus)) === true) return;
    const { taskId, contextId } = context;
    this.#underWay.set(taskId, contextId);
    const teller = new TaskTeller({ taskId, contextId, bus, now: this.#parts.now });
    try {
      await this.#carryOut(context, teller);
    } catch (error) {
      this.#note(error, context);
      teller.failed(toldError(error));
    } finally {
      this.#underWay.delete(taskId);
    }
  }

  /** The stream ends with it; what the skill still does is not told any more. */
  async cancelTask(taskId: string, bus: ExecutionEventBus): Promise<void> {
    const contextId = this.#underWay.get(taskId) ?? '';
    new TaskTeller({ taskId, contextId, bus, now: this.#parts.now }).status(TaskState.TASK_STATE_CANCELED, {
      parts: [textPart('Cancelled as asked.')],
    });
  }

  async #carryOut(context: RequestContext, teller: TaskTeller): Promise<void> {
    const user = userOf(context.context);
    teller.opened(context);
    const plan = planFor(context.userMessage, context.task, context.context);
    if (plan.do === 'ask') return teller.asked(plan);
    if (plan.do !== 'decline') teller.understood(plan.note);
    if (plan.do === 'reject') return teller.rejected(plan);
    const asker = countedAs(user.asker);
    if (plan.do !== 'call') {
      const payments = new Payments({ paidCalls: this.#parts.paidCalls, teller, task: context.task });
      if (plan.do === 'bill') return payments.bill(plan);
      if (plan.do === 'decline') return payments.decline();
      return payments.sell(plan, {
        asker,
        owner: asker.caller.wallet === undefined ? asker.address : user.userName,
        onFailure: (error) => this.#note(error, context),
      });
    }
    teller.working(plan.call.skill.id);
    const answer = await this.#parts.carryOut(plan.call, asker);
    teller.answered(plan.call, answer, { tier: asker.caller.tier });
  }

  /** A failure of ours: whoever asked is told nothing of it. */
  #note(error: unknown, { taskId, context }: RequestContext): void {
    if (toldError(error).code !== 'INTERNAL') return;
    this.#parts.log.error({ err: error, taskId, requestId: userOf(context).asker.requestId }, 'a task failed');
  }
}

/** Whoever comes from no socket is counted where he came in. */
function countedAs(asker: Partial<Asker> & Pick<Asker, 'caller' | 'address'>): Asker {
  const free = async () => undefined;
  const unpaid = { requirePaymentRoom: () => undefined, countRejectedPayment: free };
  return { requestId: 'none', countCall: free, countChainCall: free, countTask: free, ...unpaid, ...asker };
}
