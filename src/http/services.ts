import type { z } from 'zod';
import type { CardService } from '../../agent-card/card.ts';
import type { PaidCalls, RunSkill } from '../../skills/runner.ts';
import type { AccessSource } from '../auth/api-keys.ts';
import type { AuthService, RequestContext } from '../auth/auth.ts';
import type { ReputationState } from '../chain/erc8004.ts';
import type { RpcAccess } from '../chain/rpc-proxy.ts';
import type { Commerce } from '../commerce/commerce.ts';
import type { ClientFeedback } from '../commerce/feedback.ts';
import type { JobService } from '../commerce/jobs/processing.ts';
import type { PurchaseService } from '../commerce/purchases.ts';
import type { Contest } from '../contest.ts';
import type { Context } from '../context.ts';
import type { ClientError } from '../errors.ts';
import type { WebhookRegistry } from '../events/webhooks/registry.ts';
import type { TicketStore } from '../events/websocket/hub.ts';
import type { StartupStep } from '../platform/progress.ts';
import type { ReportStores } from '../record/reports.ts';
import type { SelfTestService } from '../record/self-tests.ts';
import type { AdminService } from './admin.ts';
import type { READINESS, ServiceStatus } from './schemas/health.ts';
import type { About, DemoWallets } from './schemas/info.ts';

/** What routes answer from. */
export interface Services extends Context {
  about: About;
  access: AuthService;
  /** Where a wallet's standing access is listed and ended. */
  accessSources: readonly AccessSource[];
  /** Whether assistants can authorize by OAuth at the MCP endpoint of accounts. */
  hasOAuth: boolean;
  card: CardService;
  administration: AdminService;
  version: string;
  /** Current startup step; null once startup is complete. */
  setup(): StartupStep | null;
  /** From the announcement of a stop on. */
  isStopping(): boolean;
  /** E-mail address or https URL of the operator; unset: the public URL. */
  contact?: string | undefined;
  reports: ReportStores;
  selfTests: SelfTestService;
  chainReading: RpcAccess;
  /** Demo wallets of a local chain; null on a real one. */
  demo: DemoWallets | null;
  reputation(): Promise<ReputationState | null>;
  clientFeedback: ClientFeedback;
  readiness(): Promise<Readiness['checks']>;
  status(): Promise<ServiceStatus>;
  commerce: Commerce;
  /** Null where the service takes no ERC-8183 jobs. */
  jobs: JobService | null;
  purchases: PurchaseService;
  contest: Contest;
  webhooks: WebhookRegistry;
  tickets: TicketStore;
  runSkill: RunSkill;
  paidCalls: PaidCalls;
  agentTasks: AgentTasks;
}

type Readiness = z.input<typeof READINESS>;

/** A task of the REST interface (sections 2.9 and 4.5), in the same store as tasks of the A2A protocol. */
export interface AgentTask {
  id: string;
  /** Empty while unknown. */
  skill: string;
  outcome: { status: 'completed'; output: Record<string, unknown> } | { status: 'failed'; error: ClientError } | { status: 'working' };
}

interface AgentTaskRequest {
  skill: string;
  input: Record<string, unknown>;
  /** Stored with the task for the requesting agent. */
  metadata?: Record<string, unknown>;
}

interface AgentTasks {
  /** Runs a task to its end. @throws OracleError INPUT_INVALID for an invalid request, which is not stored */
  send(request: AgentTaskRequest, context: RequestContext): Promise<AgentTask>;
  /** Null where this caller has no task of this id. */
  get(id: string, context: RequestContext): Promise<AgentTask | null>;
}
