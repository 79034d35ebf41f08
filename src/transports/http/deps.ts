import type { Address } from 'viem';
import type { CardService } from '../../../agent-card/card/signed-card.ts';
import type { RunSkill } from '../../../skills/runner.ts';
import type { AuthService } from '../../auth/auth-service.ts';
import type { Caller } from '../../auth/caller.ts';
import type { ChainAddresses } from '../../chain/addresses.ts';
import type { AttestationReader } from '../../chain/eas/attestation-reader.ts';
import type { RegisteredAgent } from '../../chain/erc8004/identity.ts';
import type { ReputationState } from '../../chain/erc8004/reputation.ts';
import type { RpcAccess } from '../../chain/rpc-proxy/read-only-rpc.ts';
import type { Commerce } from '../../commerce/commerce.ts';
import type { JobService } from '../../commerce/jobs/job-service.ts';
import type { PurchaseService } from '../../commerce/purchases/purchase-service.ts';
import type { Contest } from '../../contest/contest.ts';
import type { WebhookRegistry } from '../../events/webhooks/registry/webhook-registry.ts';
import type { TicketStore } from '../../events/websocket/ticket-store.ts';
import type { Market } from '../../market/market.ts';
import type { StartupStep } from '../../platform/startup-progress.ts';
import type { AttestationViewOptions } from '../../record/attestations/view.ts';
import type { ForecastRecord } from '../../record/forecast-record.ts';
import type { ModelStore } from '../../record/model-store.ts';
import type { ReportStores } from '../../record/report-store.ts';
import type { SelfTestService } from '../../record/self-test/service.ts';
import type { StatisticsService } from '../../record/statistics/statistics-service.ts';
import type { Quote, StrikeMarket } from '../../wager/venue.ts';
import type { WagerBook } from '../../wager/wager-book.ts';
import type { AdminService } from './admin/admin-service.ts';
import type { AgentTasks } from './agent/tasks/agent-tasks.ts';
import type { AboutDeps } from './service/about/deps.ts';
import type { ServiceStatus } from './service/health/status-schemas.ts';

/** One thing the service needs to be ready, and why it is not there. */
export interface ReadinessCheck {
  name: string;
  ok: boolean;
  detail: string;
}

export interface VenueMarket {
  market: StrikeMarket;
  quote: Quote;
}

/** What the routes work with. */
export interface HttpDeps {
  about: AboutDeps;
  access: AuthService;
  /** The agent card, signed. */
  card: CardService;
  /** What the operator works with. */
  administration: AdminService;
  version: string;
  /** What is left of the start; null once all of it is done. */
  setup(): StartupStep | null;
  publicUrl: string;
  record: ForecastRecord;
  /** Daily briefs and weekly reports. */
  reports: ReportStores;
  /** What the service has found out about itself. */
  selfTests: SelfTestService;
  wagers: WagerBook;
  venueName: string;
  /** Names of the venues that quote the same book as that one, itself included. */
  sameBook: readonly string[];
  market: Market;
  /** The models that stored forecasts were made with. */
  models: ModelStore;
  /** What the record is worth, with error bars. */
  statistics: StatisticsService;
  /** Strikes that the service's own venue quotes; empty where the venue is somebody else's. */
  venueMarkets(): Promise<VenueMarket[]>;
  chainId: number;
  addresses: ChainAddresses;
  attestations: AttestationReader;
  /** How strangers read the chain. */
  chainReading: RpcAccess;
  attesterAddress: Address;
  /** Block explorer of attestations; null on a local chain, and where none is known. */
  explorerUrl: string | null;
  saltSecret: string;
  /** How a caller's answers are to be cut. */
  viewFor(caller: Caller): AttestationViewOptions;
  /** The agent as registered on chain; null before its registration. */
  identity(): RegisteredAgent | null;
  reputation(): Promise<ReputationState | null>;
  readiness(): Promise<ReadinessCheck[]>;
  /** Everything an operator wants on one page; nothing secret, nothing unresolved. */
  status(): Promise<ServiceStatus>;
  commerce: Commerce;
  /** Jobs of agent commerce; null where none are taken. */
  jobs: JobService | null;
  /** What is bought by a transfer whose hash is shown. */
  purchases: PurchaseService;
  contest: Contest;
  webhooks: WebhookRegistry;
  /** Tickets that open WebSockets. */
  tickets: TicketStore;
  /** Carries out what agents ask for. */
  runSkill: RunSkill;
  /** Their tasks. */
  agentTasks: AgentTasks;
  now(): Date;
}
